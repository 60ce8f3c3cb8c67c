//! The rate limit of all routes: exact for any number of processes.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use cloud::faults::{Fault, Mode};
use common::ErrorCode;
use futures_util::future::join_all;
use http::Method;
use serde_json::Value;
use tests::{Answer, PASSWORD, Person, World};

fn remaining(answer: &Answer) -> u64 {
    answer.header("x-ratelimit-remaining").parse().unwrap()
}

async fn many(people: &[Person]) -> (Vec<u64>, usize) {
    let answers = join_all(people.iter().map(|person| person.get("/nowhere"))).await;
    let seconds = |answer: &Answer| answer.header("retry-after").parse::<f64>().unwrap();
    assert!(answers.iter().all(|answer| seconds(answer) <= 60.0), "no longer than the window");
    let passed: Vec<u64> =
        answers.iter().filter(|answer| answer.status == 404).map(remaining).collect();
    for answer in answers.iter().filter(|answer| answer.status != 404) {
        answer.expect_error(ErrorCode::TooManyRequests);
        assert_eq!(remaining(answer), 0);
        assert!(answer.header("retry-after").parse::<u64>().is_ok(), "whole seconds");
    }
    let refused = answers.len() - passed.len();
    (passed, refused)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn limit_is_exact_across_three_processes() {
    let world = World::new().await;
    let processes = [world.clone(), world.another_process(), world.another_process()];
    let anonymous = world.anonymous();
    let people: Vec<Person> =
        (0..150).map(|number| anonymous.via(&processes[number % 3])).collect();
    let (passed, refused) = many(&people).await;
    assert_eq!((passed.len(), refused), (100, 50));
    assert_eq!(BTreeSet::from_iter(passed), BTreeSet::from_iter(0..100));
}

#[tokio::test]
async fn new_window_lets_exactly_100_pass_again() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    many(&vec![anonymous.clone(); 120]).await;
    world.clock().advance(Duration::from_secs(60));
    let (passed, refused) = many(&vec![anonymous; 150]).await;
    assert_eq!((passed.len(), refused), (100, 50));
}

#[tokio::test]
async fn window_begins_with_the_first_request_of_the_key() {
    let world = World::with(&[("RATE_LIMIT", "2")]).await;
    let anonymous = world.anonymous();
    anonymous.get("/nowhere").await;
    world.clock().advance(Duration::from_secs(40));
    anonymous.get("/nowhere").await;
    let refused = anonymous.get("/nowhere").await;
    refused.expect_error(ErrorCode::TooManyRequests);
    let text = refused.json()["message"]["RESPONSE_TEXT"].clone();
    assert_eq!(text, "Trop de requêtes : réessayez dans 20 secondes.");
    world.clock().advance(Duration::from_secs(20));
    assert_eq!(remaining(&anonymous.get("/nowhere").await), 1);
}

#[tokio::test]
async fn request_over_the_limit_is_rejected_from_memory() {
    let world = World::with(&[("RATE_LIMIT", "3")]).await;
    for person in [world.anonymous(), world.member().await] {
        for _ in 0..4 {
            person.get("/auth/nowhere").await;
        }
        let answer = person.get("/auth/nowhere").await;
        answer.expect_error(ErrorCode::TooManyRequests);
        assert_eq!((answer.cost.requests, answer.header("cache-control")), (0, "no-store"));
    }
}

#[tokio::test]
async fn account_is_one_key_everywhere_and_addresses_are_separate() {
    let (world, member) = World::with_member().await;
    assert_eq!(remaining(&member.get("/auth/check").await), 99);
    assert_eq!(remaining(&member.at("10.9.9.9").get("/auth/check").await), 98);
    assert_eq!(
        remaining(&world.signed_in(member.user().clone()).await.get("/auth/check").await),
        97
    );
    assert_eq!(remaining(&world.anonymous().at("10.9.9.9").get("/committees").await), 99);
    assert_eq!(remaining(&world.anonymous().at("::ffff:10.9.9.9").get("/committees").await), 98);
    assert_eq!(remaining(&world.anonymous().at("2001:db8::1").get("/committees").await), 99);
    assert_eq!(remaining(&world.anonymous().at("2001:db8::2").get("/committees").await), 98);
    assert_eq!(remaining(&world.anonymous().at("2001:db8:0:1::2").get("/committees").await), 99);
}

#[tokio::test]
async fn client_address_headers_do_not_change_the_key() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    for (number, header) in
        ["x-forwarded-for", "x-real-ip", "forwarded", "cloudfront-viewer-address", "true-client-ip"]
            .into_iter()
            .enumerate()
    {
        let answer = anonymous.with(header, "203.0.113.9").get("/committees").await;
        assert_eq!(remaining(&answer), 99 - number as u64, "{header}");
    }
}

