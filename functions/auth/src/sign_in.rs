//! The last step of every sign-in of this function: starts a session, or asks for the one-time password.

use accounts::AccountContext;
use common::{ApiError, ApiResult, Client, ErrorCode, Message, success};
use domain::{Instant, amr::Method, user::OwnAccount};
use serde::Serialize;
use store::{CommitOutcome, Part, Reservation, StoreError, Transaction};

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
/// # Errors
/// If a condition of `tx` fails: `SERVICE_UNAVAILABLE_MESSAGE` when the password or its hash has just been changed, else
/// `BAD_AUTH_COMBINATION_MESSAGE`, because a concurrent request used the code first.
pub(crate) async fn sign_in(
    auth: &Auth,
    account: AccountContext,
    method: Method,
    client: &Client,
    now: Instant,
    tx: Transaction,
    reserved: &mut Reservation,
) -> ApiResult<SignIn> {
    if account.user.is_otp_enabled {
        return match tx.commit_and_release(reserved).await? {
            CommitOutcome::Committed => success(
                Message::OtpRequired,
                SignIn::OtpStep {
                    token: auth.sessions.otp_step(&account.user, vec![method], now)?,
                },
            ),
            CommitOutcome::ConditionFailed(part) => Err(conflict(part)),
        };
    }
    let user = auth
        .sessions
        .begin(account, vec![method], client, now, tx, reserved)
        .await?
        .map_err(conflict)?;
    let token = user.token().to_owned();
    success(
        Message::LoginSuccess,
        SignIn::Complete {
            user: Box::new(user),
        },
    )
    .map(|response| response.authorized(&token))
}

fn conflict(part: Part) -> ApiError {
    match part {
        Part::Credentials => StoreError::TransactionConflict.into(),
        _ => ErrorCode::BadAuthCombination.into(),
    }
}
