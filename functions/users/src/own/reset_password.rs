//! `GET /users/reset-password`: sends a code. `POST`: sets a new password with it.

use accounts::{email_challenge, may_use};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, QueryInput, input, success,
    text,
};
use domain::{
    Email, Instant,
    code::{Code, CodeId, CodeKind, SendMethod, TypedCode},
    outbox::AccountEvent,
    user::User,
};
use store::Part;
use tokio::sync::OnceCell;

use crate::{NewPassword, Users};

input! {
    pub(crate) struct ResetCodeQuery {
        method: SendMethod = required("sendMethode", text),
        email: Email = required("email", text),
    }
}

pub(crate) async fn request(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    QueryInput(request): QueryInput<ResetCodeQuery>,
) -> ApiResult<Empty> {
    let ResetCodeQuery { method, email } = request;
    users.codes.send_to_owner(CodeKind::Reset, &email, method, &client, now).await?;
    success(Message::ResetCodeSent, Empty {})
}

input! {
    pub(crate) struct ResetPasswordRequest {
        email: Email = required("email", text),
        code: TypedCode = required("code", text),
        new: NewPassword = group(NewPassword::read),
    }
}

/// Verifies the code before the new password, so that only its owner gets password errors. An invalid password does not
/// use up the code.
pub(crate) async fn reset(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    Input(request): Input<ResetPasswordRequest>,
) -> ApiResult<Empty> {
    let challenge = email_challenge(&request.email);
    let code = request.code.as_str();
    let verified = users
        .codes
        .verify(CodeId { kind: CodeKind::Reset, challenge }, challenge, code, &client, now)
        .await?;
    let (code, attempt) = verified.ok_or(ErrorCode::ResetCodeInvalid)?;
    attempt.end_with(replace(&users, &request, &code, now)).await?;
    success(Message::PasswordChanged, Empty {})
}

/// Uses up the code, changes the password, ends all sessions and notifies the owner.
async fn replace(
    users: &Users,
    request: &ResetPasswordRequest,
    code: &Code,
    now: Instant,
) -> Result<(), ApiError> {
    let new_hash = OnceCell::new();
    let attempt = || async {
        let (user, credentials) =
            tokio::join!(users.store.user(code.user_id), users.store.credentials(code.user_id));
        let is_meant = |user: &User| may_use(user, code) && user.email == request.email;
        let user = user?.filter(is_meant).ok_or(ErrorCode::ResetCodeInvalid)?;
        let old_hash = credentials?.map(|credentials| credentials.password_hash);
        users.check_new_password(&user, &request.new, None)?;
        let new_hash =
            new_hash.get_or_try_init(|| users.hasher.hash(&request.new.password)).await?;
        let after = user.changed(|user| {
            if !code.by_mail {
                user.revoke_sessions();
                user.device_series += 1;
            } else {
                user.recover();
                user.verify_mailbox_and_clear(users.registration.mailbox_verifies());
            }
        });
        let challenge = email_challenge(&request.email);
        let event = AccountEvent::PasswordChanged { has_passkeys: after.passkeys > 0 };
        let mut tx = users.store.transaction();
        tx.use_code(CodeId { kind: CodeKind::Reset, challenge }, code);
        tx.change_password(user.user_id, old_hash.as_deref(), new_hash);
        tx.change_user(&user, &after);
        tx.forget_devices(user.user_id);
        tx.send(&users.codes.outbox().notify(&after, event, now)?);
        users.codes.report_removed_passkeys(&mut tx, &user, &after, now)?;
        Ok((tx, ()))
    };
    let condition_error = |part| (part == Part::Code).then(|| ErrorCode::ResetCodeInvalid.into());
    users.store.update(attempt, condition_error).await
}
