//! One-time password secrets, and secrets that are being tried out.

use domain::{
    Instant, SessionId, UserId,
    otp::{ENROLMENT_TRIES, Enrolment, Otp, Proof},
};

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self},
    table::{Order, text, ttl},
    write::Write,
};

/// How long it is known that a step of a sign-in was done; longer than its token lives.
const STEP_KEPT: std::time::Duration = std::time::Duration::from_secs(3600);

/// A place in the list of secrets.
#[derive(serde::Deserialize)]
struct Listed {
    #[serde(rename = "listSk")]
    user: UserId,
}

impl Store {
    /// The secret in force of `user`.
    pub async fn otp(&self, user: UserId) -> Result<Option<Otp>, StoreError> {
        self.get(&keys::otp(user)).await
    }

    /// The secret that `user` is trying out, dead or alive.
    pub async fn enrolment(&self, user: UserId) -> Result<Option<Enrolment>, StoreError> {
        self.get(&keys::enrolment(user)).await
    }

    /// Counts a wrong code against `enrolment`.
    pub async fn count_enrolment_try(
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
        self.apply(update).await?;
        Ok(())
    }

    /// Whether the step of the sign-in `id` was done.
    pub async fn is_step_done(&self, id: SessionId) -> Result<bool, StoreError> {
        Ok(self
            .get::<serde::de::IgnoredAny>(&keys::step(id))
            .await?
            .is_some())
    }

    /// People whose secret is sealed under the key `kid`, at most `limit`.
    pub async fn sealed_under(&self, kid: &str, limit: u16) -> Result<Vec<UserId>, StoreError> {
        let page: Page<Listed> = self
            .list(
                &keys::LISTING,
                &keys::sealed_under(kid),
                None,
                limit,
                Order::Ascending,
            )
            .await?;
        Ok(page.items.into_iter().map(|item| item.user).collect())
    }

    /// The secret of `user` is sealed as `sealed` from now on, under the key `kid`; whether it was still `otp`.
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
            .text(":list", &keys::sealed_under(kid));
        Ok(self
            .update_item::<serde::de::IgnoredAny>(update)
            .await?
            .is_some())
    }
}

impl Transaction {
    /// `user` tries out `enrolment`; refused when one is alive at `now`.
    pub fn begin_enrolment(&mut self, user: UserId, enrolment: &Enrolment, now: Instant) {
        let put = keys::enrolment(user)
            .holding(enrolment)
            .with([ttl(enrolment.expires_at)])
            .when("attribute_not_exists(pk) OR expiresAt <= :now OR tries >= :most")
            .value(":now", &now)
            .number(":most", ENROLMENT_TRIES);
        self.put(Part::Enrolment, put);
    }

    /// `otp`, sealed under the key `kid`, is the secret of `user`.
    pub fn set_otp(&mut self, user: UserId, otp: &Otp, kid: &str) {
        let put = keys::otp(user).holding(otp).with([
            ("listPk".to_owned(), text(&keys::sealed_under(kid))),
            ("listSk".to_owned(), text(&user.to_string())),
        ]);
        self.put(Part::Otp, put);
    }

    /// `enrolment` was proved; refused when it is not what `user` is trying out, or died.
    pub fn end_enrolment(&mut self, user: UserId, enrolment: &Enrolment) {
        let key = keys::enrolment(user);
        let delete = Write::at(&key)
            .when("sealed = :sealed AND tries < :most")
            .text(":sealed", &enrolment.sealed)
            .number(":most", ENROLMENT_TRIES);
        self.delete(Part::Enrolment, delete);
    }

    /// Uses `proof` up: a step and all before it, or a recovery code. ApiError when that has happened.
    pub fn use_proof(&mut self, user: UserId, proof: &Proof) {
        let update = Write::at(&keys::otp(user));
        let update = match proof {
            Proof::Step(step) => update
                .when("lastStep < :step")
                .expression("SET lastStep = :step")
                .number(":step", step),
            Proof::Recovery(mac) => update
                .when("attribute_exists(recovery.#mac)")
                .expression("REMOVE recovery.#mac")
                .name("#mac", mac),
        };
        self.update(Part::Otp, update);
    }

    /// Uses the code of `step` up and sets new recovery codes.
    pub fn renew_recovery(&mut self, user: UserId, step: u64, otp: &Otp) {
        let update = Write::at(&keys::otp(user))
            .when("lastStep < :step AND sealed = :sealed")
            .expression("SET lastStep = :step, recovery = :recovery")
            .number(":step", step)
            .text(":sealed", &otp.sealed)
            .value(":recovery", &otp.recovery);
        self.update(Part::Otp, update);
    }

    /// The secret of `user` goes; with a `proof`, refused when that was used before.
    pub fn remove_otp(&mut self, user: UserId, proof: Option<&Proof>) {
        let delete = Write::at(&keys::otp(user));
        let delete = match proof {
            None => delete,
            Some(Proof::Step(step)) => delete.when("lastStep < :step").number(":step", step),
            Some(Proof::Recovery(mac)) => delete
                .when("attribute_exists(recovery.#mac)")
                .name("#mac", mac),
        };
        self.delete(Part::Otp, delete);
    }

    /// The step of the sign-in `id` is done; refused when it was before.
    pub fn end_step(&mut self, id: SessionId, now: Instant) {
        let key = keys::step(id);
        let put = Write::at(&key).with([ttl(now.after(STEP_KEPT))]);
        self.put_new(Part::Step, put);
    }
}
