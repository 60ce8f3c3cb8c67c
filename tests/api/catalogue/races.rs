use std::collections::BTreeSet;

use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, Person, World, texts_of};

use super::announced;
use crate::registrations::DAY;

/// The ids on all pages of the catalogue. A course whose start changes meanwhile may stand twice.
async fn walk(visitor: &Person, query: &str) -> Vec<String> {
    let path = format!("/catalogue?limit=3&{query}");
    let mut ids = texts_of(&json!(visitor.pages(&path, "courses").await), "courseID");
    ids.sort();
    ids
}

/// While courses are published, changed, withdrawn and cancelled, and a committee is closed and opened, every page has the
/// courses that stay; afterwards the catalogue is what the courses say.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn catalogue_read_during_changes_has_all_courses_that_stay() {
    let world = World::with(&[("RATE_LIMIT", "1000000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let outsider = world.person(NewPerson::with(Profile::Trainer).of(elsewhere)).await;
    let now = world.clock().now();
    let mut steady = BTreeSet::new();
    let (mut moving, mut foreign) = (Vec::new(), Vec::new());
    for number in 0..18_u32 {
        let dates = json!({
            "startAt": now.after(DAY * number), "endAt": now.after(DAY * (number + 1 + number % 5 * 20)),
        });
        match number % 3 {
            0 => moving.push(announced(&trainer, dates).await),
            1 => foreign.push(announced(&outsider, dates).await),
            _ => _ = steady.insert(announced(&trainer, dates).await),
        }
    }
    let writers = moving.iter().enumerate().map(|(number, id)| {
        let (trainer, id) = (trainer.clone(), id.clone());
        tokio::spawn(async move {
            let path = format!("/courses/{id}");
            for round in 0..4_u32 {
                trainer.post_until_answered(&format!("{path}/to-draft"), json!({})).await;
                trainer.post_until_answered(&format!("{path}/publish"), json!({})).await;
                let mut course = trainer.get(&path).await.expect_ok()["course"].clone();
                course.as_object_mut().unwrap().remove("version");
                course["startAt"] = json!(now.after(DAY * (round * 7 + 1)));
                course["endAt"] = json!(now.after(DAY * (round * 30 + 2)));
                trainer.put(&path, course).await.expect_ok();
            }
            if number % 2 == 0 {
                let cancel = format!("/registrations/{id}/cancel-course");
                trainer.post_until_answered(&cancel, json!({ "reason": "x" })).await;
            }
        })
    });
    let mut writers: Vec<_> = writers.collect();
    let admin = world.admin().await;
    writers.push(tokio::spawn(async move {
        for round in 0..9 {
            let change = json!({ "isActive": round % 2 == 1 });
            admin.put(&format!("/committees/{elsewhere}"), change).await.expect_ok();
        }
    }));
    let visitor = world.anonymous();
    let mut walks = 0;
    while writers.iter().any(|writer| !writer.is_finished()) || walks == 0 {
        for query in ["order=start", "order=newest", "sectionOfMatter=energie"] {
            let seen = walk(&visitor, query).await;
            for id in &steady {
                let times = seen.iter().filter(|one| *one == id).count();
                assert_eq!(times, 1, "{query}: {seen:?}");
            }
        }
        walks += 1;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let cancelled = moving.iter().step_by(2).cloned().collect::<BTreeSet<String>>();
    let expected: BTreeSet<String> =
        moving.into_iter().filter(|id| !cancelled.contains(id)).chain(steady).collect();
    for query in ["order=start", "order=newest"] {
        let seen = walk(&visitor, query).await;
        assert!(seen.iter().eq(&expected), "{query}, the committee is closed: {seen:?}");
    }
    for id in cancelled.iter().chain(&foreign) {
        assert_eq!(visitor.get(&format!("/catalogue/{id}")).await.status, 404);
    }
    let of_course =
        |item: &&Value| item["sk"]["S"] == "COURSE" && item["cataloguePk"] != Value::Null;
    let listed = world.items_of("COURSE#").iter().filter(of_course).count();
    assert_eq!(listed, expected.len() + foreign.len());
}
