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
