//! Messages that are to leave the house. Nothing is sent inside a request: a handler writes one of
//! these beside its own change, and the dispatcher sends it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Instant;

/// The way a message takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Channel {
    /// Mail.
    Mail,
    /// A text message.
    Sms,
}

/// How far a message has come: `QUEUED → SENDING → SENT | FAILED | UNKNOWN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum State {
    /// Accepted, and so never lost.
    Queued,
    /// Claimed by a dispatcher.
    Sending,
    /// The carrier took it.
    Sent,
    /// The carrier refused it for good.
    Failed,
    /// Nobody knows: it is not sent again by itself.
    Unknown,
}

/// A message on its way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outgoing {
    /// Which one; UUID v7.
    #[serde(rename = "outboxID")]
    pub outbox_id: Uuid,
    /// By which way.
    pub channel: Channel,
    /// Recipient and words, sealed; removed once it was sent.
    pub sealed: String,
    /// How far it has come.
    pub state: State,
    /// When it was accepted.
    pub created_at: Instant,
    /// When the sweeper looks at it, whatever the stream did: a minute ahead at birth.
    pub due_at: Instant,
}
