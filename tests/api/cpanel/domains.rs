use common::ErrorCode;
use domain::{Grant, Profile};
use serde_json::json;
use tests::{Someone, World};

#[tokio::test]
async fn the_accounts_domains_are_shown_as_they_are() {
    let world = World::new().await;
    let shown = world.admin().await.get("/cpanel/domains").await.shows();
    let expected = json!({
        "code": 200,
        "mainDomain": "formation.example.org",
        "addonDomains": ["comites.example.org"],
        "parkedDomains": ["formation.example.net"],
        "subDomains": ["blog.formation.example.org", "comites.formation.example.org", "intranet.comites.example.org"],
    });
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn looking_is_granted_apart_from_changing_and_goes_on_in_a_closed_committee() {
    let world = World::new().await;
    let closed = world.another_committee("Fermé", false).await;
    let reader = world
        .person(
            Someone::with(Profile::Member)
                .of(closed)
                .granted(&[Grant::CpanelRead]),
        )
        .await;
    reader.get("/cpanel/domains").await.shows();
    reader
        .post("/cpanel/subdomain", super::wish("cours"))
        .await
        .refuses(ErrorCode::Forbidden);
    let writer = world
        .person(
            Someone::with(Profile::Member)
                .of(closed)
                .granted(&[Grant::CpanelWrite]),
        )
        .await;
    writer
        .get("/cpanel/domains")
        .await
        .refuses(ErrorCode::Forbidden);
    writer
        .post("/cpanel/subdomain", super::wish("cours"))
        .await
        .refuses(ErrorCode::CommitteeInactive);
    let unverified = world
        .person(
            Someone::with(Profile::Member)
                .granted(&[Grant::CpanelRead])
                .unverified(),
        )
        .await;
    unverified
        .get("/cpanel/domains")
        .await
        .refuses(ErrorCode::AccountNotVerified);
    world
        .stranger()
        .get("/cpanel/domains")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    assert_eq!(
        world.cloud().uapi().calls().len(),
        1,
        "the panel hears of those who may, only"
    );
}

#[tokio::test]
async fn what_has_not_changed_is_304() {
    let (_, admin) = super::tried().await;
    let tag = admin.get("/cpanel/domains").await.header("etag").to_owned();
    assert_eq!(
        admin
            .with("if-none-match", &tag)
            .get("/cpanel/domains")
            .await
            .status,
        304
    );
    admin.post("/cpanel/subdomain", super::wish("cours")).await;
    assert_eq!(
        admin
            .with("if-none-match", &tag)
            .get("/cpanel/domains")
            .await
            .status,
        200
    );
}
