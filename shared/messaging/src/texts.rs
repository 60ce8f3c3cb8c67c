//! What our mails and text messages say. The words of a kind stand together, in [`code_words`] and
//! [`words`]; a mail is put down once, in [`Part`]s, and shown as plain text and as HTML.
//!
//! A mail or text message about a code holds one run of six digits and no more, so that programs
//! and people that look for the code find it; all others hold none.

use domain::{
    Email, Instant,
    agent::Agent,
    code::{CodeKind, LIFE},
    outbox::News,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// A mail in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The subject; nothing in it comes from outside.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The body as an HTML document.
    pub html: String,
}

/// The mail that tells `news` to somebody at `to` whose first name is `name`. `public_url` is where
/// the front end stands, without a slash at its end.
pub fn mail(news: &News, name: &str, to: &Email, public_url: &str) -> Mail {
    let (subject, body) = words(news, to, public_url);
    let [start, end] = [greeting(name), CLOSING.to_owned()].map(Part::Paragraph);
    let parts: Vec<Part> = [start].into_iter().chain(body).chain([end]).collect();
    let text: Vec<String> = parts.iter().map(Part::text).collect();
    let html: String = parts.iter().map(Part::html).collect();
    Mail {
        subject: subject.to_owned(),
        text: format!("{}\n", text.join("\n\n")),
        html: document(subject, &html),
    }
}

/// The text message that carries a code; none for news that never goes by text message. It is one
/// segment: at most 160 characters of the GSM 03.38 basic alphabet, which has no ç, ê or ’.
pub fn sms(news: &News) -> Option<String> {
    let News::Code { kind, digits, .. } = news else {
        return None;
    };
    Some(format!(
        "Halqa: {} est {digits}. Il est valable {MINUTES} minutes. Ne le communiquez à personne.",
        code_words(*kind).sms
    ))
}

const MINUTES: u64 = LIFE.as_secs() / 60;
const CLOSING: &str = "Bien cordialement,\nL’équipe Halqa";
const YOURS: &str = "Si c’est bien vous, vous n’avez rien à faire.";
/// Whoever took the account may have changed the password.
const NOT_YOURS: &str = "Si ce n’est pas vous, changez sans attendre votre mot de passe, fermez les autres sessions dans votre compte \
     et prévenez l’administrateur de votre comité. Si vous ne pouvez plus vous connecter, demandez un nouveau mot de passe \
     depuis la page de connexion.";

/// What is said about a code.
struct CodeWords {
    subject: &'static str,
    /// Stands before the digits.
    intro: &'static str,
    /// Stands between `Halqa:` and the digits.
    sms: &'static str,
    link: Option<LinkWords>,
}

/// What is said about a code's link, and where it leads.
struct LinkWords {
    page: &'static str,
    /// Whether the page wants the address beside the code.
    with_address: bool,
    intro: &'static str,
    button: &'static str,
}

fn code_words(kind: CodeKind) -> CodeWords {
    match kind {
        CodeKind::Passwordless => CodeWords {
            subject: "Votre code de connexion à Halqa",
            intro: "Vous avez demandé à vous connecter à Halqa. Voici votre code de connexion\u{a0}:",
            sms: "votre code de connexion",
            link: Some(LinkWords {
                page: "passwordless",
                with_address: false,
                intro: "Vous pouvez aussi vous connecter avec ce lien, sans saisir le code\u{a0}:",
                button: "Me connecter à Halqa",
            }),
        },
        CodeKind::Reset => CodeWords {
            subject: "Choisissez un nouveau mot de passe Halqa",
            intro: "Vous avez demandé un nouveau mot de passe pour votre compte Halqa. Voici le code qui vous permet de le choisir\u{a0}:",
            sms: "votre code pour choisir un nouveau mot de passe",
            link: Some(LinkWords {
                page: "reset-password",
                with_address: true,
                intro: "Vous pouvez aussi choisir votre nouveau mot de passe avec ce lien, sans saisir le code\u{a0}:",
                button: "Choisir un nouveau mot de passe",
            }),
        },
        CodeKind::Email => CodeWords {
            subject: "Vérifiez votre adresse e-mail pour Halqa",
            intro: "Voici le code qui confirme que cette adresse e-mail est bien la vôtre\u{a0}:",
            sms: "le code de vérification de votre adresse e-mail",
            link: Some(LinkWords {
                page: "email-verification",
                with_address: true,
                intro: "Vous pouvez aussi vérifier votre adresse avec ce lien, sans saisir le code\u{a0}:",
                button: "Vérifier mon adresse e-mail",
            }),
        },
        CodeKind::Phone => CodeWords {
            subject: "Vérifiez votre numéro de téléphone pour Halqa",
            intro: "Voici le code qui confirme que votre numéro de téléphone est bien le vôtre\u{a0}:",
            sms: "le code de vérification de votre téléphone",
            link: None,
        },
    }
}

