use cloud::faults::{Fault, Mode, Service};
use common::ErrorCode;
use tests::World;

#[tokio::test]
async fn default_avatar_is_served_other_keys_return_404() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    let get = |path: &'static str| {
        let anonymous = anonymous.clone();
        async move { anonymous.send(http::Method::GET, path, "".into()).await }
    };
    let image = get("/media/default.png").await;
    assert_eq!(image.status, 200);
    assert!(image.body.starts_with(b"\x89PNG"));
    for (name, value) in [
        ("content-type", "image/png"),
        ("cache-control", "public, max-age=86400"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("x-content-type-options", "nosniff"),
        ("x-ratelimit-limit", ""),
    ] {
        assert_eq!(image.header(name), value, "{name}");
    }
    for path in [
        "/media/nothing.png",
        "/media/0000000000000000000000000000000000000000.png",
        "/media/..%2Fsecret",
        "/media/0000000000000000000000000000000000000000.svg",
        "/media/a%2Fb.png",
        "/media/..%2fdefault.png",
        "/media/%00",
    ] {
        get(path).await.expect_error(ErrorCode::NotFound);
    }
}

#[tokio::test]
async fn unreachable_bucket_returns_503() {
    let world = World::new().await;
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse));
    let path = "/media/0000000000000000000000000000000000000000.png";
    let answer = world.anonymous().send(http::Method::GET, path, "".into()).await;
    answer.expect_error(ErrorCode::Unavailable);
}
