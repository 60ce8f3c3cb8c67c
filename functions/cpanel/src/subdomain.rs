//! `GET /cpanel/subdomain`: the subdomains of the hosting account. `POST` makes one, once; whatever the panel
//! answers, what it lists decides.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Fields, FromFields, Input, Message, Now, Permitted, Viewer, ok,
    rights::{ReadPanel, WritePanel},
    success, text,
};
use cpanel_client::PanelError;
use domain::{
    Instant,
    audit::AuditEntry,
    subdomain::{Label, RootDomain, Subdomain},
};
use identity::chance;
use serde::Serialize;
use store::CommitOutcome;

use crate::{
    Cpanel,
    gate::{Guest, told_of},
};

#[derive(Serialize)]
pub(crate) struct SubdomainsResponse {
    subdomains: Vec<Subdomain>,
}

pub(crate) async fn list(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    _: Viewer<ReadPanel>,
) -> ApiResult<SubdomainsResponse> {
    let mut guest = cpanel.enter(now).await?;
    let domains = guest.domains().await.map_err(|error| told_of(&error))?;
    ok(SubdomainsResponse {
        subdomains: domains.subdomains(),
    })
}

pub(crate) struct CreateSubdomainRequest {
    label: Label,
    root: RootDomain,
    subdomain: Subdomain,
}

impl<S> FromFields<S> for CreateSubdomainRequest {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let label = fields.required("domain", text::<Label>);
        let root = fields.required("rootdomain", text::<RootDomain>);
        let (label, root) = (label?, root?);
        match Subdomain::new(&label, &root) {
            Ok(subdomain) => Some(Self {
                label,
                root,
                subdomain,
            }),
            Err(error) => {
                fields.refuse("domain", error);
                None
            }
        }
    }
}

#[derive(Serialize)]
pub(crate) struct SubdomainResponse {
    subdomain: Subdomain,
}

/// Who asks is noted before the panel is asked, so that nothing is done that is not noted.
pub(crate) async fn create(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    writer: Permitted<WritePanel>,
    Input(request): Input<CreateSubdomainRequest>,
) -> ApiResult<SubdomainResponse> {
    let CreateSubdomainRequest {
        label,
        root,
        subdomain,
    } = request;
    if !cpanel.root_domains.is_empty() && !cpanel.root_domains.contains(&root) {
        return Err(ErrorCode::RootDomainNotFound.into());
    }
    if cpanel.own.lack(&root, now) {
        return Err(ErrorCode::RootDomainNotFound.into());
    }
    let mut guest = cpanel.enter(now).await?;
    let domains = guest.domains().await.map_err(|error| told_of(&error))?;
    if !domains.has_root(&root) {
        return Err(ErrorCode::RootDomainNotFound.into());
    }
    if domains.has(&subdomain.fqdn) {
        return Err(ErrorCode::SubdomainExists.into());
    }
    cpanel.note(&writer, &subdomain.fqdn, now).await?;
    let answered = guest.panel.add_subdomain(&label, &root, guest.visit).await;
    if let Err(error) = guest.hear(answered).await {
        guest.find_out(&subdomain.fqdn, &error).await?;
    }
    success(Message::SubdomainCreated, SubdomainResponse { subdomain })
}

impl Cpanel {
    async fn note(
        &self,
        writer: &Permitted<WritePanel>,
        fqdn: &str,
        now: Instant,
    ) -> Result<(), ApiError> {
        let person = &writer.person.user;
        let entry = AuditEntry::of_subdomain(
            chance::id(now),
            person.user_id,
            person.committee_id,
            fqdn,
            now,
        );
        let mut noted = self.store.transaction();
        noted.note(&entry);
        match noted.commit().await? {
            CommitOutcome::Committed => Ok(()),
            CommitOutcome::ConditionFailed(_) => Err(ErrorCode::Conflict.into()),
        }
    }
}

impl Guest {
    /// Whether `fqdn` was made in spite of `error`. It was not there a moment ago; the panel is asked again
    /// what is there, and never again to make it.
    async fn find_out(&mut self, fqdn: &str, error: &PanelError) -> Result<(), ErrorCode> {
        if matches!(
            error,
            PanelError::Auth(_) | PanelError::Unreachable(_) | PanelError::NotSent
        ) {
            // It was never asked.
            return Err(told_of(error));
        }
        let was_told_no = matches!(error, PanelError::Refused(_));
        self.visit = self.panel.visit_again(self.visit);
        match self.domains().await.map(|domains| domains.has(fqdn)) {
            // Told no, and it is there: somebody else was faster.
            Ok(true) if was_told_no => Err(ErrorCode::SubdomainExists),
            Ok(true) => Ok(()),
            _ if was_told_no => Err(ErrorCode::CpanelRefused),
            // It answered something that makes no sense, and did nothing.
            Ok(false) if matches!(error, PanelError::Malformed(_)) => Err(ErrorCode::CpanelRefused),
            // It may be there now, or come to be.
            Ok(false) | Err(_) => Err(ErrorCode::CpanelTimeout),
        }
    }
}
