//! Passkeys, their owners by credential, and pending challenges.

use std::time::Duration;

use domain::{
    CommitteeId, Instant, Line, PasskeyId, SessionId, UserId,
    passkey::{Challenge, Credential, Passkey},
};
use serde::{Deserialize, Serialize};

use crate::{
    Part, Store, StoreError, StoredAccount, Transaction,
    keys::{self, PASSKEYS, Table},
    table::read,
    write::Write,
};

/// More than an account can have: [`MAX`](domain::passkey::MAX), and as many that were removed at once.
const ALL: u16 = 100;
/// Passkeys that one transaction deletes: it has at most 100 writes.
const DELETED_AT_ONCE: usize = 50;
/// DynamoDB may delete an expired item only after this time, so that clocks need not agree.
const RETENTION: Duration = Duration::from_secs(3600);

/// The owner of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasskeyOwner {
    /// The account.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// The account's committee when the passkey was registered or last used; may be outdated.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// The passkey.
    #[serde(rename = "passkeyID")]
    pub passkey_id: PasskeyId,
}

impl Store {
    /// The owner of the credential `credential_id`, given in base64url.
    pub async fn passkey_owner(
        &self,
        credential_id: &str,
    ) -> Result<Option<PasskeyOwner>, StoreError> {
        self.get(&keys::passkey_owner(credential_id)).await
    }

    /// The passkey `id` of `user`, removed at once or not: see [`Passkey::is_of`].
    pub async fn passkey(
        &self,
        user: UserId,
        id: PasskeyId,
    ) -> Result<Option<Passkey>, StoreError> {
        self.get(&keys::passkey(user, id)).await
    }

    /// The passkeys of `user`, newest first, with those that were removed at once: see [`Passkey::is_of`].
    pub async fn passkeys(&self, user: UserId) -> Result<Vec<Passkey>, StoreError> {
        let pk = keys::credentials(user).pk;
        let page = self.newest(Table::Records, &pk, PASSKEYS, None, ALL);
        Ok(page.await?.items)
    }

    /// As [`account`](Self::account), with the passkey of `owner` and the challenge `challenge`, in one request.
    pub async fn account_with_passkey(
        &self,
        owner: &PasskeyOwner,
        challenge: SessionId,
    ) -> Result<(StoredAccount, (Option<Passkey>, Option<Challenge>)), StoreError> {
        let PasskeyOwner { user_id, committee_id, passkey_id } = *owner;
        let others = [keys::passkey(user_id, passkey_id), keys::challenge(challenge)];
        let (account, [passkey, challenge]) =
            self.account_with(user_id, committee_id, others).await?;
        Ok((account, (read(passkey)?, read(challenge)?)))
    }

    /// The pending challenge `id`, expired or not.
    pub async fn challenge(&self, id: SessionId) -> Result<Option<Challenge>, StoreError> {
        self.get(&keys::challenge(id)).await
    }

    /// Stores `challenge` under `id`, in place of an earlier one.
    pub async fn put_challenge(
        &self,
        id: SessionId,
        challenge: &Challenge,
    ) -> Result<(), StoreError> {
        let update = Write::at(&keys::challenge(id))
            .expression("SET ceremony = :ceremony, epoch = :epoch, expiresAt = :end, #ttl = :ttl")
            .text(":ceremony", &challenge.ceremony)
            .number(":epoch", challenge.epoch)
            .value(":end", &challenge.expires_at)
            .expiring(challenge.expires_at.after(RETENTION));
        self.apply(update).await.map(drop)
    }

    /// Renames `passkey`, and returns it as it is then; `None` when it no longer exists.
    pub async fn rename_passkey(
        &self,
        passkey: &Passkey,
        name: &Line<64>,
    ) -> Result<Option<Passkey>, StoreError> {
        let update = Write::at(&keys::passkey(passkey.user_id, passkey.passkey_id))
            .when("attribute_exists(pk)")
            .expression("SET #name = :name")
            .name("#name", "name")
            .value(":name", name);
        self.update_item(update).await
    }

    /// Deletes `passkeys`, which are invalid already because all of them were removed, or their account was. When another
    /// caller deletes some of them at the same time, up to fifty stay, for the next caller that lists them.
    pub async fn delete_passkeys(&self, passkeys: &[Passkey]) -> Result<(), StoreError> {
        for some in passkeys.chunks(DELETED_AT_ONCE) {
            let mut tx = self.transaction();
            for passkey in some {
                tx.remove_passkey(passkey);
            }
            let _ = tx.commit().await?;
        }
        Ok(())
    }
}

impl Transaction {
    /// Uses up the challenge `id`. The condition fails (`Part::Challenge`) when it is not `challenge` any more.
    pub fn use_challenge(&mut self, id: SessionId, challenge: &Challenge) {
        let delete = Write::at(&keys::challenge(id))
            .when("ceremony = :ceremony")
            .text(":ceremony", &challenge.ceremony);
        self.delete(Part::Challenge, delete);
    }

    /// Adds `passkey` to an account of `committee`. The condition fails (`Part::Passkey`) when an account has its
    /// credential.
    pub fn add_passkey(&mut self, passkey: &Passkey, committee: CommitteeId) {
        let Passkey { user_id, passkey_id, ref credential, .. } = *passkey;
        let owner = keys::passkey_owner(&credential.credential_id).holding(&PasskeyOwner {
            user_id,
            committee_id: committee,
            passkey_id,
        });
        self.put_new(Part::Passkey, owner);
        self.put_new(Part::Other, keys::passkey(user_id, passkey_id).holding(passkey));
    }

    /// Records that `passkey` signed in, after which its credential is `after`. The condition fails (`Part::Passkey`)
    /// when it was removed, or another sign-in had the same signature counter or a later one.
    pub fn use_passkey(&mut self, passkey: &Passkey, after: &Credential, now: Instant) {
        // An authenticator without a counter always reports 0.
        let condition =
            if after.sign_count == 0 { "signCount = :count" } else { "signCount < :count" };
        let update = Write::at(&keys::passkey(passkey.user_id, passkey.passkey_id))
            .when(condition)
            .expression("SET signCount = :count, isBackedUp = :backedUp, lastUsedAt = :now")
            .number(":count", after.sign_count)
            .value(":backedUp", &after.is_backed_up)
            .value(":now", &now);
        self.update(Part::Passkey, update);
    }

    /// Records that the account of `passkey` is of `committee` now. The condition fails (`Part::Passkey`) when the passkey
    /// was removed.
    pub fn update_passkey_committee(&mut self, passkey: &Passkey, committee: CommitteeId) {
        let owner = keys::passkey_owner(&passkey.credential.credential_id);
        let update = Write::at(&owner)
            .when("passkeyID = :id")
            .expression("SET committeeID = :committee")
            .value(":id", &passkey.passkey_id)
            .value(":committee", &committee);
        self.update(Part::Passkey, update);
    }

    /// Removes `passkey`. The condition fails (`Part::Passkey`) when it was removed before: its credential may belong to
    /// another passkey since then.
    pub fn remove_passkey(&mut self, passkey: &Passkey) {
        let delete = Write::at(&keys::passkey(passkey.user_id, passkey.passkey_id))
            .when("attribute_exists(pk)");
        self.delete(Part::Passkey, delete);
        let credential = &passkey.credential.credential_id;
        self.remove(Part::Passkey, &keys::passkey_owner(credential));
    }
}
