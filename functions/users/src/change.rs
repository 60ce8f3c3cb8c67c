//! `PUT /users/{userId}`: the caller changes what is his own.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, SignedIn, input, phone, success,
    text,
};
use domain::{Email, Instant, Name, Phone, UserId, permissions::Right, user::Account, user::User};
use serde::Serialize;
use store::{Part, Transaction};

use crate::Users;

input! {
    pub(crate) struct UpdateUserRequest {
        name: Option<Name> = optional("name", text),
        last_name: Option<Name> = optional("lastName", text),
        phone: Option<Phone> = group(phone),
        email: Option<Email> = optional("email", text),
    }
}

#[derive(Serialize)]
pub(crate) struct UpdateUserResponse {
    user: Account,
}

pub(crate) async fn change(
    State(users): State<Users>,
    Now(now): Now,
    person: SignedIn,
    Path(id): Path<UserId>,
    Input(request): Input<UpdateUserRequest>,
) -> ApiResult<UpdateUserResponse> {
    users.must_be_oneself(&person, id).await?;
    let user = users.apply(person.user, &request, now).await?;
    success(
        Message::UserUpdated,
        UpdateUserResponse {
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
    ) -> Result<(), ApiError> {
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
            ErrorCode::Forbidden.into()
        } else {
            ErrorCode::UserNotFound.into()
        })
    }

    /// `user` with the fields of `request`. Fields that others change meanwhile keep their change.
    async fn apply(
        &self,
        user: User,
        request: &UpdateUserRequest,
        now: Instant,
    ) -> Result<User, ApiError> {
        if let Some(email) = &request.email {
            let owner = self.store.email_owner(email).await?;
            if owner.is_some_and(|owner| owner.user_id != user.user_id) {
                return Err(ApiError::field("email", ErrorCode::EmailAlreadyUsed));
            }
        }
        let apply = |user: &User, change: &mut Transaction| {
            must_be_active(user)?;
            let mut asked = user.clone();
            if let Some(email) = &request.email {
                self.codes.ask_for_email(change, &mut asked, email, now)?;
            }
            Ok(user.changed(|user| {
                user.pending_email = asked.pending_email;
                if let Some(name) = &request.name {
                    user.name = name.clone();
                }
                if let Some(last_name) = &request.last_name {
                    user.last_name = last_name.clone();
                }
                if let Some(phone) = &request.phone {
                    user.set_phone(phone.clone());
                }
            }))
        };
        self.store.update_user(user, apply, overtaken).await
    }
}

/// The session of an account that was closed meanwhile is over.
pub(crate) fn must_be_active(user: &User) -> Result<(), ApiError> {
    if user.is_active {
        Ok(())
    } else {
        Err(ApiError::invalid_token())
    }
}

/// Why an account that belongs to the caller could not be changed.
pub(crate) fn overtaken(part: Part) -> ApiError {
    match part {
        Part::User => ApiError::invalid_token(),
        _ => ErrorCode::Conflict.into(),
    }
}
