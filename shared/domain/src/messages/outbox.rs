//! The outbox: messages that are sent asynchronously. A handler stores an item in the same transaction as its change;
//! the dispatcher writes the text and sends it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    CourseId, Instant, Recipient, UserId, agent::Agent, attendance::AnnouncementNotice,
    certificate::CertificateNotice, code::CodeKind, course::Language, file::FileName,
    registration::RegistrationNotice,
};

/// State of a message: `QUEUED → SENDING → SENT | FAILED | UNKNOWN`. A delivery receipt turns the `SENT` of a text
/// message into `DELIVERED` or `UNDELIVERED`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum State {
    /// Stored, not sent yet.
    Queued,
    /// A process has claimed it.
    Sending,
    /// The carrier accepted it.
    Sent,
    /// The carrier rejected it permanently.
    Failed,
    /// The outcome is unknown; it is not sent again automatically.
    Unknown,
    /// The carrier reported that the text message arrived.
    Delivered,
    /// The carrier reported that the text message did not arrive.
    Undelivered,
}

/// An outbox message as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxItem {
    /// The item's identifier: a UUID v7, or that of the event, so that it is stored once.
    #[serde(rename = "outboxID")]
    pub outbox_id: Uuid,
    /// The encrypted [`OutboxMessage`]; removed in a final state.
    pub sealed: String,
    /// State of sending.
    pub status: State,
    /// When it was stored.
    pub created_at: Instant,
    /// When it expires, for example because its code has expired. It is not sent after that.
    #[serde(rename = "uselessAt")]
    pub expires_at: Instant,
}

/// The content of an outbox message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxMessage {
    /// The recipient.
    pub to: Recipient,
    /// The account concerned. If it is inactive when the message would be sent, the message is dropped, unless it says so.
    pub about: UserId,
    /// First name for the greeting; empty if there is no account.
    pub name: String,
    /// The event to report.
    #[serde(rename = "news")]
    pub notification: Notification,
}

/// What a message reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Notification {
    /// A one-time code, valid for ten minutes.
    Code {
        /// What the code is used for.
        kind: CodeKind,
        /// Six digits.
        digits: String,
        /// The long code of the link, letters only; used in mails.
        link: String,
        /// The code with which the owner of the mailbox removes the account, until somebody has verified the mailbox.
        #[serde(skip_serializing_if = "Option::is_none")]
        removal: Option<String>,
    },
    /// An event of the account.
    Account {
        /// The event.
        event: AccountEvent,
        /// When it happened.
        at: Instant,
    },
    /// A registration of the account changed its state.
    Registration(Box<RegistrationNotice>),
    /// Confirmed people are reminded of a course, or told of its new dates.
    Announcement(Box<AnnouncementNotice>),
    /// The account's person got a certificate, or it was revoked.
    Certificate(Box<CertificateNotice>),
    /// Registrations for a course wait for the decision of the account's person.
    Requests {
        /// The course.
        #[serde(rename = "courseID")]
        course_id: CourseId,
        /// Its language.
        language: Language,
    },
}

impl Notification {
    /// Whether one event may cause thousands: they are sent at the rate of mails.
    pub const fn is_at_rate(&self) -> bool {
        !matches!(self, Self::Code { .. } | Self::Account { .. })
    }

    /// Whether it is sent although the account is inactive: it says that the account is.
    pub const fn is_of_closed_account(&self) -> bool {
        use AccountEvent::{Erased, Suspended};
        matches!(self, Self::Account { event: Suspended | Erased { .. }, .. })
    }
}

/// An event that the owner of the account is told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum AccountEvent {
    /// A sign-in from a new device or address range.
    NewDevice {
        /// The device.
        agent: Agent,
        /// Its IP address.
        ip: String,
        /// Whether it is the last one that is reported on that day. The dispatcher sets it.
        is_last: bool,
    },
    /// The password was changed or reset.
    PasswordChanged {
        /// Whether the account has passkeys, which still sign in.
        has_passkeys: bool,
    },
    /// The password that was set before the mailbox was verified was removed.
    PasswordRemoved,
    /// One-time passwords were turned on.
    OtpEnabled,
    /// The secret of one-time passwords was replaced.
    OtpReplaced,
    /// The recovery codes were replaced by new ones.
    RecoveryCodesRenewed,
    /// One-time passwords were turned off.
    OtpDisabled {
        /// Whether an administrator turned them off.
        by_administrator: bool,
    },
    /// A passkey was added.
    PasskeyAdded,
    /// A passkey was removed.
    PasskeyRemoved,
    /// All passkeys were removed.
    PasskeysRemoved {
        /// Whether an administrator removed them; else the first code that was sent to the mailbox did.
        by_administrator: bool,
    },
    /// A passkey was refused, because its signature counter did not rise: it may have been copied.
    PasskeyRefused,
    /// Another account tried to register a passkey of this one.
    PasskeyRegistrationRefused,
    /// A change of address was requested and is not confirmed yet. Sent to the current address.
    EmailChangeRequested,
    /// The address was changed. Sent to the old address.
    EmailChanged,
    /// The phone number changed.
    PhoneChanged,
    /// A recovery code was used to sign in.
    RecoveryCodeUsed {
        /// Unused recovery codes left.
        left: usize,
    },
    /// An administrator suspended the account.
    Suspended,
    /// The account was erased.
    Erased {
        /// Whether its mailbox was verified.
        is_mailbox_verified: bool,
    },
    /// An administrator removed a public file of the account.
    FileRemoved {
        /// The name of the file; `None` if the mailbox is not verified, because a stranger who registered with its address
        /// could choose the name.
        file: Option<FileName>,
    },
}

impl AccountEvent {
    /// The name of the variant, as it is stored.
    pub fn kind(&self) -> String {
        let stored = serde_json::to_value(self).unwrap_or_default();
        stored["kind"].as_str().unwrap_or_default().to_owned()
    }
}
