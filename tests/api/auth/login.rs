use std::{collections::HashSet, time::Duration};

use cloud::{
    guard::{AccessRequest, TransactionKeys},
    strict::Strictness,
};
use common::{ErrorCode, Message};
use domain::{Email, Profile, device::KnownDevices, user::User};
use futures_util::future::join_all;
use identity::password::Hasher;
use serde_json::{Value, json};
use store::{CommitOutcome, Counter};
use tests::{NewPerson, PASSWORD, Person, World, expect_fields};

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn correct_password_returns_session_and_own_account() {
    let world = World::new().await;
    let body = world.anonymous().sign_in("admin@example.org", PASSWORD).await;
    let user = body["user"].as_object().unwrap();
    let expected = "\
        userID name lastName email DoC avatar phoneCode phone isActive isVerified profile role \
        lastActive isOtpEnabled isOtpVerified committeeID Committee LoginActivity otpHex otpAscii \
        otpAuthUrl otpBase32 passwordlessBase32 permissions token";
    let fields: HashSet<&str> = user.keys().map(String::as_str).collect();
    assert_eq!(fields, expected.split(' ').collect());
    assert_eq!(user["Committee"].as_object().unwrap().len(), 15);
    assert_eq!(user["Committee"]["committeeID"], user["committeeID"]);
    assert_eq!(user["permissions"], "[]");
    assert_eq!(user["role"], json!(null));
    assert_eq!((&user["phone"], &user["phoneCode"]), (&json!(""), &json!("")));
    assert_eq!(user["avatar"], "/media/default.png");
}

