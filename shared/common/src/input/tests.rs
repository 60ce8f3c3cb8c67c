use super::*;

#[test]
fn json_body_is_one_object_without_duplicate_keys() {
    let deep =
        |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    for (body, read) in [
        (&b""[..], true),
        (b"{}", true),
        (b"\xef\xbb\xbf{\"a\":1}", true),
        (b" {\"a\":1} \n", true),
        (deep(127).as_bytes(), true),
        (deep(128).as_bytes(), false),
        (deep(50_000).as_bytes(), false),
        (b"[]", false),
        (b"[\"x\"]", false),
        (b"\"x\"", false),
        (b"null", false),
        (b"1", false),
        (b" ", false),
        (b"{", false),
        (b"{}x", false),
        (b"{}{}", false),
        (b"{} null", false),
        (b"{},", false),
        (b"{\"a\":1,\"a\":1}", false),
        (b"{\"x\":[{\"b\":1,\"b\":2}]}", false),
        (b"{\"a\":1,\"\\u0061\":1}", false),
        (b"{\"a\":\"\xff\"}", false),
        (b"{\"a\":\"\xc3\"}", false),
        (b"{\"\xed\xa0\x80\":1}", false),
        (b"{\"a\":\"\\ud800\"}", false),
        (b"{\"a\":\"\\udc00\\ud800\"}", false),
        (b"{\"\\ud800\":1}", false),
        (b"{'a':1}", false),
        (b"{\"a\":NaN}", false),
        (b"{\"a\":1e999}", false),
        (b"{\"a\":1,}", false),
        (b"{\"a\":}", false),
        (b"{\"a\":01}", false),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", false),
        (b"\xef\xbb\xbf", false),
    ] {
        assert_eq!(object(body).is_ok(), read, "{:?}", String::from_utf8_lossy(body));
    }
}

#[test]
fn content_type_is_json_or_absent() {
    for (name, value, is_accepted) in [
        ("content-type", "application/json", true),
        ("content-type", "Application/JSON; Charset=UTF-8", true),
        ("content-type", "application/json;charset=\"utf-8\"", true),
        ("content-type", "application/json; charset=latin1", false),
        ("content-type", "application/json; foo=bar", true),
        ("content-type", "application/json; foo=bar; charset=utf-16", false),
        ("content-type", "application/json2", false),
        ("content-type", "json", false),
        ("content-type", "multipart/form-data; boundary=x", false),
        ("content-type", "application/problem+json", false),
        ("content-type", "text/plain", false),
        ("content-type", "", false),
        ("content-encoding", "identity", true),
        ("content-encoding", "gzip", false),
        ("content-encoding", "br", false),
        ("content-encoding", "identity, gzip", false),
    ] {
        let headers = HeaderMap::from_iter([(
            name.parse::<http::HeaderName>().unwrap(),
            value.parse().unwrap(),
        )]);
        assert_eq!(is_plain_json(&headers), is_accepted, "{name}: {value}");
    }
    assert!(is_plain_json(&HeaderMap::new()));
}

#[test]
fn equal_numbers_are_read_as_equal_values() {
    let read = |number: &str| object(format!("{{\"a\":{number}}}").as_bytes()).unwrap();
    for (one, other, are_equal) in [
        ("1", "1.0", true),
        ("-0", "0", true),
        ("100", "1e2", true),
        ("-3", "-30e-1", true),
        ("10000000000000000", "1e16", true),
        ("1.5", "15e-1", true),
        ("1e300", "10e299", true),
        ("1", "1.5", false),
        ("1", "\"1\"", false),
        ("1", "-1", false),
    ] {
        assert_eq!(read(one) == read(other), are_equal, "{one} and {other}");
    }
}
