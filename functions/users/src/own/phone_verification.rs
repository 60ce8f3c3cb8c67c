//! `POST /users/phone-verification`: sends a code to the caller's phone. `PUT`: verifies the number with it.

use accounts::{email_challenge, may_use, phone_challenge};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, Verified, input, success,
    text,
};
use domain::{
    code::{Code, CodeId, CodeKind, TypedCode},
    user::User,
};
use store::Transaction;

use crate::Users;

pub(crate) async fn request(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    Verified(caller): Verified,
) -> ApiResult<Empty> {
    let user = &caller.user;
    if user.phone.number.is_empty() {
        return Err(ApiError::field("phone", ErrorCode::FieldRequired));
    }
    users.codes.require_reachable(user)?;
    let reserved = users.codes.require_send(CodeKind::Phone, user, now).await?;
    let sent = users.codes.send_to_phone(user, &client, now).await;
    users.codes.release_unless_sent(reserved, sent).await?;
    success(Message::VerificationSent, Empty {})
}

input! {
    pub(crate) struct VerifyPhoneRequest {
        code: TypedCode = required("code", text),
    }
}

pub(crate) async fn verify(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    Verified(caller): Verified,
    Input(request): Input<VerifyPhoneRequest>,
) -> ApiResult<Empty> {
    let challenge = phone_challenge(caller.user.user_id, &caller.user.phone);
    let code = request.code.as_str();
    let account = email_challenge(&caller.user.email);
    let found = users
        .codes
        .verify(CodeId { kind: CodeKind::Phone, challenge }, account, code, &client, now)
        .await?;
    let (code, attempt) = found.ok_or(ErrorCode::VerificationInvalid)?;
    attempt.end_with(verify_number(&users, caller.user, &code)).await?;
    success(Message::PhoneVerified, Empty {})
}

/// Uses up the code and marks the number as verified, unless the account has another number by now.
async fn verify_number(users: &Users, user: User, code: &Code) -> Result<User, ApiError> {
    let (id, phone) = (user.user_id, user.phone.clone());
    let decide = |user: &User, tx: &mut Transaction| {
        if user.phone != phone || !may_use(user, code) {
            return Err(ErrorCode::VerificationInvalid.into());
        }
        let challenge = phone_challenge(id, &phone);
        tx.use_code(CodeId { kind: CodeKind::Phone, challenge }, code);
        Ok(user.changed(|user| user.is_phone_verified = true))
    };
    let condition_error = |_| ErrorCode::VerificationInvalid.into();
    users.store.update_user(user, decide, condition_error).await
}