#[tokio::test]
async fn token_is_in_header_and_body() {
    let world = World::new().await;
    let answer = world.anonymous().login("admin@example.org", PASSWORD).await;
    let token = answer.json()["user"]["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("Bearer "));
    assert_eq!(answer.header("authorization"), token);
    world.anonymous().with_token(&token).get("/auth/current-user").await.expect_ok();
}

#[tokio::test]
async fn wrong_unknown_and_inactive_get_identical_responses() {
    let world = World::new().await;
    let closed = world.account(&NewPerson::with(Profile::Member).inactive()).await;
    let wrong = world.anonymous().login("admin@example.org", "not the password").await;
    wrong.expect_unauthorized();
    assert_eq!(wrong.header("www-authenticate"), "Bearer realm=\"halqa\"");
    for other in [
        world.anonymous().login("unknown@example.org", PASSWORD).await,
        world.anonymous().login(closed.email.as_str(), PASSWORD).await,
        world.anonymous().login("admin@example.org", &format!("{PASSWORD} ")).await,
        world.anonymous().login("admin@example.org", &"x".repeat(90_000)).await,
    ] {
        assert_eq!((other.status, &other.body), (wrong.status, &wrong.body));
        let names = |answer: &tests::Answer| answer.headers.keys().cloned().collect::<HashSet<_>>();
        assert_eq!(names(&other), names(&wrong));
    }
}

#[tokio::test]
async fn known_and_unknown_addresses_cost_the_same_store_requests() {
    let world = World::new().await;
    let closed = world.account(&NewPerson::with(Profile::Member).inactive()).await;
    for (email, password) in [
        ("admin@example.org", "not the password"),
        ("unknown@example.org", PASSWORD),
        (closed.email.as_str(), PASSWORD),
    ] {
        let cost = world.anonymous().login(email, password).await.cost;
        assert_eq!((cost.round_trips, cost.requests, cost.writes), (3, 8, 5.0), "{email}");
    }
}

#[tokio::test]
async fn sign_in_needs_four_round_trips_and_nine_requests() {
    let world = World::new().await;
    let answer = world.anonymous().login("admin@example.org", PASSWORD).await;
    answer.expect_success(Message::LoginSuccess);
    assert_eq!((answer.cost.round_trips, answer.cost.requests), (4, 9));
}

#[tokio::test]
async fn sign_ins_are_recorded_and_last_ten_shown_newest_first() {
    let world = World::new().await;
    let person = world.anonymous().with(
        "user-agent",
        "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
    );
    let mut last = json!(null);
    for count in 1..=11 {
        world.clock().advance(Duration::from_secs(1));
        let body = person.sign_in("admin@example.org", PASSWORD).await;
        let activity = body["user"]["LoginActivity"].as_array().unwrap().clone();
        assert_eq!(activity.len(), count.min(10));
        let ids: Vec<u64> =
            activity.iter().map(|entry| entry["loginActivityID"].as_u64().unwrap()).collect();
        assert!(ids.is_sorted_by(|newer, older| newer > older), "{ids:?}");
        last = activity[0].clone();
    }
    expect_fields(&last, json!({ "browser": "Firefox", "os": "Linux", "device": "desktop" }));
    assert_eq!(last["country"], json!(null));
}

#[tokio::test]
async fn sign_ins_in_the_same_microsecond_are_all_recorded() {
    let world = World::new().await;
    let people: Vec<_> = (0..8).map(|_| world.anonymous()).collect();
    let answers =
        join_all(people.iter().map(|person| person.login("admin@example.org", PASSWORD))).await;
    let tokens: HashSet<String> = answers
        .iter()
        .map(|answer| answer.expect_success(Message::LoginSuccess)["user"]["token"].to_string())
        .collect();
    assert_eq!(tokens.len(), 8);
    assert_eq!(
        world
            .items("records")
            .iter()
            .filter(|item| item["sk"]["S"].as_str().unwrap().starts_with("LOGIN#"))
            .count(),
        8
    );
}

/// Signs `person` in as the super admin; returns how many mails were sent so far.
async fn mails_after_sign_in(world: &World, person: &Person) -> usize {
    person.sign_in("admin@example.org", PASSWORD).await;
    world.mails("admin@example.org").await.len()
}

/// The stored devices of the only account that has signed in.
fn stored_devices(world: &World) -> Value {
    let mut items = world.items("transient").into_iter();
    let stored = items.find(|item| item["sk"]["S"] == "DEVICES");
    stored.unwrap()
}

#[tokio::test]
async fn sign_in_from_new_address_range_notifies_the_owner() {
    let world = World::new().await;
    let person = world.anonymous();
    for (ip, expected) in [
        ("10.1.0.1", 0),
        ("10.1.255.9", 0),
        ("10.2.0.1", 1),
        ("10.2.0.1", 1),
        ("10.1.0.1", 1),
        ("2001:db8:1::1", 2),
        ("2001:db8:ffff::1", 2),
        ("2001:db9:1::1", 3),
    ] {
        assert_eq!(mails_after_sign_in(&world, &person.at(ip)).await, expected, "{ip}");
    }
}

#[tokio::test]
async fn device_is_known_after_more_than_ten_other_sign_ins() {
    let world = World::new().await;
    let curl = world.anonymous().with("user-agent", "curl/8.5.0");
    let firefox = world.anonymous().with("user-agent", "Firefox/132.0");
    assert_eq!(mails_after_sign_in(&world, &curl).await, 0);
    for _ in 0..11 {
        assert_eq!(mails_after_sign_in(&world, &firefox).await, 1);
    }
    let mails = world.mails("admin@example.org").await;
    assert!(mails[0]["text"].as_str().unwrap().contains("Firefox"));
    assert_eq!(mails_after_sign_in(&world, &curl).await, 1);
}

#[tokio::test]
async fn device_unused_for_180_days_is_new_again() {
    let world = World::new().await;
    let person = world.anonymous();
    assert_eq!(mails_after_sign_in(&world, &person).await, 0);
    world.clock().advance(DAY * 179);
    assert_eq!(mails_after_sign_in(&world, &person).await, 0);
    world.clock().advance(DAY * 180);
    assert_eq!(mails_after_sign_in(&world, &person).await, 1);
}

#[tokio::test]
async fn sign_in_after_expiry_of_all_devices_notifies_the_owner() {
    let (world, admin) = World::with_admin().await;
    world.clock().advance(Duration::from_secs(300));
    admin.get("/auth/check").await.expect_ok();
    world.clock().advance(DAY * 180);
    // DynamoDB deletes expired items.
    let id = admin.user().user_id;
    world.setup().store.delete_devices(id).await.unwrap();
    assert_eq!(mails_after_sign_in(&world, &world.anonymous()).await, 1);
}

#[tokio::test]
async fn known_device_is_stored_again_after_a_day() {
    let world = World::new().await;
    let person = world.anonymous();
    mails_after_sign_in(&world, &person).await;
    let first = stored_devices(&world);
    world.clock().advance(DAY / 2);
    mails_after_sign_in(&world, &person).await;
    assert_eq!(stored_devices(&world), first);
    world.clock().advance(DAY / 2);
    mails_after_sign_in(&world, &person).await;
    assert_ne!(stored_devices(&world), first);
}

#[tokio::test]
async fn new_device_beyond_eighty_entries_replaces_the_newest() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let email: Email = "admin@example.org".parse().unwrap();
    let owner = store.email_owner(&email).await.unwrap().unwrap();
    let range = |number: i64| {
        let first = now.unix_seconds() - number;
        (format!("RANGE#192.{number}"), (first, now.unix_seconds()))
    };
    let full: KnownDevices = (0..80).map(range).collect();
    let mut tx = store.transaction();
    tx.change_devices(owner.user_id, &KnownDevices::default(), &full, now);
    assert_eq!(tx.commit().await.unwrap(), CommitOutcome::Committed);

    assert_eq!(mails_after_sign_in(&world, &world.anonymous()).await, 1);
    let stored = stored_devices(&world);
    let is_stored = |name: &str| stored.get(name).is_some();
    assert!(is_stored("DEVICE#unknown#unknown#unknown") && is_stored("RANGE#10.0"));
    assert!(is_stored("RANGE#192.3"));
    assert!(!(0..3).any(|number| is_stored(&format!("RANGE#192.{number}"))));
    assert_eq!(stored.as_object().unwrap().len(), 80 + ["pk", "sk", "ttl"].len());
}

