//! `GET /registrations/{courseId}/{userId}/files/{questionId}`: returns the file that answers a question, with a link.

use std::time::Duration;

use axum::extract::State;
use common::{ApiResult, ErrorCode, Now, Path, Verified, ok};
use domain::{CourseId, QuestionId, UserId, file::FileView};
use serde::Serialize;
use storage::file_key;

use crate::Registrations;

const LINK_LIFE: Duration = Duration::from_secs(5 * 60);

#[derive(Serialize)]
pub(crate) struct FileResponse {
    file: FileView,
}

pub(crate) async fn show(
    State(registrations): State<Registrations>,
    Now(now): Now,
    Verified(person): Verified,
    Path((course, user, question)): Path<(CourseId, UserId, QuestionId)>,
) -> ApiResult<FileResponse> {
    let seen = registrations.seen((course, user), &person).await?;
    let mut answers = seen.full.answers.iter();
    let answer = answers.find(|answer| answer.question_id == question);
    let id = answer.and_then(|answer| answer.file()).ok_or(ErrorCode::FileNotFound)?;
    let file = registrations.store.ready_files([id]).await?.remove(&id);
    let file = file.filter(|file| file.user_id == user).ok_or(ErrorCode::FileNotFound)?;
    let (key, name, kind) = (file_key(id), file.name.as_str(), file.content_type.code());
    let url = registrations.bucket.link(&key, name, kind, LINK_LIFE, now)?;
    ok(FileResponse { file: file.view(Some(url)) })
}
