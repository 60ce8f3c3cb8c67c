//! The texts of mails by notification.

use domain::{
    Email,
    committee::Committee,
    outbox::{AccountEvent, Notification},
};

use super::{
    Facts, MailTexts, Part, Words,
    announcement::announcement_words,
    certificate::certificate_words,
    code_mail, code_words, device_facts,
    language::{FRENCH, Texts},
    link_to, paragraphs,
    registration::{registration_words, requests_words},
};

const YOURS: &str = "Si c’est bien vous, vous n’avez rien à faire.";
/// An attacker may have changed the password, so this text also names the password reset.
const NOT_YOURS: &str = "Si ce n’est pas vous, changez sans attendre votre mot de passe, fermez les autres sessions dans votre compte \
     et prévenez l’administrateur de votre comité. Si vous ne pouvez plus vous connecter, demandez un nouveau mot de passe \
     depuis la page de connexion.";
/// A new password does not help against a passkey of another person.
const NOT_YOUR_PASSKEY: &str = "Si ce n’est pas vous, supprimez sans attendre cette clé d’accès dans votre compte, changez votre \
     mot de passe, fermez les autres sessions et prévenez l’administrateur de votre comité.";
const NOT_REQUESTED: &str =
    "Si vous ne l’aviez pas demandé, prévenez l’administrateur de votre comité.";

impl MailTexts {
    /// The subject without the title of a course, and the parts between greeting and closing.
    pub(super) fn words(&self, notification: &Notification, to: &Email, facts: &Facts) -> Words {
        let Self { public_url, zone, .. } = self;
        match notification {
            Notification::Code { kind, digits, link, removal } => {
                let (subject, mut parts) =
                    code_mail(code_words(*kind), digits, link, to, public_url);
                parts.extend(removal.as_ref().map(|code| Part::Address {
                    intro: "Ce n’est pas vous\u{a0}? Si vous n’avez pas créé de compte Halqa, ce lien supprime celui qui a été créé avec \
                            votre adresse\u{a0}:",
                    url: link_to(public_url, "not-me", code, Some(to)),
                }));
                (subject, parts)
            }
            Notification::Account { event, at } => {
                let (subject, mut parts) = event_words(event, FRENCH.moment(*at, zone));
                if let Facts::Committee(committee) = facts {
                    parts.push(Part::Facts(vec![("Votre comité", contact_of(committee))]));
                }
                (subject, parts)
            }
            Notification::Registration(notice) => {
                let facts = match facts {
                    Facts::Registration(facts) => Some(&**facts),
                    _ => None,
                };
                registration_words(notice, facts, public_url, zone)
            }
            Notification::Announcement(notice) => {
                let facts = match facts {
                    Facts::Announcement(facts) => Some(&**facts),
                    _ => None,
                };
                announcement_words(notice, facts, public_url, zone)
            }
            Notification::Certificate(notice) => {
                let facts = match facts {
                    Facts::Certificate(facts) => Some(&**facts),
                    _ => None,
                };
                certificate_words(notice, facts, public_url)
            }
            Notification::Requests { language, .. } => {
                let facts = match facts {
                    Facts::Requests(facts) => Some(&**facts),
                    _ => None,
                };
                requests_words(facts, Texts::of(language), public_url)
            }
        }
    }
}

/// Name and address of `committee`.
fn contact_of(committee: &Committee) -> String {
    format!("{}, {}", committee.name_latin.as_str(), committee.primary_email)
}

