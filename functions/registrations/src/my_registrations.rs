//! `GET /registrations/my-registrations`: lists the caller's registrations, latest change first, without answers.

use axum::extract::State;
use common::{ApiResult, Listed, Paging, QueryInput, Verified, choice, input, ok};
use domain::{
    CourseId,
    registration::{Party, Registration, RegistrationState, RegistrationView},
};
use futures_util::future::try_join_all;
use store::Page;

use crate::Registrations;

input! {
    pub(crate) struct ListQuery {
        /// `None` lists all states.
        state: Option<RegistrationState> = nullable("state", choice),
    }
}

pub(crate) async fn list(
    State(registrations): State<Registrations>,
    Verified(person): Verified,
    paging: Paging,
    QueryInput(request): QueryInput<ListQuery>,
) -> ApiResult<Listed<RegistrationView>> {
    let (store, user) = (&registrations.store, person.user.user_id);
    let list = paging.open(&registrations.cursors, request.state)?;
    let states = request.state.map_or_else(|| RegistrationState::ALL.to_vec(), |state| vec![state]);
    let page = store.registrations_of(user, &states, list.position(), list.limit).await?;
    let ids: Vec<CourseId> = page.items.iter().map(|one| one.card.course_id).collect();
    let positions = page.items.iter().map(|one| store.position(&one.card));
    let (courses, positions) = tokio::try_join!(store.full_courses(&ids), try_join_all(positions))?;
    let view = |(registration, position): (Registration, Option<usize>)| {
        let course = courses.get(&registration.card.course_id)?;
        let (summary, questions) = (&course.course.summary, &course.questions);
        let (settings, reader) = (&course.settings, Party::Person);
        let view = RegistrationView::new(registration, summary, questions, settings, reader);
        Some(view.at(position))
    };
    let items = page.items.into_iter().zip(positions).filter_map(view).collect();
    ok(list.listed("registrations", Page { items, last: page.last })?)
}
