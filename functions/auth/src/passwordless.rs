//! `POST /auth/passwordless`: sends a sign-in code. `GET /auth/passwordless`: signs in with it.

use accounts::{
    attempts::{Attempt, Failed},
    email_challenge, may_use,
};
use axum::extract::State;
use common::{
    ApiError, ApiResponse, ApiResult, Client, ErrorCode, Fields, FromFields, Input, InvalidField,
    Message, Now, QueryInput, bearer, input, success, text,
};
use domain::{
    Email, Instant,
    amr::Method,
    code::{Challenge, Code, CodeId, CodeKind, SendMethod, TypedCode},
    outbox::AccountEvent,
};
use http::HeaderMap;
use identity::{
    code::{challenge_of_link, is_digits},
    token::TokenUse,
};
use serde::Serialize;
use store::Part;

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

/// A submitted code. `None` is a missing or malformed one, which counts as a wrong one.
pub(crate) struct SubmittedCode(Option<TypedCode>);

impl<S> FromFields<S> for SubmittedCode {
    fn from_fields(fields: &mut Fields, _: &S) -> Result<Self, InvalidField> {
        Ok(Self(fields.optional("code", |value| Ok(text(value).ok()))?.flatten()))
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
    let code = code.as_ref().map_or("-", TypedCode::as_str);
    let challenge = requested_challenge(&auth, code, &headers, now)?;
    let id = CodeId { kind: CodeKind::Passwordless, challenge };
    let found = auth.codes.verify(id, challenge, code, &client, now).await?;
    let (code, mut attempt) = found.ok_or(ErrorCode::BadAuthCombination)?;
    let signed_in = auth.use_code(challenge, &code, &mut attempt).await;
    attempt.end(signed_in).await
}

impl Auth {
    /// Signs in to the account of `code`, which is used up. A code that was mailed verifies the mailbox. An account whose
    /// mailbox was not verified before loses its password and its passkeys.
    async fn use_code(
        &self,
        challenge: Challenge,
        code: &Code,
        attempt: &mut Attempt<'_>,
    ) -> Result<ApiResponse<SignIn>, Failed> {
        let now = attempt.now;
        let found =
            self.sessions.find(code.user_id, code.committee_id, now).await?.filter(|account| {
                may_use(&account.user, code) && email_challenge(&account.user.email) == challenge
            });
        let mut account = found.ok_or(ErrorCode::BadAuthCombination)?;
        let mut tx = self.store.transaction();
        tx.use_code(CodeId { kind: CodeKind::Passwordless, challenge }, code);
        if code.by_mail && !account.user.is_mailbox_verified {
            let before = account.user;
            account.user =
                before.changed(|user| user.verify_mailbox_and_clear(self.mailbox_verifies));
            tx.change_user(&before, &account.user);
            // The person who registered the address set the password and signed in. They need not own the mailbox.
            tx.remove_credentials(before.user_id);
            account.forgets_devices = true;
            let removed = AccountEvent::PasswordRemoved;
            tx.send(&self.codes.outbox().notify(&account.user, removed, now)?);
            self.codes.report_removed_passkeys(&mut tx, &before, &account.user, now)?;
        }
        let method = if code.by_mail { Method::Link } else { Method::Sms };
        sign_in(self, account, method, tx, attempt).await.map_err(|failed| match failed {
            // A concurrent request used the code first.
            Failed::Conflict(Part::Code) => ErrorCode::BadAuthCombination.into(),
            failed => failed,
        })
    }
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
