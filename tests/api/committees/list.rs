use std::time::Duration;

use common::ErrorCode;
use serde_json::json;
use tests::{Person, World};

async fn names(person: &Person, query: &str) -> (Vec<String>, Option<String>) {
    let body = person.get(&format!("/committees{query}")).await.shows();
    let names = body["committees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["nameLatin"].as_str().unwrap().to_owned())
        .collect();
    (names, body["nextCursor"].as_str().map(str::to_owned))
}

async fn world_with(names: &[&str]) -> World {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    for name in names {
        world.another_committee(name, true).await;
    }
    world
}

#[tokio::test]
async fn it_is_sorted_by_the_latin_name_whatever_accents_and_case() {
    let world = world_with(&["Zaghouan", "éloued", "Ariana", "Élan", "beja"]).await;
    let (names, next) = names(&world.stranger(), "").await;
    assert_eq!(
        names,
        [
            "Ariana",
            "beja",
            "Élan",
            "éloued",
            "Fédération nationale de la formation",
            "Zaghouan"
        ]
    );
    assert_eq!(next, None);
}

#[tokio::test]
async fn pages_follow_each_other_without_repeating_or_skipping() {
    let world = world_with(&["A", "B", "C", "D", "E", "F"]).await;
    let stranger = world.stranger();
    let mut all = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let (page, next) = names(&stranger, &query).await;
        assert!(page.len() <= 2);
        all.extend(page);
        match next {
            Some(cursor) => query = format!("?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(
        all,
        [
            "A",
            "B",
            "C",
            "D",
            "E",
            "F",
            "Fédération nationale de la formation"
        ]
    );
}

#[tokio::test]
async fn closed_ones_are_listed_for_super_admins_alone() {
    let world = world_with(&["Ariana"]).await;
    world.another_committee("Bizerte", false).await;
    assert_eq!(names(&world.stranger(), "").await.0.len(), 2);
    assert_eq!(names(&world.admin().await, "").await.0.len(), 3);
}

#[tokio::test]
async fn a_member_sees_all_of_his_own_and_what_is_public_of_others() {
    let world = world_with(&["Ariana"]).await;
    let body = world.member().await.get("/committees").await.shows();
    let fields: Vec<usize> = body["committees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_object().unwrap().len())
        .collect();
    assert_eq!(fields, [6, 15]);
}

#[tokio::test]
async fn the_limit_is_a_whole_number_from_1_to_100() {
    let world = world_with(&[]).await;
    let stranger = world.stranger();
    for limit in [
        "0",
        "101",
        "-1",
        "+5",
        "1.5",
        "",
        "ten",
        "1e1",
        "99999999999999999999",
        "%31%20",
    ] {
        let answer = stranger.get(&format!("/committees?limit={limit}")).await;
        answer.refuses_field("limit", ErrorCode::LimitInvalid);
    }
    for limit in ["1", "100", "050", "%35"] {
        stranger
            .get(&format!("/committees?limit={limit}"))
            .await
            .shows();
    }
}

#[tokio::test]
async fn a_cursor_is_good_for_its_caller_its_list_and_its_day() {
    let world = world_with(&["A", "B", "C"]).await;
    let stranger = world.stranger();
    let cursor = names(&stranger, "?limit=1").await.1.unwrap();
    assert!(cursor.len() <= 512);
    let path = format!("/committees?cursor={cursor}");
    stranger.get(&path).await.shows();
    world.stranger().get(&path).await.shows();
    world
        .admin()
        .await
        .get(&path)
        .await
        .refuses_field("cursor", ErrorCode::InvalidCursor);
    world
        .member()
        .await
        .get(&path)
        .await
        .refuses(ErrorCode::InvalidCursor);
    for bad in [
        "x",
        "",
        "local.AAAA",
        &format!("{cursor}A"),
        &cursor[1..],
        &"A".repeat(600),
    ] {
        stranger
            .get(&format!("/committees?cursor={bad}"))
            .await
            .refuses(ErrorCode::InvalidCursor);
    }
    world.clock().advance(Duration::from_secs(86_400));
    stranger.get(&path).await.refuses(ErrorCode::InvalidCursor);
}

#[tokio::test]
async fn a_cursor_of_a_very_long_name_is_short() {
    let long = "ﷺ".repeat(200);
    let world = world_with(&[&long, &format!("{}x", "ﷺ".repeat(199))]).await;
    let (_, cursor) = names(&world.stranger(), "?limit=2").await;
    assert!(cursor.unwrap().len() <= 512);
}

#[tokio::test]
async fn unknown_parameters_are_ignored() {
    let world = world_with(&[]).await;
    let body = world
        .stranger()
        .get("/committees?q=x&profile=SA&limit=1&limit=500")
        .await
        .shows();
    assert_eq!(body["nextCursor"], json!(null));
}
