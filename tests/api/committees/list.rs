use std::time::Duration;

use common::ErrorCode;
use serde_json::json;
use tests::{Person, World, texts_of};

async fn names(person: &Person, query: &str) -> (Vec<String>, Option<String>) {
    let body = person.get(&format!("/committees{query}")).await.expect_ok();
    (texts_of(&body["committees"], "nameLatin"), body["nextCursor"].as_str().map(str::to_owned))
}

async fn world_with(names: &[&str]) -> World {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    for name in names {
        world.another_committee(name, true).await;
    }
    world
}

#[tokio::test]
async fn list_is_sorted_by_latin_name_ignoring_accents_and_case() {
    let world = world_with(&["Zaghouan", "éloued", "Ariana", "Élan", "beja"]).await;
    let (names, next) = names(&world.anonymous(), "").await;
    assert_eq!(
        names,
        ["Ariana", "beja", "Élan", "éloued", "Fédération nationale de la formation", "Zaghouan"]
    );
    assert_eq!(next, None);
}

#[tokio::test]
async fn pages_neither_repeat_nor_skip_items() {
    let world = world_with(&["A", "B", "C", "D", "E", "F"]).await;
    let anonymous = world.anonymous();
    let mut all = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let (page, next) = names(&anonymous, &query).await;
        assert!(page.len() <= 2);
        all.extend(page);
        match next {
            Some(cursor) => query = format!("?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(all, ["A", "B", "C", "D", "E", "F", "Fédération nationale de la formation"]);
}

#[tokio::test]
async fn closed_committees_are_listed_for_super_admins_only() {
    let world = world_with(&["Ariana"]).await;
    world.another_committee("Bizerte", false).await;
    assert_eq!(names(&world.anonymous(), "").await.0.len(), 2);
    assert_eq!(names(&world.admin().await, "").await.0.len(), 3);
}

#[tokio::test]
async fn member_sees_all_fields_of_own_and_public_fields_of_others() {
    let world = world_with(&["Ariana"]).await;
    let body = world.member().await.get("/committees").await.expect_ok();
    let fields: Vec<usize> = body["committees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_object().unwrap().len())
        .collect();
    assert_eq!(fields, [6, 15]);
}

#[tokio::test]
async fn limit_must_be_an_integer_from_1_to_100() {
    let world = world_with(&[]).await;
    let anonymous = world.anonymous();
    for limit in ["0", "101", "-1", "+5", "1.5", "", "ten", "1e1", "99999999999999999999", "%31%20"]
    {
        let answer = anonymous.get(&format!("/committees?limit={limit}")).await;
        answer.expect_field_error("limit", ErrorCode::LimitInvalid);
    }
    for limit in ["1", "100", "050", "%35"] {
        anonymous.get(&format!("/committees?limit={limit}")).await.expect_ok();
    }
}

#[tokio::test]
async fn cursor_is_bound_to_caller_list_and_day() {
    let world = world_with(&["A", "B", "C"]).await;
    let anonymous = world.anonymous();
    let cursor = names(&anonymous, "?limit=1").await.1.unwrap();
    assert!(cursor.len() <= 512);
    let path = format!("/committees?cursor={cursor}");
    anonymous.get(&path).await.expect_ok();
    world.anonymous().get(&path).await.expect_ok();
    world.admin().await.get(&path).await.expect_field_error("cursor", ErrorCode::InvalidCursor);
    world.member().await.get(&path).await.expect_error(ErrorCode::InvalidCursor);
    for bad in ["x", "", "local.AAAA", &format!("{cursor}A"), &cursor[1..], &"A".repeat(600)] {
        let answer = anonymous.get(&format!("/committees?cursor={bad}")).await;
        answer.expect_error(ErrorCode::InvalidCursor);
    }
    world.clock().advance(Duration::from_secs(86_340));
    anonymous.get(&path).await.expect_ok();
    world.clock().advance(Duration::from_secs(3660));
    anonymous.get(&path).await.expect_error(ErrorCode::InvalidCursor);
}

#[tokio::test]
async fn cursor_of_a_very_long_name_stays_short() {
    let world = world_with(&[&"ﷺ".repeat(200), &format!("{}x", "ﷺ".repeat(199))]).await;
    let (_, cursor) = names(&world.anonymous(), "?limit=2").await;
    assert!(cursor.unwrap().len() <= 512);
}

#[tokio::test]
async fn unknown_parameters_are_ignored() {
    let world = world_with(&[]).await;
    let body =
        world.anonymous().get("/committees?q=x&profile=SA&limit=1&limit=500").await.expect_ok();
    assert_eq!(body["nextCursor"], json!(null));
}
