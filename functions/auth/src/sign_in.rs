//! The last step of every sign-in of this function: starts a session, or asks for the one-time password.

use accounts::{
    AccountContext,
    attempts::{Attempt, Failed},
};
use common::{ApiResponse, Message, success};
use domain::{amr::Method, user::OwnAccount};
use serde::Serialize;
use store::Transaction;

use crate::Auth;

/// The account with an access token, or a pending token for the one-time password step.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum SignIn {
    Complete { user: Box<OwnAccount> },
    OtpStep { token: String },
}

/// Signs in `account`, authenticated by `method`, in one transaction with the writes in `tx`, which also releases
/// `attempt`. The caller ends the attempt.
///
/// # Errors
/// [`Failed::Conflict`] with the part of `tx` whose condition failed.
pub(crate) async fn sign_in(
    auth: &Auth,
    account: AccountContext,
    method: Method,
    mut tx: Transaction,
    attempt: &mut Attempt<'_>,
) -> Result<ApiResponse<SignIn>, Failed> {
    if account.user.is_otp_enabled {
        if account.forgets_devices {
            tx.forget_devices(account.user.user_id);
        }
        attempt.commit(tx).await?;
        let token = auth.sessions.otp_step(&account.user, vec![method], attempt.now)?;
        return Ok(success(Message::OtpRequired, SignIn::OtpStep { token })?);
    }
    let user = auth.sessions.begin(account, vec![method], tx, attempt).await?;
    let token = user.token().to_owned();
    let response = success(Message::LoginSuccess, SignIn::Complete { user: Box::new(user) })?;
    Ok(response.authorized(&token))
}
