//! `POST /users/email-verification` sends a code to the caller's mailbox, `PUT` proves it with that code.

use accounts::{Proved, place_of, place_of_wish};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, SignedIn, input, success,
    text,
};
use domain::{
    Email, Instant, Line,
    code::{Code, CodeKind},
    outbox::News,
    user::User,
};
use store::{Part, Transaction};
use uuid::Uuid;

use crate::Users;

/// To the address that was asked for, when one was, else to the one in force.
pub(crate) async fn request(
    State(users): State<Users>,
    Now(now): Now,
    person: SignedIn,
) -> ApiResult<Empty> {
    let user = &person.user;
    let email = user.pending_email.as_ref().unwrap_or(&user.email);
    let (places, owner) = tokio::join!(
        users
            .codes
            .may_send(CodeKind::Email, user.email.as_str(), now),
        users.store.email_owner(email)
    );
    // An address that is somebody else's by now is not written to.
    let is_foreign = owner?.is_some_and(|owner| owner.user_id != user.user_id);
    if let Some(places) = places?.filter(|_| !is_foreign) {
        let sent = users.codes.send_to_mailbox(user, email, now).await;
        users.codes.settle(places, sent).await?;
    }
    success(Message::VerificationSent, Empty {})
}

input! {
    pub(crate) struct VerifyEmailRequest {
        email: Email = required("email", text),
        code: Line<128> = required("code", text),
    }
}

/// Whoever has the code proves the address, signed in or not: mails are read on other devices.
pub(crate) async fn verify(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    Input(proof): Input<VerifyEmailRequest>,
) -> ApiResult<Empty> {
    let places = [place_of(&proof.email), place_of_wish(&proof.email)];
    let Some(Proved {
        code,
        place,
        reserved,
    }) = users
        .codes
        .prove(CodeKind::Email, &places, proof.code.as_str(), &client, now)
        .await?
    else {
        return Err(ErrorCode::VerificationInvalid.into());
    };
    // Places that cannot be given back are free when their windows end.
    let (proved, _) = tokio::join!(
        prove(&users, &proof.email, (place, &code), &client, now),
        users.store.give_back(reserved)
    );
    proved?;
    success(Message::EmailVerified, Empty {})
}

/// The code is used up; the address in force is verified, or the one that was asked for comes into force,
/// and the former one gets a message. An address that belongs to another account by now is refused, and the
/// code not spent.
async fn prove(
    users: &Users,
    email: &Email,
    (place, code): (Uuid, &Code),
    client: &Client,
    now: Instant,
) -> Result<User, ApiError> {
    let invalid = || ApiError::from(ErrorCode::VerificationInvalid);
    let user = users.store.user(code.user_id).await?.ok_or_else(invalid)?;
    let prove = |user: &User, change: &mut Transaction| {
        let moves = place == place_of_wish(email) && user.pending_email.as_ref() == Some(email);
        let is_in_force = user.email == *email && place == place_of(email);
        if !user.is_active || !(moves || is_in_force) {
            return Err(invalid());
        }
        change.use_code(CodeKind::Email, place, code, &client.network, now);
        if moves {
            let news = News::EmailChanged { at: now };
            change.free_email(&user.email);
            change.take_email(email, user.user_id, user.committee_id);
            change.send(&users.codes.post().tell(user, news, now)?);
        }
        Ok(user.changed(|user| {
            user.is_verified |= users.mailbox_verifies();
            if moves {
                user.pending_email = None;
                user.email = email.clone();
            }
        }))
    };
    let refused = |part| match part {
        Part::Email => ApiError::field("email", ErrorCode::EmailAlreadyUsed),
        _ => invalid(),
    };
    users.store.update_user(user, prove, refused).await
}