type Words = (&'static str, Vec<Part>);

/// The subject and what stands between greeting and closing.
fn words(news: &News, to: &Email, public_url: &str) -> Words {
    match news {
        News::Code { kind, digits, link } => {
            about_code(code_words(*kind), digits, link, to, public_url)
        }
        News::NewDevice { agent, ip, at } => {
            let what = "Une connexion à votre compte Halqa vient d’un appareil que nous ne connaissions pas\u{a0}:".to_owned();
            let (subject, mut parts) = paragraphs(
                "Nouvelle connexion à votre compte Halqa",
                what,
                [YOURS, NOT_YOURS],
            );
            parts.insert(1, Part::Facts(device_facts(agent, ip, *at)));
            (subject, parts)
        }
        News::PasswordChanged { at } => {
            let what = format!(
                "Le mot de passe de votre compte Halqa a été modifié {}.",
                moment(*at)
            );
            paragraphs(
                "Votre mot de passe Halqa a été modifié",
                what,
                [YOURS, NOT_YOURS],
            )
        }
        News::OtpEnabled { at } => {
            let what = format!(
                "La double authentification de votre compte Halqa a été activée {}.",
                moment(*at)
            );
            let what = what
                + " À chaque connexion, un code de votre application d’authentification vous sera demandé.";
            paragraphs(
                "Double authentification activée sur votre compte Halqa",
                what,
                [YOURS, NOT_YOURS],
            )
        }
        News::OtpDisabled {
            at,
            by_administrator,
        } => {
            let (who, not_yours) = match by_administrator {
                true => (
                    " par un administrateur",
                    "Si vous ne l’aviez pas demandé, prévenez l’administrateur de votre comité.",
                ),
                false => ("", NOT_YOURS),
            };
            let what = format!(
                "La double authentification de votre compte Halqa a été désactivée{who} {}.",
                moment(*at)
            );
            let advice =
                "Votre compte est moins bien protégé\u{a0}: nous vous conseillons de la réactiver.";
            paragraphs(
                "Double authentification désactivée sur votre compte Halqa",
                what,
                [advice, not_yours],
            )
        }
        News::EmailChangeRequested { at } => {
            let what = format!(
                "Un changement d’adresse e-mail a été demandé pour votre compte Halqa {}.",
                moment(*at)
            );
            let what = what
                + " L’adresse actuelle reste en vigueur tant que la nouvelle n’est pas vérifiée.";
            paragraphs(
                "Changement d’adresse e-mail demandé pour votre compte Halqa",
                what,
                [YOURS, NOT_YOURS],
            )
        }
        News::EmailChanged { at } => {
            let what = format!(
                "L’adresse e-mail de votre compte Halqa a été modifiée {}.",
                moment(*at)
            );
            let what = what
                + " Ce message est envoyé à l’ancienne adresse, qui ne sert plus à vous connecter.";
            // a new password, asked for at the sign-in page, would go to the new address
            let not_yours = "Si ce n’est pas vous, prévenez sans attendre l’administrateur de votre comité. Si vous pouvez encore \
                 vous connecter, changez votre mot de passe et fermez les autres sessions dans votre compte.";
            paragraphs(
                "L’adresse e-mail de votre compte Halqa a été modifiée",
                what,
                [YOURS, not_yours],
            )
        }
        News::RecoveryCodeUsed { left, at } => {
            let rest = match left {
                0 => "Il ne vous en reste plus\u{a0}: pensez à en créer de nouveaux dans votre compte.".to_owned(),
                _ => format!("Il vous en reste {left}."),
            };
            let what = format!(
                "Un code de secours a servi à se connecter à votre compte Halqa {}. {rest}",
                moment(*at)
            );
            paragraphs(
                "Un code de secours de votre compte Halqa a été utilisé",
                what,
                [YOURS, NOT_YOURS],
            )
        }
    }
}

fn about_code(words: CodeWords, digits: &str, code: &str, to: &Email, public_url: &str) -> Words {
    let link = words.link.filter(|_| !code.is_empty()).map(
        |LinkWords {
             page,
             with_address,
             intro,
             button,
         }| {
            let address = if with_address {
                format!("&email={}", percent_encoded(to.as_str()))
            } else {
                String::new()
            };
            Part::Link {
                intro,
                button,
                url: format!(
                    "{public_url}/{page}#code={}{address}",
                    percent_encoded(code)
                ),
            }
        },
    );
    let warning = format!(
        "Ce code est valable {MINUTES} minutes et ne sert qu’une fois. Ne communiquez ce code à personne et ne transférez pas \
         ce message\u{a0}: nous ne vous le demanderons jamais."
    );
    let otherwise = "Si vous n’avez rien demandé, ignorez simplement ce message\u{a0}: sans ce code, rien ne change.";
    let (subject, mut parts) =
        paragraphs(words.subject, words.intro.to_owned(), [&warning, otherwise]);
    parts.splice(
        1..1,
        [Part::Digits(digits.to_owned())].into_iter().chain(link),
    );
    (subject, parts)
}

fn paragraphs(subject: &'static str, what: String, ending: [&str; 2]) -> Words {
    (
        subject,
        [what]
            .into_iter()
            .chain(ending.map(str::to_owned))
            .map(Part::Paragraph)
            .collect(),
    )
}

fn device_facts(agent: &Agent, ip: &str, at: Instant) -> Vec<(&'static str, String)> {
    let or = |text: &str, unknown: &str| match cleaned(text).as_str() {
        "" | "unknown" => unknown.to_owned(),
        "desktop" => "ordinateur".to_owned(),
        "mobile" => "téléphone".to_owned(),
        "tablet" => "tablette".to_owned(),
        known => known.to_owned(),
    };
    vec![
        ("Navigateur", or(&agent.browser, "inconnu")),
        ("Système", or(&agent.os, "inconnu")),
        ("Appareil", or(&agent.device, "inconnu")),
        ("Adresse IP", or(ip, "inconnue")),
        ("Quand", moment(at)),
    ]
}

fn greeting(name: &str) -> String {
    let name = cleaned(name);
    // mail programs turn such a name into a link, and anybody may register a stranger's address
    let like_a_link = name.contains("://")
        || name
            .split('.')
            .skip(1)
            .any(|rest| rest.starts_with(char::is_alphanumeric));
    if name.is_empty() || like_a_link {
        "Bonjour,".to_owned()
    } else {
        format!("Bonjour {name},")
    }
}

const MONTHS: [&str; 12] = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
];

