//! `POST /files`: registers a file and returns the form that uploads it.

use axum::extract::State;
use common::{
    ActiveMember, ApiError, ApiResult, ErrorCode, Fields, FromFields, InvalidField, Message, Now,
    Once, integer, text,
};
use domain::{
    FileId,
    file::{ContentType, FORM_LIFE, File, FileName, FileView, Status, Visibility},
};
use identity::random;
use serde::Serialize;
use storage::{Form, upload_key};
use store::Part;

use crate::Files;

pub(crate) struct CreateFileRequest {
    name: FileName,
    content_type: ContentType,
    size: u64,
    visibility: Visibility,
}

impl FromFields<Files> for CreateFileRequest {
    fn from_fields(fields: &mut Fields, files: &Files) -> Result<Self, InvalidField> {
        let name = fields.required("name", text);
        let content_type = fields.required("contentType", text);
        let size = fields.required("size", integer(1..=files.max_bytes));
        let visibility = fields.optional_or("visibility", text, Visibility::Private);
        Ok(Self { name: name?, content_type: content_type?, size: size?, visibility: visibility? })
    }
}

#[derive(Serialize)]
pub(crate) struct CreateFileResponse {
    file: FileView,
    upload: Form,
}

/// Reserves the size against the quota before the upload, so that the quota is never exceeded.
pub(crate) async fn create(
    State(files): State<Files>,
    Now(now): Now,
    uploader: ActiveMember,
    Once(request, key): Once<CreateFileRequest>,
) -> ApiResult<CreateFileResponse> {
    let CreateFileRequest { name, content_type, size, visibility } = request;
    let (file_id, user_id) = (FileId::new(random::id(now)), uploader.0.user.user_id);
    let file = File {
        file_id,
        user_id,
        name,
        content_type,
        size,
        visibility,
        status: Status::Pending,
        created_at: now,
        deleted_at: None,
    };
    let mut tx = files.store.transaction();
    tx.new_file(&file, files.quota_bytes);
    let refused = |part: Part| match part {
        Part::Usage => ErrorCode::FileQuotaExceeded.into(),
        Part::Quota => ApiError::too_many_attempts(now.end_of_day().since(now)),
        part => ApiError::from(part.unexpected()),
    };
    let created = key.commit(&files.store, tx, Message::FileCreated, file, now, refused).await?;
    Ok(created.map(|file| {
        let (key, content_type) = (upload_key(file.file_id), file.content_type.code());
        let created_at = file.created_at;
        let upload = files.bucket.form(&key, content_type, file.size, FORM_LIFE, created_at);
        CreateFileResponse { file: file.listed(), upload }
    }))
}
