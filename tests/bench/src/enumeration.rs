//! Whether time tells who has an account: the same request about a known and about an unknown address, in
//! turns, each known account asked once and each caller a network of its own, so that no counter and no
//! earlier code changes the path.

use std::{net::IpAddr, time::Duration};

use bench::say;
use domain::{CommitteeId, Email, UserId, user::User};
use identity::{chance, password::Hasher};
use local::Trouble;
use serde_json::json;
use store::NewUser;
use store::Setup;
use tokio::time::Instant;

use crate::{PASSWORD, request};

/// Timings of each kind.
const TIMINGS: usize = 200;

/// The requests, with the path or the body that names an address.
const REQUESTS: [(&str, &str, &str); 6] = [
    ("POST /auth/login", "/api/v1/auth/login", "login"),
    (
        "POST /auth/passwordless",
        "/api/v1/auth/passwordless",
        "passwordless",
    ),
    (
        "GET /users/reset-password, email",
        "/api/v1/users/reset-password?sendMethode=email&email=",
        "",
    ),
    (
        "GET /users/reset-password, sms",
        "/api/v1/users/reset-password?sendMethode=sms&email=",
        "",
    ),
    (
        "POST /users/reset-password",
        "/api/v1/users/reset-password",
        "reset",
    ),
    (
        "PUT /users/email-verification",
        "/api/v1/users/email-verification",
        "verify",
    ),
];

/// Prints the medians of known and unknown addresses and what they differ by.
///
/// # Errors
/// When the store does not answer.
pub(crate) async fn report(setup: &Setup, edge: &common::Edge) -> Result<(), Trouble> {
    let committee = setup
        .store
        .committees(None, 1)
        .await?
        .items
        .first()
        .map(|committee| committee.committee_id);
    let committee = committee.ok_or_else(|| Trouble::new("There is no committee."))?;
    let password_hash = Hasher::default()
        .hash(&PASSWORD.into())
        .await
        .map_err(|fault| Trouble::new(fault.to_string()))?;
    say(&format!(
        "\nknown and unknown addresses, medians of {TIMINGS} in turns\n"
    ));
    say("| request | known ms | unknown ms | difference |");
    say("|---|---|---|---|");
    let mut caller = 0;
    for (number, (name, path, body)) in REQUESTS.into_iter().enumerate() {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for turn in 0..TIMINGS {
            let email = format!("known{number}x{turn}@example.org");
            register(setup, &email, committee, &password_hash).await?;
            let stranger = format!("nobody{number}x{turn}@example.org");
            // whoever comes second finds warmer caches: they take turns in that, too
            let order = if turn % 2 == 0 {
                [(&email, true), (&stranger, false)]
            } else {
                [(&stranger, false), (&email, true)]
            };
            for (email, is_known) in order {
                caller += 1;
                let took = timed(edge, name, path, body, email, caller).await?;
                if is_known {
                    known.push(took)
                } else {
                    unknown.push(took)
                }
            }
        }
        let (known, unknown) = (median(known), median(unknown));
        let difference = (known.as_secs_f64() / unknown.as_secs_f64() - 1.0) * 100.0;
        say(&format!(
            "| {name} | {:.3} | {:.3} | {difference:+.1} % |",
            known.as_secs_f64() * 1e3,
            unknown.as_secs_f64() * 1e3
        ));
    }
    Ok(())
}

async fn register(
    setup: &Setup,
    email: &str,
    committee: CommitteeId,
    password_hash: &str,
) -> Result<(), Trouble> {
    let malformed = |_| Trouble::new("A person is malformed.");
    let (now, email): (_, Email) = (setup.clock.now(), email.parse().map_err(malformed)?);
    let (name, last_name) = (
        "Amina".parse().map_err(malformed)?,
        "Ben Salah".parse().map_err(malformed)?,
    );
    let user = User::new(
        UserId::new(chance::id(now)),
        name,
        last_name,
        email,
        committee,
        now,
    );
    let mut register = setup.store.transaction();
    register.new_user(&NewUser {
        user,
        password_hash: password_hash.to_owned(),
    });
    let _ = register.commit().await?;
    Ok(())
}

async fn timed(
    edge: &common::Edge,
    name: &str,
    path: &str,
    body: &str,
    email: &str,
    caller: u32,
) -> Result<Duration, Trouble> {
    let path = if body.is_empty() {
        format!("{path}{email}")
    } else {
        path.to_owned()
    };
    let body = match body {
        "login" => json!({ "email": email, "password": "not the password" }).to_string(),
        "passwordless" => json!({ "email": email }).to_string(),
        "reset" => json!({ "email": email, "code": "000000", "newPassword": PASSWORD, "confirmPassword": PASSWORD }).to_string(),
        "verify" => json!({ "email": email, "code": "000000" }).to_string(),
        _ => String::new(),
    };
    let method = name.split(' ').next().unwrap_or_default();
    let [_, a, b, c] = caller.to_be_bytes();
    let request = request(method, &path, "", &body)?;
    let start = Instant::now();
    let answer = edge.answer(request, IpAddr::from([127, a, b, c])).await;
    let took = start.elapsed();
    if answer.status().is_server_error() || answer.status() == 429 {
        return Err(Trouble::new(format!("{name} answered {}", answer.status())));
    }
    Ok(took)
}

fn median(mut timings: Vec<Duration>) -> Duration {
    timings.sort_unstable();
    timings.get(timings.len() / 2).copied().unwrap_or_default()
}
