use super::*;

#[test]
fn dates_seconds_and_etag_match_javascript_and_express() {
    let at: Instant = "2026-11-20T23:46:12.987Z".parse().unwrap();
    assert_eq!(
        javascript_date(at),
        "Fri Nov 20 2026 23:46:12 GMT+0000 (Coordinated Universal Time)"
    );
    let early: Instant = "2026-11-02T03:06:09Z".parse().unwrap();
    assert_eq!(
        javascript_date(early),
        "Mon Nov 02 2026 03:06:09 GMT+0000 (Coordinated Universal Time)"
    );
    for (milliseconds, text) in [
        (60_000, "60"),
        (59_778, "59.778"),
        (58_840, "58.84"),
        (0, "0"),
        (7, "0.007"),
        (100_000, "100"),
    ] {
        assert_eq!(javascript_seconds(milliseconds), text);
    }
    assert_eq!(etag(b"{\"code\":200}"), "W/\"c-QETVAhUYmmve97quvZif9EL6tqM\"");
}

#[test]
fn if_none_match_with_current_etag_is_not_modified() {
    let tag = etag(b"{\"code\":200}");
    let strong = tag.trim_start_matches("W/").to_owned();
    for (value, known) in [
        (tag.clone(), true),
        (strong, true),
        ("*".into(), true),
        (format!("\"x\", {tag}"), true),
        ("\"x\"".into(), false),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, value.parse().unwrap());
        assert_eq!(is_not_modified(&headers, &tag), known, "{value}");
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=0, No-Cache"));
        assert!(!is_not_modified(&headers, &tag));
    }
}
