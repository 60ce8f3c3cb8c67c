//! `GET /registrations/{courseId}`: lists the registrations for a course, for its writers.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Filtered, InvalidValue, Listed, Path, Viewer, choice,
    course_rights::writable, input, ok, rights::WriteCourses, text,
};
use domain::{
    Constraint, CourseId, Line, UserId, folded,
    registration::{ListOrder, RegistrationCard, RegistrationState, Seats},
};
use serde::Serialize;
use store::{Page, RegistrationOrder};

use crate::{Registrations, view::CardView};

input! {
    pub(crate) struct ListQuery {
        /// `None` lists all states.
        state: Option<RegistrationState> = nullable("state", choice),
        order: Option<ListOrder> = nullable("order", choice),
        /// The beginning of the last name; lists by name.
        start: Option<Line<100>> = nullable("q", text),
    }
}

/// The registrations and, of the whole course, the number in each active state.
#[derive(Serialize)]
pub(crate) struct ListResponse {
    #[serde(flatten)]
    list: Listed<CardView>,
    counts: Counts,
}

#[derive(Serialize)]
struct Counts {
    pending: u32,
    waitlisted: u32,
    confirmed: u32,
}

impl From<Seats> for Counts {
    fn from(seats: Seats) -> Self {
        Self { pending: seats.pending, waitlisted: seats.waiting, confirmed: seats.taken }
    }
}

/// The only order of a list that `q` narrows.
fn by_name() -> Constraint {
    Constraint::allowed([ListOrder::Name.code()])
}

/// A page costs the same, however many people are registered.
pub(crate) async fn list(
    State(registrations): State<Registrations>,
    viewer: Viewer<WriteCourses>,
    Path(id): Path<CourseId>,
    Filtered(paging, request): Filtered<ListQuery>,
) -> ApiResult<ListResponse> {
    let ListQuery { state, order, start } = request;
    let is_contradiction = order == Some(ListOrder::Number) && start.is_some();
    let order = match (order, start) {
        (None | Some(ListOrder::Number), None) => RegistrationOrder::Number,
        (_, start) => {
            RegistrationOrder::Name(start.map_or_else(String::new, |start| folded(start.as_str())))
        }
    };
    let list = paging.open(&registrations.cursors, (id, state, &order))?;
    if is_contradiction {
        let invalid = InvalidValue { code: ErrorCode::FieldValue, constraint: by_name() };
        return Err(ApiError::field("order", invalid));
    }
    let course = registrations.course(id, &viewer.person, writable).await?;
    let states = state.map_or_else(|| RegistrationState::ALL.to_vec(), |state| vec![state]);
    let (store, position) = (&registrations.store, list.position());
    let (page, seats) = tokio::try_join!(
        store.registrations(id, &states, &order, position, list.limit),
        store.seats(id)
    )?;
    let users: Vec<UserId> = page.items.iter().map(|card| card.user_id).collect();
    let files = page.items.iter().flat_map(|card| card.required_files(&course.required));
    let (users, files) = tokio::try_join!(store.accounts(&users), store.ready_files(files))?;
    let view = |card: RegistrationCard| {
        let user = users.get(&card.user_id)?;
        Some(CardView::new(card, user, &course.required, &files))
    };
    let items = page.items.into_iter().filter_map(view).collect();
    let page = Page { items, last: page.last };
    ok(ListResponse { list: list.listed("registrations", page)?, counts: seats.into() })
}
