//! Text messages: single ones, batches, their delivery status, and opt-outs. Nothing is sent here: accepted messages
//! are stored, the dispatcher sends single ones, and the worker those of batches.

mod accepting;
mod batch;
mod batches;
mod bulk;
mod list;
mod opt_out;
mod opt_outs;
mod recipients;
mod rights;
mod show;
mod single;

use common::{Cursors, ErrorCode, Fields, InvalidField, InvalidValue, Routes, text};
use domain::{
    Constraint, CountryCodes, Instant,
    sms::{SenderId, Sending, Type},
    user::User,
};
use runtime::{ConfigError, Key};
use store::{Setup, SmsQuota, Store};

/// The secret keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Cursor];

/// The state of the function.
#[derive(Clone)]
pub(crate) struct Messages {
    store: Store,
    cursors: Cursors,
    country_codes: CountryCodes,
    sender_ids: Vec<SenderId>,
    quota: SmsQuota,
}

/// The routes of this function, built from its keys and the settings `SMS_COUNTRY_CODES` (default 216),
/// `SMS_SENDER_IDS` (default none), `SMS_PER_USER_DAY` (default 2,000) and `SMS_PER_COMMITTEE_DAY` (default 10,000).
///
/// # Errors
/// A key that is missing or malformed, or a setting that is invalid.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let settings = &setup.settings;
    let messages = Messages {
        store: setup.store.clone(),
        cursors: setup.keys.parse(Key::Cursor)?,
        country_codes: settings.parse("SMS_COUNTRY_CODES", "216")?,
        sender_ids: settings.list(
            "SMS_SENDER_IDS",
            "",
            "must be names of 1 to 11 letters and digits with at least one letter, separated by commas",
        )?,
        quota: SmsQuota {
            per_user: settings.number("SMS_PER_USER_DAY", 2_000)?,
            per_committee: settings.number("SMS_PER_COMMITTEE_DAY", 10_000)?,
        },
    };
    Ok(Routes::default()
        .get("/sms", list::list)
        .post("/sms/single", single::send)
        .get("/sms/bulk", batches::list)
        .post("/sms/bulk", bulk::send)
        .get("/sms/bulk/{batchId}", batch::show)
        .get("/sms/opt-outs", opt_outs::list)
        .get("/sms/opt-outs/{number}", opt_out::show)
        .put("/sms/opt-outs/{number}", opt_out::add)
        .delete("/sms/opt-outs/{number}", opt_out::remove)
        .get("/sms/{smsId}", show::show)
        .no_store("/sms")
        .with_state(messages))
}

/// The options of a request to send: the type and the sender id.
#[derive(Debug, Clone)]
pub(crate) struct SendOptions {
    r#type: Type,
    sender_id: Option<SenderId>,
}

impl SendOptions {
    fn of(fields: &mut Fields, messages: &Messages) -> Result<Self, InvalidField> {
        let r#type = fields.optional_or("type", text, Type::Transactional);
        let sender_id = fields.nullable("senderId", |value| {
            let name: SenderId = text(value)?;
            if messages.sender_ids.contains(&name) {
                Ok(name)
            } else {
                Err(InvalidValue {
                    code: ErrorCode::FieldValue,
                    constraint: Constraint::allowed(
                        messages.sender_ids.iter().map(SenderId::as_str),
                    ),
                })
            }
        });
        Ok(Self { r#type: r#type?, sender_id: sender_id? })
    }

    fn into_sending(self, sender: &User, now: Instant) -> Sending {
        let Self { r#type, sender_id } = self;
        Sending {
            r#type,
            sender_id,
            user_id: sender.user_id,
            committee_id: sender.committee_id,
            created_at: now,
        }
    }
}
