//! Subdomains of the hosting account: validation of labels and root domains.

use std::{borrow::Cow, str::FromStr};

use idna::{
    AsciiDenyList,
    uts46::{DnsLength, Hyphens, Uts46},
};
use serde::Serialize;

use crate::{ValueError, text::as_str};

/// Longest label (RFC 1035 §2.3.4).
pub(crate) const MAX_LABEL: usize = 63;
/// Longest name as text without a trailing dot (RFC 1035 §2.3.4).
pub(crate) const MAX_NAME: usize = 253;
/// Longest input before UTS 46 mapping, in bytes; bounds the cost of mapping.
const MAX_INPUT: usize = 1_000;

/// Labels that cPanel uses itself.
const RESERVED: [&str; 14] = [
    "www",
    "mail",
    "ftp",
    "cpanel",
    "webmail",
    "whm",
    "webdisk",
    "ns1",
    "ns2",
    "localhost",
    "autodiscover",
    "autoconfig",
    "cpcalendars",
    "cpcontacts",
];

/// One label of a domain name: mapped by UTS 46, lower case, in A-label form. It has 1 to 63 letters, digits and
/// hyphens, does not begin or end with a hyphen, and is not reserved by cPanel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label(String);

/// A domain name of two or more labels, each in the form of a [`Label`] but reserved ones included. The last label is
/// not a number; the name has at most 253 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootDomain(String);

impl FromStr for Label {
    type Err = ValueError;

    /// `Required` for white space alone, `Length` beyond 63 characters, `AsciiLength` beyond them in A-label form alone, `Value` for a reserved label,
    /// `Format` for anything else that is not a label.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        match ascii(text)? {
            label if label.len() > MAX_LABEL && !label.contains('.') => {
                let is_long = text.trim().chars().count() > MAX_LABEL;
                Err(if is_long { ValueError::Length } else { ValueError::AsciiLength })
            }
            label if !is_label(&label) => Err(ValueError::Format),
            label if RESERVED.contains(&&*label) => Err(ValueError::Value),
            label => Ok(Self(label.into_owned())),
        }
    }
}

impl FromStr for RootDomain {
    type Err = ValueError;

    /// `Required` for white space alone, `Length` if the name is too long, `AsciiLength` if one of its labels is, `Format`
    /// for anything else that is not a domain name.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let name = ascii(text)?;
        if name.len() > MAX_NAME {
            return Err(ValueError::Length);
        }
        if name.split('.').any(|label| label.len() > MAX_LABEL) {
            return Err(ValueError::AsciiLength);
        }
        let last = name.rsplit_once('.').map(|(_, last)| last);
        let has_named_suffix =
            last.is_some_and(|last| !last.bytes().all(|byte| byte.is_ascii_digit()));
        if has_named_suffix && name.split('.').all(is_label) {
            Ok(Self(name.into_owned()))
        } else {
            Err(ValueError::Format)
        }
    }
}

/// Maps `text` by UTS 46 (<https://www.unicode.org/reports/tr46/#ToASCII>), allowing only letters, digits and hyphens.
fn ascii(text: &str) -> Result<Cow<'_, str>, ValueError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ValueError::Required);
    }
    // UTS 46 drops some control characters; they are rejected like in `Line`.
    if text.contains(char::is_control) {
        return Err(ValueError::Format);
    }
    if text.len() > MAX_INPUT {
        return Err(ValueError::Length);
    }
    Uts46::new()
        .to_ascii(text.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Ignore)
        .map_err(|_| ValueError::Format)
}

fn is_label(label: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_plain = (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(plain)
        && !label.starts_with('-')
        && !label.ends_with('-');
    // An A-label must not decode to another A-label
    // (<https://www.unicode.org/reports/tr46/#Validity_Criteria>, 4).
    let decoded = || {
        Uts46::new().to_unicode(label.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast).0
    };
    is_plain && !decoded().starts_with("xn--")
}

as_str!(Label);
as_str!(RootDomain);

/// A subdomain in API responses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subdomain {
    /// The part before the root domain.
    pub domain: String,
    /// The root domain.
    pub rootdomain: String,
    /// The fully qualified name.
    pub fqdn: String,
}

impl Subdomain {
    /// Joins `label` and `root`.
    ///
    /// # Errors
    /// `Length` if the whole name has more than 253 characters.
    pub fn new(label: &Label, root: &RootDomain) -> Result<Self, ValueError> {
        let fqdn = format!("{}.{}", label.0, root.0);
        if fqdn.len() > MAX_NAME {
            return Err(ValueError::Length);
        }
        Ok(Self { domain: label.0.clone(), rootdomain: root.0.clone(), fqdn })
    }
}

/// The domains of a cPanel account, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Domains {
    /// The account's main domain.
    pub main_domain: String,
    /// Domains with their own sites.
    pub addon_domains: Vec<String>,
    /// Aliases of the main domain.
    pub parked_domains: Vec<String>,
    /// Subdomains of all of these, with their full names.
    pub sub_domains: Vec<String>,
}

impl Domains {
    /// The domains that subdomains can be created under.
    fn roots(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.main_domain)
            .chain(&self.addon_domains)
            .chain(&self.parked_domains)
            .map(String::as_str)
    }

    /// Whether subdomains can be created under `root`.
    pub fn has_root(&self, root: &RootDomain) -> bool {
        self.roots().any(|own| own == root.0)
    }

    /// Whether `fqdn` is one of the account's domains or subdomains.
    pub fn has(&self, fqdn: &str) -> bool {
        self.roots().chain(self.sub_domains.iter().map(String::as_str)).any(|own| own == fqdn)
    }

    /// The subdomains, each split at the longest root domain that it ends with. A name that ends with none is split
    /// after its first label.
    pub fn subdomains(&self) -> Vec<Subdomain> {
        let split = |fqdn: &String| {
            let below = |root| Some((fqdn.strip_suffix(root)?.strip_suffix('.')?, root));
            let of_root = self.roots().filter_map(below).max_by_key(|(_, root)| root.len());
            let (label, root) = of_root.or_else(|| fqdn.split_once('.')).unwrap_or((fqdn, ""));
            Subdomain { domain: label.to_owned(), rootdomain: root.to_owned(), fqdn: fqdn.clone() }
        };
        self.sub_domains.iter().map(split).collect()
    }
}

#[cfg(test)]
mod tests;
