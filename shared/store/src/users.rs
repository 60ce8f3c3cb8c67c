//! People: their accounts, their credentials, the uniqueness of their addresses.

use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Update};
use domain::{CommitteeId, Email, UserId, committee::Committee, session::Session, user::User};
use serde::{Deserialize, Serialize};
use serde_dynamo::to_item;

use crate::{
    Fault, Outcome, Page, Part, Store, Transaction,
    keys::{self, Table},
    table::{Carded, Item, Order, number, text, value},
};

/// What proves that a person is who he says, in an item of its own: whoever reads an account has
/// no hash in his hands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// The password as a PHC string.
    pub password_hash: String,
}

/// Whose an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailOwner {
    /// The owner.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// His committee when the address was taken: a hint of what to read beside the user.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
}

/// A person who is about to get an account.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// The account.
    pub user: User,
    /// The password as a PHC string.
    pub password_hash: String,
}

/// No call looks at more people than this, however few of them it wants.
const MOST_LOOKED_AT: usize = 500;

/// The account in `item`; nobody's, once it was erased.
pub(crate) fn living(item: Option<Carded<User>>) -> Option<User> {
    item.map(|item| item.card)
        .filter(|user| user.erased_at.is_none())
}

impl Store {
    /// The account `id`; nobody's, once it was erased.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn user(&self, id: UserId) -> Result<Option<User>, Fault> {
        Ok(living(self.get(&keys::user(id)).await?))
    }

    /// The credentials of `id`.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn credentials(&self, id: UserId) -> Result<Option<Credentials>, Fault> {
        self.get(&keys::credentials(id)).await
    }

    /// Whose `email` is.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn email_owner(&self, email: &Email) -> Result<Option<EmailOwner>, Fault> {
        self.get(&keys::email(email)).await
    }

    /// At most `limit` people of `committee` after `position` whom `wanted` takes, by folded last name
    /// and name. At most 500 are looked at, so a page may be short before the list ends.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn users(
        &self,
        committee: CommitteeId,
        position: Option<&str>,
        limit: u16,
        wanted: impl Fn(&User) -> bool,
    ) -> Result<Page<User>, Fault> {
        let pk = keys::users_of(committee);
        let (mut found, mut looked_at, mut position) = (Vec::new(), 0, position.map(str::to_owned));
        loop {
            let part: Page<Carded<User>> = self
                .list(
                    &keys::LISTING,
                    &pk,
                    position.as_deref(),
                    limit,
                    Order::Ascending,
                )
                .await?;
            let mut people = part.items.into_iter().map(|item| item.card);
            while let Some(person) = people.next() {
                looked_at += 1;
                if wanted(&person) {
                    let place = keys::user_place(&person).sk;
                    found.push(person);
                    if found.len() == usize::from(limit) {
                        let has_more = people.next().is_some() || part.last.is_some();
                        return Ok(Page {
                            items: found,
                            last: Some(place).filter(|_| has_more),
                        });
                    }
                }
            }
            position = part.last;
            if position.is_none() || looked_at >= MOST_LOOKED_AT {
                return Ok(Page {
                    items: found,
                    last: position,
                });
            }
        }
    }

    /// Writes the first committee and the first super admin in one transaction with what stands in `founding`,
    /// unless there has been a super admin before: whether it did.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn found(
        &self,
        committee: &Committee,
        admin: &NewUser,
        mut founding: Transaction,
    ) -> Result<bool, Fault> {
        let mut admins = keys::admins().item();
        admins.insert(
            "ids".to_owned(),
            AttributeValue::Ss(vec![admin.user.user_id.to_string()]),
        );
        founding.put_new(Part::Admins, &keys::admins(), admins)?;
        founding.put_new(
            Part::Committee,
            &keys::committee(committee.committee_id),
            Self::committee_item(committee)?,
        )?;
        founding.new_user(admin)?;
        Ok(founding.commit().await? == Outcome::Done)
    }

    /// Replaces `old_hash` by `new_hash` of the same password; does nothing when the password was
    /// changed meanwhile.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn rehash(&self, user: UserId, old_hash: &str, new_hash: &str) -> Result<(), Fault> {
        self.update::<serde::de::IgnoredAny>(self.password_update(user, old_hash, new_hash)?)
            .await?;
        Ok(())
    }

    fn password_update(
        &self,
        user: UserId,
        old_hash: &str,
        new_hash: &str,
    ) -> Result<Update, Fault> {
        let update = Update::builder()
            .table_name(self.name(Table::Records))
            .set_key(Some(keys::credentials(user).item()))
            .condition_expression("passwordHash = :old")
            .update_expression("SET passwordHash = :new")
            .expression_attribute_values(":old", text(old_hash))
            .expression_attribute_values(":new", text(new_hash));
        Ok(update.build()?)
    }
}

