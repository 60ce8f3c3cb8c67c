//! The fields of a committee and their rules, for a new one and for a change.

use common::{Fields, InvalidValue, flag, integer, text, text_or_empty};
use domain::{E164, Line, committee::CommitteeChange};
use serde_json::Value;

/// The highest postal code; Tunisia's have four digits, its neighbours' five.
const MAX_POSTAL_CODE: u32 = 99_999;

/// Whether the fields that have no default must be there.
#[derive(Clone, Copy)]
pub(crate) enum Needed {
    /// For a new committee.
    Yes,
    /// For a change.
    No,
}

impl Needed {
    fn read<T>(
        self,
        fields: &mut Fields,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Option<Option<T>> {
        match self {
            Self::Yes => fields.required(name, read).map(Some),
            Self::No => fields.optional(name, read),
        }
    }
}

/// Reads all fields of a committee but its identifier.
pub(crate) fn read(fields: &mut Fields, needed: Needed) -> Option<CommitteeChange> {
    let name_arabe = needed.read(fields, "nameArabe", text);
    let name_latin = needed.read(fields, "nameLatin", text);
    let kind = needed.read(fields, "type", text);
    let date_of_est = needed.read(fields, "dateOfEst", text);
    let vat = fields.optional("VAT", text_or_empty::<Line<30>>);
    let address = fields.optional("address", text_or_empty::<Line<300>>);
    let region = needed.read(fields, "region", text);
    let city = needed.read(fields, "city", text);
    let postal_code = needed.read(fields, "postalCode", integer(0..=MAX_POSTAL_CODE));
    let is_active = fields.optional("isActive", flag);
    let primary_email = needed.read(fields, "primaryEmail", text);
    let secondary_email = fields.patch("secondaryEmail", text);
    let primary_phone = needed.read(fields, "primaryPhone", text);
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
