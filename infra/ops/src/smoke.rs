//! Tests a deployed URL as a client.

use std::collections::HashMap;

use canary::{HttpResponse, SignIn, Visitor};
use http::Method;
use secrecy::ExposeSecret;
use serde_json::json;

use crate::{Parameters, Stage};

/// The result of one check.
#[derive(Debug)]
pub struct Check {
    /// What the check expects.
    pub what: String,
    /// Why it failed; `None` when it passed.
    pub problem: Option<String>,
}

/// What the template's map `Settings` says about every response.
#[derive(Debug, Clone)]
pub struct Expectations {
    /// `x-ratelimit-limit`: `RateLimit`.
    pub rate_limit: String,
    /// `x-powered-by`: `PoweredBy`.
    pub powered_by: String,
}

impl Expectations {
    /// Those of the stack of `stage`, which the template writes to Parameter Store.
    ///
    /// # Errors
    /// When the stack is not deployed.
    pub async fn of_stack(parameters: &Parameters, stage: Stage) -> Result<Self, String> {
        let path = stage.keys_path("stack");
        let names = ["RATE_LIMIT", "POWERED_BY"].map(|name| format!("{path}/{name}"));
        let mut found = parameters.read(&names).await?;
        let [rate_limit, powered_by] = names.map(|name| {
            let value = found.remove(&name).map(|value| value.expose_secret().to_owned());
            value.ok_or_else(|| format!("{name} is not in SSM: deploy the stack first."))
        });
        Ok(Self { rate_limit: rate_limit?, powered_by: powered_by? })
    }

    /// Those of a `cargo dev` with the settings in `environment`, or else the defaults.
    pub fn of_environment(environment: &HashMap<String, String>) -> Self {
        let setting = |name: &str, default: &str| {
            let value = environment.get(name).cloned();
            value.unwrap_or_else(|| default.to_owned())
        };
        Self {
            rate_limit: setting("RATE_LIMIT", "100"),
            powered_by: setting("POWERED_BY", "Halqa"),
        }
    }
}

/// Headers with a constant value on every enveloped response. They are repeated here on purpose: a test that took
/// them from the code could not find an error.
const CONSTANT: [(&str, &str); 15] = [
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("origin-agent-cluster", "?1"),
    ("referrer-policy", "no-referrer"),
    ("strict-transport-security", "max-age=15552000; includeSubDomains"),
    ("x-content-type-options", "nosniff"),
    ("x-dns-prefetch-control", "off"),
    ("x-download-options", "noopen"),
    ("x-frame-options", "SAMEORIGIN"),
    ("x-permitted-cross-domain-policies", "none"),
    ("x-xss-protection", "0"),
    ("access-control-allow-origin", "*"),
    ("access-control-allow-credentials", "true"),
    ("content-type", "application/json; charset=utf-8"),
];

/// Headers whose value varies.
const VARYING: [&str; 5] =
    ["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "etag", "x-request-id"];

/// Checks headers, sign-in as the canary, the token's header, a conditional request, a write, a picture, the catalogue and sign-out.
/// Without a sign-in the checks that need one are skipped.
pub async fn smoke(visitor: &Visitor, canary: &SignIn, expected: &Expectations) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut check = |what: &str, outcome: Result<(), String>| {
        checks.push(Check { what: what.to_owned(), problem: outcome.err() })
    };
    check("GET /health responds with 200", status(visitor.get("/health").await, 200));
    check(
        "an unknown path returns the envelope and all headers",
        unknown_path(visitor, expected).await,
    );
    check("a preflight is allowed", preflight(visitor).await);
    check("pages of all origins can show a picture", picture(visitor).await);
    check("the catalogue is shared by callers for a minute", catalogue(visitor).await);
    check("a wrong password is rejected", wrong_password(visitor).await);
    match visitor.clone().signed_in(canary).await {
        Ok(person) => {
            check("the canary signs in", Ok(()));
            check("the token is in a header", token_in_header(&person).await);
            check("an unchanged resource returns 304", conditional(&person).await);
            check("a change is stored", write(&person).await);
            check("sign-out ends the session", sign_out(&person).await);
        }
        Err(problem) => check("the canary signs in", Err(problem)),
    }
    checks
}

fn status(response: Result<HttpResponse, String>, status: u16) -> Result<(), String> {
    response?.expect_status(status)
}

fn code(response: &HttpResponse, expected: &str) -> Result<(), String> {
    let code = response.json()["message"]["RESPONSE_CODE"].as_str().unwrap_or("none").to_owned();
    if code == expected { Ok(()) } else { Err(format!("its code is {code} instead of {expected}")) }
}

fn has(response: &HttpResponse, name: &str, value: &str) -> Result<(), String> {
    match response.header(name) {
        Some(actual) if actual == value => Ok(()),
        actual => Err(format!("{name} is {} instead of {value}", actual.unwrap_or("missing"))),
    }
}

