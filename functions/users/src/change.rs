//! `PUT /users/{userId}`: the caller changes what is his own.

use axum::extract::State;
use common::{
    Failure, FieldError, Fields, FromFields, Input, Message, Now, Path, Refusal, Refused, Reply,
    SignedIn, phone, text, told,
};
use domain::{Email, Instant, Name, Phone, UserId, permissions::Right, user::Account, user::User};
use serde::Serialize;
use store::{Outcome, Part};

use crate::Users;

pub(crate) struct Wish {
    name: Option<Name>,
    last_name: Option<Name>,
    phone: Option<Phone>,
    email: Option<Email>,
}

impl<S> FromFields<S> for Wish {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let name = fields.optional("name", text);
        let last_name = fields.optional("lastName", text);
        let phone = phone(fields);
        let email = fields.optional("email", text);
        Some(Self {
            name: name?,
            last_name: last_name?,
            phone: phone?,
            email: email?,
        })
    }
}

#[derive(Serialize)]
pub(crate) struct Shown {
    user: Account,
}

pub(crate) async fn change(
    State(users): State<Users>,
    Now(now): Now,
    person: SignedIn,
    Path(id): Path<UserId>,
    Input(wish): Input<Wish>,
) -> Reply<Shown> {
    users.must_be_oneself(&person, id).await?;
    let user = users.apply(person.user, &wish, now).await?;
    told(
        Message::UserUpdated,
        Shown {
            user: Account::of(user, person.committee),
        },
    )
}

impl Users {
    /// # Errors
    /// For somebody else: `FORBIDDEN_MESSAGE`, or `USER_NOT_FOUND_MESSAGE` where he may not be known.
    pub(crate) async fn must_be_oneself(
        &self,
        person: &SignedIn,
        id: UserId,
    ) -> Result<(), Failure> {
        if id == person.user.user_id {
            return Ok(());
        }
        person.must_be_verified()?;
        let caller = person.user.standing();
        let other = self
            .store
            .user(id)
            .await?
            .filter(|user| caller.may(Right::ReadCards, user.user_id, user.committee_id));
        Err(if other.is_some() {
            Refusal::Forbidden.into()
        } else {
            Refusal::UserNotFound.into()
        })
    }

    /// `user` as `wish` makes him. Fields that others change meanwhile keep their change.
    async fn apply(&self, mut user: User, wish: &Wish, now: Instant) -> Result<User, Failure> {
        if let Some(email) = &wish.email
            && self
                .store
                .email_owner(email)
                .await?
                .is_some_and(|owner| owner.user_id != user.user_id)
        {
            return Err(
                Refused::fields(vec![FieldError::new("email", Refusal::EmailAlreadyUsed)]).into(),
            );
        }
        for _ in 0..crate::TRIES {
            let mut change = self.store.transaction();
            let mut asked = user.clone();
            if let Some(email) = &wish.email {
                self.codes
                    .ask_for_email(&mut change, &mut asked, email, now)?;
            }
            let after = user.changed(|user| {
                user.pending_email = asked.pending_email;
                user.name = wish.name.clone().unwrap_or_else(|| user.name.clone());
                user.last_name = wish
                    .last_name
                    .clone()
                    .unwrap_or_else(|| user.last_name.clone());
                if let Some(phone) = &wish.phone {
                    user.set_phone(phone.clone());
                }
            });
            change.change_user(&user, &after);
            match change.commit().await? {
                Outcome::Done => return Ok(after),
                Outcome::Refused(Part::User) => {}
                Outcome::Refused(_) => break,
            }
            // Closed or erased meanwhile: whoever it was, his session is over.
            let read = self
                .store
                .user(user.user_id)
                .await?
                .filter(|read| read.is_active);
            user = read.ok_or_else(|| Failure::from(Refused::invalid_token()))?;
        }
        Err(Refusal::Conflict.into())
    }
}
