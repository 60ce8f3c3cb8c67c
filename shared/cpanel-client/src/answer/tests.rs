use serde_json::json;

use super::*;

#[test]
fn data_reads_flat_and_wrapped_responses() {
    for (body, expected) in [
        (json!({ "status": 1, "data": [1], "errors": null }), Ok(json!([1]))),
        (
            json!({ "apiversion": 3, "func": "f", "module": "M", "result": { "status": 1, "data": [1] } }),
            Ok(json!([1])),
        ),
        (json!({ "status": "1" }), Ok(Value::Null)),
        (
            json!({ "status": 0, "errors": ["Le domaine existe déjà.", "Non."] }),
            Err(PanelError::Refused("Le domaine existe déjà.; Non.".into())),
        ),
        (
            json!({ "result": { "status": 0, "errors": null } }),
            Err(PanelError::Refused(String::new())),
        ),
        (json!({ "status": 0, "errors": "a\r\nb" }), Err(PanelError::Refused("ab".into()))),
        (json!({}), Err(malformed("it has no status"))),
        (json!([]), Err(malformed("it has no status"))),
        (json!({ "status": 2 }), Err(malformed("it has no status"))),
        (json!({ "status": null, "data": {} }), Err(malformed("it has no status"))),
    ] {
        assert_eq!(data(body.to_string().as_bytes()), expected, "{body}");
    }
    for body in ["", "<html>", "{\"status\":1,", "\u{0}"] {
        assert_eq!(data(body.as_bytes()), Err(malformed("it is no JSON")), "{body}");
    }
}

#[test]
fn domains_without_main_domain_are_malformed() {
    let whole = json!({ "main_domain": "Example.org", "addon_domains": null, "parked_domains": [], "sub_domains": ["Blog.example.org"] });
    let read = domains(whole.clone()).unwrap();
    assert_eq!(read.main_domain, "example.org");
    assert_eq!(read.sub_domains, ["blog.example.org"]);
    for (field, value) in [
        ("main_domain", json!("")),
        ("main_domain", json!(" ")),
        ("main_domain", json!(null)),
        ("main_domain", json!(7)),
        ("parked_domains", json!("example.net")),
        ("parked_domains", json!([7])),
        ("parked_domains", json!({})),
    ] {
        let mut invalid = whole.clone();
        invalid[field] = value;
        assert!(domains(invalid.clone()).is_err(), "{invalid}");
    }
    assert!(domains(Value::Null).is_err());
}

#[test]
fn databases_are_sorted_by_name() {
    let data = json!([
        { "database": "b", "disk_usage": "12", "users": null },
        { "database": "a", "disk_usage": 673.9, "users": ["u"] },
        { "database": "c", "disk_usage": null, "users": [] },
        { "database": "d", "disk_usage": "1.5e+9", "users": [] },
        { "database": "e", "disk_usage": "n/a", "users": [] },
    ]);
    let read = databases(Engine::Mysql, data).unwrap();
    let read: Vec<(&str, u64, usize)> =
        read.iter().map(|one| (&*one.name, one.disk_usage_bytes, one.users.len())).collect();
    let expected = [("a", 673, 1), ("b", 12, 0), ("c", 0, 0), ("d", 1_500_000_000, 0), ("e", 0, 0)];
    assert_eq!(read, expected);
    for invalid in [json!({}), json!([{}]), json!([{ "database": "a", "users": "u" }])] {
        assert!(databases(Engine::Mysql, invalid.clone()).is_err(), "{invalid}");
    }
}
