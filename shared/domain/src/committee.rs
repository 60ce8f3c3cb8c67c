//! Committees: the organisational units of the federation.

use serde::{Deserialize, Serialize};

use crate::{CommitteeId, E164, Email, Instant, Line, Patch, ShortCode};

/// A committee, as its members see it: the fifteen fields of the interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Committee {
    /// Which one.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// Its name in Arabic.
    pub name_arabe: Line<200>,
    /// Its name in Latin letters, by which lists are sorted.
    pub name_latin: Line<200>,
    /// What kind of committee it is.
    pub r#type: ShortCode,
    /// When it was founded.
    pub date_of_est: Instant,
    /// Its tax number, or empty.
    #[serde(rename = "VAT")]
    pub vat: String,
    /// Its street address, or empty.
    pub address: String,
    /// Its governorate.
    pub region: Line<100>,
    /// Its city.
    pub city: Line<100>,
    /// Four digits in Tunisia; 0–99999.
    pub postal_code: u32,
    /// Whether its members may do more than read.
    pub is_active: bool,
    /// Where it is written to.
    pub primary_email: Email,
    /// A second address.
    pub secondary_email: Option<Email>,
    /// Where it is called.
    pub primary_phone: E164,
    /// A second number, or empty.
    pub secondary_phone: String,
}

/// A committee, as everybody sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicCommittee {
    /// Which one.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// Its name in Arabic.
    pub name_arabe: Line<200>,
    /// Its name in Latin letters.
    pub name_latin: Line<200>,
    /// What kind of committee it is.
    pub r#type: ShortCode,
    /// Its governorate.
    pub region: Line<100>,
    /// Its city.
    pub city: Line<100>,
}

impl Committee {
    /// A new committee, active unless `fields` says otherwise; `None` when a field without default is missing.
    pub fn new(committee_id: CommitteeId, fields: CommitteeChange) -> Option<Self> {
        Some(Self {
            committee_id,
            name_arabe: fields.name_arabe?,
            name_latin: fields.name_latin?,
            r#type: fields.r#type?,
            date_of_est: fields.date_of_est?,
            vat: fields.vat.unwrap_or_default(),
            address: fields.address.unwrap_or_default(),
            region: fields.region?,
            city: fields.city?,
            postal_code: fields.postal_code?,
            is_active: fields.is_active.unwrap_or(true),
            primary_email: fields.primary_email?,
            secondary_email: fields.secondary_email.value(),
            primary_phone: fields.primary_phone?,
            secondary_phone: fields.secondary_phone.unwrap_or_default(),
        })
    }
}

impl From<Committee> for PublicCommittee {
    fn from(committee: Committee) -> Self {
        Self {
            committee_id: committee.committee_id,
            name_arabe: committee.name_arabe,
            name_latin: committee.name_latin,
            r#type: committee.r#type,
            region: committee.region,
            city: committee.city,
        }
    }
}

/// What changes about a committee: a field that is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitteeChange {
    /// The new Arabic name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_arabe: Option<Line<200>>,
    /// The new Latin name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_latin: Option<Line<200>>,
    /// The new kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<ShortCode>,
    /// The new founding date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_of_est: Option<Instant>,
    /// The new tax number; empty removes it.
    #[serde(rename = "VAT", skip_serializing_if = "Option::is_none")]
    pub vat: Option<String>,
    /// The new street address; empty removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The new governorate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Line<100>>,
    /// The new city.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<Line<100>>,
    /// The new postal code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<u32>,
    /// Opened or closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
    /// The new address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_email: Option<Email>,
    /// The new second address.
    #[serde(skip_serializing_if = "Patch::is_absent")]
    pub secondary_email: Patch<Email>,
    /// The new number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_phone: Option<E164>,
    /// The new second number; empty removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secondary_phone: Option<String>,
}
