//! Creates the first committee and super admin of an environment, and the account of the canary.

use accounts::{Codes, email_challenge};
use canary::SignIn;
use common::ApiError;
use domain::{
    CommitteeId, Email, Line, Profile, Recipient, UserId,
    code::{CodeId, CodeKind},
    committee::Committee,
    user::User,
};
use identity::{password::Hasher, random};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::{CommitOutcome, NewUser, Setup};

/// The input of [`bootstrap`]: the first committee and its super admin.
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

/// Creates the first committee, the super admin and a mail with the code that sets the password, in one transaction.
/// The password until then is random and unknown. Returns the super admin's address.
///
/// # Errors
/// When a super admin exists or existed before, the address is taken, or a field is invalid.
pub async fn bootstrap(setup: &Setup, first: First) -> Result<Email, String> {
    let now = setup.clock.now();
    let committee_id = CommitteeId::new(random::id(now));
    let committee = committee(committee_id, first.committee)?;
    let Administrator { name, last_name, email } = first.administrator;
    let mut user =
        User::new(UserId::new(random::id(now)), name, last_name, email.clone(), committee_id, now);
    user.profile = Profile::SuperAdmin;
    // The operator vouches for the mailbox.
    user.is_verified = true;
    user.is_mailbox_verified = true;

    let failed = |failure: ApiError| {
        format!(
            "It is unknown whether it was written ({failure:?}): run the command again to find out."
        )
    };
    let codes = Codes::new(setup).map_err(|problem| problem.to_string())?;
    let password_hash =
        hash_of(&SecretString::from(data_encoding::BASE64.encode(&random::bytes::<24>()))).await?;
    let mut tx = setup.store.transaction();
    let to = Recipient::Mail(email.clone());
    let id = CodeId { kind: CodeKind::Reset, challenge: email_challenge(&email) };
    codes.issue(&mut tx, id, Some(&user), to, now).map_err(failed)?;
    let created = setup.store.bootstrap(&committee, &NewUser { user, password_hash }, tx).await;
    if created.map_err(|fault| failed(fault.into()))? {
        Ok(email)
    } else {
        Err("There is a super admin already, or the address is taken: nothing was written."
            .to_owned())
    }
}

fn committee(id: CommitteeId, given: Map<String, Value>) -> Result<Committee, String> {
    let mut fields = json!({ "VAT": "", "address": "", "isActive": true, "secondaryEmail": null, "secondaryPhone": "" });
    for (name, value) in &given {
        fields[name] = value.clone();
    }
    fields["committeeID"] = json!(id);
    let invalid = |problem: serde_json::Error| format!("The committee is invalid: {problem}.");
    let committee: Committee = serde_json::from_value(fields).map_err(invalid)?;
    let known = serde_json::to_value(&committee).map_err(invalid)?;
    match given.keys().find(|name| known.get(name).is_none()) {
        Some(unknown) => Err(format!("A committee has no field {unknown}.")),
        None => Ok(committee),
    }
}

/// Creates the account that the canary signs in with: a member without rights in the first active committee. Returns
/// `false` when it exists already; its address is random, so no other account has it.
///
/// # Errors
/// When there is no active committee.
pub async fn make_canary(setup: &Setup, sign_in: &SignIn) -> Result<bool, String> {
    let (store, now) = (&setup.store, setup.clock.now());
    let failed = |fault: store::StoreError| fault.to_string();
    let email: Email = sign_in
        .email
        .parse()
        .map_err(|_| "The canary's address is not a valid e-mail address.".to_owned())?;
    if store.email_owner(&email).await.map_err(failed)?.is_some() {
        return Ok(false);
    }
    let password_hash = hash_of(&sign_in.password).await?;
    let committees = store.committees(None, 100).await.map_err(failed)?;
    let active = committees.items.iter().find(|committee| committee.is_active);
    let committee =
        active.ok_or("There is no active committee yet: run bootstrap first.")?.committee_id;
    let name = |text: &str| text.parse().map_err(|_| "The canary's name is not valid.".to_owned());
    let mut user = User::new(
        UserId::new(random::id(now)),
        name("Canary")?,
        name("Halqa")?,
        email,
        committee,
        now,
    );
    user.is_verified = true;
    user.is_mailbox_verified = true;
    let mut tx = store.transaction();
    tx.new_user(&NewUser { user, password_hash });
    match tx.commit().await.map_err(failed)? {
        CommitOutcome::Committed => Ok(true),
        _ => Err("Another process has just created it.".to_owned()),
    }
}

async fn hash_of(password: &SecretString) -> Result<String, String> {
    Hasher::default().hash(password).await.map_err(|failure| failure.to_string())
}
