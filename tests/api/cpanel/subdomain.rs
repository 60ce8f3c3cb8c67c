use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{NewPerson, World, expect_fields};

use super::{ADD, call_count, payload, world_with_used_token};

#[tokio::test]
async fn subdomain_is_created_and_listed() {
    let (world, admin) = world_with_used_token().await;
    let created = admin
        .post(
            "/cpanel/subdomain",
            json!({ "domain": " Cours ", "rootdomain": "Formation.Example.ORG" }),
        )
        .await;
    let subdomain = json!({ "domain": "cours", "rootdomain": "formation.example.org", "fqdn": "cours.formation.example.org" });
    assert_eq!(created.expect_success(Message::SubdomainCreated)["subdomain"], subdomain);
    let listed = admin.get("/cpanel/subdomain").await.expect_ok();
    let expected = json!([
        { "domain": "blog", "rootdomain": "formation.example.org", "fqdn": "blog.formation.example.org" },
        { "domain": "comites", "rootdomain": "formation.example.org", "fqdn": "comites.formation.example.org" },
        subdomain,
        { "domain": "intranet", "rootdomain": "comites.example.org", "fqdn": "intranet.comites.example.org" },
    ]);
    assert_eq!(listed["subdomains"], expected);
    let answer = admin.post("/cpanel/subdomain", payload("cours")).await;
    answer.expect_error(ErrorCode::SubdomainExists);
    assert_eq!(call_count(&world, ADD), 1);
}

#[tokio::test]
async fn subdomain_is_allowed_below_account_domains_only() {
    let (world, admin) = world_with_used_token().await;
    for root in ["formation.example.org", "comites.example.org", "formation.example.net"] {
        let body = json!({ "domain": "cours", "rootdomain": root });
        admin.post("/cpanel/subdomain", body).await.expect_success(Message::SubdomainCreated);
    }
    for root in
        ["example.org", "elsewhere.test", "blog.formation.example.org", "xn--e1afmkfd.example"]
    {
        let answer =
            admin.post("/cpanel/subdomain", json!({ "domain": "cours", "rootdomain": root })).await;
        answer.expect_error(ErrorCode::RootDomainNotFound);
    }
    assert_eq!(call_count(&world, ADD), 3);
}

#[tokio::test]
async fn existing_name_in_any_spelling_returns_409() {
    let (world, admin) = world_with_used_token().await;
    for (label, root) in [
        ("blog", "formation.example.org"),
        ("BLOG", "formation.example.org"),
        ("intranet", "comites.example.org"),
    ] {
        let body = json!({ "domain": label, "rootdomain": root });
        admin.post("/cpanel/subdomain", body).await.expect_error(ErrorCode::SubdomainExists);
    }
    assert_eq!(call_count(&world, ADD), 0);
    assert!(audit(&world).await.is_empty(), "no request to the panel");
}

async fn audit(world: &World) -> Vec<Value> {
    let entries = world.admin().await.get("/audit").await.expect_ok();
    entries["audit"].as_array().unwrap().clone()
}

