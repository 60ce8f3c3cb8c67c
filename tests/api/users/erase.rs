use std::time::Duration;

use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use http::Method;
use local::faults::{Fault, Mode, Service};
use serde_json::{Value, json};
use tests::{Answer, PASSWORD, Person, Someone, World};

async fn erase(by: &Person, id: impl std::fmt::Display, wish: Value) -> Answer {
    by.json()
        .send(
            Method::DELETE,
            &format!("/api/v1/users/{id}"),
            wish.to_string().into(),
        )
        .await
}

#[tokio::test]
async fn nothing_personal_is_left_and_the_address_is_free_again() {
    let world = World::new().await;
    let member = world
        .person(Someone::with(Profile::Member).reached_at("216", "20123456"))
        .await;
    let (id, email) = (member.user().user_id, member.user().email.to_string());
    let picture = include_bytes!("../../../functions/files/src/default.png");
    let sent = member
        .with("content-type", "image/png")
        .send(
            Method::POST,
            "/api/v1/users/avatar",
            picture.as_slice().into(),
        )
        .await;
    let avatar = sent.tells(Message::AvatarUpdated)["avatar"]
        .as_str()
        .unwrap()
        .to_owned();
    erase(&member, id, json!({}))
        .await
        .refuses_field("password", ErrorCode::FieldRequired);
    erase(&member, id, json!({ "password": "x" }))
        .await
        .refuses(ErrorCode::BadAuthCombination);
    erase(&member, id, json!({ "password": PASSWORD }))
        .await
        .tells(Message::UserDeleted);
    member
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    world
        .stranger()
        .login(&email, PASSWORD)
        .await
        .refuses(ErrorCode::BadAuthCombination);
    world
        .admin()
        .await
        .get(&format!("/users/{id}"))
        .await
        .refuses(ErrorCode::UserNotFound);
    world.deliver().await;
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    let left: Vec<String> = world
        .items("records")
        .iter()
        .map(Value::to_string)
        .filter(|item| item.contains(&id.to_string()))
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
    for trace in [
        email.as_str(),
        "20123456",
        "Ben Salah",
        "Amina",
        "duePk",
        "listPk",
    ] {
        assert!(!left[0].contains(trace), "{trace} in {left:?}");
    }
    world
        .stranger()
        .send(Method::GET, &avatar, "".into())
        .await
        .refuses(ErrorCode::NotFound);
    let wish = json!({ "name": "Amel", "lastName": "Trabelsi", "email": email, "password": "clé de sol et fa", "committeeID": world.committee() });
    world
        .stranger()
        .post("/users/register", wish)
        .await
        .tells(Message::UserRegistered);
}

/// A file goes with its owner; a course is its committee's, and so is the address that it gives from then on.
#[tokio::test]
async fn files_go_and_courses_stay_with_their_committee() {
    let world = World::new().await;
    let (trainer, reader) = (
        world.person(Someone::with(Profile::Trainer)).await,
        world.person(Someone::with(Profile::CommitteeAdmin)).await,
    );
    let id = trainer.user().user_id;
    let file =
        json!({ "name": "a.txt", "contentType": "text/plain", "size": 5, "visibility": "public" });
    trainer
        .post("/files", file)
        .await
        .tells(Message::FileCreated);
    let wish = |title: &str| {
        json!({
            "courseTitle": title, "description": "Tout ce qu’il faut savoir, en trois jours.", "courseType": "ONLINE", "sectionOfMatter": "Énergie",
            "contactPerson": "Amina Ben Salah", "contactPhone": "+21620123456", "contactEmail": "amina@example.org",
        })
    };
    let mut courses = Vec::new();
    for title in ["Soudure", "Brasage", "Forge"] {
        let course = trainer
            .post("/courses", wish(title))
            .await
            .tells(Message::CourseCreated)["course"]
            .clone();
        courses.push(format!("/courses/{}", course["courseID"].as_str().unwrap()));
    }
    trainer
        .post(&format!("{}/publish", courses[0]), json!({}))
        .await
        .tells(Message::CoursePublished);
    trainer
        .delete(&courses[2])
        .await
        .tells(Message::CourseArchived);
    erase(&trainer, id, json!({ "password": PASSWORD }))
        .await
        .tells(Message::UserDeleted);
    world.deliver().await;
    for path in &courses {
        let course = reader.get(path).await.shows()["course"].clone();
        let committee = reader.user().committee_id.to_string();
        let (phone, email) = ("+21671123456", "admin@example.org");
        assert_eq!(
            (
                &course["contactPerson"],
                &course["contactPhone"],
                &course["contactEmail"]
            ),
            (&json!(null), &json!(phone), &json!(email))
        );
        assert_eq!(
            (&course["committeeID"], &course["createdBy"]),
            (&json!(committee), &json!(id))
        );
    }
    assert_eq!(
        reader.get("/courses/search-all?q=soudure").await.shows()["courses"][0]["courseTitle"],
        "Soudure"
    );
    world.clock().advance(Duration::from_secs(901));
    world.sweep().await;
    let items: Vec<String> = world
        .items("records")
        .iter()
        .map(Value::to_string)
        .collect();
    assert!(!items.iter().any(|item| item.contains("FILE#")
        || item.contains("amina@")
        || item.contains("20123456")));
}

