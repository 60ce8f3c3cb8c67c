//! The public limit, exact whoever counts.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use common::ErrorCode;
use futures_util::future::join_all;
use http::Method;
use local::faults::{Fault, Mode};
use tests::{Answer, Person, World};

fn remaining(answer: &Answer) -> u64 {
    answer.header("x-ratelimit-remaining").parse().unwrap()
}

async fn many(people: &[Person]) -> (Vec<u64>, usize) {
    let answers = join_all(people.iter().map(|person| person.get("/nowhere"))).await;
    let passed: Vec<u64> = answers
        .iter()
        .filter(|answer| answer.status == 404)
        .map(remaining)
        .collect();
    for answer in answers.iter().filter(|answer| answer.status != 404) {
        answer.refuses(ErrorCode::TooManyRequests);
        assert_eq!(remaining(answer), 0);
    }
    let refused = answers.len() - passed.len();
    (passed, refused)
}

#[tokio::test]
async fn of_150_at_once_on_a_fresh_key_exactly_100_pass_and_count_down() {
    let world = World::new().await;
    let (passed, refused) = many(&vec![world.stranger(); 150]).await;
    assert_eq!(refused, 50);
    assert_eq!(
        BTreeSet::from_iter(passed.iter().copied()),
        BTreeSet::from_iter(0..100)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn also_when_three_processes_share_the_tables() {
    let world = World::new().await;
    let processes = [
        world.clone(),
        world.another_process(),
        world.another_process(),
    ];
    let stranger = world.stranger();
    let people: Vec<Person> = (0..150)
        .map(|number| stranger.before(&processes[number % 3]))
        .collect();
    let (passed, refused) = many(&people).await;
    assert_eq!((passed.len(), refused), (100, 50));
    assert_eq!(BTreeSet::from_iter(passed), BTreeSet::from_iter(0..100));
}

#[tokio::test]
async fn at_the_end_of_a_window_exactly_100_pass_again() {
    let world = World::new().await;
    let stranger = world.stranger();
    many(&vec![stranger.clone(); 120]).await;
    world.clock().advance(Duration::from_secs(60));
    let (passed, refused) = many(&vec![stranger; 150]).await;
    assert_eq!((passed.len(), refused), (100, 50));
}

#[tokio::test]
async fn the_window_begins_with_the_keys_first_request() {
    let world = World::with(&[("RATE_LIMIT", "2")]).await;
    let stranger = world.stranger();
    stranger.get("/nowhere").await;
    world.clock().advance(Duration::from_secs(59));
    stranger.get("/nowhere").await;
    stranger
        .get("/nowhere")
        .await
        .refuses(ErrorCode::TooManyRequests);
    world.clock().advance(Duration::from_secs(1));
    assert_eq!(remaining(&stranger.get("/nowhere").await), 1);
}

#[tokio::test]
async fn what_is_over_is_answered_from_memory_without_a_write() {
    let world = World::with(&[("RATE_LIMIT", "3")]).await;
    let stranger = world.stranger();
    for _ in 0..4 {
        stranger.get("/nowhere").await;
    }
    let answer = stranger.get("/nowhere").await;
    answer.refuses(ErrorCode::TooManyRequests);
    assert_eq!(answer.cost.requests, 0);
}

#[tokio::test]
async fn fifty_calls_cost_fifty_writes() {
    let world = World::new().await;
    let stranger = world.stranger();
    let mut writes = 0.0;
    for _ in 0..50 {
        writes += stranger.get("/nowhere").await.cost.writes;
    }
    assert_eq!(writes, 50.0);
}

#[tokio::test]
async fn a_person_is_one_key_wherever_he_is_and_addresses_are_others() {
    let world = World::new().await;
    let member = world.member().await;
    assert_eq!(remaining(&member.get("/auth/check").await), 99);
    assert_eq!(
        remaining(&member.at("10.9.9.9").get("/auth/check").await),
        98
    );
    assert_eq!(
        remaining(
            &world
                .signed_in(member.user().clone())
                .await
                .get("/auth/check")
                .await
        ),
        97
    );
    assert_eq!(
        remaining(&world.stranger().at("10.9.9.9").get("/committees").await),
        99
    );
    assert_eq!(
        remaining(
            &world
                .stranger()
                .at("::ffff:10.9.9.9")
                .get("/committees")
                .await
        ),
        98
    );
    assert_eq!(
        remaining(&world.stranger().at("2001:db8::1").get("/committees").await),
        99
    );
    assert_eq!(
        remaining(&world.stranger().at("2001:db8::2").get("/committees").await),
        98
    );
    assert_eq!(
        remaining(
            &world
                .stranger()
                .at("2001:db8:0:1::2")
                .get("/committees")
                .await
        ),
        99
    );
}

#[tokio::test]
async fn no_header_makes_somebody_else_of_a_caller() {
    let world = World::new().await;
    let stranger = world.stranger();
    for (number, header) in [
        "x-forwarded-for",
        "x-real-ip",
        "forwarded",
        "cloudfront-viewer-address",
        "true-client-ip",
    ]
    .into_iter()
    .enumerate()
    {
        let answer = stranger
            .with(header, "203.0.113.9")
            .get("/committees")
            .await;
        assert_eq!(remaining(&answer), 99 - number as u64, "{header}");
    }
}

#[tokio::test]
async fn a_bad_token_counts_against_the_address() {
    let world = World::new().await;
    let stranger = world.stranger();
    stranger.get("/committees").await;
    assert_eq!(
        remaining(&stranger.holding("Bearer rubbish").get("/committees").await),
        98
    );
}

#[tokio::test]
async fn head_costs_a_point_and_preflight_health_and_images_none() {
    let world = World::new().await;
    let stranger = world.stranger();
    assert_eq!(
        remaining(
            &stranger
                .send(Method::HEAD, "/api/v1/committees", Bytes::new())
                .await
        ),
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
        let answer = stranger.send(method.clone(), path, Bytes::new()).await;
        for name in [
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            "x-ratelimit-reset",
            "retry-after",
        ] {
            assert!(
                !answer.headers.contains_key(name),
                "{method} {path}: {name}"
            );
        }
        assert_eq!(answer.cost.requests, 0, "{method} {path}");
    }
    assert_eq!(remaining(&stranger.get("/committees").await), 98);
}

#[tokio::test]
async fn a_throttled_item_means_over_and_a_store_out_of_reach_means_counting_alone() {
    let world = World::with(&[("RATE_LIMIT", "3")]).await;
    world.strike(Fault::new(Mode::Throttle).on("UpdateItem"));
    world
        .stranger()
        .get("/nowhere")
        .await
        .refuses(ErrorCode::TooManyRequests);
    world.strike(Fault::new(Mode::Refuse).on("UpdateItem"));
    let stranger = world.stranger();
    for left in [2, 1, 0] {
        let answer = stranger.get("/nowhere").await;
        answer.refuses(ErrorCode::NotFound);
        assert_eq!(remaining(&answer), left);
    }
    stranger
        .get("/nowhere")
        .await
        .refuses(ErrorCode::TooManyRequests);
}

#[tokio::test]
async fn counting_alone_is_exact_too() {
    let world = World::new().await;
    world.strike(Fault::new(Mode::Refuse).on("UpdateItem"));
    let (passed, refused) = many(&vec![world.stranger(); 150]).await;
    assert_eq!((passed.len(), refused), (100, 50));
}

#[tokio::test]
async fn one_throttled_write_is_not_held_against_the_next_request() {
    let world = World::new().await;
    let stranger = world.stranger();
    world.strike(Fault::new(Mode::Throttle).on("UpdateItem").times(1));
    stranger
        .get("/nowhere")
        .await
        .refuses(ErrorCode::TooManyRequests);
    stranger.get("/nowhere").await.refuses(ErrorCode::NotFound);
}

#[tokio::test]
async fn a_person_who_is_over_costs_the_store_nothing() {
    let world = World::with(&[("RATE_LIMIT", "1")]).await;
    let member = world.member().await;
    member.get("/auth/check").await.shows();
    member
        .get("/auth/check")
        .await
        .refuses(ErrorCode::TooManyRequests);
    let answer = member.get("/auth/check").await;
    answer.refuses(ErrorCode::TooManyRequests);
    assert_eq!(
        (answer.cost.requests, answer.header("cache-control")),
        (0, "no-store")
    );
}

#[tokio::test]
async fn nobody_is_told_to_wait_longer_than_a_window() {
    let world = World::new().await;
    let people = vec![world.stranger(); 150];
    let answers = join_all(people.iter().map(|person| person.get("/nowhere"))).await;
    for answer in answers {
        let seconds: f64 = answer.header("retry-after").parse().unwrap();
        assert!(seconds <= 60.0, "{seconds}");
    }
}

#[tokio::test]
async fn a_clock_that_steps_back_opens_no_second_window() {
    let world = World::with(&[("RATE_LIMIT", "2")]).await;
    let stranger = world.stranger();
    stranger.get("/nowhere").await;
    stranger.get("/nowhere").await;
    world.clock().step_back(Duration::from_secs(30));
    stranger
        .get("/nowhere")
        .await
        .refuses(ErrorCode::TooManyRequests);
    stranger
        .before(&world.another_process())
        .get("/nowhere")
        .await
        .refuses(ErrorCode::TooManyRequests);
}

#[tokio::test]
async fn over_the_limit_comes_before_everything_else() {
    let world = World::with(&[("RATE_LIMIT", "1")]).await;
    let stranger = world.stranger();
    stranger.get("/nowhere").await.refuses(ErrorCode::NotFound);
    stranger
        .get("/nowhere")
        .await
        .refuses(ErrorCode::TooManyRequests);
    stranger
        .delete("/auth/check")
        .await
        .refuses(ErrorCode::TooManyRequests);
    stranger
        .send(Method::POST, "/api/v1/auth/login", "{".into())
        .await
        .refuses(ErrorCode::TooManyRequests);
}
