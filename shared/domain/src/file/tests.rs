use super::*;

#[test]
fn writes_end_after_the_form_and_after_calls_before_the_deletion() {
    let stored = |deleted_at: Option<&str>| {
        let file = serde_json::json!({
            "fileID": "0198c0de-0000-7000-8000-00000000000e", "userID": "0198c0de-0000-7000-8000-000000000001",
            "name": "a.txt", "contentType": "text/plain", "size": 5, "visibility": "private", "status": "DELETED",
            "createdAt": "2026-11-20T11:00:00.000Z", "deletedAt": deleted_at,
        });
        let file: File = serde_json::from_value(file).unwrap();
        file.writes_end().to_string()
    };
    let form_ends = "2026-11-20T11:15:00.000Z";
    assert_eq!(stored(None), form_ends);
    assert_eq!(stored(Some("2026-11-20T11:01:00.000Z")), form_ends);
    assert_eq!(stored(Some("2026-11-20T12:00:00.000Z")), "2026-11-20T12:05:00.000Z");
}

#[test]
fn file_name_rejects_paths_and_direction_overrides() {
    for (text, expected) in [
        ("Programme d’été (v2).pdf", None),
        ("برنامج الدورة.pdf", None),
        ("../etc/passwd", Some(ValueError::Format)),
        ("a\\b", Some(ValueError::Format)),
        ("..", Some(ValueError::Format)),
        (".", Some(ValueError::Format)),
        ("..a", None),
        ("photo\u{202e}gpj.exe", Some(ValueError::Format)),
        ("a\r\nb", Some(ValueError::Format)),
        (" ", Some(ValueError::Required)),
    ] {
        assert_eq!(text.parse::<FileName>().err(), expected, "{text:?}");
    }
}

#[test]
fn content_type_is_read_in_any_case_and_by_its_other_names() {
    for (text, code) in [
        ("APPLICATION/PDF", "application/pdf"),
        ("image/PNG", "image/png"),
        ("text/plain;charset=utf-8", "text/plain"),
        ("text/csv ; header=present", "text/csv"),
        ("application/x-zip-compressed", "application/zip"),
        ("audio/x-m4a", "audio/mp4"),
        ("image/jpg", "image/jpeg"),
    ] {
        assert_eq!(text.parse().map(ContentType::code), Ok(code), "{text}");
    }
}

#[test]
fn content_type_rejects_active_content() {
    for text in [
        "text/html",
        "image/svg+xml",
        "text/javascript",
        "application/xml",
        "application/xhtml+xml",
        "TEXT/HTML; x=application/pdf",
    ] {
        assert_eq!(text.parse::<ContentType>(), Err(ValueError::Value), "{text}");
    }
}
