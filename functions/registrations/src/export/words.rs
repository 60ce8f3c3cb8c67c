//! The texts of an export in the languages of its headings.

use domain::{
    certificate::CertificateStatus,
    registration::{HeadingLanguage, RegistrationState},
};

/// A text in French, Arabic and English.
pub(super) struct Word([&'static str; 3]);

impl Word {
    pub(super) const fn written_in(self, language: HeadingLanguage) -> &'static str {
        let [french, arabic, english] = self.0;
        match language {
            HeadingLanguage::French => french,
            HeadingLanguage::Arabic => arabic,
            HeadingLanguage::English => english,
        }
    }
}

/// The headings before those of the questions, in the order of the columns. `{zone}` stands for the name of the time zone.
pub(super) const HEADINGS: [Word; 12] = [
    Word(["Numéro", "الرقم", "Number"]),
    Word(["État", "الحالة", "State"]),
    Word(["Nom", "اللقب", "Last name"]),
    Word(["Prénom", "الاسم", "First name"]),
    Word(["E-mail", "البريد الإلكتروني", "E-mail"]),
    Word(["Téléphone", "الهاتف", "Phone"]),
    Word(["Comité", "الهيئة", "Committee"]),
    Word(["Inscription ({zone})", "تاريخ التسجيل ({zone})", "Registered ({zone})"]),
    Word(["Confirmation ({zone})", "تاريخ التأكيد ({zone})", "Confirmed ({zone})"]),
    Word(["Motif", "السبب", "Reason"]),
    Word(["Langue", "اللغة", "Language"]),
    Word(["Note", "ملاحظة", "Note"]),
];
/// Follows the text of a deleted question.
pub(super) const DELETED: Word = Word(["(supprimée)", "(محذوف)", "(deleted)"]);
pub(super) const YES: Word = Word(["Oui", "نعم", "Yes"]);
pub(super) const NO: Word = Word(["Non", "لا", "No"]);
/// The heading of a session without a title, which follows those. `{at}` stands for its start.
pub(super) const SESSION: Word = Word(["Séance du {at}", "حصة {at}", "Session of {at}"]);
/// Follows the heading of a cancelled session.
pub(super) const CANCELLED: Word = Word(["(annulée)", "(ملغاة)", "(cancelled)"]);
/// The headings of the sums after the sessions, and of the certificate.
pub(super) const SUMS: [Word; 4] = [
    Word(["Heures", "الساعات", "Hours"]),
    Word(["Présence (%)", "نسبة الحضور (%)", "Attendance (%)"]),
    Word(["Attestation", "الشهادة", "Certificate"]),
    Word(["État de l’attestation", "حالة الشهادة", "State of the certificate"]),
];
/// Follows the title of the course in the names of the file and the sheet.
pub(super) const LIST: Word = Word(["inscriptions", "التسجيلات", "registrations"]);
/// Follows the title in the names of the file and the sheet of a list to sign.
pub(super) const SIGNATURES: Word =
    Word(["feuille de présence", "قائمة الحضور", "attendance sheet"]);
/// The headings of names, and of half days, where `{hours}` stands for start and end.
pub(super) const NAME: Word = Word(["Nom et prénom", "اللقب والاسم", "Name"]);
pub(super) const SIGNATURE: Word =
    Word(["Signature {hours}", "الإمضاء {hours}", "Signature {hours}"]);
/// Stands in the place of the number of a trainer.
pub(super) const TRAINER: Word = Word(["Formateur", "المكوّن", "Trainer"]);
/// The end of the head of a list to sign. `{at}` stands for date and time.
pub(super) const PRINTED: Word = Word(["Imprimé le {at}", "طُبعت بتاريخ {at}", "Printed on {at}"]);
/// The end of the first line. `{at}` stands for date and time, `{name}` for the person who made the export.
pub(super) const MADE: Word = Word([
    "Établi le {at} par {name}",
    "أعدت القائمة بتاريخ {at} من قبل {name}",
    "Made on {at} by {name}",
]);
/// Explains the yellow cells of long texts, on paper.
pub(super) const LONG: Word = Word([
    "Fond jaune : le texte peut continuer ; il est entier dans la cellule du fichier",
    "خلفية صفراء: قد يكون للنص بقية، وهو كامل في خلية الملف",
    "Yellow: the text may continue; it is whole in the cell of the file",
]);

pub(super) const fn state(state: RegistrationState) -> Word {
    Word(match state {
        RegistrationState::Pending => ["En attente de décision", "قيد الدراسة", "Pending"],
        RegistrationState::Waitlisted => {
            ["Sur liste d’attente", "في قائمة الانتظار", "On the waiting list"]
        }
        RegistrationState::Confirmed => ["Confirmée", "مؤكد", "Confirmed"],
        RegistrationState::Rejected => ["Refusée", "مرفوض", "Refused"],
        RegistrationState::Cancelled => ["Annulée", "ملغى", "Cancelled"],
        RegistrationState::Expired => ["Expirée", "منتهي الصلاحية", "Expired"],
    })
}

pub(super) const fn status(status: CertificateStatus) -> Word {
    Word(match status {
        CertificateStatus::Valid => ["Valable", "صالحة", "Valid"],
        CertificateStatus::Expired => ["Expirée", "منتهية الصلاحية", "Expired"],
        CertificateStatus::Revoked => ["Révoquée", "مسحوبة", "Revoked"],
        CertificateStatus::Anonymised => ["Anonymisée", "بدون اسم", "Anonymised"],
    })
}
