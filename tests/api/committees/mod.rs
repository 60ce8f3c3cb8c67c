mod change;
mod create;
mod list;
mod show;

use serde_json::{Value, json};

/// A request with all fields of a committee.
pub(crate) fn payload(name: &str) -> Value {
    json!({
        "nameArabe": "الهيئة الجهوية بصفاقس",
        "nameLatin": name,
        "type": "REGIONAL",
        "dateOfEst": "1987-04-12",
        "VAT": "1234567A/M/000",
        "address": "12, avenue Habib Bourguiba",
        "region": "Sfax",
        "city": "Sfax",
        "postalCode": 3000,
        "primaryEmail": "Contact.Sfax@example.org",
        "secondaryEmail": null,
        "primaryPhone": "+21674000101",
        "secondaryPhone": "",
    })
}
