//! `POST /registrations/{courseId}/{userId}/reject`: refuses a registration.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, Permitted, input, integer,
    rights::WriteCourses, success, text,
};
use domain::{
    CourseId, UserId,
    audit::{Action, AuditValues},
    registration::{
        Party, Reason, RegistrationEvent,
        RegistrationState::{Cancelled, Confirmed, Expired, Pending, Rejected, Waitlisted},
        Seats,
    },
};
use store::SeatRule;

use crate::{
    Registrations,
    moving::{Move, audit},
    view::RegistrationResponse,
};

input! {
    pub(crate) struct RejectRequest {
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
        let mut seen = registrations.decidable(ids, &writer).await?;
        let before = seen.full.registration.clone();
        match before.card.state {
            Rejected => return Ok((registrations.store.transaction(), seen)),
            Confirmed => return Err(ErrorCode::RegistrationConfirmed.into()),
            Cancelled | Expired => return Err(ErrorCode::RegistrationEnded.into()),
            Pending | Waitlisted => {}
        }
        if request.version.is_some_and(|version| version != before.card.version) {
            return Err(ErrorCode::VersionConflict.into());
        }
        let after = before.moved(Rejected, Party::Committee, request.reason.clone(), now);
        let change = Move {
            course: &seen.course,
            user: &registrations.registrant(ids.1).await?,
            before: Some(&before),
            after: &after,
            rule: SeatRule::None,
            changes: None,
            event: RegistrationEvent::Rejected,
        };
        let mut tx = registrations.moved(&change, &Seats::default(), now)?;
        let (actor, action) = (&writer.person.user, Action::RegistrationRejected);
        tx.record_audit(&audit(actor, action, &seen.course, &after, AuditValues::new(), now));
        seen.full.registration = after;
        Ok::<_, ApiError>((tx, seen))
    };
    let seen = registrations.store.update_seats(reject, |_| None).await?;
    success(Message::RegistrationRejected, registrations.response(seen).await?)
}
