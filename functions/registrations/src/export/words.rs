//! The texts of an export in the languages of its headings.

use domain::registration::HeadingLanguage;

/// The texts of one language.
pub(super) struct Words {
    /// Headings, in the order of the columns. `{zone}` stands for the name of the time zone.
    pub(super) headings: [&'static str; 12],
    /// Follows the text of a deleted question.
    pub(super) deleted: &'static str,
    pub(super) yes: &'static str,
    pub(super) no: &'static str,
}

/// In French, Arabic and English, as all texts here.
const HEADINGS: [[&str; 3]; 12] = [
    ["Numéro", "الرقم", "Number"],
    ["État", "الحالة", "State"],
    ["Nom", "اللقب", "Last name"],
    ["Prénom", "الاسم", "First name"],
    ["E-mail", "البريد الإلكتروني", "E-mail"],
    ["Téléphone", "الهاتف", "Phone"],
    ["Comité", "اللجنة", "Committee"],
    ["Inscription ({zone})", "تاريخ التسجيل ({zone})", "Registered ({zone})"],
    ["Confirmation ({zone})", "تاريخ التأكيد ({zone})", "Confirmed ({zone})"],
    ["Motif", "السبب", "Reason"],
    ["Langue", "اللغة", "Language"],
    ["Note", "ملاحظة", "Note"],
];
const DELETED: [&str; 3] = ["(supprimée)", "(محذوف)", "(deleted)"];
const YES: [&str; 3] = ["Oui", "نعم", "Yes"];
const NO: [&str; 3] = ["Non", "لا", "No"];

pub(super) fn words(language: HeadingLanguage) -> Words {
    let place = match language {
        HeadingLanguage::French => 0,
        HeadingLanguage::Arabic => 1,
        HeadingLanguage::English => 2,
    };
    let [deleted, yes, no] = [DELETED, YES, NO].map(|texts| texts[place]);
    Words { headings: HEADINGS.map(|texts| texts[place]), deleted, yes, no }
}
