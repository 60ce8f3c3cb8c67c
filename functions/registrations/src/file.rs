//! `GET /registrations/{courseId}/{userId}/files/{questionId}`: returns the file that answers a question, with a link.

use std::time::Duration;

use axum::extract::State;
use common::{ApiResult, ErrorCode, Now, Path, Verified, ok};
use domain::{
    CourseId, QuestionId, UserId,
    audit::{Action, AuditedAction, values},
    file::FileView,
};
use identity::random;
use serde::Serialize;
use storage::file_key;

use crate::Registrations;

const LINK_LIFE: Duration = Duration::from_secs(5 * 60);

#[derive(Serialize)]
pub(crate) struct FileResponse {
    file: FileView,
}

/// Writers see it while the registration and the account of its person are active, and their look is audited.
pub(crate) async fn show(
    State(registrations): State<Registrations>,
    Now(now): Now,
    Verified(person): Verified,
    Path((course, user, question)): Path<(CourseId, UserId, QuestionId)>,
) -> ApiResult<FileResponse> {
    let found = registrations.visible_registration((course, user), &person).await?;
    let is_open = found.full.registration.card.state.is_active() && found.full.user.is_active;
    if !found.reader.is_own && !is_open {
        return Err(ErrorCode::FileNotFound.into());
    }
    let mut answers = found.full.answers.iter();
    let answer = answers.find(|answer| answer.question_id == question);
    let id = answer.and_then(|answer| answer.file()).ok_or(ErrorCode::FileNotFound)?;
    let file = registrations.store.ready_files([id]).await?.remove(&id);
    let file = file.filter(|file| file.user_id == user).ok_or(ErrorCode::FileNotFound)?;
    if !found.reader.is_own {
        // Before the link, which the response contains.
        let (action, summary) = (Action::RegistrationFileRead, &found.course.course.summary);
        let values = values([("questionID", question.to_string().into())]);
        let card = &found.full.registration.card;
        let audited = AuditedAction::of_registration(action, summary, card, values);
        let mut tx = registrations.store.transaction();
        tx.record_audit(&audited.by(&person.user, random::id(now), now));
        tx.commit().await?.expect_committed()?;
    }
    let (key, name, kind) = (file_key(id), file.name.as_str(), file.content_type.code());
    let url = registrations.bucket.link(&key, name, kind, LINK_LIFE, now).await?;
    ok(FileResponse { file: file.view(Some(url)) })
}
