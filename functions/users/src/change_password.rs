//! `PUT /users/reset-password`: the caller changes his password; all his other sessions end.

use axum::extract::State;
use common::{
    Client, Failure, FieldError, Fields, FromFields, Input, Message, Now, Refusal, Refused, Reply, SignedIn, attempts, secret, told,
};
use domain::{Flaw, password::Owner, user::User};
use identity::password::Match;
use secrecy::SecretString;
use serde::Serialize;

use crate::{Users, are_equal};

pub(crate) struct Change {
    old: SecretString,
    new: SecretString,
    confirmation: SecretString,
}

impl<S> FromFields<S> for Change {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let old = fields.required("oldPassword", secret);
        let new = fields.required("newPassword", secret);
        let confirmation = fields.required("confirmPassword", secret);
        Some(Self { old: old?, new: new?, confirmation: confirmation? })
    }
}

#[derive(Serialize)]
pub(crate) struct Nothing {}

/// The old password comes first: who does not know it hears nothing of the new one.
pub(crate) async fn change_password(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    person: SignedIn,
    Input(change): Input<Change>,
) -> Reply<Nothing> {
    let SignedIn { user, session, .. } = person;
    let counters = attempts::of_password(&user.email, &client);
    let (reserved, credentials) = tokio::join!(attempts::reserve(&users.store, &counters, now), users.store.credentials(user.user_id));
    let (reserved, proof) = (reserved?, async {
        let hash = credentials?.map(|credentials| credentials.password_hash);
        let matched = users.hasher.matches(&change.old, hash.as_deref()).await?;
        Ok(hash.filter(|_| matched != Match::No))
    });
    let (old_hash, reserved) = attempts::settle(&users.store, reserved, proof.await).await?;

    let new_hash = async {
        check(&users, &user, &change)?;
        Ok::<_, Failure>(users.hasher.hash(&change.new).await?)
    };
    let new_hash = new_hash.await;
    let changed = async { Ok::<_, Failure>(users.store.change_password(&user, &session, &old_hash, &new_hash?).await?) };
    // Places that cannot be given back are free when their windows end.
    let (changed, _) = tokio::join!(changed, users.store.give_back(reserved));
    if changed? {
        told(Message::PasswordChanged, Nothing {})
    } else {
        // somebody was faster: the old password is no longer the password
        Err(Refusal::BadAuthCombination.into())
    }
}

fn check(users: &Users, user: &User, change: &Change) -> Result<(), Refused> {
    let mut errors = Vec::new();
    let owner = Owner { name: user.name.as_str(), last_name: user.last_name.as_str(), email: &user.email };
    if let Err(flaw) = users.check_password(&change.new, users.min_length(user), Some(owner)) {
        errors.push(FieldError::new("newPassword", flaw));
    } else if are_equal(&change.old, &change.new) {
        errors.push(FieldError::new("newPassword", Flaw::PasswordUnchanged));
    }
    if !are_equal(&change.new, &change.confirmation) {
        errors.push(FieldError::new("confirmPassword", Flaw::PasswordMismatch));
    }
    if errors.is_empty() { Ok(()) } else { Err(Refused::fields(errors)) }
}
