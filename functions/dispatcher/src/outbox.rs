//! Delivery of one message of the service: a code or a notification, by mail or as a text message.

use background::{SendOutcome, TextMessage};
use domain::{
    CourseId, E164, Email, Instant, Language, Recipient,
    attendance::{Announcement, AnnouncementNotice},
    certificate::CertificateNotice,
    code::CodeKind,
    limits,
    mail_stop::StopCause,
    outbox::{AccountEvent, Notification, OutboxItem, OutboxMessage},
    registration::{RegistrationCard, RegistrationNotice, RegistrationState},
    sms::Type,
    times::{CODE_WAIT, MAIL_WAIT, OLD_MAIL_WAIT},
    user::User,
};
use messaging::texts::{
    self, AnnouncementFacts, CertificateFacts, Facts, RegistrationFacts, RequestsFacts,
};
use runtime::Error;
use store::{Counter, CourseTerms, Outbound, StoreError};

use crate::{Dispatcher, Services};

/// What to do with a message.
enum Plan {
    /// Record this outcome without sending the message.
    Skip(SendOutcome),
    Mail {
        to: Email,
        message: Box<OutboxMessage>,
        /// What the mail names.
        facts: Facts,
        /// Counts the message, once in all its attempts.
        limit: Option<Counter>,
    },
    Text(TextMessage),
}