/// `at` as clocks in Tunis show it: an hour ahead of UTC, all year.
fn moment(at: Instant) -> String {
    let at = jiff::tz::offset(1).to_datetime(at.timestamp());
    let first = if at.day() == 1 { "er" } else { "" };
    let month = usize::try_from(at.month() - 1)
        .ok()
        .and_then(|month| MONTHS.get(month))
        .unwrap_or(&"");
    format!(
        "le {}{first} {month} {} à {} h {:02} (heure de Tunis)",
        at.day(),
        at.year(),
        at.hour(),
        at.minute()
    )
}

/// `text` without control characters and those that turn or hide text; nothing of a text that
/// could be taken for a code.
fn cleaned(text: &str) -> String {
    let hidden = [
        '\u{200b}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
    ];
    let shown = |c: &char| {
        !c.is_control()
            && !['\u{ad}', '\u{61c}', '\u{feff}'].contains(c)
            && !hidden.iter().any(|range| range.contains(c))
    };
    let text: String = text.chars().filter(shown).collect();
    let like_a_code = text
        .split(|c: char| !c.is_numeric())
        .any(|run| run.chars().count() >= 6);
    if like_a_code {
        String::new()
    } else {
        text.trim().to_owned()
    }
}

/// What is escaped in a URL's fragment. Digits are escaped too: an address may hold six in a row.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .add(b'0')
    .add(b'1')
    .add(b'2')
    .add(b'3')
    .add(b'4')
    .add(b'5')
    .add(b'6')
    .add(b'7')
    .add(b'8')
    .add(b'9')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

