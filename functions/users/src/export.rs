//! `GET /users/{userId}/export`: returns all data stored about the caller.

use axum::extract::State;
use common::{ApiResult, Now, Path, SignedIn, ok};
use domain::{
    UserId,
    audit::AuditEntry,
    course::{Course, State as CourseState},
    file::{File, FileView},
    login_activity::LoginActivity,
    session::SessionView,
    sms::Sms,
    user::Account,
};
use serde::Serialize;
use store::CourseList;

use crate::Users;

/// Most entries of each list: a Lambda response is limited to 6 MB.
const MAX_ENTRIES: u16 = 1000;

#[derive(Serialize)]
pub(crate) struct ExportResponse {
    export: Export,
}

#[derive(Serialize)]
struct Export {
    user: Account,
    activity: Vec<LoginActivity>,
    sessions: Vec<SessionView>,
    files: Vec<FileView>,
    courses: Vec<Course>,
    sms: Vec<Sms>,
    audit: Vec<AuditEntry>,
}

pub(crate) async fn export(
    State(users): State<Users>,
    Now(now): Now,
    caller: SignedIn,
    Path(id): Path<UserId>,
) -> ApiResult<ExportResponse> {
    users.require_self(&caller, id).await?;
    let lists: Vec<CourseList> = CourseState::ALL
        .iter()
        .map(|state| CourseList::OfAuthor(id, *state))
        .collect();
    let (activity, sessions, files, courses, sms, audit) = tokio::join!(
        users.store.login_activity(id, MAX_ENTRIES, now),
        users.store.sessions(&caller.user, now),
        users.store.files(id, None, MAX_ENTRIES),
        users.store.courses(&lists, None, MAX_ENTRIES),
        users.store.sms_of(id, None, MAX_ENTRIES),
        users.store.audit_of_person(id, None, MAX_ENTRIES),
    );
    let current = caller.session.sid;
    let sessions = sessions?
        .into_iter()
        .map(|session| SessionView::of(session, current))
        .collect();
    let files = files?.items.into_iter().map(File::listed).collect();
    let (activity, courses, sms, audit) = (activity?, courses?.items, sms?.items, audit?.items);
    ok(ExportResponse {
        export: Export {
            user: caller.account(),
            activity,
            sessions,
            files,
            courses,
            sms,
            audit,
        },
    })
}
