//! `POST /registrations/{courseId}/{userId}/reject`: refuses a registration.

use axum::extract::State;
use common::{
    ApiResult, ErrorCode, Input, Message, Now, Path, Permitted, input, integer,
    rights::WriteCourses, success, text,
};
use domain::{
    CourseId, UserId,
    audit::{Action, AuditValues},
    registration::{
        Reason, RegistrationEvent,
        RegistrationState::{Cancelled, Confirmed, Expired, Pending, Rejected, Waitlisted},
    },
};
use store::SeatRule;

use crate::{Registrations, moving::Decision, view::RegistrationResponse};

input! {
    pub(crate) struct RejectRequest: 262_144 {
        reason: Option<Reason> = nullable("reason", text),
        version: Option<u64> = optional("version", integer(0..=u64::MAX)),
    }
}

/// A rejected registration stays unchanged.
pub(crate) async fn reject(
    State(registrations): State<Registrations>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(ids): Path<(CourseId, UserId)>,
    Input(request): Input<RejectRequest>,
) -> ApiResult<RegistrationResponse> {
    let reject = || async {
        let found = registrations.decidable(ids, &writer).await?;
        let card = &found.full.registration.card;
        match card.state {
            Rejected => return Ok((found, None)),
            Confirmed => return Err(ErrorCode::RegistrationConfirmed.into()),
            Cancelled | Expired => return Err(ErrorCode::RegistrationEnded.into()),
            Pending | Waitlisted => {}
        }
        if request.version.is_some_and(|version| version != card.version) {
            return Err(ErrorCode::VersionConflict.into());
        }
        let decision = Decision {
            state: Rejected,
            reason: request.reason.clone(),
            rule: SeatRule::None,
            event: RegistrationEvent::Rejected,
            action: Some((Action::RegistrationRejected, AuditValues::new())),
        };
        Ok((found, Some(decision)))
    };
    let response = registrations.decide(&writer.person.user, now, reject).await?;
    success(Message::RegistrationRejected, response)
}