async fn unknown_path(visitor: &Visitor, expected: &Expectations) -> Result<(), String> {
    let response = visitor.get("/nowhere").await?;
    response.expect_status(404)?;
    code(&response, "NOT_FOUND_MESSAGE")?;
    CONSTANT.into_iter().try_for_each(|(name, value)| has(&response, name, value))?;
    has(&response, "x-ratelimit-limit", &expected.rate_limit)?;
    has(&response, "x-powered-by", &expected.powered_by)?;
    let missing: Vec<&str> =
        VARYING.into_iter().filter(|name| response.header(name).is_none()).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("these headers are missing: {}", missing.join(", ")))
    }
}

async fn preflight(visitor: &Visitor) -> Result<(), String> {
    let page = visitor
        .clone()
        .with("origin", "https://page.example.org")?
        .with("access-control-request-method", "PUT")?;
    let response = page
        .with("access-control-request-headers", "authorization")?
        .call(Method::OPTIONS, "/users/me", None)
        .await?;
    response.expect_status(204)?;
    has(&response, "access-control-allow-methods", "GET,HEAD,PUT,PATCH,POST,DELETE")?;
    has(&response, "access-control-allow-headers", "authorization")
}

async fn picture(visitor: &Visitor) -> Result<(), String> {
    let response = visitor.outside_prefix().get("/media/default.png").await?;
    response.expect_status(200)?;
    has(&response, "content-type", "image/png")?;
    has(&response, "cross-origin-resource-policy", "cross-origin")
}

/// Behind CloudFront, which says so in `x-cache`, one caller gets what was kept for another.
async fn catalogue(visitor: &Visitor) -> Result<(), String> {
    let path = "/catalogue?limit=1";
    let response = visitor.get(path).await?;
    response.expect_status(200)?;
    has(&response, "cache-control", "public, max-age=60")?;
    if response.header("x-cache").is_none() {
        return Ok(());
    }
    let other =
        visitor.clone().with("authorization", "Bearer none")?.with("accept-language", "ar")?;
    // Requests may reach several caches of one location.
    for _ in 0..10 {
        if other.get(path).await?.header("x-cache").is_some_and(|cache| cache.starts_with("Hit")) {
            return Ok(());
        }
    }
    Err("CloudFront keeps no response for other callers".to_owned())
}

async fn wrong_password(visitor: &Visitor) -> Result<(), String> {
    let response = visitor
        .post(
            "/auth/login",
            &json!({ "email": "unknown@halqa.invalid", "password": "no password at all" }),
        )
        .await?;
    response.expect_status(401)?;
    code(&response, "BAD_AUTH_COMBINATION_MESSAGE")
}

/// API Gateway may rename `Authorization`; CloudFront, where it is used, restores the name.
async fn token_in_header(person: &Visitor) -> Result<(), String> {
    let response = person.get("/auth/check").await?;
    response.expect_status(200)?;
    let token = response.json()["user"]["token"].as_str().unwrap_or_default().to_owned();
    let actual = response
        .header("authorization")
        .or_else(|| response.header("x-amzn-remapped-authorization"));
    match actual {
        Some(actual) if actual == token => Ok(()),
        Some(_) => Err("the tokens in header and body differ".to_owned()),
        None => Err("Authorization and x-amzn-remapped-authorization are both missing".to_owned()),
    }
}

async fn conditional(person: &Visitor) -> Result<(), String> {
    let first = person.get("/auth/current-user").await?;
    let etag = first.header("etag").ok_or("the ETag is missing")?;
    status(person.clone().with("if-none-match", etag)?.get("/auth/current-user").await, 304)
}

async fn write(person: &Visitor) -> Result<(), String> {
    let response = person.get("/auth/current-user").await?;
    let id = response.json()["user"]["userID"].as_str().ok_or("the userID is missing")?.to_owned();
    let path = format!("/users/{id}");
    status(person.call(Method::PUT, &path, Some(&json!({ "name": "Canary" }))).await, 200)?;
    let name =
        person.get(&path).await?.json()["user"]["name"].as_str().unwrap_or_default().to_owned();
    if name == "Canary" { Ok(()) } else { Err(format!("the name reads {name}")) }
}

async fn sign_out(person: &Visitor) -> Result<(), String> {
    status(person.post("/auth/logout", &json!({})).await, 200)?;
    let response = person.get("/auth/check").await?;
    response.expect_status(401)?;
    // API Gateway may rename it.
    let why = response
        .header("www-authenticate")
        .or_else(|| response.header("x-amzn-remapped-www-authenticate"));
    why.map(|_| ()).ok_or_else(|| {
        "WWW-Authenticate and x-amzn-remapped-www-authenticate are both missing".to_owned()
    })
}
