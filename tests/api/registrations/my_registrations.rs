use serde_json::json;
use tests::{World, expect_fields};

use super::{Course, automatic};

#[tokio::test]
async fn own_registrations_are_listed_latest_change_first() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    let member = world.member().await;
    let mut courses = Vec::new();
    for capacity in [1, 0, 1] {
        let course = Course::in_world(world.clone(), automatic(capacity, 5)).await;
        course.register(&member).await.expect_created();
        world.clock().advance(std::time::Duration::from_secs(1));
        courses.push(course);
    }
    let cancel = format!("{}/cancel", courses[0].path_of(&member));
    member.post(&cancel, json!({})).await.expect_ok();
    let path = "/registrations/my-registrations?limit=2";
    let all = member.pages(path, "registrations").await;
    let ids: Vec<_> = all.iter().map(|one| one["courseID"].as_str().unwrap()).collect();
    assert_eq!(ids, [&courses[0].id, &courses[2].id, &courses[1].id]);
    expect_fields(&all[2], json!({ "state": "WAITLISTED", "position": 1 }));
    assert!(all[0].get("answers").is_none() && all[0].get("history").is_none());
    let waiting = member.pages(&format!("{path}&state=WAITLISTED"), "registrations").await;
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0]["course"]["courseTitle"], "Premiers secours");
}

#[tokio::test]
async fn lists_and_decisions_read_no_texts_of_questions() {
    let mut settings = automatic(5, 5);
    settings["mode"] = json!("MANUAL");
    let mut costs = Vec::new();
    for count in [1, 60] {
        let course = Course::with(settings.clone()).await;
        let text = "م".repeat(1000);
        for _ in 0..count {
            let asked = json!({ "language": "FR", "question": text, "questionType": "YES_NO" });
            course.ask(asked).await;
        }
        let (member, _) = course.registered().await;
        let (approve, own) = (format!("{}/approve", course.path_of(&member)), course.path(""));
        course.world.cloud().settle();
        let approved = course.trainer.post(&approve, json!({})).await;
        course.world.cloud().settle();
        let answers = [
            approved,
            member.get("/registrations/my-registrations").await,
            member.get(&course.path("/availability")).await,
            course.trainer.get(&own).await,
            member.post(&format!("{}/cancel", course.path_of(&member)), json!({})).await,
        ];
        costs.push(answers.map(|answer| {
            assert_eq!(answer.status, 200, "{answer:?}");
            answer.cost.reads
        }));
    }
    assert_eq!(costs[0], costs[1]);
}
