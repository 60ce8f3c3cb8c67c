//! The texts of mails and text messages, those about registrations in French and Arabic, all others in French. The texts of
//! each kind are in `code_words`, `events` and `language`; a mail is composed of `Part`s, which are rendered as plain text and
//! as HTML.
//!
//! A message about a code contains exactly one run of six or more digits, the code, so that programs and people find it. All
//! other messages contain none, but for what committees write, and the links to their courses and certificates.

mod announcement;
mod certificate;
mod events;
mod language;
mod part;
mod registration;

use domain::{
    Email, Instant, Language, Line, Zone,
    agent::Agent,
    code::{CodeKind, LIFE},
    committee::Committee,
    outbox::{Notification, OutboxMessage},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

pub use self::{
    announcement::AnnouncementFacts,
    certificate::CertificateFacts,
    registration::{RegistrationFacts, RequestsFacts},
};
use self::{
    language::{FRENCH, Texts},
    part::{Part, document},
};

/// The content of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The subject, without any user input but the title of a course.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The body as an HTML document.
    pub html: String,
    /// The attached event for calendars (RFC 5545).
    pub calendar: Option<String>,
}

/// What a mail names besides its message, as it is when the mail is sent.
#[derive(Debug, Clone)]
pub enum Facts {
    /// Nothing.
    None,
    /// The committee of the account, for a mail about an event that its person may have to report.
    Committee(Box<Committee>),
    /// The registration.
    Registration(Box<RegistrationFacts>),
    /// The course that confirmed people are reminded of, or that has changed.
    Announcement(Box<AnnouncementFacts>),
    /// A certificate.
    Certificate(Box<CertificateFacts>),
    /// Registrations that wait for a decision.
    Requests(Box<RequestsFacts>),
}

/// Writes the texts of mails.
#[derive(Debug, Clone)]
pub struct MailTexts {
    /// The URL of the front end, without a trailing slash.
    pub public_url: String,
    /// The time zone of all times.
    pub zone: Zone,
    /// The language.
    pub language: Language,
}

impl MailTexts {
    /// The mail with `message` to the address `to`, at `now`.
    pub fn mail(&self, message: &OutboxMessage, to: &Email, facts: &Facts, now: Instant) -> Mail {
        let Language::French = self.language;
        let notification = &message.notification;
        let texts = match notification {
            Notification::Registration(notice) => Texts::of(&notice.language),
            Notification::Announcement(notice) => Texts::of(&notice.language),
            Notification::Certificate(notice) => Texts::of(&notice.language),
            Notification::Requests { language, .. } => Texts::of(language),
            Notification::Code { .. } | Notification::Account { .. } => &FRENCH,
        };
        let (subject, body) = self.words(notification, to, facts);
        let subject = match facts.title() {
            Some(title) => format!("{subject}{}{}", texts.colon, texts.quoted(title.as_str())),
            None => subject.to_owned(),
        };
        let [start, end] = [greeting(&message.name, texts), texts.closing.to_owned()];
        let [start, end] = [start, end].map(Part::Paragraph);
        let parts: Vec<Part> = [start].into_iter().chain(body).chain([end]).collect();
        let text: Vec<String> = parts.iter().map(|part| part.text(texts)).collect();
        let html: String = parts.iter().map(|part| part.html(texts)).collect();
        let calendar = match (notification, facts) {
            (Notification::Registration(notice), Facts::Registration(facts)) => {
                facts.calendar(notice, &self.public_url, now)
            }
            (Notification::Announcement(notice), Facts::Announcement(facts)) => {
                facts.calendar(notice, &self.public_url, now)
            }
            _ => None,
        };
        Mail {
            text: format!("{}\n", text.join("\n\n")),
            html: document(&subject, &html, texts),
            subject,
            calendar,
        }
    }
}

impl Facts {
    fn title(&self) -> Option<&Line<200>> {
        match self {
            Self::Registration(facts) => facts.title(),
            Self::Announcement(facts) => facts.title(),
            Self::Certificate(facts) => facts.title(),
            Self::Requests(facts) => Some(&facts.course.summary.course_title),
            Self::None | Self::Committee(_) => None,
        }
    }
}

