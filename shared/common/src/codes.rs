//! The table of every `RESPONSE_CODE` with its HTTP status and French `RESPONSE_TEXT`.

use std::time::Duration;

use domain::{Language, ValueError};
use http::StatusCode;

macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $status:literal $code:literal $text:literal)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = concat!("`", $code, "`, ", stringify!($status), ".")] $variant,)*
        }

        impl $name {
            /// All codes, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The HTTP status.
            pub fn status(self) -> StatusCode {
                let status: u16 = match self { $(Self::$variant => $status,)* };
                StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            }

            /// `RESPONSE_CODE`.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// `RESPONSE_TEXT`.
            pub const fn text(self, language: Language) -> &'static str {
                match (self, language) { $((Self::$variant, Language::French) => $text,)* }
            }
        }
    };
}

table! {
    /// The codes of successful writes.
    Message {
        UserRegistered      201 "USER_REGISTERED_SUCCESS_MESSAGE"    "Votre compte a été créé. Un code de vérification vient d’être envoyé."
        LoginSuccess        200 "LOGIN_SUCCESS_MESSAGE"              "Vous êtes connecté."
        OtpRequired         200 "OTP_REQUIRED_MESSAGE"               "Saisissez le code affiché par votre application d’authentification."
        LogoutSuccess       200 "LOGOUT_SUCCESS_MESSAGE"             "Vous êtes déconnecté."
        SessionEnded        200 "SESSION_ENDED_MESSAGE"              "La session a été fermée."
        PasswordChanged     200 "PASSWORD_CHANGED_SUCCESS_MESSAGE"   "Votre mot de passe a été modifié."
        OtpGenerated        200 "OTP_GENERATED_SUCCESS_MESSAGE"      "Scannez ce code avec votre application d’authentification, puis saisissez le code affiché."
        OtpVerified         201 "OTP_VERIFIED_SUCCESS_MESSAGE"       "Le code a été vérifié."
        OtpDisabled         200 "OTP_DISABLED_SUCCESS_MESSAGE"       "La double authentification est désactivée."
        RecoveryCodes       201 "RECOVERY_CODES_CREATED_MESSAGE"     "Voici vos nouveaux codes de secours. Conservez-les en lieu sûr : ils ne seront plus affichés."
        OtpReset            200 "OTP_RESET_SUCCESS_MESSAGE"          "La double authentification de cet utilisateur a été réinitialisée et ses clés d’accès ont été supprimées."
        PasskeyCreated      201 "PASSKEY_CREATED_MESSAGE"            "Votre clé d’accès a été ajoutée."
        PasskeyUpdated      200 "PASSKEY_UPDATED_MESSAGE"            "Votre clé d’accès a été renommée."
        PasskeyDeleted      200 "PASSKEY_DELETED_MESSAGE"            "Votre clé d’accès a été supprimée."
        PasswordlessSent    200 "PASSWORDLESS_CODE_SENT_MESSAGE"     "Si un compte existe à cette adresse, un code de connexion vient d’être envoyé."
        ResetCodeSent       200 "RESET_CODE_SENT_MESSAGE"            "Si un compte existe à cette adresse, un code vient d’être envoyé."
        VerificationSent    200 "VERIFICATION_CODE_SENT_MESSAGE"     "Un code de vérification vient d’être envoyé."
        AccountRemoved      200 "ACCOUNT_REMOVED_MESSAGE"            "Le compte créé avec votre adresse a été supprimé."
        EmailVerified       200 "EMAIL_VERIFIED_SUCCESS_MESSAGE"     "Votre adresse e-mail a été vérifiée."
        PhoneVerified       200 "PHONE_VERIFIED_SUCCESS_MESSAGE"     "Votre numéro de téléphone a été vérifié."
        UserUpdated         200 "USER_UPDATED_SUCCESS_MESSAGE"       "Votre compte a été modifié."
        UserDeleted         200 "USER_DELETED_SUCCESS_MESSAGE"       "Le compte a été supprimé."
        AvatarUpdated       200 "AVATAR_UPDATED_SUCCESS_MESSAGE"     "Votre photo de profil a été modifiée."
        UserStatusUpdated   200 "USER_STATUS_UPDATED_SUCCESS_MESSAGE" "Le statut du compte a été enregistré."
        TeamMemberUpdated   200 "TEAM_MEMBER_UPDATED_SUCCESS_MESSAGE" "Le compte du membre a été modifié."
        CommitteeCreated    201 "COMMITTEE_CREATED_MESSAGE"          "Le comité a été créé."
        CommitteeUpdated    200 "COMMITTEE_UPDATED_MESSAGE"          "Le comité a été modifié."
        CourseCreated       201 "COURSE_CREATED_MESSAGE"             "Le cours a été créé."
        CourseCopied        201 "COURSE_COPIED_MESSAGE"              "Le cours a été copié."
        CourseUpdated       200 "COURSE_UPDATED_MESSAGE"             "Le cours a été modifié."
        CourseArchived      200 "COURSE_ARCHIVED_SUCCESS_MESSAGE"    "Le cours a été archivé."
        CoursePublished     200 "COURSE_PUBLISHED_MESSAGE"           "Le cours a été publié."
        AlreadyPublished    200 "COURSE_ALREADY_PUBLISHED_MESSAGE"   "Le cours est déjà publié."
        CourseReturned      200 "COURSE_RETURNED_TO_DRAFT_MESSAGE"   "Le cours est de nouveau un brouillon."
        QuestionsAdded      200 "QUESTIONS_ADDED_MESSAGE"            "Les questions ont été ajoutées."
        QuestionUpdated     200 "QUESTION_UPDATED_MESSAGE"           "La question a été modifiée."
        QuestionDeleted     200 "QUESTION_DELETED_MESSAGE"           "La question a été supprimée."
        RegistrationSettings 200 "REGISTRATION_SETTINGS_UPDATED_MESSAGE" "Les réglages des inscriptions ont été enregistrés."
        RegistrationConfirmed 201 "REGISTRATION_CONFIRMED_MESSAGE"   "Votre inscription est confirmée."
        RegistrationWaitlisted 201 "REGISTRATION_WAITLISTED_MESSAGE" "Le cours est complet. Vous êtes sur la liste d’attente."
        RegistrationPending 201 "REGISTRATION_PENDING_MESSAGE"       "Votre demande d’inscription a été transmise au comité."
        AlreadyRegistered   200 "ALREADY_REGISTERED_MESSAGE"         "Vous êtes déjà inscrit à ce cours."
        RegistrationUpdated 200 "REGISTRATION_UPDATED_MESSAGE"       "L’inscription a été modifiée."
        RegistrationCancelled 200 "REGISTRATION_CANCELLED_MESSAGE"   "L’inscription a été annulée."
        RegistrationApproved 200 "REGISTRATION_APPROVED_MESSAGE"     "L’inscription a été acceptée."
        RegistrationRejected 200 "REGISTRATION_REJECTED_SUCCESS_MESSAGE" "L’inscription a été refusée."
        DecisionsRecorded   200 "DECISIONS_RECORDED_MESSAGE"         "Les décisions sont enregistrées."
        RegistrationsExported 201 "REGISTRATIONS_EXPORTED_MESSAGE"   "La liste des inscriptions est prête."
        SessionsUpdated     200 "SESSIONS_UPDATED_MESSAGE"           "Les séances sont enregistrées."
        AttendanceRecorded  200 "ATTENDANCE_RECORDED_MESSAGE"        "Les présences sont enregistrées."
        CertificatesIssued  200 "CERTIFICATES_ISSUED_MESSAGE"        "Les attestations sont délivrées."
        CertificateRevoked  200 "CERTIFICATE_REVOKED_MESSAGE"        "L’attestation est révoquée."
        // Also an error, with the same text.
        CourseCancelled     200 "COURSE_CANCELLED_MESSAGE"           "Le cours a été annulé."
        FileCreated         201 "FILE_CREATED_MESSAGE"               "Le fichier peut maintenant être envoyé."
        FileReady           200 "FILE_READY_MESSAGE"                 "Le fichier est prêt."
        FileDeleted         200 "FILE_DELETED_MESSAGE"               "Le fichier a été supprimé."
        SmsAccepted         200 "SMS_ACCEPTED_MESSAGE"               "Le message a été accepté."
        SmsBulkAccepted     200 "SMS_BULK_ACCEPTED_MESSAGE"          "Les messages ont été acceptés."
        OptOutAdded         200 "OPT_OUT_ADDED_MESSAGE"              "Ce numéro est sur la liste d’opposition."
        OptOutRemoved       200 "OPT_OUT_REMOVED_MESSAGE"            "Ce numéro n’est plus sur la liste d’opposition."
        SubdomainCreated    200 "SUBDOMAIN_CREATED_MESSAGE"          "Le sous-domaine a été créé."
    }
}

