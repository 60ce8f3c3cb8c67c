//! Checks accounts, addresses, passwords and sessions.

use std::collections::{BTreeMap, BTreeSet};

use bench::{Result, error};
use serde_json::json;

use crate::{
    account::{Account, SessionState},
    client::Call,
    promise::{PromiseCheck, Snapshot},
    tables::text,
    virtual_user::VirtualUser,
};

pub(crate) async fn all(
    snapshot: &mut Snapshot<'_>,
    users: &[VirtualUser],
) -> Result<Vec<PromiseCheck>> {
    Ok(vec![
        accounts(snapshot, users),
        addresses(snapshot).await?,
        races(users),
        admins(snapshot),
        sessions(snapshot, users).await,
        passwords(snapshot, users).await,
    ])
}

/// All accounts that are known to exist or to have existed.
fn every(users: &[VirtualUser]) -> impl Iterator<Item = &Account> {
    let own = users.iter().map(|user| &user.me);
    let other = users.iter().flat_map(|user| &user.people);
    own.chain(other).filter(|account| !account.id.is_empty())
}

fn accounts(snapshot: &Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("accounts match the last acknowledged change");
    for account in every(users) {
        let id = &account.id;
        let Some(item) = snapshot.tables.at(&format!("USER#{id}"), "USER") else {
            promise.check(false, || format!("the account {id} is lost"));
            continue;
        };
        let card = &item["card"];
        let is_erased = !card["erasedAt"].is_null();
        let mut check =
            |holds: bool, field: &str| promise.check(holds, || format!("{field} of {card}"));
        check(account.is_erased.allows(&is_erased), "whether it is erased");
        if is_erased {
            continue;
        }
        check(account.last_name.allows(&text(card, "lastName")), "the name");
        check(account.label.allows(&text(card, "role")), "the label");
        check(account.profile.allows(&text(card, "profile")), "the profile");
        let is_active = account.is_active.all().iter().any(|one| card["isActive"] == *one);
        check(is_active, "whether it is open");
        let verified = account.is_verified.all();
        let is_verified = verified.iter().any(|one| card["isVerified"] == *one);
        check(is_verified, "whether it is verified");
        check(text(card, "email") == account.email, "the address");
    }
    promise
}

async fn addresses(snapshot: &Snapshot<'_>) -> Result<PromiseCheck> {
    let mut promise = PromiseCheck::of("each address has one owner, each owner one address");
    let mut owned: BTreeMap<String, usize> = BTreeMap::new();
    for item in snapshot.tables.of("EMAIL#", "EMAIL") {
        *owned.entry(text(item, "userID")).or_default() += 1;
    }
    for item in snapshot.tables.of("USER#", "USER") {
        if !item["card"]["erasedAt"].is_null() {
            continue;
        }
        let (id, email) = (text(&item["card"], "userID"), text(&item["card"], "email"));
        let malformed = |_| error(format!("{email} is not an address."));
        let address = email.parse().map_err(malformed)?;
        let owner = snapshot.deployment.local.setup.store.email_owner(&address).await?;
        let owner = owner.map(|owner| owner.user_id.to_string());
        let holds = owned.remove(&id) == Some(1) && owner.as_ref() == Some(&id);
        promise.check(holds, || format!("{email} of {id} belongs to {owner:?}"));
    }
    for (id, times) in owned {
        promise.check(false, || format!("{times} addresses belong to {id}, which is gone"));
    }
    Ok(promise)
}

fn races(users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("of two concurrent claims to an address one succeeds");
    for race in users.iter().flat_map(|user| &user.races) {
        let (email, winners) = (&race.email, &race.winners);
        promise.check(winners.len() < 2, || format!("{email} belongs to {winners:?}"));
    }
    promise
}

fn admins(snapshot: &Snapshot<'_>) -> PromiseCheck {
    let mut promise = PromiseCheck::of("the set of super admins matches the accounts");
    let item = snapshot.tables.at("ADMINS", "ADMINS");
    let ids = item.and_then(|item| item["ids"].as_array()).into_iter().flatten();
    let admins: BTreeSet<&str> = ids.filter_map(|id| id.as_str()).collect();
    for item in snapshot.tables.of("USER#", "USER") {
        let card = &item["card"];
        let is_admin = card["profile"] == "SA" && card["isActive"] == true;
        let is_listed = admins.contains(text(card, "userID").as_str());
        promise.check(is_listed == is_admin, || format!("{card} is an admin: {is_admin}"));
    }
    promise
}

async fn sessions(snapshot: &mut Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("ended sessions are invalid, all others are valid");
    for account in every(users) {
        for session in &account.sessions {
            let expected = match session.state {
                SessionState::Ended => 401,
                _ if account.is_closed() => 401,
                SessionState::Active if account.is_open() => 200,
                _ => continue,
            };
            let call = Call::new("GET", "/auth/check").with(&session.token);
            let response = snapshot.call(&call).await;
            let (email, status, body) = (&account.email, response.status, &response.body);
            promise.check(status == expected, || {
                format!("{expected} expected for {email}: {status} {body}")
            });
        }
    }
    promise
}

/// Open accounts can sign in with the last acknowledged password, or with a later one of unknown
/// outcome; closed ones cannot.
async fn passwords(snapshot: &mut Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("exactly the accounts that may sign in can");
    for (number, account) in every(users).enumerate() {
        snapshot.client.move_to(number);
        let (email, is_closed) = (&account.email, account.is_closed());
        if !is_closed && !account.is_open() {
            continue;
        }
        // The address of an erased account may belong to another one, with another password.
        let mut statuses = Vec::new();
        for password in account.password.all().iter().take(5) {
            let body = json!({ "email": email, "password": password });
            let call = Call::new("POST", "/auth/login").json(body);
            statuses.push(snapshot.call(&call).await.status);
        }
        promise.check(statuses.contains(&200) != is_closed, || {
            format!("{email} is closed: {is_closed}, statuses {statuses:?}")
        });
    }
    promise
}
