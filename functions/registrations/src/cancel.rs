//! `POST /registrations/{courseId}/{userId}/cancel`: cancels a registration.

use axum::extract::State;
use common::{
    ApiResult, ErrorCode, Input, Message, Now, Path, SignedIn, Verified, input, success, text,
};
use domain::{
    CourseId, Instant, UserId,
    audit::{Action, AuditValues},
    registration::{Party, Reason, RegistrationEvent, RegistrationState},
};
use store::SeatRule;

use crate::{
    Registrations, access::VisibleRegistration, moving::Decision, view::RegistrationResponse,
};

input! {
    pub(crate) struct CancelRequest: 262_144 {
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
        let found = registrations.visible_registration(ids, &person).await?;
        let decision = found.canceller(&person, now)?.map(|party| {
            let is_committee = party == Party::Committee;
            let action = (Action::RegistrationCancelled, AuditValues::new());
            Decision {
                state: RegistrationState::Cancelled,
                reason: request.reason.clone().filter(|_| is_committee),
                rule: SeatRule::None,
                event: if is_committee {
                    RegistrationEvent::CancelledByCommittee
                } else {
                    RegistrationEvent::CancelledByPerson
                },
                action: is_committee.then_some(action),
            }
        });
        Ok((found, decision))
    };
    let response = registrations.decide(&person.user, now, cancel).await?;
    success(Message::RegistrationCancelled, response)
}

impl VisibleRegistration {
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
            _ => course.start(),
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