/// Somebody may be at work for him on another machine while he is erased.
#[tokio::test]
async fn what_comes_while_a_person_is_erased_goes_too() {
    let world = World::new().await;
    let member = world.member().await;
    let file =
        json!({ "name": "a.txt", "contentType": "text/plain", "size": 5, "visibility": "public" });
    let mut slow = Fault::new(Mode::Slow).on("TransactWriteItems").times(1);
    slow.delay_ms = Some(500);
    world.strike(slow);
    let posting = tokio::spawn({
        let (member, file) = (member.clone(), file.clone());
        async move { member.post("/files", file).await }
    });
    while !world.cloud().faults().left().is_empty() {
        tokio::task::yield_now().await;
    }
    erase(
        &member,
        member.user().user_id,
        json!({ "password": PASSWORD }),
    )
    .await
    .tells(Message::UserDeleted);
    world.deliver().await;
    posting.await.unwrap().tells(Message::FileCreated);
    for _ in 0..2 {
        world.clock().advance(Duration::from_secs(901));
        world.sweep().await;
        world.deliver().await;
    }
    assert!(
        !world
            .items("records")
            .iter()
            .any(|item| item["pk"]["S"].as_str().unwrap().starts_with("FILE#"))
    );
}

#[tokio::test]
async fn files_are_hidden_although_the_bucket_will_not_let_a_picture_go() {
    let world = World::new().await;
    let member = world.member().await;
    let picture = include_bytes!("../../../functions/files/src/default.png");
    let sent = member
        .with("content-type", "image/png")
        .send(
            Method::POST,
            "/api/v1/users/avatar",
            picture.as_slice().into(),
        )
        .await;
    sent.tells(Message::AvatarUpdated);
    let file = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    let id = member
        .post("/files", file)
        .await
        .tells(Message::FileCreated)["file"]["fileID"]
        .as_str()
        .unwrap()
        .to_owned();
    world.strike_at(Service::S3, Fault::new(Mode::Refuse));
    erase(
        &member,
        member.user().user_id,
        json!({ "password": PASSWORD }),
    )
    .await
    .tells(Message::UserDeleted);
    world.deliver().await;
    let shown = world
        .setup()
        .store
        .file(domain::FileId::in_path(&id))
        .await
        .unwrap();
    assert_eq!(shown, None);
}

#[tokio::test]
async fn a_super_admin_erases_anybody_and_it_is_noted_without_what_was_personal() {
    let world = World::new().await;
    let admin = world.admin().await;
    let member = world.member().await;
    erase(&admin, member.user().user_id, json!({}))
        .await
        .tells(Message::UserDeleted);
    erase(&admin, member.user().user_id, json!({}))
        .await
        .refuses(ErrorCode::UserNotFound);
    let audit = admin.get("/audit").await.shows()["audit"].clone();
    assert_eq!(
        (&audit[0]["action"], &audit[0]["targetID"]),
        (&json!("USER_DELETED"), &json!(member.user().user_id))
    );
    assert!(
        !audit.to_string().contains(member.user().email.as_str()),
        "{audit}"
    );
}

#[tokio::test]
async fn others_may_not() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let (near, far) = (
        world.account(&Someone::with(Profile::Member)).await,
        world
            .account(&Someone::with(Profile::Member).of(elsewhere))
            .await,
    );
    for person in [
        world.member().await,
        world.person(Someone::with(Profile::CommitteeAdmin)).await,
    ] {
        erase(&person, near.user_id, json!({}))
            .await
            .refuses(ErrorCode::Forbidden);
        erase(&person, far.user_id, json!({}))
            .await
            .refuses(ErrorCode::UserNotFound);
    }
}

#[tokio::test]
async fn the_last_super_admin_stays() {
    let world = World::new().await;
    let admin = world.admin().await;
    erase(
        &admin,
        admin.user().user_id,
        json!({ "password": PASSWORD }),
    )
    .await
    .refuses(ErrorCode::LastAdmin);
    let second = world.person(Someone::with(Profile::SuperAdmin)).await;
    erase(
        &admin,
        admin.user().user_id,
        json!({ "password": PASSWORD }),
    )
    .await
    .tells(Message::UserDeleted);
    erase(
        &second,
        second.user().user_id,
        json!({ "password": PASSWORD }),
    )
    .await
    .refuses(ErrorCode::LastAdmin);
}

#[tokio::test]
async fn what_the_person_sent_goes_too_and_what_waits_is_not_sent() {
    let world = World::new().await;
    let someone = Someone::with(Profile::Member).granted(&[Grant::SmsSend, Grant::SmsBulk]);
    let sender = world.person(someone).await;
    let send = async |recipients: &[&str]| {
        let wish = json!({ "recipients": recipients, "message": "Bonjour" });
        sender
            .post("/sms/bulk", wish)
            .await
            .tells(Message::SmsBulkAccepted);
        sender
            .post(
                "/sms/single",
                json!({ "to": recipients[0], "message": "Bonjour" }),
            )
            .await
            .tells(Message::SmsAccepted);
    };
    send(&["+21620000001", "+21620000002"]).await;
    world.deliver().await;
    world.sweep().await;
    assert_eq!(world.cloud().recorder().texts().len(), 3);
    send(&["+21620000003", "+21620000004"]).await;
    erase(
        &sender,
        sender.user().user_id,
        json!({ "password": PASSWORD }),
    )
    .await
    .tells(Message::UserDeleted);
    world.deliver().await;
    for _ in 0..3 {
        world.clock().advance(Duration::from_secs(400));
        world.sweep().await;
    }
    assert_eq!(
        world.cloud().recorder().texts().len(),
        3,
        "nothing more was sent"
    );
    let left: Vec<Value> = world
        .items("records")
        .into_iter()
        .filter(|item| item.to_string().contains("+2162000000"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let left = world
        .items("records")
        .into_iter()
        .filter(|item| item["sk"]["S"] == "TEXT")
        .count();
    assert_eq!(left, 0, "what they said");
}
