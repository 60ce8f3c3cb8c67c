//! `POST /registrations/{courseId}/{userId}/reject`: refuses a registration.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, Permitted, input, integer,
    rights::WriteCourses, success, text,
};
use domain::{
    CourseId, Instant, UserId,
    audit::{Action, AuditValues},
    registration::{
        Reason, RegistrationEvent,
        RegistrationState::{Cancelled, Confirmed, Expired, Pending, Rejected, Waitlisted},
    },
};
use store::SeatRule;

use crate::{
    Registrations, access::VisibleRegistration, moving::Decision, view::RegistrationResponse,
};

input! {
    pub(crate) struct RejectRequest: 262_144 {
        pub(crate) reason: Option<Reason> = nullable("reason", text),
        pub(crate) version: Option<u64> = optional("version", integer(0..=u64::MAX)),
    }
}

pub(crate) async fn reject(
    State(registrations): State<Registrations>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(ids): Path<(CourseId, UserId)>,
    Input(request): Input<RejectRequest>,
) -> ApiResult<RegistrationResponse> {
    let found = registrations.reject(ids, &request, &writer, now).await?;
    success(Message::RegistrationRejected, registrations.response(found, now).await?)
}

impl Registrations {
    /// Rejects the registration `ids`, of course and person, as `writer`. A rejected registration stays unchanged.
    ///
    /// # Errors
    /// `REGISTRATION_CONFIRMED_ALREADY_MESSAGE`, `REGISTRATION_ENDED_MESSAGE` or `VERSION_CONFLICT_MESSAGE`, and those of
    /// [`decidable`](Self::decidable) and [`decide`](Self::decide).
    pub(crate) async fn reject(
        &self,
        ids: (CourseId, UserId),
        request: &RejectRequest,
        writer: &Permitted<WriteCourses>,
        now: Instant,
    ) -> Result<VisibleRegistration, ApiError> {
        let decide = || async {
            let found = self.decidable(ids, writer).await?;
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
        self.decide(&writer.person.user, now, decide).await
    }
}
