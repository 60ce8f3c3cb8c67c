//! `GET /users/{userId}/export`: everything that is kept of the caller.

use axum::extract::State;
use common::{ApiResult, Now, Path, SignedIn, ok};
use domain::{
    UserId,
    audit::AuditEntry,
    course::{Course, State as Stage},
    file::{File, ShownFile},
    login_activity::LoginActivity,
    session::ShownSession,
    sms::Sms,
    user::Account,
};
use serde::Serialize;
use store::CourseList;

use crate::Users;

/// No list of the export is longer: an answer of Lambda has six megabytes.
const MOST: u16 = 1000;

#[derive(Serialize)]
pub(crate) struct ExportResponse {
    export: Export,
}

#[derive(Serialize)]
struct Export {
    user: Account,
    activity: Vec<LoginActivity>,
    sessions: Vec<ShownSession>,
    files: Vec<ShownFile>,
    courses: Vec<Course>,
    sms: Vec<Sms>,
    audit: Vec<AuditEntry>,
}

pub(crate) async fn export(
    State(users): State<Users>,
    Now(now): Now,
    person: SignedIn,
    Path(id): Path<UserId>,
) -> ApiResult<ExportResponse> {
    users.must_be_oneself(&person, id).await?;
    let written: Vec<CourseList> = Stage::ALL
        .iter()
        .map(|stage| CourseList::OfAuthor(id, *stage))
        .collect();
    let (activity, sessions, files, courses, sms, audit) = tokio::join!(
        users.store.login_activity(id, MOST, now),
        users.store.sessions(&person.user, now),
        users.store.files(id, None, MOST),
        users.store.courses(&written, None, MOST),
        users.store.sms_of(id, None, MOST),
        users.store.audit_of_person(id, None, MOST),
    );
    let current = person.session.sid;
    let sessions = sessions?
        .into_iter()
        .map(|session| ShownSession::of(session, current))
        .collect();
    let files = files?.items.into_iter().map(File::listed).collect();
    let (activity, courses, sms, audit) = (activity?, courses?.items, sms?.items, audit?.items);
    ok(ExportResponse {
        export: Export {
            user: person.account(),
            activity,
            sessions,
            files,
            courses,
            sms,
            audit,
        },
    })
}
