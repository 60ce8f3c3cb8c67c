//! One-time password secrets, and secrets that are being tried out.

use aws_sdk_dynamodb::types::{Delete, Put, Update};
use domain::{
    Instant, SessionId, UserId,
    otp::{ENROLMENT_TRIES, Enrolment, Otp, Proof},
};

use crate::{
    Fault, Outcome, Page, Part, Store, Transaction,
    keys::{self, Table},
    table::{Order, number, text, ttl, value},
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
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn otp(&self, user: UserId) -> Result<Option<Otp>, Fault> {
        self.get(&keys::otp(user)).await
    }

    /// The secret that `user` is trying out, dead or alive.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn enrolment(&self, user: UserId) -> Result<Option<Enrolment>, Fault> {
        self.get(&keys::enrolment(user)).await
    }

    /// Has `user` try out `enrolment`, unless one is alive at `now`: whether he does.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn begin_enrolment(
        &self,
        user: UserId,
        enrolment: &Enrolment,
        now: Instant,
    ) -> Result<bool, Fault> {
        let key = keys::enrolment(user);
        let mut item = key.holding(enrolment)?;
        item.extend([ttl(enrolment.expires_at)]);
        let put = Put::builder()
            .table_name(self.name(key.table))
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(pk) OR expiresAt <= :now OR tries >= :most")
            .expression_attribute_values(":now", value(&now)?)
            .expression_attribute_values(":most", number(ENROLMENT_TRIES));
        let mut begin = self.transaction();
        begin.put(Part::Enrolment, put.build()?);
        Ok(begin.commit().await? == Outcome::Done)
    }

    /// Counts a wrong code against `enrolment`.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn count_enrolment_try(
        &self,
        user: UserId,
        enrolment: &Enrolment,
    ) -> Result<(), Fault> {
        let key = keys::enrolment(user);
        let update = Update::builder()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression("sealed = :sealed")
            .update_expression("ADD tries :one")
            .expression_attribute_values(":sealed", text(&enrolment.sealed))
            .expression_attribute_values(":one", number(1));
        self.update::<serde::de::IgnoredAny>(update.build()?)
            .await?;
        Ok(())
    }

    /// Whether the step of the sign-in `id` was done.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn is_step_done(&self, id: SessionId) -> Result<bool, Fault> {
        Ok(self
            .get::<serde::de::IgnoredAny>(&keys::step(id))
            .await?
            .is_some())
    }

    /// People whose secret is sealed under the key `kid`, at most `limit`.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn sealed_under(&self, kid: &str, limit: u16) -> Result<Vec<UserId>, Fault> {
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
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn reseal_otp(
        &self,
        user: UserId,
        otp: &Otp,
        sealed: &str,
        kid: &str,
    ) -> Result<bool, Fault> {
        let update = Update::builder()
            .table_name(self.name(Table::Records))
            .set_key(Some(keys::otp(user).item()))
            .condition_expression("sealed = :old")
            .update_expression("SET sealed = :new, listPk = :list")
            .expression_attribute_values(":old", text(&otp.sealed))
            .expression_attribute_values(":new", text(sealed))
            .expression_attribute_values(":list", text(&keys::sealed_under(kid)));
        Ok(self
            .update::<serde::de::IgnoredAny>(update.build()?)
            .await?
            .is_some())
    }
}

impl Transaction {
    /// `otp`, sealed under the key `kid`, is the secret of `user`.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn set_otp(&mut self, user: UserId, otp: &Otp, kid: &str) -> Result<(), Fault> {
        let mut item = keys::otp(user).holding(otp)?;
        item.extend([
            ("listPk".to_owned(), text(&keys::sealed_under(kid))),
            ("listSk".to_owned(), text(&user.to_string())),
        ]);
        self.put_over(Part::Otp, &keys::otp(user), item)
    }

    /// `enrolment` was proved; refused when it is not what `user` is trying out, or died.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn end_enrolment(&mut self, user: UserId, enrolment: &Enrolment) -> Result<(), Fault> {
        let key = keys::enrolment(user);
        let delete = Delete::builder()
            .table_name(self.store.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression("sealed = :sealed AND tries < :most")
            .expression_attribute_values(":sealed", text(&enrolment.sealed))
            .expression_attribute_values(":most", number(ENROLMENT_TRIES));
        self.delete(Part::Enrolment, delete.build()?);
        Ok(())
    }

    /// Uses `proof` up: a step and all before it, or a recovery code. Refused when that has happened.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn use_proof(&mut self, user: UserId, proof: &Proof) -> Result<(), Fault> {
        let update = Update::builder()
            .table_name(self.store.name(Table::Records))
            .set_key(Some(keys::otp(user).item()));
        let update = match proof {
            Proof::Step(step) => update
                .condition_expression("lastStep < :step")
                .update_expression("SET lastStep = :step")
                .expression_attribute_values(":step", number(step)),
            Proof::Recovery(mac) => update
                .condition_expression("attribute_exists(recovery.#mac)")
                .update_expression("REMOVE recovery.#mac")
                .expression_attribute_names("#mac", mac),
        };
        self.update(Part::Otp, update.build()?);
        Ok(())
    }

    /// Uses the code of `step` up and sets new recovery codes.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn renew_recovery(&mut self, user: UserId, step: u64, otp: &Otp) -> Result<(), Fault> {
        let update = Update::builder()
            .table_name(self.store.name(Table::Records))
            .set_key(Some(keys::otp(user).item()))
            .condition_expression("lastStep < :step AND sealed = :sealed")
            .update_expression("SET lastStep = :step, recovery = :recovery")
            .expression_attribute_values(":step", number(step))
            .expression_attribute_values(":sealed", text(&otp.sealed))
            .expression_attribute_values(":recovery", value(&otp.recovery)?);
        self.update(Part::Otp, update.build()?);
        Ok(())
    }

    /// The secret of `user` goes; with a `proof`, refused when that was used before.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn remove_otp(&mut self, user: UserId, proof: Option<&Proof>) -> Result<(), Fault> {
        let delete = Delete::builder()
            .table_name(self.store.name(Table::Records))
            .set_key(Some(keys::otp(user).item()));
        let delete = match proof {
            None => delete,
            Some(Proof::Step(step)) => delete
                .condition_expression("lastStep < :step")
                .expression_attribute_values(":step", number(step)),
            Some(Proof::Recovery(mac)) => delete
                .condition_expression("attribute_exists(recovery.#mac)")
                .expression_attribute_names("#mac", mac),
        };
        self.delete(Part::Otp, delete.build()?);
        Ok(())
    }

    /// The step of the sign-in `id` is done; refused when it was before.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn end_step(&mut self, id: SessionId, now: Instant) -> Result<(), Fault> {
        let key = keys::step(id);
        let mut item = key.item();
        item.extend([ttl(now.after(STEP_KEPT))]);
        self.put_new(Part::Step, &key, item)
    }
}
