//! `GET /registrations/{courseId}`: lists the registrations for a course, for its writers.

use std::collections::HashMap;

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Filtered, InvalidValue, Listed, Path, Viewer, choice,
    course_rights::writable, input, ok, rights::WriteCourses, text,
};
use domain::{
    Constraint, CourseId, Line, UserId, folded,
    registration::{
        Answer, AnswerView, ListOrder, ListPart, RegistrationCard, RegistrationState, Seats,
    },
};
use futures_util::future::try_join_all;
use serde::Serialize;
use store::{CourseTerms, FullRegistration, Page, RegistrationOrder, StoreError};

use crate::{Registrations, export::BATCH, view::CardView};

/// Most bytes of the items in a response: one registration has at most 390,000 of answers, and 17,000 of marks.
const MAX_BYTES: usize = 4_000_000;

input! {
    pub(crate) struct ListQuery {
        /// `None` lists all states.
        state: Option<RegistrationState> = nullable("state", choice),
        order: Option<ListOrder> = nullable("order", choice),
        /// The beginning of the last name; lists by name.
        start: Option<Line<100>> = nullable("q", text),
        include: Option<ListPart> = nullable("include", choice),
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
    let ListQuery { state, order, start, include } = request;
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
    let page = async {
        let mut limit = list.limit;
        loop {
            let page = store.registrations(id, &states, &order, position, limit).await?;
            let items = match include {
                None => registrations.card_views(&page.items, &course).await?,
                Some(ListPart::Answers) => {
                    registrations.card_views_with_answers(&page.items, &course).await?
                }
            };
            let fitting = fitting(&items)?;
            if fitting == items.len() {
                return Ok::<_, ApiError>(Page { items, last: page.last });
            }
            limit = fitting.max(1).try_into().unwrap_or(1);
        }
    };
    let (page, seats) = tokio::try_join!(page, async { Ok(store.seats(id).await?) })?;
    ok(ListResponse { list: list.listed("registrations", page)?, counts: seats.into() })
}

/// How many of the first `items` fit in a response; at least one does.
pub(crate) fn fitting(items: &[impl Serialize]) -> serde_json::Result<usize> {
    let mut bytes = 0;
    for (count, item) in items.iter().enumerate() {
        bytes += serde_json::to_vec(item)?.len();
        if bytes > MAX_BYTES && count > 0 {
            return Ok(count);
        }
    }
    Ok(items.len())
}

impl Registrations {
    /// The views of `cards` for `course`.
    async fn card_views(
        &self,
        cards: &[RegistrationCard],
        course: &CourseTerms,
    ) -> Result<Vec<CardView>, StoreError> {
        let users: Vec<UserId> = cards.iter().map(|card| card.user_id).collect();
        let files = cards.iter().flat_map(|card| card.required_files(&course.required));
        let (users, files) =
            tokio::try_join!(self.store.accounts(&users), self.store.ready_files(files))?;
        let view = |card: &RegistrationCard| {
            let user = users.get(&card.user_id)?;
            Some(CardView::new(card.clone(), user, &course.required, &files))
        };
        Ok(cards.iter().filter_map(view).collect())
    }

    /// As [`card_views`](Self::card_views), with the answers.
    async fn card_views_with_answers(
        &self,
        cards: &[RegistrationCard],
        course: &CourseTerms,
    ) -> Result<Vec<CardView>, StoreError> {
        let id = course.course.summary.course_id;
        let users: Vec<UserId> = cards.iter().map(|card| card.user_id).collect();
        let found = users.chunks(BATCH).map(|users| self.store.full_registrations(id, users));
        let (found, questions) = tokio::try_join!(try_join_all(found), self.store.questions(id))?;
        let mut found: HashMap<UserId, FullRegistration> =
            found.into_iter().flatten().map(|full| (full.user.user_id, full)).collect();
        let files = found.values().flat_map(|full| &full.answers).filter_map(Answer::file);
        let files = self.store.ready_files(files).await?;
        let view = |card: &RegistrationCard| {
            // The card of the list, by which `state` selected it and which the order is about.
            let FullRegistration { answers, user, .. } = found.remove(&card.user_id)?;
            let answers = AnswerView::all(card, answers, &questions, &files);
            let mut card = CardView::new(card.clone(), &user, &course.required, &files);
            card.answers = Some(answers);
            Some(card)
        };
        Ok(cards.iter().filter_map(view).collect())
    }
}
