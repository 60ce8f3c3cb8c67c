//! `POST /registrations/{courseId}/{userId}/approve`: accepts a registration, or gives it a seat beyond the capacity.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, Permitted, flag, input, integer,
    rights::WriteCourses, success,
};
use domain::{
    CourseId, Instant, UserId,
    audit::{Action, values},
    course::CourseState,
    registration::{
        RegistrationEvent, RegistrationSettings,
        RegistrationState::{Cancelled, Confirmed, Expired, Pending, Rejected, Waitlisted},
        Seats,
    },
};
use store::SeatRule;

use crate::{
    Registrations, access::VisibleRegistration, moving::Decision, view::RegistrationResponse,
};

input! {
    pub(crate) struct ApproveRequest: 262_144 {
        /// Whether the course gets one seat more for this person.
        pub(crate) add_seat: bool = optional_or("addSeat", flag, false),
        pub(crate) version: Option<u64> = optional("version", integer(0..=u64::MAX)),
    }
}

pub(crate) async fn approve(
    State(registrations): State<Registrations>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(ids): Path<(CourseId, UserId)>,
    Input(request): Input<ApproveRequest>,
) -> ApiResult<RegistrationResponse> {
    let found = registrations.approve(ids, &request, &writer, now).await?;
    success(Message::RegistrationApproved, registrations.response(found, now).await?)
}

impl Registrations {
    /// Approves the registration `ids`, of course and person, as `writer`. The person gets a seat if one is free and nobody
    /// waits, else a place on the waiting list in the order of numbers. Only `addSeat` passes people who wait. A person
    /// whose account is suspended gets no seat, but a place. A registration that stays where it is stays unchanged.
    ///
    /// # Errors
    /// Those of [`decidable`](Self::decidable), [`VisibleRegistration::approved`] and [`decide`](Self::decide).
    pub(crate) async fn approve(
        &self,
        ids: (CourseId, UserId),
        request: &ApproveRequest,
        writer: &Permitted<WriteCourses>,
        now: Instant,
    ) -> Result<VisibleRegistration, ApiError> {
        let decide = || async {
            // Before the course: see `applicant` of `POST /registrations/{courseId}`.
            let seats = self.store.seats(ids.0).await?;
            let found = self.decidable(ids, writer).await?;
            let decision = found.approved(request, &seats, now)?;
            if decision.is_some() && !found.full.registration.card.state.is_active() {
                self.require_few_registrations(ids.1, now).await?;
            }
            Ok((found, decision))
        };
        self.decide(&writer.person.user, now, decide).await
    }
}

impl VisibleRegistration {
    /// What approval leads to; `None` if it changes nothing.
    ///
    /// # Errors
    /// `REGISTRATION_ENDED_MESSAGE`, `COURSE_CANCELLED_MESSAGE`, `VERSION_CONFLICT_MESSAGE` or `COURSE_FULL_MESSAGE`.
    fn approved(
        &self,
        request: &ApproveRequest,
        seats: &Seats,
        now: Instant,
    ) -> Result<Option<Decision>, ErrorCode> {
        let card = &self.full.registration.card;
        match card.state {
            Cancelled | Expired => return Err(ErrorCode::RegistrationEnded),
            Confirmed => return Ok(None),
            Waitlisted if !request.add_seat || !self.full.user.is_active => return Ok(None),
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
        let (state, rule) = if request.add_seat && self.full.user.is_active {
            match settings.capacity {
                Some(RegistrationSettings::MAX_CAPACITY..) => return Err(ErrorCode::CourseFull),
                Some(_) => (Confirmed, SeatRule::AddedSeat),
                None => (Confirmed, SeatRule::Promotion { capacity: seats.capacity, revision }),
            }
        } else {
            let list_limit = settings.list_limit(&self.course.course.summary, now);
            let place = match seats.place(list_limit) {
                Some(Confirmed) if !self.full.user.is_active => list_limit.map(|_| Waitlisted),
                place => place,
            };
            let place = place.ok_or(ErrorCode::CourseFull)?;
            (place, SeatRule::Newcomer { list_limit, revision })
        };
        let values = values([("addSeat", (rule == SeatRule::AddedSeat).into())]);
        Ok(Some(Decision {
            state,
            reason: None,
            rule,
            event: match card.state {
                Waitlisted => RegistrationEvent::Promoted,
                _ => RegistrationEvent::Approved,
            },
            action: Some((Action::RegistrationApproved, values)),
        }))
    }
}
