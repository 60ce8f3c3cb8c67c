//! The transaction that moves a registration to another state: with its message and, if the committee does it, the audit
//! entry.

use std::future::Future;

use common::{ApiError, ErrorCode};
use domain::{
    Instant,
    audit::{Action, AuditValues, AuditedAction},
    registration::{
        Party, Reason, Registration, RegistrationEvent, RegistrationNotice, RegistrationState,
    },
    user::User,
};
use identity::random;
use store::{FullCourse, Part, PersonRule, SeatRule, Transaction};

use crate::{Registrations, access::Seen, view::RegistrationResponse};

/// A change of state.
pub(crate) struct Move<'a> {
    pub(crate) course: &'a FullCourse,
    /// The registered person.
    pub(crate) user: &'a User,
    pub(crate) before: Option<&'a Registration>,
    pub(crate) after: &'a Registration,
    pub(crate) rule: SeatRule,
    /// [`PersonRule::changes`].
    pub(crate) changes: Option<u64>,
    pub(crate) event: RegistrationEvent,
    /// The place on the waiting list that the message names.
    pub(crate) position: Option<u32>,
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
    /// The transaction of `change`.
    ///
    /// # Errors
    /// When the message cannot be sealed.
    pub(crate) fn moved(&self, change: &Move<'_>, now: Instant) -> Result<Transaction, ApiError> {
        let Move { course, user, before, after, rule, changes, event, position } = *change;
        let mut tx = self.store.transaction();
        let person = PersonRule { max_active: self.max_active, changes };
        tx.move_registration(before, after, rule, person);
        let (summary, settings) = (&course.course.summary, &course.settings);
        let mut notice = RegistrationNotice::new(event, after, summary, settings, user);
        notice.position = position;
        tx.send(&self.outbox.notify_registration(user, after, notice, now)?);
        Ok(tx)
    }

    /// Reads and decides with `decide`, and moves the registration as `actor` decided; one without decision stays
    /// unchanged. Repeated after concurrent changes.
    ///
    /// # Errors
    /// Those of `decide`; `REGISTRATIONS_LIMIT_MESSAGE` when the person has too many registrations.
    pub(crate) async fn decide<F>(
        &self,
        actor: &User,
        now: Instant,
        decide: impl Fn() -> F,
    ) -> Result<RegistrationResponse, ApiError>
    where
        F: Future<Output = Result<(Seen, Option<Decision>), ApiError>>,
    {
        let attempt = || async {
            let (mut seen, decision) = decide().await?;
            let tx = match decision {
                Some(decision) => self.decided(&mut seen, decision, actor, now).await?,
                None => self.store.transaction(),
            };
            Ok::<_, ApiError>((tx, seen))
        };
        let too_many =
            |part| (part == Part::Registered).then(|| ErrorCode::RegistrationsLimit.into());
        let seen = self.store.update_seats(attempt, too_many).await?;
        Ok(self.response(seen).await?)
    }

    async fn decided(
        &self,
        seen: &mut Seen,
        Decision { state, reason, rule, event, action }: Decision,
        actor: &User,
        now: Instant,
    ) -> Result<Transaction, ApiError> {
        let (course, before) = (&seen.course, &seen.full.registration);
        let user = self.store.user(before.card.user_id).await?;
        let user = &user.ok_or(ErrorCode::RegistrationNotFound)?;
        let party = if action.is_some() { Party::Committee } else { Party::Person };
        let after = before.moved(state, party, reason, now);
        let (before, changes, position) = (Some(before), None, None);
        let change = Move { course, user, before, after: &after, rule, changes, event, position };
        let mut tx = self.moved(&change, now)?;
        let summary = &course.course.summary;
        if rule == SeatRule::AddedSeat {
            tx.add_seat(summary, &course.settings, now);
        }
        if let Some((action, values)) = action {
            let audited = AuditedAction::of_registration(action, summary, &after.card, values);
            tx.record_audit(&audited.by(actor, random::id(now), now));
        }
        seen.full.registration = after;
        Ok(tx)
    }
}
