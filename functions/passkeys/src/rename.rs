//! `PUT /passkeys/{passkeyId}`: renames one of the caller's passkeys.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Input, Message, Path, SignedIn, input, success, text};
use domain::{Line, PasskeyId};

use crate::{PasskeyResponse, Passkeys};

input! {
    pub(crate) struct RenameRequest {
        name: Line<64> = required("name", text),
    }
}

pub(crate) async fn rename(
    State(passkeys): State<Passkeys>,
    person: SignedIn,
    Path(id): Path<PasskeyId>,
    Input(request): Input<RenameRequest>,
) -> ApiResult<PasskeyResponse> {
    let passkey = passkeys.passkey_of(&person.user, id).await?;
    let renamed = passkeys
        .store
        .rename_passkey(&passkey, &request.name)
        .await?
        .ok_or(ErrorCode::PasskeyNotFound)?;
    success(Message::PasskeyUpdated, renamed.into())
}
