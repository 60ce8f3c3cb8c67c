//! `POST /registrations/{courseId}/{userId}/cancel`: cancels a registration.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, SignedIn, Verified, input, success,
    text,
};
use domain::{
    CourseId, Instant, UserId,
    audit::{Action, AuditValues},
    registration::{Party, Reason, RegistrationEvent, RegistrationState, Seats},
};
use store::SeatRule;

use crate::{
    Registrations,
    access::Seen,
    moving::{Move, audit},
    view::RegistrationResponse,
};

input! {
    pub(crate) struct CancelRequest {
        /// Kept if the committee cancels.
        reason: Option<Reason> = nullable("reason", text),
    }
}

/// The seat goes to the first person who waits, within seconds. A cancelled registration stays unchanged.
pub(crate) async fn cancel(
    State(registrations): State<Registrations>,
    Now(now): Now,
    Verified(person): Verified,
    Path(ids): Path<(CourseId, UserId)>,
    Input(request): Input<CancelRequest>,
) -> ApiResult<RegistrationResponse> {
    let cancel = || async {
        let mut seen = registrations.seen(ids, &person).await?;
        let before = seen.full.registration.clone();
        let Some(party) = seen.canceller(&person, now)? else {
            return Ok((registrations.store.transaction(), seen));
        };
        let is_committee = party == Party::Committee;
        let reason = request.reason.clone().filter(|_| is_committee);
        let after = before.moved(RegistrationState::Cancelled, party, reason, now);
        let change = Move {
            course: &seen.course,
            user: &registrations.registrant(ids.1).await?,
            before: Some(&before),
            after: &after,
            rule: SeatRule::None,
            changes: None,
            event: if is_committee {
                RegistrationEvent::CancelledByCommittee
            } else {
                RegistrationEvent::CancelledByPerson
            },
        };
        let mut tx = registrations.moved(&change, &Seats::default(), now)?;
        if is_committee {
            let (actor, action) = (&person.user, Action::RegistrationCancelled);
            let values = AuditValues::new();
            tx.record_audit(&audit(actor, action, &seen.course, &after, values, now));
        }
        seen.full.registration = after;
        Ok::<_, ApiError>((tx, seen))
    };
    let seen = registrations.store.update_seats(cancel, |_| None).await?;
    success(Message::RegistrationCancelled, registrations.response(seen).await?)
}

impl Seen {
    /// Who cancels the registration; `None` if it is cancelled already. A writer who is registered acts for themselves
    /// while they may.
    ///
    /// # Errors
    /// `REGISTRATION_ENDED_MESSAGE`, `CANCELLATION_CLOSED_MESSAGE` or `COMMITTEE_INACTIVE_MESSAGE`.
    fn canceller(&self, person: &SignedIn, now: Instant) -> Result<Option<Party>, ErrorCode> {
        let state = self.full.registration.card.state;
        let party = self.party(person)?;
        if state == RegistrationState::Cancelled {
            return Ok(None);
        }
        if !state.is_active() {
            return Err(ErrorCode::RegistrationEnded);
        }
        let (course, settings) = (&self.course.course.summary, &self.course.settings);
        let end = match state {
            RegistrationState::Confirmed => settings.cancellation_end(course),
            _ => course.start_at,
        };
        if self.is_own && end.is_none_or(|end| now < end) {
            Ok(Some(Party::Person))
        } else if party == Party::Committee {
            Ok(Some(party))
        } else {
            Err(ErrorCode::CancellationClosed)
        }
    }
}
