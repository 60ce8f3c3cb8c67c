//! The transaction that moves a registration to another state: with its message and, if the committee does it, the audit
//! entry.

use common::{ApiError, ErrorCode};
use domain::{
    Instant, UserId,
    audit::{Action, AuditEntry, AuditValues, AuditedAction},
    registration::{
        MAX_POSITION, Registration, RegistrationEvent, RegistrationNotice, RegistrationState, Seats,
    },
    user::User,
};
use identity::random;
use store::{FullCourse, Part, PersonRule, SeatRule, Transaction};

use crate::Registrations;

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
}

impl Registrations {
    /// The transaction of `change`. `seats` were read before, for the place on the waiting list that the message names.
    ///
    /// # Errors
    /// When the message cannot be sealed.
    pub(crate) fn moved(
        &self,
        change: &Move<'_>,
        seats: &Seats,
        now: Instant,
    ) -> Result<Transaction, ApiError> {
        let Move { course, user, before, after, rule, changes, event } = *change;
        let mut tx = self.store.transaction();
        let person = PersonRule { max_active: self.max_active, changes };
        tx.move_registration(before, after, rule, person);
        let (summary, settings) = (&course.course.summary, &course.settings);
        let is_proved = user.is_mailbox_verified;
        let mut notice = RegistrationNotice::new(event, after, summary, settings, is_proved);
        // One that is approved stands in the order of numbers, not at the end.
        let is_last = after.card.state == RegistrationState::Waitlisted
            && matches!(event, RegistrationEvent::Registered);
        let place = seats.waiting + 1;
        notice.position = (is_last && place <= MAX_POSITION.into()).then_some(place);
        tx.send(&self.outbox.notify_registration(user, after, notice, now)?);
        Ok(tx)
    }

    /// The account `id`, which has a registration.
    pub(crate) async fn registrant(&self, id: UserId) -> Result<User, ApiError> {
        Ok(self.store.user(id).await?.ok_or(ErrorCode::RegistrationNotFound)?)
    }
}

/// The audit entry for an `action` of `actor` on `registration`.
pub(crate) fn audit(
    actor: &User,
    action: Action,
    course: &FullCourse,
    registration: &Registration,
    mut values: AuditValues,
    now: Instant,
) -> AuditEntry {
    let card = &registration.card;
    values.insert("state".to_owned(), card.state.code().into());
    let summary = &course.course.summary;
    let audited = AuditedAction::of_registration(action, summary, card.user_id, values);
    audited.by(actor, random::id(now), now)
}

/// The response of a change of state whose condition has failed for good; `None` if it is decided again.
pub(crate) fn refused(part: Part) -> Option<ApiError> {
    (part == Part::Registered).then(|| ErrorCode::RegistrationsLimit.into())
}
