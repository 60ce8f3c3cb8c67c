use cloud::strict::Strictness;
use common::{ErrorCode, Message};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{PASSWORD, World, expect_fields};

async fn payload(world: &World) -> Value {
    json!({
        "name": "Amel",
        "lastName": "Trabelsi",
        "email": "amel@example.org",
        "password": "clé de sol et fa",
        "confirmPassword": "clé de sol et fa",
        "phoneCode": "216",
        "phone": "20123456",
        "committeeID": world.committee(),
    })
}

fn but(mut payload: Value, field: &str, value: Value) -> Value {
    payload[field] = value;
    payload
}

fn without(mut payload: Value, field: &str) -> Value {
    payload.as_object_mut().unwrap().remove(field);
    payload
}

#[tokio::test]
async fn registered_account_can_sign_in() {
    let world = World::new().await;
    let answer = world.anonymous().post("/users/register", payload(&world).await).await;
    let body = answer.expect_success(Message::UserRegistered);
    let user = body["user"].as_object().unwrap();
    assert_eq!(user.len(), 18);
    assert_eq!(user["profile"], "MB");
    assert_eq!((&user["isActive"], &user["isVerified"]), (&json!(true), &json!(false)));
    assert_eq!((&user["phoneCode"], &user["phone"]), (&json!("216"), &json!("20123456")));
    assert_eq!(user["lastActive"], user["DoC"]);
    world.anonymous().sign_in("amel@example.org", "clé de sol et fa").await;
    world.anonymous().sign_in("amel@example.org", "cle\u{301} de sol et fa").await;
}

#[tokio::test]
async fn optional_fields_may_be_omitted() {
    let world = World::new().await;
    let payload =
        without(without(without(payload(&world).await, "phone"), "phoneCode"), "confirmPassword");
    let body = world.anonymous().post("/users/register", payload).await.expect_created();
    assert_eq!((&body["user"]["phoneCode"], &body["user"]["phone"]), (&json!(""), &json!("")));
}

#[tokio::test]
async fn privileged_and_unknown_fields_are_ignored() {
    let world = World::new().await;
    let mut payload = payload(&world).await;
    for (field, value) in [
        ("profile", json!("SA")),
        ("role", json!("chef")),
        ("permissions", json!(["cpanel:write"])),
        ("isActive", json!(false)),
        ("isVerified", json!(true)),
        ("isOtpEnabled", json!(true)),
        ("userID", json!("0198c0de-0000-7000-8000-000000000001")),
        ("epoch", json!(9)),
        ("nonsense", json!({ "deep": [1] })),
    ] {
        payload[field] = value;
    }
    let answer = world.anonymous().post("/users/register", payload).await;
    let user = answer.expect_success(Message::UserRegistered)["user"].clone();
    expect_fields(&user, json!({ "profile": "MB", "role": null, "permissions": "[]" }));
    expect_fields(&user, json!({ "isActive": true, "isVerified": false, "isOtpEnabled": false }));
    assert_ne!(user["userID"], "0198c0de-0000-7000-8000-000000000001");
}

#[tokio::test]
async fn rules_beyond_the_schema_are_reported() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    let payload = payload(&world).await;
    for (field, value, error_code) in [
        ("password", "Motdepasse1", ErrorCode::PasswordTooCommon),
        ("password", "j'aime AMEL fort", ErrorCode::PasswordTooCommon),
        ("password", "trabelsi 2026 !", ErrorCode::PasswordTooCommon),
        ("password", "vive halqa 2026", ErrorCode::PasswordTooCommon),
        ("password", "avec\u{0}zéro dedans", ErrorCode::FieldFormat),
        ("confirmPassword", "autre chose", ErrorCode::PasswordMismatch),
        ("phone", "123", ErrorCode::FieldFormat),
        ("phoneCode", "+216", ErrorCode::FieldFormat),
        ("committeeID", "0198c0de-0000-7000-8000-000000000001", ErrorCode::CommitteeInvalid),
    ] {
        let mut payload = but(payload.clone(), field, json!(value));
        if field == "password" {
            payload["confirmPassword"] = json!(value);
        }
        anonymous.post("/users/register", payload).await.expect_field_error(field, error_code);
    }
}

#[tokio::test]
async fn several_invalid_fields_are_reported_together() {
    let world = World::new().await;
    let answer = world
        .anonymous()
        .post(
            "/users/register",
            json!({ "email": "x", "password": "court", "confirmPassword": "autre" }),
        )
        .await;
    answer.expect_error(ErrorCode::Validation);
    let fields: Vec<String> = answer.errors().into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["name", "lastName", "email", "committeeID", "password", "confirmPassword"]);
}

#[tokio::test]
async fn address_can_be_registered_once_in_any_spelling() {
    let world = World::new().await;
    world.anonymous().post("/users/register", payload(&world).await).await.expect_created();
    for email in ["amel@example.org", " AMEL@EXAMPLE.ORG ", "amel@EXAMPLE.org"] {
        let again = world
            .anonymous()
            .post("/users/register", but(payload(&world).await, "email", json!(email)))
            .await;
        again.expect_field_error("email", ErrorCode::EmailAlreadyUsed);
    }
}

