//! `cargo dev seed`: the demonstration data, with which the requests of the document's examples succeed.

use std::collections::BTreeSet;

use common::{ErrorCode, Message};
use dev::seed;
use http::Method;
use serde_json::Value;
use tests::{Answer, Document, PASSWORD, Person, World};

/// Operations whose example does not succeed, and why.
const REFUSED: [(&str, &str); 11] = [
    ("changeAvatar", "an example cannot contain the bytes of a picture"),
    ("createPasskey", "takes the answer of an authenticator"),
    ("disableOtp", "takes a code that an authenticator app shows"),
    ("removeAccount", "takes a code that was mailed"),
    ("renewRecoveryCodes", "takes a code that an authenticator app shows"),
    ("resetPassword", "takes a code that was mailed"),
    ("signInPasswordless", "takes a code that was mailed"),
    ("signInWithPasskey", "takes the answer of an authenticator"),
    ("verifyEmail", "takes a code that was mailed"),
    ("verifyOtp", "takes a code that an authenticator app shows"),
    ("verifyPhone", "takes a code that was sent as a text message"),
];
/// Sent after the others: they end the session or change the password.
const LAST: [&str; 2] = ["changePassword", "logout"];

/// The person with the address `email`, signed in.
async fn seeded(world: &World, email: &str) -> Person {
    let anonymous = world.anonymous();
    let body = anonymous.login(email, PASSWORD).await.expect_success(Message::LoginSuccess);
    anonymous.with_token(body["user"]["token"].as_str().unwrap())
}

/// `value`, or what its `$ref` points to.
fn resolved(value: &Value) -> &Value {
    let Some(reference) = value["$ref"].as_str() else { return value };
    Document::get().root().pointer(reference.trim_start_matches('#')).unwrap()
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

#[tokio::test]
async fn examples_of_the_document_succeed_in_a_seeded_store() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    world.seed().await;
    let offered = seed::accounts(&world.setup().store, ["", ""]).await.unwrap();
    assert_eq!(offered.len(), 4, "{offered:?}");
    let person = seeded(&world, offered[0]["email"].as_str().unwrap()).await;

    let paths = Document::get().root()["paths"].as_object().unwrap().iter();
    let mut operations: Vec<_> = paths
        .flat_map(|(path, item)| {
            let operations = item.as_object().unwrap().iter();
            operations.map(move |(method, operation)| (method.as_str(), path.as_str(), operation))
        })
        .filter(|(_, _, operation)| operation["operationId"].is_string())
        .collect();
    operations.sort_by_key(|(_, _, operation)| {
        LAST.iter().position(|id| operation["operationId"] == *id)
    });
    let (mut succeeded, mut refused) = (0, Vec::new());
    for operation in operations {
        let answer = send_example(&world, &person, operation).await;
        if (200..300).contains(&answer.status) {
            succeeded += 1;
        } else {
            refused.push((operation.2["operationId"].as_str().unwrap(), answer));
        }
    }
    refused.sort_by_key(|(id, _)| *id);
    let ids: Vec<&str> = refused.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, REFUSED.map(|(id, _)| id), "{refused:#?}");
    assert!(succeeded >= 62, "{succeeded}");
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
