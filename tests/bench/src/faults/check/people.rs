//! Accounts, addresses, passwords and sessions.

use std::collections::{BTreeMap, BTreeSet};

use local::Trouble;
use serde_json::json;

use crate::{
    account::{Account, Life},
    actor::Actor,
    check::{Evening, Finding},
    client::Ask,
    tables::text,
};

pub(crate) async fn all(
    evening: &mut Evening<'_>,
    people: &[Actor],
) -> Result<Vec<Finding>, Trouble> {
    let mut findings = vec![
        accounts(evening, people),
        addresses(evening).await?,
        races(people),
        admins(evening),
    ];
    findings.push(sessions(evening, people).await);
    findings.push(passwords(evening, people).await);
    Ok(findings)
}

fn every(people: &[Actor]) -> impl Iterator<Item = &Account> {
    people
        .iter()
        .flat_map(|person| std::iter::once(&person.me).chain(&person.people))
        .filter(|account| !account.id.is_empty())
}

fn accounts(evening: &Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("accounts say what was acknowledged last");
    for account in every(people) {
        let id = &account.id;
        let Some(item) = evening.tables.at(&format!("USER#{id}"), "USER") else {
            finding.look(false, || format!("the account {id} is lost"));
            continue;
        };
        let card = &item["card"];
        let is_erased = !card["erasedAt"].is_null();
        finding.look(account.is_erased.may_be(&is_erased), || {
            format!("{id} is erased: {is_erased}, not {:?}", account.is_erased)
        });
        if is_erased {
            continue;
        }
        let mut holds =
            |is_good: bool, what: &str| finding.look(is_good, || format!("{what} of {card}"));
        holds(
            account.last_name.may_be(&text(card, "lastName")),
            "the name",
        );
        holds(account.label.may_be(&text(card, "role")), "the label");
        holds(
            account.profile.may_be(&text(card, "profile")),
            "the profile",
        );
        holds(
            account
                .is_active
                .all()
                .iter()
                .any(|value| card["isActive"] == *value),
            "whether it is open",
        );
        holds(
            account
                .is_verified
                .all()
                .iter()
                .any(|value| card["isVerified"] == *value),
            "whether it is verified",
        );
        holds(text(card, "email") == account.email, "the address");
    }
    finding
}

async fn addresses(evening: &Evening<'_>) -> Result<Finding, Trouble> {
    let mut finding = Finding::of("each address has one owner, each owner one address");
    let mut owned: BTreeMap<String, usize> = BTreeMap::new();
    for item in evening.tables.of("EMAIL#", "EMAIL") {
        *owned.entry(text(item, "userID")).or_default() += 1;
    }
    for item in evening
        .tables
        .of("USER#", "USER")
        .filter(|item| item["card"]["erasedAt"].is_null())
    {
        let (id, email) = (text(&item["card"], "userID"), text(&item["card"], "email"));
        let address = email
            .parse()
            .map_err(|_| Trouble::new(format!("{email} is no address.")))?;
        let owner = evening
            .stage
            .setup
            .store
            .email_owner(&address)
            .await?
            .map(|owner| owner.user_id.to_string());
        finding.look(
            owned.remove(&id) == Some(1) && owner.as_ref() == Some(&id),
            || format!("{email} of {id} is {owner:?}'s"),
        );
    }
    for (id, times) in owned {
        finding.look(false, || {
            format!("{times} addresses are kept for {id}, who is not there")
        });
    }
    Ok(finding)
}

fn races(people: &[Actor]) -> Finding {
    let mut finding = Finding::of("of two who want one address one gets it");
    for race in people.iter().flat_map(|person| &person.races) {
        finding.look(race.winners.len() < 2, || {
            format!("{} is {:?}'s", race.email, race.winners)
        });
    }
    finding
}

fn admins(evening: &Evening<'_>) -> Finding {
    let mut finding = Finding::of("the set of super admins is that of the accounts");
    let item = evening.tables.at("ADMINS", "ADMINS");
    let noted: BTreeSet<String> = item
        .into_iter()
        .flat_map(|item| item["ids"].as_array().into_iter().flatten())
        .filter_map(|id| Some(id.as_str()?.to_owned()))
        .collect();
    for item in evening.tables.of("USER#", "USER") {
        let card = &item["card"];
        let is_admin = card["profile"] == "SA" && card["isActive"] == true;
        finding.look(noted.contains(&text(card, "userID")) == is_admin, || {
            format!("{card} is an admin: {is_admin}")
        });
    }
    finding
}

async fn sessions(evening: &mut Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("ended sessions are over, all others go on");
    for account in every(people) {
        let is_closed = account.is_active.is_surely(&false) || account.is_erased.is_surely(&true);
        for session in &account.sessions {
            let expected = match session.life {
                Life::Ended => 401,
                _ if is_closed => 401,
                Life::GoesOn if account.is_open() => 200,
                _ => continue,
            };
            let heard = evening
                .ask(&Ask::new("GET", "/auth/check").with(&session.token))
                .await;
            finding.look(heard.status == expected, || {
                format!(
                    "{} of {}: {} {}",
                    expected, account.email, heard.status, heard.body
                )
            });
        }
    }
    finding
}

/// Whoever may sign in can, with the password that was acknowledged last or one that perhaps came after it.
async fn passwords(evening: &mut Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("who may sign in can, nobody else");
    for (number, account) in every(people).enumerate() {
        evening.client.move_to(number);
        let is_closed = account.is_active.is_surely(&false) || account.is_erased.is_surely(&true);
        if !is_closed && !account.is_open() {
            continue;
        }
        let (mut statuses, passwords) = (Vec::new(), account.password.all());
        for password in &passwords[..passwords.len().min(5)] {
            let ask = Ask::new("POST", "/auth/login")
                .json(json!({ "email": account.email, "password": password }));
            statuses.push(evening.ask(&ask).await.status);
        }
        // An address that was given up may be another account's by now, with another password.
        finding.look(statuses.contains(&200) != is_closed, || {
            format!(
                "{} is closed: {is_closed}, answered {statuses:?}",
                account.email
            )
        });
    }
    finding
}
