//! Generated requests: the response is never a 500 and always has the envelope.

use bytes::Bytes;
use http::Method;
use proptest::prelude::*;
use serde_json::{Value, json};
use tests::{LambdaAnswer, Person, World};

/// Any JSON, often with names and values that the endpoints expect.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,30}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("amel@example.org")),
        Just(json!("trois oliviers au soleil")),
        Just(json!("0198c0de-0000-7000-8000-000000000001")),
        Just(json!("+21620123456")),
        Just(json!("2000-01-01")),
        Just(json!("a".repeat(300))),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from), object(inner)]
    })
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "email",
        "password",
        "name",
        "lastName",
        "confirmPassword",
        "phone",
        "phoneCode",
        "committeeID",
        "oldPassword",
        "newPassword",
        "nameArabe",
        "nameLatin",
        "type",
        "dateOfEst",
        "VAT",
        "address",
        "region",
        "city",
        "postalCode",
        "isActive",
        "primaryEmail",
        "secondaryEmail",
        "primaryPhone",
        "secondaryPhone",
        "profile",
        "x",
    ]);
    prop::collection::btree_map(names.prop_map(str::to_owned), value, 0..16)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn bodies() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        4 => object(any_json()).prop_map(|value| Bytes::from(value.to_string())),
        1 => any_json().prop_map(|value| Bytes::from(value.to_string())),
        1 => prop::collection::vec(any::<u8>(), 0..200).prop_map(Bytes::from),
        1 => "[{}\\[\\]\",:0-9a-z\\\\]{0,60}".prop_map(Bytes::from),
    ]
}

fn run<S: Strategy>(cases: u32, strategy: S, test: impl AsyncFn(&World, &Person, S::Value))
where
    S::Value: Clone,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (world, admin) = runtime.block_on(async {
        let world =
            World::with(&[("RATE_LIMIT", "4000000000"), ("REGISTER_PER_HOUR", "4000000000")]).await;
        let admin = world.admin().await;
        (world, admin)
    });
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&strategy, |input| {
            runtime.block_on(test(&world, &admin, input));
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_body_gets_a_complete_response() {
    let routes = prop::sample::select(vec![
        (Method::POST, "/api/v1/auth/login"),
        (Method::POST, "/api/v1/users/register"),
        (Method::PUT, "/api/v1/users/reset-password"),
        (Method::POST, "/api/v1/committees"),
        (Method::PUT, "/api/v1/committees/0198c0de-0000-7000-8000-000000000001"),
    ]);
    run(400, (routes, bodies()), async |_, admin, ((method, path), body)| {
        let answer = admin.send(method, path, body).await;
        assert!(answer.status < 500, "{answer:?}");
    });
}

#[test]
fn any_header_gets_a_complete_response() {
    let names = prop::sample::select(vec![
        "authorization",
        "content-type",
        "content-encoding",
        "content-length",
        "if-none-match",
        "cache-control",
        "user-agent",
        "origin",
        "sec-purpose",
        "x-forwarded-for",
        "access-control-request-headers",
        "accept",
        "cookie",
        "range",
        "expect",
        "host",
    ]);
    let value = prop_oneof![
        "[\\x20-\\x7e]{0,60}",
        Just("Bearer a.b.c".to_owned()),
        Just("*".to_owned()),
        Just("W/\"".to_owned())
    ];
    let headers = prop::collection::vec((names, value), 0..6);
    let paths = prop::sample::select(vec![
        "/api/v1/auth/check",
        "/api/v1/committees",
        "/api/v1/users/x",
        "/api/v1/health",
        "/media/default.png",
    ]);
    let methods = prop::sample::select(vec![
        Method::GET,
        Method::HEAD,
        Method::OPTIONS,
        Method::POST,
        Method::DELETE,
    ]);
    run(400, (methods, paths, headers), async |world, _, (method, path, headers)| {
        let mut person = world.anonymous();
        for (name, value) in headers {
            person = person.with(name, &value);
        }
        let answer = person.send(method, path, Bytes::new()).await;
        assert!(answer.status < 500, "{answer:?}");
    });
}

#[test]
fn any_path_and_query_gets_a_complete_response() {
    let segment = prop_oneof![
        "[!-~&&[^/?#\"<>\\\\^`{|}%]]{0,12}",
        "(%[0-9a-fA-F]{2}){1,4}",
        Just("auth".to_owned()),
        Just("committees".to_owned()),
        Just("..".to_owned())
    ];
    let path = prop::collection::vec(segment, 0..5)
        .prop_map(|segments| format!("/api/v1/{}", segments.join("/")));
    let query =
        prop_oneof![Just(String::new()), "\\?(limit|cursor|x)=[!-~&&[^#\"<>\\\\^`{|}]]{0,40}"];
    run(400, (path, query), async |_, admin, (path, query)| {
        let answer = admin.send(Method::GET, &format!("{path}{query}"), Bytes::new()).await;
        assert!(answer.status < 500, "{answer:?}");
    });
}

#[test]
fn any_gateway_event_gets_a_complete_response() {
    let text = || prop_oneof!["\\PC{0,30}", "[ -~]{0,40}", any::<String>()];
    let event = (text(), text(), text(), text(), any::<bool>()).prop_map(|(path, query, header, body, encoded)| {
        json!({
            "version": "2.0", "rawPath": format!("/api/v1/{path}"), "rawQueryString": query, "headers": { "x-odd": header, header.clone(): "x" },
            "body": body, "isBase64Encoded": encoded,
            "requestContext": { "http": { "method": "POST", "path": path, "sourceIp": "203.0.113.7" } },
        })
    });
    run(400, event, async |world, _, event| {
        let answer = LambdaAnswer::to(world.edge(), event).await;
        assert!(
            (400..500).contains(&answer.status_code) || answer.status_code == 200,
            "{answer:?}"
        );
        assert!(answer.body.contains("RESPONSE_CODE") || answer.status_code == 200);
    });
}
