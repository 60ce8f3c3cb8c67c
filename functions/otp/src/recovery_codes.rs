//! `POST /otp/recovery-codes`: ten new recovery codes; the former ones are dead.

use accounts::attempts;
use axum::extract::State;
use common::{ApiResult, Input, Message, Now, SignedIn, input, success};
use domain::otp::{Otp as Kept, Proof};
use identity::totp::{self, Secret};
use serde::Serialize;
use store::CommitOutcome;

use crate::{Answered, Otp, code, invalid, new_recovery};

input! {
    pub(crate) struct RecoveryCodesRequest {
        code: String = required("code", code),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecoveryCodesResponse {
    recovery_codes: Vec<String>,
}

pub(crate) async fn renew(
    State(otp): State<Otp>,
    Now(now): Now,
    person: SignedIn,
    Input(request): Input<RecoveryCodesRequest>,
) -> ApiResult<RecoveryCodesResponse> {
    let (id, answered) = (person.user.user_id, Answered::Code(request.code));
    let counters = answered.counters(id, &person.session.sid.to_string());
    let (reserved, kept) = tokio::join!(
        attempts::reserve(&otp.store, &counters, now),
        otp.store.otp(id)
    );
    let (reserved, kept) = (reserved?, kept?);
    let (Some(kept), Some(Proof::Step(step))) =
        (kept.clone(), answered.proof(&otp, id, kept.as_ref(), now)?)
    else {
        return Err(invalid());
    };
    let (recovery_codes, recovery) = new_recovery(&Secret::open(
        &kept.sealed,
        &otp.sealer,
        &totp::place_in_force(id),
    )?);
    let mut renew = otp.store.transaction();
    renew.renew_recovery(id, step, &Kept { recovery, ..kept });
    // Places that cannot be given back are free when their windows end.
    let (renewed, _) = tokio::join!(renew.commit(), otp.store.give_back(reserved));
    match renewed? {
        CommitOutcome::Committed => success(
            Message::RecoveryCodes,
            RecoveryCodesResponse { recovery_codes },
        ),
        CommitOutcome::ConditionFailed(_) => Err(invalid()),
    }
}