/// What is read for the mail of a message.
enum MailFacts {
    /// What its mail names.
    Facts(Facts),
    /// It is not to be sent any more, for this reason.
    Overtaken(&'static str),
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
        if content.notification.is_at_rate() {
            let fresh = message.created_at.after(MAIL_WAIT).since(clock.now());
            // Before the plan, which reads whether it is still to be sent.
            if !rate.wait(reserved.take(), fresh.max(OLD_MAIL_WAIT)).await? {
                return Ok(());
            }
        }
        let plan = self.plan(content).await?;
        let (to, mut message, facts, limit) = match plan {
            Plan::Skip(outcome) => return sender.skip(what, expires_at, outcome).await,
            Plan::Text(text) => return sender.send_text(what, expires_at, &text, reserved).await,
            Plan::Mail { to, message, facts, limit } => (to, message, facts, limit),
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
                let mail = texts.mail(&message, &to, &facts, clock.now());
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
        let named = match (notification, &user) {
            (Notification::Registration(notice), Some(user)) => {
                self.registration_facts(notice, user).await?
            }
            (Notification::Announcement(notice), Some(user)) => {
                self.announcement_facts(notice, user).await?
            }
            (Notification::Certificate(notice), Some(user)) => {
                self.certificate_facts(notice, user).await?
            }
            (Notification::Requests { course_id, .. }, Some(user)) => {
                self.requests_facts(*course_id, user).await?
            }
            (Notification::Account { .. }, Some(user)) => {
                let committee = self.0.store.committee(user.committee_id).await?;
                let facts = committee.map(|committee| Facts::Committee(Box::new(committee)));
                MailFacts::Facts(facts.unwrap_or(Facts::None))
            }
            _ => MailFacts::Facts(Facts::None),
        };
        let facts = match named {
            MailFacts::Facts(facts) => facts,
            MailFacts::Overtaken(reason) => {
                return Ok(Plan::Skip(SendOutcome::not_notified(reason)));
            }
        };
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
                    Plan::Mail { to, message: Box::new(message), facts, limit }
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

impl Dispatcher {
    /// What the mail to `user` about `notice` names, as it is now: others may have joined or left the waiting list since the
    /// message was queued, and the course may have changed.
    async fn registration_facts(
        &self,
        notice: &RegistrationNotice,
        user: &User,
    ) -> Result<MailFacts, StoreError> {
        let store = &self.0.store;
        let registration = store.registration(notice.course_id, user.user_id).await?;
        let current = registration.filter(|one| one.details.state_version == notice.version);
        let Some(registration) = current else {
            return Ok(MailFacts::Overtaken("the registration has changed again"));
        };
        let (terms, position) = tokio::try_join!(
            store.course_terms(notice.course_id),
            store.position(&registration.card)
        )?;
        let Some(CourseTerms { course, settings, sessions, .. }) = terms else {
            return Ok(MailFacts::Facts(Facts::None));
        };
        let committee = store.committee(course.summary.committee_id).await?;
        let is_vouched_for = user.is_vouched_for();
        let facts = RegistrationFacts {
            registration,
            course,
            sessions: sessions.sessions,
            settings,
            committee,
            position,
            is_vouched_for,
        };
        Ok(MailFacts::Facts(Facts::Registration(Box::new(facts))))
    }

    /// What the mail to `user` with the announcement of `notice` names, as it is now: the person may have left since it was
    /// queued, and the course may have changed again.
    async fn announcement_facts(
        &self,
        notice: &AnnouncementNotice,
        user: &User,
    ) -> Result<MailFacts, StoreError> {
        let Services { store, clock, texts, .. } = &*self.0;
        let (id, now) = (notice.course_id, clock.now());
        let (registration, terms, state) = tokio::try_join!(
            store.registration(id, user.user_id),
            store.course_terms(id),
            store.announcements(id)
        )?;
        let is_meant = |card: &RegistrationCard| {
            card.number == notice.number && card.state == RegistrationState::Confirmed
        };
        let card = registration.map(|registration| registration.card).filter(is_meant);
        let Some((card, terms)) = card.zip(terms) else {
            return Ok(MailFacts::Overtaken("the registration is not confirmed any more"));
        };
        let schedule = terms.schedule();
        let summary = &terms.course.summary;
        if !summary.is_announced() || summary.has_ended(now) {
            return Ok(MailFacts::Overtaken("the course is cancelled, a draft, or over"));
        }
        let former = match notice.announcement {
            Announcement::Reminder(reminder) => {
                if reminder.is_over(now) || !schedule.reminders(&texts.zone).contains(&reminder) {
                    return Ok(MailFacts::Overtaken("the course starts at another time"));
                }
                None
            }
            Announcement::Change(changed_at) => {
                let former = state.former_of(changed_at).cloned();
                if former.as_ref().is_none_or(|former| former.is_told_as(&schedule, changed_at)) {
                    return Ok(MailFacts::Overtaken("the course has changed again"));
                }
                former
            }
        };
        let facts = AnnouncementFacts {
            committee: store.committee(summary.committee_id).await?,
            course: terms.course,
            sessions: terms.sessions.sessions,
            schedule,
            former,
            ticket: card.ticket,
            is_vouched_for: user.is_vouched_for(),
        };
        Ok(MailFacts::Facts(Facts::Announcement(Box::new(facts))))
    }

    /// What the mail to `user` about the certificate of `notice` names, unless it was revoked since.
    async fn certificate_facts(
        &self,
        notice: &CertificateNotice,
        user: &User,
    ) -> Result<MailFacts, StoreError> {
        let store = &self.0.store;
        let certificate = store.certificate(&notice.code).await?;
        let certificate = certificate.filter(|one| one.revocation.is_some() == notice.is_revoked);
        let Some(certificate) = certificate else {
            return Ok(MailFacts::Overtaken("the certificate was revoked"));
        };
        let course = store.course(certificate.course_id).await?;
        let is_vouched_for = user.is_vouched_for();
        let facts = CertificateFacts { certificate, course, is_vouched_for };
        Ok(MailFacts::Facts(Facts::Certificate(Box::new(facts))))
    }

    /// What the mail to `user` about registrations for `course` that wait names, as it is now.
    async fn requests_facts(&self, course: CourseId, user: &User) -> Result<MailFacts, StoreError> {
        let store = &self.0.store;
        let (terms, seats) = tokio::try_join!(store.course_terms(course), store.seats(course))?;
        let course =
            terms.map(|terms| terms.course).filter(|course| course.summary.is_decided_by(user));
        Ok(match (course, seats.pending) {
            (Some(course), pending @ 1..) => {
                MailFacts::Facts(Facts::Requests(Box::new(RequestsFacts { course, pending })))
            }
            _ => MailFacts::Overtaken("nothing waits for the decision of this account"),
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
        // The committee causes it, but one person can have many courses.
        Notification::Announcement(_) | Notification::Certificate(_) => {
            let user = user?;
            return Some(if user.is_vouched_for() {
                Counter::of(limits::REGISTRATION_MAILS, user.user_id)
            } else {
                Counter::of(limits::REGISTRATION_MAILS_UNVERIFIED, to)
            });
        }
        Notification::Requests { .. } => {
            let is_vouched_for = user?.is_vouched_for();
            return (!is_vouched_for)
                .then(|| Counter::of(limits::REGISTRATION_MAILS_UNVERIFIED, to));
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
