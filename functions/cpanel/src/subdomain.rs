//! `GET /cpanel/subdomain`: lists the subdomains of the hosting account. `POST` creates one with a single request;
//! if that fails, the panel's list of domains shows whether the subdomain was created.

use std::time::Duration;

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Fields, FromFields, Input, InvalidField, Message, Now,
    Permitted, Viewer, ok,
    rights::{ReadPanel, WritePanel},
    success, text,
};
use cpanel_client::PanelError;
use domain::{
    Instant,
    audit::AuditedAction,
    subdomain::{Label, RootDomain, Subdomain},
};
use identity::random;
use serde::Serialize;
use store::{CommitOutcome, with_deadline};

use crate::{
    Cpanel,
    panel_session::{PanelSession, error_code},
};

/// Time limit of the retries of the audit entry.
const AUDIT_TIME: Duration = Duration::from_secs(2);

#[derive(Serialize)]
pub(crate) struct SubdomainsResponse {
    subdomains: Vec<Subdomain>,
}

pub(crate) async fn list(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    _: Viewer<ReadPanel>,
) -> ApiResult<SubdomainsResponse> {
    let session = cpanel.panel_session(now).await?;
    let domains = session.domains().await.map_err(|error| error_code(&error))?;
    ok(SubdomainsResponse { subdomains: domains.subdomains() })
}

pub(crate) struct CreateSubdomainRequest {
    label: Label,
    root: RootDomain,
    subdomain: Subdomain,
}

impl<S> FromFields<S> for CreateSubdomainRequest {
    fn from_fields(fields: &mut Fields, _: &S) -> Result<Self, InvalidField> {
        let label = fields.required("domain", text::<Label>);
        let root = fields.required("rootdomain", text::<RootDomain>);
        let (label, root) = (label?, root?);
        let subdomain =
            Subdomain::new(&label, &root).map_err(|error| fields.reject("domain", error))?;
        Ok(Self { label, root, subdomain })
    }
}

#[derive(Serialize)]
pub(crate) struct SubdomainResponse {
    subdomain: Subdomain,
}

/// The audit entry is written before the panel is called, so that every change has one.
pub(crate) async fn create(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    writer: Permitted<WritePanel>,
    Input(request): Input<CreateSubdomainRequest>,
) -> ApiResult<SubdomainResponse> {
    let CreateSubdomainRequest { label, root, subdomain } = request;
    if !cpanel.root_domains.is_empty() && !cpanel.root_domains.contains(&root) {
        return Err(ErrorCode::RootDomainNotFound.into());
    }
    let mut session = cpanel.panel_session(now).await?;
    let domains = session.domains().await.map_err(|error| error_code(&error))?;
    if !domains.has_root(&root) {
        return Err(ErrorCode::RootDomainNotFound.into());
    }
    if domains.has(&subdomain.fqdn) {
        return Err(ErrorCode::SubdomainExists.into());
    }
    cpanel.record_audit(&writer, &subdomain.fqdn, now).await?;
    let result = session.panel.add_subdomain(&label, &root, session.deadline).await;
    if let Err(error) = session.record(result).await {
        session.confirm_created(&subdomain.fqdn, &error).await?;
    }
    success(Message::SubdomainCreated, SubdomainResponse { subdomain })
}

impl Cpanel {
    async fn record_audit(
        &self,
        writer: &Permitted<WritePanel>,
        fqdn: &str,
        now: Instant,
    ) -> Result<(), ApiError> {
        let actor = &writer.person.user;
        let requested = AuditedAction::of_subdomain(actor, fqdn);
        let mut tx = self.store.transaction();
        tx.record_audit(&requested.by(actor, random::id(now), now));
        // The panel may have taken the time for retries of the request.
        match with_deadline(AUDIT_TIME, tx.commit()).await? {
            CommitOutcome::Committed => Ok(()),
            CommitOutcome::ConditionFailed(_) => Err(ErrorCode::Conflict.into()),
        }
    }
}

impl PanelSession {
    /// Checks whether `fqdn`, which did not exist before the request, was created in spite of `error`. Only the
    /// list is read again; the creation is not repeated.
    async fn confirm_created(&mut self, fqdn: &str, error: &PanelError) -> Result<(), ErrorCode> {
        if matches!(error, PanelError::Auth(_) | PanelError::Unreachable(_)) {
            // Nothing was created.
            return Err(error_code(error));
        }
        let was_refused = matches!(error, PanelError::Refused(_));
        self.deadline = self.panel.extended(self.deadline);
        match self.domains().await.map(|domains| domains.has(fqdn)) {
            // The panel refused, and the subdomain exists: another request created it.
            Ok(true) if was_refused => Err(ErrorCode::SubdomainExists),
            Ok(true) => Ok(()),
            _ if was_refused => Err(ErrorCode::CpanelRefused),
            // The response was malformed, and nothing was created.
            Ok(false) if matches!(error, PanelError::Malformed(_)) => Err(ErrorCode::CpanelRefused),
            // It may exist, or may still be created.
            Ok(false) | Err(_) => Err(ErrorCode::CpanelTimeout),
        }
    }
}
