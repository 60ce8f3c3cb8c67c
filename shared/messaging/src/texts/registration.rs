//! The texts of mails about registrations for courses.

use domain::{
    Zone,
    registration::{
        RegistrationEvent, RegistrationNotice,
        RegistrationState::{Confirmed, Pending, Waitlisted},
    },
};

use super::{Part, Words, moment::moment};

/// The subject, and the parts between greeting and closing. `place` is the place on the waiting list.
pub(super) fn registration_mail(
    notice: &RegistrationNotice,
    place: Option<usize>,
    zone: &Zone,
) -> Words {
    let RegistrationNotice { event, from, state, title, start_at, join_info, reason, .. } = notice;
    let (subject, what) = match (event, state) {
        (RegistrationEvent::Registered, Confirmed) => {
            ("Votre inscription est confirmée", "Votre inscription est confirmée.")
        }
        (RegistrationEvent::Registered, Pending) => (
            "Votre demande d’inscription est reçue",
            "Votre demande d’inscription a été transmise au comité, qui vous répondra.",
        ),
        (RegistrationEvent::Registered, _) => (
            "Vous êtes sur la liste d’attente",
            "Le cours est complet. Vous êtes sur la liste d’attente\u{a0}: dès qu’une place se libère pour vous, nous vous \
             écrivons.",
        ),
        (RegistrationEvent::Approved, Waitlisted) => (
            "Votre demande d’inscription est acceptée",
            "Le comité a accepté votre demande d’inscription. Le cours est complet\u{a0}: vous êtes sur la liste d’attente.",
        ),
        (RegistrationEvent::Approved, _) => (
            "Votre demande d’inscription est acceptée",
            "Le comité a accepté votre demande\u{a0}: votre inscription est confirmée.",
        ),
        (RegistrationEvent::Promoted, _) => (
            "Une place s’est libérée pour vous",
            "Une place s’est libérée\u{a0}: votre inscription est maintenant confirmée.",
        ),
        (RegistrationEvent::Rejected, _) => (
            "Votre demande d’inscription est refusée",
            "Le comité n’a pas pu accepter votre demande d’inscription.",
        ),
        (RegistrationEvent::CancelledByPerson, _) => (
            "Votre inscription est annulée",
            "Vous avez annulé votre inscription. Si ce n’est pas vous, prévenez le comité.",
        ),
        (RegistrationEvent::CancelledByCommittee, _) => {
            ("Votre inscription est annulée", "Le comité a annulé votre inscription.")
        }
        (RegistrationEvent::CourseCancelled, _) => (
            "Un cours auquel vous étiez inscrit est annulé",
            "Le cours est annulé, et votre inscription avec lui.",
        ),
        (RegistrationEvent::Expired, _) if *from == Some(Pending) => (
            "Votre demande d’inscription a pris fin",
            "Le cours a commencé, et le comité n’a pas décidé de votre demande d’inscription.",
        ),
        (RegistrationEvent::Expired, _) => {
            ("Aucune place ne s’est libérée", "Le cours a commencé, aucune place ne s’est libérée.")
        }
    };
    let facts = [
        ("Cours", title.as_ref().map(|title| title.as_str().to_owned())),
        ("Début", start_at.map(|at| moment(at, zone))),
        ("Votre place sur la liste", place.map(|place| place.to_string())),
        ("Motif", reason.as_ref().map(|reason| reason.as_str().to_owned())),
        ("Pour participer", join_info.as_ref().map(|text| text.as_str().to_owned())),
    ];
    let facts = facts.into_iter().filter_map(|(name, fact)| Some((name, fact?)));
    let facts: Vec<(&str, String)> = facts.collect();
    let facts = Some(Part::Facts(facts.clone())).filter(|_| !facts.is_empty());
    (subject, [Part::Paragraph(what.to_owned())].into_iter().chain(facts).collect())
}
