//! Certificates: who gets one, what it says for good, and what is shown of it.

mod issue;
mod printable;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::{
    issue::{Candidate, Issue, Refusal},
    printable::{PRINTABLE, printed, unprintable},
};
use crate::{
    CourseId, Instant, Line, Name, Prose, UserId,
    choice::{choice, codes},
    course::Language,
    registration::Reason,
};

/// The public identifier of a certificate: 80 random bits.
pub type CertificateCode = crate::values::crockford::Crockford<16>;

choice! {
    /// What a certificate says of the person.
    CertificateKind {
        /// They took part.
        Attendance "ATTENDANCE"
        /// They succeeded.
        Completion "COMPLETION"
    }
}

codes! {
    /// Whether a certificate is valid.
    CertificateStatus {
        /// It is.
        Valid "VALID"
        /// It was, until its end.
        Expired "EXPIRED"
        /// It was revoked.
        Revoked "REVOKED"
        /// It does not say any more for whom it was.
        Anonymised "ANONYMISED"
    }
}

/// Which certificates a course gives: part of the settings of its registrations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CertificateRules {
    /// What they say of the person.
    pub kind: CertificateKind,
    /// How much of all minutes the person needs, from 1 to 100 percent.
    pub minimum_percent: u8,
    /// A text of the committee.
    pub text: Option<Prose<500>>,
    /// Who signs.
    pub signed_by: Option<Line<100>>,
    /// In which function.
    pub signed_as: Option<Line<100>>,
    /// How long they are valid, from 1 to 120 months; `None`: without an end.
    pub valid_months: Option<u8>,
}

impl CertificateRules {
    /// [`minimum_percent`](Self::minimum_percent) if it is not set.
    pub const MINIMUM_PERCENT: u8 = 80;
    /// Most months.
    pub const MAX_MONTHS: u8 = 120;
}

/// What a certificate says. It is never read again from the account or the course.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Its code.
    pub code: CertificateCode,
    /// What it says of the person.
    pub kind: CertificateKind,
    /// First name; as the last name and the next fields that say so, `None` if it is not shown.
    pub name: Option<Name>,
    /// Last name.
    pub last_name: Option<Name>,
    /// Title of the course.
    pub course_title: Line<200>,
    /// Subtitle of the course.
    pub course_sub_title: Option<Line<300>>,
    /// The committee of the course.
    pub committee: IssuedBy,
    /// Venue of the course.
    pub location: Option<Line<300>>,
    /// City of the course.
    pub city: Option<Line<100>>,
    /// First day.
    pub start_at: Option<Instant>,
    /// Last day.
    pub end_at: Option<Instant>,
    /// The minutes of the person; `None` if they are not shown.
    pub minutes: Option<u32>,
    /// The minutes of all sessions; `None` if they are not shown.
    pub total_minutes: Option<u32>,
    /// Who held the sessions, each once.
    pub trainers: Vec<Name>,
    /// A text of the committee; `None` also if it is not shown.
    pub text: Option<Prose<500>>,
    /// Who signs.
    pub signed_by: Option<Line<100>>,
    /// In which function.
    pub signed_as: Option<Line<100>>,
    /// When it was issued.
    pub issued_at: Instant,
    /// Until when it is valid; `None`: without an end.
    pub expires_at: Option<Instant>,
}

/// The names of a committee on a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuedBy {
    /// In Arabic.
    pub name_arabe: Line<200>,
    /// In Latin script.
    pub name_latin: Line<200>,
}

/// A certificate as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Certificate {
    /// What it says.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// The course.
    #[serde(rename = "courseID")]
    pub course_id: CourseId,
    /// The person; `None` of an anonymous certificate.
    #[serde(rename = "userID")]
    pub user_id: Option<UserId>,
    /// Language of mails about it.
    pub language: Language,
    /// Its revocation, if it was revoked.
    pub revocation: Option<Revocation>,
    /// Number of changes.
    pub version: u64,
}

