use domain::{
    Instant, Recipient, UserId,
    outbox::{
        AccountEvent::{self, *},
        Notification::*,
    },
    segments::{Encoding, Measured, measure},
};
use proptest::prelude::*;

use super::{
    language::{ARABIC, FRENCH, MailOpening},
    part::escaped,
    *,
};

const URL: &str = "https://halqa.example";
const MOMENT: &str = "le 21 novembre 2026 à 13\u{a0}h\u{a0}26 (heure de Tunis)";

fn code(kind: CodeKind, digits: &str, link: &str) -> Notification {
    Code { kind, digits: digits.to_owned(), link: link.to_owned(), removal: None }
}

/// The mail to the person `name` with the address `to`.
fn mail(notification: &Notification, name: &str, to: &str) -> Mail {
    mail_in("Africa/Tunis", notification, name, to)
}

fn mail_in(zone: &str, notification: &Notification, name: &str, to: &str) -> Mail {
    let (public_url, zone) = (URL.to_owned(), zone.parse().unwrap());
    let texts = MailTexts { public_url, zone, language: Language::French };
    let to: Email = to.parse().unwrap();
    let (name, notification) = (name.to_owned(), notification.clone());
    let recipient = Recipient::Mail(to.clone());
    let message = OutboxMessage { to: recipient, about: UserId::NONE, name, notification };
    texts.mail(&message, &to, &Facts::None, at("2026-11-21T12:00:00Z"))
}

fn sms(notification: &Notification) -> Option<String> {
    super::sms(notification, Language::French)
}

fn tunis() -> Zone {
    "Africa/Tunis".parse().unwrap()
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn new_device(browser: &str, os: &str, device: &str, ip: &str) -> Notification {
    let agent = Agent { browser: browser.to_owned(), os: os.to_owned(), device: device.to_owned() };
    let event = NewDevice { agent, ip: ip.to_owned(), is_last: false };
    Account { event, at: at("2026-11-21T12:26:59Z") }
}

/// One notification of each kind except codes.
fn events(at: Instant) -> Vec<Notification> {
    let ip = "2001:db8:1234:5678:9012:3456:7890:1234";
    let mut events: Vec<AccountEvent> = vec![
        PasswordRemoved,
        OtpEnabled,
        EmailChangeRequested,
        EmailChanged,
        PhoneChanged,
        RecoveryCodeUsed { left: 0 },
        RecoveryCodeUsed { left: 9 },
        PasskeyAdded,
        PasskeyRemoved,
        PasskeyRefused,
        PasskeyRegistrationRefused,
    ];
    for yes in [false, true] {
        events.push(OtpDisabled { by_administrator: yes });
        events.push(PasswordChanged { has_passkeys: yes });
        events.push(PasskeysRemoved { by_administrator: yes });
    }
    let others = events.into_iter().map(|event| Account { event, at });
    [new_device("Firefox", "Linux", "desktop", ip)].into_iter().chain(others).collect()
}

fn runs(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_numeric()).filter(|run| run.chars().count() >= 6).collect()
}

fn assert_mail(mail: &Mail, digits: &[&str]) {
    let Mail { subject, text, html, .. } = mail;
    assert!(runs(subject).is_empty() && !subject.contains(char::is_control), "{subject}");
    assert!((1..=70).contains(&subject.chars().count()), "{subject}");
    for body in [text, html] {
        assert_eq!(runs(body), digits, "{body}");
        assert!(body.lines().all(|line| !line.chars().any(char::is_control)), "{body:?}");
        assert!(body.lines().all(|line| line.len() < 998), "RFC 5322 §2.1.1: {body}");
    }
    for forbidden in [" :", " ;", " !", " ?", "'"] {
        assert!(!text.contains(forbidden), "{forbidden} in {text}");
    }
}

#[test]
fn times_are_in_the_zone_and_name_its_city() {
    for (zone, time) in [
        ("Africa/Tunis", "le 21 novembre 2026 à 13\u{a0}h\u{a0}26 (heure de Tunis)"),
        ("Africa/Algiers", "le 21 novembre 2026 à 13\u{a0}h\u{a0}26 (heure d’Algiers)"),
        ("America/New_York", "le 21 novembre 2026 à 7\u{a0}h\u{a0}26 (heure de New York)"),
        ("Asia/Tokyo", "le 21 novembre 2026 à 21\u{a0}h\u{a0}26 (heure de Tokyo)"),
        ("UTC", "le 21 novembre 2026 à 12\u{a0}h\u{a0}26 (heure UTC)"),
    ] {
        for notification in events(at("2026-11-21T12:26:59Z")) {
            let Mail { text, html, .. } = mail_in(zone, &notification, "Amina", "a@example.org");
            assert!(text.contains(time) && html.contains(time), "{text}");
        }
    }
}