/// What happened to the account `when`, what follows from it, and what to do.
fn event_words(event: &AccountEvent, when: String) -> Words {
    let (subject, what, more, ending): (_, &str, &str, _) = match event {
        AccountEvent::NewDevice { agent, ip, is_last } => {
            let what = "Une connexion à votre compte Halqa a eu lieu depuis un appareil ou un réseau que nous ne connaissions pas\u{a0}:";
            let subject = "Nouvelle connexion à votre compte Halqa";
            let (subject, mut parts) = paragraphs(subject, what.to_owned(), [YOURS, NOT_YOURS]);
            parts.insert(1, Part::Facts(device_facts(agent, ip, when)));
            if *is_last {
                let what = "C’est le dixième message de ce genre aujourd’hui\u{a0}: les autres connexions de ce jour ne vous seront plus \
                            signalées. Vous les trouvez dans votre compte.";
                parts.insert(2, Part::Paragraph(what.to_owned()));
            }
            return (subject, parts);
        }
        AccountEvent::PasswordChanged { has_passkeys } => (
            "Votre mot de passe Halqa a été modifié",
            "Le mot de passe de votre compte Halqa a été modifié",
            // The password does not end the passkeys that an attacker may have added.
            if *has_passkeys {
                " Vos clés d’accès permettent toujours de vous connecter\u{a0}: si vous n’en reconnaissez pas une, \
                 supprimez-la dans votre compte."
            } else {
                ""
            },
            [YOURS, NOT_YOURS],
        ),
        AccountEvent::PasswordRemoved => (
            "Choisissez votre mot de passe Halqa",
            "Un code envoyé à cette adresse e-mail a servi pour la première fois à ouvrir votre compte Halqa",
            " Le mot de passe choisi lors de l’inscription ne vient peut-être pas de vous\u{a0}: nous l’avons supprimé, \
             et nous avons fermé les autres sessions.",
            [
                "Pour vous connecter avec un mot de passe, demandez-en un nouveau depuis la page de connexion.",
                NOT_YOURS,
            ],
        ),
        AccountEvent::OtpEnabled => (
            "Double authentification activée sur votre compte Halqa",
            "La double authentification de votre compte Halqa a été activée",
            " À chaque connexion, un code de votre application d’authentification vous sera demandé.",
            [YOURS, NOT_YOURS],
        ),
        AccountEvent::OtpReplaced => (
            "Double authentification de votre compte Halqa remplacée",
            "L’application d’authentification de votre compte Halqa a été remplacée par une autre",
            " Les codes de l’ancienne application et les anciens codes de secours ne sont plus valables.",
            [YOURS, NOT_YOURS],
        ),
        AccountEvent::RecoveryCodesRenewed => (
            "Nouveaux codes de secours de votre compte Halqa",
            "De nouveaux codes de secours de votre compte Halqa ont été créés",
            " Les anciens ne sont plus valables.",
            [YOURS, NOT_YOURS],
        ),
        AccountEvent::OtpDisabled { by_administrator } => {
            let (what, not_yours) = if *by_administrator {
                (
                    "La double authentification de votre compte Halqa a été désactivée par un administrateur",
                    NOT_REQUESTED,
                )
            } else {
                ("La double authentification de votre compte Halqa a été désactivée", NOT_YOURS)
            };
            let subject = "Double authentification désactivée sur votre compte Halqa";
            let advice = "Votre compte est moins bien protégé\u{a0}: nous vous conseillons de réactiver la double authentification.";
            (subject, what, "", [advice, not_yours])
        }
        AccountEvent::RecoveryCodeUsed { left } => (
            "Un code de secours de votre compte Halqa a été utilisé",
            "Un code de secours a servi à se connecter à votre compte Halqa",
            match left {
                0 => " Il ne vous en reste aucun\u{a0}: créez-en de nouveaux dans votre compte.",
                _ => &format!(" Il vous en reste {left}."),
            },
            [YOURS, NOT_YOURS],
        ),
        AccountEvent::PasskeyAdded => (
            "Clé d’accès ajoutée à votre compte Halqa",
            "Une clé d’accès a été ajoutée à votre compte Halqa",
            " Elle permet de se connecter sans mot de passe.",
            [YOURS, NOT_YOUR_PASSKEY],
        ),
        AccountEvent::PasskeyRemoved => (
            "Clé d’accès de votre compte Halqa supprimée",
            "Une clé d’accès de votre compte Halqa a été supprimée",
            " Elle ne permet plus de se connecter.",
            [YOURS, NOT_YOURS],
        ),
        AccountEvent::PasskeysRemoved { by_administrator } => {
            let (what, why, not_yours) = if *by_administrator {
                (
                    "Toutes les clés d’accès de votre compte Halqa ont été supprimées par un administrateur",
                    "",
                    NOT_REQUESTED,
                )
            } else {
                (
                    "Toutes les clés d’accès de votre compte Halqa ont été supprimées",
                    " Un code envoyé à cette adresse e-mail a servi pour la première fois\u{a0}: ces clés d’accès ne venaient \
                     peut-être pas de vous.",
                    NOT_YOURS,
                )
            };
            let subject = "Clés d’accès de votre compte Halqa supprimées";
            let next = "Pour vous connecter avec une clé d’accès, ajoutez-en une nouvelle dans votre compte.";
            (subject, what, why, [next, not_yours])
        }
        AccountEvent::PasskeyRefused => (
            "Clé d’accès de votre compte Halqa refusée",
            "Une connexion à votre compte Halqa avec une clé d’accès a été refusée",
            " Cette clé d’accès semble avoir été copiée\u{a0}: son compteur de signatures n’a pas augmenté.",
            [
                "Supprimez cette clé d’accès dans votre compte, puis ajoutez-en une nouvelle.",
                NOT_YOURS,
            ],
        ),
        AccountEvent::PasskeyRegistrationRefused => (
            "Clé d’accès de votre compte Halqa refusée",
            "Une personne a essayé d’ajouter à un autre compte une clé d’accès de votre compte Halqa",
            " Halqa l’a refusé\u{a0}: votre clé d’accès reste valable, et pour votre compte seulement.",
            [
                "Si vous n’avez pas essayé vous-même, une autre personne peut utiliser l’appareil qui contient cette clé \
                 d’accès. Supprimez-la dans votre compte, puis ajoutez-en une nouvelle.",
                NOT_YOURS,
            ],
        ),
        AccountEvent::EmailChangeRequested => (
            "Changement d’adresse e-mail demandé pour votre compte Halqa",
            "Un changement d’adresse e-mail a été demandé pour votre compte Halqa",
            " L’adresse actuelle reste en vigueur tant que la nouvelle n’est pas vérifiée.",
            [YOURS, NOT_YOURS],
        ),
        AccountEvent::EmailChanged => (
            "L’adresse e-mail de votre compte Halqa a été modifiée",
            "L’adresse e-mail de votre compte Halqa a été modifiée",
            " Ce message est envoyé à l’ancienne adresse, qui ne sert plus à vous connecter.",
            // A password reset would be mailed to the new address.
            [
                YOURS,
                "Si ce n’est pas vous, prévenez sans attendre l’administrateur de votre comité. Si vous pouvez encore vous \
                 connecter, changez votre mot de passe et fermez les autres sessions dans votre compte.",
            ],
        ),
        AccountEvent::Suspended => (
            "Votre compte Halqa est suspendu",
            "Votre compte Halqa a été suspendu par un administrateur",
            " Vous ne pouvez plus vous connecter, et vos sessions sont fermées.",
            [
                "Vos données sont conservées\u{a0}: un administrateur peut rouvrir votre compte.",
                "Si vous pensez que c’est une erreur, adressez-vous à l’administrateur de votre comité.",
            ],
        ),
        AccountEvent::Erased { .. } => (
            "Votre compte Halqa est supprimé",
            "Votre compte Halqa a été supprimé",
            " Vos données personnelles sont effacées, et ce compte ne peut pas être rétabli.",
            [
                YOURS,
                "Si ce n’est pas vous, prévenez sans attendre l’administrateur de votre comité.",
            ],
        ),
        AccountEvent::FileRemoved { file } => (
            "Un de vos fichiers Halqa a été supprimé",
            match file {
                Some(file) => &format!(
                    "Votre fichier public «\u{a0}{}\u{a0}» a été supprimé par un administrateur",
                    file.as_str()
                ),
                None => "Un de vos fichiers publics a été supprimé par un administrateur",
            },
            "",
            [
                "Il n’est plus accessible à personne.",
                "Si vous pensez que c’est une erreur, adressez-vous à l’administrateur de votre comité.",
            ],
        ),
        AccountEvent::PhoneChanged => (
            "Le numéro de téléphone de votre compte Halqa a été modifié",
            "Le numéro de téléphone de votre compte Halqa a été modifié",
            "",
            [YOURS, NOT_YOURS],
        ),
    };
    paragraphs(subject, format!("{what} {when}.{more}"), ending)
}