#[tokio::test]
async fn fifty_concurrent_registrations_of_one_address_create_one_account() {
    let world = World::with(&[("RATE_LIMIT", "1000"), ("REGISTER_PER_HOUR", "1000")]).await;
    let processes = [world.clone(), world.another_process()];
    let payload = payload(&world).await;
    let before = world.items("records").len();
    let people: Vec<_> =
        (0..50).map(|number| world.anonymous().via(&processes[number % 2])).collect();
    // A busy machine leaves too little time for conflicting transactions.
    let answers = join_all(
        people.iter().map(|person| person.post_until_answered("/users/register", payload.clone())),
    )
    .await;
    let won = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(won, 1, "{answers:?}");
    assert!(
        answers
            .iter()
            .all(|answer| answer.status == 201
                || answer.code() == ErrorCode::EmailAlreadyUsed.code()),
        "{answers:?}"
    );
    assert_eq!(world.items("records").len(), before + 4, "address, account, credentials, message");
}

#[tokio::test]
async fn registrations_in_one_committee_do_not_conflict() {
    let world = World::new().await;
    let valid = payload(&world).await;
    let register = |number: u32| {
        let email = json!(format!("amel{number}@example.org"));
        let (anonymous, payload) = (world.anonymous(), but(valid.clone(), "email", email));
        async move {
            let answer = anonymous.post("/users/register", payload).await;
            answer.expect_success(Message::UserRegistered);
            answer.cost.requests
        }
    };
    let alone = register(0).await;
    world.cloud().set_strictness(Strictness { transaction_ms: 20, ..Strictness::default() });
    assert_eq!(join_all((1..=64).map(register)).await, [alone; 64], "no transaction is repeated");
}

#[tokio::test]
async fn closed_registration_returns_403_before_reading_the_body() {
    let world = World::with(&[("REGISTRATION", "closed")]).await;
    world.anonymous().post("/users/register", json!({})).await.expect_error(ErrorCode::Forbidden);
}

#[tokio::test]
async fn registrations_per_network_and_hour_are_limited() {
    let world = World::with(&[("REGISTER_PER_HOUR", "2")]).await;
    let anonymous = world.anonymous();
    let payload = payload(&world).await;
    anonymous.post("/users/register", json!({})).await.expect_error(ErrorCode::Validation);
    anonymous.post("/users/register", payload.clone()).await.expect_created();
    let answer = anonymous.post("/users/register", payload.clone()).await;
    answer.expect_error(ErrorCode::EmailAlreadyUsed);
    let answer = anonymous.post("/users/register", payload.clone()).await;
    answer.expect_error(ErrorCode::TooManyAttempts);
    world
        .anonymous()
        .post("/users/register", but(payload, "email", json!("autre@example.org")))
        .await
        .expect_created();
}

#[tokio::test]
async fn registrations_of_one_v6_site_are_counted_together() {
    let world = World::with(&[("REGISTER_PER_HOUR", "1")]).await;
    let payload = payload(&world).await;
    let register = async |address: &str, number: u32| {
        let payload = but(payload.clone(), "email", json!(format!("voisin{number}@example.org")));
        world.anonymous().at(address).post("/users/register", payload).await
    };
    // Ten times as many as of one network.
    for number in 0..10 {
        register(&format!("2001:db8:7:{number:x}::1"), number).await.expect_created();
    }
    register("2001:db8:7:ffff::1", 10).await.expect_error(ErrorCode::TooManyAttempts);
    register("2001:db8:8::1", 11).await.expect_created();
}

#[tokio::test]
async fn passwords_are_not_stored_readable_nor_addresses_in_keys() {
    let world = World::new().await;
    world.anonymous().post("/users/register", payload(&world).await).await.expect_created();
    for item in world.items("records").iter().chain(&world.items("transient")) {
        let text = item.to_string();
        assert!(!text.contains("clé de sol"), "{text}");
        assert!(
            !item["pk"]["S"].as_str().unwrap().contains('@')
                && !item["sk"]["S"].as_str().unwrap().contains('@'),
            "no address in a key"
        );
    }
    assert_ne!(PASSWORD, "clé de sol et fa");
}

#[tokio::test]
async fn address_in_use_is_reported_after_all_other_errors() {
    let world = World::new().await;
    let taken = but(payload(&world).await, "email", json!("admin@example.org"));
    let unknown = json!("0198c0de-0000-7000-8000-000000000001");
    let answer =
        world.anonymous().post("/users/register", but(taken.clone(), "committeeID", unknown)).await;
    answer.expect_field_error("committeeID", ErrorCode::CommitteeInvalid);
    let answer = world.anonymous().post("/users/register", taken).await;
    answer.expect_field_error("email", ErrorCode::EmailAlreadyUsed);
}