table! {
    /// The codes of errors.
    ErrorCode {
        InvalidJson          400 "INVALID_JSON_MESSAGE"              "Le corps de la requête n’est pas un objet JSON valide."
        Validation           400 "VALIDATION_ERROR_MESSAGE"          "Plusieurs champs sont incorrects."
        FieldRequired        400 "FIELD_REQUIRED_MESSAGE"            "Ce champ est obligatoire."
        FieldType            400 "FIELD_TYPE_MESSAGE"                "Ce champ n’est pas du type attendu."
        FieldLength          400 "FIELD_LENGTH_MESSAGE"              "La longueur de ce champ n’est pas permise."
        FieldFormat          400 "FIELD_FORMAT_MESSAGE"              "Le format de ce champ est incorrect."
        FieldValue           400 "FIELD_VALUE_MESSAGE"               "La valeur de ce champ n’est pas permise."
        EmailInvalid         400 "EMAIL_INVALID_MESSAGE"             "Cette adresse e-mail n’est pas valide."
        EmailAlreadyUsed     400 "EMAIL_ALREADY_USED_MESSAGE"        "Cette adresse e-mail est déjà utilisée."
        CommitteeInvalid     400 "COMMITTEE_INVALID_MESSAGE"         "Ce comité n’existe pas ou n’est pas actif."
        PasswordTooShort     400 "PASSWORD_TOO_SHORT_MESSAGE"        "Ce mot de passe est trop court."
        PasswordTooCommon    400 "PASSWORD_TOO_COMMON_MESSAGE"       "Ce mot de passe est trop courant ou trop facile à deviner."
        PasswordMismatch     400 "PASSWORD_MISMATCH_MESSAGE"         "Les deux mots de passe ne sont pas identiques."
        PasswordUnchanged    400 "PASSWORD_UNCHANGED_MESSAGE"        "Le nouveau mot de passe doit être différent de l’ancien."
        OtpInvalid           400 "OTP_INVALID_MESSAGE"               "Ce code a déjà servi ou n’est pas le bon : attendez le suivant."
        PasskeyInvalid       400 "PASSKEY_INVALID_MESSAGE"           "Cette clé d’accès n’a pas pu être vérifiée. Recommencez l’ajout."
        PasskeysLimit        400 "PASSKEYS_LIMIT_MESSAGE"            "Un compte a au plus 20 clés d’accès. Supprimez-en une avant d’en ajouter une autre."
        ResetCodeInvalid     400 "RESET_CODE_INVALID_MESSAGE"        "Ce code est incorrect, expiré ou déjà utilisé. Vous pouvez en demander un nouveau."
        VerificationInvalid  400 "VERIFICATION_CODE_INVALID_MESSAGE" "Ce code est incorrect, expiré ou déjà utilisé. Vous pouvez en demander un nouveau."
        SendMethodInvalid    400 "SEND_METHOD_INVALID_MESSAGE"       "Le mode d’envoi doit être « email » ou « sms »."
        PhoneNotReachable    400 "PHONE_NOT_REACHABLE_MESSAGE"       "Ce numéro ne peut pas recevoir de code par SMS."
        VariableMissing      400 "SMS_VARIABLE_MISSING_MESSAGE"      "Une variable du message n’a pas de valeur pour ce destinataire."
        // A warning: no response has it as its own code.
        SingleBraces         400 "SMS_SINGLE_BRACES_MESSAGE"         "Ce nom entre accolades simples sera envoyé tel quel. Pour en faire une variable, doublez les accolades."
        AvatarInvalid        400 "AVATAR_INVALID_MESSAGE"            "Cette image ne peut pas servir de photo de profil. Choisissez un fichier PNG, JPEG ou WebP (avec perte, non animé) d’au plus 16 mégapixels."
        CourseNotReady       400 "COURSE_NOT_READY_MESSAGE"          "Il manque à ce cours des informations nécessaires à sa publication."
        QuestionsLimit       400 "QUESTIONS_LIMIT_MESSAGE"           "Un cours contient au plus 200 questions, dont les textes ne dépassent pas 300 ko au total."
        AnswersLimit         400 "ANSWERS_LIMIT_MESSAGE"             "Les réponses sont trop longues : elles ne dépassent pas 64 Ko au total."
        SessionsOverlap      400 "SESSIONS_OVERLAP_MESSAGE"          "Deux séances se chevauchent."
        MarkerInvalid        400 "MARKER_INVALID_MESSAGE"            "Cette personne n’est pas un membre actif et vérifié du comité."
        RecipientOptedOut    400 "RECIPIENT_OPTED_OUT_MESSAGE"       "Ce destinataire ne souhaite plus recevoir de messages."
        SmsBulkRejected      400 "SMS_BULK_REJECTED_MESSAGE"         "Aucun destinataire n’a pu être accepté."
        LimitInvalid         400 "LIMIT_INVALID_MESSAGE"             "La limite doit être un nombre entier de 1 à 100."
        InvalidCursor        400 "INVALID_CURSOR_MESSAGE"            "La suite de cette liste n’est plus disponible. Reprenez la liste depuis le début."
        MalformedRequest     400 "MALFORMED_REQUEST_MESSAGE"         "La requête n’a pas pu être lue."
        BadAuthCombination   401 "BAD_AUTH_COMBINATION_MESSAGE"      "Vous n’êtes pas connecté ou vos identifiants sont incorrects."
        Forbidden            403 "FORBIDDEN_MESSAGE"                 "Vous n’avez pas le droit d’effectuer cette opération."
        AccountNotVerified   403 "ACCOUNT_NOT_VERIFIED_MESSAGE"      "Votre compte n’est pas encore vérifié. Saisissez le code reçu par e-mail ou adressez-vous à l’administrateur de votre comité."
        CommitteeInactive    403 "COMMITTEE_INACTIVE_MESSAGE"        "Votre comité est inactif : vous pouvez consulter, mais pas modifier."
        RegistrationAudience 403 "REGISTRATION_AUDIENCE_MESSAGE"     "Ce cours est réservé aux membres de son comité."
        Reauthentication     403 "REAUTHENTICATION_REQUIRED_MESSAGE" "Votre connexion date de plus de 10 minutes. Reconnectez-vous pour effectuer cette opération."
        PrefetchRefused      403 "PREFETCH_REFUSED_MESSAGE"          "Cette opération ne peut pas être préchargée."
        NotFound             404 "NOT_FOUND_MESSAGE"                 "Cette ressource n’existe pas."
        UserNotFound         404 "USER_NOT_FOUND_MESSAGE"            "Cet utilisateur n’existe pas."
        CommitteeNotFound    404 "COMMITTEE_NOT_FOUND_MESSAGE"       "Ce comité n’existe pas."
        CourseNotFound       404 "COURSE_NOT_FOUND_MESSAGE"          "Ce cours n’existe pas."
        QuestionNotFound     404 "QUESTION_NOT_FOUND_MESSAGE"        "Cette question n’existe pas."
        RegistrationNotFound 404 "REGISTRATION_NOT_FOUND_MESSAGE"    "Cette inscription n’existe pas."
        FileNotFound         404 "FILE_NOT_FOUND_MESSAGE"            "Ce fichier n’existe pas."
        SmsNotFound          404 "SMS_NOT_FOUND_MESSAGE"             "Ce message n’existe pas."
        BatchNotFound        404 "BATCH_NOT_FOUND_MESSAGE"           "Cet envoi n’existe pas."
        OptOutNotFound       404 "OPT_OUT_NOT_FOUND_MESSAGE"         "Ce numéro n’est pas sur la liste d’opposition."
        RootDomainNotFound   404 "ROOT_DOMAIN_NOT_FOUND_MESSAGE"     "Ce domaine n’appartient pas au compte d’hébergement."
        SessionNotFound      404 "SESSION_NOT_FOUND_MESSAGE"         "Cette session n’existe pas ou est déjà fermée."
        PasskeyNotFound      404 "PASSKEY_NOT_FOUND_MESSAGE"         "Cette clé d’accès n’existe pas."
        MethodNotAllowed     405 "METHOD_NOT_ALLOWED_MESSAGE"        "Cette méthode n’est pas permise pour cette ressource."
        Conflict             409 "CONFLICT_MESSAGE"                  "Ces données viennent d’être modifiées par une autre opération. Veuillez réessayer."
        // The pending address that a code is requested for was taken in the meantime.
        EmailTaken           409 "EMAIL_ALREADY_USED_MESSAGE"        "Cette adresse e-mail est déjà utilisée."
        PasskeyAlreadyRegistered 409 "PASSKEY_ALREADY_REGISTERED_MESSAGE" "Cette clé d’accès est déjà enregistrée."
        CourseArchived       409 "COURSE_ARCHIVED_MESSAGE"           "Ce cours est archivé et ne peut plus être modifié."
        CourseCancelled      409 "COURSE_CANCELLED_MESSAGE"          "Le cours a été annulé."
        CourseFull           409 "COURSE_FULL_MESSAGE"               "Le cours et sa liste d’attente sont complets."
        CourseHasRegistrations 409 "COURSE_HAS_REGISTRATIONS_MESSAGE" "Des personnes sont inscrites à ce cours. Annulez d’abord le cours ou les inscriptions."
        CourseHasSessions    409 "COURSE_HAS_SESSIONS_MESSAGE"       "Les dates du cours sont celles de ses séances. Modifiez les séances."
        CourseWithoutSessions 409 "COURSE_WITHOUT_SESSIONS_MESSAGE"  "Ce cours n’a pas de séances."
        SessionHasMarks      409 "SESSION_HAS_MARKS_MESSAGE"         "Des présences sont déjà notées pour cette séance. Annulez-la au lieu de la supprimer."
        // Of a mark of attendance, as the next three: a response has them beside the mark, never as its own code.
        SessionCancelled     409 "SESSION_CANCELLED_MESSAGE"         "Cette séance a été annulée."
        AttendanceClosed     409 "ATTENDANCE_CLOSED_MESSAGE"         "Les présences de ce cours ne peuvent plus être modifiées."
        TicketInvalid        409 "TICKET_INVALID_MESSAGE"            "Ce billet n’est pas ou plus valable."
        MarkChanged          409 "MARK_CHANGED_MESSAGE"              "Cette présence a été modifiée entre-temps."
        CertificatesDisabled 409 "CERTIFICATES_DISABLED_MESSAGE"     "Ce cours ne délivre pas d’attestation."
        CourseNotEnded       409 "COURSE_NOT_ENDED_MESSAGE"          "Le cours n’est pas terminé."
        CertificatesNotPrintable 409 "CERTIFICATES_NOT_PRINTABLE_MESSAGE" "Un texte du cours contient des caractères qui ne peuvent pas être imprimés."
        // Of a person who gets no certificate, as the next two: a response has them beside the person.
        NotMarked            409 "NOT_MARKED_MESSAGE"                "Aucune présence de cette personne n’est notée."
        NotEnough            409 "NOT_ENOUGH_MESSAGE"                "Cette personne n’a pas été assez présente."
        NameNotPrintable     409 "NAME_NOT_PRINTABLE_MESSAGE"        "Le nom contient des caractères qui ne peuvent pas être imprimés."
        CertificateNotFound  404 "CERTIFICATE_NOT_FOUND_MESSAGE"     "Aucune attestation ne porte ce code."
        CertificateNotAvailable 409 "CERTIFICATE_NOT_AVAILABLE_MESSAGE" "Cette attestation a été révoquée ou son titulaire a supprimé son compte."
        CapacityTooLow       409 "CAPACITY_TOO_LOW_MESSAGE"          "Plus de personnes sont déjà inscrites. Annulez d’abord des inscriptions."
        CourseEnded          409 "COURSE_ENDED_MESSAGE"              "Le cours est terminé."
        RegistrationDisabled 409 "REGISTRATION_DISABLED_MESSAGE"     "Ce cours ne prend pas d’inscriptions."
        RegistrationNotOpen  409 "REGISTRATION_NOT_OPEN_MESSAGE"     "Les inscriptions ne sont pas encore ouvertes."
        RegistrationClosed   409 "REGISTRATION_CLOSED_MESSAGE"       "Les inscriptions sont closes."
        RegistrationRejected 409 "REGISTRATION_REJECTED_MESSAGE"     "Le comité a refusé votre inscription à ce cours."
        RegistrationsLimit   409 "REGISTRATIONS_LIMIT_MESSAGE"       "Vous avez atteint le nombre maximal d’inscriptions."
        RegistrationEnded    409 "REGISTRATION_ENDED_MESSAGE"        "Cette inscription n’est plus active."
        RegistrationNotConfirmed 409 "REGISTRATION_NOT_CONFIRMED_MESSAGE" "Cette inscription n’est pas confirmée."
        CourseWithoutDate    409 "COURSE_WITHOUT_DATE_MESSAGE"       "Ce cours n’a pas de date."
        RegistrationConfirmed 409 "REGISTRATION_CONFIRMED_ALREADY_MESSAGE" "Cette inscription est déjà confirmée : elle peut seulement être annulée."
        CancellationClosed   409 "CANCELLATION_CLOSED_MESSAGE"       "Le délai d’annulation est dépassé. Adressez-vous au comité."
        EditClosed           409 "EDIT_CLOSED_MESSAGE"               "Le cours a commencé : l’inscription ne peut plus être modifiée."
        QuestionTypeFixed    409 "QUESTION_TYPE_FIXED_MESSAGE"       "Des personnes se sont déjà inscrites : le type et la langue de cette question ne changent plus."
        FileQuotaExceeded    409 "FILE_QUOTA_EXCEEDED_MESSAGE"       "Votre espace de stockage ne suffit pas pour ce fichier."
        FileNotUploaded      409 "FILE_NOT_UPLOADED_MESSAGE"         "Le contenu de ce fichier n’a pas encore été reçu. Envoyez-le, puis réessayez."
        IdempotencyKeyReused 409 "IDEMPOTENCY_KEY_REUSED_MESSAGE"    "Cette clé d’idempotence a déjà servi pour une autre requête."
        SubdomainExists      409 "SUBDOMAIN_ALREADY_EXISTS_MESSAGE"  "Ce sous-domaine existe déjà."
        LastAdmin            409 "LAST_ADMIN_MESSAGE"                "Il doit rester au moins un super administrateur actif."
        VersionConflict      412 "VERSION_CONFLICT_MESSAGE"          "Ces données ont été modifiées entre-temps. Rechargez-les avant de recommencer."
        PayloadTooLarge      413 "PAYLOAD_TOO_LARGE_MESSAGE"         "L’envoi est trop volumineux."
        UnsupportedMediaType 415 "UNSUPPORTED_MEDIA_TYPE_MESSAGE"    "Ce type de contenu n’est pas pris en charge."
        TooManyRequests      429 "TOO_MANY_REQUESTS_MESSAGE"         "Trop de requêtes : réessayez plus tard."
        TooManyAttempts      429 "TOO_MANY_ATTEMPTS_MESSAGE"         "Trop de tentatives : réessayez plus tard."
        SmsQuotaExceeded     429 "SMS_QUOTA_EXCEEDED_MESSAGE"        "Le quota de SMS du jour ne suffit pas pour cet envoi. Veuillez réessayer demain."
        Internal             500 "INTERNAL_ERROR_MESSAGE"            "Une erreur interne est survenue. Veuillez réessayer."
        Unavailable          503 "SERVICE_UNAVAILABLE_MESSAGE"       "Le service est momentanément indisponible. Veuillez réessayer."
        CpanelAuth           502 "CPANEL_AUTH_MESSAGE"               "L’hébergeur refuse notre accès. Prévenez un administrateur."
        CpanelUnreachable    502 "CPANEL_UNREACHABLE_MESSAGE"        "L’hébergeur est injoignable. Veuillez réessayer plus tard."
        CpanelRefused        502 "CPANEL_REFUSED_MESSAGE"            "L’hébergeur n’a pas pu traiter cette demande."
        CpanelUnavailable    503 "CPANEL_UNAVAILABLE_MESSAGE"        "L’hébergement n’est pas disponible pour le moment. Veuillez réessayer plus tard."
        CpanelTimeout        504 "CPANEL_TIMEOUT_MESSAGE"            "L’hébergeur n’a pas répondu à temps. Vérifiez le résultat avant de réessayer."
    }
}

