//! `GET /certificates/my-certificates`: lists the caller's certificates, latest first.

use axum::extract::State;
use common::{ApiResult, Listed, Now, Paging, SignedIn, ok};
use domain::certificate::OwnCertificateView;

use crate::Certificates;

pub(crate) async fn list(
    State(certificates): State<Certificates>,
    Now(now): Now,
    person: SignedIn,
    paging: Paging,
) -> ApiResult<Listed<OwnCertificateView>> {
    let list = paging.open(&certificates.cursors, ())?;
    let user = person.user.user_id;
    let page = certificates.store.certificates_of(user, list.position(), list.limit).await?;
    ok(list.listed("certificates", page.map(|one| one.own(now)))?)
}
