//! The last step of every sign-in of this function: starts a session, or asks for the one-time password.

use accounts::AccountContext;
use common::{ApiError, ApiResponse, Client, Message, success};
use domain::{Instant, amr::Method, user::OwnAccount};
use serde::Serialize;
use store::{CommitOutcome, Part, Reservation, Transaction};

use crate::Auth;

/// The account with an access token, or a pending token for the one-time password step.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum SignIn {
    Complete { user: Box<OwnAccount> },
    OtpStep { token: String },
}

/// Signs in `account`, authenticated by `method`, in one transaction with the writes in `tx`, which also releases
/// `reserved`. After an error the caller releases what is left of it.
///
/// The inner error is the part of `tx` whose condition failed: a concurrent request changed the password or its hash
/// (`Part::Credentials`), or used the code first.
pub(crate) async fn sign_in(
    auth: &Auth,
    account: AccountContext,
    method: Method,
    client: &Client,
    now: Instant,
    mut tx: Transaction,
    reserved: &mut Reservation,
) -> Result<Result<ApiResponse<SignIn>, Part>, ApiError> {
    if account.user.is_otp_enabled {
        if account.forgets_devices {
            tx.forget_devices(account.user.user_id);
        }
        if let CommitOutcome::ConditionFailed(part) = tx.commit_and_release(reserved).await? {
            return Ok(Err(part));
        }
        let token = auth.sessions.otp_step(&account.user, vec![method], now)?;
        return success(Message::OtpRequired, SignIn::OtpStep { token }).map(Ok);
    }
    let begun = auth.sessions.begin(account, vec![method], client, now, tx, reserved);
    let user = match begun.await? {
        Ok(user) => user,
        Err(part) => return Ok(Err(part)),
    };
    let token = user.token().to_owned();
    success(Message::LoginSuccess, SignIn::Complete { user: Box::new(user) })
        .map(|response| Ok(response.authorized(&token)))
}
