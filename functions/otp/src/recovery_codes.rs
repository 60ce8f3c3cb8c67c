//! `POST /otp/recovery-codes`: replaces the recovery codes by ten new ones.

use accounts::attempts;
use axum::extract::State;
use common::{ApiResult, Client, Input, Message, Now, SignedIn, input, success};
use domain::{
    otp::{Otp as StoredOtp, Proof},
    outbox::AccountEvent,
};
use identity::totp::{self, Secret};
use serde::Serialize;
use store::CommitOutcome;

use crate::{Otp, SubmittedCode, code, invalid, new_recovery};

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
    client: Client,
    person: SignedIn,
    Input(request): Input<RecoveryCodesRequest>,
) -> ApiResult<RecoveryCodesResponse> {
    let (id, submitted) = (person.user.user_id, SubmittedCode::Code(request.code));
    let verified = otp.verify_code(id, person.session.sid, &submitted, &client, now);
    let ((stored, Proof::Step(step)), attempt) = verified.await? else {
        return Err(invalid());
    };
    let (recovery_codes, recovery) =
        new_recovery(&Secret::open(&stored.sealed, &otp.sealer, &totp::active_context(id))?);
    let renewed = async {
        let mut tx = otp.store.transaction();
        tx.renew_recovery(id, step, &StoredOtp { recovery, ..stored });
        tx.send(&otp.outbox.notify(&person.user, AccountEvent::RecoveryCodesRenewed, now)?);
        match tx.commit().await? {
            CommitOutcome::Committed => Ok(()),
            CommitOutcome::ConditionFailed(_) => Err(invalid()),
        }
    };
    let counters = attempts::of_change("recoveryCodesRenewed", id);
    attempt.end_with(attempts::counted(&otp.store, &counters, now, renewed)).await?;
    success(Message::RecoveryCodes, RecoveryCodesResponse { recovery_codes })
}
