//! Users: accounts, credentials and the uniqueness of e-mail addresses.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{
    CommitteeId, Email, UserId,
    committee::Committee,
    session::Session,
    user::{Account, User},
};
use serde::{Deserialize, Serialize};

use crate::{
    CommitOutcome, Page, Part, Store, StoreError, Transaction,
    keys::{self, DueList, Key},
    table::{LAST_ACTIVE, ListedItem, Order, due, number, read, text},
    write::Write,
};

/// The credentials of a user, in an item of their own, so that reading an account does not load the password hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// The password as a PHC string.
    pub password_hash: String,
}

/// The owner of an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailOwner {
    /// The user who has the address.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// The owner's committee.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
}

/// A user to create.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// The account.
    pub user: User,
    /// The password as a PHC string.
    pub password_hash: String,
}

/// Number of users that one query of a filtered list reads: few matches must not need many queries.
const FILTERED_PAGE: u16 = 100;
/// Maximum number of queries of one call.
const MAX_QUERIES: u32 = 3;

/// The account in `item`, unless it is erased.
pub(crate) fn unless_erased(item: Option<ListedItem<User>>) -> Option<User> {
    item.map(|item| item.card).filter(|user| user.erased_at.is_none())
}

impl Store {
    /// The account `id`, unless it is erased.
    pub async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        Ok(unless_erased(self.get(&keys::user(id)).await?))
    }

    /// The accounts of `ids`, at most 100 different ones, without erased ones.
    pub async fn current_accounts(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let keys: Vec<Key> = ids.iter().map(|id| keys::user(*id)).collect();
        let items = self.get_all(&keys).await?.into_iter();
        let users = items.map(|item| Ok(unless_erased(read(item)?)));
        Ok(users.collect::<Result<Vec<_>, StoreError>>()?.into_iter().flatten().collect())
    }

    /// The credentials of the user `id`.
    pub async fn credentials(&self, id: UserId) -> Result<Option<Credentials>, StoreError> {
        self.get(&keys::credentials(id)).await
    }

    /// The owner of `email`, in one read of the address item.
    pub async fn email_owner(&self, email: &Email) -> Result<Option<EmailOwner>, StoreError> {
        self.get(&keys::email(email)).await
    }

    /// At most `limit` users of `committee` after `position` that match `filter`, in the order of folded last name
    /// and name. Makes at most three queries, which read 100 users each if there is a filter: a page may be short or
    /// even empty before the list ends.
    pub async fn users(
        &self,
        committee: CommitteeId,
        position: Option<&str>,
        limit: u16,
        filter: Option<impl Fn(&User) -> bool>,
    ) -> Result<Page<User>, StoreError> {
        let list = keys::users_of(committee);
        let size = if filter.is_some() { limit.max(FILTERED_PAGE) } else { limit };
        let (mut found, mut last) = (Vec::new(), position.map(str::to_owned));
        for _ in 0..MAX_QUERIES {
            let page: Page<User> =
                self.cards(&list, last.as_deref(), size, Order::Ascending).await?;
            let mut users = page.items;
            users.retain(|user| filter.as_ref().is_none_or(|filter| filter(user)));
            found.append(&mut users);
            last = page.last;
            if found.len() >= usize::from(limit) || last.is_none() {
                break;
            }
        }
        if found.len() > usize::from(limit) {
            found.truncate(limit.into());
            last = found.last().map(|user| keys::user_index_key(user).sk);
        }
        Ok(Page { items: found, last })
    }

    /// Creates the first committee and the first super admin in one transaction with `additions`. Returns `false`,
    /// and writes nothing, when there was a super admin before.
    pub async fn bootstrap(
        &self,
        committee: &Committee,
        admin: &NewUser,
        mut additions: Transaction,
    ) -> Result<bool, StoreError> {
        let ids = AttributeValue::Ss(vec![admin.user.user_id.to_string()]);
        let admins = Write::at(&keys::admins()).with([("ids".to_owned(), ids)]);
        additions.put_new(Part::Admins, admins);
        additions.put_new(Part::Committee, Self::committee_put(committee));
        additions.new_user(admin);
        Ok(additions.commit().await? == CommitOutcome::Committed)
    }
}

impl Transaction {
    /// Creates the account and the credentials of a user and reserves the address. The condition fails
    /// (`Part::Email`) when the address is taken.
    pub fn new_user(&mut self, new: &NewUser) {
        let Account { user_id, committee_id, ref email, .. } = new.user.account;
        let key = keys::user(user_id);
        let mut account = key
            .holding(&ListedItem { card: &new.user })
            .beside_card(LAST_ACTIVE)
            .with(keys::user_index_key(&new.user).attributes());
        if let Some(until) = new.user.unverified_until {
            account = account.with(due(DueList::Unverified, &key, until));
        }
        let credentials = keys::credentials(user_id)
            .holding(&Credentials { password_hash: new.password_hash.clone() });
        self.reserve_email(email, user_id, committee_id);
        self.put_new(Part::User, account);
        self.put_new(Part::Credentials, credentials);
    }

