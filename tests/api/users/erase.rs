use std::time::Duration;

use cloud::faults::{Fault, Mode, Service};
use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use http::Method;
use serde_json::{Value, json};
use store::CoursesLeft;
use tests::{Answer, NewPerson, PASSWORD, Person, World, expect_fields};

async fn erase(by: &Person, id: impl std::fmt::Display, payload: Value) -> Answer {
    by.delete_with(&format!("/users/{id}"), payload).await
}

#[tokio::test]
async fn erasure_removes_personal_data_and_frees_the_address() {
    let world = World::new().await;
    let member = world.person(NewPerson::with(Profile::Member).with_phone("216", "20123456")).await;
    let (id, email) = (member.user().user_id, member.user().email.to_string());
    let picture = include_bytes!("../../../functions/files/src/default.png");
    let sent = crate::users::avatar::send(&member, "image/png", picture.to_vec()).await;
    let avatar = sent.expect_ok()["avatar"].as_str().unwrap().to_owned();
    erase(&member, id, json!({})).await.expect_field_error("password", ErrorCode::FieldRequired);
    erase(&member, id, json!({ "password": "x" })).await.expect_unauthorized();
    erase(&member, id, json!({ "password": PASSWORD })).await.expect_success(Message::UserDeleted);
    member.get("/auth/check").await.expect_unauthorized();
    world.anonymous().login(&email, PASSWORD).await.expect_unauthorized();
    world.admin().await.get(&format!("/users/{id}")).await.expect_error(ErrorCode::UserNotFound);
    world.deliver().await;
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    let left: Vec<String> = world
        .items("records")
        .iter()
        .filter(|item| !item["sk"]["S"].as_str().unwrap().starts_with("AUDIT#"))
        .map(Value::to_string)
        .filter(|item| item.contains(&id.to_string()))
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let is_own = |item: &Value| item["pk"]["S"] == format!("USER#{id}").as_str();
    assert!(!world.items("transient").iter().any(is_own), "sessions and devices are deleted");
    for trace in [email.as_str(), "20123456", "Ben Salah", "Amina", "duePk", "listPk"] {
        assert!(!left[0].contains(trace), "{trace} in {left:?}");
    }
    world.anonymous().send(Method::GET, &avatar, "".into()).await.expect_error(ErrorCode::NotFound);
    world.register(&email).await;
}

#[tokio::test]
async fn password_of_spaces_is_a_password_everywhere() {
    let world = World::new().await;
    let password = " ".repeat(9);
    let payload = json!({
        "name": "Amel", "lastName": "Trabelsi", "email": "amel@example.org", "password": password,
        "committeeID": world.committee(),
    });
    let anonymous = world.anonymous();
    anonymous.post("/users/register", payload).await.expect_success(Message::UserRegistered);
    let user = anonymous.sign_in("amel@example.org", &password).await["user"].clone();
    let owner = anonymous.with_token(user["token"].as_str().unwrap());
    let id = user["userID"].as_str().unwrap();
    let change = json!({ "phoneCode": "216", "phone": "20123456", "password": password });
    owner.put(&format!("/users/{id}"), change).await.expect_success(Message::UserUpdated);
    let answer = erase(&owner, id, json!({ "password": "" })).await;
    answer.expect_field_error("password", ErrorCode::FieldRequired);
    erase(&owner, id, json!({ "password": password })).await.expect_success(Message::UserDeleted);
}

/// Files are deleted with their owner. Courses stay, with the contact data of the committee.
#[tokio::test]
async fn erasure_removes_files_and_keeps_courses_of_the_committee() {
    let trainer = NewPerson::with(Profile::Trainer).with_phone("216", "20123456");
    let (world, trainer) = World::with_person(trainer).await;
    let own = trainer.user().email.to_string();
    let reader = world.person(Profile::CommitteeAdmin).await;
    let id = trainer.user().user_id;
    let file =
        json!({ "name": "a.txt", "contentType": "text/plain", "size": 5, "visibility": "public" });
    trainer.post("/files", file).await.expect_success(Message::FileCreated);
    let payload = |title: &str| {
        json!({
            "courseTitle": title, "description": "Tout ce qu’il faut savoir, en trois jours.", "courseType": "ONLINE", "sectionOfMatter": "Énergie",
            "contactPerson": "Amina Ben Salah", "contactPhone": "+21620123456", "contactEmail": own,
        })
    };
    let mut courses = Vec::new();
    for title in ["Soudure", "Brasage", "Forge"] {
        let answer = trainer.post("/courses", payload(title)).await;
        let course = answer.expect_success(Message::CourseCreated)["course"].clone();
        courses.push(format!("/courses/{}", course["courseID"].as_str().unwrap()));
    }
    let answer = trainer.post(&format!("{}/publish", courses[0]), json!({})).await;
    answer.expect_success(Message::CoursePublished);
    trainer.delete(&courses[2]).await.expect_success(Message::CourseArchived);
    erase(&trainer, id, json!({ "password": PASSWORD })).await.expect_success(Message::UserDeleted);
    world.deliver().await;
    for path in &courses {
        let course = reader.get(path).await.expect_ok()["course"].clone();
        let committee = reader.user().committee_id.to_string();
        let (phone, email) = ("+21671123456", "admin@example.org");
        assert_eq!(
            (&course["contactPerson"], &course["contactPhone"], &course["contactEmail"]),
            (&json!(null), &json!(phone), &json!(email))
        );
        assert_eq!((&course["committeeID"], &course["createdBy"]), (&json!(committee), &json!(id)));
    }
    assert_eq!(
        reader.get("/courses/search-all?q=soudure").await.expect_ok()["courses"][0]["courseTitle"],
        "Soudure"
    );
    world.clock().advance(Duration::from_secs(901));
    world.sweep().await;
    let items: Vec<String> = world.items("records").iter().map(Value::to_string).collect();
    assert!(
        !items
            .iter()
            .any(|item| item.contains("FILE#") || item.contains(&own) || item.contains("20123456"))
    );
}

