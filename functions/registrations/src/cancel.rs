//! `POST /registrations/{courseId}/{userId}/cancel`: cancels a registration.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Input, Message, Now, Path, Verified, input, success, text};
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
    let decide = || async {
        let found = registrations.visible_registration(ids, &person).await?;
        let decision = found.canceller(now)?.map(|party| {
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
    let found = registrations.decide(&person.user, now, decide).await?;
    success(Message::RegistrationCancelled, registrations.response(found, now).await?)
}

impl VisibleRegistration {
    /// Who cancels the registration; `None` if it is cancelled already.
    ///
    /// # Errors
    /// `COMMITTEE_INACTIVE_MESSAGE`, `REGISTRATION_ENDED_MESSAGE` or `CANCELLATION_CLOSED_MESSAGE`.
    fn canceller(&self, now: Instant) -> Result<Option<Party>, ErrorCode> {
        self.party()?;
        let (card, course) = (&self.full.registration.card, &self.course);
        match card.state {
            RegistrationState::Cancelled => return Ok(None),
            state if !state.is_active() => return Err(ErrorCode::RegistrationEnded),
            _ => {}
        }
        let settings = &course.settings;
        let canceller = self.reader.canceller(card, &course.course.summary, settings, now);
        canceller.map(Some).ok_or(ErrorCode::CancellationClosed)
    }
}