/// The revocation of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revocation {
    /// When.
    pub at: Instant,
    /// Why; `None` of an anonymous certificate.
    pub reason: Option<Reason>,
}

/// A certificate as everybody may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CertificateView {
    /// Whether it is valid.
    pub status: CertificateStatus,
    /// When it was revoked; `None` if it is not revoked.
    pub revoked_at: Option<Instant>,
    /// What it says.
    #[serde(flatten)]
    pub snapshot: Snapshot,
}

/// A certificate as its person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnCertificateView {
    #[serde(flatten)]
    view: CertificateView,
    /// Why it was revoked.
    reason: Option<Reason>,
}

/// What a registration shows of the latest certificate of its person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CertificateSummary {
    /// Its code.
    pub code: CertificateCode,
    /// Whether it is valid; a revoked one stays so when it becomes anonymous.
    pub status: CertificateStatus,
    issued_at: Instant,
    expires_at: Option<Instant>,
}

impl Certificate {
    /// Whether it is valid at `now`.
    pub fn status(&self, now: Instant) -> CertificateStatus {
        if self.user_id.is_none() {
            CertificateStatus::Anonymised
        } else if self.revocation.is_some() {
            CertificateStatus::Revoked
        } else if self.snapshot.expires_at.is_some_and(|end| end <= now) {
            CertificateStatus::Expired
        } else {
            CertificateStatus::Valid
        }
    }

    /// As everybody may see it at `now`.
    pub fn public(&self, now: Instant) -> CertificateView {
        let mut view = self.whole(now);
        if self.revocation.is_some() {
            let Snapshot { name, last_name, minutes, total_minutes, text, .. } = &mut view.snapshot;
            (*name, *last_name, *minutes, *total_minutes, *text) = (None, None, None, None, None);
        }
        view
    }

    /// As its person may see it at `now`.
    pub fn own(&self, now: Instant) -> OwnCertificateView {
        let reason = self.revocation.as_ref().and_then(|revocation| revocation.reason.clone());
        OwnCertificateView { view: self.whole(now), reason }
    }

    fn whole(&self, now: Instant) -> CertificateView {
        let status = self.status(now);
        let revocation = self.revocation.as_ref().filter(|_| status == CertificateStatus::Revoked);
        CertificateView {
            status,
            revoked_at: revocation.map(|revocation| revocation.at),
            snapshot: self.snapshot.clone(),
        }
    }

    /// What the registration of its person shows at `now`.
    pub fn summary(&self, now: Instant) -> CertificateSummary {
        let is_revoked = self.revocation.is_some();
        let Snapshot { ref code, issued_at, expires_at, .. } = self.snapshot;
        CertificateSummary {
            code: code.clone(),
            status: if is_revoked { CertificateStatus::Revoked } else { self.status(now) },
            issued_at,
            expires_at,
        }
    }

    /// The same, revoked at `now`.
    #[must_use]
    pub fn revoked(&self, reason: Reason, now: Instant) -> Self {
        let revocation = Revocation { at: now, reason: Some(reason) };
        Self { revocation: Some(revocation), version: self.version + 1, ..self.clone() }
    }

    /// The same without what names the person.
    #[must_use]
    pub fn anonymised(&self) -> Self {
        let mut after = Self { user_id: None, version: self.version + 1, ..self.clone() };
        (after.snapshot.name, after.snapshot.last_name) = (None, None);
        if let Some(revocation) = &mut after.revocation {
            revocation.reason = None;
        }
        after
    }
}

/// What a message about a certificate reports. What it names is read when it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateNotice {
    /// The certificate.
    pub code: CertificateCode,
    /// Whether it was revoked; else it was issued.
    #[serde(rename = "isRevoked")]
    pub is_revoked: bool,
    /// Language of the message.
    pub language: Language,
}

/// The URL at which everybody can verify the certificate `code`. `public_url` is that of the front end.
pub fn certificate_url(code: &CertificateCode, public_url: &str) -> String {
    format!("{public_url}/certificates/{code}")
}