impl Transaction {
    /// The account, the credentials and the address of a new person.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn new_user(&mut self, new: &NewUser) -> Result<(), Fault> {
        let User {
            user_id,
            committee_id,
            ref email,
            ..
        } = new.user;
        let mut account = keys::user(user_id).holding(&Carded { card: &new.user })?;
        account.extend(keys::user_place(&new.user).attributes());
        let credentials = keys::credentials(user_id).holding(&Credentials {
            password_hash: new.password_hash.clone(),
        })?;
        self.take_email(email, user_id, committee_id)?;
        self.put_new(Part::User, &keys::user(user_id), account)?;
        self.put_new(Part::Credentials, &keys::credentials(user_id), credentials)
    }

    /// Requires that the committee is there and active.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn require_active_committee(&mut self, id: CommitteeId) -> Result<(), Fault> {
        let check = ConditionCheck::builder()
            .table_name(self.store.name(Table::Records))
            .set_key(Some(keys::committee(id).item()))
            .condition_expression("card.isActive = :true")
            .expression_attribute_values(":true", AttributeValue::Bool(true));
        self.check(Part::Committee, check.build()?);
        Ok(())
    }

    /// `email` becomes the address of `user`; refused when somebody has it.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn take_email(
        &mut self,
        email: &Email,
        user_id: UserId,
        committee_id: CommitteeId,
    ) -> Result<(), Fault> {
        let owner = keys::email(email).holding(&EmailOwner {
            user_id,
            committee_id,
        })?;
        self.put_new(Part::Email, &keys::email(email), owner)
    }

    /// `email` is nobody's address any more.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn free_email(&mut self, email: &Email) -> Result<(), Fault> {
        self.remove(Part::Email, &keys::email(email))
    }

    /// The account `before` becomes `after`, field by field; refused when anything but `lastActive` has
    /// changed since `before` was read. Nothing is written when nothing changes.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn change_user(&mut self, before: &User, after: &User) -> Result<(), Fault> {
        let (was, is): (Item, Item) = (to_item(before)?, to_item(after)?);
        let changed = is
            .iter()
            .filter(|(field, value)| was.get(*field) != Some(value));
        let mut sets = Vec::new();
        let mut update = Update::builder()
            .table_name(self.store.name(Table::Records))
            .set_key(Some(keys::user(before.user_id).item()))
            .condition_expression("card.version = :before")
            .expression_attribute_values(":before", number(before.version));
        for (number, (field, value)) in changed.enumerate() {
            sets.push(format!("card.#s{number} = :s{number}"));
            update = update.expression_attribute_names(format!("#s{number}"), field);
            update = update.expression_attribute_values(format!(":s{number}"), value.clone());
        }
        if sets.is_empty() {
            return Ok(());
        }
        let mut removes = Vec::new();
        for (number, field) in was
            .keys()
            .filter(|field| !is.contains_key(*field))
            .enumerate()
        {
            removes.push(format!("card.#r{number}"));
            update = update.expression_attribute_names(format!("#r{number}"), field);
        }
        let place = keys::user_place(after);
        if let Some(erased_at) = after.erased_at {
            removes.extend(["listPk".to_owned(), "listSk".to_owned()]);
            sets.push("duePk = :erase, dueAt = :erased".to_owned());
            update = update
                .expression_attribute_values(":erase", text(keys::ERASE_DUE))
                .expression_attribute_values(":erased", number(erased_at.unix_milliseconds()));
        } else if place != keys::user_place(before) {
            sets.push("listPk = :listPk, listSk = :listSk".to_owned());
            update = update
                .expression_attribute_values(":listPk", text(&place.pk))
                .expression_attribute_values(":listSk", text(&place.sk));
        }
        let removed = if removes.is_empty() {
            String::new()
        } else {
            format!(" REMOVE {}", removes.join(", "))
        };
        self.update(
            Part::User,
            update
                .update_expression(format!("SET {}{removed}", sets.join(", ")))
                .build()?,
        );
        Ok(())
    }

    /// The mailbox of `user` was proved, who is verified from now on, whatever else changes meanwhile.
    /// Refused when the address is another one by now, or the account was closed.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn verify_mailbox(&mut self, user: &User) -> Result<(), Fault> {
        let update = Update::builder()
            .table_name(self.store.name(Table::Records))
            .set_key(Some(keys::user(user.user_id).item()))
            .condition_expression("card.email = :email AND card.isActive = :true")
            .update_expression("SET card.isVerified = :true, card.version = card.version + :one")
            .expression_attribute_values(":email", text(user.email.as_str()))
            .expression_attribute_values(":true", AttributeValue::Bool(true))
            .expression_attribute_values(":one", number(1));
        self.update(Part::User, update.build()?);
        Ok(())
    }

    /// `session` goes on as `kept`, of the epoch that its user gets; refused when it has ended.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn keep_session(&mut self, session: &Session, kept: &Session) -> Result<(), Fault> {
        let update = Update::builder()
            .table_name(self.store.name(Table::Transient))
            .set_key(Some(keys::session(session.user_id, session.sid).item()))
            .condition_expression("epoch = :epoch")
            .update_expression(
                "SET epoch = :next, expiresAt = :expires, authTime = :authTime, amr = :amr",
            )
            .expression_attribute_values(":epoch", number(session.epoch))
            .expression_attribute_values(":next", number(kept.epoch))
            .expression_attribute_values(":expires", value(&kept.expires_at)?)
            .expression_attribute_values(":authTime", value(&kept.auth_time)?)
            .expression_attribute_values(":amr", value(&kept.amr)?);
        self.update(Part::Session, update.build()?);
        Ok(())
    }

    /// The password of `old_hash` is replaced; refused when it is another one by now.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn change_password(
        &mut self,
        user: UserId,
        old_hash: &str,
        new_hash: &str,
    ) -> Result<(), Fault> {
        let update = self.store.password_update(user, old_hash, new_hash)?;
        self.update(Part::Credentials, update);
        Ok(())
    }

    /// The credentials of somebody who is erased go.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn remove_credentials(&mut self, user: UserId) -> Result<(), Fault> {
        self.remove(Part::Credentials, &keys::credentials(user))
    }

    /// `before` becomes `after`: the set of active super admins follows. Refused when nobody would be left in it.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn follow_admins(&mut self, before: &User, after: &User) -> Result<(), Fault> {
        let update = Update::builder()
            .table_name(self.store.name(Table::Records))
            .set_key(Some(keys::admins().item()));
        let update = update.expression_attribute_values(
            ":id",
            AttributeValue::Ss(vec![before.user_id.to_string()]),
        );
        let update = match (
            before.is_active_super_admin(),
            after.is_active_super_admin(),
        ) {
            (true, false) => update
                .update_expression("DELETE ids :id")
                .condition_expression("size(ids) > :one")
                .expression_attribute_values(":one", number(1)),
            (false, true) => update.update_expression("ADD ids :id"),
            _ => return Ok(()),
        };
        self.update(Part::Admins, update.build()?);
        Ok(())
    }
}