#[test]
fn mail_contains_its_code_once_others_none() {
    for kind in CodeKind::ALL {
        for link in ["", "abcdefGHIJKL"] {
            let mail = mail(&code(kind, "048213", link), "Amina", "amina123456@example.org");
            assert_mail(&mail, &["048213"]);
            for words in [&mail.text, &mail.html] {
                for part in [
                    "Bonjour Amina,",
                    "valable 10\u{a0}minutes",
                    "à personne",
                    "Si vous n’avez rien demandé",
                    "L’équipe Halqa",
                ] {
                    assert!(words.contains(part), "{words}");
                }
            }
        }
    }
    for notification in events(at("2026-11-21T12:26:00Z")) {
        let mail = mail(&notification, "Amina", "amina@example.org");
        assert_mail(&mail, &[]);
        assert!(mail.text.contains(MOMENT), "{}", mail.text);
        assert!(mail.text.contains("l’administrateur de votre comité"), "{}", mail.text);
        assert!(!mail.html.contains("href"), "{}", mail.html);
    }
}

#[test]
fn first_mail_has_a_second_link_that_removes_the_account() {
    let mut first = code(CodeKind::Email, "123456", "abcDEF");
    if let Code { removal, .. } = &mut first {
        *removal = Some("ghijkl".to_owned());
    }
    let text = mail(&first, "", "amina@example.org").text;
    let (_, links) = text.split_once("/verify#code=abcDEF").unwrap();
    let second = format!("{URL}/not-me#code=ghijkl&email=amina%40example.org\n");
    assert!(links.contains(&second), "{text}");
}

#[test]
fn code_link_points_to_page_of_its_kind() {
    let to = "o'neil+2026@example.org";
    let address = "o%27neil%2B%32%30%32%36%40example.org";
    for (kind, page) in [
        (CodeKind::Passwordless, "/passwordless#code=abcDEF".to_owned()),
        (CodeKind::Reset, format!("/reset-password#code=abcDEF&email={address}")),
        (CodeKind::Email, format!("/verify#code=abcDEF&email={address}")),
    ] {
        let Mail { text, html, .. } = mail(&code(kind, "123456", "abcDEF"), "Amina", to);
        let url = format!("{URL}{page}");
        assert!(text.contains(&format!("{url}\n")), "{text}");
        let in_html = escaped(&url);
        assert!(html.contains(&format!("<a href=\"{in_html}\"")), "{html}");
        assert!(html.contains(&format!("<br>{in_html}</p>")), "{html}");
        assert_eq!([&text, &html].map(|body| body.matches("https://").count()), [1, 2]);

        let Mail { text, html, .. } = mail(&code(kind, "123456", ""), "Amina", to);
        assert!(!text.contains("://") && !html.contains("://"), "{html}");
    }
    let phone = mail(&code(CodeKind::Phone, "123456", "abcDEF"), "Amina", to);
    assert!(!phone.text.contains("://") && !phone.html.contains("://"));
}

#[test]
fn sms_is_one_gsm7_segment() {
    for kind in CodeKind::ALL {
        let text = sms(&code(kind, "048213", "abcdef")).unwrap();
        assert!(text.starts_with("Halqa : "), "{text}");
        assert_eq!(measure(&text), Measured { encoding: Encoding::Gsm7, segments: 1 }, "{text}");
        assert_eq!(runs(&text), ["048213"]);
    }
    let connection = "Halqa : votre code de connexion est 123456. Il est valable 10 minutes. Ne le communiquez à personne.";
    assert_eq!(sms(&code(CodeKind::Passwordless, "123456", "")).as_deref(), Some(connection));
    assert!(events(at("2026-11-21T12:26:00Z")).iter().all(|event| sms(event).is_none()));
}

