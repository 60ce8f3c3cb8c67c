//! Mails about certificates.

use domain::{
    Line, Prose,
    certificate::{Certificate, CertificateNotice, IssuedBy, certificate_url},
    course::Course,
};

use super::{
    Part, Words,
    language::{MailOpening, Texts},
};

/// What such a mail names, as it is when the mail is sent.
#[derive(Debug, Clone)]
pub struct CertificateFacts {
    /// The certificate.
    pub certificate: Certificate,
    /// The course as it is now.
    pub course: Option<Course>,
    /// Whether the mailbox is the person's. Another's gets no texts that people wrote, and no link, which names the person.
    pub is_vouched_for: bool,
}

impl CertificateFacts {
    /// The title of the course, if it may be shown.
    pub(super) fn title(&self) -> Option<&Line<200>> {
        self.is_vouched_for.then_some(&self.certificate.snapshot.course_title)
    }
}

/// The subject without the title of the course, and the parts between greeting and closing.
pub(super) fn certificate_words(
    notice: &CertificateNotice,
    facts: Option<&CertificateFacts>,
    public_url: &str,
) -> Words {
    let texts = Texts::of(&notice.language);
    let MailOpening { subject, what } =
        if notice.is_revoked { &texts.certificate_revoked } else { &texts.certificate_issued };
    let mut parts = vec![Part::Paragraph((*what).to_owned())];
    if let Some(facts) = facts.filter(|facts| facts.is_vouched_for) {
        let Certificate { snapshot, revocation, .. } = &facts.certificate;
        let IssuedBy { name_arabe, name_latin } = &snapshot.committee;
        let committee = if texts.direction == "rtl" { name_arabe } else { name_latin };
        let contact = facts.course.as_ref().and_then(|course| course.details.contact());
        let reason = revocation.as_ref().and_then(|revocation| revocation.reason.as_ref());
        let named = [
            (texts.course, Some(snapshot.course_title.as_str().to_owned())),
            (texts.committee, Some(committee.as_str().to_owned())),
            (texts.contact, contact),
            (texts.reason, reason.map(Prose::as_str).map(str::to_owned)),
        ];
        let named = named.into_iter().filter_map(|(name, fact)| Some((name, fact?)));
        parts.push(Part::Facts(named.collect()));
        parts.push(Part::Button {
            intro: texts.certificate_page,
            button: texts.certificate_button,
            url: certificate_url(&notice.code, public_url),
        });
    }
    (subject, parts)
}
