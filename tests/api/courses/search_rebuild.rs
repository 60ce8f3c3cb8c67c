//! The rebuild of the search index after a deployment with another version of it.

use std::{collections::BTreeSet, time::Duration};

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use cloud::faults::{Fault, Mode};
use common::Message;
use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, Person, World};

use super::{id_of, payload, published, walk};

const AN_HOUR: Duration = Duration::from_secs(3601);
const A_WEEK: Duration = Duration::from_secs(7 * 24 * 3600 + 1);
const A_MINUTE: Duration = Duration::from_secs(61);

fn text(value: &Value) -> AttributeValue {
    AttributeValue::S(value["S"].as_str().unwrap().to_owned())
}

/// Removes what the version of the service that knew no stems did not write.
async fn return_to_words(world: &World) {
    let client = Client::new(world.setup().aws.sdk());
    for item in world.items("records") {
        let pk = item["pk"]["S"].as_str().unwrap();
        let (key, sort) = (text(&item["pk"]), text(&item["sk"]));
        if pk == "SEARCH" || pk.starts_with("WORD#2#") {
            let delete = client.delete_item().table_name("records");
            let delete = delete.key("pk", key).key("sk", sort);
            delete.send().await.unwrap();
        } else if item["sk"]["S"] == "COURSE" {
            let update = client.update_item().table_name("records");
            let update = update.key("pk", key).key("sk", sort);
            let update = update.update_expression("REMOVE foundByStems");
            update.send().await.unwrap();
        }
    }
}

/// The number of search entries of the former and of the current version.
fn entries(world: &World) -> (usize, usize) {
    let items = world.items("records");
    let begins = |start: &str| {
        let begins = |item: &&Value| item["pk"]["S"].as_str().unwrap().starts_with(start);
        let entries = items.iter().filter(|item| item["n"].is_null());
        entries.filter(begins).count()
    };
    let stems = begins("WORD#2#");
    (begins("WORD#") - stems, stems)
}

async fn found(world: &World, person: &Person, q: &str) -> BTreeSet<String> {
    world.cloud().settle();
    let courses = walk(person, &format!("/courses/search-all?q={q}"), 20).await;
    courses.iter().map(id_of).collect()
}

/// Courses that are published, renamed and withdrawn while the index is rebuilt. Returns those that are published.
async fn change(
    world: &World,
    trainer: &Person,
    mut courses: BTreeSet<String>,
) -> BTreeSet<String> {
    courses.insert(published(trainer, "Projet nouveau").await);
    let renamed = courses.first().unwrap().clone();
    trainer
        .put(&format!("/courses/{renamed}"), payload("Projet renommé"))
        .await
        .expect_success(Message::CourseUpdated);
    let withdrawn = courses.iter().nth(5).unwrap().clone();
    trainer
        .post(&format!("/courses/{withdrawn}/to-draft"), json!({}))
        .await
        .expect_success(Message::CourseReturned);
    world.deliver().await;
    courses.remove(&withdrawn);
    courses
}

#[tokio::test]
async fn rebuild_during_changes_and_a_crash_misses_no_course() {
    let settings = [
        ("RATE_LIMIT", "1000000"),
        // Longer than the former entries are kept.
        ("ACCESS_TOKEN_SECONDS", "2000000"),
        ("SESSION_DAYS", "60"),
    ];
    let world = World::with(&settings).await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    let mut courses = BTreeSet::new();
    return_to_words(&world).await;
    for number in 0..60 {
        world.clock().advance(Duration::from_millis(2));
        courses.insert(published(&trainer, &format!("Projet numéro{number}")).await);
    }
    world.deliver().await;
    return_to_words(&world).await;
    assert_eq!(found(&world, &trainer, "projet").await, courses);
    assert!(found(&world, &trainer, "projets").await.is_empty());

    world.sweep().await;
    let courses = change(&world, &trainer, courses).await;
    assert_eq!(found(&world, &trainer, "projet").await, courses);

    // The worker ends after the first entries of the first step.
    world.clock().advance(AN_HOUR);
    world.inject_fault(Fault::new(Mode::Refuse).on("UpdateItem"));
    world.sweep().await;
    world.clear_faults();
    let (words, stems) = entries(&world);
    assert!(stems > 0 && stems < words, "{stems} of {words}");
    assert_eq!(found(&world, &trainer, "projet").await, courses);

    let other = world.another_process();
    let (courses, ()) = tokio::join!(change(&world, &trainer, courses), other.sweep());
    assert_eq!(found(&world, &trainer, "projet").await, courses);
    // A sweep that met a change leaves the rest to the next one.
    other.sweep().await;
    assert!(
        found(&world, &trainer, "projets").await.is_empty(),
        "searches use the former version until the current one is complete"
    );

    world.clock().advance(A_MINUTE);
    other.sweep().await;
    for q in ["projet", "projets"] {
        assert_eq!(found(&world, &trainer, q).await, courses);
    }
    let courses = change(&world, &trainer, courses).await;
    assert!(entries(&world).0 > 0, "former searches may still run");

    world.clock().advance(A_WEEK);
    for _ in 0..2 {
        other.sweep().await;
    }
    assert_eq!(found(&world, &trainer, "projets").await, courses);
    let (words, stems) = entries(&world);
    assert_eq!(words, 0, "entries of the former version");
    assert!(stems > courses.len());
}

/// A deployment that is taken back leaves the rebuild; the next one may still have former functions beside it.
#[tokio::test]
async fn rebuild_that_was_left_begins_again() {
    let world = World::new().await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    return_to_words(&world).await;
    published(&trainer, "Projet").await;
    world.deliver().await;
    return_to_words(&world).await;
    for pause in [A_MINUTE, 24 * AN_HOUR] {
        world.clock().advance(pause);
        world.sweep().await;
    }
    assert_eq!(entries(&world), (2, 0));
    world.clock().advance(AN_HOUR);
    world.sweep().await;
    assert_eq!(entries(&world), (2, 2));
}