#[test]
fn greeting_unsafe_name_escaped_or_dropped() {
    for (name, greeting, in_html) in [
        (" Amina ", "Bonjour Amina,", "Bonjour Amina,"),
        ("أمل", "Bonjour \u{2068}أمل\u{2069},", "Bonjour \u{2068}أمل\u{2069},"),
        ("J.-P.", "Bonjour J.-P.,", "Bonjour J.-P.,"),
        ("", "Bonjour,", "Bonjour,"),
        ("<b>x</b>", "Bonjour <b>x</b>,", "Bonjour &lt;b&gt;x&lt;/b&gt;,"),
        ("a\"b'c&amp;", "Bonjour a\"b'c&amp;,", "Bonjour a&quot;b&#39;c&amp;amp;,"),
        ("Jean\r\nBcc:", "Bonjour JeanBcc:,", "Bonjour JeanBcc:,"),
        ("Jean\u{85}\u{2028}\u{202e}\u{0}", "Bonjour Jean,", "Bonjour Jean,"),
        ("12345", "Bonjour 12345,", "Bonjour 12345,"),
        ("123456", "Bonjour,", "Bonjour,"),
        ("123\n456", "Bonjour,", "Bonjour,"),
        ("123\u{200b}456", "Bonjour,", "Bonjour,"),
        ("١٢٣٤٥٦", "Bonjour,", "Bonjour,"),
        ("x 1234567 y", "Bonjour,", "Bonjour,"),
        ("Gagnez sur evil.example", "Bonjour,", "Bonjour,"),
        ("http://evil", "Bonjour,", "Bonjour,"),
    ] {
        let mail = mail(&code(CodeKind::Reset, "048213", "abc"), name, "a@example.org");
        assert!(mail.text.starts_with(&format!("{greeting}\n\n")), "{}", mail.text);
        assert!(mail.html.contains(&format!("<p>{in_html}</p>")), "{}", mail.html);
    }
}

#[test]
fn new_device_mail_lists_device_in_french() {
    let ip = "197.0.2.1";
    for (notification, expected) in [
        (new_device("Chrome", "Android", "mobile", ip), ["Chrome", "Android", "téléphone", ip]),
        (new_device("Safari", "iOS", "tablet", ip), ["Safari", "iOS", "tablette", ip]),
        (
            new_device("unknown", "unknown", "unknown", ""),
            ["inconnu", "inconnu", "inconnu", "inconnue"],
        ),
        (new_device("<i>", "a\r\nb", "123456", ip), ["<i>", "ab", "inconnu", ip]),
    ] {
        let Mail { text, html, .. } = mail(&notification, "Amina", "a@example.org");
        let names = ["Navigateur", "Système", "Appareil", "Adresse IP"];
        for (name, value) in names.into_iter().zip(expected).chain([("Date", MOMENT)]) {
            assert!(text.contains(&format!("- {name}\u{a0}: {value}\n")), "{text}");
            let item =
                format!("<li>{name}\u{a0}: <strong dir=\"auto\">{}</strong></li>", escaped(value));
            assert!(html.contains(&item), "{html}");
        }
    }
}

#[test]
fn moment_uses_tunis_time() {
    for (instant, expected) in [
        ("2026-11-21T12:26:59Z", MOMENT),
        ("2026-07-31T23:05:00Z", "le 1er août 2026 à 0\u{a0}h\u{a0}05 (heure de Tunis)"),
        ("2026-12-31T23:00:00Z", "le 1er janvier 2027 à 0\u{a0}h\u{a0}00 (heure de Tunis)"),
        ("2028-02-29T08:09:00Z", "le 29 février 2028 à 9\u{a0}h\u{a0}09 (heure de Tunis)"),
    ] {
        assert_eq!(FRENCH.moment(at(instant), &tunis()), expected);
    }
    for milliseconds in [i64::MIN, i64::MAX] {
        assert!([&FRENCH, &ARABIC].iter().all(|texts| {
            let moment = texts.moment(Instant::from_unix_milliseconds(milliseconds), &tunis());
            runs(&moment).is_empty()
        }));
    }
}

#[test]
fn recovery_code_mail_counts_remaining_codes() {
    let at = at("2026-11-21T12:26:00Z");
    let used = |left| Account { event: RecoveryCodeUsed { left }, at };
    let text = |left| mail(&used(left), "", "a@example.org").text;
    assert!(text(0).contains("Il ne vous en reste aucun"));
    assert!(text(1).contains("Il vous en reste 1."));
}

type Field = fn(&Texts) -> &MailOpening;