impl ErrorCode {
    /// As [`text`](Self::text), where a text that says to try again later says after which time: `wait` in seconds, minutes
    /// or hours, rounded up.
    pub fn text_with_wait(self, wait: Duration, language: Language) -> String {
        let Language::French = language;
        let seconds = whole_seconds(wait);
        let (count, unit) = match (seconds, seconds.div_ceil(60)) {
            (0..60, _) => (seconds.max(1), "seconde"),
            (_, minutes @ 0..60) => (minutes, "minute"),
            (_, minutes) => (minutes.div_ceil(60), "heure"),
        };
        let plural = if count > 1 { "s" } else { "" };
        self.text(language).replace("plus tard", &format!("dans {count} {unit}{plural}"))
    }
}

/// `wait` in seconds, rounded up.
pub(crate) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

impl From<ValueError> for ErrorCode {
    fn from(error: ValueError) -> Self {
        match error {
            ValueError::Required => Self::FieldRequired,
            ValueError::Type => Self::FieldType,
            ValueError::Length | ValueError::AsciiLength => Self::FieldLength,
            ValueError::Format => Self::FieldFormat,
            ValueError::Value | ValueError::Repeated => Self::FieldValue,
            ValueError::Email => Self::EmailInvalid,
            ValueError::PasswordShort => Self::PasswordTooShort,
            ValueError::PasswordCommon => Self::PasswordTooCommon,
            ValueError::PasswordMismatch => Self::PasswordMismatch,
            ValueError::PasswordUnchanged => Self::PasswordUnchanged,
            ValueError::SendMethod => Self::SendMethodInvalid,
            ValueError::Variable => Self::VariableMissing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn text_says_how_long_to_wait_in_the_unit_that_fits() {
        for (milliseconds, expected) in [
            (0, "1 seconde"),
            (1_000, "1 seconde"),
            (58_001, "59 secondes"),
            (60_000, "1 minute"),
            (60_001, "2 minutes"),
            (3_540_000, "59 minutes"),
            (3_540_001, "1 heure"),
            (3_600_001, "2 heures"),
            (86_400_000, "24 heures"),
        ] {
            let wait = Duration::from_millis(milliseconds);
            let text = ErrorCode::TooManyAttempts.text_with_wait(wait, Language::French);
            assert_eq!(text, format!("Trop de tentatives : réessayez dans {expected}."));
        }
    }

    #[test]
    fn codes_are_unique_and_have_french_texts() {
        let errors = ErrorCode::ALL
            .iter()
            .map(|error| (error.code(), error.text(Language::French), error.status().as_u16()));
        let messages = Message::ALL.iter().map(|message| {
            (message.code(), message.text(Language::French), message.status().as_u16())
        });
        let mut seen = HashMap::new();
        for (code, text, status) in errors.chain(messages) {
            let former = seen.insert(code, text);
            assert!(former.is_none_or(|former| former == text), "{code} is a duplicate");
            assert!(
                code.ends_with("_MESSAGE")
                    && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'),
                "{code}"
            );
            assert!(
                text.ends_with('.')
                    && text.chars().next().is_some_and(char::is_uppercase)
                    && !text.contains('\''),
                "{text}"
            );
            assert!((200..=504).contains(&status));
        }
    }
}
