//! Signing in with passkeys, and their removal by the first code that verifies a mailbox.

use common::{ApiError, token_of};
use domain::{
    CommitteeId, Instant, SessionId, UserId, outbox::AccountEvent, passkey::CHALLENGE_LIFE,
    user::User,
};
use identity::token::{NewToken, TokenUse};
use store::Transaction;

use crate::{Codes, Sessions};

impl Codes {
    /// Notifies the owner if the first code that verifies their mailbox, which turned `before` into `after`, removed
    /// passkeys: the person who registered the address may have added them.
    pub fn report_removed_passkeys(
        &self,
        tx: &mut Transaction,
        before: &User,
        after: &User,
        now: Instant,
    ) -> Result<(), ApiError> {
        if after.passkey_series != before.passkey_series {
            let removed = AccountEvent::PasskeysRemoved { by_administrator: false };
            tx.send(&self.outbox().notify(after, removed, now)?);
        }
        Ok(())
    }
}

impl Sessions {
    /// Signs a token that must accompany the answer to `challenge`: `Bearer …`, valid as long as the challenge. It names
    /// no account.
    pub fn passkey_step(&self, challenge: SessionId, now: Instant) -> Result<String, ApiError> {
        let new_token = NewToken {
            user_id: UserId::NONE,
            session_id: challenge,
            issued: now,
            expires: now.after(CHALLENGE_LIFE),
            auth_time: now,
            amr: Vec::new(),
            committee_id: CommitteeId::NONE,
            epoch: None,
        };
        let token = self.signer.sign(TokenUse::PasskeyStep, &new_token)?;
        Ok(format!("Bearer {token}"))
    }

    /// The challenge of `token`, as [`passkey_step`](Self::passkey_step) signed it; `None` when it is not valid at
    /// `now`.
    pub fn challenge_of(&self, token: &str, now: Instant) -> Option<SessionId> {
        let token = token_of(token)?;
        let claims = self.verifier.verify(token, TokenUse::PasskeyStep, now)?;
        Some(claims.sid)
    }
}
