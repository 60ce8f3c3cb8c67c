//! Reads the fields of a committee from a request body.

use common::{ApiError, Fields, InvalidField, InvalidValue, flag, integer, text, text_or_empty};
use domain::{E164, Email, Instant, Line, Patch, ShortCode, ValueError, committee::Committee};
use serde::Serialize;
use serde_json::{Map, Value};

/// Postal codes have four digits in Tunisia and five in its neighbouring countries.
const MAX_POSTAL_CODE: u32 = 99_999;

/// The valid fields of a request, as they are stored.
#[derive(Clone)]
pub(crate) struct CommitteeFields(Map<String, Value>);

impl CommitteeFields {
    /// `before` with these fields.
    pub(crate) fn changing(&self, before: impl Serialize) -> Result<Committee, ApiError> {
        let mut after = serde_json::to_value(before)?;
        if let Some(fields) = after.as_object_mut() {
            fields.extend(self.0.clone());
        }
        Ok(serde_json::from_value(after)?)
    }
}

/// Reads the fields of a new committee; those without a default are required.
pub(crate) fn read_new(fields: &mut Fields) -> Result<CommitteeFields, InvalidField> {
    read(Reader { fields, is_new: true, given: Map::new() })
}

/// Reads the fields that a request changes; none is required.
pub(crate) fn read_changes(fields: &mut Fields) -> Result<CommitteeFields, InvalidField> {
    read(Reader { fields, is_new: false, given: Map::new() })
}

/// Reads all fields except the identifier.
fn read(mut reader: Reader<'_>) -> Result<CommitteeFields, InvalidField> {
    let all = [
        reader.needed("nameArabe", text::<Line<200>>),
        reader.needed("nameLatin", text::<Line<200>>),
        reader.needed("type", text::<ShortCode>),
        reader.needed("dateOfEst", text::<Instant>),
        reader.optional("VAT", text_or_empty::<Line<30>>),
        reader.optional("address", text_or_empty::<Line<300>>),
        reader.needed("region", text::<Line<100>>),
        reader.needed("city", text::<Line<100>>),
        reader.needed("postalCode", integer(0..=MAX_POSTAL_CODE)),
        reader.optional("isActive", flag),
        reader.needed("primaryEmail", text::<Email>),
        reader.nullable("secondaryEmail", text::<Email>),
        reader.needed("primaryPhone", text::<E164>),
        reader.optional("secondaryPhone", text_or_empty::<E164>),
    ];
    all.into_iter().collect::<Result<(), _>>()?;
    Ok(CommitteeFields(reader.given))
}

struct Reader<'a> {
    fields: &'a mut Fields,
    is_new: bool,
    given: Map<String, Value>,
}

impl Reader<'_> {
    fn needed<T: Serialize>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Result<(), InvalidField> {
        if self.is_new {
            let value = self.fields.required(name, read)?;
            self.keep(name, value)
        } else {
            self.optional(name, read)
        }
    }

    fn optional<T: Serialize>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Result<(), InvalidField> {
        match self.fields.optional(name, read)? {
            None => Ok(()),
            Some(value) => self.keep(name, value),
        }
    }

    fn nullable<T: Serialize>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Result<(), InvalidField> {
        match self.fields.patch(name, read)? {
            Patch::Absent => Ok(()),
            patch => self.keep(name, patch.value()),
        }
    }

    fn keep(&mut self, name: &str, value: impl Serialize) -> Result<(), InvalidField> {
        let value =
            serde_json::to_value(value).map_err(|_| self.fields.reject(name, ValueError::Type))?;
        self.given.insert(name.to_owned(), value);
        Ok(())
    }
}
