use std::time::Duration;

use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::json;
use tests::{NewPerson, World};

use super::{created_course, draft, id_of, payload, published, titles, walk};

#[tokio::test]
async fn each_caller_sees_the_courses_they_may_read() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let other = world.person(Profile::Trainer).await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let outsider = world.person(NewPerson::with(Profile::Trainer).of(elsewhere)).await;
    draft(&trainer, "own draft").await;
    draft(&other, "other draft").await;
    published(&other, "open").await;
    published(&outsider, "elsewhere").await;
    let gone = published(&trainer, "gone").await;
    trainer.delete(&format!("/courses/{gone}")).await.expect_success(Message::CourseArchived);
    let reader = world.member().await;
    let writer =
        world.person(NewPerson::with(Profile::Member).granted(&[Grant::CoursesWrite])).await;
    let publisher =
        world.person(NewPerson::with(Profile::Member).granted(&[Grant::CoursesPublish])).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    for (person, all, drafts, archived) in [
        (&reader, vec!["open"], vec![], vec![]),
        (&trainer, vec!["open", "own draft"], vec!["own draft"], vec!["gone"]),
        (&other, vec!["open", "other draft"], vec!["other draft"], vec![]),
        (
            &publisher,
            vec!["open", "other draft", "own draft"],
            vec!["other draft", "own draft"],
            vec![],
        ),
        (
            &writer,
            vec!["open", "other draft", "own draft"],
            vec!["other draft", "own draft"],
            vec!["gone"],
        ),
        (
            &admin,
            vec!["open", "other draft", "own draft"],
            vec!["other draft", "own draft"],
            vec!["gone"],
        ),
    ] {
        let list = |path: &'static str| {
            let person = person.clone();
            async move { titles(&person.get(path).await.expect_ok()) }
        };
        assert_eq!(list("/courses/committee").await, all);
        assert_eq!(list("/courses/committee?state=PUBLISHED").await, ["open"]);
        assert_eq!(list("/courses/committee?state=DRAFT").await, drafts);
        assert_eq!(list("/courses/committee?state=ARCHIVED").await, archived);
    }
}

#[tokio::test]
async fn drafts_of_a_former_committee_are_not_listed() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    draft(&trainer, "former").await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let moved = world.changed_account(trainer.user(), |user| user.committee_id = elsewhere).await;
    let trainer = world.signed_in(moved).await;
    draft(&trainer, "present").await;
    for path in ["/courses/committee", "/courses/committee?state=DRAFT"] {
        assert_eq!(titles(&trainer.get(path).await.expect_ok()), ["present"]);
    }
}

#[tokio::test]
async fn list_is_sorted_by_last_change_and_pages_are_complete() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    let mut expected = Vec::new();
    let mut first = String::new();
    for number in 0..9 {
        world.clock().advance(Duration::from_millis(5));
        let title = format!("Cours {number}");
        let id = if number % 2 == 0 {
            draft(&admin, &title).await
        } else {
            published(&admin, &title).await
        };
        if number == 0 {
            first = id;
        }
        expected.insert(0, title);
    }
    for limit in [1, 2, 4, 9, 20] {
        let walked = walk(&admin, "/courses/committee", limit).await;
        let titles: Vec<&str> =
            walked.iter().map(|course| course["courseTitle"].as_str().unwrap()).collect();
        assert_eq!(titles, expected, "{limit}");
    }
    // A changed course is first.
    world.clock().advance(Duration::from_millis(5));
    admin.put(&format!("/courses/{first}"), payload("Cours 0")).await.expect_ok();
    expected.rotate_right(1);
    assert_eq!(titles(&admin.get("/courses/committee").await.expect_ok()), expected);
}

/// DynamoDB ends a query page at 1 MB, which may be a different position in each list.
#[tokio::test]
async fn long_descriptions_shorten_pages_without_losing_courses() {
    let world = World::with(&[("RATE_LIMIT", "1000000")]).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    let mut expected = Vec::new();
    for number in 0..80 {
        world.clock().advance(Duration::from_millis(2));
        let mut long = payload(&format!("Cours {number}"));
        if number % 3 == 0 {
            long["description"] = json!("تكوين".repeat(4_000));
        }
        let id = id_of(&created_course(&admin, long).await);
        if number % 3 == 0 || number % 5 == 0 {
            let answer = admin.post(&format!("/courses/{id}/publish"), json!({})).await;
            answer.expect_success(Message::CoursePublished);
        }
        expected.insert(0, id);
    }
    let first = admin.get("/courses/committee?limit=100").await.expect_ok();
    assert!(first["courses"].as_array().unwrap().len() < 80 && first["nextCursor"].is_string());
    let walked: Vec<String> =
        walk(&admin, "/courses/committee", 100).await.iter().map(id_of).collect();
    assert_eq!(walked, expected);
}

#[tokio::test]
async fn longest_page_of_two_lists_fits_into_a_lambda_response() {
    let world = World::with(&[("RATE_LIMIT", "1000000")]).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    for number in 0..80 {
        let mut long = payload(&format!("Cours {number}"));
        long["description"] = json!("\"".repeat(20_000));
        let id = id_of(&created_course(&admin, long).await);
        if number % 2 == 0 {
            let answer = admin.post(&format!("/courses/{id}/publish"), json!({})).await;
            answer.expect_success(Message::CoursePublished);
        }
    }
    let page = admin.get("/courses/committee?limit=100").await.expect_ok();
    let response = json!({ "body": page.to_string() }).to_string();
    assert!(response.len() < 6_000_000, "{}", response.len());
    let walked = walk(&admin, "/courses/committee", 100).await;
    assert_eq!(walked.len(), 80);
}

#[tokio::test]
async fn cursor_is_bound_to_list_filter_and_caller() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    for number in 0..3 {
        published(&admin, &format!("Cours {number}")).await;
    }
    let cursor = async |path: &str| {
        admin.get(path).await.expect_ok()["nextCursor"].as_str().unwrap().to_owned()
    };
    let committee = cursor("/courses/committee?limit=1").await;
    let all = cursor("/courses/search-all?limit=1").await;
    for path in [
        format!("/courses/committee?cursor={all}"),
        format!("/courses/committee?state=PUBLISHED&cursor={committee}"),
        format!("/courses/search-all?cursor={committee}"),
        format!("/courses/search-all?q=cours&cursor={all}"),
    ] {
        admin.get(&path).await.expect_field_error("cursor", ErrorCode::InvalidCursor);
    }
    let other = world.person(Profile::CommitteeAdmin).await;
    let answer = other.get(&format!("/courses/committee?cursor={committee}")).await;
    answer.expect_field_error("cursor", ErrorCode::InvalidCursor);
}
