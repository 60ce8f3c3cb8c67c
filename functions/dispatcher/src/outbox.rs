//! Delivery of one message of the service: a code or a notification, by mail or as a text message.

use background::{SendOutcome, TextMessage};
use domain::{
    E164, Email, Instant, Language, Recipient,
    code::CodeKind,
    limits,
    mail_stop::StopCause,
    outbox::{AccountEvent, Notification, OutboxItem, OutboxMessage},
    sms::Type,
    times::{CODE_WAIT, MAIL_WAIT, OLD_MAIL_WAIT},
    user::User,
};
use messaging::texts;
use runtime::Error;
use store::{Counter, Outbound, StoreError};

use crate::{Dispatcher, Services};

/// What to do with a message.
enum Plan {
    /// Record this outcome without sending the message.
    Skip(SendOutcome),
    Mail {
        to: Email,
        message: Box<OutboxMessage>,
        /// The place on the waiting list that it names.
        place: Option<usize>,
        /// Counts the message, once in all its attempts.
        limit: Option<Counter>,
    },
    Text(TextMessage),
}

impl Dispatcher {
    /// Sends `message`, whose id is `what`, unless another process sends or has sent it; a text message or a mail in numbers
    /// at `reserved` or at the next free send time.
    pub(crate) async fn deliver_outbox_message(
        &self,
        what: Outbound,
        message: &OutboxItem,
        reserved: &mut Option<Instant>,
    ) -> Result<(), Error> {
        let Services { sender, mails, clock, outbox, rate, texts, .. } = &*self.0;
        let expires_at = Some(message.expires_at);
        if clock.now() >= message.expires_at {
            return sender.skip(what, expires_at, SendOutcome::expired()).await;
        }
        let Ok(content) = outbox.open(message) else {
            // An error, because the message can be sent once the missing key is restored.
            return Err(StoreError::Unexpected(
                "an outbox message cannot be opened: is its key in OUTBOX_KEYS?".to_owned(),
            )
            .into());
        };
        if let Notification::Registration(_) = content.notification {
            let fresh = message.created_at.after(MAIL_WAIT).since(clock.now());
            // Before the plan, which reads whether it is still to be sent.
            if !rate.wait(reserved.take(), fresh.max(OLD_MAIL_WAIT)).await? {
                return Ok(());
            }
        }
        let plan = self.plan(content).await?;
        let (to, mut message, place, limit) = match plan {
            Plan::Skip(outcome) => return sender.skip(what, expires_at, outcome).await,
            Plan::Text(text) => return sender.send_text(what, expires_at, &text, reserved).await,
            Plan::Mail { to, message, place, limit } => (to, message, place, limit),
        };
        let Some(claim) = sender.claim(what, expires_at).await? else {
            return Ok(());
        };
        let outcome = match sender.count(limit.as_ref(), &claim).await {
            Ok(Some(left)) => {
                if let Notification::Account {
                    event: AccountEvent::NewDevice { is_last, .. },
                    ..
                } = &mut message.notification
                {
                    *is_last = left == 0;
                }
                let mail = texts.mail(&message, &to, place);
                mails.send(&to, &mail, message.about).await.into()
            }
            Ok(None) => SendOutcome::not_notified("the mailbox has had its messages of the day"),
            Err(failure) => SendOutcome::NotSent(failure.to_string()),
        };
        sender.record_outcome(claim, outcome).await
    }

    async fn plan(&self, message: OutboxMessage) -> Result<Plan, Error> {
        let OutboxMessage { to, about, notification, .. } = &message;
        let user = match to {
            Recipient::NoAccount => None,
            _ => self.0.sender.open_account(*about).await?,
        };
        if user.is_none() && *to != Recipient::NoAccount && !notification.is_of_closed_account() {
            return Ok(Plan::Skip(SendOutcome::not_notified("the account is closed")));
        }
        let mut place = None;
        if let Notification::Registration(notice) = notification {
            let store = &self.0.store;
            let registration = store.registration(notice.course_id, *about).await?;
            let current = registration.filter(|one| one.details.state_version == notice.version);
            let Some(current) = current else {
                let reason = "the registration has changed again";
                return Ok(Plan::Skip(SendOutcome::not_notified(reason)));
            };
            // Now: others may have joined or left the list since the message was queued.
            place = store.position(&current.card).await?;
        }
        Ok(match to.clone() {
            // Queued for an unknown address, so that the request costs the same as for a known one.
            Recipient::NoAccount => Plan::Skip(SendOutcome::Sent),
            // Such as the canary's: SES would count a bounce.
            Recipient::Mail(to) if !to.is_deliverable() => {
                Plan::Skip(SendOutcome::not_notified("the domain receives no mail"))
            }
            Recipient::Mail(to) => match self.0.store.mail_stop(&to, self.0.clock.now()).await? {
                Some(StopCause::Bounce) => {
                    Plan::Skip(SendOutcome::not_notified("an earlier mail bounced"))
                }
                stop => {
                    let limit = limit(&to, notification, user.as_ref(), stop);
                    Plan::Mail { to, message: Box::new(message), place, limit }
                }
            },
            Recipient::Sms(phone) => match texts::sms(notification, Language::default()) {
                Some(text) => Plan::Text(TextMessage {
                    to: E164::from(&phone),
                    text,
                    kind: Type::Transactional,
                    sender: None,
                    max_wait: CODE_WAIT,
                    limit: None,
                }),
                None => {
                    Plan::Skip(SendOutcome::not_notified("this notification is sent by mail only"))
                }
            },
        })
    }
}

/// The limit of `notification` to the mailbox `to`, which `user` has, if the account is open.
fn limit(
    to: &Email,
    notification: &Notification,
    user: Option<&User>,
    stop: Option<StopCause>,
) -> Option<Counter> {
    let event = match notification {
        Notification::Code { kind, removal, .. } => {
            // Anyone who knows the address can request it, or has registered with the address.
            let is_requested_by_anyone = *kind != CodeKind::Email || removal.is_some();
            return (stop.is_some() && is_requested_by_anyone)
                .then(|| Counter::of(limits::CODES_TO_STOPPED, to));
        }
        Notification::Registration(notice) => {
            let user = user?;
            return if !user.is_vouched_for() {
                Some(Counter::of(limits::REGISTRATION_MAILS_UNVERIFIED, to))
            } else if notice.event.is_by_person() {
                Some(Counter::of(limits::REGISTRATION_MAILS, user.user_id))
            } else {
                None
            };
        }
        Notification::Account { event, .. } => event,
    };
    match event {
        AccountEvent::NewDevice { .. } => {
            let series = user.map_or(0, |user| user.device_series);
            Some(Counter::of(limits::NEW_DEVICES, format!("{to} {series}")))
        }
        // What causes these is limited.
        AccountEvent::Suspended | AccountEvent::Erased { is_mailbox_verified: true } => None,
        _ if user.is_some_and(|user| user.is_mailbox_verified) => None,
        other => {
            let key = format!("{} {to}", other.kind());
            Some(Counter::of(limits::NOTIFICATIONS_UNVERIFIED, key))
        }
    }
}
