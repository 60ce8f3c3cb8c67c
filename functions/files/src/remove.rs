//! `DELETE /files/{fileId}`: deletes one of the caller's files, or the public file of an account that they may edit.

use axum::extract::State;
use common::{ActiveMember, ApiError, ApiResult, Empty, ErrorCode, Message, Now, Path, success};
use domain::{FileId, Instant, audit::AuditedAction, file::File, outbox::AccountEvent, user::User};
use identity::random;
use store::Transaction;

use crate::Files;

/// The transaction hides the file and frees its quota; the worker deletes the object later.
pub(crate) async fn remove(
    State(files): State<Files>,
    Now(now): Now,
    ActiveMember(caller): ActiveMember,
    Path(id): Path<FileId>,
) -> ApiResult<Empty> {
    let attempt = || async {
        let file = files.store.file(id).await?.ok_or(ErrorCode::FileNotFound)?;
        let mut tx = files.store.transaction();
        if file.user_id != caller.user.user_id {
            files.remove_foreign(&caller.user, &file, &mut tx, now).await?;
        }
        tx.discard_file(&file, now);
        Ok::<_, ApiError>((tx, ()))
    };
    files.store.update(attempt, |_| None).await?;
    success(Message::FileDeleted, Empty {})
}

impl Files {
    /// Adds to `tx` the audit entry of the removal of `file` by `caller`, who is not its owner, and the notification of its
    /// owner.
    ///
    /// # Errors
    /// `FILE_NOT_FOUND_MESSAGE` when `file` is not public, `FORBIDDEN_MESSAGE` when `caller` may not edit its owner.
    async fn remove_foreign(
        &self,
        caller: &User,
        file: &File,
        tx: &mut Transaction,
        now: Instant,
    ) -> Result<(), ApiError> {
        let owner = if file.is_public() { self.store.user(file.user_id).await? } else { None };
        let owner = owner.ok_or(ErrorCode::FileNotFound)?;
        if !caller.rights().may_edit(&owner.rights()) {
            // The public files of a suspended owner are not visible.
            let code = if owner.is_active { ErrorCode::Forbidden } else { ErrorCode::FileNotFound };
            return Err(code.into());
        }
        tx.record_audit(&AuditedAction::of_file(&owner, file).by(caller, random::id(now), now));
        let name = owner.is_mailbox_verified.then(|| file.name.clone());
        let removed = AccountEvent::FileRemoved { file: name };
        tx.send(&self.outbox.notify(&owner, removed, now)?);
        Ok(())
    }
}
