//! The first people of an environment.

use accounts::{Codes, place_of};
use canary::SignIn;
use common::ApiError;
use domain::{
    CommitteeId, Email, Line, Profile, UserId, code::CodeKind, committee::Committee,
    outbox::Recipient, user::User,
};
use identity::{chance, password::Hasher};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::{CommitOutcome, NewUser, Setup};

/// The first committee and its first super admin.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct First {
    /// The fields of `POST /committees`.
    committee: Map<String, Value>,
    administrator: Administrator,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Administrator {
    name: Line<100>,
    last_name: Line<100>,
    email: Email,
}

/// Writes the first committee and super admin, and the mail by which he sets his password: one transaction. Nobody
/// has a password that somebody else chose.
///
/// # Errors
/// In a sentence: when there is a super admin already, or has been; when a field makes no sense; when the store
/// is out of reach, and then nothing was written.
pub async fn bootstrap(setup: &Setup, first: First) -> Result<Email, String> {
    let now = setup.clock.now();
    let committee_id = CommitteeId::new(chance::id(now));
    let committee = committee(committee_id, first.committee)?;
    let Administrator {
        name,
        last_name,
        email,
    } = first.administrator;
    let new = User::new(
        UserId::new(chance::id(now)),
        name,
        last_name,
        email.clone(),
        committee_id,
        now,
    );
    let user = User {
        profile: Profile::SuperAdmin,
        ..new
    };

    let failed = |failure: ApiError| {
        format!("It may have been written, or not ({failure:?}): run it again, which tells.")
    };
    let codes = Codes::new(setup).map_err(|problem| problem.to_string())?;
    let password_hash = hash_of(&SecretString::from(
        data_encoding::BASE64.encode(&chance::bytes::<24>()),
    ))
    .await?;
    let mut beside = setup.store.transaction();
    let to = Recipient::Mail(email.clone());
    codes
        .issue(
            &mut beside,
            CodeKind::Reset,
            place_of(&email),
            Some(&user),
            to,
            now,
        )
        .map_err(failed)?;
    let founded = setup
        .store
        .found(
            &committee,
            &NewUser {
                user,
                password_hash,
            },
            beside,
        )
        .await;
    if founded.map_err(|fault| failed(fault.into()))? {
        Ok(email)
    } else {
        Err(
            "There is a super admin already, or the address is taken: nothing was written."
                .to_owned(),
        )
    }
}

fn committee(id: CommitteeId, given: Map<String, Value>) -> Result<Committee, String> {
    let mut fields = json!({ "VAT": "", "address": "", "isActive": true, "secondaryEmail": null, "secondaryPhone": "" });
    for (name, value) in &given {
        fields[name] = value.clone();
    }
    fields["committeeID"] = json!(id);
    let nonsense = |problem: serde_json::Error| format!("The committee makes no sense: {problem}.");
    let committee: Committee = serde_json::from_value(fields).map_err(nonsense)?;
    let known = serde_json::to_value(&committee).map_err(nonsense)?;
    match given.keys().find(|name| known.get(name).is_none()) {
        Some(unknown) => Err(format!("A committee has no field {unknown}.")),
        None => Ok(committee),
    }
}

/// The account `sign_in` that the canary signs in with, in the first committee that is open: a member without any
/// right. Whether it had to be made: nobody else can have taken an address that nobody can guess.
///
/// # Errors
/// In a sentence: when there is no committee, or the store is out of reach.
pub async fn make_canary(setup: &Setup, sign_in: &SignIn) -> Result<bool, String> {
    let (store, now) = (&setup.store, setup.clock.now());
    let failed = |fault: store::StoreError| fault.to_string();
    let email: Email = sign_in
        .email
        .parse()
        .map_err(|_| "The canary's address is none.".to_owned())?;
    if store.email_owner(&email).await.map_err(failed)?.is_some() {
        return Ok(false);
    }
    let password_hash = hash_of(&sign_in.password).await?;
    let committees = store.committees(None, 100).await.map_err(failed)?;
    let open = committees
        .items
        .iter()
        .find(|committee| committee.is_active);
    let committee = open
        .ok_or("There is no open committee yet: bootstrap first.")?
        .committee_id;
    let name = |text: &str| {
        text.parse()
            .map_err(|_| "The canary's name is none.".to_owned())
    };
    let new = User::new(
        UserId::new(chance::id(now)),
        name("Canary")?,
        name("Halqa")?,
        email,
        committee,
        now,
    );
    let mut register = store.transaction();
    register.new_user(&NewUser {
        user: User {
            is_verified: true,
            ..new
        },
        password_hash,
    });
    match register.commit().await.map_err(failed)? {
        CommitOutcome::Committed => Ok(true),
        _ => Err("Somebody else has just made it.".to_owned()),
    }
}

async fn hash_of(password: &SecretString) -> Result<String, String> {
    Hasher::default()
        .hash(password)
        .await
        .map_err(|failure| failure.to_string())
}
