//! The `users` function: registration, users' own accounts, user lists, and the audit log.

mod activity;
mod audit;
mod my_committee_users;
mod own;
mod show;
mod user_status;

use std::time::Duration;

use accounts::{Codes, Registration};
use common::{
    ApiError, Cursors, ErrorCode, FieldError, Fields, InvalidField, InvalidValue, Routes, secret,
};
use domain::{
    Constraint, UserId, ValueError, limits, password::Owner, permissions::Right, user::User,
};
use identity::{known_passwords, password::Hasher, sealing::Sealer};
use runtime::{ConfigError, Key};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use storage::Bucket;
use store::{Setup, Store};

/// The keys that this function reads from SSM.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Sealing, Key::Outbox, Key::Cursor];

const DAY: Duration = Duration::from_secs(86_400);

/// State of the handlers.
#[derive(Clone)]
pub(crate) struct Users {
    store: Store,
    codes: Codes,
    cursors: Cursors,
    sealer: Sealer,
    hasher: Hasher,
    avatars: own::avatar::Avatars,
    bucket: Bucket,
    registration: Registration,
    /// Registrations per network and hour.
    register_per_hour: u64,
    /// How long an account may stay unverified.
    unverified_life: Duration,
    /// Minimum length of passwords, in code points.
    min_length: u64,
    /// Minimum length for administrators without one-time passwords.
    min_length_admin: u64,
}

/// The routes of this function.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let settings = &setup.settings;
    let days = u32::try_from(settings.number("UNPROVED_DAYS", 7)?).unwrap_or(u32::MAX);
    let bucket = Bucket::new(&setup.aws, settings)?;
    let sealer: Sealer = setup.keys.parse(Key::Sealing)?;
    let users = Users {
        store: setup.store.clone(),
        codes: Codes::new(setup)?,
        cursors: setup.keys.parse(Key::Cursor)?,
        hasher: Hasher::default(),
        avatars: own::avatar::Avatars::new(bucket.clone(), sealer.clone()),
        sealer,
        bucket,
        registration: Registration::of(settings)?,
        register_per_hour: settings.number("REGISTER_PER_HOUR", limits::REGISTRATION.max)?,
        unverified_life: DAY.saturating_mul(days),
        min_length: settings.number("PASSWORD_MIN_LENGTH", 8)?,
        min_length_admin: settings.number("PASSWORD_MIN_LENGTH_ADMIN", 15)?,
    };
    Ok(Routes::default()
        .post("/users/register", own::register::register)
        .effect("/users/reset-password", own::reset_password::request)
        .sign_in()
        .put("/users/reset-password", own::change_password::change_password)
        .sign_in()
        .post("/users/reset-password", own::reset_password::reset)
        .sign_in()
        .post("/users/email-verification", own::email_verification::request)
        .put("/users/email-verification", own::email_verification::verify)
        .post("/users/phone-verification", own::phone_verification::request)
        .put("/users/phone-verification", own::phone_verification::verify)
        .post("/users/not-me", own::not_me::remove)
        .get("/users/activity", activity::activity)
        .get("/users/my-committee-users", my_committee_users::list)
        .put("/users/user-status/{userId}", user_status::set_status)
        .post("/users/avatar", own::avatar::upload)
        .get("/users/{userId}", show::show)
        .put("/users/{userId}", own::change::update)
        .delete("/users/{userId}", own::erase::erase)
        .get("/users/{userId}/export", own::export::export)
        .get("/audit", audit::list)
        .no_store("/users")
        .no_store("/audit")
        .with_state(users))
}

impl Users {
    /// The account `id`, if `caller` has `right` on it.
    ///
    /// # Errors
    /// `USER_NOT_FOUND_MESSAGE`.
    async fn permitted(&self, id: UserId, caller: &User, right: Right) -> Result<User, ApiError> {
        let rights = caller.rights();
        let user = self.store.user(id).await?;
        let user = user.filter(|user| rights.may(right, user.user_id, user.committee_id));
        Ok(user.ok_or(ErrorCode::UserNotFound)?)
    }

    /// Checks a new password against the rules and the list of known passwords.
    fn check_password(
        &self,
        password: &SecretString,
        min_length: u64,
        owner: Option<Owner<'_>>,
    ) -> Result<(), InvalidValue> {
        let password = password.expose_secret();
        let checked = domain::password::check(password, min_length, owner);
        match checked {
            Ok(()) if known_passwords::contains(password) => Err(ValueError::PasswordCommon.into()),
            Ok(()) => Ok(()),
            Err(error) => Err(InvalidValue {
                code: error.into(),
                constraint: Constraint::password(min_length),
            }),
        }
    }

    /// Minimum password length of `user`: longer for administrators, unless they have a second factor.
    fn min_length(&self, user: &User) -> u64 {
        let needs_longer = user.profile.is_admin() && !user.is_otp_enabled;
        if needs_longer { self.min_length_admin } else { self.min_length }
    }

    /// Checks a new password and its confirmation. `old` is the current password, if the request contains it.
    fn check_new_password(
        &self,
        user: &User,
        new: &NewPassword,
        old: Option<&SecretString>,
    ) -> Result<(), ApiError> {
        let mut errors = Vec::new();
        let owner = Owner {
            name: user.name.as_str(),
            last_name: user.last_name.as_str(),
            email: &user.email,
        };
        if let Err(error) = self.check_password(&new.password, self.min_length(user), Some(owner)) {
            errors.push(FieldError::new("newPassword", error));
        } else if old.is_some_and(|old| are_equal(old, &new.password)) {
            errors.push(FieldError::new("newPassword", ValueError::PasswordUnchanged));
        }
        if !are_equal(&new.password, &new.confirmation) {
            errors.push(FieldError::new("confirmPassword", ValueError::PasswordMismatch));
        }
        if errors.is_empty() { Ok(()) } else { Err(ApiError::fields(errors)) }
    }
}

/// A new password and its confirmation.
pub(crate) struct NewPassword {
    password: SecretString,
    confirmation: SecretString,
}

impl NewPassword {
    fn read(fields: &mut Fields) -> Result<Self, InvalidField> {
        // The shortest length depends on the account.
        let length = Constraint { min: None, ..Constraint::password(0) };
        let password = fields.required("newPassword", new_password(length));
        let confirmation = fields.required("confirmPassword", secret);
        Ok(Self { password: password?, confirmation: confirmation? })
    }
}

/// Reads a new password, whose errors have the constraint `length`. It is checked later, with the other rules.
fn new_password(length: Constraint) -> impl FnOnce(Value) -> Result<SecretString, InvalidValue> {
    |value| secret(value).map_err(|invalid| InvalidValue { constraint: length, ..invalid })
}

/// Whether two passwords are equal after Unicode normalisation.
fn are_equal(one: &SecretString, other: &SecretString) -> bool {
    domain::password::normalized(one.expose_secret())
        == domain::password::normalized(other.expose_secret())
}
