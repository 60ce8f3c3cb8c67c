//! Names in the hosting account: a label that somebody asks for, and the domain that it is to stand below.

use std::{borrow::Cow, str::FromStr};

use idna::{
    AsciiDenyList,
    uts46::{DnsLength, Hyphens, Uts46},
};
use serde::Serialize;

use crate::ValueError;

/// The longest label (RFC 1035 §2.3.4).
const MAX_LABEL: usize = 63;
/// The longest name, as text without a dot at the end (the same).
const MAX_NAME: usize = 253;
/// No label and no domain that makes sense is longer before it is mapped; mapping takes longer the longer it is.
const MAX_WRITTEN: usize = 1_000;

/// What the hosting account needs for itself.
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

/// One label of a domain name: mapped by UTS 46, lower case, in A-label form, 1 to 63 letters, digits and
/// hyphens that neither begins nor ends with a hyphen; not one that the hosting account needs for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label(String);

/// A domain name of two labels or more, each in the form of a [`Label`], the last one no number; at most 253
/// letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootDomain(String);

impl FromStr for Label {
    type Err = ValueError;

    /// `Required` for nothing but white space, `Length` beyond 63 letters in A-label form, `Value` for a
    /// reserved one, `Format` for anything else that is no label.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let label = ascii(text)?;
        if label.len() > MAX_LABEL && !label.contains('.') {
            return Err(ValueError::Length);
        }
        match () {
            () if !is_label(&label) => Err(ValueError::Format),
            () if RESERVED.contains(&&*label) => Err(ValueError::Value),
            () => Ok(Self(label.into_owned())),
        }
    }
}

impl FromStr for RootDomain {
    type Err = ValueError;

    /// `Required` for nothing but white space, `Length` for a name or a label that is too long, `Format` for
    /// anything else that is no domain name.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let name = ascii(text)?;
        if name.len() > MAX_NAME || name.split('.').any(|label| label.len() > MAX_LABEL) {
            return Err(ValueError::Length);
        }
        let last = name.rsplit_once('.').map(|(_, last)| last);
        let is_named = last.is_some_and(|last| !last.bytes().all(|byte| byte.is_ascii_digit()));
        if is_named && name.split('.').all(is_label) {
            Ok(Self(name.into_owned()))
        } else {
            Err(ValueError::Format)
        }
    }
}

/// `text` as UTS 46 maps it (<https://www.unicode.org/reports/tr46/#ToASCII>), with the letters, digits and
/// hyphens of host names alone.
fn ascii(text: &str) -> Result<Cow<'_, str>, ValueError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ValueError::Required);
    }
    // Some control characters are mapped to nothing; they are refused as in every other line of text.
    if text.contains(char::is_control) {
        return Err(ValueError::Format);
    }
    if text.len() > MAX_WRITTEN {
        return Err(ValueError::Length);
    }
    Uts46::new()
        .to_ascii(
            text.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::CheckFirstLast,
            DnsLength::Ignore,
        )
        .map_err(|_| ValueError::Format)
}

fn is_label(label: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_plain = (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(plain)
        && !label.starts_with('-')
        && !label.ends_with('-');
    // What stands for other letters may not stand for what looks like that again
    // (<https://www.unicode.org/reports/tr46/#Validity_Criteria>, 4).
    let shown = || {
        Uts46::new()
            .to_unicode(
                label.as_bytes(),
                AsciiDenyList::STD3,
                Hyphens::CheckFirstLast,
            )
            .0
    };
    is_plain && !shown().starts_with("xn--")
}

impl Label {
    /// The label.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RootDomain {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A subdomain as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subdomain {
    /// What stands before the root domain.
    pub domain: String,
    /// The domain that it stands below.
    pub rootdomain: String,
    /// The whole name.
    pub fqdn: String,
}

impl Subdomain {
    /// The subdomain `label` below `root`.
    ///
    /// # Errors
    /// `Length` when the whole name is too long.
    pub fn new(label: &Label, root: &RootDomain) -> Result<Self, ValueError> {
        let fqdn = format!("{}.{}", label.0, root.0);
        if fqdn.len() > MAX_NAME {
            return Err(ValueError::Length);
        }
        Ok(Self {
            domain: label.0.clone(),
            rootdomain: root.0.clone(),
            fqdn,
        })
    }
}

/// The domains of a hosting account, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Domains {
    /// The one that the account was opened for.
    pub main_domain: String,
    /// Others with a site of their own.
    pub addon_domains: Vec<String>,
    /// Other names of the main domain.
    pub parked_domains: Vec<String>,
    /// What stands below them.
    pub sub_domains: Vec<String>,
}

impl Domains {
    /// The domains below which a subdomain may be made.
    fn roots(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.main_domain)
            .chain(&self.addon_domains)
            .chain(&self.parked_domains)
            .map(String::as_str)
    }

    /// Whether a subdomain may be made below `root`.
    pub fn has_root(&self, root: &RootDomain) -> bool {
        self.roots().any(|own| own == root.0)
    }

    /// Whether the name `fqdn` is taken.
    pub fn has(&self, fqdn: &str) -> bool {
        self.roots()
            .chain(self.sub_domains.iter().map(String::as_str))
            .any(|own| own == fqdn)
    }

    /// The subdomains, each below the longest domain of the account that it ends with; below everything but its
    /// first label when it ends with none.
    pub fn subdomains(&self) -> Vec<Subdomain> {
        let split = |fqdn: &String| {
            let below = |root: &str| {
                fqdn.strip_suffix(root)?
                    .strip_suffix('.')
                    .map(|label| (label.to_owned(), root.to_owned()))
            };
            let of_root = self
                .roots()
                .filter_map(below)
                .max_by_key(|(_, root)| root.len());
            let of_first = || {
                fqdn.split_once('.')
                    .map(|(label, root)| (label.to_owned(), root.to_owned()))
            };
            let (domain, rootdomain) = of_root
                .or_else(of_first)
                .unwrap_or_else(|| (fqdn.clone(), String::new()));
            Subdomain {
                domain,
                rootdomain,
                fqdn: fqdn.clone(),
            }
        };
        self.sub_domains.iter().map(split).collect()
    }
}

#[cfg(test)]
mod tests;
