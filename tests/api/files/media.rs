use common::ErrorCode;
use local::faults::{Fault, Mode, Service};
use tests::World;

#[tokio::test]
async fn the_default_avatar_is_there_and_everything_else_is_an_enveloped_404() {
    let world = World::new().await;
    let stranger = world.stranger();
    let get = |path: &'static str| {
        let stranger = stranger.clone();
        async move { stranger.send(http::Method::GET, path, "".into()).await }
    };
    let image = get("/media/default.png").await;
    assert_eq!(
        (image.status, image.header("content-type")),
        (200, "image/png")
    );
    assert_eq!(
        image.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(image.header("cross-origin-resource-policy"), "cross-origin");
    assert_eq!(image.header("x-ratelimit-limit"), "", "outside the limit");
    for path in [
        "/media/nothing.png",
        "/media/0000000000000000000000000000000000000000.png",
        "/media/..%2Fsecret",
        "/media/0000000000000000000000000000000000000000.svg",
        "/media/a%2Fb.png",
    ] {
        get(path).await.refuses(ErrorCode::NotFound);
    }
}

#[tokio::test]
async fn a_bucket_out_of_reach_is_503() {
    let world = World::new().await;
    world.strike_at(Service::S3, Fault::new(Mode::Refuse));
    let path = "/media/0000000000000000000000000000000000000000.png";
    world
        .stranger()
        .send(http::Method::GET, path, "".into())
        .await
        .refuses(ErrorCode::Unavailable);
}
