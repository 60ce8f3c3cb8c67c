//! `POST /registrations/{courseId}/decisions`: approves and rejects registrations of one course.

use std::{str::FromStr, time::Duration};

use axum::extract::State;
use common::{
    ApiResult, ErrorCode, Fields, Input, InvalidField, InvalidValue, Message, Now, Path, Permitted,
    course_rights::writable, input, integer, rights::WriteCourses, success, text,
};
use domain::{
    Constrained, CourseId, UserId, ValueError,
    registration::{Reason, RegistrationState, Verdict},
};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant as Monotonic;

use crate::{Registrations, approve::ApproveRequest, reject::RejectRequest};

/// Most decisions of one request.
const MAX_DECISIONS: usize = 100;
/// How long after the beginning of the request a decision may begin. API Gateway waits 30 seconds for all
/// (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html>).
const TIME: Duration = Duration::from_secs(20);

input! {
    pub(crate) struct DecisionsRequest: 262_144 {
        decisions: Vec<Decision> = objects("decisions", MAX_DECISIONS, decision),
    }
}

/// An element of the request.
struct Decision {
    user_id: UserId,
    verdict: Verdict,
    reason: Option<Reason>,
    version: Option<u64>,
}

/// Reads an id, of which a blank one is missing.
pub(crate) fn id<T: FromStr<Err = ValueError> + Constrained>(
    value: Value,
) -> Result<T, InvalidValue> {
    match value.as_str() {
        Some(id) if domain::is_blank(id) => Err(InvalidValue::of::<T>(ValueError::Required)),
        _ => text(value),
    }
}

fn decision(fields: &mut Fields) -> Result<Decision, InvalidField> {
    let user_id = fields.required("userID", id);
    let verdict = fields.required("decision", text);
    let reason = fields.nullable("reason", text);
    let version = fields.optional("version", integer(0..=u64::MAX));
    Ok(Decision { user_id: user_id?, verdict: verdict?, reason: reason?, version: version? })
}

/// What became of each decision, in the order of the request.
#[derive(Serialize)]
pub(crate) struct DecisionsResponse {
    results: Vec<DecisionResult>,
}

#[derive(Serialize)]
struct DecisionResult {
    #[serde(rename = "userID")]
    user_id: UserId,
    /// The state of the registration now; `None` without one.
    state: Option<RegistrationState>,
    /// Why the decision was refused.
    #[serde(rename = "RESPONSE_CODE")]
    code: Option<&'static str>,
}

/// One after the other, because all change the same seats. One that fails stops no other.
pub(crate) async fn decide(
    State(registrations): State<Registrations>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(id): Path<CourseId>,
    Input(request): Input<DecisionsRequest>,
) -> ApiResult<DecisionsResponse> {
    let end = Monotonic::now() + TIME;
    registrations.course(id, &writer.person, writable).await?;
    let mut results = Vec::new();
    for Decision { user_id, verdict, reason, version } in request.decisions {
        let ids = (id, user_id);
        let decided = match verdict {
            _ if Monotonic::now() > end => Err(ErrorCode::Unavailable.into()),
            Verdict::Approve => {
                let request = ApproveRequest { add_seat: false, version };
                registrations.approve(ids, &request, &writer, now).await
            }
            Verdict::Reject => {
                let request = RejectRequest { reason, version };
                registrations.reject(ids, &request, &writer, now).await
            }
        };
        let (state, code) = match decided {
            Ok(found) => (Some(found.full.registration.card.state), None),
            Err(error) => {
                let found = registrations.store.registration(id, user_id).await.unwrap_or_default();
                (found.map(|found| found.card.state), Some(error.code().code()))
            }
        };
        results.push(DecisionResult { user_id, state, code });
    }
    success(Message::DecisionsRecorded, DecisionsResponse { results })
}