#[tokio::test]
async fn ten_failures_from_one_network_block_account_in_that_network_only() {
    let world = World::new().await;
    let attacker = world.anonymous();
    for _ in 0..10 {
        attacker.login("admin@example.org", "not the password").await.expect_unauthorized();
    }
    let refused = attacker.login("admin@example.org", PASSWORD).await;
    refused.expect_error(ErrorCode::TooManyAttempts);
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!((880..=900).contains(&seconds), "{seconds}");
    assert_eq!(refused.header("x-ratelimit-limit"), "100");
    world.anonymous().sign_in("admin@example.org", PASSWORD).await;
    attacker.sign_in(world.account(Profile::Member).await.email.as_str(), PASSWORD).await;

    world.clock().advance(Duration::from_secs(15 * 60));
    attacker.sign_in("admin@example.org", PASSWORD).await;
}

#[tokio::test]
async fn ipv6_64_prefix_counts_as_one_network() {
    let world = World::new().await;
    for number in 0..10 {
        let attacker = world.anonymous().at(&format!("2001:db8:1:2::{number:x}"));
        attacker.login("admin@example.org", "not the password").await.expect_unauthorized();
    }
    world
        .anonymous()
        .at("2001:db8:1:2:ffff::1")
        .login("admin@example.org", PASSWORD)
        .await
        .expect_error(ErrorCode::TooManyAttempts);
    world.anonymous().at("2001:db8:1:3::1").sign_in("admin@example.org", PASSWORD).await;
}

#[tokio::test]
async fn fifty_concurrent_failures_only_ten_are_tried() {
    let world = World::new().await;
    let attacker = world.anonymous();
    let answers =
        join_all((0..50).map(|_| attacker.login("admin@example.org", "not the password"))).await;
    let tried =
        answers.iter().filter(|answer| answer.code() == ErrorCode::BadAuthCombination.code());
    // 503 if the machine is too busy to hash within the time of a request: that attempt is released for another one.
    let busy = answers.iter().filter(|answer| answer.status == 503);
    let refused =
        answers.iter().filter(|answer| answer.code() == ErrorCode::TooManyAttempts.code());
    let (tried, busy, refused) = (tried.count(), busy.count(), refused.count());
    assert_eq!(tried + busy + refused, 50, "{answers:?}");
    assert!(tried <= 10 && tried + busy >= 10, "{answers:?}");
}

#[tokio::test]
async fn unknown_address_failures_are_counted_like_known() {
    let world = World::new().await;
    let attacker = world.anonymous();
    for _ in 0..10 {
        attacker.login("unknown@example.org", "not the password").await.expect_unauthorized();
    }
    let answer = attacker.login("unknown@example.org", "not the password").await;
    answer.expect_error(ErrorCode::TooManyAttempts);
}

#[tokio::test]
async fn successful_sign_ins_are_not_counted() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let person = world.anonymous();
    for _ in 0..12 {
        person.sign_in("admin@example.org", PASSWORD).await;
    }
}