#[tokio::test]
async fn invalid_token_counts_against_the_address() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    anonymous.get("/committees").await;
    assert_eq!(remaining(&anonymous.with_token("Bearer rubbish").get("/committees").await), 98);
}

#[tokio::test]
async fn head_is_counted_preflight_health_and_media_are_not() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    assert_eq!(
        remaining(&anonymous.send(Method::HEAD, "/api/v1/committees", Bytes::new()).await),
        99
    );
    for (method, path) in [
        (Method::OPTIONS, "/api/v1/committees"),
        (Method::GET, "/api/v1/health"),
        (Method::GET, "/health"),
        (Method::HEAD, "/api/dev/health"),
        (Method::GET, "/media/default.png"),
        (Method::GET, "/media/nothing.png"),
    ] {
        let answer = anonymous.send(method.clone(), path, Bytes::new()).await;
        for name in
            ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"]
        {
            assert!(!answer.headers.contains_key(name), "{method} {path}: {name}");
        }
        assert_eq!(answer.cost.requests, 0, "{method} {path}");
    }
    assert_eq!(remaining(&anonymous.get("/committees").await), 98);
}

#[tokio::test]
async fn throttled_key_returns_429_throttled_or_lost_table_counts_locally() {
    let world = World::with(&[("RATE_LIMIT", "3")]).await;
    world.inject_fault(Fault::hot_key().on("UpdateItem"));
    world.anonymous().get("/nowhere").await.expect_error(ErrorCode::TooManyRequests);
    for mode in [Mode::Throttle, Mode::Refuse] {
        world.inject_fault(Fault::new(mode).on("UpdateItem"));
        let anonymous = world.anonymous();
        for left in [2, 1, 0] {
            let answer = anonymous.get("/nowhere").await;
            answer.expect_error(ErrorCode::NotFound);
            assert_eq!(remaining(&answer), left);
        }
        anonymous.get("/nowhere").await.expect_error(ErrorCode::TooManyRequests);
    }
}

#[tokio::test]
async fn local_counting_is_exact() {
    let world = World::new().await;
    world.inject_fault(Fault::new(Mode::Refuse).on("UpdateItem"));
    let (passed, refused) = many(&vec![world.anonymous(); 150]).await;
    assert_eq!((passed.len(), refused), (100, 50));
}

#[tokio::test]
async fn one_throttled_write_does_not_affect_the_next_request() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    world.inject_fault(Fault::hot_key().on("UpdateItem").times(1));
    anonymous.get("/nowhere").await.expect_error(ErrorCode::TooManyRequests);
    anonymous.get("/nowhere").await.expect_error(ErrorCode::NotFound);
}

#[tokio::test]
async fn clock_step_back_opens_no_second_window() {
    let world = World::with(&[("RATE_LIMIT", "2")]).await;
    let anonymous = world.anonymous();
    anonymous.get("/nowhere").await;
    anonymous.get("/nowhere").await;
    world.clock().step_back(Duration::from_secs(30));
    anonymous.get("/nowhere").await.expect_error(ErrorCode::TooManyRequests);
    let answer = anonymous.via(&world.another_process()).get("/nowhere").await;
    answer.expect_error(ErrorCode::TooManyRequests);
}

#[tokio::test]
async fn rate_limit_is_checked_before_everything_else() {
    let world = World::with(&[("RATE_LIMIT", "1")]).await;
    let anonymous = world.anonymous();
    anonymous.get("/nowhere").await.expect_error(ErrorCode::NotFound);
    anonymous.get("/nowhere").await.expect_error(ErrorCode::TooManyRequests);
    anonymous.delete("/auth/check").await.expect_error(ErrorCode::TooManyRequests);
    let answer = anonymous.send(Method::POST, "/api/v1/auth/login", "{".into()).await;
    answer.expect_error(ErrorCode::TooManyRequests);
}

#[tokio::test]
async fn sign_in_over_the_limit_counts_no_attempt() {
    let world = World::with(&[("RATE_LIMIT", "1")]).await;
    let anonymous = world.anonymous();
    anonymous.get("/nowhere").await;
    // A process that does not remember the window counts the request while the handler begins.
    let answer = anonymous.via(&world.another_process()).login("admin@example.org", PASSWORD).await;
    answer.expect_error(ErrorCode::TooManyRequests);
    let items = world.items("transient");
    let is_counter = |item: &Value| item["pk"]["S"].as_str().unwrap().starts_with("COUNTER#");
    assert!(!items.iter().any(is_counter), "{items:?}");
}
