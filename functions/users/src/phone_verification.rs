//! `POST /users/phone-verification` sends a code to the caller's number, `PUT` proves it with that code.

use accounts::{Proved, place_of_phone};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, SignedIn, input, success,
    text,
};
use domain::{
    Instant, Line,
    code::{Code, CodeKind},
    user::User,
};
use store::Transaction;

use crate::Users;

pub(crate) async fn request(
    State(users): State<Users>,
    Now(now): Now,
    person: SignedIn,
) -> ApiResult<Empty> {
    let user = &person.user;
    if user.phone.number.is_empty() {
        return Err(ApiError::field("phone", ErrorCode::FieldRequired));
    }
    if let Some(places) = users
        .codes
        .may_send(CodeKind::Phone, user.email.as_str(), now)
        .await?
    {
        let sent = users.codes.send_to_phone(user, now).await;
        users.codes.settle(places, sent).await?;
    }
    success(Message::VerificationSent, Empty {})
}

input! {
    pub(crate) struct VerifyPhoneRequest {
        code: Line<128> = required("code", text),
    }
}

pub(crate) async fn verify(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    person: SignedIn,
    Input(request): Input<VerifyPhoneRequest>,
) -> ApiResult<Empty> {
    let place = place_of_phone(person.user.user_id, &person.user.phone);
    let Some(Proved { code, reserved, .. }) = users
        .codes
        .prove(
            CodeKind::Phone,
            &[place],
            request.code.as_str(),
            &client,
            now,
        )
        .await?
    else {
        return Err(ErrorCode::VerificationInvalid.into());
    };
    // Places that cannot be given back are free when their windows end.
    let (proved, _) = tokio::join!(
        prove(&users, person.user, &code, &client, now),
        users.store.give_back(reserved)
    );
    proved?;
    success(Message::PhoneVerified, Empty {})
}

/// The code is used up and the number that it went to verified, unless the account has another by now.
async fn prove(
    users: &Users,
    user: User,
    code: &Code,
    client: &Client,
    now: Instant,
) -> Result<User, ApiError> {
    let (id, phone) = (user.user_id, user.phone.clone());
    let prove = |user: &User, change: &mut Transaction| {
        if user.phone != phone || !user.is_active {
            return Err(ErrorCode::VerificationInvalid.into());
        }
        let place = place_of_phone(id, &phone);
        change.use_code(CodeKind::Phone, place, code, &client.network, now);
        Ok(user.changed(|user| user.is_phone_verified = true))
    };
    let refused = |_| ErrorCode::VerificationInvalid.into();
    users.store.update_user(user, prove, refused).await
}
