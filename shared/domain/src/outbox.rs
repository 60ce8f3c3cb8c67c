//! Messages that are to leave the house. Nothing is sent inside a request: a handler writes one of
//! these beside its own change, and the dispatcher finds the words and sends it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Email, Instant, Phone, UserId, agent::Agent, code::CodeKind};

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

/// A message on its way out, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxItem {
    /// Which one; UUID v7.
    #[serde(rename = "outboxID")]
    pub outbox_id: Uuid,
    /// The [`OutboxMessage`], sealed; removed at a final state.
    #[serde(default)]
    pub sealed: String,
    /// How far it has come.
    pub status: State,
    /// When it was accepted.
    pub created_at: Instant,
    /// After this nobody wants it any more: a code is dead by then.
    pub useless_at: Instant,
}

/// What is to be said, and to whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxMessage {
    /// To whom, by which way.
    pub to: Recipient,
    /// Whose account it is about: one that is closed by the time it leaves gets no message.
    pub about: UserId,
    /// The first name, for the greeting; empty for nobody.
    pub name: String,
    /// What about.
    pub news: Notification,
}

/// Where a letter goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recipient {
    /// By mail.
    Mail(Email),
    /// As a text message.
    Sms(Phone),
    /// To nobody: what an unknown address costs. It is dropped.
    Nobody,
}

/// What a letter tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Notification {
    /// A one-time code, good for ten minutes.
    Code {
        /// What for.
        kind: CodeKind,
        /// Six digits.
        digits: String,
        /// The long code that the link carries, letters alone; mail only.
        link: String,
    },
    /// Somebody signed in with a device that was not seen before.
    NewDevice {
        /// What the device says of itself.
        agent: Agent,
        /// From where.
        ip: String,
        /// When.
        at: Instant,
    },
    /// The password was changed or reset.
    PasswordChanged {
        /// When.
        at: Instant,
    },
    /// One-time passwords are on.
    OtpEnabled {
        /// When.
        at: Instant,
    },
    /// One-time passwords are off.
    OtpDisabled {
        /// When.
        at: Instant,
        /// Whether an administrator did it.
        by_administrator: bool,
    },
    /// Another address was asked for; it is not in force yet. Told to the one in force.
    EmailChangeRequested {
        /// When.
        at: Instant,
    },
    /// Another address is in force. Told to the former one.
    EmailChanged {
        /// When.
        at: Instant,
    },
    /// A recovery code was used to sign in.
    RecoveryCodeUsed {
        /// How many are left.
        left: usize,
        /// When.
        at: Instant,
    },
}
