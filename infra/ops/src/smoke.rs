//! Is a deployed URL what clients were promised?

use canary::{Reply, SignIn, Visitor};
use http::Method;
use serde_json::json;

/// One thing that was looked at.
#[derive(Debug)]
pub struct Check {
    /// What.
    pub what: String,
    /// What was wrong, if something was.
    pub problem: Option<String>,
}

/// The headers that stand on every enveloped answer with these very values. They are said here again: a test that
/// asked the code what it sends would find whatever it sends.
const CONSTANT: [(&str, &str); 16] = [
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("origin-agent-cluster", "?1"),
    ("referrer-policy", "no-referrer"),
    (
        "strict-transport-security",
        "max-age=15552000; includeSubDomains",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-dns-prefetch-control", "off"),
    ("x-download-options", "noopen"),
    ("x-frame-options", "SAMEORIGIN"),
    ("x-permitted-cross-domain-policies", "none"),
    ("x-xss-protection", "0"),
    ("access-control-allow-origin", "*"),
    ("access-control-allow-credentials", "true"),
    ("x-ratelimit-limit", "100"),
    ("content-type", "application/json; charset=utf-8"),
];

/// And those whose values vary.
const VARYING: [&str; 6] = [
    "retry-after",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-powered-by",
    "etag",
    "x-request-id",
];

/// Looks at everything that a client meets, as the canary: headers, sign-in, the
/// token's header, a conditional request, a write, a picture, and signing out. Goes on as far as it makes sense.
pub async fn smoke(visitor: &Visitor, canary: &SignIn) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut look = |what: &str, outcome: Result<(), String>| {
        checks.push(Check {
            what: what.to_owned(),
            problem: outcome.err(),
        })
    };
    look(
        "GET /health answers",
        status(visitor.get("/health").await, 200),
    );
    look(
        "a path that is not there has the envelope and every header",
        strange_path(visitor).await,
    );
    look("a preflight is allowed", preflight(visitor).await);
    look("a picture can be shown by any page", picture(visitor).await);
    look(
        "a wrong password is told as such",
        wrong_password(visitor).await,
    );
    match visitor.clone().signed_in(canary).await {
        Ok(person) => {
            look("the canary signs in", Ok(()));
            look(
                "its token stands in a header",
                token_in_header(&person).await,
            );
            look(
                "what did not change is not sent again",
                conditional(&person).await,
            );
            look("a write is kept", write(&person).await);
            look("who signed out is out", sign_out(&person).await);
        }
        Err(problem) => look("the canary signs in", Err(problem)),
    }
    checks
}

fn status(reply: Result<Reply, String>, status: u16) -> Result<(), String> {
    reply?.must_be(status)
}

fn code(reply: &Reply, expected: &str) -> Result<(), String> {
    let code = reply.json()["message"]["RESPONSE_CODE"]
        .as_str()
        .unwrap_or("none")
        .to_owned();
    if code == expected {
        Ok(())
    } else {
        Err(format!("its code is {code} instead of {expected}"))
    }
}

fn has(reply: &Reply, name: &str, value: &str) -> Result<(), String> {
    match reply.header(name) {
        Some(there) if there == value => Ok(()),
        there => Err(format!(
            "{name} is {} instead of {value}",
            there.unwrap_or("missing")
        )),
    }
}

async fn strange_path(visitor: &Visitor) -> Result<(), String> {
    let reply = visitor.get("/nowhere").await?;
    reply.must_be(404)?;
    code(&reply, "NOT_FOUND_MESSAGE")?;
    CONSTANT
        .into_iter()
        .try_for_each(|(name, value)| has(&reply, name, value))?;
    let missing: Vec<&str> = VARYING
        .into_iter()
        .filter(|name| reply.header(name).is_none())
        .collect();
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
    let reply = page
        .with("access-control-request-headers", "authorization")?
        .call(Method::OPTIONS, "/users/me", None)
        .await?;
    reply.must_be(204)?;
    has(
        &reply,
        "access-control-allow-methods",
        "GET,HEAD,PUT,PATCH,POST,DELETE",
    )?;
    has(&reply, "access-control-allow-headers", "authorization")
}

async fn picture(visitor: &Visitor) -> Result<(), String> {
    let reply = visitor.outside_prefix().get("/media/default.png").await?;
    reply.must_be(200)?;
    has(&reply, "content-type", "image/png")?;
    has(&reply, "cross-origin-resource-policy", "cross-origin")
}

async fn wrong_password(visitor: &Visitor) -> Result<(), String> {
    let reply = visitor
        .post(
            "/auth/login",
            &json!({ "email": "nobody@halqa.invalid", "password": "no password at all" }),
        )
        .await?;
    reply.must_be(401)?;
    code(&reply, "BAD_AUTH_COMBINATION_MESSAGE")
}

/// The gateway may rename `Authorization`; the content network, where there is one, names it back.
async fn token_in_header(person: &Visitor) -> Result<(), String> {
    let reply = person.get("/auth/check").await?;
    reply.must_be(200)?;
    let token = reply.json()["user"]["token"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let there = reply
        .header("authorization")
        .or_else(|| reply.header("x-amzn-remapped-authorization"));
    match there {
        Some(there) if there == token => Ok(()),
        Some(_) => Err("the header's token is another than the body's".to_owned()),
        None => Err("neither Authorization nor x-amzn-remapped-authorization is there".to_owned()),
    }
}

async fn conditional(person: &Visitor) -> Result<(), String> {
    let first = person.get("/auth/current-user").await?;
    let etag = first.header("etag").ok_or("there is no ETag")?;
    status(
        person
            .clone()
            .with("if-none-match", etag)?
            .get("/auth/current-user")
            .await,
        304,
    )
}

async fn write(person: &Visitor) -> Result<(), String> {
    let reply = person.get("/auth/current-user").await?;
    let id = reply.json()["user"]["userID"]
        .as_str()
        .ok_or("there is no userID")?
        .to_owned();
    let path = format!("/users/{id}");
    status(
        person
            .call(Method::PUT, &path, Some(&json!({ "name": "Canary" })))
            .await,
        200,
    )?;
    let name = person.get(&path).await?.json()["user"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if name == "Canary" {
        Ok(())
    } else {
        Err(format!("the name reads {name}"))
    }
}

async fn sign_out(person: &Visitor) -> Result<(), String> {
    status(person.post("/auth/logout", &json!({})).await, 200)?;
    let reply = person.get("/auth/check").await?;
    reply.must_be(401)?;
    // The gateway may rename it, and nothing behind it can help that.
    let why = reply
        .header("www-authenticate")
        .or_else(|| reply.header("x-amzn-remapped-www-authenticate"));
    why.map(|_| ()).ok_or_else(|| {
        "neither WWW-Authenticate nor x-amzn-remapped-www-authenticate is there".to_owned()
    })
}
