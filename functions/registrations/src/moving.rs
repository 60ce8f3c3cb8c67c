//! The transaction that moves a registration to another state: with its message and, if the committee does it, the audit
//! entry.

use std::future::Future;

use common::{ApiError, ErrorCode};
use domain::{
    Instant, UserId,
    audit::{Action, AuditValues, AuditedAction},
    limits,
    registration::{
        Party, Reason, Registration, RegistrationCard, RegistrationEvent, RegistrationNotice,
        RegistrationState,
    },
    user::User,
};
use identity::random;
use store::{Counter, CourseTerms, Part, SeatRule, Transaction};
use tokio::sync::OnceCell;

use crate::{Registrations, access::VisibleRegistration};

/// A change of state.
pub(crate) struct Move<'a> {
    pub(crate) course: &'a CourseTerms,
    /// The registered person.
    pub(crate) user: &'a User,
    pub(crate) before: Option<&'a Registration>,
    pub(crate) after: &'a Registration,
    pub(crate) rule: SeatRule,
    pub(crate) event: RegistrationEvent,
}

/// What happens to a registration that somebody approves, rejects or cancels.
pub(crate) struct Decision {
    pub(crate) state: RegistrationState,
    pub(crate) reason: Option<Reason>,
    pub(crate) rule: SeatRule,
    pub(crate) event: RegistrationEvent,
    /// What the audit log records of the committee; `None` if the person decides.
    pub(crate) action: Option<(Action, AuditValues)>,
}

impl Registrations {
    /// # Errors
    /// `REGISTRATIONS_LIMIT_MESSAGE` when `user` has as many active registrations, for courses that are not over, as a person
    /// can have.
    pub(crate) async fn require_few_registrations(
        &self,
        user: UserId,
        now: Instant,
    ) -> Result<(), ApiError> {
        match self.store.active_registrations(user, self.max_active, now).await? {
            active if active < self.max_active => Ok(()),
            _ => Err(ErrorCode::RegistrationsLimit.into()),
        }
    }

    /// The transaction of `change`.
    ///
    /// # Errors
    /// When the message cannot be sealed.
    pub(crate) fn moved(&self, change: &Move<'_>, now: Instant) -> Result<Transaction, ApiError> {
        let Move { course, user, before, after, rule, event } = *change;
        let mut tx = self.store.transaction();
        let id = course.course.summary.course_id;
        tx.move_registrations(id, &[(before, after)], rule, self.max_active);
        let notice = RegistrationNotice::new(event, after);
        tx.send_at_rate(&self.outbox.notify_registration(user, after, notice, now)?);
        Ok(tx)
    }

    /// Reads and decides with `decide`, and moves the registration as `actor` decided; one without decision stays
    /// unchanged. Repeated after concurrent changes.
    ///
    /// # Errors
    /// Those of `decide`; `REGISTRATIONS_LIMIT_MESSAGE` when the person has too many registrations;
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when the committee has decided on the registration too often.
    pub(crate) async fn decide<F>(
        &self,
        actor: &User,
        now: Instant,
        decide: impl Fn() -> F,
    ) -> Result<VisibleRegistration, ApiError>
    where
        F: Future<Output = Result<(VisibleRegistration, Option<Decision>), ApiError>>,
    {
        let counted = OnceCell::new();
        let attempt = || async {
            let (mut found, decision) = decide().await?;
            let tx = match decision {
                Some(decision) => {
                    if decision.action.is_some() {
                        let count = || self.count_decision(&found.full.registration.card, now);
                        counted.get_or_try_init(count).await?;
                    }
                    self.decided(&mut found, decision, actor, now)?
                }
                None => self.store.transaction(),
            };
            Ok::<_, ApiError>((tx, found))
        };
        let too_many =
            |part| (part == Part::Registered).then(|| ErrorCode::RegistrationsLimit.into());
        self.store.update(attempt, too_many).await
    }

    /// Counts a decision of the committee on the registration with `card`.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE`.
    async fn count_decision(&self, card: &RegistrationCard, now: Instant) -> Result<(), ApiError> {
        let key = format!("{} {}", card.course_id, card.user_id);
        let counter = Counter::of(limits::DECISIONS, key);
        let _ = self.store.reserve(&[counter], now).await?;
        Ok(())
    }

    fn decided(
        &self,
        found: &mut VisibleRegistration,
        Decision { state, reason, rule, event, action }: Decision,
        actor: &User,
        now: Instant,
    ) -> Result<Transaction, ApiError> {
        let (course, before) = (&found.course, &found.full.registration);
        let user = &found.full.user;
        if user.erased_at.is_some() {
            return Err(ErrorCode::RegistrationNotFound.into());
        }
        let party = if action.is_some() { Party::Committee } else { Party::Person };
        let after = before.named(user).moved(state, party, reason, now);
        let before = Some(before);
        let change = Move { course, user, before, after: &after, rule, event };
        let mut tx = self.moved(&change, now)?;
        let summary = &course.course.summary;
        if rule == SeatRule::AddedSeat {
            tx.add_seat(summary, &course.settings, now);
        }
        if let Some((action, values)) = action {
            let audited = AuditedAction::of_registration(action, summary, &after.card, values);
            tx.record_audit(&audited.by(actor, random::id(now), now));
        }
        found.full.registration = after;
        Ok(tx)
    }
}
