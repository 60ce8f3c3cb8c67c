//! Recipients of the messages of the service.

use serde::{Deserialize, Serialize};

use crate::{Email, Phone};

/// The recipient and channel of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recipient {
    /// E-mail.
    Mail(Email),
    /// Text message.
    Sms(Phone),
    /// No recipient: the dispatcher drops the message. Written for unknown addresses, so that a request takes the same
    /// time whether the account exists or not.
    #[serde(rename = "nobody")]
    NoAccount,
}
