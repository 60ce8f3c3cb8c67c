//! Those whom a batch is for: what each is sent, and why some are not.

use std::collections::{BTreeMap, HashSet};

use common::{Fields, Refusal, text};
use domain::{
    BatchId, E164, Flaw, Line, SmsId,
    batch::Entry,
    sms::{MAX_BYTES, Recipient, Text},
    template::filled,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Messages;

/// Letters of what was written for a number that are told again.
const SHOWN: usize = 20;

/// A recipient as he was written down.
pub(crate) struct Wanted {
    to: String,
    message: Option<String>,
    variables: BTreeMap<String, String>,
    client_ref: Option<Line<64>>,
}

impl Wanted {
    /// Reads one. What is of the wrong type refuses the whole call; what cannot be sent is told one by one.
    pub(crate) fn of(fields: &mut Fields) -> Option<Self> {
        let to = fields.nullable("to", any_text);
        let message = fields.nullable("message", any_text);
        let variables = fields.nullable("variables", texts_by_name);
        let client_ref = fields.nullable("clientRef", text);
        Some(Self {
            to: to?.unwrap_or_default(),
            message: message?,
            variables: variables?.unwrap_or_default(),
            client_ref: client_ref?,
        })
    }

    /// The message to him; its text is none where it is `common`.
    fn addressed(&self, common: Option<&Text>, messages: &Messages) -> Result<Draft, Flaw> {
        let number = messages.reachable(&self.to)?.number;
        let template = self
            .message
            .as_deref()
            .or(common.map(Text::as_str))
            .ok_or(Flaw::Required)?;
        let text: Text = filled(template, &self.variables, MAX_BYTES)?.parse()?;
        Ok(Draft {
            number,
            text: Some(text).filter(|text| Some(text) != common),
        })
    }
}

/// A message that could be sent. Two that are equal are one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Draft {
    number: E164,
    text: Option<Text>,
}

fn any_text(value: Value) -> Result<String, Flaw> {
    value.as_str().map(str::to_owned).ok_or(Flaw::Type)
}

fn texts_by_name(value: Value) -> Result<BTreeMap<String, String>, Flaw> {
    let Value::Object(object) = value else {
        return Err(Flaw::Type);
    };
    object
        .into_iter()
        .map(|(name, value)| Ok((name, any_text(value)?)))
        .collect()
}

/// What becomes of one recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Fate {
    Queued,
    Rejected,
    Duplicate,
}

/// The same as it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Told {
    to: String,
    status: Fate,
    #[serde(rename = "smsID", skip_serializing_if = "Option::is_none")]
    sms_id: Option<SmsId>,
    #[serde(rename = "RESPONSE_CODE", skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

/// What becomes of all of them, in the order in which they were named.
pub(crate) struct Sorted {
    pub(crate) results: Vec<Told>,
    /// Those who are written to.
    pub(crate) entries: Vec<Entry>,
}

impl Sorted {
    pub(crate) fn count(&self, fate: Fate) -> u32 {
        u32::try_from(
            self.results
                .iter()
                .filter(|told| told.status == fate)
                .count(),
        )
        .unwrap_or(u32::MAX)
    }
}

/// Recipients whose numbers and texts were looked at; whether they want to be written to is still to be asked.
pub(crate) struct Addressed(Vec<(Wanted, Result<Draft, Flaw>)>);

impl Addressed {
    pub(crate) fn new(wanted: Vec<Wanted>, common: Option<&Text>, messages: &Messages) -> Self {
        let address = |wanted: Wanted| {
            let addressed = wanted.addressed(common, messages);
            (wanted, addressed)
        };
        Self(wanted.into_iter().map(address).collect())
    }

    /// The numbers that could be written to.
    pub(crate) fn numbers(&self) -> HashSet<&E164> {
        self.0
            .iter()
            .filter_map(|(_, addressed)| addressed.as_ref().ok())
            .map(|draft| &draft.number)
            .collect()
    }

    /// What becomes of them when those in `opted_out` are left out, as messages of `batch`, if it is to be sent.
    pub(crate) fn sorted(self, opted_out: &HashSet<E164>, batch: Option<BatchId>) -> Sorted {
        let (mut results, mut entries, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for (place, (wanted, addressed)) in (0..).zip(self.0) {
            let fate = match addressed {
                Err(flaw) => Err(Refusal::from(flaw)),
                Ok(draft) if opted_out.contains(&draft.number) => Err(Refusal::RecipientOptedOut),
                Ok(draft) => Ok(draft),
            };
            let shown = wanted.to.trim().chars().take(SHOWN).collect();
            results.push(match fate {
                Err(refusal) => Told {
                    to: shown,
                    status: Fate::Rejected,
                    sms_id: None,
                    code: Some(refusal.code().to_owned()),
                },
                Ok(draft) if !seen.insert(draft.clone()) => Told {
                    to: shown,
                    status: Fate::Duplicate,
                    sms_id: None,
                    code: None,
                },
                Ok(Draft { number, text }) => {
                    entries.push(Entry {
                        place,
                        recipient: Recipient {
                            to: number,
                            client_ref: wanted.client_ref,
                        },
                        text,
                    });
                    Told {
                        to: shown,
                        status: Fate::Queued,
                        sms_id: batch.map(|batch| batch.message(place)),
                        code: None,
                    }
                }
            });
        }
        Sorted { results, entries }
    }
}
