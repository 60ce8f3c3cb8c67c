//! `cargo dev seed`: the demonstration data, with which the requests of the document's examples succeed.

use std::collections::BTreeSet;

use dev::{operations::operations, seed};
use serde_json::Value;
use tests::{Answer, Document, PASSWORD, Person, World};

/// Operations whose example does not succeed, and why.
const REFUSED: [(&str, &str); 12] = [
    (
        "GET /registrations/{courseId}/{userId}/files/{questionId}",
        "no question of the course asks for a file",
    ),
    ("POST /users/avatar", "an example cannot contain the bytes of a picture"),
    ("POST /passkeys", "takes the answer of an authenticator"),
    ("DELETE /otp", "takes a code that an authenticator app shows"),
    ("POST /users/not-me", "takes a code that was mailed"),
    ("POST /otp/recovery-codes", "takes a code that an authenticator app shows"),
    ("POST /users/reset-password", "takes a code that was mailed"),
    ("GET /auth/passwordless", "takes a code that was mailed"),
    ("POST /auth/passkey", "takes the answer of an authenticator"),
    ("PUT /users/email-verification", "takes a code that was mailed"),
    ("POST /otp/verify", "takes a code that an authenticator app shows"),
    ("PUT /users/phone-verification", "takes a code that was sent as a text message"),
];
/// Sent after the others: they end the session or change the password.
const LAST: [&str; 2] = ["changePassword", "logout"];

/// The browser of all calls.
pub(crate) fn browser(world: &World) -> Person {
    let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";
    world.anonymous().at("203.0.113.7").with("user-agent", agent)
}

/// The person with the address `email`, signed in.
async fn seeded(world: &World, email: &str) -> Person {
    let anonymous = browser(world);
    let body = anonymous.sign_in(email, PASSWORD).await;
    anonymous.with_token(body["user"]["token"].as_str().unwrap())
}

/// Seeds `world` and sends the example of every operation, with a token unless it is public; returns its method and
/// path, and the answer.
pub(crate) async fn answers_to_examples(world: &World) -> Vec<(String, Answer)> {
    world.seed().await;
    let offered = seed::accounts(&world.setup().store, ["", ""]).await.unwrap();
    assert_eq!(offered.len(), 4, "{offered:?}");
    let person = seeded(world, offered[0]["email"].as_str().unwrap()).await;
    let anonymous = browser(world);
    let mut operations = operations();
    operations.sort_by_key(|operation| LAST.iter().position(|id| operation.id == *id));
    let mut answers = Vec::new();
    for one in operations {
        let caller = if one.access == "public" { &anonymous } else { &person };
        // The first request opens the window of the rate limit, in which the measured one counts.
        caller.get("/nowhere").await;
        let prefix = if one.path.starts_with("/media") { "" } else { "/api/v1" };
        let body = one.body.map(|body| body.to_string()).unwrap_or_default();
        let method = one.method.parse().unwrap();
        let path = format!("{prefix}{}", one.whole_target);
        let caller = caller.json().with("accept", "application/json");
        let answer = caller.send(method, &path, body.into()).await;
        answers.push((format!("{} {}", one.method, one.path), answer));
    }
    answers
}

#[tokio::test]
async fn examples_of_the_document_succeed_in_a_seeded_store() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    let answers = answers_to_examples(&world).await;
    let refused: Vec<_> =
        answers.iter().filter(|(_, answer)| !(200..300).contains(&answer.status)).collect();
    let expected: BTreeSet<&str> = REFUSED.iter().map(|(operation, _)| *operation).collect();
    let names: BTreeSet<&str> = refused.iter().map(|(operation, _)| operation.as_str()).collect();
    assert_eq!(names, expected, "{refused:?}");
}

/// The examples in `node`, which stands at `pointer`, that differ from the schema beside them, and how.
fn wrong_examples(document: &Document, node: &Value, pointer: &str) -> Vec<String> {
    let Some(fields) = node.as_object() else {
        return Vec::new();
    };
    if fields.contains_key("schema") {
        let several = fields.get("examples").and_then(Value::as_object).into_iter().flatten();
        let values = several.map(|(_, one)| &one["value"]).chain(fields.get("example"));
        let schema = format!("{pointer}/schema");
        let errors = values.flat_map(|value| document.errors(&schema, value));
        return errors.map(|error| format!("{pointer}: {error}")).collect();
    }
    let below = fields.iter().flat_map(|(name, field)| {
        let name = name.replace('~', "~0").replace('/', "~1");
        wrong_examples(document, field, &format!("{pointer}/{name}"))
    });
    below.collect()
}

#[test]
fn examples_of_the_document_fit_their_schemas() {
    let document = Document::get();
    let wrong = wrong_examples(document, document.root(), "");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn seeding_shows_every_state_and_happens_once() {
    let world = World::new().await;
    world.seed().await;
    world.deliver().await;
    let count = || world.items("records").len();
    let before = count();
    world.seed().await;
    assert_eq!(count(), before, "the second run adds nothing");

    let salma = seeded(&world, "salma.khelifi@example.org").await;
    let values = async |path: &str, list: &str, field: &str| -> BTreeSet<String> {
        let body = salma.get(path).await.expect_ok();
        let items = body[list].as_array().unwrap().iter();
        items.map(|item| item[field].to_string().replace('"', "")).collect()
    };
    let messages = values("/sms?scope=committee&limit=100", "sms", "status").await;
    let states = ["DELIVERED", "FAILED", "SENDING", "SENT", "UNDELIVERED", "UNKNOWN"];
    assert_eq!(Vec::from_iter(messages), states);
    let profiles = values("/users/my-committee-users?limit=100", "users", "profile").await;
    assert_eq!(Vec::from_iter(profiles), ["CA", "MB", "SA", "TR"]);
    for (q, language) in
        [("secourisme", "FR"), ("%D8%A7%D9%84%D9%85%D9%87%D9%86%D9%8A%D9%87", "AR")]
    {
        let path = format!("/courses/search-all?q={q}");
        assert_eq!(Vec::from_iter(values(&path, "courses", "language").await), [language]);
    }
    let inactive = world.anonymous().login("fatma.mejri@example.org", PASSWORD).await;
    inactive.expect_unauthorized();
}
