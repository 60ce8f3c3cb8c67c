//! `cargo dev seed`: the demonstration data for front-end developers.

use std::collections::BTreeSet;

use common::{ErrorCode, Message};
use domain::question::QuestionType;
use serde_json::{Value, json};
use tests::{PASSWORD, Person, World};

/// The person of the demonstration data with the address `email`, signed in.
async fn seeded(world: &World, email: &str) -> Person {
    let anonymous = world.anonymous();
    let answer = anonymous.login(email, PASSWORD).await;
    let body = answer.expect_success(Message::LoginSuccess);
    anonymous.with_token(body["user"]["token"].as_str().unwrap())
}

/// The different values of `field` in the list `noun` that `person` sees at `path`.
async fn values(person: &Person, path: &str, noun: &str, field: &str) -> BTreeSet<String> {
    let body = person.get(path).await.expect_ok();
    assert_eq!(body["nextCursor"], Value::Null, "{path} has one page");
    let list = body[noun].as_array().unwrap();
    let value = |item: &Value| item[field].to_string().replace('"', "");
    list.iter().map(value).collect()
}

#[tokio::test]
async fn seeding_creates_people_courses_and_files_in_every_state() {
    let world = World::new().await;
    world.seed().await;
    world.cloud().settle();
    let salma = seeded(&world, "salma.khelifi@example.org").await;
    let users = async |field: &str| {
        let path = "/users/my-committee-users?limit=100";
        values(&salma, path, "users", field).await
    };
    assert_eq!(Vec::from_iter(users("profile").await), ["CA", "MB", "SA", "TR"]);
    assert_eq!(Vec::from_iter(users("isActive").await), ["false", "true"]);
    let waiting = seeded(&world, "khadija.damak@example.com").await;
    let body = waiting.get("/auth/current-user").await.expect_ok();
    assert_eq!(body["user"]["isVerified"], false);
    let inactive = world.anonymous();
    let answer = inactive.login("fatma.mejri@example.org", PASSWORD).await;
    answer.expect_error(ErrorCode::BadAuthCombination);

    let admin = world.admin().await;
    let committees = values(&admin, "/committees?limit=100", "committees", "isActive").await;
    assert_eq!(Vec::from_iter(committees), ["false", "true"]);
    let stored = Value::from(world.items("records")).to_string();
    for value in ["DRAFT", "PUBLISHED", "ARCHIVED", "FR", "AR"] {
        assert!(stored.contains(&json!(value).to_string()), "{value}");
    }
    for question_type in QuestionType::ALL {
        let value = json!(question_type).to_string();
        assert!(stored.contains(&value), "{value}");
    }

    let (nizar, rim) = ("nizar.gharsalli@example.org", "rim.letaief@example.org");
    let (nizar, rim) = (seeded(&world, nizar).await, seeded(&world, rim).await);
    let files = values(&nizar, "/files/my-files", "files", "status").await;
    assert_eq!(Vec::from_iter(files), ["PENDING", "READY"]);
    let own = values(&nizar, "/files/my-files", "files", "visibility").await;
    assert_eq!(Vec::from_iter(own), ["private", "public"]);
    let body = rim.get("/files/my-files").await.expect_ok();
    assert!(body["files"][0]["url"].is_string(), "{body}");

    let activity = nizar.get("/users/activity").await.expect_ok();
    assert_eq!(activity["activity"][1]["browser"], "Firefox");
    let audit = values(&salma, "/audit?limit=100", "audit", "targetType").await;
    assert!(audit.len() > 2, "{audit:?}");
}

#[tokio::test]
async fn seeding_creates_text_messages_in_every_state() {
    let world = World::new().await;
    world.seed().await;
    world.cloud().settle();
    let salma = seeded(&world, "salma.khelifi@example.org").await;
    let states = values(&salma, "/sms?limit=100", "sms", "status").await;
    assert_eq!(
        Vec::from_iter(states),
        ["DELIVERED", "FAILED", "QUEUED", "SENDING", "SENT", "UNDELIVERED", "UNKNOWN"]
    );
    let opt_outs = salma.get("/sms/opt-outs").await.expect_ok();
    assert_eq!(opt_outs["optOuts"].as_array().unwrap().len(), 1);

    let list = salma.get("/sms?limit=100").await.expect_ok();
    let messages = list["sms"].as_array().unwrap();
    let batches: BTreeSet<&str> =
        messages.iter().filter_map(|sms| sms["batchID"].as_str()).collect();
    let mut rejected = Vec::new();
    for id in batches {
        let batch = &salma.get(&format!("/sms/bulk/{id}")).await.expect_ok()["batch"];
        rejected.push((batch["rejected"].clone(), batch["duplicates"].clone()));
    }
    assert_eq!(rejected, [(json!(2), json!(1)), (json!(0), json!(0))]);
}

#[tokio::test]
async fn demonstration_data_is_valid_searchable_and_loaded_once() {
    let world = World::new().await;
    world.seed().await;
    world.deliver().await;
    let count = || world.items("records").len();
    let before = count();
    world.seed().await;
    assert_eq!(count(), before, "the second run adds nothing");
    let admin = world.admin().await;
    let found = async |q: &str| {
        let q: String = form_urlencoded::byte_serialize(q.as_bytes()).collect();
        let body = admin.get(&format!("/courses/search-all?limit=100&q={q}")).await.expect_ok();
        body["courses"].as_array().unwrap().clone()
    };
    assert_eq!(found("").await.len(), 16);
    let of = |language: &str, courses: &[Value]| {
        courses.iter().filter(|course| course["language"] == language).count()
    };
    let (french, arabic) = (found("securite").await, found("المهنيه").await);
    assert!(of("FR", &french) > 0 && of("AR", &arabic) > 0, "{} {}", french.len(), arabic.len());
}
