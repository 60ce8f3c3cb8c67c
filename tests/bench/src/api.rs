//! `cargo bench-api`: whether response times reveal which addresses have an account, and how much
//! a sign-in adds to a bare Argon2id. Read the ratios: absolute times are of this machine.

use std::net::IpAddr;

use bench::{
    Result, Samples, error, print,
    service::{EMAIL, LocalService, PASSWORD, Tables, call_from},
};
use domain::{CommitteeId, Email, UserId, user::User};
use identity::{password::Hasher, random};
use serde_json::{Value, json};
use store::NewUser;
use tokio::time::Instant;

/// Requests about known addresses, and as many about unknown ones.
const PAIRS: u32 = 200;
/// Sign-ins, and as many bare hashes.
const LOGINS: u32 = 40;

/// Requests that name an address: method, path, and whether the address ends the path.
const REQUESTS: [(&str, &str, bool); 6] = [
    ("POST", "/auth/login", false),
    ("POST", "/auth/passwordless", false),
    ("GET", "/users/reset-password?sendMethode=email&email=", true),
    ("GET", "/users/reset-password?sendMethode=sms&email=", true),
    ("POST", "/users/reset-password", false),
    ("PUT", "/users/email-verification", false),
];

#[tokio::main]
async fn main() -> Result<()> {
    let service = LocalService::start(Tables::Memory, &[]).await?;
    // First: every write of the store in memory reads the whole stream, which the other measurement makes long.
    compare_with_hash(&service).await?;
    compare_addresses(&service).await
}

/// Each account is used once and each caller has its own network, so that no counter and no earlier code affects a
/// request.
async fn compare_addresses(service: &LocalService) -> Result<()> {
    let committees = service.setup.store.committees(None, 1).await?.items;
    let committee = committees.first().ok_or_else(|| error("no committee"))?;
    let hash = Hasher::default().hash(&PASSWORD.into()).await;
    let hash = hash.map_err(error)?;
    print("| request | known ms | unknown ms | known ÷ unknown |\n|---|--:|--:|--:|");
    let mut caller = 0_u32;
    for (number, request) in REQUESTS.into_iter().enumerate() {
        let (mut known, mut unknown) = (Samples::new()?, Samples::new()?);
        for turn in 0..PAIRS {
            let address = format!("known{number}x{turn}@example.org");
            register(service, &address, committee.committee_id, &hash).await?;
            let unknown_address = format!("unknown{number}x{turn}@example.org");
            let mut pair = [(&address, &mut known), (&unknown_address, &mut unknown)];
            // The second of two requests finds warmer caches.
            if turn % 2 == 1 {
                pair.reverse();
            }
            for (address, samples) in pair {
                caller += 1;
                time_request(service, request, address, caller, samples).await?;
            }
        }
        let (known, unknown) = (known.milliseconds(0.5), unknown.milliseconds(0.5));
        let (method, path, _) = request;
        let ratio = known / unknown;
        print(format!("| {method} {path} | {known:.3} | {unknown:.3} | {ratio:.3} |"));
    }
    Ok(())
}

async fn time_request(
    service: &LocalService,
    (method, path, address_ends_path): (&str, &str, bool),
    address: &str,
    caller: u32,
    samples: &mut Samples,
) -> Result<()> {
    let (path, body) = if address_ends_path {
        (format!("{path}{address}"), Value::Null)
    } else {
        let body = match path {
            "/auth/login" => json!({ "email": address, "password": "not the password" }),
            "/auth/passwordless" => json!({ "email": address }),
            "/users/email-verification" => json!({ "email": address, "code": "000000" }),
            _ => {
                json!({ "email": address, "code": "000000", "newPassword": PASSWORD, "confirmPassword": PASSWORD })
            }
        };
        (path.to_owned(), body)
    };
    let [_, a, b, c] = caller.to_be_bytes();
    let start = Instant::now();
    let response = call_from(&service.edge, IpAddr::from([127, a, b, c]), method, &path, &body);
    let status = response.await?.status();
    samples.record_time(start.elapsed());
    if status.is_server_error() || status == 429 {
        return Err(error(format!("{method} {path} returned {status}")));
    }
    Ok(())
}

async fn register(
    service: &LocalService,
    address: &str,
    committee: CommitteeId,
    password_hash: &str,
) -> Result<()> {
    let malformed = |_| error("malformed account");
    let now = service.setup.clock.now();
    let email: Email = address.parse().map_err(malformed)?;
    let user = User::new(
        UserId::new(random::id(now)),
        "Amina".parse().map_err(malformed)?,
        "Ben Salah".parse().map_err(malformed)?,
        email,
        committee,
        now,
    );
    let mut transaction = service.setup.store.transaction();
    transaction.new_user(&NewUser { user, password_hash: password_hash.to_owned() });
    let _ = transaction.commit().await?;
    Ok(())
}

async fn compare_with_hash(service: &LocalService) -> Result<()> {
    let (hasher, password) = (Hasher::default(), PASSWORD.into());
    let body = json!({ "email": EMAIL, "password": PASSWORD });
    let (mut logins, mut hashes) = (Samples::new()?, Samples::new()?);
    for _ in 0..LOGINS {
        let start = Instant::now();
        service.call("POST", "/auth/login", &body).await?;
        logins.record_time(start.elapsed());
        let start = Instant::now();
        hasher.hash(&password).await.map_err(error)?;
        hashes.record_time(start.elapsed());
    }
    let (login, hash) = (logins.milliseconds(0.5), hashes.milliseconds(0.5));
    let ratio = login / hash;
    print(format!("POST /auth/login {login:.1} ms ÷ a bare Argon2id {hash:.1} ms: {ratio:.2}\n"));
    Ok(())
}