#[tokio::test]
async fn erasure_keeps_the_contact_details_of_colleagues() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let reader = world.person(Profile::CommitteeAdmin).await;
    let course = async |person: &str, contact: Value| {
        let mut course = json!({
            "courseTitle": "Soudure", "contactPerson": person, "contactPhone": "+21671123999",
        });
        course["contactEmail"] = contact;
        let created = trainer.post("/courses", course).await.expect_created();
        format!("/courses/{}", created["course"]["courseID"].as_str().unwrap())
    };
    let of_colleague = course("Nizar Gharsalli", json!("nizar@example.org")).await;
    let mixed = course("BEN SALAH Amina", json!("nizar@example.org")).await;
    erase(&trainer, trainer.user().user_id, json!({ "password": PASSWORD })).await.expect_ok();
    world.deliver().await;
    for (path, person) in [(of_colleague, json!("Nizar Gharsalli")), (mixed, json!(null))] {
        let course = reader.get(&path).await.expect_ok()["course"].clone();
        let kept = json!({
            "contactPerson": person, "contactPhone": "+21671123999",
            "contactEmail": "nizar@example.org",
        });
        expect_fields(&course, kept);
    }
}

#[tokio::test]
async fn erasure_replaces_the_contacts_of_more_courses_than_one_step_reads() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    for number in 0..101 {
        let course = json!({
            "courseTitle": format!("Soudure {number}"), "description": "Souder en trois jours.",
            "courseType": "ONLINE", "sectionOfMatter": "Énergie", "contactEmail": trainer.user().email,
        });
        trainer.post("/courses", course).await.expect_created();
    }
    let password = json!({ "password": PASSWORD });
    erase(&trainer, trainer.user().user_id, password).await.expect_success(Message::UserDeleted);
    let with_contact = || {
        let courses = world.items_of("COURSE#").into_iter().map(|item| item.to_string());
        courses.filter(|item| item.contains(trainer.user().email.as_str())).count()
    };
    assert_eq!(with_contact(), 101);
    world.deliver().await;
    assert_eq!(with_contact(), 0);
}

/// Its first steps may read the index before it lists a course.
#[tokio::test]
async fn erasure_of_many_steps_reads_the_courses_once_more() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let course = json!({
        "courseTitle": "Soudure", "description": "Souder en trois jours.", "courseType": "ONLINE",
        "sectionOfMatter": "Énergie", "contactEmail": trainer.user().email,
    });
    trainer.post("/courses", course).await.expect_created();
    let id = trainer.user().user_id;
    erase(&trainer, id, json!({ "password": PASSWORD })).await.expect_success(Message::UserDeleted);
    let (store, now) = (&world.setup().store, world.clock().now());
    let erasure = store.erasure(id, now).await.unwrap().unwrap();
    store.continue_erasure(&erasure, &CoursesLeft::None, now).await.unwrap();
    world.clock().advance(Duration::from_secs(61));
    world.deliver().await;
    let items = world.items("records");
    let mut items = items.iter().map(Value::to_string);
    assert!(!items.any(|item| item.contains(trainer.user().email.as_str())));
}

/// Another process may write for the account during the erasure.
#[tokio::test]
async fn data_written_during_erasure_is_removed_too() {
    let (world, member) = World::with_member().await;
    let file =
        json!({ "name": "a.txt", "contentType": "text/plain", "size": 5, "visibility": "public" });
    let mut slow = Fault::new(Mode::Slow).on("TransactWriteItems").times(1);
    slow.delay_ms = Some(500);
    world.inject_fault(slow);
    let posting = tokio::spawn({
        let (member, file) = (member.clone(), file.clone());
        async move { member.post("/files", file).await }
    });
    world.faults_have_occurred().await;
    erase(&member, member.user().user_id, json!({ "password": PASSWORD })).await.expect_ok();
    world.deliver().await;
    posting.await.unwrap().expect_success(Message::FileCreated);
    for _ in 0..2 {
        world.clock().advance(Duration::from_secs(901));
        world.sweep().await;
        world.deliver().await;
    }
    assert_eq!(world.items_of("FILE#"), [Value::Null; 0]);
}

