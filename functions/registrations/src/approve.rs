//! `POST /registrations/{courseId}/{userId}/approve`: accepts a registration, or gives it a seat beyond the capacity.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, Permitted, flag, input, integer,
    rights::WriteCourses, success,
};
use domain::{
    CourseId, Instant, UserId,
    audit::{Action, AuditValues},
    course::CourseState,
    registration::{
        Party, RegistrationEvent, RegistrationSettings, RegistrationState,
        RegistrationState::{Cancelled, Confirmed, Expired, Pending, Rejected, Waitlisted},
        Seats,
    },
};
use store::{SeatRule, Transaction};

use crate::{
    Registrations,
    access::Seen,
    moving::{Move, audit, refused},
    view::RegistrationResponse,
};

input! {
    pub(crate) struct ApproveRequest {
        /// Whether the course gets one seat more for this person.
        add_seat: bool = optional_or("addSeat", flag, false),
        version: Option<u64> = optional("version", integer(0..=u64::MAX)),
    }
}

/// The person gets a seat if one is free and nobody waits, else a place on the waiting list in the order of numbers. Only
/// `addSeat` passes people who wait. A registration that stays where it is stays unchanged.
pub(crate) async fn approve(
    State(registrations): State<Registrations>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(ids): Path<(CourseId, UserId)>,
    Input(request): Input<ApproveRequest>,
) -> ApiResult<RegistrationResponse> {
    let approve = || async {
        // Before the course: see `Attempt` of `POST /registrations/{courseId}`.
        let seats = registrations.store.seats(ids.0).await?;
        let mut seen = registrations.decidable(ids, &writer).await?;
        let Some((state, rule)) = seen.approved(&request, &seats, now)? else {
            return Ok((registrations.store.transaction(), seen));
        };
        let tx = registrations.approval(&mut seen, (state, rule), &writer, &seats, now).await?;
        Ok::<_, ApiError>((tx, seen))
    };
    let seen = registrations.store.update_seats(approve, refused).await?;
    success(Message::RegistrationApproved, registrations.response(seen).await?)
}

impl Registrations {
    /// The transaction that moves the registration `seen` by `rule`.
    async fn approval(
        &self,
        seen: &mut Seen,
        (state, rule): (RegistrationState, SeatRule),
        writer: &Permitted<WriteCourses>,
        seats: &Seats,
        now: Instant,
    ) -> Result<Transaction, ApiError> {
        let before = seen.full.registration.clone();
        let after = before.moved(state, Party::Committee, None, now);
        let is_promoted = before.card.state == Waitlisted;
        let change = Move {
            course: &seen.course,
            user: &self.registrant(before.card.user_id).await?,
            before: Some(&before),
            after: &after,
            rule,
            changes: None,
            event: if is_promoted {
                RegistrationEvent::Promoted
            } else {
                RegistrationEvent::Approved
            },
        };
        let mut tx = self.moved(&change, seats, now)?;
        let adds_seat = rule == SeatRule::AddedSeat;
        if adds_seat {
            tx.add_seat(&seen.course.course.summary, &seen.course.settings, now);
        }
        let values = AuditValues::from([("addSeat".to_owned(), adds_seat.into())]);
        let (actor, action) = (&writer.person.user, Action::RegistrationApproved);
        tx.record_audit(&audit(actor, action, &seen.course, &after, values, now));
        seen.full.registration = after;
        Ok(tx)
    }
}

impl Seen {
    /// The state that approval leads to, and by which rule; `None` if it changes nothing.
    ///
    /// # Errors
    /// `REGISTRATION_ENDED_MESSAGE`, `COURSE_CANCELLED_MESSAGE`, `VERSION_CONFLICT_MESSAGE` or `COURSE_FULL_MESSAGE`.
    fn approved(
        &self,
        request: &ApproveRequest,
        seats: &Seats,
        now: Instant,
    ) -> Result<Option<(RegistrationState, SeatRule)>, ErrorCode> {
        let card = &self.full.registration.card;
        match card.state {
            Cancelled | Expired => return Err(ErrorCode::RegistrationEnded),
            Confirmed => return Ok(None),
            Waitlisted if !request.add_seat => return Ok(None),
            Pending | Waitlisted | Rejected => {}
        }
        let settings = &self.course.settings;
        if settings.cancelled_at.is_some() {
            return Err(ErrorCode::CourseCancelled);
        }
        // A seat more is a change of the course.
        if request.add_seat && self.course.course.summary.state == CourseState::Archived {
            return Err(ErrorCode::CourseArchived);
        }
        if request.version.is_some_and(|version| version != card.version) {
            return Err(ErrorCode::VersionConflict);
        }
        let revision = seats.revision;
        if request.add_seat {
            let rule = match settings.capacity {
                Some(RegistrationSettings::MAX_CAPACITY..) => return Err(ErrorCode::CourseFull),
                Some(_) => SeatRule::AddedSeat,
                None => SeatRule::Promotion { revision },
            };
            return Ok(Some((Confirmed, rule)));
        }
        let list_limit = settings.list_limit(&self.course.course.summary, now);
        let place = seats.place(list_limit).ok_or(ErrorCode::CourseFull)?;
        Ok(Some((place, SeatRule::Newcomer { list_limit, revision })))
    }
}
