use common::ErrorCode;
use serde_json::json;
use store::Setup;
use tests::World;

use super::payload;

#[tokio::test]
async fn missing_panel_configuration_returns_503() {
    let world = World::with(&[("CPANEL_URL", "")]).await;
    let admin = world.admin().await;
    for path in ["/cpanel/subdomain", "/cpanel/domains", "/cpanel/db"] {
        admin.get(path).await.expect_error(ErrorCode::CpanelUnavailable);
    }
    let answer = admin.post("/cpanel/subdomain", payload("cours")).await;
    answer.expect_error(ErrorCode::CpanelUnavailable);
    let answer = admin.post("/cpanel/subdomain", payload("www")).await;
    answer.expect_field_error("domain", ErrorCode::FieldValue);
    world.member().await.get("/cpanel/domains").await.expect_error(ErrorCode::Forbidden);
}

#[tokio::test]
async fn root_domain_outside_the_allow_list_returns_404() {
    let world =
        World::with(&[("CPANEL_ROOT_DOMAINS", "comites.example.org, Elsewhere.test")]).await;
    let admin = world.admin().await;
    for root in ["formation.example.org", "elsewhere.test"] {
        let answer =
            admin.post("/cpanel/subdomain", json!({ "domain": "cours", "rootdomain": root })).await;
        answer.expect_error(ErrorCode::RootDomainNotFound);
    }
    let answer = admin
        .post(
            "/cpanel/subdomain",
            json!({ "domain": "cours", "rootdomain": "comites.example.org" }),
        )
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn token_comes_from_ssm_and_is_optional_without_panel() {
    let world = World::new().await;
    let start = async |url: Option<&str>| {
        let mut settings = world.settings();
        settings
            .set("KEYS_PATH", "/halqa/test/cpanel")
            .unset("CPANEL_TOKEN")
            .unset("TOKEN_PUBLIC_KEYS")
            .set_or_unset("CPANEL_URL", url);
        let setup = Setup::start(settings.settings(), cpanel::KEYS)
            .await
            .map_err(|problem| problem.to_string())?;
        cpanel::routes(&setup).map(|_| ()).map_err(|problem| problem.to_string())
    };
    world
        .cloud()
        .put_parameter("/halqa/test/public/TOKEN_PUBLIC_KEYS", &world.setting("TOKEN_PUBLIC_KEYS"));
    assert_eq!(start(None).await, Ok(()));
    assert_eq!(
        start(Some("http://127.0.0.1:2083")).await,
        Err("The setting CPANEL_TOKEN is missing.".to_owned())
    );
    world.cloud().put_parameter("/halqa/test/cpanel/CPANEL_TOKEN", "TOKEN");
    assert_eq!(start(Some("http://127.0.0.1:2083")).await, Ok(()));
}

/// The token of the panel is in no response and in no item; `edge/logs.rs` checks the logs.
#[tokio::test]
async fn panel_token_is_in_no_response_or_item() {
    let (world, admin) = super::world_with_used_token().await;
    let token = world.setting("CPANEL_TOKEN");
    let texts = [
        admin.get("/cpanel/domains").await.json().to_string(),
        world.cloud().uapi().shown().to_string(),
        serde_json::Value::from(world.items("transient")).to_string(),
        serde_json::Value::from(world.items("records")).to_string(),
    ];
    assert!(texts.iter().all(|text| !text.contains(&token)));
}
