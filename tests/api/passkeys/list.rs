use std::time::Duration;

use tests::{Authenticator, World};

#[tokio::test]
async fn list_is_newest_first_and_has_no_key() {
    let (world, member) = World::with_member().await;
    for _ in 0..2 {
        Authenticator::registered_by(&member).await;
        world.clock().advance(Duration::from_secs(1));
    }
    let listed = member.get("/passkeys").await.expect_ok();
    let created = |index: usize| listed["passkeys"][index]["createdAt"].as_str().unwrap();
    assert!(created(0) > created(1), "{listed}");
    let fields = listed["passkeys"][0].as_object().unwrap();
    let names: Vec<&String> = fields.keys().collect();
    assert!(!listed.to_string().contains("publicKey") && names.len() == 6, "{listed}");
}