#[tokio::test]
async fn request_is_audited_before_the_panel_is_called() {
    let (world, _) = world_with_used_token().await;
    let committee = world.another_committee("Sfax", true).await;
    let writer = world
        .person(NewPerson::with(Profile::Trainer).of(committee).granted(&[Grant::CpanelWrite]))
        .await;
    writer.post("/cpanel/subdomain", payload("cours")).await.expect_ok();
    let entries = audit(&world).await;
    assert_eq!(entries.len(), 1);
    let entry = &entries[0];
    expect_fields(entry, json!({ "action": "SUBDOMAIN_REQUESTED", "targetType": "SUBDOMAIN" }));
    expect_fields(entry, json!({ "actorID": writer.user().user_id, "committeeID": committee }));
    assert_eq!(
        (&entry["before"], &entry["after"]),
        (&Value::Null, &json!({ "fqdn": "cours.formation.example.org" }))
    );
    // a UUID of version 5, derived from the name
    assert_eq!(entry["targetID"].as_str().unwrap().chars().nth(14), Some('5'));

    // If the audit entry cannot be written, the panel is not called.
    world.inject_fault(
        cloud::faults::Fault::new(cloud::faults::Mode::Refuse).on("TransactWriteItems"),
    );
    writer.post("/cpanel/subdomain", payload("forum")).await.expect_error(ErrorCode::Unavailable);
    assert_eq!(call_count(&world, ADD), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_concurrent_requests_for_one_name_one_succeeds() {
    for world in [World::with(&[("RATE_LIMIT", "1000")]).await, world_with_used_token().await.0] {
        let admin = world.admin().await;
        let calls = (0..20).map(|_| {
            let admin = admin.clone();
            tokio::spawn(async move { admin.post("/cpanel/subdomain", payload("cours")).await })
        });
        let answers: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
        let codes: Vec<String> = answers.iter().map(tests::Answer::code).collect();
        assert_eq!(
            codes.iter().filter(|code| *code == Message::SubdomainCreated.code()).count(),
            1,
            "{codes:?}"
        );
        assert_eq!(
            codes.iter().filter(|code| *code == ErrorCode::SubdomainExists.code()).count(),
            19,
            "{codes:?}"
        );
        let made = world
            .cloud()
            .uapi()
            .calls()
            .into_iter()
            .filter(|call| call["function"] == ADD && call["outcome"] == "done")
            .count();
        assert_eq!(made, 1);
    }
}

#[tokio::test]
async fn reserved_nested_or_overlong_name_is_not_sent_to_the_panel() {
    let (world, admin) = world_with_used_token().await;
    let long_root = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "b".repeat(61));
    for (label, root, field, error_code) in [
        ("a.b", "example.org", "domain", ErrorCode::FieldFormat),
        ("cPanel", "example.org", "domain", ErrorCode::FieldValue),
        ("cours", "localhost", "rootdomain", ErrorCode::FieldFormat),
        ("cours", &*long_root, "domain", ErrorCode::FieldLength),
    ] {
        let body = json!({ "domain": label, "rootdomain": root });
        admin.post("/cpanel/subdomain", body).await.expect_field_error(field, error_code);
    }
    assert_eq!(world.cloud().uapi().calls().len(), 1, "invalid requests are not sent to the panel");
}

/// Each label is either rejected as invalid or sent to cPanel exactly as the response states it.
#[tokio::test]
async fn hostile_names_are_rejected_or_passed_on_unchanged() {
    let (world, admin) = world_with_used_token().await;
    let labels = hostile_labels();
    assert!(labels.len() >= 200, "{}", labels.len());
    let (mut accepted, mut refused) = (0, 0);
    for label in labels {
        let before = world.cloud().uapi().calls().len();
        let answer = admin.post("/cpanel/subdomain", payload(&label)).await;
        // The list is limited to 200 calls: only the newest is compared.
        let newest = world.cloud().uapi().calls();
        match answer.status {
            400 => {
                let errors = answer.errors();
                assert!(
                    matches!(errors.as_slice(), [(field, _)] if field == "domain"),
                    "{label:?}: {errors:?}"
                );
                assert!(newest.len() == before, "{label:?} was passed on");
                refused += 1;
            }
            200 => {
                let created_subdomain =
                    answer.expect_success(Message::SubdomainCreated)["subdomain"].clone();
                assert_eq!(newest[0]["function"], ADD);
                let sent = json!({ "domain": created_subdomain["domain"], "rootdomain": "formation.example.org" });
                assert_eq!(newest[0]["parameters"], sent, "{label:?}");
                let plain =
                    |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
                assert!(
                    created_subdomain["domain"].as_str().unwrap().bytes().all(plain),
                    "{label:?}"
                );
                accepted += 1;
            }
            409 => accepted += 1,
            status => panic!("{label:?}: {status} {}", answer.code()),
        }
    }
    assert!(accepted > 10 && refused > 150, "{accepted} accepted, {refused} refused");
    for root in HOSTILE_ROOTS.split(' ') {
        let answer =
            admin.post("/cpanel/subdomain", json!({ "domain": "x", "rootdomain": root })).await;
        assert!([400, 404].contains(&answer.status), "{root:?}: {answer:?}");
        assert!(
            answer.status == 404 || answer.errors()[0].0 == "rootdomain",
            "{root:?}: {answer:?}"
        );
    }
}

const HOSTILE_ROOTS: &str = "\
    formation.example.org. .formation.example.org formation..example.org formation.example.org/x \
    formation.example.org?x=1 formation.example.org#x formation.example.org&domain=y \
    formation.example.org%00 formation.example.org:2083 user@formation.example.org \
    //formation.example.org 127.0.0.1 [::1] localhost .. *.example.org fоrmation.example.org \
    formation.exаmple.org formation。example。net.evil.test xn--.example.org -formation.example.org \
    formation.example.org\0 formation.example.org\r\nHost:x formation.example.org\u{202e}";

fn hostile_labels() -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    // each ASCII punctuation or control character and some others, within and before a name
    let beyond = [
        '。', '．', '｡', '\u{200b}', '\u{202e}', '\u{2028}', '\u{feff}', '／', '％', '＆',
        '\u{7f}', '\u{85}', '\u{a0}', '\u{3000}',
    ];
    let signs =
        (0u8..0x80).filter(|byte| !byte.is_ascii_alphanumeric()).map(char::from).chain(beyond);
    for sign in signs {
        labels.extend([format!("a{sign}b"), format!("{sign}a")]);
    }
    let others = "\
        www WWW ｗｗｗ mail ftp cPanel webmail whm webdisk ns1 ns2 localhost autodiscover autoconfig \
        cpcalendars cpcontacts -a a- -- - a--b xn-- xn--a xn--99999999 xn--bcher-kva \
        XN--BCHER-KVA bücher BÜCHER straße دورة אa aא1 1א дом аpple раypal 日本語 한국어 👩‍🚀 🎓 ☕ Ⅷ ① ½ \
        ﬁn ſ İ ı ß ς a%2eb a%00b a%0d%0ab %61 a&rootdomain=evil.test a&domain=b a=b&c a;b a#b a?b \
        ../x a/../b .. ... $(id) `id` <script> a@b a:80 [::1] 127.0.0.1 _dmarc * *a a* null \
        undefined 0 00 0x7f 1e3";
    labels.extend(others.split(' ').map(str::to_owned));
    let others = [
        "\u{301}a",
        "a\u{301}",
        "\u{640}",
        "a\u{200c}b",
        "a\u{200d}b",
        "\u{ad}",
        "so\u{ad}ft",
        "a\\b",
        "a\r\nX-Injected: 1",
        "a\nb",
        "{a}",
        "'; DROP TABLE x",
        "a b",
        " a ",
        "\ta\t",
        "a\u{a0}",
        "\u{200b}a\u{200b}",
    ];
    labels.extend(others.map(str::to_owned));
    labels.extend([63, 64, 65, 255, 256, 1_000, 50_000].map(|length| "a".repeat(length)));
    labels.extend([20, 63, 300].map(|length| "é".repeat(length)));
    labels.extend([30, 100].map(|length| "日".repeat(length)));
    labels.push(format!("xn--{}", "a".repeat(80)));
    labels.push("a.".repeat(40));
    labels
}
