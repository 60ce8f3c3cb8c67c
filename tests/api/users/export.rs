use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{NewPerson, World};

#[tokio::test]
async fn export_contains_everything_stored_about_the_caller() {
    let world = World::new().await;
    let member = world.member().await;
    let id = member.user().user_id;
    world
        .admin()
        .await
        .put(&format!("/team/{id}"), json!({ "role": "Trésorière" }))
        .await
        .expect_success(Message::TeamMemberUpdated);
    let export = member.get(&format!("/users/{id}/export")).await.expect_ok()["export"].clone();
    assert_eq!(export["user"].as_object().unwrap().len(), 18);
    for (list, count) in [
        ("activity", 1),
        ("sessions", 1),
        ("audit", 1),
        ("files", 0),
        ("courses", 0),
        ("sms", 0),
    ] {
        assert_eq!(export[list].as_array().unwrap().len(), count, "{list}");
    }
}

#[tokio::test]
async fn export_contains_own_files_and_courses() {
    let world = World::new().await;
    let (trainer, other) = (
        world.person(NewPerson::with(Profile::Trainer)).await,
        world.person(NewPerson::with(Profile::Trainer)).await,
    );
    let file = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    for person in [&trainer, &other] {
        person
            .post("/files", file.clone())
            .await
            .expect_success(Message::FileCreated);
        for title in ["Soudure", "Brasage"] {
            let course = person
                .post("/courses", json!({ "courseTitle": title }))
                .await
                .expect_success(Message::CourseCreated)["course"]
                .clone();
            if title == "Soudure" {
                person
                    .delete(&format!(
                        "/courses/{}",
                        course["courseID"].as_str().unwrap()
                    ))
                    .await
                    .expect_success(Message::CourseArchived);
            }
        }
    }
    let export = trainer
        .get(&format!("/users/{}/export", trainer.user().user_id))
        .await
        .expect_ok()["export"]
        .clone();
    let courses = export["courses"].as_array().unwrap();
    let mut states: Vec<&str> = courses
        .iter()
        .map(|course| course["state"].as_str().unwrap())
        .collect();
    states.sort_unstable();
    assert_eq!(states, ["ARCHIVED", "DRAFT"]);
    assert!(courses.iter().all(
        |course| course["createdBy"] == json!(trainer.user().user_id)
            && course.as_object().unwrap().len() == 25
    ));
    assert_eq!(
        (
            export["files"].as_array().unwrap().len(),
            &export["files"][0]["name"]
        ),
        (1, &json!("a.txt"))
    );
}

#[tokio::test]
async fn export_of_another_account_returns_403() {
    let world = World::new().await;
    let other = world.account(&NewPerson::with(Profile::Member)).await;
    for person in [world.member().await, world.admin().await] {
        person
            .get(&format!("/users/{}/export", other.user_id))
            .await
            .expect_error(ErrorCode::Forbidden);
    }
    world
        .member()
        .await
        .get("/users/x/export")
        .await
        .expect_error(ErrorCode::UserNotFound);
}

#[tokio::test]
async fn export_contains_sent_messages() {
    let world = World::new().await;
    let (sender, other) = (
        world.person(NewPerson::with(Profile::CommitteeAdmin)).await,
        world.admin().await,
    );
    for person in [&sender, &other] {
        person
            .post(
                "/sms/single",
                json!({ "to": "+21620123456", "message": "Bonjour" }),
            )
            .await
            .expect_success(Message::SmsAccepted);
    }
    let sms = sender
        .get(&format!("/users/{}/export", sender.user().user_id))
        .await
        .expect_ok()["export"]["sms"]
        .clone();
    assert_eq!(
        (sms.as_array().unwrap().len(), &sms[0]["userID"]),
        (1, &json!(sender.user().user_id))
    );
}
