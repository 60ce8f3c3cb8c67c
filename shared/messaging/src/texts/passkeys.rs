//! The texts of mails about passkeys.

use domain::Instant;

use super::{NOT_YOURS, Words, YOURS, moment::moment, paragraphs};

/// What a mail about a new password adds: the password does not end the passkeys that an attacker may have added.
pub(super) const STAY: &str = " Vos clés d’accès permettent toujours de vous connecter\u{a0}: si vous n’en reconnaissez pas une, \
     supprimez-la dans votre compte.";

/// A new password does not help against a passkey of another person.
const NOT_YOUR_PASSKEY: &str = "Si ce n’est pas vous, supprimez sans attendre cette clé d’accès dans votre compte, changez votre \
     mot de passe, fermez les autres sessions et prévenez l’administrateur de votre comité.";

pub(super) fn added(at: Instant) -> Words {
    let what = format!(
        "Une clé d’accès a été ajoutée à votre compte Halqa {}. Elle permet de se connecter sans mot de passe.",
        moment(at)
    );
    let ending = [YOURS, NOT_YOUR_PASSKEY];
    paragraphs("Clé d’accès ajoutée à votre compte Halqa", what, ending)
}

pub(super) fn removed(at: Instant) -> Words {
    let what = format!(
        "Une clé d’accès de votre compte Halqa a été supprimée {}. Elle ne permet plus de se connecter.",
        moment(at)
    );
    let ending = [YOURS, NOT_YOURS];
    paragraphs("Clé d’accès de votre compte Halqa supprimée", what, ending)
}

pub(super) fn all_removed(at: Instant, by_administrator: bool) -> Words {
    let (who, why, not_yours) = match by_administrator {
        true => (
            " par un administrateur",
            "",
            "Si vous ne l’aviez pas demandé, prévenez l’administrateur de votre comité.",
        ),
        false => (
            "",
            " Un code envoyé à cette adresse e-mail a servi pour la première fois\u{a0}: ces clés d’accès ne venaient peut-être pas \
             de vous.",
            NOT_YOURS,
        ),
    };
    let what = format!(
        "Toutes les clés d’accès de votre compte Halqa ont été supprimées{who} {}.{why}",
        moment(at)
    );
    let next =
        "Pour vous connecter avec une clé d’accès, ajoutez-en une nouvelle dans votre compte.";
    let ending = [next, not_yours];
    paragraphs("Clés d’accès de votre compte Halqa supprimées", what, ending)
}

pub(super) fn refused(at: Instant) -> Words {
    let what = format!(
        "Une connexion à votre compte Halqa avec une clé d’accès a été refusée {}. Cette clé d’accès semble avoir été \
         copiée\u{a0}: son compteur de signatures n’a pas augmenté.",
        moment(at)
    );
    let advice = "Supprimez cette clé d’accès dans votre compte, puis ajoutez-en une nouvelle.";
    let ending = [advice, NOT_YOURS];
    paragraphs("Clé d’accès de votre compte Halqa refusée", what, ending)
}

pub(super) fn registration_refused(at: Instant) -> Words {
    let what = format!(
        "Une personne a essayé d’ajouter à un autre compte une clé d’accès de votre compte Halqa {}. Halqa l’a refusé\u{a0}: \
         votre clé d’accès reste valable, et pour votre compte seulement.",
        moment(at)
    );
    let advice = "Si vous n’avez pas essayé vous-même, une autre personne peut utiliser l’appareil qui contient cette clé \
                  d’accès. Supprimez-la dans votre compte, puis ajoutez-en une nouvelle.";
    let ending = [advice, NOT_YOURS];
    paragraphs("Clé d’accès de votre compte Halqa refusée", what, ending)
}

#[cfg(test)]
pub(super) mod tests {
    use domain::outbox::Notification;

    use super::*;

    /// The notifications about passkeys, and those about a password with and without them.
    pub(in super::super) fn events(at: Instant) -> Vec<Notification> {
        let mut events = vec![
            Notification::PasskeyAdded { at },
            Notification::PasskeyRemoved { at },
            Notification::PasskeyRefused { at },
            Notification::PasskeyRegistrationRefused { at },
        ];
        for yes in [false, true] {
            events.push(Notification::PasswordChanged { at, has_passkeys: yes });
            events.push(Notification::PasskeysRemoved { at, by_administrator: yes });
        }
        events
    }
}
