use serde_json::json;
use tests::World;

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
async fn unchanged_domains_return_304() {
    let (_, admin) = super::world_with_used_token().await;
    let tag = admin.get("/cpanel/domains").await.header("etag").to_owned();
    assert_eq!(admin.with("if-none-match", &tag).get("/cpanel/domains").await.status, 304);
    admin.post("/cpanel/subdomain", super::payload("cours")).await;
    assert_eq!(admin.with("if-none-match", &tag).get("/cpanel/domains").await.status, 200);
}
