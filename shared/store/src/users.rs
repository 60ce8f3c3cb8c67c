//! People: their accounts, their credentials, the uniqueness of their addresses.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{CommitteeId, Email, UserId, committee::Committee, session::Session, user::User};
use serde::{Deserialize, Serialize};

use crate::{
    CommitOutcome, Page, Part, Store, StoreError, Transaction,
    keys::{self, USER_PREFIX},
    table::{Carded, Order},
    write::Write,
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

/// The person whose partition key is `pk`, if it is one.
pub fn user_id(pk: &str) -> Option<UserId> {
    pk.strip_prefix(USER_PREFIX).map(UserId::in_path)
}

impl Store {
    /// The account `id`; nobody's, once it was erased.
    pub async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        Ok(living(self.get(&keys::user(id)).await?))
    }

    /// The credentials of `id`.
    pub async fn credentials(&self, id: UserId) -> Result<Option<Credentials>, StoreError> {
        self.get(&keys::credentials(id)).await
    }

    /// Whose `email` is.
    pub async fn email_owner(&self, email: &Email) -> Result<Option<EmailOwner>, StoreError> {
        self.get(&keys::email(email)).await
    }

    /// At most `limit` people of `committee` after `position` whom `wanted` takes, by folded last name
    /// and name. At most 500 are looked at, so a page may be short before the list ends.
    pub async fn users(
        &self,
        committee: CommitteeId,
        position: Option<&str>,
        limit: u16,
        wanted: impl Fn(&User) -> bool,
    ) -> Result<Page<User>, StoreError> {
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
    pub async fn found(
        &self,
        committee: &Committee,
        admin: &NewUser,
        mut founding: Transaction,
    ) -> Result<bool, StoreError> {
        let ids = AttributeValue::Ss(vec![admin.user.user_id.to_string()]);
        let admins = Write::at(&keys::admins()).with([("ids".to_owned(), ids)]);
        founding.put_new(Part::Admins, admins);
        founding.put_new(Part::Committee, Self::committee_put(committee));
        founding.new_user(admin);
        Ok(founding.commit().await? == CommitOutcome::Committed)
    }

    /// Replaces `old_hash` by `new_hash` of the same password; does nothing when the password was
    /// changed meanwhile.
    pub async fn rehash(
        &self,
        user: UserId,
        old_hash: &str,
        new_hash: &str,
    ) -> Result<(), StoreError> {
        self.apply(password_update(user, old_hash, new_hash))
            .await?;
        Ok(())
    }
}

fn password_update(user: UserId, old_hash: &str, new_hash: &str) -> Write {
    Write::at(&keys::credentials(user))
        .when("passwordHash = :old")
        .expression("SET passwordHash = :new")
        .text(":old", old_hash)
        .text(":new", new_hash)
}

impl Transaction {
    /// The account, the credentials and the address of a new person.
    pub fn new_user(&mut self, new: &NewUser) {
        let User {
            user_id,
            committee_id,
            ref email,
            ..
        } = new.user;
        let account = keys::user(user_id)
            .holding(&Carded { card: &new.user })
            .with(keys::user_place(&new.user).attributes());
        let credentials = keys::credentials(user_id).holding(&Credentials {
            password_hash: new.password_hash.clone(),
        });
        self.take_email(email, user_id, committee_id);
        self.put_new(Part::User, account);
        self.put_new(Part::Credentials, credentials);
    }

    /// Requires that the committee is there and active.
    pub fn require_active_committee(&mut self, id: CommitteeId) {
        let check = Write::at(&keys::committee(id))
            .when("card.isActive = :true")
            .value(":true", &true);
        self.check(Part::Committee, check);
    }

    /// `email` becomes the address of `user`; refused when somebody has it.
    pub fn take_email(&mut self, email: &Email, user_id: UserId, committee_id: CommitteeId) {
        let owner = keys::email(email).holding(&EmailOwner {
            user_id,
            committee_id,
        });
        self.put_new(Part::Email, owner);
    }

    /// `email` is nobody's address any more.
    pub fn free_email(&mut self, email: &Email) {
        self.remove(Part::Email, &keys::email(email))
    }

    /// The account `before` becomes `after`, field by field; refused when anything but `lastActive` has
    /// changed since `before` was read. Nothing is written when nothing changes.
    pub fn change_user(&mut self, before: &User, after: &User) {
        let mut update = Write::at(&keys::user(before.user_id))
            .when("card.version = :before")
            .number(":before", before.version);
        let (was, is) = (update.serialised(before), update.serialised(after));
        let changed = is
            .iter()
            .filter(|(field, value)| was.get(*field) != Some(value));
        let mut sets = Vec::new();
        for (number, (field, value)) in changed.enumerate() {
            sets.push(format!("card.#s{number} = :s{number}"));
            update = update.name(format!("#s{number}"), field);
            update = update.attribute(format!(":s{number}"), value.clone());
        }
        if sets.is_empty() {
            return;
        }
        let mut removes = Vec::new();
        for (number, field) in was
            .keys()
            .filter(|field| !is.contains_key(*field))
            .enumerate()
        {
            removes.push(format!("card.#r{number}"));
            update = update.name(format!("#r{number}"), field);
        }
        let place = keys::user_place(after);
        if let Some(erased_at) = after.erased_at {
            removes.extend(["listPk".to_owned(), "listSk".to_owned()]);
            sets.push("duePk = :erase, dueAt = :erased".to_owned());
            update = update
                .text(":erase", keys::ERASE_DUE)
                .number(":erased", erased_at.unix_milliseconds());
        } else if place != keys::user_place(before) {
            sets.push("listPk = :listPk, listSk = :listSk".to_owned());
            update = update.text(":listPk", &place.pk).text(":listSk", &place.sk);
        }
        let removed = if removes.is_empty() {
            String::new()
        } else {
            format!(" REMOVE {}", removes.join(", "))
        };
        self.update(
            Part::User,
            update.expression(format!("SET {}{removed}", sets.join(", "))),
        );
    }

    /// The mailbox of `user` was proved, who is verified from now on, whatever else changes meanwhile.
    /// ApiError when the address is another one by now, or the account was closed.
    pub fn verify_mailbox(&mut self, user: &User) {
        let update = Write::at(&keys::user(user.user_id))
            .when("card.email = :email AND card.isActive = :true")
            .expression("SET card.isVerified = :true, card.version = card.version + :one")
            .text(":email", user.email.as_str())
            .value(":true", &true)
            .number(":one", 1);
        self.update(Part::User, update);
    }

    /// `session` goes on as `kept`, of the epoch that its user gets; refused when it has ended.
    pub fn keep_session(&mut self, session: &Session, kept: &Session) {
        let update = Write::at(&keys::session(session.user_id, session.sid))
            .when("epoch = :epoch")
            .expression("SET epoch = :next, expiresAt = :expires, authTime = :authTime, amr = :amr")
            .number(":epoch", session.epoch)
            .number(":next", kept.epoch)
            .value(":expires", &kept.expires_at)
            .value(":authTime", &kept.auth_time)
            .value(":amr", &kept.amr);
        self.update(Part::Session, update);
    }

    /// The password of `old_hash` is replaced; refused when it is another one by now.
    pub fn change_password(&mut self, user: UserId, old_hash: &str, new_hash: &str) {
        self.update(Part::Credentials, password_update(user, old_hash, new_hash));
    }

    /// The credentials of somebody who is erased go.
    pub fn remove_credentials(&mut self, user: UserId) {
        self.remove(Part::Credentials, &keys::credentials(user))
    }

    /// `before` becomes `after`: the set of active super admins follows. ApiError when nobody would be left in it.
    pub fn follow_admins(&mut self, before: &User, after: &User) {
        let update = Write::at(&keys::admins());
        let update = update.attribute(":id", AttributeValue::Ss(vec![before.user_id.to_string()]));
        let update = match (
            before.is_active_super_admin(),
            after.is_active_super_admin(),
        ) {
            (true, false) => update
                .expression("DELETE ids :id")
                .when("size(ids) > :one")
                .number(":one", 1),
            (false, true) => update.expression("ADD ids :id"),
            _ => return,
        };
        self.update(Part::Admins, update);
    }
}
