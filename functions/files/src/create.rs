//! `POST /files`: somebody announces a file and is told how to send it.

use axum::extract::State;
use common::{
    ApiResult, ErrorCode, Fields, FromFields, Input, Message, Now, integer, success, text,
};
use domain::{
    FileId,
    file::{ContentType, FORM_LIFE, File, FileName, ShownFile, Status, Visibility},
};
use identity::chance;
use serde::Serialize;
use storage::{Form, key_of};

use crate::{Files, Keeper};

pub(crate) struct CreateFileRequest {
    name: FileName,
    content_type: ContentType,
    size: u64,
    visibility: Visibility,
}

impl FromFields<Files> for CreateFileRequest {
    fn from_fields(fields: &mut Fields, files: &Files) -> Option<Self> {
        let name = fields.required("name", text);
        let content_type = fields.required("contentType", text);
        let size = fields.required("size", integer(1..=files.max_bytes));
        let visibility = fields.optional_or("visibility", text, Visibility::Private);
        Some(Self {
            name: name?,
            content_type: content_type?,
            size: size?,
            visibility: visibility?,
        })
    }
}

#[derive(Serialize)]
pub(crate) struct CreateFileResponse {
    file: ShownFile,
    upload: Form,
}

/// Its room is taken from now on, so that what is sent is never too much.
pub(crate) async fn create(
    State(files): State<Files>,
    Now(now): Now,
    keeper: Keeper,
    Input(request): Input<CreateFileRequest>,
) -> ApiResult<CreateFileResponse> {
    let CreateFileRequest {
        name,
        content_type,
        size,
        visibility,
    } = request;
    let (file_id, user_id) = (FileId::new(chance::id(now)), keeper.0.user.user_id);
    let file = File {
        file_id,
        user_id,
        name,
        content_type,
        size,
        visibility,
        status: Status::Pending,
        created_at: now,
    };
    let upload = files
        .objects
        .form(&key_of(file_id), content_type.code(), size, FORM_LIFE, now)?;
    if !files.store.announce_file(&file, files.quota_bytes).await? {
        return Err(ErrorCode::FileQuotaExceeded.into());
    }
    success(
        Message::FileCreated,
        CreateFileResponse {
            file: file.listed(),
            upload,
        },
    )
}
