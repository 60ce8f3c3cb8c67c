//! `GET /certificates/{code}` returns a certificate, `GET /certificates/{code}/pdf` its page. Both are public.

use accounts::attempts;
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use common::{ApiError, ApiResult, Client, ErrorCode, Now, Path, ok};
use domain::{
    Instant,
    certificate::{Certificate, CertificateStatus, CertificateView},
    limits,
};
use http::header;
use serde::Serialize;
use store::StoreError;

use crate::{Certificates, page};

/// A cache asks again before each use: the certificate may have been revoked.
const CACHE: &str = "no-cache";

#[derive(Serialize)]
pub(crate) struct CertificateResponse {
    certificate: CertificateView,
}

pub(crate) async fn show(
    State(certificates): State<Certificates>,
    Now(now): Now,
    client: Client,
    Path(code): Path<String>,
) -> ApiResult<CertificateResponse> {
    let certificate = certificates.found(&code, &client, now).await?.public(now);
    Ok(ok(CertificateResponse { certificate })?.cached(CACHE))
}

/// The page is made of what is stored at each download: nothing is kept of it.
pub(crate) async fn pdf(
    State(certificates): State<Certificates>,
    Now(now): Now,
    client: Client,
    Path(code): Path<String>,
) -> Result<Response, ApiError> {
    let certificate = certificates.found(&code, &client, now).await?;
    if !matches!(certificate.status(now), CertificateStatus::Valid | CertificateStatus::Expired) {
        return Err(ErrorCode::CertificateNotAvailable.into());
    }
    let snapshot = &certificate.snapshot;
    let page = page::pdf(snapshot, &certificates.zone, &certificates.public_url)
        .map_err(|error| StoreError::Unexpected(format!("a certificate has no page: {error}")))?;
    let name = format!("inline; filename=\"attestation-{}.pdf\"", snapshot.code.grouped());
    let headers = [
        (header::CONTENT_TYPE, "application/pdf".to_owned()),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, CACHE.to_owned()),
    ];
    Ok((headers, page).into_response())
}

impl Certificates {
    /// The certificate with the code `text`, however it was typed. Unknown codes are counted for each network.
    ///
    /// # Errors
    /// `CERTIFICATE_NOT_FOUND_MESSAGE`, or `TOO_MANY_ATTEMPTS_MESSAGE` after too many of them from the network of `client`.
    async fn found(
        &self,
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Certificate, ApiError> {
        if let Some(certificate) = self.certificate(text).await? {
            return Ok(certificate);
        }
        let counters = attempts::per_network(limits::CERTIFICATES, client, str::to_owned);
        let _ = self.store.reserve(&counters, now).await?;
        Err(ErrorCode::CertificateNotFound.into())
    }

    /// The certificate with the code `text`, if there is one.
    pub(crate) async fn certificate(&self, text: &str) -> Result<Option<Certificate>, StoreError> {
        match text.parse() {
            Ok(code) => self.store.certificate(&code).await,
            Err(_) => Ok(None),
        }
    }
}
