//! What every way of signing in here ends in: a session, or the step that is still missing.

use accounts::Arrival;
use common::{ApiError, ApiResult, Client, ErrorCode, Message, success};
use domain::{Instant, session::Method, user::SelfView};
use serde::Serialize;
use store::{CommitOutcome, Transaction};

use crate::Auth;

/// A session, or the token that opens the step which is still missing.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum SignIn {
    Complete { user: Box<SelfView> },
    OtpStep { token: String },
}

/// Signs in whoever arrives and proved himself by `method`, together with what stands in `beside`; when
/// that is refused, somebody else was faster, and nobody is signed in.
pub(crate) async fn sign_in(
    auth: &Auth,
    arrival: Arrival,
    method: Method,
    client: &Client,
    now: Instant,
    beside: Transaction,
) -> ApiResult<SignIn> {
    let lost = || ApiError::from(ErrorCode::BadAuthCombination);
    if arrival.user.is_otp_enabled {
        return match beside.commit().await? {
            CommitOutcome::Committed => success(
                Message::OtpRequired,
                SignIn::OtpStep {
                    token: auth.sessions.otp_step(&arrival.user, vec![method], now)?,
                },
            ),
            CommitOutcome::ConditionFailed(_) => Err(lost()),
        };
    }
    let user = auth
        .sessions
        .begin(arrival, vec![method], client, now, beside)
        .await?
        .map_err(|_| lost())?;
    let token = user.token().to_owned();
    success(
        Message::LoginSuccess,
        SignIn::Complete {
            user: Box::new(user),
        },
    )
    .map(|told| told.authorized(&token))
}