    /// Makes `user_id` the owner of `email`. The condition fails (`Part::Email`) when the address is taken.
    pub fn reserve_email(&mut self, email: &Email, user_id: UserId, committee_id: CommitteeId) {
        let owner = keys::email(email).holding(&EmailOwner { user_id, committee_id });
        self.put_new(Part::Email, owner);
    }

    /// Records at the address of `user` that they are of their committee now, beside a [change](Self::change_user) of the
    /// account, whose condition fails when the address has changed.
    pub fn update_email_committee(&mut self, user: &User) {
        let update = Write::at(&keys::email(&user.email))
            .expression("SET committeeID = :committee")
            .value(":committee", &user.committee_id);
        self.update(Part::Email, update);
    }

    /// Makes `email` available again.
    pub fn release_email(&mut self, email: &Email) {
        self.remove(Part::Email, &keys::email(email))
    }

    /// Writes the fields in which `after` differs from `before`, if any. The condition fails (`Part::User`) when a
    /// field other than `lastActive` has changed since `before` was read, or (`Part::Admins`) when no active, verified
    /// super admin would be left.
    pub fn change_user(&mut self, before: &User, after: &User) {
        let mut update = Write::at(&keys::user(before.user_id))
            .when("card.version = :before")
            .number(":before", before.version)
            .set_changed(before, after);
        if !update.has_changes() {
            return;
        }
        let index_key = keys::user_index_key(after);
        if let Some(erased_at) = after.erased_at {
            update = update
                .unset(&["listPk"])
                .unset(&["listSk"])
                .set(&["duePk"], text(DueList::Erase.code()))
                .set(&["dueAt"], number(erased_at.unix_milliseconds()));
        } else {
            if before.unverified_until.is_some() && after.unverified_until.is_none() {
                update = update.unset(&["duePk"]).unset(&["dueAt"]);
            }
            if index_key != keys::user_index_key(before) {
                update = index_key
                    .attributes()
                    .into_iter()
                    .fold(update, |update, (name, value)| update.set(&[&name], value));
            }
        }
        self.update(Part::User, update);
        self.update_admins(before, after);
        if after.is_active && !before.is_active {
            self.wake_where_waiting(before.user_id);
        }
    }

    /// Replaces `session` by `kept`, which has the user's next epoch. The condition fails (`Part::Session`) when it
    /// has ended.
    pub fn renew_session(&mut self, session: &Session, kept: &Session) {
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

    /// Checks that `hash` is still the password hash of `user`; otherwise the condition fails (`Part::Credentials`).
    pub fn require_password(&mut self, user: UserId, hash: &str) {
        let check =
            Write::at(&keys::credentials(user)).when("passwordHash = :hash").text(":hash", hash);
        self.check(Part::Credentials, check);
    }

    /// Sets the password hash. The condition fails (`Part::Credentials`) when the present one is not `old_hash`, or
    /// when there is one and `old_hash` is `None`.
    pub fn change_password(&mut self, user: UserId, old_hash: Option<&str>, new_hash: &str) {
        match old_hash {
            Some(old_hash) => {
                let update = Write::at(&keys::credentials(user))
                    .when("passwordHash = :old")
                    .expression("SET passwordHash = :new")
                    .text(":old", old_hash)
                    .text(":new", new_hash);
                self.update(Part::Credentials, update);
            }
            None => {
                let credentials = keys::credentials(user)
                    .holding(&Credentials { password_hash: new_hash.to_owned() });
                self.put_new(Part::Credentials, credentials);
            }
        }
    }

    /// Deletes the credentials of `user`.
    pub fn remove_credentials(&mut self, user: UserId) {
        self.remove(Part::Credentials, &keys::credentials(user))
    }

    /// Updates the set of active super admins for the change from `before` to `after`. The condition fails
    /// (`Part::Admins`) when the set would become empty.
    pub fn update_admins(&mut self, before: &User, after: &User) {
        let update = Write::at(&keys::admins())
            .attribute(":id", AttributeValue::Ss(vec![before.user_id.to_string()]));
        let update =
            match (before.is_active_verified_super_admin(), after.is_active_verified_super_admin())
            {
                (true, false) => {
                    update.expression("DELETE ids :id").when("size(ids) > :one").number(":one", 1)
                }
                (false, true) => update.expression("ADD ids :id"),
                _ => return,
            };
        self.update(Part::Admins, update);
    }
}
