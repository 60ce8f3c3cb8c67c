//! Headers of CloudFront in front of the gateway, genuine and forged.

use domain::Profile;
use identity::NamedKey;
use serde_json::{Map, Value, json};
use tests::{LambdaAnswer, PASSWORD, Person, World};

const VIEWER: [(&str, &str); 7] = [
    ("cloudfront-viewer-address", "2001:db8:85a3::7334:46532"),
    ("cloudfront-viewer-country", "TN"),
    ("cloudfront-viewer-country-name", "Tunisia"),
    ("cloudfront-viewer-country-region-name", "B%C3%A9ja"),
    ("cloudfront-viewer-city", "B%C3%A9ja"),
    ("cloudfront-viewer-latitude", "36.73"),
    ("cloudfront-viewer-longitude", "9.18"),
];

fn through_cloudfront(person: &Person, secret: Option<&str>) -> Person {
    let viewed =
        VIEWER.into_iter().fold(person.clone(), |person, (name, value)| person.with(name, value));
    secret.map_or(viewed.clone(), |secret| viewed.with("x-halqa-edge", secret))
}

async fn sign_in_of(world: &World, person: &Person) -> serde_json::Value {
    let account = world.account(Profile::Member).await;
    person.login(account.email.as_str(), PASSWORD).await.json()["user"]["LoginActivity"][0].clone()
}

#[tokio::test]
async fn viewer_headers_with_either_edge_secret_are_trusted() {
    let (new, old) =
        (NamedKey::generate("new").to_setting(), NamedKey::generate("old").to_setting());
    let world = World::with(&[("EDGE", "on"), ("EDGE_SECRETS", &format!("{new},{old}"))]).await;
    for key in [&new, &old] {
        let activity = sign_in_of(&world, &through_cloudfront(&world.anonymous(), Some(key))).await;
        let location =
            ["ip", "countryCode", "country", "region", "city", "lat", "lon", "continent", "isp"]
                .map(|name| activity[name].clone());
        let expected = json!([
            "2001:db8:85a3::7334",
            "TN",
            "Tunisia",
            "Béja",
            "Béja",
            36.73,
            9.18,
            null,
            null
        ]);
        assert_eq!(json!(location), expected);
    }
}

#[tokio::test]
async fn viewer_headers_without_the_edge_secret_are_ignored() {
    let key = NamedKey::generate("edge").to_setting();
    let with = World::with(&[("EDGE", "optional"), ("EDGE_SECRETS", &key)]).await;
    let without = World::with(&[("EDGE_SECRETS", &key)]).await;
    for (world, secret_sent) in [
        (&with, None),
        (&with, Some("edge:rubbish")),
        (&with, Some("")),
        (&without, Some(key.as_str())),
    ] {
        let anonymous = world.anonymous();
        let activity = sign_in_of(world, &through_cloudfront(&anonymous, secret_sent)).await;
        assert!(activity["ip"].as_str().unwrap().starts_with("10."), "{activity}");
        assert_eq!((&activity["countryCode"], &activity["lat"]), (&json!(null), &json!(null)));
    }
}

