//! Encrypts outbox messages of handlers and decrypts them in the dispatcher.

use std::{str::FromStr, time::Duration};

use domain::{
    Instant, Recipient, UserId,
    attendance::AnnouncementNotice,
    certificate::CertificateNotice,
    code,
    course::CourseSummary,
    outbox::{AccountEvent, Notification, OutboxItem, OutboxMessage, State},
    registration::{Registration, RegistrationNotice, requests_message_id},
    user::User,
};
use uuid::Uuid;

use crate::{
    MalformedKey, random,
    sealing::{Sealer, SealingError},
};

/// Encrypts and decrypts outbox messages. All are padded to one size, which hides their kind and whether they have a
/// recipient.
#[derive(Clone)]
pub struct OutboxSealer(Sealer);

/// Padded size, above that of any message: hides the length.
const PADDED_BYTES: usize = 1024;
/// How long a notification without code may be sent.
const NOTIFICATION_LIFE: Duration = Duration::from_secs(86_400);

/// Parses keys like [`Sealer`].
impl FromStr for OutboxSealer {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        text.parse().map(Self)
    }
}

impl OutboxSealer {
    /// Creates a queued outbox item that sends `notification` about the account `about` to `to`. `name` is the first
    /// name for the greeting. The item expires with its code, or after a day.
    pub fn message(
        &self,
        to: Recipient,
        about: UserId,
        name: &str,
        notification: Notification,
        now: Instant,
    ) -> Result<OutboxItem, SealingError> {
        self.message_with_id(random::id(now), to, about, name, notification, now)
    }

    fn message_with_id(
        &self,
        outbox_id: Uuid,
        to: Recipient,
        about: UserId,
        name: &str,
        notification: Notification,
        now: Instant,
    ) -> Result<OutboxItem, SealingError> {
        let life = if matches!(notification, Notification::Code { .. }) {
            code::LIFE
        } else {
            NOTIFICATION_LIFE
        };
        let mut plaintext =
            serde_json::to_vec(&OutboxMessage { to, about, name: name.to_owned(), notification })
                .map_err(|_| SealingError)?;
        plaintext.resize(plaintext.len().max(PADDED_BYTES), b' ');
        Ok(OutboxItem {
            outbox_id,
            sealed: self.0.seal(&plaintext, &place(outbox_id))?,
            status: State::Queued,
            created_at: now,
            expires_at: now.after(life),
        })
    }

    /// As [`message`](Self::message), for a mail to the current address of `user` about an `event` of `now`. It names them
    /// only if they have verified the mailbox: otherwise the name may be a text with which someone else addresses its owner.
    pub fn notify(
        &self,
        user: &User,
        event: AccountEvent,
        now: Instant,
    ) -> Result<OutboxItem, SealingError> {
        self.mail(random::id(now), user, Notification::Account { event, at: now }, now)
    }

    /// As [`notify`](Self::notify), for the change by which `registration` of `user` came to its state. Its id follows from
    /// the version of the registration.
    pub fn notify_registration(
        &self,
        user: &User,
        registration: &Registration,
        notice: RegistrationNotice,
        now: Instant,
    ) -> Result<OutboxItem, SealingError> {
        let notification = Notification::Registration(Box::new(notice));
        self.mail(registration.message_id(), user, notification, now)
    }

    /// As [`notify`](Self::notify), for the registrations for `course` that wait for the decision of `user`. There is one an
    /// hour.
    pub fn notify_requests(
        &self,
        user: &User,
        course: &CourseSummary,
        now: Instant,
    ) -> Result<OutboxItem, SealingError> {
        let (course_id, language) = (course.course_id, course.language.clone());
        let id = requests_message_id(course_id, user.user_id, now);
        self.mail(id, user, Notification::Requests { course_id, language }, now)
    }

    /// As [`notify`](Self::notify), for an announcement to `user`, who is confirmed. Its id follows from what is announced.
    pub fn notify_announcement(
        &self,
        user: &User,
        notice: AnnouncementNotice,
        now: Instant,
    ) -> Result<OutboxItem, SealingError> {
        let AnnouncementNotice { course_id, number, announcement, .. } = notice;
        let id = announcement.message_id(course_id, user.user_id, number);
        self.mail(id, user, Notification::Announcement(Box::new(notice)), now)
    }

    /// As [`notify`](Self::notify), for a certificate of `user`.
    pub fn notify_certificate(
        &self,
        user: &User,
        notice: CertificateNotice,
        now: Instant,
    ) -> Result<OutboxItem, SealingError> {
        self.mail(random::id(now), user, Notification::Certificate(Box::new(notice)), now)
    }

    fn mail(
        &self,
        outbox_id: Uuid,
        user: &User,
        notification: Notification,
        now: Instant,
    ) -> Result<OutboxItem, SealingError> {
        let name = if user.is_mailbox_verified { user.name.as_str() } else { "" };
        let to = Recipient::Mail(user.email.clone());
        self.message_with_id(outbox_id, to, user.user_id, name, notification, now)
    }

    /// Decrypts the content of `message`.
    ///
    /// # Errors
    /// As [`Sealer::open`], and if the content is not an [`OutboxMessage`].
    pub fn open(&self, message: &OutboxItem) -> Result<OutboxMessage, SealingError> {
        let plaintext = self.0.open(&message.sealed, &place(message.outbox_id))?;
        serde_json::from_slice(&plaintext).map_err(|_| SealingError)
    }
}

/// Table, key and field, the associated data of the encryption.
fn place(outbox_id: Uuid) -> String {
    format!("records OUTBOX#{outbox_id} sealed")
}