/// Each text of a registration: its field, and what the Arabic says, in English.
const ARABIC_SAYS: [(Field, [&str; 2]); 13] = [
    (
        |all| &all.confirmed,
        [
            "Your registration was confirmed",
            "Your registration for this training course was confirmed.",
        ],
    ),
    (
        |all| &all.received,
        [
            "We have received your request for registration",
            "Your request for registration was passed on to the committee, which will answer you as soon as possible.",
        ],
    ),
    (
        |all| &all.waitlisted,
        [
            "You are on the waiting list",
            "The seats of this training course are all taken. You are on the waiting list, and we will write to you as soon as a seat becomes free for you.",
        ],
    ),
    (
        |all| &all.accepted,
        [
            "Your request for registration was accepted",
            "The committee accepted your request, and your registration was confirmed.",
        ],
    ),
    (
        |all| &all.accepted_and_waitlisted,
        [
            "Your request for registration was accepted",
            "The committee accepted your request for registration. The seats of this training course are all taken, and you are on the waiting list. We will write to you as soon as a seat becomes free for you.",
        ],
    ),
    (
        |all| &all.promoted,
        [
            "A seat became free for you",
            "A seat became free, and your registration is now confirmed.",
        ],
    ),
    (
        |all| &all.rejected,
        [
            "Your request for registration was not accepted",
            "The committee was unable to accept your request for registration.",
        ],
    ),
    (
        |all| &all.cancelled_by_person,
        [
            "You have cancelled your registration",
            "You have cancelled your registration. If it was not you who cancelled it, please inform the committee that organises the course.",
        ],
    ),
    (
        |all| &all.cancelled_by_committee,
        ["The committee cancelled your registration", "The committee cancelled your registration."],
    ),
    (
        |all| &all.course_cancelled,
        [
            "Your training course was cancelled",
            "The training course was cancelled, and your registration was cancelled with it.",
        ],
    ),
    (
        |all| &all.expired_undecided,
        [
            "Your request for registration has lapsed",
            "The training course has begun, and the committee did not decide on your request for registration.",
        ],
    ),
    (
        |all| &all.expired_waiting,
        ["No seat became free", "The training course has begun, and no seat became free."],
    ),
    (
        |all| &all.requests,
        [
            "Requests for registration await your decision",
            "There are requests for registration for this training course that await your decision.",
        ],
    ),
];

#[test]
fn each_arabic_text_of_a_registration_is_arabic_and_has_a_translation() {
    let is_arabic = |c: char| matches!(c, '\u{600}'..='\u{6ff}' | ' ' | '.' | ':');
    let mut subjects = Vec::new();
    for (told, english) in ARABIC_SAYS {
        let [arabic, french] = [told(&ARABIC), told(&FRENCH)];
        subjects.push((french.subject, arabic.subject, english[0]));
        for (arabic, english) in [arabic.subject, arabic.what].into_iter().zip(english) {
            assert!(arabic.chars().all(is_arabic), "{arabic}");
            assert_eq!(arabic.matches('.').count(), english.matches('.').count(), "{arabic}");
        }
    }
    // Two changes share a subject in one language only if they do in the others.
    for (index, one) in subjects.iter().enumerate() {
        for other in &subjects[..index] {
            let same = [one.0 == other.0, one.1 == other.1, one.2 == other.2];
            assert!(same == [same[0]; 3], "{one:?} {other:?}");
        }
    }
}

#[test]
fn moment_in_arabic_has_tunisian_months_and_the_city() {
    let moment = |zone: &str, time| ARABIC.moment(at(time), &zone.parse().unwrap());
    let tunis = moment("Africa/Tunis", "2026-11-21T12:26:59Z");
    assert_eq!(tunis, "يوم 21 نوفمبر 2026 على الساعة 13:26 (توقيت تونس)");
    let york = moment("America/New_York", "2026-07-31T13:05:00Z");
    assert_eq!(york, "يوم 31 جويلية 2026 على الساعة 09:05 (توقيت \u{2068}New York\u{2069})");
}

proptest! {
    #[test]
    fn mails_with_arbitrary_input_keep_digit_rules(
        name in prop_oneof![any::<String>(), "[0-9\r\n\u{200b}<>a.&' ]{0,20}"],
        word in prop_oneof![any::<String>(), "[0-9\r\n\u{200b}<>a.&' ]{0,20}"],
        local in "[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,40}",
        digits in "[0-9]{6}",
        link in "[A-Za-z]{0,64}",
        milliseconds in any::<i64>(),
    ) {
        let to = format!("{local}@example.org");
        for kind in CodeKind::ALL {
            let mail = mail(&code(kind, &digits, &link), &name, &to);
            prop_assert_eq!(runs(&mail.text), [&digits]);
            prop_assert_eq!(runs(&mail.html), [&digits]);
            prop_assert!(!mail.html.contains("<script") && mail.html.matches("<a ").count() <= 1);
        }
        let device = new_device(&word, &word, &word, &word);
        for notification in events(Instant::from_unix_milliseconds(milliseconds)).into_iter().chain([device]) {
            let mail = mail(&notification, &name, &to);
            prop_assert!(runs(&mail.text).is_empty() && runs(&mail.html).is_empty());
            prop_assert!(!mail.text.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
