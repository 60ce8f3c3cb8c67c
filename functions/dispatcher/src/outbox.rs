//! Delivery of one message of the service: a code or a notification, by mail or as a text message.

use std::time::Duration;

use background::{SendOutcome, TextMessage};
use domain::{
    E164, Email, Instant, Language, UserId,
    code::CodeKind,
    limits,
    outbox::{Notification, OutboxItem, OutboxMessage, Recipient},
    sms::Type,
    user::User,
};
use messaging::texts::{self, Mail};
use runtime::Error;
use store::{Counter, Outbound, StoreError};

use crate::{Dispatcher, Services};

/// Maximum time until the slot that a code may reserve: twice as far as other text messages, which always leave one.
const MAX_CODE_SLOT_WAIT: Duration = Duration::from_secs(2);

/// What to do with a message.
enum Plan {
    /// Record this outcome without sending the message.
    Skip(SendOutcome),
    Mail {
        to: Email,
        mail: Mail,
        about: UserId,
        /// Counts the message, once in all its attempts.
        limit: Option<Counter>,
    },
    Text(TextMessage),
}

impl Dispatcher {
    /// Sends `message`, whose id is `what`, unless another process sends or has sent it; as a text message at `slot` or
    /// at the next free slot.
    pub(crate) async fn deliver_outbox_message(
        &self,
        what: Outbound,
        message: &OutboxItem,
        slot: &mut Option<Instant>,
    ) -> Result<(), Error> {
        let Services { sender, mails, clock, .. } = &*self.0;
        let expires_at = Some(message.expires_at);
        let plan = if clock.now() < message.expires_at {
            self.plan(message).await?
        } else {
            Plan::Skip(SendOutcome::expired())
        };
        let (to, mail, about, limit) = match plan {
            Plan::Skip(outcome) => return sender.skip(what, expires_at, outcome).await,
            Plan::Text(text) => return sender.send_text(what, expires_at, &text, slot).await,
            Plan::Mail { to, mail, about, limit } => (to, mail, about, limit),
        };
        let Some(claim) = sender.claim(what, expires_at).await? else {
            return Ok(());
        };
        let outcome = match self.is_within(limit, claim.attempts).await {
            Ok(true) => mails.send(&to, &mail, about).await.into(),
            Ok(false) => SendOutcome::not_notified("the mailbox has had its messages of the day"),
            Err(failure) => SendOutcome::NotSent(failure.to_string()),
        };
        sender.conclude(claim, outcome).await
    }

    async fn plan(&self, message: &OutboxItem) -> Result<Plan, Error> {
        let Ok(OutboxMessage { to, about, name, notification }) = self.0.outbox.open(message)
        else {
            // An error, because the message can be sent once the missing key is restored.
            return Err(StoreError::Unexpected(
                "an outbox message cannot be opened: is its key in OUTBOX_KEYS?".to_owned(),
            )
            .into());
        };
        let mut limit = None;
        if to != Recipient::NoAccount {
            let Some(user) = self.0.sender.open_account(about).await? else {
                return Ok(Plan::Skip(SendOutcome::closed()));
            };
            limit = notification_limit(&user, &notification);
        }
        if let Recipient::Mail(to) = &to
            && self.0.store.mail_stop(to).await?.is_some()
        {
            if !is_requested_in_session(&notification) {
                return Ok(Plan::Skip(SendOutcome::not_notified(
                    "an earlier mail bounced, or its recipient complained",
                )));
            }
            limit = Some(Counter::of(limits::CODES_TO_STOPPED, to));
        }
        Ok(match to {
            // Queued for an unknown address, so that the request costs the same as for a known one.
            Recipient::NoAccount => Plan::Skip(SendOutcome::Sent),
            // Such as the canary's: SES would count a bounce.
            Recipient::Mail(to) if !to.is_deliverable() => {
                Plan::Skip(SendOutcome::not_notified("the domain receives no mail"))
            }
            Recipient::Mail(to) => {
                let mail =
                    texts::mail(&notification, &name, &to, &self.0.public_url, Language::default());
                Plan::Mail { to, mail, about, limit }
            }
            Recipient::Sms(phone) => match texts::sms(&notification, Language::default()) {
                Some(text) => Plan::Text(TextMessage {
                    to: E164::from(&phone),
                    text,
                    kind: Type::Transactional,
                    sender: None,
                    max_wait: MAX_CODE_SLOT_WAIT,
                }),
                None => {
                    Plan::Skip(SendOutcome::not_notified("this notification is sent by mail only"))
                }
            },
        })
    }

    /// Whether the attempt number `attempts` is within `limit`. Only the first one counts: later ones send the same
    /// message, which the carrier refused or the stream delivered again.
    async fn is_within(&self, limit: Option<Counter>, attempts: u32) -> Result<bool, StoreError> {
        let Some(counter) = limit.filter(|_| attempts == 1) else {
            return Ok(true);
        };
        let (_, is_full) = self.0.store.count_up_to(&counter, self.0.clock.now()).await?;
        if is_full {
            tracing::warn!(metric = counter.name, "a limit of messages is reached");
        }
        Ok(!is_full)
    }
}

fn notification_limit(user: &User, notification: &Notification) -> Option<Counter> {
    let limit = if user.is_mailbox_verified {
        limits::NOTIFICATIONS
    } else {
        limits::NOTIFICATIONS_UNVERIFIED
    };
    let is_code = matches!(notification, Notification::Code { .. });
    (!is_code).then(|| Counter::of(limit, &user.email))
}

/// Whether the account requested `notification` in its own session, or an administrator for it: a code that verifies an
/// address, other than that of a registration, which has a second code to remove the account. Codes to sign in or to set
/// a password are requested by anyone who knows the address.
fn is_requested_in_session(notification: &Notification) -> bool {
    matches!(notification, Notification::Code { kind: CodeKind::Email, removal: None, .. })
}
