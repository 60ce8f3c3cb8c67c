//! `POST /certificates/{code}/revoke`: revokes a certificate, for good.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, Permitted, course_rights::may_write,
    input, rights::WriteCourses, success, text,
};
use domain::{
    audit::{Action, AuditedAction, values},
    certificate::{CertificateNotice, OwnCertificateView},
    registration::Reason,
};
use identity::random;
use serde::Serialize;

use crate::Certificates;

input! {
    pub(crate) struct RevokeRequest {
        reason: Reason = required("reason", text),
    }
}

#[derive(Serialize)]
pub(crate) struct RevokeResponse {
    certificate: OwnCertificateView,
}

/// A revoked certificate keeps its first reason.
pub(crate) async fn revoke(
    State(certificates): State<Certificates>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(code): Path<String>,
    Input(request): Input<RevokeRequest>,
) -> ApiResult<RevokeResponse> {
    let store = &certificates.store;
    let attempt = || async {
        let mut tx = store.transaction();
        let before =
            certificates.certificate(&code).await?.ok_or(ErrorCode::CertificateNotFound)?;
        let user = async {
            match before.user_id {
                Some(id) => store.user(id).await,
                None => Ok(None),
            }
        };
        let (course, user) = tokio::try_join!(store.course(before.course_id), user)?;
        let course = course.ok_or(ErrorCode::CourseNotFound)?;
        if !may_write(&course.summary, &writer.person) {
            return Err(ErrorCode::Forbidden.into());
        }
        if before.user_id.is_none() {
            return Err(ErrorCode::CertificateNotAvailable.into());
        }
        if before.revocation.is_some() {
            return Ok((tx, before));
        }
        let after = before.revoked(request.reason.clone(), now);
        tx.change_certificate(&before, &after);
        let values = values([
            ("code", after.snapshot.code.to_string().into()),
            ("reason", request.reason.as_str().into()),
        ]);
        let (action, actor) = (Action::CertificateRevoked, &writer.person.user);
        let revoked = AuditedAction::of_course(action, &course.summary, values);
        tx.record_audit(&revoked.by(actor, random::id(now), now));
        if let Some(user) = user {
            let (code, language) = (after.snapshot.code.clone(), after.language.clone());
            let notice = CertificateNotice { code, is_revoked: true, language };
            tx.send_at_rate(&certificates.outbox.notify_certificate(&user, notice, now)?);
        }
        Ok::<_, ApiError>((tx, after))
    };
    let after = store.update(attempt, |_| None).await?;
    success(Message::CertificateRevoked, RevokeResponse { certificate: after.own(now) })
}
