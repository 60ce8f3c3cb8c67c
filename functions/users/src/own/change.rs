//! `PUT /users/{userId}`: changes the caller's own account.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, ErrorCode, Input, Message, Now, Path, SignedIn, input, phone,
    success, text,
};
use domain::{
    Email, Instant, Name, Phone, UserId,
    permissions::Right,
    session::Session,
    user::{AccountWithCommittee, User},
};
use secrecy::SecretString;
use serde::Serialize;
use store::{Part, Transaction};

use crate::Users;

input! {
    pub(crate) struct UpdateUserRequest {
        name: Option<Name> = optional("name", text),
        last_name: Option<Name> = optional("lastName", text),
        phone: Option<Phone> = group(phone),
        email: Option<Email> = optional("email", text),
        /// Required when the address or the number changes.
        password: Option<SecretString> = optional_secret("password"),
    }
}

#[derive(Serialize)]
pub(crate) struct UpdateUserResponse {
    user: AccountWithCommittee,
}

pub(crate) async fn update(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    caller: SignedIn,
    Path(id): Path<UserId>,
    Input(request): Input<UpdateUserRequest>,
) -> ApiResult<UpdateUserResponse> {
    users.require_self(&caller, id).await?;
    let user = if request.changes_contact(&caller.user) {
        let password = request.password.as_ref();
        let (store, hasher) = (&users.store, &users.hasher);
        let attempt =
            attempts::verify_owner(store, hasher, &caller, password, &client, now).await?;
        let changed = async {
            let changes_number =
                request.phone.as_ref().is_some_and(|phone| *phone != caller.user.phone);
            let change = users.change_contact(&caller, &request, &client, now);
            if changes_number {
                let counters = attempts::of_change("phoneChanged", id);
                attempts::counted(store, &counters, now, change).await
            } else {
                change.await
            }
        };
        attempt.end_with(changed).await?
    } else {
        users.apply(&caller, &request, None, now).await?
    };
    success(
        Message::UserUpdated,
        UpdateUserResponse { user: AccountWithCommittee::of(user, caller.committee) },
    )
}

impl UpdateUserRequest {
    /// Whether the address or the phone number of `user` would change. Codes sent to them sign in to the account, so a
    /// stolen session alone must not change them.
    fn changes_contact(&self, user: &User) -> bool {
        self.email.as_ref().is_some_and(|email| *email != user.email)
            || self.phone.as_ref().is_some_and(|phone| *phone != user.phone)
    }
}

impl Users {
    /// Checks that `id` is the caller.
    ///
    /// # Errors
    /// `FORBIDDEN_MESSAGE` for another account, `USER_NOT_FOUND_MESSAGE` if the caller may not even see its card.
    pub(crate) async fn require_self(&self, caller: &SignedIn, id: UserId) -> Result<(), ApiError> {
        if id == caller.user.user_id {
            return Ok(());
        }
        caller.require_verified()?;
        self.permitted(id, &caller.user, Right::ReadCards).await?;
        Err(ErrorCode::Forbidden.into())
    }

    /// As [`apply`](Self::apply), after the password was verified.
    async fn change_contact(
        &self,
        caller: &SignedIn,
        request: &UpdateUserRequest,
        client: &Client,
        now: Instant,
    ) -> Result<User, ApiError> {
        let mut mail = None;
        if let Some(email) = &request.email {
            mail = self.codes.reserve_email_change(&caller.user, email, client, now).await?;
        }
        let applied = self.apply(caller, request, Some(mail.is_some()), now).await;
        if applied.is_err() {
            self.codes.release(mail).await;
        }
        applied
    }

    /// Writes the fields of `request`, unless all sessions were ended since the authentication. Concurrent changes to
    /// other fields are kept. `may_send` is whether a code may be mailed to a new address; `None` when the password was
    /// not verified.
    ///
    /// # Errors
    /// `FIELD_REQUIRED_MESSAGE` when the address or the number would change without a verified password: another request
    /// can change them after the handler compared them.
    async fn apply(
        &self,
        caller: &SignedIn,
        request: &UpdateUserRequest,
        may_send: Option<bool>,
        now: Instant,
    ) -> Result<User, ApiError> {
        let decide = |user: &User, session: &Session, tx: &mut Transaction| {
            // The password may have been changed since it was verified.
            if may_send.is_some() && session.epoch != caller.session.epoch {
                return Err(ErrorCode::Conflict.into());
            }
            if may_send.is_none() && request.changes_contact(user) {
                return Err(ApiError::field("password", ErrorCode::FieldRequired));
            }
            let mut with_email = user.clone();
            if let Some(email) = &request.email {
                let may_send = may_send.unwrap_or_default();
                self.codes.request_email_change(tx, &mut with_email, email, may_send, now)?;
            }
            if let Some(phone) = &request.phone {
                self.codes.notify_phone_change(tx, user, phone, now)?;
            }
            Ok(user.changed(|user| {
                user.pending_email = with_email.pending_email;
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
        let (user, session) = (caller.user.clone(), caller.session.clone());
        let updated = self.store.update_own(user, session, now, decide, condition_error);
        Ok(updated.await?.0)
    }
}

/// The error of a failed condition when callers change their own account.
pub(crate) fn condition_error(part: Part) -> ApiError {
    match part {
        Part::User | Part::Session => ApiError::invalid_token(),
        _ => ErrorCode::Conflict.into(),
    }
}
