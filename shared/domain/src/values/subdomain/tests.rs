use proptest::prelude::*;

use super::*;

#[test]
fn label_parsed_is_canonical() {
    let longest = "a".repeat(63);
    for (text, form) in [
        (" Blog ", "blog"),
        ("a--b", "a--b"),
        ("ｂｌｏｇ", "blog"),
        ("BU\u{308}CHER", "xn--bcher-kva"),
        ("XN--BCHER-KVA", "xn--bcher-kva"),
        ("دورة", "xn--ogblg5g"),
        ("straße", "xn--strae-oqa"),
        ("so\u{ad}ft", "soft"),
        (&longest, &longest),
    ] {
        assert_eq!(text.parse::<Label>().as_ref().map(Label::as_str), Ok(form), "{text:?}");
    }
}

#[test]
fn label_malformed_or_reserved_is_rejected() {
    let (long, long_mapped) = ("a".repeat(64), "é".repeat(63));
    for (text, error) in [
        ("", ValueError::Required),
        (&long, ValueError::Length),
        (&long_mapped, ValueError::AsciiLength),
        ("www", ValueError::Value),
        ("WebMail", ValueError::Value),
        ("ｗｗｗ", ValueError::Value),
        ("a.b", ValueError::Format),
        ("a。b", ValueError::Format),
        (".", ValueError::Format),
        ("-a", ValueError::Format),
        ("a-", ValueError::Format),
        ("a_b", ValueError::Format),
        ("a b", ValueError::Format),
        ("a&rootdomain=x", ValueError::Format),
        ("a\r\nX: y", ValueError::Format),
        ("a\0", ValueError::Format),
        ("\u{200b}", ValueError::Format),
        ("\u{202e}gpj", ValueError::Format),
        ("xn--", ValueError::Format),
        ("xn--a", ValueError::Format),
        ("xn--99999999", ValueError::Format),
        ("xn--xn--wwwwww0bcher-kvsal", ValueError::Format),
        ("אa", ValueError::Format),
    ] {
        assert_eq!(text.parse::<Label>(), Err(error), "{text:?}");
    }
}

#[test]
fn root_domain_accepts_domain_names_only() {
    let longest = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "b".repeat(61));
    for (text, form) in [
        (" Example.ORG ", "example.org"),
        ("exemple。org", "exemple.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("a.b.c.example.co", "a.b.c.example.co"),
        (&longest, &longest),
    ] {
        assert_eq!(text.parse(), Ok(RootDomain(form.to_owned())), "{text:?}");
    }
    for (text, error) in [
        ("", ValueError::Required),
        ("example", ValueError::Format),
        ("example.", ValueError::Format),
        (".example.org", ValueError::Format),
        ("a..example", ValueError::Format),
        ("127.0.0.1", ValueError::Format),
        ("example.org:2083", ValueError::Format),
        ("example.org\r\nX: y", ValueError::Format),
        ("-a.org", ValueError::Format),
        (&format!("{}.org", "a".repeat(64)), ValueError::AsciiLength),
        (&format!("{}.org", "é".repeat(60)), ValueError::AsciiLength),
        (&format!("{longest}b"), ValueError::Length),
    ] {
        assert_eq!(text.parse::<RootDomain>(), Err(error), "{text:?}");
    }
    let (label, root) = ("a".parse::<Label>().unwrap(), longest.parse().unwrap());
    assert_eq!(Subdomain::new(&label, &root), Err(ValueError::Length), "the whole name");
}

#[test]
fn subdomain_is_split_at_longest_matching_root() {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let domains = Domains {
        main_domain: "example.org".into(),
        addon_domains: own(&["sud.example.org"]),
        parked_domains: own(&["example.net"]),
        sub_domains: own(&[
            "blog.example.org",
            "a.b.sud.example.org",
            "x.example.net",
            "odd.elsewhere.test",
            "notexample.org",
        ]),
    };
    let split: Vec<(String, String)> =
        domains.subdomains().into_iter().map(|one| (one.domain, one.rootdomain)).collect();
    let expected = [
        ("blog", "example.org"),
        ("a.b", "sud.example.org"),
        ("x", "example.net"),
        ("odd", "elsewhere.test"),
        ("notexample", "org"),
    ];
    assert_eq!(split, expected.map(|(label, root)| (label.to_owned(), root.to_owned())));
    let is_root =
        ["example.net", "blog.example.org"].map(|name| domains.has_root(&name.parse().unwrap()));
    assert_eq!(is_root, [true, false]);
    let is_there =
        ["sud.example.org", "blog.example.org", "forum.example.org"].map(|name| domains.has(name));
    assert_eq!(is_there, [true, true, false]);
}

proptest! {
    /// Any text is rejected or becomes a canonical label, which parses to itself.
    #[test]
    fn label_any_text_is_rejected_or_canonical(text in any::<String>()) {
        if let Ok(label) = text.parse::<Label>() {
            prop_assert!(is_label(label.as_str()) && !RESERVED.contains(&label.as_str()));
            prop_assert_eq!(label.as_str().parse::<Label>(), Ok(label.clone()));
        }
    }

    #[test]
    fn label_plain_ascii_is_accepted_unless_reserved(text in "[a-z0-9]([a-z0-9]{0,61}[a-z0-9])?") {
        let is_reserved = RESERVED.contains(&&*text);
        prop_assert_eq!(text.parse::<Label>().map(|label| label.0), if is_reserved { Err(ValueError::Value) } else { Ok(text) });
    }

    #[test]
    fn root_domain_any_text_is_rejected_or_canonical(text in "\\PC{0,20}\\.\\PC{0,20}") {
        if let Ok(root) = text.parse::<RootDomain>() {
            prop_assert!(root.as_str().split('.').all(is_label) && root.as_str().contains('.'));
            prop_assert_eq!(root.as_str().parse::<RootDomain>(), Ok(root.clone()));
        }
    }
}
