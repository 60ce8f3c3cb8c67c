//! `POST /users/register`: creates an account in an active committee.

use accounts::{Registration, attempts, email_challenge, message_limits};
use axum::extract::{FromRequestParts, State};
use common::{
    ApiError, ApiResult, Client, ErrorCode, Fields, FromFields, InvalidField, Message, Now, Once,
    committee_id, phone, secret, text,
};
use domain::{
    CommitteeId, Constraint, Email, Instant, Name, Phone, Recipient, UserId, ValueError,
    code::{CodeId, CodeKind},
    committee::Committee,
    limits::{self, Limit},
    password::Owner,
    user::{AccountWithCommittee, User},
};
use http::request::Parts;
use identity::random;
use secrecy::SecretString;
use serde::Serialize;
use store::{Counter, EmailOwner, NewUser};

use crate::{Users, are_equal, new_password};

/// Rejects the request before its body is read if registration is closed.
pub(crate) struct RegistrationAllowed;

impl FromRequestParts<Users> for RegistrationAllowed {
    type Rejection = ApiError;

    async fn from_request_parts(_: &mut Parts, users: &Users) -> Result<Self, ApiError> {
        match users.registration {
            Registration::Open | Registration::Approval => Ok(Self),
            Registration::Closed => Err(ErrorCode::Forbidden.into()),
        }
    }
}

pub(crate) struct RegisterRequest {
    name: Name,
    last_name: Name,
    email: Email,
    password: SecretString,
    phone: Phone,
    committee_id: CommitteeId,
}

impl FromFields<Users> for RegisterRequest {
    fn from_fields(fields: &mut Fields, users: &Users) -> Result<Self, InvalidField> {
        let name = fields.required("name", text::<Name>);
        let last_name = fields.required("lastName", text::<Name>);
        let email = fields.required("email", text::<Email>);
        let length = Constraint::password(users.min_length);
        let password = fields.required("password", new_password(length));
        let confirmation = fields.optional("confirmPassword", secret);
        let phone = phone(fields);
        let committee_id = fields.required("committeeID", committee_id);

        if let Ok(password) = &password {
            let owner = match (&name, &last_name, &email) {
                (Ok(name), Ok(last_name), Ok(email)) => {
                    Some(Owner { name: name.as_str(), last_name: last_name.as_str(), email })
                }
                _ => None,
            };
            if let Err(error) = users.check_password(password, users.min_length, owner) {
                fields.reject("password", error);
            }
            if let Ok(Some(given)) = &confirmation
                && !are_equal(given, password)
            {
                fields.reject("confirmPassword", ValueError::PasswordMismatch);
            }
        }
        Ok(Self {
            name: name?,
            last_name: last_name?,
            email: email?,
            password: password?,
            phone: phone?.unwrap_or_default(),
            committee_id: committee_id?,
        })
    }
}

#[derive(Serialize)]
pub(crate) struct RegisterResponse {
    user: AccountWithCommittee,
}

/// Checks the address twice: before the password is hashed, to save the work for an address in use, and in the
/// transaction, which excludes concurrent requests.
pub(crate) async fn register(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    _: RegistrationAllowed,
    Once(request, key): Once<RegisterRequest>,
) -> ApiResult<RegisterResponse> {
    // A repetition with another password must not be told that it works.
    let key = key.with_secret(&users.sealer, request.email.as_str(), &request.password);
    let limit = Limit { max: users.register_per_hour, ..limits::REGISTRATION };
    let counter = attempts::per_network(limit, &client, str::to_owned);
    let message = Message::UserRegistered;
    let (earlier, reserved, owner, committee) = tokio::join!(
        key.earlier(&users.store, message, now),
        users.store.reserve(&counter, now),
        users.store.email_owner(&request.email),
        users.store.committee(request.committee_id),
    );
    if let Some(earlier) = earlier? {
        return Ok(earlier.map(|user| RegisterResponse { user }));
    }
    // Every valid request counts, even if it fails later: the reservation is not released.
    let _ = reserved?;
    let committee = check_conditions(owner?, committee?)?;
    let welcomes = [Counter::of(limits::WELCOMES, &request.email)];
    let (password_hash, welcome) = tokio::join!(
        users.hasher.hash(&request.password),
        message_limits::reserve(&users.store, &welcomes, now)
    );
    let (password_hash, welcome) = (password_hash?, welcome?);
    let mut user = request.into_user(now);
    user.unverified_until = Some(now.after(users.unverified_life));
    let mut tx = users.store.transaction();
    users.codes.make_removable(&mut user);
    if welcome.is_some() {
        let challenge = email_challenge(&user.email);
        let to = Recipient::Mail(user.email.clone());
        users.codes.issue(
            &mut tx,
            CodeId { kind: CodeKind::Email, challenge },
            Some(&user),
            to,
            now,
        )?;
    }
    tx.new_user(&NewUser { user: user.clone(), password_hash });
    let account = AccountWithCommittee::of(user, committee);
    let created = key.commit(&users.store, tx, message, account, now, |_| email_taken()).await;
    if created.is_err() {
        users.codes.release(welcome).await;
    }
    Ok(created?.map(|user| RegisterResponse { user }))
}

/// Returns the committee if it is active and the address has no `owner`. The address comes last: an error of another
/// field must not tell that it has an account, for requests that register nothing.
fn check_conditions(
    owner: Option<EmailOwner>,
    committee: Option<Committee>,
) -> Result<Committee, ApiError> {
    let committee = committee.filter(|committee| committee.is_active);
    let committee =
        committee.ok_or_else(|| ApiError::field("committeeID", ErrorCode::CommitteeInvalid))?;
    match owner {
        Some(_) => Err(email_taken()),
        None => Ok(committee),
    }
}

fn email_taken() -> ApiError {
    ApiError::field("email", ErrorCode::EmailAlreadyUsed)
}

impl RegisterRequest {
    fn into_user(self, now: Instant) -> User {
        let id = UserId::new(random::id(now));
        let Self { name, last_name, email, committee_id, phone, .. } = self;
        let mut user = User::new(id, name, last_name, email, committee_id, now);
        user.phone = phone;
        user
    }
}
