//! `GET /registrations/{courseId}/attendance`: lists who is confirmed for a course or has a mark, with their marks, for those
//! who mark.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Filtered, Listed, Path, SignedIn, Verified, choice,
    course_rights::{may_write, visible},
    input, ok,
};
use domain::{
    CommitteeId, CourseId, Name, UserId,
    attendance::{Attendance, Marks, Ticket},
    registration::{ListOrder, RegistrationCard, RegistrationState},
    user::User,
};
use serde::Serialize;
use store::{CourseTerms, Page, RegistrationOrder};

use crate::{Registrations, list::fitting};

/// Most pages of registrations that one request reads, if few of them are to be listed.
const MAX_READS: usize = 10;

input! {
    pub(crate) struct AttendanceQuery {
        order: Option<ListOrder> = nullable("order", choice),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttendanceResponse {
    #[serde(flatten)]
    list: Listed<AttendeeView>,
    /// Of all sessions that are not cancelled.
    total_minutes: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttendeeView {
    #[serde(rename = "userID")]
    user_id: UserId,
    number: u64,
    name: Name,
    last_name: Name,
    #[serde(rename = "committeeID")]
    committee_id: CommitteeId,
    state: RegistrationState,
    ticket: Option<Ticket>,
    #[serde(flatten)]
    attendance: Attendance,
}

/// A page may be short: of those who are not confirmed, only a few may have marks.
pub(crate) async fn list(
    State(registrations): State<Registrations>,
    Verified(person): Verified,
    Path(id): Path<CourseId>,
    Filtered(paging, request): Filtered<AttendanceQuery>,
) -> ApiResult<AttendanceResponse> {
    let order = match request.order {
        None | Some(ListOrder::Number) => RegistrationOrder::Number,
        Some(ListOrder::Name) => RegistrationOrder::Name(String::new()),
    };
    let list = paging.open(&registrations.cursors, (id, &order))?;
    let course = registrations.marked_course(id, &person).await?;
    let (mut position, mut limit) = (list.position().map(str::to_owned), list.limit);
    let mut reads = 0;
    let page = loop {
        let page =
            registrations.attendee_views(&course, &order, position.as_deref(), limit).await?;
        reads += 1;
        let fitting = fitting(&page.items)?;
        if fitting < page.items.len() {
            limit = fitting.max(1).try_into().unwrap_or(1);
        } else if page.last.is_none()
            || reads >= MAX_READS
            || page.items.iter().any(Option::is_some)
        {
            break page;
        } else {
            position = page.last;
        }
    };
    let items = page.items.into_iter().flatten().collect();
    let list = list.listed("attendance", Page { items, last: page.last })?;
    ok(AttendanceResponse { list, total_minutes: course.sessions.sessions.minutes() })
}

impl Registrations {
    /// The course `id`, if `person` may mark its attendance.
    ///
    /// # Errors
    /// `COURSE_NOT_FOUND_MESSAGE`, or `FORBIDDEN_MESSAGE`.
    pub(crate) async fn marked_course(
        &self,
        id: CourseId,
        person: &SignedIn,
    ) -> Result<CourseTerms, ApiError> {
        let terms = self.store.course_terms(id).await?.ok_or(ErrorCode::CourseNotFound)?;
        let summary = &terms.course.summary;
        let user = &person.user;
        let is_marker =
            terms.sessions.markers.contains(&user.user_id) && summary.is_marked_by(user);
        if is_marker || may_write(summary, person) {
            return Ok(terms);
        }
        visible(Some(terms.course), person)?;
        Err(ErrorCode::Forbidden.into())
    }

    /// A page of the registrations for `course`; `None` for who is not to be listed.
    async fn attendee_views(
        &self,
        course: &CourseTerms,
        order: &RegistrationOrder,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Option<AttendeeView>>, ApiError> {
        let (store, id) = (&self.store, course.course.summary.course_id);
        let states = &RegistrationState::ALL;
        let page = store.registrations(id, states, order, position, limit).await?;
        let users: Vec<UserId> = page.items.iter().map(|card| card.user_id).collect();
        let stored = store.attendance(users.iter().map(|user| (id, *user)));
        let (accounts, stored) = tokio::try_join!(store.accounts(&users), stored)?;
        let marks: Vec<Marks> = stored.into_iter().map(|stored| stored.marks).collect();
        let erased = store.erased_of(marks.iter().flat_map(Marks::markers)).await?;
        let view = |(card, marks): (RegistrationCard, Marks)| {
            let is_listed = card.state == RegistrationState::Confirmed || !marks.0.is_empty();
            let user: &User = accounts.get(&card.user_id).filter(|_| is_listed)?;
            let marks = marks.by_those(|marker| !erased.contains(&marker));
            let person = card.registrant(user);
            Some(AttendeeView {
                user_id: card.user_id,
                number: card.number,
                name: person.name,
                last_name: person.last_name,
                committee_id: person.committee_id,
                state: card.state,
                ticket: card.valid_ticket().cloned(),
                attendance: Attendance::new(&course.sessions.sessions, &marks).in_list(),
            })
        };
        let items = page.items.into_iter().zip(marks).map(view).collect();
        Ok(Page { items, last: page.last })
    }
}
