//! The texts of mails about changes of an account and its sign-ins.

use domain::{Instant, agent::Agent};

use super::{NOT_YOURS, Part, Words, YOURS, device_facts, moment::moment, paragraphs, passkeys};

pub(super) fn new_device(agent: &Agent, ip: &str, at: Instant) -> Words {
    let what = "Une connexion à votre compte Halqa a été faite depuis un appareil ou un réseau que nous ne connaissions pas\u{a0}:";
    let subject = "Nouvelle connexion à votre compte Halqa";
    let (subject, mut parts) = paragraphs(subject, what.to_owned(), [YOURS, NOT_YOURS]);
    parts.insert(1, Part::Facts(device_facts(agent, ip, at)));
    (subject, parts)
}

pub(super) fn password_changed(at: Instant, has_passkeys: bool) -> Words {
    let what = format!(
        "Le mot de passe de votre compte Halqa a été modifié {}.{}",
        moment(at),
        if has_passkeys { passkeys::STAY } else { "" }
    );
    let subject = "Votre mot de passe Halqa a été modifié";
    paragraphs(subject, what, [YOURS, NOT_YOURS])
}

pub(super) fn password_removed(at: Instant) -> Words {
    let what = format!(
        "Un code envoyé à cette adresse e-mail a servi pour la première fois à ouvrir votre compte Halqa {}. Le mot de passe \
         choisi lors de l’inscription ne vient peut-être pas de vous\u{a0}: nous l’avons supprimé, et nous avons fermé les autres \
         sessions.",
        moment(at)
    );
    let next = "Pour vous connecter avec un mot de passe, demandez-en un nouveau depuis la page de connexion.";
    let subject = "Choisissez votre mot de passe Halqa";
    paragraphs(subject, what, [next, NOT_YOURS])
}

pub(super) fn otp_enabled(at: Instant) -> Words {
    let what = format!(
        "La double authentification de votre compte Halqa a été activée {}. À chaque connexion, un code de votre application \
         d’authentification vous sera demandé.",
        moment(at)
    );
    let subject = "Double authentification activée sur votre compte Halqa";
    paragraphs(subject, what, [YOURS, NOT_YOURS])
}

pub(super) fn otp_disabled(at: Instant, by_administrator: bool) -> Words {
    let (who, not_yours) = match by_administrator {
        true => (
            " par un administrateur",
            "Si vous ne l’aviez pas demandé, prévenez l’administrateur de votre comité.",
        ),
        false => ("", NOT_YOURS),
    };
    let what = format!(
        "La double authentification de votre compte Halqa a été désactivée{who} {}.",
        moment(at)
    );
    let advice = "Votre compte est moins bien protégé\u{a0}: nous vous conseillons de réactiver la double authentification.";
    let subject = "Double authentification désactivée sur votre compte Halqa";
    paragraphs(subject, what, [advice, not_yours])
}

pub(super) fn recovery_code_used(left: usize, at: Instant) -> Words {
    let rest = match left {
        0 => "Il ne vous en reste aucun\u{a0}: créez-en de nouveaux dans votre compte.".to_owned(),
        _ => format!("Il vous en reste {left}."),
    };
    let what = format!(
        "Un code de secours a servi à se connecter à votre compte Halqa {}. {rest}",
        moment(at)
    );
    let subject = "Un code de secours de votre compte Halqa a été utilisé";
    paragraphs(subject, what, [YOURS, NOT_YOURS])
}

pub(super) fn email_change_requested(at: Instant) -> Words {
    let what = format!(
        "Un changement d’adresse e-mail a été demandé pour votre compte Halqa {}. L’adresse actuelle reste en vigueur tant que \
         la nouvelle n’est pas vérifiée.",
        moment(at)
    );
    let subject = "Changement d’adresse e-mail demandé pour votre compte Halqa";
    paragraphs(subject, what, [YOURS, NOT_YOURS])
}

pub(super) fn email_changed(at: Instant) -> Words {
    let what = format!(
        "L’adresse e-mail de votre compte Halqa a été modifiée {}. Ce message est envoyé à l’ancienne adresse, qui ne sert plus \
         à vous connecter.",
        moment(at)
    );
    // A password reset would be mailed to the new address.
    let not_yours = "Si ce n’est pas vous, prévenez sans attendre l’administrateur de votre comité. Si vous pouvez encore vous \
         connecter, changez votre mot de passe et fermez les autres sessions dans votre compte.";
    let subject = "L’adresse e-mail de votre compte Halqa a été modifiée";
    paragraphs(subject, what, [YOURS, not_yours])
}

pub(super) fn phone_changed(at: Instant) -> Words {
    let what =
        format!("Le numéro de téléphone de votre compte Halqa a été modifié {}.", moment(at));
    let subject = "Le numéro de téléphone de votre compte Halqa a été modifié";
    paragraphs(subject, what, [YOURS, NOT_YOURS])
}