/// The answer to an event of the gateway at `ip`, with `headers`.
async fn answer(
    world: &World,
    ip: &str,
    call: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> LambdaAnswer {
    let (method, path) = call.split_once(' ').unwrap();
    let headers: Map<String, Value> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let event = json!({
        "version": "2.0",
        "rawPath": format!("/api/v1{path}"),
        "rawQueryString": "",
        "headers": headers,
        "requestContext": { "http": { "method": method, "path": path, "sourceIp": ip } },
        "body": body.to_string(),
        "isBase64Encoded": false,
    });
    LambdaAnswer::to(world.edge(), event).await
}

#[tokio::test]
async fn request_around_the_edge_returns_403_with_all_headers() {
    let key = NamedKey::generate("edge").to_setting();
    let world = World::with(&[("EDGE", "on"), ("EDGE_SECRETS", &key)]).await;
    let account = world.account(Profile::Member).await;
    let token = world.member().await.token().to_owned();
    let login = json!({ "email": account.email.as_str(), "password": PASSWORD });
    for (secret, expected) in [("edge:rubbish", 403), ("", 403), (key.as_str(), 200)] {
        let headers = [("x-halqa-edge", secret), ("authorization", token.as_str())];
        for (call, headers) in [
            ("GET /health", &headers[..1]),
            ("GET /committees", &headers[..1]),
            ("POST /auth/login", &headers[..1]),
            ("GET /auth/check", &headers[..]),
        ] {
            let answer = answer(&world, "192.0.2.1", call, headers, login.clone()).await;
            assert_eq!(answer.status_code, expected, "{call} {answer:?}");
            for name in ["etag", "x-powered-by", "x-request-id"] {
                assert!(answer.headers.contains_key(name), "{call} {name}");
            }
            let body: Value = serde_json::from_str(&answer.body).unwrap();
            let is_refused = body["message"]["RESPONSE_CODE"] == "FORBIDDEN_MESSAGE";
            assert_eq!(is_refused, expected == 403, "{call} {body}");
        }
    }
    // Without the header, and for a path that does not exist.
    assert_eq!(answer(&world, "192.0.2.1", "GET /nowhere", &[], json!({})).await.status_code, 403);
}

#[tokio::test]
async fn request_around_the_edge_counts_for_the_gateways_address() {
    let key = NamedKey::generate("edge").to_setting();
    let world = World::with(&[("EDGE", "on"), ("EDGE_SECRETS", &key), ("RATE_LIMIT", "2")]).await;
    let viewer = ("cloudfront-viewer-address", "198.51.100.7:1");
    let mut statuses = Vec::new();
    for secret in ["edge:rubbish", "edge:rubbish", "edge:rubbish", &key] {
        let headers = [("x-halqa-edge", secret), viewer];
        let answer = answer(&world, "192.0.2.2", "GET /committees", &headers, json!({})).await;
        statuses.push(answer.status_code);
    }
    assert_eq!(statuses, [403, 403, 429, 200]);
}

#[tokio::test]
async fn rate_limit_counts_the_viewer_address() {
    let key = NamedKey::generate("edge").to_setting();
    let world = World::with(&[("EDGE", "on"), ("EDGE_SECRETS", &key), ("RATE_LIMIT", "2")]).await;
    let one = through_cloudfront(&world.anonymous(), Some(&key));
    let other = world
        .anonymous()
        .with("cloudfront-viewer-address", "198.51.100.7:1")
        .with("x-halqa-edge", &key);
    let statuses = [
        one.get("/nowhere").await,
        one.get("/nowhere").await,
        one.get("/nowhere").await,
        other.get("/nowhere").await,
    ];
    assert_eq!(statuses.map(|answer| answer.status), [404, 404, 429, 404]);
}

#[tokio::test]
async fn malformed_viewer_address_falls_back_to_the_gateways() {
    let key = NamedKey::generate("edge").to_setting();
    let world = World::with(&[("EDGE", "on"), ("EDGE_SECRETS", &key)]).await;
    let odd =
        world.anonymous().with("cloudfront-viewer-address", "nowhere").with("x-halqa-edge", &key);
    assert!(sign_in_of(&world, &odd).await["ip"].as_str().unwrap().starts_with("10."));
}

#[tokio::test]
async fn malformed_viewer_location_is_unknown() {
    let key = NamedKey::generate("edge").to_setting();
    let world = World::with(&[("EDGE", "on"), ("EDGE_SECRETS", &key)]).await;
    let viewer = world
        .anonymous()
        .with("x-halqa-edge", &key)
        .with("cloudfront-viewer-address", "198.51.100.7:1");
    let long = "a".repeat(129);
    for city in ["a%0Ab", "%FF", "", &long] {
        let odd =
            viewer.with("cloudfront-viewer-city", city).with("cloudfront-viewer-latitude", "1e300");
        let activity = sign_in_of(&world, &odd.with("cloudfront-viewer-longitude", "NaN")).await;
        assert_eq!(
            json!([activity["city"], activity["lat"], activity["lon"]]),
            json!([null, null, null]),
            "{city}"
        );
    }
    let named = viewer.with("cloudfront-viewer-city", "A & B = C+D");
    assert_eq!(sign_in_of(&world, &named).await["city"], "A & B = C+D");
}