#[tokio::test]
async fn files_are_hidden_even_if_the_avatar_cannot_be_removed() {
    let (world, member) = World::with_member().await;
    let picture = include_bytes!("../../../functions/files/src/default.png");
    crate::users::avatar::send(&member, "image/png", picture.to_vec()).await.expect_ok();
    let file = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    let file = member.post("/files", file).await.expect_created();
    let id = file["file"]["fileID"].as_str().unwrap();
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse));
    erase(&member, member.user().user_id, json!({ "password": PASSWORD })).await.expect_ok();
    world.deliver().await;
    let file_after = world.setup().store.file(domain::FileId::or_none(id)).await.unwrap();
    assert_eq!(file_after, None);
}

#[tokio::test]
async fn super_admin_can_erase_any_account_and_audit_has_no_personal_data() {
    let (world, admin) = World::with_admin().await;
    let member = world.member().await;
    erase(&admin, member.user().user_id, json!({})).await.expect_success(Message::UserDeleted);
    erase(&admin, member.user().user_id, json!({})).await.expect_error(ErrorCode::UserNotFound);
    let audit = admin.get("/audit").await.expect_ok()["audit"].clone();
    assert_eq!(
        (&audit[0]["action"], &audit[0]["targetID"]),
        (&json!("USER_DELETED"), &json!(member.user().user_id))
    );
    assert!(!audit.to_string().contains(member.user().email.as_str()), "{audit}");
}

#[tokio::test]
async fn last_super_admin_cannot_be_erased() {
    let (world, admin) = World::with_admin().await;
    let answer = erase(&admin, admin.user().user_id, json!({ "password": PASSWORD })).await;
    answer.expect_error(ErrorCode::LastAdmin);
    let unverified = NewPerson::with(Profile::SuperAdmin).unverified();
    world.person(unverified).await;
    let answer = erase(&admin, admin.user().user_id, json!({ "password": PASSWORD })).await;
    answer.expect_error(ErrorCode::LastAdmin);
    let second = world.person(Profile::SuperAdmin).await;
    erase(&admin, admin.user().user_id, json!({ "password": PASSWORD })).await.expect_ok();
    let answer = erase(&second, second.user().user_id, json!({ "password": PASSWORD })).await;
    answer.expect_error(ErrorCode::LastAdmin);
}

#[tokio::test]
async fn erasure_deletes_texts_of_messages_and_cancels_queued_ones() {
    let world = World::new().await;
    let reader = world.person(Profile::CommitteeAdmin).await;
    let someone = NewPerson::with(Profile::Member).granted(&[Grant::SmsSend, Grant::SmsBulk]);
    let sender = world.person(someone).await;
    let send = async |recipients: &[&str]| {
        let payload = json!({ "recipients": recipients, "message": "Bonjour" });
        sender.post("/sms/bulk", payload).await.expect_success(Message::SmsBulkAccepted);
        let body = json!({ "to": recipients[0], "message": "Bonjour" });
        sender.post("/sms/single", body).await.expect_success(Message::SmsAccepted);
    };
    send(&["+21620000001", "+21620000002"]).await;
    world.deliver().await;
    world.sweep().await;
    assert_eq!(world.cloud().recorder().texts().len(), 3);
    send(&["+21620000003", "+21620000004"]).await;
    erase(&sender, sender.user().user_id, json!({ "password": PASSWORD })).await.expect_ok();
    world.deliver().await;
    for _ in 0..3 {
        world.clock().advance(Duration::from_secs(400));
        world.sweep().await;
    }
    assert_eq!(world.cloud().recorder().texts().len(), 3, "nothing more was sent");
    let left = world.items("records").into_iter().filter(|item| item["sk"]["S"] == "TEXT").count();
    assert_eq!(left, 0, "the texts are deleted");
    // The committee keeps the records for their time.
    let reader = world.signed_in(reader.user().clone()).await;
    let sms = reader.pages("/sms?scope=committee&limit=100", "sms").await;
    let sent = sms.iter().filter(|sms| sms["status"] == "SENT").count();
    assert_eq!((sent, sms.iter().all(|sms| sms["status"] != "QUEUED")), (3, true), "{sms:?}");
    let path = format!("/sms/{}", sms[sms.len() - 1]["smsID"].as_str().unwrap());
    assert_eq!(reader.get(&path).await.expect_ok()["sms"]["message"], Value::Null);
}

#[tokio::test]
async fn own_erasure_is_audited_with_the_name_of_an_administrator() {
    let (world, admin) = World::with_admin().await;
    for (profile, name) in
        [(Profile::CommitteeAdmin, json!("Amina Ben Salah")), (Profile::Member, Value::Null)]
    {
        let person = world.person(profile).await;
        let id = person.user().user_id;
        erase(&person, id, json!({ "password": PASSWORD })).await.expect_ok();
        let admin = world.signed_in(admin.user().clone()).await;
        let audit = admin.get(&format!("/audit?userID={id}")).await.expect_ok()["audit"].clone();
        let entry = &audit[0];
        assert_eq!(
            (&entry["action"], &entry["actorID"], &entry["targetID"], &entry["actorName"]),
            (&json!("USER_DELETED"), &json!(id), &json!(id), &name)
        );
    }
}
