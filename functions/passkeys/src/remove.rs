//! `DELETE /passkeys/{passkeyId}`: removes one of the caller's passkeys.

use accounts::attempts;
use axum::extract::State;
use common::{ApiError, ApiResult, Empty, ErrorCode, Message, Now, Path, SignedIn, success};
use domain::{PasskeyId, outbox::AccountEvent, session::Session, user::User};
use store::{Part, Transaction};

use crate::{Passkeys, Recent};

/// Notifies the owner. Sessions that began with the passkey stay.
pub(crate) async fn remove(
    State(passkeys): State<Passkeys>,
    Now(now): Now,
    Recent(person): Recent,
    Path(id): Path<PasskeyId>,
) -> ApiResult<Empty> {
    let SignedIn { user, session, .. } = person;
    let passkey = passkeys.passkey_of(&user, id).await?;
    let decide = |user: &User, _: &Session, tx: &mut Transaction| {
        tx.remove_passkey(&passkey);
        tx.send(&passkeys.outbox.notify(user, AccountEvent::PasskeyRemoved, now)?);
        Ok(user.changed(|user| user.passkeys = user.passkeys.saturating_sub(1)))
    };
    let condition_error = |part| match part {
        Part::Passkey => ErrorCode::PasskeyNotFound.into(),
        // The account was deleted, or the session has ended.
        _ => ApiError::invalid_token(),
    };
    let (store, user_id) = (&passkeys.store, user.user_id);
    let removed = store.update_own(user, session, now, decide, condition_error);
    let counters = attempts::of_change("passkeyRemoved", user_id);
    attempts::counted(store, &counters, now, removed).await?;
    success(Message::PasskeyDeleted, Empty {})
}
