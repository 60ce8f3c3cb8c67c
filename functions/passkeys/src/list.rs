//! `GET /passkeys`: lists the caller's passkeys, newest first.

use axum::extract::State;
use common::{ApiResult, SignedIn, ok};
use domain::passkey::PasskeyView;
use serde::Serialize;

use crate::Passkeys;

#[derive(Serialize)]
pub(crate) struct PasskeysResponse {
    passkeys: Vec<PasskeyView>,
}

pub(crate) async fn list(
    State(passkeys): State<Passkeys>,
    person: SignedIn,
) -> ApiResult<PasskeysResponse> {
    let mut found = passkeys.store.passkeys(person.user.user_id).await?;
    found.retain(|passkey| passkey.is_of(&person.user));
    ok(PasskeysResponse { passkeys: found.into_iter().map(PasskeyView::from).collect() })
}
