//! Committees: the organisational units of the federation.

use serde::{Deserialize, Serialize};

use crate::{CommitteeId, E164, Email, Instant, Line, ShortCode};

/// A committee with all fifteen fields, as its members see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Committee {
    /// The committee's identifier.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// Name in Arabic.
    pub name_arabe: Line<200>,
    /// Name in Latin script; lists are sorted by it.
    pub name_latin: Line<200>,
    /// The committee's type, a short code.
    pub r#type: ShortCode,
    /// Date of foundation.
    pub date_of_est: Instant,
    /// Tax number, or empty.
    #[serde(rename = "VAT")]
    pub vat: String,
    /// Street address, or empty.
    pub address: String,
    /// Governorate.
    pub region: Line<100>,
    /// City.
    pub city: Line<100>,
    /// Postal code, 0–99999; four digits in Tunisia.
    pub postal_code: u32,
    /// Whether members may do more than read.
    pub is_active: bool,
    /// Main e-mail address.
    pub primary_email: Email,
    /// Second e-mail address.
    pub secondary_email: Option<Email>,
    /// Main phone number.
    pub primary_phone: E164,
    /// Second phone number, or empty.
    pub secondary_phone: String,
}

/// A committee as the public sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicCommittee {
    /// The committee's identifier.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// Name in Arabic.
    pub name_arabe: Line<200>,
    /// Name in Latin script.
    pub name_latin: Line<200>,
    /// The committee's type, a short code.
    pub r#type: ShortCode,
    /// Governorate.
    pub region: Line<100>,
    /// City.
    pub city: Line<100>,
}

impl From<Committee> for PublicCommittee {
    fn from(committee: Committee) -> Self {
        let Committee { committee_id, name_arabe, name_latin, r#type, region, city, .. } =
            committee;
        Self { committee_id, name_arabe, name_latin, r#type, region, city }
    }
}

/// What lists of courses show of a committee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitteeNames {
    /// The committee's identifier.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// Name in Arabic.
    pub name_arabe: Line<200>,
    /// Name in Latin script.
    pub name_latin: Line<200>,
}

impl From<&Committee> for CommitteeNames {
    fn from(committee: &Committee) -> Self {
        Self {
            committee_id: committee.committee_id,
            name_arabe: committee.name_arabe.clone(),
            name_latin: committee.name_latin.clone(),
        }
    }
}
