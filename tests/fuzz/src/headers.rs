//! Request headers, one per line: only a named entity tag matches, a preflight is always answered, and only a valid
//! token gives access.

use common::{if_match_holds, if_none_match_holds};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{
    event::{Request, assert_complete},
    stage::STAGE,
    text,
};

const TAG: &str = "W/\"c-QETVAhUYmmve97quvZif9EL6tqM\"";

pub(crate) fn run(input: &[u8]) {
    let Some(written) = text(input) else { return };
    let headers: Vec<(&str, &str)> =
        written.split('\n').filter_map(|line| line.split_once(": ")).collect();
    check_conditions(&headers);
    for (method, target) in
        [("OPTIONS", "/api/v1/sms"), ("GET", "/health"), ("GET", "/api/v1/auth/check")]
    {
        let request = Request { method, target, headers: headers.clone(), body: b"" };
        let Some(answer) = STAGE.answer(&request.event().to_string()) else {
            return;
        };
        assert_complete(&answer);
        let header = |name: &str| {
            headers
                .iter()
                .rev()
                .find(|(named, _)| named.eq_ignore_ascii_case(name))
                .map(|(_, value)| *value)
        };
        match target {
            "/health" => {
                let has_a_tag = header("if-none-match")
                    .is_some_and(|tags| tags.contains('*') || tags.contains("\""));
                assert!(
                    answer.status_code == 200 || (answer.status_code == 304 && has_a_tag),
                    "{answer:?}"
                );
            }
            "/api/v1/sms" => assert_eq!(answer.status_code, 204),
            _ if !STAGE.is_signed_in(written) => assert_eq!(answer.status_code, 401),
            _ => {}
        }
    }
}

/// Checks `If-Match` and `If-None-Match` against a resource whose entity tag is [`TAG`].
fn check_conditions(written: &[(&str, &str)]) {
    let mut headers = HeaderMap::new();
    for (name, value) in written {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(*name), HeaderValue::try_from(*value))
        {
            headers.append(name, value);
        }
    }
    let named = |name: &str| {
        headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .any(|tags| tags.contains(&TAG[2..]))
    };
    let any =
        |name: &str| headers.get_all(name).iter().any(|value| value.as_bytes().contains(&b'*'));
    if if_match_holds(&headers, TAG) {
        assert!(
            !headers.contains_key("if-match") || named("if-match") || any("if-match"),
            "{headers:?}"
        );
    }
    if !if_none_match_holds(&headers, TAG) {
        assert!(named("if-none-match") || any("if-none-match"), "{headers:?}");
    }
}
