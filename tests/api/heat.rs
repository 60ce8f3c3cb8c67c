//! What the partitions bear that many people share: the units that `store::keys` documents.

use cloud::strict::Strictness;
use common::Message;
use domain::{Grant, Profile};
use serde_json::json;
use tests::{NewPerson, PASSWORD, World};

/// How often each action is done, by different people.
const TIMES: u32 = 10;

fn meter(world: &World) {
    let strictness = Strictness { is_metered: true, ..Strictness::default() };
    world.cloud().set_strictness(strictness);
}

/// Asserts the write units per action of the partitions whose names and keys begin with these texts.
#[track_caller]
fn assert_units(world: &World, expected: &[(&str, &str, f64)]) {
    let hottest = world.cloud().hottest();
    let found = expected.iter().map(|(name, key, _)| {
        let has_prefix = |text: &str, prefix: &str| text.starts_with(prefix);
        let partitions = hottest
            .iter()
            .filter(|heat| has_prefix(&heat.name, name) && has_prefix(&heat.key, key));
        let units: f64 = partitions.map(|heat| heat.writes).sum();
        (*name, *key, units / f64::from(TIMES))
    });
    let found: Vec<_> = found.collect();
    assert_eq!(found, expected, "{hottest:?}");
}

#[tokio::test]
async fn sign_ins_of_several_people_write_no_common_partition() {
    let world = World::new().await;
    let mut emails = Vec::new();
    for _ in 0..TIMES {
        let account = world.account(Profile::Member).await;
        emails.push(account.email.clone());
    }
    meter(&world);
    for email in &emails {
        world.anonymous().sign_in(email.as_str(), PASSWORD).await;
    }
    assert_units(&world, &[("records", "COMMITTEE#", 0.0), ("listing", "", 0.0), ("due", "", 0.0)]);
}

#[tokio::test]
async fn registrations_and_mails_write_the_documented_units() {
    let world = World::with(&[("REGISTER_PER_HOUR", "1000")]).await;
    let committee = world.admin().await.user().committee_id;
    meter(&world);
    for number in 0..TIMES {
        let payload = json!({
            "name": "Amel", "lastName": "Trabelsi", "email": format!("amel{number}@example.org"),
            "password": "sept grenadiers en fleur", "committeeID": committee,
        });
        world.anonymous().post("/users/register", payload).await.expect_created();
    }
    world.deliver().await;
    assert_units(
        &world,
        &[("records", "COMMITTEE#", 0.0), ("listing", "COMMITTEE#", 1.0), ("due", "OUTBOX#", 4.0)],
    );
}

#[tokio::test]
async fn text_messages_write_the_documented_units() {
    let world = World::new().await;
    let mut people = Vec::new();
    for _ in 0..TIMES {
        let person = NewPerson::with(Profile::CommitteeAdmin).granted(&[Grant::SmsBulk]);
        people.push(world.person(person).await);
    }
    meter(&world);
    for (number, person) in people.iter().enumerate() {
        let payload = json!({ "to": format!("+2162012345{number}"), "message": "Bonjour" });
        person.post("/sms/single", payload).await.expect_ok();
    }
    world.deliver().await;
    assert_units(
        &world,
        &[
            ("transient", "QUOTA#COMMITTEE#", 1.0),
            ("due", "SINGLE#", 4.0),
            ("overview", "COMMITTEE#", 3.0),
        ],
    );
}

#[tokio::test]
async fn publications_write_the_documented_units() {
    let world = World::new().await;
    let mut courses = Vec::new();
    for number in 0..TIMES {
        let trainer = world.person(Profile::Trainer).await;
        let course = json!({
            "courseTitle": format!("Soudure {number}"), "description": "Souder en trois jours.", "courseType": "ONLINE",
            "sectionOfMatter": "Énergie", "contactEmail": "cours@example.org",
        });
        let created = trainer.post("/courses", course).await.expect_success(Message::CourseCreated);
        courses.push((trainer, created["course"]["courseID"].as_str().unwrap().to_owned()));
    }
    meter(&world);
    for (trainer, id) in &courses {
        let answer = trainer.post(&format!("/courses/{id}/publish"), json!({})).await;
        answer.expect_success(Message::CoursePublished);
    }
    assert_units(
        &world,
        &[
            ("records", "COMMITTEE#", 0.0),
            ("overview", "PUBLISHED", 1.0),
            ("catalogue", "CATALOGUE#", 1.0),
            // The course, and its announcements.
            ("due", "COURSES", 2.0),
            ("listing", "AUDIT#", 1.0),
        ],
    );
}