/// The counts of the counters whose names begin with `name`.
fn counts(world: &World, name: &str) -> Vec<String> {
    let start = format!("COUNTER#{name}");
    let items = world.items("transient").into_iter();
    let counters = items.filter(|item| item["pk"]["S"].as_str().unwrap().starts_with(&start));
    counters.map(|item| item["n"]["N"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn concurrent_sign_ins_from_one_network_are_not_counted() {
    let world = World::new().await;
    let mut users = Vec::new();
    for _ in 0..8 {
        users.push(world.account(Profile::Member).await);
    }
    world.cloud().set_strictness(Strictness { transaction_ms: 2, ..Strictness::default() });
    let network = world.anonymous();
    let sign_ins = users.iter().map(|user| network.login(user.email.as_str(), PASSWORD));
    for answer in join_all(sign_ins).await {
        answer.expect_success(Message::LoginSuccess);
    }
    assert_eq!(counts(&world, "password-"), vec!["0"; 25], "three per account, one of the network");
}

#[tokio::test]
async fn release_after_the_end_of_a_window_leaves_the_next_one() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let [short, long] = [("short", 60), ("long", 600)].map(|(name, seconds)| Counter {
        name,
        key: String::new(),
        max: 10,
        window: Duration::from_secs(seconds),
    });
    let both = [short.clone(), long];
    let mut reserved = store.reserve(&both, now).await.unwrap();
    let later = now.after(Duration::from_secs(60));
    let _next = store.reserve(&[short], later).await.unwrap();
    let outcome = store.transaction().commit_and_release(&mut reserved).await;
    assert_eq!(outcome.unwrap(), CommitOutcome::Committed);
    store.release(reserved).await.unwrap();
    assert_eq!(
        (counts(&world, "short"), counts(&world, "long")),
        (vec!["1".to_owned()], vec!["0".to_owned()])
    );
}

#[tokio::test]
async fn blocked_network_does_not_fill_the_accounts_counter() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let attacker = world.anonymous();
    for _ in 0..120 {
        attacker.login("admin@example.org", "not the password").await;
    }
    world.anonymous().sign_in("admin@example.org", PASSWORD).await;
}

#[tokio::test]
async fn open_sessions_work_while_sign_in_is_blocked() {
    let (_, admin) = World::with_admin().await;
    for _ in 0..11 {
        admin.login("admin@example.org", "not the password").await;
    }
    admin.get("/auth/check").await.expect_ok();
}

#[tokio::test]
async fn administrator_access_token_has_shorter_lifetime() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let claims = |token: &str| -> Value {
        let part = token.split('.').nth(1).unwrap();
        serde_json::from_slice(&data_encoding::BASE64URL_NOPAD.decode(part.as_bytes()).unwrap())
            .unwrap()
    };
    let member = world.member().await;
    for (person, hours) in [(world.admin().await, 4), (member, 12)] {
        let claims = claims(person.token());
        assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), hours * 3600);
        for claim in ["iss", "aud", "sub", "sid", "jti", "iat", "nbf", "exp", "auth_time", "amr"] {
            assert!(!claims[claim].is_null(), "{claim}");
        }
    }
}

#[tokio::test]
async fn password_changed_since_it_was_read_starts_no_session() {
    let world = World::new().await;
    let account = world.account(Profile::Member).await;
    let old_hash = password_hash(&world, &account).await;
    let new_hash = Hasher::default().hash(&"another password".into()).await.unwrap();
    // The epoch stays, as if the account had been read after a change of the password, and the credentials before it.
    let change = async {
        account_is_read(&world).await;
        change_hash(&world, &account, &old_hash, &new_hash).await;
    };
    let anonymous = world.anonymous();
    let (answer, ()) = tokio::join!(anonymous.login(account.email.as_str(), PASSWORD), change);
    answer.expect_unauthorized();
    let items = world.items("transient");
    let is_session = |item: &Value| item["sk"]["S"].as_str().unwrap().starts_with("SESSION#");
    assert!(!items.iter().any(is_session), "{items:?}");
}

#[tokio::test]
async fn sign_ins_during_a_password_change_are_answered() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    let email = member.user().email.as_str();
    let new = "quatre figuiers dans la cour";
    let people: Vec<_> = (0..8).map(|_| world.anonymous()).collect();
    let sign_ins = join_all(people.iter().map(|person| person.login(email, PASSWORD)));
    let (changed, answers) = tokio::join!(member.change_password(PASSWORD, new), sign_ins);
    changed.expect_success(Message::PasswordChanged);
    for answer in answers {
        assert!([200, 401].contains(&answer.status), "{answer:?}");
    }
    world.anonymous().sign_in(email, new).await;
}

/// Waits until the function `auth` reads an account for the first time.
async fn account_is_read(world: &World) {
    let is_read = |request: &AccessRequest| {
        (request.role.as_str(), request.action.as_str()) == ("auth", "dynamodb:BatchGetItem")
    };
    while !world.cloud().guard().asked(TransactionKeys::OfPart).iter().any(is_read) {
        tokio::task::yield_now().await;
    }
}

async fn change_hash(world: &World, account: &User, old_hash: &str, new_hash: &str) {
    let mut tx = world.setup().store.transaction();
    tx.change_password(account.user_id, Some(old_hash), new_hash);
    assert_eq!(tx.commit().await.unwrap(), CommitOutcome::Committed);
}

async fn password_hash(world: &World, account: &User) -> String {
    let credentials = world.setup().store.credentials(account.user_id).await;
    credentials.unwrap().unwrap().password_hash
}

#[tokio::test]
async fn wrong_password_costs_the_same_after_a_change_of_committee() {
    let world = World::new().await;
    let member = world.account(Profile::Member).await;
    let sfax = world.another_committee("Sfax", true).await;
    world.admin().await.change_member(member.user_id, json!({ "committeeID": sfax })).await;
    let mut costs = Vec::new();
    for email in [member.email.as_str(), "inconnu@example.org"] {
        let refused = world.anonymous().login(email, "mauvais mot de passe").await;
        refused.expect_unauthorized();
        costs.push((refused.cost.round_trips, refused.cost.requests));
    }
    assert_eq!(costs[0], costs[1]);
}
