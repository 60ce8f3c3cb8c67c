//! Committees: the organisational units of the federation.

use serde::{Deserialize, Serialize};

use crate::{CommitteeId, E164, Email, Instant, Line, Patch, ShortCode};

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

impl Committee {
    /// A new committee, active unless `fields` says otherwise; `None` if a field without a default is missing.
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

    /// The committee with the fields of `change`.
    #[must_use]
    pub fn changed(self, change: CommitteeChange) -> Self {
        let mut secondary_email = self.secondary_email;
        change.secondary_email.apply(&mut secondary_email);
        Self {
            committee_id: self.committee_id,
            name_arabe: change.name_arabe.unwrap_or(self.name_arabe),
            name_latin: change.name_latin.unwrap_or(self.name_latin),
            r#type: change.r#type.unwrap_or(self.r#type),
            date_of_est: change.date_of_est.unwrap_or(self.date_of_est),
            vat: change.vat.unwrap_or(self.vat),
            address: change.address.unwrap_or(self.address),
            region: change.region.unwrap_or(self.region),
            city: change.city.unwrap_or(self.city),
            postal_code: change.postal_code.unwrap_or(self.postal_code),
            is_active: change.is_active.unwrap_or(self.is_active),
            primary_email: change.primary_email.unwrap_or(self.primary_email),
            secondary_email,
            primary_phone: change.primary_phone.unwrap_or(self.primary_phone),
            secondary_phone: change.secondary_phone.unwrap_or(self.secondary_phone),
        }
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

/// A partial update of a committee: a field that is `None` or `Absent` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitteeChange {
    /// New name in Arabic.
    pub name_arabe: Option<Line<200>>,
    /// New name in Latin script.
    pub name_latin: Option<Line<200>>,
    /// New type.
    pub r#type: Option<ShortCode>,
    /// New date of foundation.
    pub date_of_est: Option<Instant>,
    /// New tax number; empty removes it.
    pub vat: Option<String>,
    /// New street address; empty removes it.
    pub address: Option<String>,
    /// New governorate.
    pub region: Option<Line<100>>,
    /// New city.
    pub city: Option<Line<100>>,
    /// New postal code.
    pub postal_code: Option<u32>,
    /// Whether the committee becomes active or inactive.
    pub is_active: Option<bool>,
    /// New main e-mail address.
    pub primary_email: Option<Email>,
    /// New second e-mail address; `Null` removes it.
    pub secondary_email: Patch<Email>,
    /// New main phone number.
    pub primary_phone: Option<E164>,
    /// New second phone number; empty removes it.
    pub secondary_phone: Option<String>,
}
