//! `GET /users/reset-password` sends a code, `POST` sets a new password with it.

use accounts::{Proved, place_of};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Asked, Client, Empty, ErrorCode, Input, Message, Now, input, success, text,
};
use domain::{
    Email, Instant, Line, UserId,
    code::{Code, CodeKind, SendMethod},
    outbox::News,
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

/// The same reads, writes and bytes whether anybody has the address or not.
pub(crate) async fn request(
    State(users): State<Users>,
    Now(now): Now,
    Asked(request): Asked<ResetCodeQuery>,
) -> ApiResult<Empty> {
    let (may_send, owner) = tokio::join!(
        users
            .codes
            .may_send(CodeKind::Reset, request.email.as_str(), now),
        users.store.email_owner(&request.email)
    );
    let (may_send, owner) = (
        may_send?,
        owner?.map_or_else(|| UserId::in_path(""), |owner| owner.user_id),
    );
    let user = users
        .store
        .user(owner)
        .await?
        .filter(|user| user.is_active && user.email == request.email);
    if let Some(places) = may_send {
        let sent = users
            .codes
            .send(
                CodeKind::Reset,
                place_of(&request.email),
                user.as_ref(),
                request.method,
                now,
            )
            .await;
        users.codes.settle(places, sent).await?;
    }
    success(Message::ResetCodeSent, Empty {})
}

input! {
    pub(crate) struct ResetPasswordRequest {
        email: Email = required("email", text),
        code: Line<128> = required("code", text),
        new: NewPassword = group(NewPassword::read),
    }
}

/// The code comes first: who does not have it hears nothing of the password's rules, and a password
/// that breaks them does not spend it.
pub(crate) async fn reset(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    Input(request): Input<ResetPasswordRequest>,
) -> ApiResult<Empty> {
    let place = place_of(&request.email);
    let Some(Proved { code, reserved, .. }) = users
        .codes
        .prove(
            CodeKind::Reset,
            &[place],
            request.code.as_str(),
            &client,
            now,
        )
        .await?
    else {
        return Err(ErrorCode::ResetCodeInvalid.into());
    };
    // Places that cannot be given back are free when their windows end.
    let (replaced, _) = tokio::join!(
        replace(&users, &request, &code, &client, now),
        users.store.give_back(reserved)
    );
    replaced?;
    success(Message::PasswordChanged, Empty {})
}

/// The code is used up, the password changes, every session ends, and the owner gets a message.
async fn replace(
    users: &Users,
    request: &ResetPasswordRequest,
    code: &Code,
    client: &Client,
    now: Instant,
) -> Result<(), ApiError> {
    let new_hash = OnceCell::new();
    let replace = || async {
        let (user, credentials) = tokio::join!(
            users.store.user(code.user_id),
            users.store.credentials(code.user_id)
        );
        let user = user?.filter(|user| user.is_active && user.email == request.email);
        let (Some(user), Some(credentials)) = (user, credentials?) else {
            return Err(ErrorCode::ResetCodeInvalid.into());
        };
        users.check_new_password(&user, &request.new, None)?;
        let new_hash = new_hash
            .get_or_try_init(|| users.hasher.hash(&request.new.password))
            .await?;
        let after = user.changed(|user| {
            user.throw_out();
            // A number that was verified before the mailbox was need not belong to the mailbox's owner.
            user.is_phone_verified &= user.is_verified || !code.by_mail;
            user.is_verified |= code.by_mail && users.mailbox_verifies();
        });
        let (place, news) = (place_of(&request.email), News::PasswordChanged { at: now });
        let mut reset = users.store.transaction();
        reset.use_code(CodeKind::Reset, place, code, &client.network, now);
        reset.change_password(user.user_id, &credentials.password_hash, new_hash);
        reset.change_user(&user, &after);
        reset.send(&users.codes.post().tell(&user, news, now)?);
        Ok((reset, ()))
    };
    let refused = |part| (part == Part::Code).then(|| ErrorCode::ResetCodeInvalid.into());
    users.store.update(replace, refused).await
}
