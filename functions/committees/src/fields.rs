//! Reads the fields of a committee from a request body.

use common::{Fields, InvalidValue, flag, integer, text, text_or_empty};
use domain::{E164, Line, committee::CommitteeChange};
use serde_json::Value;

/// Postal codes have four digits in Tunisia and five in its neighbouring countries.
const MAX_POSTAL_CODE: u32 = 99_999;

/// Whether the fields without a default are required.
#[derive(Clone, Copy)]
pub(crate) enum Presence {
    /// For a new committee.
    Required,
    /// For a change.
    Optional,
}

impl Presence {
    fn read<T>(
        self,
        fields: &mut Fields,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Option<Option<T>> {
        match self {
            Self::Required => fields.required(name, read).map(Some),
            Self::Optional => fields.optional(name, read),
        }
    }
}

/// Reads all fields except the identifier.
pub(crate) fn read(fields: &mut Fields, presence: Presence) -> Option<CommitteeChange> {
    let name_arabe = presence.read(fields, "nameArabe", text);
    let name_latin = presence.read(fields, "nameLatin", text);
    let kind = presence.read(fields, "type", text);
    let date_of_est = presence.read(fields, "dateOfEst", text);
    let vat = fields.optional("VAT", text_or_empty::<Line<30>>);
    let address = fields.optional("address", text_or_empty::<Line<300>>);
    let region = presence.read(fields, "region", text);
    let city = presence.read(fields, "city", text);
    let postal_code = presence.read(fields, "postalCode", integer(0..=MAX_POSTAL_CODE));
    let is_active = fields.optional("isActive", flag);
    let primary_email = presence.read(fields, "primaryEmail", text);
    let secondary_email = fields.patch("secondaryEmail", text);
    let primary_phone = presence.read(fields, "primaryPhone", text);
    let secondary_phone = fields.optional("secondaryPhone", text_or_empty::<E164>);
    Some(CommitteeChange {
        name_arabe: name_arabe?,
        name_latin: name_latin?,
        r#type: kind?,
        date_of_est: date_of_est?,
        vat: vat?,
        address: address?,
        region: region?,
        city: city?,
        postal_code: postal_code?,
        is_active: is_active?,
        primary_email: primary_email?,
        secondary_email: secondary_email?,
        primary_phone: primary_phone?,
        secondary_phone: secondary_phone?,
    })
}