/// The text message about a code; `None` for all other notifications. It is one segment: at most 160
/// characters of the GSM 03.38 basic alphabet, which has no ç, ê or ’.
pub fn sms(notification: &Notification, language: Language) -> Option<String> {
    let Language::French = language;
    let Notification::Code { kind, digits, .. } = notification else {
        return None;
    };
    Some(format!(
        "Halqa : {} est {digits}. Il est valable {MINUTES} minutes. Ne le communiquez à personne.",
        code_words(*kind).sms
    ))
}

const MINUTES: u64 = LIFE.as_secs() / 60;

/// The texts of messages about a code.
struct CodeWords {
    subject: &'static str,
    /// The paragraph before the code.
    intro: &'static str,
    /// The words between `Halqa :` and `est`.
    sms: &'static str,
    link: Option<LinkWords>,
}

/// The texts of a code's link, and its page of the front end.
struct LinkWords {
    page: &'static str,
    /// Whether the link contains the e-mail address.
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
            sms: "votre code pour changer de mot de passe",
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
                page: "verify",
                with_address: true,
                intro: "Vous pouvez aussi vérifier votre adresse avec ce lien, sans saisir le code. La page vous demande de vous \
                        connecter\u{a0}:",
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

/// The subject, and the parts between greeting and closing.
type Words = (&'static str, Vec<Part>);

fn code_mail(words: CodeWords, digits: &str, code: &str, to: &Email, public_url: &str) -> Words {
    let link = words.link.filter(|_| !code.is_empty()).map(
        |LinkWords { page, with_address, intro, button }| Part::Button {
            intro,
            button,
            url: link_to(public_url, page, code, with_address.then_some(to)),
        },
    );
    let warning = format!(
        "Ce code est valable {MINUTES}\u{a0}minutes et ne sert qu’une fois. Ne communiquez ce code à personne et ne transférez pas \
         ce message\u{a0}: nous ne vous le demanderons jamais."
    );
    let otherwise = "Si vous n’avez rien demandé, ignorez simplement ce message\u{a0}: sans ce code, rien ne change.";
    let (subject, mut parts) =
        paragraphs(words.subject, words.intro.to_owned(), [&warning, otherwise]);
    parts.splice(1..1, [Part::Digits(digits.to_owned())].into_iter().chain(link));
    (subject, parts)
}

/// The link to `page` of the front end with `code`, and with the address if the page needs it.
fn link_to(public_url: &str, page: &str, code: &str, email: Option<&Email>) -> String {
    let code = percent_encoded(code);
    let email = email
        .map_or_else(String::new, |email| format!("&email={}", percent_encoded(email.as_str())));
    format!("{public_url}/{page}#code={code}{email}")
}

fn paragraphs(subject: &'static str, what: String, ending: [&str; 2]) -> Words {
    (subject, [what].into_iter().chain(ending.map(str::to_owned)).map(Part::Paragraph).collect())
}

fn device_facts(agent: &Agent, ip: &str, when: String) -> Vec<(&'static str, String)> {
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
        ("Date", when),
    ]
}

fn greeting(name: &str, texts: &Texts) -> String {
    let Texts { hello, comma, .. } = texts;
    let name = cleaned(name);
    // Mail programs turn such a name into a link, and an account can be registered with another person's address.
    let looks_like_link = name.contains("://")
        || name.split('.').skip(1).any(|rest| rest.starts_with(char::is_alphanumeric));
    if name.is_empty() || looks_like_link {
        format!("{hello}{comma}")
    } else {
        format!("{hello} {}{comma}", texts.quoted(&name))
    }
}

/// `text` without control, bidirectional and invisible characters; empty if it contains six digits in a row,
/// which could be taken for a code.
fn cleaned(text: &str) -> String {
    let hidden = ['\u{200b}'..='\u{200f}', '\u{2028}'..='\u{202e}', '\u{2060}'..='\u{206f}'];
    let shown = |c: &char| {
        !c.is_control()
            && !['\u{ad}', '\u{61c}', '\u{feff}'].contains(c)
            && !hidden.iter().any(|range| range.contains(c))
    };
    let text: String = text.chars().filter(shown).collect();
    let looks_like_code = text.split(|c: char| !c.is_numeric()).any(|run| run.chars().count() >= 6);
    if looks_like_code { String::new() } else { text.trim().to_owned() }
}

/// The characters that are escaped in a URL's fragment. Digits are included: an address may contain six in a row.
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

#[cfg(test)]
mod tests;
