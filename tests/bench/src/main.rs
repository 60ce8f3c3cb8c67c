//! `cargo bench-api`: what requests take beside a bare "hello" with the same headers, in one run, and
//! whether time tells who has an account.
//!
//! Closed loops of eight keep-alive clients in this very process, in rounds that take turns, so that
//! a busy machine is busy for all. Read the ratios.

mod enumeration;
mod hello;
mod rounds;

use std::{net::SocketAddr, time::Duration};

use bench::{load::milliseconds, say};
use bytes::Bytes;
use common::{Edge, Spent};
use http::{Request, header};
use local::{Trouble, cloud::Cloud, front, home, home::LocalSettings, house};
use runtime::Clock;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use rounds::{Figures, Target, run};

const EMAIL: &str = "admin@example.org";
const PASSWORD: &str = "sept grenadiers en fleur";
const ROUNDS: usize = 5;

#[tokio::main]
async fn main() -> Result<(), Trouble> {
    let hello = hello::serve(listen().await?).await?;
    let folder = tempfile::tempdir().map_err(|error| Trouble::new(error.to_string()))?;
    let memory = Cloud::in_memory(&folder.path().join("files")).await?;
    report("tables in memory", hello, &memory).await?;
    let file = Cloud::in_folder(folder.path()).await?;
    report("tables in a file", hello, &file).await
}

async fn listen() -> Result<TcpListener, Trouble> {
    TcpListener::bind("127.0.0.1:0")
        .await
        .map_err(|error| Trouble::new(error.to_string()))
}

async fn report(what: &str, hello: SocketAddr, cloud: &Cloud) -> Result<(), Trouble> {
    let mut settings = LocalSettings::default();
    settings
        .with_new_keys()
        .find(cloud)
        .set("RATE_LIMIT", "4000000000");
    let setup = settings.setup(Clock::default())?;
    home::found(&setup, EMAIL, &PASSWORD.into()).await?;
    let edge = house(&setup)?;
    let listener = listen().await?;
    let ours = listener
        .local_addr()
        .map_err(|error| Trouble::new(error.to_string()))?;
    tokio::spawn(front::serve(listener, edge.clone(), None));

    let credentials = json!({ "email": EMAIL, "password": PASSWORD }).to_string();
    let signed_in = answer(&edge, "POST", "/api/v1/auth/login", "", &credentials).await?;
    let token = signed_in
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|token| token.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    enumeration::report(&setup, &edge).await?;
    let targets = [
        Target {
            name: "hello (bare axum)",
            address: hello,
            method: "GET",
            path: "/",
            token: "",
            body: "",
            requests: 2000,
        },
        Target {
            name: "GET /health",
            address: ours,
            method: "GET",
            path: "/api/v1/health",
            token: "",
            body: "",
            requests: 2000,
        },
        Target {
            name: "404",
            address: ours,
            method: "GET",
            path: "/api/v1/nowhere",
            token: "",
            body: "",
            requests: 1000,
        },
        Target {
            name: "GET /auth/check",
            address: ours,
            method: "GET",
            path: "/api/v1/auth/check",
            token: &token,
            body: "",
            requests: 1000,
        },
        Target {
            name: "POST /auth/login",
            address: ours,
            method: "POST",
            path: "/api/v1/auth/login",
            token: "",
            body: &credentials,
            requests: 40,
        },
    ];
    let mut figures: Vec<Figures> = targets.iter().map(|_| Figures::default()).collect();
    for _ in 0..ROUNDS {
        for (target, figures) in targets.iter().zip(&mut figures) {
            run(target, figures).await?;
        }
    }

    say(&format!("\n{what}, 8 clients\n"));
    say(
        "| request | p50 ms | p99 ms | requests/s | p50 ÷ hello | alone p50 ms | round trips | reads | writes |",
    );
    say("|---|---|---|---|---|---|---|---|---|");
    let floor = figures
        .first()
        .map_or(Duration::ZERO, |hello| hello.percentile(50));
    for (target, figures) in targets.iter().zip(&figures) {
        let spent = match target.address == ours {
            true => answer(&edge, target.method, target.path, target.token, target.body)
                .await?
                .extensions()
                .get::<Spent>()
                .copied(),
            false => None,
        };
        let spent = spent.map_or("- | - | -".to_owned(), |Spent(cost)| {
            format!("{} | {} | {}", cost.round_trips, cost.reads, cost.writes)
        });
        let (p50, p99, alone) = (
            figures.percentile(50),
            figures.percentile(99),
            figures.alone(),
        );
        let ratio = p50.as_secs_f64() / floor.as_secs_f64();
        say(&format!(
            "| {} | {:.2} | {:.2} | {:.0} | {ratio:.1} | {:.2} | {spent} |",
            target.name,
            milliseconds(p50),
            milliseconds(p99),
            figures.per_second(),
            milliseconds(alone),
        ));
    }
    Ok(())
}

/// One request without a network, for its cost.
async fn answer(
    edge: &Edge,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> Result<http::Response<Bytes>, Trouble> {
    let request = request(method, path, token, body)?;
    let answer = edge
        .answer(request, std::net::Ipv4Addr::LOCALHOST.into())
        .await;
    let body: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    if answer.status().is_server_error() {
        return Err(Trouble::new(format!("{path} answered {body}")));
    }
    Ok(answer)
}

fn request(method: &str, path: &str, token: &str, body: &str) -> Result<Request<Bytes>, Trouble> {
    let mut request = Request::builder().method(method).uri(path);
    if !token.is_empty() {
        request = request.header(header::AUTHORIZATION, token);
    }
    request
        .body(Bytes::from(body.to_owned()))
        .map_err(|error| Trouble::new(error.to_string()))
}
