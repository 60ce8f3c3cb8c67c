//! E-mail addresses in the canonical form in which they are stored, shown and compared.

use std::{fmt, str::FromStr};

use idna::{
    AsciiDenyList,
    uts46::{DnsLength, Hyphens, Uts46},
};
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::{ValueError, text::as_str};

/// Longest address, in bytes.
pub(crate) const MAX_BYTES: usize = 254;

/// An e-mail address: trimmed, NFC, lower case, with the domain in A-label form. It has at most 254 bytes; the local
/// part is an ASCII dot-atom of at most 64 (RFC 5321 §4.5.3.1; SES accepts no other local parts), the domain has two
/// labels or more.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Email(String);

impl FromStr for Email {
    type Err = ValueError;

    /// `Required` for white space alone, `Email` for anything else that is not an address of this form.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let text: String = text.trim().nfc().flat_map(char::to_lowercase).collect();
        if text.is_empty() {
            return Err(ValueError::Required);
        }
        let (local, domain) = text.rsplit_once('@').ok_or(ValueError::Email)?;
        // Unlike `Hyphens::Check`, this allows labels such as `my--company`, which can be registered.
        let domain = Uts46::new()
            .to_ascii(
                domain.as_bytes(),
                AsciiDenyList::STD3,
                Hyphens::CheckFirstLast,
                DnsLength::Verify,
            )
            .map_err(|_| ValueError::Email)?;
        let address = format!("{local}@{domain}");
        if is_local_part(local) && is_mail_domain(&domain) && address.len() <= MAX_BYTES {
            Ok(Self(address))
        } else {
            Err(ValueError::Email)
        }
    }
}

/// RFC 5322 §3.2.3 dot-atom, at most 64 bytes.
fn is_local_part(local: &str) -> bool {
    let atom = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    local.len() <= 64 && local.split('.').all(|part| !part.is_empty() && part.bytes().all(atom))
}

/// Two labels or more, of which the last is not a number: IP addresses are not accepted.
fn is_mail_domain(domain: &str) -> bool {
    let last = domain.rsplit_once('.').map(|(_, last)| last);
    last.is_some_and(|label| label.len() >= 2 && !label.bytes().all(|byte| byte.is_ascii_digit()))
}

as_str!(Email);

impl Email {
    /// The part before the `@`.
    pub fn local_part(&self) -> &str {
        self.0.rsplit_once('@').map_or(&self.0, |(local, _)| local)
    }

    /// Whether the domain may receive mail: those below `invalid` never do (RFC 6761 §6.4).
    pub fn is_deliverable(&self) -> bool {
        !self.0.ends_with(".invalid")
    }
}

impl fmt::Display for Email {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_parsed_is_canonical() {
        for (text, form) in [
            (" Amel.Trabelsi@Example.ORG ", "amel.trabelsi@example.org"),
            ("amel+cours@example.org", "amel+cours@example.org"),
            ("amel@ma--societe.example", "amel@ma--societe.example"),
            ("a@bücher.example", "a@xn--bcher-kva.example"),
            ("a@BU\u{308}CHER.example", "a@xn--bcher-kva.example"),
            ("o'neil@mail.example.org", "o'neil@mail.example.org"),
        ] {
            assert_eq!(text.parse::<Email>().map(|email| email.0), Ok(form.to_owned()), "{text}");
        }
    }

    #[test]
    fn email_malformed_is_rejected() {
        let long_local = format!("{}@example.org", "a".repeat(65));
        let long_label = format!("a@{}.org", "b".repeat(64));
        for text in [
            "amel",
            "@example.org",
            "amel@",
            "a@b",
            "a b@example.org",
            "a@@example.org",
            ".a@example.org",
            "a.@example.org",
            "a..b@example.org",
            "\"a\"@example.org",
            "a@[127.0.0.1]",
            "a@127.0.0.1",
            "a@-b.org",
            "a@example..org",
            "amél@example.org",
            "a@example.org\r\nBcc: b@example.org",
            "a<b@example.org",
            "a@exam_ple.org",
            &long_local,
            &long_label,
        ] {
            assert_eq!(text.parse::<Email>(), Err(ValueError::Email), "{text:?}");
        }
        assert_eq!("  ".parse::<Email>(), Err(ValueError::Required));
    }
}