fn percent_encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, ESCAPED)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// A piece of a mail.
enum Part {
    Paragraph(String),
    Digits(String),
    Facts(Vec<(&'static str, String)>),
    Link {
        intro: &'static str,
        button: &'static str,
        url: String,
    },
}

impl Part {
    fn text(&self) -> String {
        match self {
            Self::Paragraph(text) => text.clone(),
            Self::Digits(digits) => format!("    {digits}"),
            Self::Facts(facts) => facts
                .iter()
                .map(|(name, value)| format!("- {name}\u{a0}: {value}"))
                .collect::<Vec<_>>()
                .join("\n"),
            Self::Link { intro, url, .. } => format!("{intro}\n{url}"),
        }
    }

    /// Colours are those of the mail program, light or dark, but for the button's. The code is spaced
    /// by style, so that it is selected and copied in one piece.
    fn html(&self) -> String {
        match self {
            Self::Paragraph(text) => format!("<p>{}</p>\n", escaped(text).replace('\n', "<br>")),
            Self::Digits(digits) => format!(
                "<p style=\"margin:24px 0;padding:16px;border:2px solid #0f6b5c;border-radius:8px;text-align:center;\
                 font-family:ui-monospace,Menlo,Consolas,monospace;font-size:32px;font-weight:bold;letter-spacing:8px;\
                 -webkit-user-select:all;user-select:all\">{}</p>\n",
                escaped(digits)
            ),
            Self::Facts(facts) => {
                let line = |name, value| {
                    format!(
                        "<li>{name}\u{a0}: <strong>{}</strong></li>\n",
                        escaped(value)
                    )
                };
                format!(
                    "<ul>\n{}</ul>\n",
                    facts
                        .iter()
                        .map(|(name, value)| line(name, value))
                        .collect::<String>()
                )
            }
            Self::Link { intro, button, url } => {
                let url = escaped(url);
                format!(
                    "<p>{intro}</p>\n<p style=\"margin:24px 0;text-align:center\"><a href=\"{url}\" style=\"display:inline-block;\
                     padding:12px 24px;border-radius:8px;background-color:#0f6b5c;color:#ffffff;font-weight:bold;\
                     text-decoration:none\">{button}</a></p>\n<p style=\"font-size:14px;word-break:break-all\">\
                     Si le bouton ne fonctionne pas, ouvrez cette adresse\u{a0}:<br>{url}</p>\n"
                )
            }
        }
    }
}

fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"fr\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"format-detection\" content=\"telephone=no\">\n\
         <title>{title}</title>\n</head>\n<body style=\"margin:0\">\n\
         <div style=\"max-width:560px;margin:0 auto;padding:24px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;\
         font-size:16px;line-height:1.5\">\n{body}</div>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use domain::outbox::News::*;
    use proptest::prelude::*;

    use super::*;

    const URL: &str = "https://halqa.example";
    const KINDS: [CodeKind; 4] = [
        CodeKind::Email,
        CodeKind::Phone,
        CodeKind::Reset,
        CodeKind::Passwordless,
    ];

    fn code(kind: CodeKind, digits: &str, link: &str) -> News {
        Code {
            kind,
            digits: digits.to_owned(),
            link: link.to_owned(),
        }
    }

    fn email(text: &str) -> Email {
        text.parse().unwrap()
    }

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    fn new_device(browser: &str, os: &str, device: &str, ip: &str) -> News {
        let agent = Agent {
            browser: browser.to_owned(),
            os: os.to_owned(),
            device: device.to_owned(),
        };
        NewDevice {
            agent,
            ip: ip.to_owned(),
            at: at("2026-11-21T12:26:59Z"),
        }
    }

    /// One of everything but codes.
    fn events(at: Instant) -> [News; 9] {
        [
            new_device(
                "Firefox",
                "Linux",
                "desktop",
                "2001:db8:1234:5678:9012:3456:7890:1234",
            ),
            PasswordChanged { at },
            OtpEnabled { at },
            OtpDisabled {
                at,
                by_administrator: false,
            },
            OtpDisabled {
                at,
                by_administrator: true,
            },
            EmailChangeRequested { at },
            EmailChanged { at },
            RecoveryCodeUsed { left: 0, at },
            RecoveryCodeUsed { left: 9, at },
        ]
    }

    fn runs(text: &str) -> Vec<&str> {
        text.split(|c: char| !c.is_numeric())
            .filter(|run| run.chars().count() >= 6)
            .collect()
    }

    fn assert_whole(mail: &Mail, digits: &[&str]) {
        assert_eq!(runs(&mail.text), digits, "{}", mail.text);
        assert_eq!(runs(&mail.html), digits, "{}", mail.html);
        assert!(
            runs(&mail.subject).is_empty() && !mail.subject.chars().any(char::is_control),
            "{}",
            mail.subject
        );
        assert!(
            !mail.subject.is_empty() && mail.subject.chars().count() <= 70,
            "{}",
            mail.subject
        );
        for body in [&mail.text, &mail.html] {
            assert!(
                body.lines().all(|line| !line.chars().any(char::is_control)),
                "{body:?}"
            );
            assert!(
                body.lines().all(|line| line.len() < 998),
                "RFC 5322 §2.1.1: {body}"
            );
        }
        for odd in [" :", " ;", " !", " ?", "'"] {
            assert!(!mail.text.contains(odd), "{odd} in {}", mail.text);
        }
    }

    #[test]
    fn a_mail_holds_its_code_once_and_the_others_none() {
        for kind in KINDS {
            for link in ["", "abcdefGHIJKL"] {
                let mail = mail(
                    &code(kind, "048213", link),
                    "Amina",
                    &email("amina123456@example.org"),
                    URL,
                );
                assert_whole(&mail, &["048213"]);
                for words in [&mail.text, &mail.html] {
                    assert!(
                        words.contains("Bonjour Amina,")
                            && words.contains("valable 10 minutes")
                            && words.contains("à personne")
                    );
                    assert!(
                        words.contains("Si vous n’avez rien demandé")
                            && words.contains("L’équipe Halqa")
                    );
                }
            }
        }
        for news in events(at("2026-11-21T12:26:00Z")) {
            let mail = mail(&news, "Amina", &email("amina@example.org"), URL);
            assert_whole(&mail, &[]);
            assert!(
                mail.text
                    .contains("le 21 novembre 2026 à 13 h 26 (heure de Tunis)"),
                "{}",
                mail.text
            );
            assert!(
                mail.text.contains("l’administrateur de votre comité"),
                "{}",
                mail.text
            );
            assert!(!mail.html.contains("href"), "{}", mail.html);
        }
    }

    #[test]
    fn the_link_leads_to_its_page() {
        let to = email("o'neil+2026@example.org");
        let address = "o%27neil%2B%32%30%32%36%40example.org";
        for (kind, page) in [
            (
                CodeKind::Passwordless,
                "/passwordless#code=abcDEF".to_owned(),
            ),
            (
                CodeKind::Reset,
                format!("/reset-password#code=abcDEF&email={address}"),
            ),
            (
                CodeKind::Email,
                format!("/email-verification#code=abcDEF&email={address}"),
            ),
        ] {
            let with_link = mail(&code(kind, "123456", "abcDEF"), "Amina", &to, URL);
            let url = format!("{URL}{page}");
            assert!(
                with_link.text.contains(&format!("{url}\n")),
                "{}",
                with_link.text
            );
            assert_eq!(with_link.text.matches("https://").count(), 1);
            let in_html = escaped(&url);
            assert!(
                with_link.html.contains(&format!("<a href=\"{in_html}\"")),
                "{}",
                with_link.html
            );
            assert!(
                with_link.html.contains(&format!("<br>{in_html}</p>")),
                "{}",
                with_link.html
            );
            assert_eq!(with_link.html.matches("https://").count(), 2);

            let without = mail(&code(kind, "123456", ""), "Amina", &to, URL);
            assert!(
                !without.text.contains("://") && !without.html.contains("://"),
                "{}",
                without.html
            );
        }
        let phone = mail(
            &code(CodeKind::Phone, "123456", "abcDEF"),
            "Amina",
            &to,
            URL,
        );
        assert!(!phone.text.contains("://") && !phone.html.contains("://"));
    }

    #[test]
    fn a_text_message_is_one_segment_that_every_phone_shows() {
        // 3GPP TS 23.038 §6.2.1, without the escape
        let basic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
             ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
        assert_eq!(basic.chars().count(), 127);
        for kind in KINDS {
            let text = sms(&code(kind, "048213", "abcdef")).unwrap();
            assert!(
                text.starts_with("Halqa: ") && text.chars().count() <= 160,
                "{text}"
            );
            assert!(text.chars().all(|letter| basic.contains(letter)), "{text}");
            assert_eq!(runs(&text), ["048213"]);
        }
        let connection = "Halqa: votre code de connexion est 123456. Il est valable 10 minutes. Ne le communiquez à personne.";
        assert_eq!(
            sms(&code(CodeKind::Passwordless, "123456", "")).as_deref(),
            Some(connection)
        );
        assert!(
            events(at("2026-11-21T12:26:00Z"))
                .iter()
                .all(|news| sms(news).is_none())
        );
    }

    #[test]
    fn a_name_does_no_harm() {
        for (name, greeting, in_html) in [
            (" Amina ", "Bonjour Amina,", "Bonjour Amina,"),
            ("أمل", "Bonjour أمل,", "Bonjour أمل,"),
            ("J.-P.", "Bonjour J.-P.,", "Bonjour J.-P.,"),
            ("", "Bonjour,", "Bonjour,"),
            (
                "<b>x</b>",
                "Bonjour <b>x</b>,",
                "Bonjour &lt;b&gt;x&lt;/b&gt;,",
            ),
            (
                "a\"b'c&amp;",
                "Bonjour a\"b'c&amp;,",
                "Bonjour a&quot;b&#39;c&amp;amp;,",
            ),
            ("Jean\r\nBcc:", "Bonjour JeanBcc:,", "Bonjour JeanBcc:,"),
            (
                "Jean\u{85}\u{2028}\u{202e}\u{0}",
                "Bonjour Jean,",
                "Bonjour Jean,",
            ),
            ("12345", "Bonjour 12345,", "Bonjour 12345,"),
            ("123456", "Bonjour,", "Bonjour,"),
            ("123\n456", "Bonjour,", "Bonjour,"),
            ("123\u{200b}456", "Bonjour,", "Bonjour,"),
            ("١٢٣٤٥٦", "Bonjour,", "Bonjour,"),
            ("x 1234567 y", "Bonjour,", "Bonjour,"),
            ("Gagnez sur evil.example", "Bonjour,", "Bonjour,"),
            ("http://evil", "Bonjour,", "Bonjour,"),
        ] {
            let mail = mail(
                &code(CodeKind::Reset, "048213", "abc"),
                name,
                &email("a@example.org"),
                URL,
            );
            assert!(
                mail.text.starts_with(&format!("{greeting}\n\n")),
                "{}",
                mail.text
            );
            assert!(
                mail.html.contains(&format!("<p>{in_html}</p>")),
                "{}",
                mail.html
            );
        }
    }

    #[test]
    fn a_device_is_told_in_french() {
        let to = email("a@example.org");
        for (news, told) in [
            (
                new_device("Chrome", "Android", "mobile", "197.0.2.1"),
                ["Chrome", "Android", "téléphone", "197.0.2.1"],
            ),
            (
                new_device("Safari", "iOS", "tablet", "197.0.2.1"),
                ["Safari", "iOS", "tablette", "197.0.2.1"],
            ),
            (
                new_device("unknown", "unknown", "unknown", ""),
                ["inconnu", "inconnu", "inconnu", "inconnue"],
            ),
            (
                new_device("<i>", "a\r\nb", "123456", "2001:db8::1"),
                ["<i>", "ab", "inconnu", "2001:db8::1"],
            ),
        ] {
            let mail = mail(&news, "Amina", &to, URL);
            let names = ["Navigateur", "Système", "Appareil", "Adresse IP"];
            let moment = "le 21 novembre 2026 à 13 h 26 (heure de Tunis)";
            for (name, value) in names.into_iter().zip(told).chain([("Quand", moment)]) {
                assert!(
                    mail.text.contains(&format!("- {name}\u{a0}: {value}\n")),
                    "{}",
                    mail.text
                );
                assert!(
                    mail.html.contains(&format!(
                        "<li>{name}\u{a0}: <strong>{}</strong></li>",
                        escaped(value)
                    )),
                    "{}",
                    mail.html
                );
            }
        }
    }

    #[test]
    fn moments_are_those_of_tunis() {
        for (instant, expected) in [
            (
                "2026-11-21T12:26:59Z",
                "le 21 novembre 2026 à 13 h 26 (heure de Tunis)",
            ),
            (
                "2026-07-31T23:05:00Z",
                "le 1er août 2026 à 0 h 05 (heure de Tunis)",
            ),
            (
                "2026-12-31T23:00:00Z",
                "le 1er janvier 2027 à 0 h 00 (heure de Tunis)",
            ),
            (
                "2028-02-29T08:09:00Z",
                "le 29 février 2028 à 9 h 09 (heure de Tunis)",
            ),
        ] {
            assert_eq!(moment(at(instant)), expected);
        }
        for milliseconds in [i64::MIN, i64::MAX] {
            assert!(runs(&moment(Instant::from_unix_milliseconds(milliseconds))).is_empty());
        }
    }

    #[test]
    fn recovery_codes_that_are_left_are_counted() {
        let told = |left| {
            mail(
                &RecoveryCodeUsed {
                    left,
                    at: at("2026-11-21T12:26:00Z"),
                },
                "",
                &email("a@example.org"),
                URL,
            )
            .text
        };
        assert!(told(0).contains("Il ne vous en reste plus"));
        assert!(told(1).contains("Il vous en reste 1."));
    }

    proptest! {
        #[test]
        fn whatever_comes_from_outside_the_rules_hold(
            name in prop_oneof![any::<String>(), "[0-9\r\n\u{200b}<>a.&' ]{0,20}"],
            word in prop_oneof![any::<String>(), "[0-9\r\n\u{200b}<>a.&' ]{0,20}"],
            local in "[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,40}",
            digits in "[0-9]{6}",
            link in "[A-Za-z]{0,64}",
            milliseconds in any::<i64>(),
        ) {
            let to = email(&format!("{local}@example.org"));
            for kind in KINDS {
                let mail = mail(&code(kind, &digits, &link), &name, &to, URL);
                prop_assert_eq!(runs(&mail.text), [&digits]);
                prop_assert_eq!(runs(&mail.html), [&digits]);
                prop_assert!(!mail.html.contains("<script") && mail.html.matches("<a ").count() <= 1);
            }
            let device = new_device(&word, &word, &word, &word);
            for news in events(Instant::from_unix_milliseconds(milliseconds)).into_iter().chain([device]) {
                let mail = mail(&news, &name, &to, URL);
                prop_assert!(runs(&mail.text).is_empty() && runs(&mail.html).is_empty());
                prop_assert!(!mail.text.chars().any(|c| c.is_control() && c != '\n'));
            }
        }
    }
}
