//! `GET /registrations/my-registrations`: lists the caller's registrations, latest change first, without answers.

use axum::extract::State;
use common::{ApiResult, Filtered, Listed, Now, Verified, choice, input, ok};
use domain::{
    CourseId,
    attendance::Marks,
    certificate::Certificate,
    registration::{Registration, RegistrationState, RegistrationView, ViewContext},
};
use futures_util::future::try_join_all;
use store::Page;

use crate::{Registrations, access::reader};

input! {
    pub(crate) struct ListQuery {
        /// `None` lists all states.
        state: Option<RegistrationState> = nullable("state", choice),
    }
}

/// The place on the waiting list, the marks and the certificate of a registration.
type Shown = ((Option<usize>, Marks), Option<Certificate>);

pub(crate) async fn list(
    State(registrations): State<Registrations>,
    Now(now): Now,
    Verified(person): Verified,
    Filtered(paging, request): Filtered<ListQuery>,
) -> ApiResult<Listed<RegistrationView>> {
    let (store, user) = (&registrations.store, &person.user);
    let list = paging.open(&registrations.cursors, request.state)?;
    let states = request.state.map_or_else(|| RegistrationState::ALL.to_vec(), |state| vec![state]);
    let page = store.registrations_of(user.user_id, &states, list.position(), list.limit).await?;
    let ids: Vec<CourseId> = page.items.iter().map(|one| one.card.course_id).collect();
    let positions = page.items.iter().map(|one| store.position(&one.card));
    let files = page.items.iter().flat_map(|one| one.card.answered.values().flatten().copied());
    let (courses, attendance, positions, files) = tokio::try_join!(
        store.terms_of_courses(&ids),
        store.attendance(ids.iter().map(|id| (*id, user.user_id))),
        try_join_all(positions),
        store.ready_files(files)
    )?;
    let (marks, codes): (Vec<_>, Vec<_>) =
        attendance.into_iter().map(|stored| (stored.marks.of_own(), stored.certificate)).unzip();
    let certificates = store.certificates(&codes).await?;
    let shown = positions.into_iter().zip(marks).zip(certificates);
    let view = |(registration, ((position, marks), certificate)): (Registration, Shown)| {
        let course = courses.get(&registration.card.course_id)?;
        let context = ViewContext {
            user,
            course: &course.course.summary,
            settings: &course.settings,
            sessions: &course.sessions.sessions,
            marks: &marks,
            certificate: certificate.as_ref(),
            required: &course.required,
            files: &files,
            reader: reader(&person, user.user_id, course),
            now,
        };
        Some(RegistrationView::new(registration, &context).at(position))
    };
    let items = page.items.into_iter().zip(shown).filter_map(view).collect();
    ok(list.listed("registrations", Page { items, last: page.last })?)
}
