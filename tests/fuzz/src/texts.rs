//! Texts: field types, host names and addresses, phone numbers, and messages.

use std::{collections::BTreeMap, fmt::Debug, str::FromStr};

use domain::{
    CourseId, E164, Email, Instant, Line, Mobile, Phone, Price, Profile, Prose, ShortCode, UserId,
    ValueError,
    agent::Agent,
    course::{Currency, Language},
    file::{ContentType, FileName},
    folded, password,
    question::{QuestionType, check_options},
    segments::{Encoding, measure, parts},
    sms::{MAX_LENGTH, SenderId, Text},
    subdomain::{Label, RootDomain, Subdomain},
    template::render,
    words,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Target `field`: an accepted value is stored, read and displayed as the same value.
pub(crate) fn field(written: &str) {
    macro_rules! assert_round_trips {
        ($($kind:ty)*) => { $(assert_round_trip::<$kind>(written);)* };
    }
    assert_round_trips!(Line<200> Line<11> Prose<1000> ShortCode Email E164 Price Instant Language Currency);
    assert_round_trips!(FileName ContentType SenderId Text Profile QuestionType UserId CourseId);
    assert_bounded(written);
}

fn assert_round_trip<T>(written: &str)
where
    T: FromStr<Err = ValueError> + Serialize + DeserializeOwned + PartialEq + Debug,
{
    let Ok(value) = written.parse::<T>() else {
        return;
    };
    let stored = serde_json::to_string(&value).expect("it can be stored");
    assert_eq!(
        serde_json::from_str::<T>(&stored).ok().as_ref(),
        Some(&value),
        "{written:?} is stored as {stored}"
    );
    let shown = match serde_json::from_str(&stored).expect("JSON") {
        Value::String(text) => text,
        number => number.to_string(),
    };
    assert_eq!(shown.parse::<T>().as_ref(), Ok(&value), "{written:?} is shown as {shown:?}");
}

fn assert_bounded(written: &str) {
    if let (Ok(price), Ok(meant)) = (written.parse::<Price>(), serde_json::from_str::<f64>(written))
    {
        let stored = serde_json::to_string(&price).expect("a number");
        assert!(
            (stored.parse::<f64>().expect("a number") - meant).abs() < 1e-3,
            "{written} is stored as {stored}"
        );
    }
    if let Ok(line) = written.parse::<Line<200>>() {
        assert!(line.as_str().chars().count() <= 200);
        assert!(!line.as_str().chars().any(char::is_control));
    }
    if let Ok(name) = written.parse::<FileName>() {
        assert!(!name.as_str().contains(['/', '\\', '\u{202e}']));
        assert_eq!(name.as_str(), name.as_str().trim());
    }
    assert!(folded(written).len() <= 40 * written.len(), "folding makes the text too long");
    for word in words(written) {
        assert!((1..=8).contains(&word.stems().len()), "{word:?}");
        let word = word.folded();
        assert!((2..=64).contains(&word.chars().count()), "{word:?}");
        assert!(word.chars().all(char::is_alphanumeric), "{word:?}");
    }
    let options: Option<Vec<Line<200>>> =
        written.split('\n').map(|option| option.parse().ok()).collect();
    if let Ok(Some(options)) = check_options(QuestionType::Dropdown, options) {
        assert!((2..=50).contains(&options.len()));
    }
    if password::check(written, 8, None).is_ok() {
        assert!((8..=128).contains(&password::normalized(written).chars().count()));
    }
    let agent = Agent::of(written);
    assert!(["unknown", "desktop", "mobile", "tablet"].contains(&agent.device.as_str()));
}

/// Target `host`: an accepted host name or address has one normal form, which parses to itself, and A-labels decode to
/// their own script.
pub(crate) fn host(written: &str) {
    let (label, root) = (written.parse::<Label>(), written.parse::<RootDomain>());
    if let Ok(label) = &label {
        assert_host(label.as_str(), 63);
        assert!(!label.as_str().contains('.') && label.as_str() != "www");
        assert_eq!(label.as_str().parse().as_ref(), Ok(label));
        let (shown, known) = idna::domain_to_unicode(label.as_str());
        assert!(
            known.is_ok() && shown.parse().as_ref() == Ok(label),
            "{written:?} is shown as {shown:?}"
        );
        let root: RootDomain = "example.org".parse().expect("a domain");
        assert!(Subdomain::new(label, &root).is_ok_and(|whole| whole.fqdn.len() <= 253));
    }
    if let Ok(root) = &root {
        assert_host(root.as_str(), 253);
        assert!(label.is_err());
        assert!(root.as_str().split('.').all(|label| (1..=63).contains(&label.len())));
        assert_eq!(root.as_str().parse().as_ref(), Ok(root));
        let label: Label = "a".parse().expect("a label");
        if let Ok(whole) = Subdomain::new(&label, root) {
            assert!(whole.fqdn.len() <= 253 && whole.fqdn.parse::<RootDomain>().is_ok());
        }
    }
    if let Ok(email) = written.parse::<Email>() {
        let address = email.as_str();
        assert!(address.len() <= 254, "{address:?}");
        assert!(address.bytes().all(|byte| byte.is_ascii_graphic()), "{address:?}");
        assert!(!address.contains([',', ';', '<', '>', '"', '\\', '(', ')', '[', ']', ':']));
        assert_eq!(address.matches('@').count(), 1);
        assert_eq!(address.parse(), Ok(email.clone()), "{address:?}");
    }
}

fn assert_host(name: &str, longest: usize) {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    assert!(
        name.len() <= longest
            && name.bytes().all(plain)
            && !name.starts_with('-')
            && !name.ends_with('-'),
        "{name:?}"
    );
}

/// Target `phone`: an accepted number is E.164, and code plus number equals the whole number.
pub(crate) fn phone(written: &str) {
    if let Some((code, number)) = written.split_once(' ')
        && let Ok(phone) = Phone::parse(code, number)
    {
        let whole = E164::from(&phone);
        assert_eq!(whole.as_str().parse(), Ok(whole.clone()));
        assert_eq!((phone.code.as_str(), phone.number.as_str()), (code.trim(), number.trim()));
    }
    let (number, mobile) = (written.parse::<E164>(), written.parse::<Mobile>());
    if let Ok(number) = &number {
        let digits = number.as_str().strip_prefix('+').expect("it begins with a plus");
        assert!(
            (3..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        );
        assert_eq!(number.as_str(), written.trim());
        let codes = (1..=3).filter_map(|length| digits.split_at_checked(length));
        let of_a_country =
            codes.filter(|(code, number)| Phone::parse(code, number).is_ok()).count();
        assert_eq!(of_a_country, 1, "{written} must be valid in exactly one country");
    }
    if let Ok(mobile) = &mobile {
        assert_eq!(number.as_ref(), Ok(&mobile.number));
        assert!(mobile.number.as_str()[1..].starts_with(&mobile.country_code.to_string()));
    }
}

/// The default alphabet of 3GPP TS 23.038 without the escape character; [`EXTENSION`] contains what follows an escape.
const DEFAULT: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
    ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const EXTENSION: &str = "\u{c}^{}\\[~]|€";

/// Target `sms`: segments follow 3GPP TS 23.038 and add up to the text; template values are inserted only once.
pub(crate) fn sms(written: &str) {
    check_segments(written);
    if let Ok(accepted) = written.parse::<Text>() {
        assert_eq!(accepted.as_str(), written.replace("\r\n", "\n").replace('\r', "\n"));
        assert!(accepted.as_str().encode_utf16().count() <= MAX_LENGTH);
    }
    // The first line is the template; the others are `name=value`.
    let mut lines = written.split('\n');
    let template = lines.next().unwrap_or_default();
    let values: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    check_template(template, &values);
}

fn check_segments(written: &str) {
    let (measured, parts) = (measure(written), parts(written));
    let is_gsm =
        written.chars().all(|letter| DEFAULT.contains(letter) || EXTENSION.contains(letter));
    assert_eq!(measured.encoding, if is_gsm { Encoding::Gsm7 } else { Encoding::Ucs2 });
    let taken = |letter: char| match measured.encoding {
        Encoding::Gsm7 => 1 + usize::from(EXTENSION.contains(letter)),
        Encoding::Ucs2 => letter.len_utf16(),
    };
    let length = |text: &str| text.chars().map(taken).sum::<usize>();
    let (single, each) = if is_gsm { (160, 153) } else { (70, 67) };
    assert_eq!(usize::try_from(measured.segments), Ok(parts.len()));
    assert_eq!(parts.concat(), written);
    match parts.as_slice() {
        [only] => assert!(length(only) <= single),
        parts => {
            assert!(length(written) > single);
            for pair in parts.windows(2) {
                let next = pair[1].chars().next().expect("no part is empty");
                assert!(
                    length(pair[0]) <= each && length(pair[0]) + taken(next) > each,
                    "{parts:?}"
                );
            }
            assert!(parts.last().is_some_and(|last| (1..=each).contains(&length(last))));
        }
    }
}

/// Compares with a substitution in two steps, name to private-use character to value, which never interprets a value.
fn check_template(template: &str, values: &BTreeMap<String, String>) {
    let result = render(template, values, MAX_LENGTH);
    let Ok(text) = &result else { return };
    assert!(text.len() <= MAX_LENGTH);
    let is_private = |letter: char| ('\u{e000}'..='\u{f8ff}').contains(&letter);
    if template.contains(is_private)
        || values.values().any(|value| value.contains(is_private))
        || values.len() > 6000
    {
        return;
    }
    let letters = || ('\u{e000}'..='\u{f8ff}').map(String::from);
    let marked = values.keys().cloned().zip(letters()).collect();
    let marked = render(template, &marked, usize::MAX).expect("the same names have values");
    let again = values
        .values()
        .zip(letters())
        .fold(marked, |text, (value, letter)| text.replace(&letter, value));
    assert_eq!(*text, again);
}
