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

const FRENCH: Words = Words {
    headings: [
        "Numéro",
        "État",
        "Nom",
        "Prénom",
        "E-mail",
        "Téléphone",
        "Comité",
        "Inscription ({zone})",
        "Confirmation ({zone})",
        "Motif",
        "Langue",
        "Note",
    ],
    deleted: "(supprimée)",
    yes: "Oui",
    no: "Non",
};

const ARABIC: Words = Words {
    headings: [
        "الرقم",
        "الحالة",
        "اللقب",
        "الاسم",
        "البريد الإلكتروني",
        "الهاتف",
        "اللجنة",
        "تاريخ التسجيل ({zone})",
        "تاريخ التأكيد ({zone})",
        "السبب",
        "اللغة",
        "ملاحظة",
    ],
    deleted: "(محذوف)",
    yes: "نعم",
    no: "لا",
};

const ENGLISH: Words = Words {
    headings: [
        "Number",
        "State",
        "Last name",
        "First name",
        "E-mail",
        "Phone",
        "Committee",
        "Registered ({zone})",
        "Confirmed ({zone})",
        "Reason",
        "Language",
        "Note",
    ],
    deleted: "(deleted)",
    yes: "Yes",
    no: "No",
};

pub(super) const fn words(language: HeadingLanguage) -> &'static Words {
    match language {
        HeadingLanguage::French => &FRENCH,
        HeadingLanguage::Arabic => &ARABIC,
        HeadingLanguage::English => &ENGLISH,
    }
}
