//! `cargo dev seed`: the demonstration data for front-end developers.

use serde_json::Value;
use tests::World;

#[tokio::test]
async fn demonstration_data_is_valid_searchable_and_loaded_once() {
    let world = World::new().await;
    world.seed().await;
    world.deliver().await;
    let count = || world.items("records").len();
    let before = count();
    world.seed().await;
    assert_eq!(count(), before, "the second run adds nothing");
    let admin = world.admin().await;
    let found = async |q: &str| {
        let q: String = form_urlencoded::byte_serialize(q.as_bytes()).collect();
        let body = admin
            .get(&format!("/courses/search-all?limit=100&q={q}"))
            .await
            .expect_ok();
        body["courses"].as_array().unwrap().clone()
    };
    assert_eq!(found("").await.len(), 16);
    let of = |language: &str, courses: &[Value]| {
        courses
            .iter()
            .filter(|course| course["language"] == language)
            .count()
    };
    let (french, arabic) = (found("securite").await, found("المهنيه").await);
    assert!(
        of("FR", &french) > 0 && of("AR", &arabic) > 0,
        "{} {}",
        french.len(),
        arabic.len()
    );
}
