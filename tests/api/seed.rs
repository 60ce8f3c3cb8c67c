//! `cargo dev seed`: the demonstration data, with which the requests of the document's examples succeed.

use std::collections::BTreeSet;

use common::{ErrorCode, Message};
use dev::{
    operations::{DOCUMENT, operations, resolved},
    seed,
};
use http::Method;
use serde_json::Value;
use tests::{Answer, PASSWORD, Person, World};

/// Operations whose example does not succeed, and why.
const REFUSED: [(&str, &str); 11] = [
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

/// The person with the address `email`, signed in.
async fn seeded(world: &World, email: &str) -> Person {
    let anonymous = world.anonymous();
    let body = anonymous.login(email, PASSWORD).await.expect_success(Message::LoginSuccess);
    anonymous.with_token(body["user"]["token"].as_str().unwrap())
}

/// Sends the request of the examples of `operation`, with the token of `person` unless it is public.
async fn send_example(
    world: &World,
    person: &Person,
    (method, path, operation): (&str, &str, &Value),
) -> Answer {
    let is_public = operation["security"].as_array().is_some_and(Vec::is_empty);
    let person = if is_public { &world.anonymous() } else { person };
    let mut person = person.with("accept", "application/json").json();
    let prefix = if path.starts_with("/media") { "" } else { "/api/v1" };
    let (mut path, mut query) =
        (format!("{prefix}{path}"), form_urlencoded::Serializer::new(String::new()));
    for parameter in operation["parameters"].as_array().into_iter().flatten().map(resolved) {
        let (name, example) = (parameter["name"].as_str().unwrap(), &parameter["example"]);
        let example = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
        match parameter["in"].as_str().unwrap() {
            _ if example == "null" => {}
            "path" => path = path.replace(&format!("{{{name}}}"), &example),
            "query" => drop(query.append_pair(name, &example)),
            _ => person = person.with(name, &example),
        }
    }
    let json = &operation["requestBody"]["content"]["application/json"];
    let first = json["examples"].as_object().and_then(|examples| examples.values().next());
    let body = first.map_or(&json["example"], |example| &example["value"]);
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
    person.send(method, &format!("{path}?{}", query.finish()), body.into()).await
}

/// Seeds `world` and sends the example of every operation; returns its method and path, and the answer.
pub(crate) async fn answers_to_examples(world: &World) -> Vec<(String, Answer)> {
    world.seed().await;
    let offered = seed::accounts(&world.setup().store, ["", ""]).await.unwrap();
    assert_eq!(offered.len(), 4, "{offered:?}");
    let person = seeded(world, offered[0]["email"].as_str().unwrap()).await;
    let mut operations = operations();
    operations.sort_by_key(|operation| LAST.iter().position(|id| operation.id == *id));
    let mut answers = Vec::new();
    for one in operations {
        let document = &DOCUMENT["paths"][&one.path][one.method.to_lowercase()];
        let answer = send_example(world, &person, (&one.method, &one.path, document)).await;
        answers.push((format!("{} {}", one.method, one.path), answer));
    }
    answers
}

#[tokio::test]
async fn examples_of_the_document_succeed_in_a_seeded_store() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    let answers = answers_to_examples(&world).await;
    let refused = answers.iter().filter(|(_, answer)| !(200..300).contains(&answer.status));
    let refused: Vec<_> = refused.collect();
    let expected: BTreeSet<&str> = REFUSED.iter().map(|(operation, _)| *operation).collect();
    let names: BTreeSet<&str> = refused.iter().map(|(operation, _)| operation.as_str()).collect();
    assert_eq!(names, expected, "{refused:#?}");
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
    inactive.expect_error(ErrorCode::BadAuthCombination);
}
