//! `POST /auth/passwordless` sends a code, `GET /auth/passwordless` signs in with it.

use accounts::{Proved, place_of};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Asked, Client, ErrorCode, Fields, FromFields, Input, Message, Now, input,
    success, text,
};
use domain::{
    CommitteeId, Email, Instant, Line, UserId,
    code::{CodeKind, SendMethod},
    session::Method,
};
use http::{HeaderMap, header};
use identity::{
    code::{is_digits, place_in},
    token::Use,
};
use serde::Serialize;
use store::EmailOwner;
use uuid::Uuid;

use crate::{
    Auth,
    sign_in::{SignIn, sign_in},
};

input! {
    pub(crate) struct PasswordlessRequest {
        email: Email = required("email", text),
        method: SendMethod = optional_or("sendMethode", text, SendMethod::Email),
    }
}

#[derive(Serialize)]
pub(crate) struct PasswordlessResponse {
    token: String,
}

/// The same reads, writes and bytes whether anybody has the address or not; a token that the six digits
/// go with, so that they alone, which others could guess, sign nobody in.
pub(crate) async fn request(
    State(auth): State<Auth>,
    Now(now): Now,
    Input(request): Input<PasswordlessRequest>,
) -> ApiResult<PasswordlessResponse> {
    let (may_send, owner) = tokio::join!(
        auth.codes
            .may_send(CodeKind::Passwordless, request.email.as_str(), now),
        auth.store.email_owner(&request.email)
    );
    let nobody = EmailOwner {
        user_id: UserId::in_path(""),
        committee_id: CommitteeId::in_path(""),
    };
    let (may_send, owner) = (may_send?, owner?.unwrap_or(nobody));
    let user = auth
        .store
        .user(owner.user_id)
        .await?
        .filter(|user| user.is_active && user.email == request.email);
    let place = place_of(&request.email);
    if let Some(places) = may_send {
        let sent = auth
            .codes
            .send(
                CodeKind::Passwordless,
                place,
                user.as_ref(),
                request.method,
                now,
            )
            .await;
        auth.codes.settle(places, sent).await?;
    }
    success(
        Message::PasswordlessSent,
        PasswordlessResponse {
            token: auth.sessions.passwordless_step(place, now)?,
        },
    )
}

/// A code as it came back: at most 128 signs of anything.
pub(crate) struct Answered(Line<128>);

impl<S> FromFields<S> for Answered {
    /// A code that is missing or malformed is one that is wrong.
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let missing = || "-".parse().ok();
        let code = if fields.has("code") {
            fields.optional("code", |value| Ok(text(value).ok()))
        } else {
            None
        };
        code.flatten().flatten().or_else(missing).map(Self)
    }
}

/// The six digits with the token that was given for them, or the link's code alone.
pub(crate) async fn sign_in_with_code(
    State(auth): State<Auth>,
    Now(now): Now,
    client: Client,
    headers: HeaderMap,
    Asked(Answered(code)): Asked<Answered>,
) -> ApiResult<SignIn> {
    let code = code.as_str();
    let place = place_asked(&auth, code, &headers, now)?;
    let kind = CodeKind::Passwordless;
    let Some(Proved {
        code: proved,
        reserved,
        ..
    }) = auth.codes.prove(kind, &[place], code, &client, now).await?
    else {
        return Err(ErrorCode::BadAuthCombination.into());
    };
    let signing_in = async {
        let found = auth
            .sessions
            .find(proved.user_id, proved.committee_id, now)
            .await?;
        let found = found
            .filter(|arrival| arrival.user.is_active && place_of(&arrival.user.email) == place);
        let mut arrival = found.ok_or(ErrorCode::BadAuthCombination)?;
        let mut beside = auth.store.transaction();
        beside.use_code(kind, place, &proved, &client.network, now);
        if proved.by_mail && auth.mailbox_verifies && !arrival.user.is_verified {
            arrival.user.is_verified = true;
            arrival.user.version += 1;
            beside.verify_mailbox(&arrival.user);
        }
        let method = if proved.by_mail {
            Method::Link
        } else {
            Method::Sms
        };
        sign_in(&auth, arrival, method, &client, now, beside).await
    };
    // Places that cannot be given back are free when their windows end.
    let (signed_in, _): (Result<_, ApiError>, _) =
        tokio::join!(signing_in, auth.store.give_back(reserved));
    signed_in
}

/// Where the code is kept: what the token says for six digits, what the link's code says for itself.
fn place_asked(
    auth: &Auth,
    code: &str,
    headers: &HeaderMap,
    now: Instant,
) -> Result<Uuid, ApiError> {
    if !is_digits(code) {
        return Ok(place_in(code).ok_or(ErrorCode::BadAuthCombination)?);
    }
    match auth.sessions.step(headers, Use::PasswordlessStep, now) {
        Some(claims) => Ok(claims.sub.uuid()),
        None if headers.contains_key(header::AUTHORIZATION) => Err(ApiError::invalid_token()),
        None => Err(ErrorCode::BadAuthCombination.into()),
    }
}
