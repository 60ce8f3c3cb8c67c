//! `POST /users/phone-verification` sends a code to the caller's number, `PUT` proves it with that code.

use axum::extract::State;
use common::{
    Client, Failure, Fields, FromFields, Input, Message, Nothing, Now, Refusal, Refused, Reply,
    SignedIn,
    codes::{Proved, place_of_phone},
    text, told,
};
use domain::{
    Instant, Line,
    code::{Code, CodeKind},
    user::User,
};
use store::{Outcome, Part};

use crate::Users;

pub(crate) async fn request(
    State(users): State<Users>,
    Now(now): Now,
    person: SignedIn,
) -> Reply<Nothing> {
    let user = &person.user;
    if user.phone.number.is_empty() {
        return Err(Refused::field("phone", Refusal::FieldRequired).into());
    }
    if let Some(places) = users
        .codes
        .may_send(CodeKind::Phone, user.email.as_str(), now)
        .await?
    {
        let sent = users.codes.send_to_phone(user, now).await;
        users.codes.settle(places, sent).await?;
    }
    told(Message::VerificationSent, Nothing {})
}

pub(crate) struct Proof(Line<128>);

impl<S> FromFields<S> for Proof {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        fields.required("code", text).map(Self)
    }
}

pub(crate) async fn verify(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    person: SignedIn,
    Input(Proof(text)): Input<Proof>,
) -> Reply<Nothing> {
    let place = place_of_phone(person.user.user_id, &person.user.phone);
    let Some(Proved { code, reserved, .. }) = users
        .codes
        .prove(CodeKind::Phone, &[place], text.as_str(), &client, now)
        .await?
    else {
        return Err(Refusal::VerificationInvalid.into());
    };
    // Places that cannot be given back are free when their windows end.
    let (proved, _) = tokio::join!(
        prove(&users, person.user, &code, &client, now),
        users.store.give_back(reserved)
    );
    if proved? {
        told(Message::PhoneVerified, Nothing {})
    } else {
        Err(Refusal::VerificationInvalid.into())
    }
}

/// The code is used up and the number that it went to proved: whether both were still so.
async fn prove(
    users: &Users,
    mut user: User,
    code: &Code,
    client: &Client,
    now: Instant,
) -> Result<bool, Failure> {
    let (id, phone) = (user.user_id, user.phone.clone());
    for _ in 0..crate::TRIES {
        if user.phone != phone || !user.is_active {
            return Ok(false);
        }
        let after = user.changed(|user| user.is_phone_verified = true);
        let mut prove = users.store.transaction();
        prove.use_code(
            CodeKind::Phone,
            place_of_phone(id, &phone),
            code,
            &client.network,
            now,
        );
        prove.change_user(&user, &after);
        match prove.commit().await? {
            Outcome::Done => return Ok(true),
            Outcome::Refused(Part::User) => {}
            Outcome::Refused(_) => return Ok(false),
        }
        match users.store.user(id).await? {
            Some(read) => user = read,
            None => return Ok(false),
        }
    }
    Err(Refusal::Conflict.into())
}
