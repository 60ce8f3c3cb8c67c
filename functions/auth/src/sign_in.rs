//! The last step of every sign-in of this function: starts a session, or asks for the one-time password.

use accounts::AccountContext;
use common::{ApiError, ApiResult, Client, ErrorCode, Message, success};
use domain::{Instant, session::Method, user::OwnAccount};
use serde::Serialize;
use store::{CommitOutcome, Transaction};

use crate::Auth;

/// The account with an access token, or a pending token for the one-time password step.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum SignIn {
    Complete { user: Box<OwnAccount> },
    OtpStep { token: String },
}

/// Signs in `account`, authenticated by `method`, in one transaction with the writes in `tx`. If a condition of `tx`
/// fails, a concurrent request used the code first: `BAD_AUTH_COMBINATION_MESSAGE`.
pub(crate) async fn sign_in(
    auth: &Auth,
    account: AccountContext,
    method: Method,
    client: &Client,
    now: Instant,
    tx: Transaction,
) -> ApiResult<SignIn> {
    let conflict = || ApiError::from(ErrorCode::BadAuthCombination);
    if account.user.is_otp_enabled {
        return match tx.commit().await? {
            CommitOutcome::Committed => success(
                Message::OtpRequired,
                SignIn::OtpStep {
                    token: auth.sessions.otp_step(&account.user, vec![method], now)?,
                },
            ),
            CommitOutcome::ConditionFailed(_) => Err(conflict()),
        };
    }
    let user = auth
        .sessions
        .begin(account, vec![method], client, now, tx)
        .await?
        .map_err(|_| conflict())?;
    let token = user.token().to_owned();
    success(
        Message::LoginSuccess,
        SignIn::Complete {
            user: Box::new(user),
        },
    )
    .map(|response| response.authorized(&token))
}
