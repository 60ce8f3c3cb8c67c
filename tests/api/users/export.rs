use std::{collections::BTreeSet, time::Duration};

use cloud::faults::{Fault, Mode, Service};
use common::{ErrorCode, Message};
use domain::{Grant, Instant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, Person, World, texts_of};

use crate::files::fetch;

/// The field `export` of the response.
async fn export_of(person: &Person) -> Value {
    let path = format!("/users/{}/export", person.user().user_id);
    person.get(&path).await.expect_ok()["export"].clone()
}

/// Creates a course that can be published; returns its identifier.
async fn created_course(person: &Person, description: &str) -> String {
    let payload = json!({
        "courseTitle": "Soudure", "description": description, "courseType": "ONLINE",
        "sectionOfMatter": "Métal", "contactEmail": "cours@example.org",
    });
    let created = person.post("/courses", payload).await;
    created.expect_success(Message::CourseCreated)["course"]["courseID"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn published_course(person: &Person) -> String {
    let id = created_course(person, "Tout ce qu’il faut savoir.").await;
    let answer = person.post(&format!("/courses/{id}/publish"), json!({})).await;
    answer.expect_success(Message::CoursePublished);
    id
}

/// The identifiers of the courses in `export`, each of which must be there once.
fn course_ids(export: &Value) -> BTreeSet<String> {
    let courses = texts_of(&export["courses"], "courseID");
    let ids = BTreeSet::from_iter(courses.clone());
    assert_eq!(ids.len(), courses.len());
    ids
}

/// Changes `person` as a super admin, and signs them in again.
async fn changed(world: &World, person: &Person, payload: Value) -> Person {
    let id = person.user().user_id;
    world.admin().await.change_member(id, payload).await;
    world.signed_in(world.user(id).await).await
}

#[tokio::test]
async fn export_contains_everything_stored_about_the_caller() {
    let (world, member) = World::with_member().await;
    let id = member.user().user_id;
    world.admin().await.change_member(id, json!({ "role": "Trésorière" })).await;
    let export = member.get(&format!("/users/{id}/export")).await.expect_ok()["export"].clone();
    assert_eq!(export["user"].as_object().unwrap().len(), 18);
    for (list, count) in
        [("activity", 1), ("sessions", 1), ("audit", 0), ("files", 0), ("courses", 0), ("sms", 0)]
    {
        assert_eq!(export[list].as_array().unwrap().len(), count, "{list}");
    }
}

#[tokio::test]
async fn export_contains_own_files_and_courses() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let other = world.person(Profile::Trainer).await;
    let file = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    for person in [&trainer, &other] {
        person.post("/files", file.clone()).await.expect_success(Message::FileCreated);
        for title in ["Soudure", "Brasage"] {
            let answer = person.post("/courses", json!({ "courseTitle": title })).await;
            let course = answer.expect_success(Message::CourseCreated)["course"].clone();
            if title == "Soudure" {
                let path = format!("/courses/{}", course["courseID"].as_str().unwrap());
                person.delete(&path).await.expect_success(Message::CourseArchived);
            }
        }
    }
    let answer = trainer.get(&format!("/users/{}/export", trainer.user().user_id)).await;
    let export = answer.expect_ok()["export"].clone();
    let courses = export["courses"].as_array().unwrap();
    let mut states = texts_of(&export["courses"], "state");
    states.sort_unstable();
    assert_eq!(states, ["ARCHIVED", "DRAFT"]);
    assert!(courses.iter().all(|course| course["createdBy"] == json!(trainer.user().user_id)
        && course.as_object().unwrap().len() == 26));
    assert_eq!(
        (export["files"].as_array().unwrap().len(), &export["files"][0]["name"]),
        (1, &json!("a.txt"))
    );
}

#[tokio::test]
async fn export_contains_sent_messages() {
    let world = World::new().await;
    let (sender, other) = (world.person(Profile::CommitteeAdmin).await, world.admin().await);
    for person in [&sender, &other] {
        let body = json!({ "to": "+21620123456", "message": "Bonjour" });
        person.post("/sms/single", body).await.expect_success(Message::SmsAccepted);
    }
    let answer = sender.get(&format!("/users/{}/export", sender.user().user_id)).await;
    let sms = answer.expect_ok()["export"]["sms"].clone();
    assert_eq!(
        (sms.as_array().unwrap().len(), &sms[0]["userID"]),
        (1, &json!(sender.user().user_id))
    );
}

#[tokio::test]
async fn export_of_200_long_courses_is_whole_behind_a_link() {
    let world = World::with(&[("RATE_LIMIT", "1000000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let (mut expected, description) = (BTreeSet::new(), "a".repeat(20_000));
    for _ in 0..200 {
        expected.insert(created_course(&trainer, &description).await);
    }
    // An upload has more time than a request to the tables.
    let slow = Fault { delay_ms: Some(1_200), ..Fault::new(Mode::Slow).on("PutObject") };
    world.inject_fault_in(Service::S3, slow);
    let link = export_of(&trainer).await;
    let url = link["url"].as_str().unwrap();
    let (status, headers, body) = fetch(url).await;
    assert_eq!(status, 200);
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(
        headers["content-disposition"],
        "attachment; filename=\"export.json\"; filename*=UTF-8''export.json"
    );
    let export: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(course_ids(&export), expected);
    assert_eq!(export["user"]["userID"], json!(trainer.user().user_id));
    assert_eq!(export.as_object().unwrap().len(), 10);
    assert!(url.contains("X-Amz-Expires=300"), "{url}");
    let expires_at: Instant = link["expiresAt"].as_str().unwrap().parse().unwrap();
    let latest = world.clock().now().after(Duration::from_secs(300));
    assert!(expires_at <= latest, "{expires_at}");
}

#[tokio::test]
async fn export_link_opens_only_its_own_object() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    for _ in 0..52 {
        created_course(&trainer, &"🔥".repeat(20_000)).await;
    }
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse).on("PutObject"));
    let answer = trainer.get(&format!("/users/{}/export", trainer.user().user_id)).await;
    answer.expect_error(ErrorCode::Unavailable);
    world.clear_faults();
    let (link, other) = (export_of(&trainer).await, export_of(&trainer).await);
    let (object, signature) = link["url"].as_str().unwrap().split_once('?').unwrap();
    let (other_object, _) = other["url"].as_str().unwrap().split_once('?').unwrap();
    assert_ne!(object, other_object);
    for url in [other_object.to_owned(), format!("{other_object}?{signature}")] {
        assert_eq!(fetch(&url).await.0, 403, "{url}");
    }
}

#[tokio::test]
async fn author_who_moved_does_not_export_drafts_of_the_former_committee() {
    let world = World::new().await;
    let sfax = world.another_committee("Sfax", true).await;
    let trainer = world.person(Profile::Trainer).await;
    let old_draft = created_course(&trainer, "Ancien cours.").await;
    let published = published_course(&trainer).await;
    let trainer = changed(&world, &trainer, json!({ "committeeID": sfax })).await;
    let new_draft = created_course(&trainer, "Nouveau cours.").await;
    trainer.get(&format!("/courses/{old_draft}")).await.expect_error(ErrorCode::CourseNotFound);
    assert_eq!(course_ids(&export_of(&trainer).await), BTreeSet::from([published, new_draft]));
}

#[tokio::test]
async fn unverified_author_exports_published_courses_only() {
    let world = World::new().await;
    let author = NewPerson::with(Profile::Trainer).granted(&[Grant::SmsSend]);
    let trainer = world.person(author).await;
    created_course(&trainer, "Cours inachevé.").await;
    let published = published_course(&trainer).await;
    let body = json!({ "to": "+21620123456", "message": "Bonjour" });
    trainer.post("/sms/single", body).await.expect_success(Message::SmsAccepted);
    let trainer = changed(&world, &trainer, json!({ "isVerified": false })).await;
    let export = export_of(&trainer).await;
    assert_eq!(course_ids(&export), BTreeSet::from([published]));
    assert_eq!(export["sms"], json!([]));
}

#[tokio::test]
async fn export_contains_the_audit_entries_that_its_owner_may_read() {
    let world = World::new().await;
    let sfax = world.another_committee("Sfax", true).await;
    let member = world.member().await;
    let far = world.account(&NewPerson::with(Profile::Member).of(sfax)).await;
    let chief = world.person(Profile::CommitteeAdmin).await;
    chief.change_member(member.user().user_id, json!({ "role": "x" })).await;
    let chief = changed(&world, &chief, json!({ "committeeID": sfax })).await;
    chief.change_member(far.user_id, json!({ "role": "y" })).await;
    for (person, count) in [(world.admin().await, 1), (chief, 1)] {
        let audit = export_of(&person).await["audit"].clone();
        let path = format!("/audit?userID={}", person.user().user_id);
        assert_eq!(audit, person.get(&path).await.expect_ok()["audit"]);
        assert_eq!(audit.as_array().unwrap().len(), count);
    }
    assert_eq!(export_of(&member).await["audit"], json!([]));
}

#[tokio::test]
async fn export_contains_no_expired_entries() {
    const DAY: Duration = Duration::from_secs(86_400);
    let (world, sender) = World::with_person(Profile::CommitteeAdmin).await;
    let body = json!({ "to": "+21620123456", "message": "Bonjour" });
    sender.post("/sms/single", body).await.expect_success(Message::SmsAccepted);
    let sender = changed(&world, &sender, json!({ "role": "Trésorière" })).await;
    let counts = async |sender: &Person| {
        let export = export_of(sender).await;
        ["activity", "sessions", "sms", "audit"].map(|list| export[list].as_array().unwrap().len())
    };
    assert_eq!(counts(&sender).await, [2, 2, 1, 1]);
    // The items are still stored: their deletion lags.
    world.clock().advance(DAY * 400);
    let sender = world.signed_in(sender.user().clone()).await;
    assert_eq!(counts(&sender).await, [1, 1, 0, 1]);
    world.clock().advance(DAY * (5 * 365 - 400));
    let sender = world.signed_in(sender.user().clone()).await;
    assert_eq!(counts(&sender).await, [1, 1, 0, 0]);
}

#[tokio::test]
async fn export_contains_more_sessions_than_a_page() {
    let (world, member) = World::with_member().await;
    for _ in 0..100 {
        world.signed_in(member.user().clone()).await;
    }
    let export = export_of(&member).await;
    for list in ["sessions", "activity"] {
        assert_eq!(export[list].as_array().unwrap().len(), 101, "{list}");
    }
}

#[tokio::test]
async fn eleventh_export_within_an_hour_is_refused() {
    let (world, member) = World::with_member().await;
    let path = format!("/users/{}/export", member.user().user_id);
    for _ in 0..10 {
        member.get(&path).await.expect_ok();
    }
    member.get(&path).await.expect_error(ErrorCode::TooManyAttempts);
    world.clock().advance(Duration::from_secs(3600));
    member.get(&path).await.expect_ok();
}
