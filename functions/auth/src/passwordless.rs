//! `POST /auth/passwordless`: sends a sign-in code. `GET /auth/passwordless`: signs in with it.

use std::mem;

use accounts::{email_challenge, may_use};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, ErrorCode, Fields, FromFields, Input, Message, Now, QueryInput,
    bearer, input, success, text,
};
use domain::{
    Email, Instant,
    amr::Method,
    code::{Challenge, CodeKind, SendMethod, TypedCode},
    outbox::AccountEvent,
};
use http::HeaderMap;
use identity::{
    code::{challenge_of_link, is_digits},
    token::TokenUse,
};
use serde::Serialize;
use store::{Part, StoreError};

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

/// Makes the same reads and writes and returns the same response for known and unknown addresses. The six digits sign in
/// only together with the returned token, because digits alone could be guessed.
pub(crate) async fn request(
    State(auth): State<Auth>,
    Now(now): Now,
    client: Client,
    Input(request): Input<PasswordlessRequest>,
) -> ApiResult<PasswordlessResponse> {
    let kind = CodeKind::Passwordless;
    auth.codes.send_to_owner(kind, &request.email, request.method, &client, now).await?;
    let challenge = email_challenge(&request.email);
    success(
        Message::PasswordlessSent,
        PasswordlessResponse { token: auth.sessions.passwordless_step(challenge, now)? },
    )
}

/// A submitted code, at most 128 characters.
pub(crate) struct SubmittedCode(TypedCode);

impl<S> FromFields<S> for SubmittedCode {
    /// A missing or malformed code counts as a wrong one.
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let wrong = || "-".parse().ok();
        let code = if fields.has("code") {
            fields.optional("code", |value| Ok(text(value).ok()))
        } else {
            None
        };
        code.flatten().flatten().or_else(wrong).map(Self)
    }
}

/// Accepts the six digits together with the token of the request for them, or the code of the link alone.
pub(crate) async fn sign_in_with_code(
    State(auth): State<Auth>,
    Now(now): Now,
    client: Client,
    headers: HeaderMap,
    QueryInput(SubmittedCode(code)): QueryInput<SubmittedCode>,
) -> ApiResult<SignIn> {
    let code = code.as_str();
    let challenge = requested_challenge(&auth, code, &headers, now)?;
    let kind = CodeKind::Passwordless;
    let found = auth.codes.verify((kind, challenge), challenge, code, &client, now).await?;
    let mut found = found.ok_or(ErrorCode::BadAuthCombination)?;
    let mut reserved = mem::take(&mut found.reserved);
    let verified = &found.code;
    let signing_in = async {
        let found = auth.sessions.find(verified.user_id, verified.committee_id, now).await?;
        let found = found.filter(|account| {
            may_use(&account.user, verified) && email_challenge(&account.user.email) == challenge
        });
        let mut account = found.ok_or(ErrorCode::BadAuthCombination)?;
        let mut tx = auth.store.transaction();
        tx.use_code(kind, challenge, verified);
        if verified.by_mail && !account.user.is_mailbox_verified {
            let before = account.user;
            account.user =
                before.changed(|user| user.verify_mailbox_and_clear(auth.mailbox_verifies));
            tx.change_user(&before, &account.user);
            // The person who registered the address set the password and signed in. They need not own the mailbox.
            tx.remove_credentials(before.user_id);
            account.forgets_devices = true;
            tx.send(&auth.codes.outbox().notify(
                &account.user,
                AccountEvent::PasswordRemoved,
                now,
            )?);
            auth.codes.report_removed_passkeys(&mut tx, &before, &account.user, now)?;
        }
        let method = if verified.by_mail { Method::Link } else { Method::Sms };
        let signed_in = sign_in(&auth, account, method, &client, now, tx, &mut reserved).await?;
        signed_in.map_err(|part| match part {
            // The account was changed since it was read.
            Part::User => StoreError::TransactionConflict.into(),
            // A concurrent request used the code first.
            _ => ErrorCode::BadAuthCombination.into(),
        })
    };
    let signed_in = auth.codes.return_unless_used(&found, &client, signing_in.await);
    let signed_in: ApiResult<SignIn> = signed_in.await;
    // After a success nothing is left.
    let _ = auth.store.release(reserved).await;
    signed_in
}

/// The challenge of the code: from the token for six digits, else from the code of the link.
fn requested_challenge(
    auth: &Auth,
    code: &str,
    headers: &HeaderMap,
    now: Instant,
) -> Result<Challenge, ApiError> {
    if !is_digits(code) {
        return Ok(challenge_of_link(code).ok_or(ErrorCode::BadAuthCombination)?);
    }
    match auth.sessions.claims(headers, TokenUse::PasswordlessStep, now) {
        Some(claims) => Ok(Challenge(claims.sub.uuid())),
        None if bearer(headers).is_some() => Err(ApiError::invalid_token()),
        None => Err(ErrorCode::BadAuthCombination.into()),
    }
}
