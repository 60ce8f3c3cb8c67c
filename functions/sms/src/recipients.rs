//! The recipients of `POST /sms/bulk`: checks each one and determines its message or its error.

use std::collections::{BTreeMap, HashSet};

use common::{ErrorCode, Fields, InvalidField, InvalidValue, text};
use domain::{
    BatchId, E164, Language, Line, SmsId, ValueError,
    batch::Entry,
    comparable,
    sms::{MAX_LENGTH, Recipient, Text},
    template::{render, single_braced},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Messages;

/// Longest text in bytes of UTF-8, of which a UTF-16 unit has three at most.
const MAX_TEXT: usize = 3 * MAX_LENGTH;
/// Maximum length of `to` in a result, in code points.
const MAX_ECHOED: usize = 20;

/// A recipient as given in the request.
pub(crate) struct RecipientInput {
    to: String,
    message: Option<String>,
    variables: BTreeMap<String, String>,
    client_ref: Option<Line<64>>,
}

impl RecipientInput {
    /// Reads a recipient. A field of the wrong type makes the request invalid; an invalid number or text only makes
    /// the recipient `REJECTED`.
    pub(crate) fn of(fields: &mut Fields) -> Result<Self, InvalidField> {
        let to = fields.nullable("to", any_text);
        let message = fields.nullable("message", any_text);
        let variables = fields.nullable("variables", texts_by_name);
        let client_ref = fields.nullable("clientRef", text);
        Ok(Self {
            to: to?.unwrap_or_default(),
            message: message?,
            variables: variables?.unwrap_or_default(),
            client_ref: client_ref?,
        })
    }

    /// The message to this recipient, with its template filled in; its text is `None` when it equals `common`.
    fn draft(&self, common: Option<&Text>, messages: &Messages) -> Result<Draft, ValueError> {
        let number = messages.country_codes.mobile(&self.to)?.number;
        let template =
            self.message.as_deref().or(common.map(Text::as_str)).ok_or(ValueError::Required)?;
        let text: Text = render(template, &self.variables, MAX_TEXT)?.parse()?;
        Ok(Draft { number, text: Some(text).filter(|text| Some(text) != common) })
    }
}

/// A valid message. Equal ones are duplicates.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Draft {
    number: E164,
    text: Option<Text>,
}

fn any_text(value: Value) -> Result<String, InvalidValue> {
    value.as_str().map(str::to_owned).ok_or(ValueError::Type.into())
}

/// Numbers become texts in their shortest form: `12.50` is `12.5`. What is null is missing, so that an empty cell of a table
/// concerns one recipient and not the whole request.
fn texts_by_name(value: Value) -> Result<BTreeMap<String, String>, InvalidValue> {
    let Value::Object(object) = value else {
        return Err(ValueError::Type.into());
    };
    let text = |value| match value {
        Value::Number(number) => Ok(number.to_string()),
        value => any_text(value),
    };
    let mut texts = BTreeMap::new();
    for (name, value) in object.into_iter().filter(|(_, value)| !value.is_null()) {
        // Programs write é as one letter or as two.
        if texts.insert(comparable(&name), text(value)?).is_some() {
            return Err(ValueError::Value.into());
        }
    }
    Ok(texts)
}

/// The outcome for one recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum RecipientStatus {
    Queued,
    Rejected,
    Duplicate,
}

/// An element of `results`: one recipient of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecipientResult {
    to: String,
    status: RecipientStatus,
    #[serde(rename = "smsID", skip_serializing_if = "Option::is_none")]
    sms_id: Option<SmsId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_ref: Option<Line<64>>,
    #[serde(rename = "RESPONSE_CODE", skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

impl RecipientResult {
    fn new(recipient: &RecipientInput, status: RecipientStatus) -> Self {
        Self {
            to: recipient.to.trim().chars().take(MAX_ECHOED).collect(),
            status,
            sms_id: None,
            client_ref: None,
            code: None,
        }
    }
}

/// The sender's references of the recipients, in the order of the request. Results get them when they are returned,
/// not when they are stored under an idempotency key: an item has at most 400 KB, and a repeated request has the same
/// references.
pub(crate) struct ClientRefs(Vec<Option<Line<64>>>);

impl ClientRefs {
    pub(crate) fn of(recipients: &[RecipientInput]) -> Self {
        let client_ref = |recipient: &RecipientInput| recipient.client_ref.clone();
        Self(recipients.iter().map(client_ref).collect())
    }

