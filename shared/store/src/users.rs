//! People: their accounts, their credentials, the uniqueness of their addresses.

use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Put, TransactWriteItem, Update};
use domain::{CommitteeId, Email, UserId, committee::Committee, session::Session, user::User};
use serde::{Deserialize, Serialize};

use crate::{
    Fault, Store,
    keys::{self, Key, Table},
    table::{Carded, Item, Outcome, number, part_put, part_update, text},
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

/// What became of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// The account is there.
    Done,
    /// Somebody has the address.
    EmailTaken,
    /// The committee is closed or does not exist.
    CommitteeClosed,
}

/// What became of the founding of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Founding {
    /// The first committee and the first super admin are there.
    Done,
    /// There were super admins before; nothing was done.
    AlreadyFounded,
}

impl Store {
    /// The account `id`.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn user(&self, id: UserId) -> Result<Option<User>, Fault> {
        Ok(self.get::<Carded<User>>(&keys::user(id)).await?.map(|item| item.card))
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

    /// Makes the account in one transaction: the address is free and the committee open, or
    /// nothing is written.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn register(&self, new: &NewUser) -> Result<Registration, Fault> {
        let committee_open = ConditionCheck::builder()
            .table_name(self.name(Table::Records))
            .set_key(Some(keys::committee(new.user.committee_id).item()))
            .condition_expression("card.isActive = :true")
            .expression_attribute_values(":true", AttributeValue::Bool(true))
            .build()?;
        let mut parts = vec![TransactWriteItem::builder().condition_check(committee_open).build()];
        parts.extend(self.parts_of_new(new)?);
        Ok(match self.transact(parts).await? {
            Outcome::Done => Registration::Done,
            Outcome::Refused(0) => Registration::CommitteeClosed,
            Outcome::Refused(_) => Registration::EmailTaken,
        })
    }

    /// Writes the first committee and the first super admin in one transaction, unless there has
    /// been a super admin before.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn found(&self, committee: &Committee, admin: &NewUser) -> Result<Founding, Fault> {
        let mut admins = keys::admins().item();
        admins.insert("ids".to_owned(), AttributeValue::Ss(vec![admin.user.user_id.to_string()]));
        let mut parts = vec![
            part_put(self.new_item(&keys::admins(), admins)?),
            part_put(self.new_item(&keys::committee(committee.committee_id), Self::committee_item(committee)?)?),
        ];
        parts.extend(self.parts_of_new(admin)?);
        Ok(match self.transact(parts).await? {
            Outcome::Done => Founding::Done,
            Outcome::Refused(_) => Founding::AlreadyFounded,
        })
    }

    /// Address, account and credentials of a new person.
    fn parts_of_new(&self, new: &NewUser) -> Result<[TransactWriteItem; 3], Fault> {
        let User { user_id, committee_id, ref email, .. } = new.user;
        let owner = keys::email(email).holding(&EmailOwner { user_id, committee_id })?;
        let mut account = keys::user(user_id).holding(&Carded { card: &new.user })?;
        account.extend(keys::user_place(&new.user).attributes());
        let credentials = keys::credentials(user_id).holding(&Credentials { password_hash: new.password_hash.clone() })?;
        Ok([
            part_put(self.new_item(&keys::email(email), owner)?),
            part_put(self.new_item(&keys::user(user_id), account)?),
            part_put(self.new_item(&keys::credentials(user_id), credentials)?),
        ])
    }

    /// The put of an item where none is.
    pub(crate) fn new_item(&self, key: &Key, item: Item) -> Result<Put, Fault> {
        let put = Put::builder().table_name(self.name(key.table)).set_item(Some(item)).condition_expression("attribute_not_exists(pk)");
        Ok(put.build()?)
    }

    /// Sets a new password in place of `old_hash` and raises the user's epoch, so that all
    /// sessions end but `session`, which moves along: one transaction. `false` when the password
    /// or the epoch is no longer what was read, for then somebody else was faster.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn change_password(&self, user: &User, session: &Session, old_hash: &str, new_hash: &str) -> Result<bool, Fault> {
        let user_key = keys::user(user.user_id);
        let password = self.password_update(user.user_id, old_hash, new_hash)?;
        let others_end = Update::builder()
            .table_name(self.name(Table::Records))
            .set_key(Some(user_key.item()))
            .condition_expression("card.epoch = :epoch AND card.isActive = :true")
            .update_expression("SET card.epoch = :next")
            .expression_attribute_values(":epoch", number(user.epoch))
            .expression_attribute_values(":next", number(user.epoch + 1))
            .expression_attribute_values(":true", AttributeValue::Bool(true))
            .build()?;
        let this_stays = Update::builder()
            .table_name(self.name(Table::Transient))
            .set_key(Some(keys::session(user.user_id, session.sid).item()))
            .condition_expression("epoch = :epoch")
            .update_expression("SET epoch = :next")
            .expression_attribute_values(":epoch", number(user.epoch))
            .expression_attribute_values(":next", number(user.epoch + 1))
            .build()?;
        let outcome = self.transact(vec![part_update(password), part_update(others_end), part_update(this_stays)]).await?;
        Ok(outcome == Outcome::Done)
    }

    /// Replaces `old_hash` by `new_hash` of the same password; does nothing when the password was
    /// changed meanwhile.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn rehash(&self, user: UserId, old_hash: &str, new_hash: &str) -> Result<(), Fault> {
        self.update::<serde::de::IgnoredAny>(self.password_update(user, old_hash, new_hash)?).await?;
        Ok(())
    }

    fn password_update(&self, user: UserId, old_hash: &str, new_hash: &str) -> Result<Update, Fault> {
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
