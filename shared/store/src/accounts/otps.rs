//! One-time password secrets, and enrolments: secrets that the user has not confirmed with a code yet.

use domain::{
    Instant, SessionId, UserId,
    otp::{ENROLMENT_TRIES, Enrolment, Otp, Proof},
};

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self},
    table::{Order, ttl},
    write::Write,
};

/// Longer than the lifetime of a step's token.
const STEP_RETENTION: std::time::Duration = std::time::Duration::from_secs(3600);

#[derive(serde::Deserialize)]
struct ListedOtp {
    #[serde(rename = "listSk")]
    user: UserId,
}

impl Store {
    /// The confirmed secret of `user`.
    pub async fn otp(&self, user: UserId) -> Result<Option<Otp>, StoreError> {
        self.get(&keys::otp(user)).await
    }

    /// The enrolment of `user`, expired or not.
    pub async fn enrolment(&self, user: UserId) -> Result<Option<Enrolment>, StoreError> {
        self.get(&keys::enrolment(user)).await
    }

    /// Counts a failed attempt to confirm `enrolment`.
    pub async fn count_failed_enrolment(
        &self,
        user: UserId,
        enrolment: &Enrolment,
    ) -> Result<(), StoreError> {
        let key = keys::enrolment(user);
        let update = Write::at(&key)
            .when("sealed = :sealed")
            .expression("ADD tries :one")
            .text(":sealed", &enrolment.sealed)
            .number(":one", 1);
        self.apply(update).await.map(drop)
    }

    /// At most `limit` users after `position` whose secret is sealed under the key `kid`.
    pub async fn sealed_under(
        &self,
        kid: &str,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<UserId>, StoreError> {
        let page: Page<ListedOtp> =
            self.list(&keys::sealed_under(kid), position, limit, Order::Ascending).await?;
        Ok(page.map(|item| item.user))
    }

    /// Replaces the sealed secret in `otp` by `sealed`, the same secret sealed under the key `kid`. Returns whether
    /// the secret of `user` was still `otp`.
    pub async fn reseal_otp(
        &self,
        user: UserId,
        otp: &Otp,
        sealed: &str,
        kid: &str,
    ) -> Result<bool, StoreError> {
        let update = Write::at(&keys::otp(user))
            .when("sealed = :old")
            .expression("SET sealed = :new, listPk = :list")
            .text(":old", &otp.sealed)
            .text(":new", sealed)
            .text(":list", &keys::sealed_under(kid).pk);
        self.apply(update).await
    }
}

impl Transaction {
    /// Stores `enrolment`. The condition fails (`Part::Enrolment`) when its session has another one that is valid at
    /// `now`; that of another session is replaced.
    pub fn begin_enrolment(&mut self, user: UserId, enrolment: &Enrolment, now: Instant) {
        let put = keys::enrolment(user)
            .holding(enrolment)
            .with([ttl(enrolment.expires_at)])
            .when("attribute_not_exists(pk) OR expiresAt <= :now OR tries >= :most OR NOT (sid = :sid AND epoch = :epoch)")
            .value(":sid", &enrolment.session_id)
            .number(":epoch", enrolment.epoch)
            .value(":now", &now)
            .number(":most", ENROLMENT_TRIES);
        self.put(Part::Enrolment, put);
    }

    /// Stores `otp`, sealed under the key `kid`, as the secret of `user`.
    pub fn set_otp(&mut self, user: UserId, otp: &Otp, kid: &str) {
        let put = keys::otp(user).holding(otp).with(keys::sealed_under(kid).at(user).attributes());
        self.put(Part::Otp, put);
    }

    /// Removes the confirmed `enrolment`. The condition fails (`Part::Enrolment`) when it is no longer that of
    /// `user` or has had too many attempts.
    pub fn complete_enrolment(&mut self, user: UserId, enrolment: &Enrolment) {
        let key = keys::enrolment(user);
        let delete = Write::at(&key)
            .when("sealed = :sealed AND tries < :most")
            .text(":sealed", &enrolment.sealed)
            .number(":most", ENROLMENT_TRIES);
        self.delete(Part::Enrolment, delete);
    }

    /// Uses up `proof`: a time step with all earlier ones, or a recovery code. The condition fails (`Part::Otp`)
    /// when it was used before.
    pub fn use_proof(&mut self, user: UserId, proof: &Proof) {
        let update = unless_used(Write::at(&keys::otp(user)), proof).expression(match proof {
            Proof::Step(_) => "SET lastStep = :step",
            Proof::Recovery(_) => "REMOVE recovery.#mac",
        });
        self.update(Part::Otp, update);
    }

    /// Uses up the time step `step` and replaces the recovery codes by those of `otp`. The condition fails
    /// (`Part::Otp`) when the step was used before or the secret has changed.
    pub fn renew_recovery(&mut self, user: UserId, step: u64, otp: &Otp) {
        let update = Write::at(&keys::otp(user))
            .when("lastStep < :step AND sealed = :sealed")
            .expression("SET lastStep = :step, recovery = :recovery")
            .number(":step", step)
            .text(":sealed", &otp.sealed)
            .value(":recovery", &otp.recovery);
        self.update(Part::Otp, update);
    }

    /// Removes the secret of `user`. With a `proof`, the condition fails (`Part::Otp`) when it was used before.
    pub fn remove_otp(&mut self, user: UserId, proof: Option<&Proof>) {
        let delete = Write::at(&keys::otp(user));
        let delete = match proof {
            None => delete,
            Some(proof) => unless_used(delete, proof),
        };
        self.delete(Part::Otp, delete);
    }

    /// Marks the sign-in step `id` as completed. The condition fails (`Part::Step`) when it already is.
    pub fn complete_step(&mut self, id: SessionId, now: Instant) {
        let key = keys::step(id);
        let put = Write::at(&key).with([ttl(now.after(STEP_RETENTION))]);
        self.put_new(Part::Step, put);
    }
}

/// `write` of a secret, on condition that `proof` was not used before.
fn unless_used(write: Write, proof: &Proof) -> Write {
    match proof {
        Proof::Step(step) => write.when("lastStep < :step").number(":step", step),
        Proof::Recovery(mac) => write.when("attribute_exists(recovery.#mac)").name("#mac", mac),
    }
}