    /// The `results` of the same recipients, with their references.
    pub(crate) fn added_to(&self, results: Vec<RecipientResult>) -> Vec<RecipientResult> {
        let pairs = results.into_iter().zip(&self.0);
        let add = |(result, client_ref): (RecipientResult, &Option<Line<64>>)| RecipientResult {
            client_ref: client_ref.clone(),
            ..result
        };
        pairs.map(add).collect()
    }
}

/// An element of `warnings`: a text that is valid, but probably not as meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Warning {
    field: String,
    /// The name in single braces.
    variable: String,
    #[serde(rename = "RESPONSE_CODE")]
    code: String,
    #[serde(rename = "RESPONSE_TEXT")]
    text: String,
}

/// The warnings about the `common` text and the recipients' own, at most one for each.
pub(crate) fn warnings(common: Option<&Text>, recipients: &[RecipientInput]) -> Vec<Warning> {
    let common = common.map(|text| ("message".to_owned(), text.as_str()));
    let own = recipients.iter().enumerate().filter_map(|(at, recipient)| {
        let text = recipient.message.as_deref()?;
        Some((format!("recipients[{at}].message"), text))
    });
    let warning = |(field, text)| {
        single_braced(text).map(|variable| Warning {
            field,
            variable: variable.to_owned(),
            code: ErrorCode::SingleBraces.code().to_owned(),
            text: ErrorCode::SingleBraces.text(Language::default()).to_owned(),
        })
    };
    common.into_iter().chain(own).filter_map(warning).collect()
}

/// The recipients after all checks: their results, in the order of the request, and the messages to send.
pub(crate) struct SortedRecipients {
    pub(crate) results: Vec<RecipientResult>,
    /// The messages to send.
    pub(crate) entries: Vec<Entry>,
}

impl SortedRecipients {
    pub(crate) fn count(&self, status: RecipientStatus) -> u32 {
        let of_status = |result: &&RecipientResult| result.status == status;
        u32::try_from(self.results.iter().filter(of_status).count()).unwrap_or(u32::MAX)
    }
}

/// Recipients whose numbers and texts are checked; opt-outs and duplicates are not.
pub(crate) struct CheckedRecipients(Vec<(RecipientInput, Result<Draft, ValueError>)>);

impl CheckedRecipients {
    pub(crate) fn new(
        recipients: Vec<RecipientInput>,
        common: Option<&Text>,
        messages: &Messages,
    ) -> Self {
        let check = |recipient: RecipientInput| {
            let draft = recipient.draft(common, messages);
            (recipient, draft)
        };
        Self(recipients.into_iter().map(check).collect())
    }

    /// The valid numbers.
    pub(crate) fn numbers(&self) -> HashSet<&E164> {
        self.0
            .iter()
            .filter_map(|(_, draft)| draft.as_ref().ok())
            .map(|draft| &draft.number)
            .collect()
    }

    /// Sorts the recipients into messages of `batch`, rejected ones (including `opted_out`) and duplicates. Without
    /// `batch` (`dryRun`) the results have no `smsID`.
    pub(crate) fn sorted(
        self,
        opted_out: &HashSet<E164>,
        batch: Option<BatchId>,
    ) -> SortedRecipients {
        let (mut results, mut entries, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for (place, (recipient, draft)) in (0..).zip(self.0) {
            let draft = match draft {
                Err(error) => Err(ErrorCode::from(error)),
                Ok(draft) if opted_out.contains(&draft.number) => Err(ErrorCode::RecipientOptedOut),
                Ok(draft) => Ok(draft),
            };
            results.push(match draft {
                Err(code) => RecipientResult {
                    code: Some(code.code().to_owned()),
                    ..RecipientResult::new(&recipient, RecipientStatus::Rejected)
                },
                Ok(draft) if !seen.insert(draft.clone()) => {
                    RecipientResult::new(&recipient, RecipientStatus::Duplicate)
                }
                Ok(Draft { number, text }) => {
                    let result = RecipientResult {
                        sms_id: batch.map(|batch| batch.message(place)),
                        ..RecipientResult::new(&recipient, RecipientStatus::Queued)
                    };
                    let recipient = Recipient { to: number, client_ref: recipient.client_ref };
                    entries.push(Entry { place, recipient, text });
                    result
                }
            });
        }
        SortedRecipients { results, entries }
    }
}
