use common::ErrorCode;
use domain::{Grant, Profile};
use serde_json::json;
use tests::{NewPerson, World};

#[tokio::test]
async fn domains_of_the_account_are_listed() {
    let world = World::new().await;
    let body = world.admin().await.get("/cpanel/domains").await.expect_ok();
    let expected = json!({
        "code": 200,
        "mainDomain": "formation.example.org",
        "addonDomains": ["comites.example.org"],
        "parkedDomains": ["formation.example.net"],
        "subDomains": ["blog.formation.example.org", "comites.formation.example.org", "intranet.comites.example.org"],
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn read_grant_excludes_writing_and_works_in_a_closed_committee() {
    let world = World::new().await;
    let closed = world.another_committee("Fermé", false).await;
    let reader = world
        .person(NewPerson::with(Profile::Member).of(closed).granted(&[Grant::CpanelRead]))
        .await;
    reader.get("/cpanel/domains").await.expect_ok();
    reader
        .post("/cpanel/subdomain", super::payload("cours"))
        .await
        .expect_error(ErrorCode::Forbidden);
    let writer = world
        .person(NewPerson::with(Profile::Member).of(closed).granted(&[Grant::CpanelWrite]))
        .await;
    writer.get("/cpanel/domains").await.expect_error(ErrorCode::Forbidden);
    writer
        .post("/cpanel/subdomain", super::payload("cours"))
        .await
        .expect_error(ErrorCode::CommitteeInactive);
    let unverified = world
        .person(NewPerson::with(Profile::Member).granted(&[Grant::CpanelRead]).unverified())
        .await;
    unverified.get("/cpanel/domains").await.expect_error(ErrorCode::AccountNotVerified);
    world.anonymous().get("/cpanel/domains").await.expect_error(ErrorCode::BadAuthCombination);
    assert_eq!(
        world.cloud().uapi().calls().len(),
        1,
        "only permitted requests are sent to the panel"
    );
}

#[tokio::test]
async fn unchanged_domains_return_304() {
    let (_, admin) = super::world_with_used_token().await;
    let tag = admin.get("/cpanel/domains").await.header("etag").to_owned();
    assert_eq!(admin.with("if-none-match", &tag).get("/cpanel/domains").await.status, 304);
    admin.post("/cpanel/subdomain", super::payload("cours")).await;
    assert_eq!(admin.with("if-none-match", &tag).get("/cpanel/domains").await.status, 200);
}
