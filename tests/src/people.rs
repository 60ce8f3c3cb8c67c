//! The people of a World: accounts and committees written directly to the tables, and persons who send requests.

use std::sync::atomic::Ordering;

use accounts::{Sessions, attempts::Attempt};
use common::Message;
use domain::{
    CommitteeId, Email, Grant, Instant, Phone, Profile, UserId,
    amr::Method,
    committee::Committee,
    user::{Account, User},
};
use identity::{password::Hasher, random};
use serde_json::{Value, json};
use store::{CommitOutcome, NewUser, Transaction};

use crate::{PASSWORD, Person, World};

/// Profile, rights and state of an account to create.
#[derive(Debug, Clone)]
pub struct NewPerson {
    profile: Profile,
    grants: Vec<Grant>,
    is_verified: bool,
    is_active: bool,
    committee: Option<CommitteeId>,
    phone: Option<Phone>,
}

impl NewPerson {
    /// A verified, active account of `profile` in the first committee, without grants and phone.
    pub const fn with(profile: Profile) -> Self {
        Self {
            profile,
            grants: Vec::new(),
            is_verified: true,
            is_active: true,
            committee: None,
            phone: None,
        }
    }

    /// In `committee` instead of the first one.
    #[must_use]
    pub fn of(self, committee: CommitteeId) -> Self {
        Self { committee: Some(committee), ..self }
    }

    /// With `grants`.
    #[must_use]
    pub fn granted(self, grants: &[Grant]) -> Self {
        Self { grants: grants.to_vec(), ..self }
    }

    /// Not verified.
    #[must_use]
    pub fn unverified(self) -> Self {
        Self { is_verified: false, ..self }
    }

    /// With the verified phone number `code` `number`, such as `216` `20123456`.
    #[must_use]
    pub fn with_phone(self, code: &str, number: &str) -> Self {
        Self { phone: Some(Phone::parse(code, number).expect("a number")), ..self }
    }

    /// Closed.
    #[must_use]
    pub fn inactive(self) -> Self {
        Self { is_active: false, ..self }
    }
}

impl From<Profile> for NewPerson {
    fn from(profile: Profile) -> Self {
        Self::with(profile)
    }
}

impl From<&Self> for NewPerson {
    fn from(new_person: &Self) -> Self {
        new_person.clone()
    }
}

impl World {
    /// A new World with a person of `new_person`.
    pub async fn with_person(new_person: impl Into<NewPerson>) -> (Self, Person) {
        let world = Self::new().await;
        let person = world.person(new_person).await;
        (world, person)
    }

    /// A new World with a verified member of its committee.
    pub async fn with_member() -> (Self, Person) {
        Self::with_person(Profile::Member).await
    }

    /// A new World with its super admin.
    pub async fn with_admin() -> (Self, Person) {
        let world = Self::new().await;
        let admin = world.admin().await;
        (world, admin)
    }

    /// A person without an account, at an IP address of their own.
    pub fn anonymous(&self) -> Person {
        let number = self.people.fetch_add(1, Ordering::Relaxed) + 1;
        let [_, a, b, c] = number.to_be_bytes();
        Person::new(self.clone(), format!("10.{a}.{b}.{c}").parse().expect("an address"))
    }

    /// The first committee.
    pub const fn committee(&self) -> CommitteeId {
        self.committee
    }

    /// Writes a new committee with the Latin name `name`, otherwise a copy of the first one, to the tables.
    pub async fn another_committee(&self, name: &str, is_active: bool) -> CommitteeId {
        let first = self
            .setup
            .store
            .committee(self.committee())
            .await
            .expect("the store answers")
            .expect("it is there");
        let committee_id = CommitteeId::new(random::id(self.clock().now()));
        let committee = Committee {
            committee_id,
            name_latin: name.parse().expect("a name"),
            is_active,
            ..first
        };
        let mut tx = self.setup.store.transaction();
        tx.create_committee(&committee);
        let created = tx.commit().await.expect("the store answers");
        assert_eq!(created, CommitOutcome::Committed);
        committee_id
    }

    /// Writes a new account with [`PASSWORD`] and a unique email address to the tables.
    pub async fn account(&self, new_person: impl Into<NewPerson>) -> User {
        let password_hash = Hasher::default().hash(&PASSWORD.into()).await.expect("a hash");
        self.account_with(&new_person.into(), password_hash).await
    }

    /// The transaction with which a request of `person`, such as a change of their password, ends all their sessions but
    /// its own. It fails if the account changes before it is committed.
    pub async fn renewal(&self, person: &Person) -> Transaction {
        let store = &self.setup.store;
        let user = self.user(person.user().user_id).await;
        let sessions = store.sessions(&user, self.clock().now()).await;
        let session = sessions.expect("the store answers").remove(0);
        let after = user.changed(|user| user.epoch += 1);
        let mut renewed = session.clone();
        renewed.epoch = after.epoch;
        let mut tx = store.transaction();
        tx.change_user(&user, &after);
        tx.renew_session(&session, &renewed);
        tx
    }

    /// Like [`World::account`], without a usable password, which saves the time of hashing.
    pub async fn unhashed_account(&self, new_person: impl Into<NewPerson>) -> User {
        self.account_with(&new_person.into(), "no hash".to_owned()).await
    }

    /// Stores `change` of the account `user`; returns the account after it.
    pub async fn changed_account(&self, user: &User, change: impl FnOnce(&mut User)) -> User {
        let after = user.changed(change);
        let mut tx = self.setup.store.transaction();
        tx.change_user(user, &after);
        assert_eq!(tx.commit().await.expect("the store answers"), CommitOutcome::Committed);
        after
    }

    async fn account_with(&self, new_person: &NewPerson, password_hash: String) -> User {
        let committee_id = new_person.committee.unwrap_or(self.committee);
        let number = self.people.fetch_add(1, Ordering::Relaxed) + 1;
        let user = user(
            self.clock().now(),
            format!("person{number}@example.org").parse().expect("an address"),
            committee_id,
            new_person,
        );
        let mut tx = self.setup.store.transaction();
        tx.new_user(&NewUser { user: user.clone(), password_hash });
        let mut inactive = user.clone();
        inactive.is_active = false;
        tx.update_admins(&inactive, &user);
        assert_eq!(tx.commit().await.expect("the store answers"), CommitOutcome::Committed);
        user
    }

    /// A person with a new account and a session.
    pub async fn person(&self, new_person: impl Into<NewPerson>) -> Person {
        let user = self.account(new_person).await;
        self.signed_in(user).await
    }

    /// A person with a new session of `user`.
    pub async fn signed_in(&self, user: User) -> Person {
        let anonymous = self.anonymous();
        let sessions = Sessions::new(&self.setup).expect("the keys are there");
        let (client, now) = (anonymous.client(), self.clock().now());
        let account = sessions
            .find(user.user_id, user.committee_id, now)
            .await
            .expect("the store answers")
            .expect("it is there");
        let store = &self.setup.store;
        let mut attempt = Attempt::uncounted(store, &client, now);
        let begun = sessions.begin(account, vec![Method::Pwd], store.transaction(), &mut attempt);
        let view = begun.await.expect("a session begins");
        anonymous.with_token(view.token()).as_user(user)
    }

    /// The first super admin, signed in.
    pub async fn admin(&self) -> Person {
        let email: Email = "admin@example.org".parse().expect("an address");
        let owner = self
            .setup
            .store
            .email_owner(&email)
            .await
            .expect("the store answers")
            .expect("the bootstrap created it");
        let user = self
            .setup
            .store
            .user(owner.user_id)
            .await
            .expect("the store answers")
            .expect("it is there");
        self.signed_in(user).await
    }

    /// The body of a registration with the address `email` in the first committee.
    pub fn registration(&self, email: &str) -> Value {
        json!({
            "name": "Amel", "lastName": "Trabelsi", "email": email, "password": "clé de sol et fa",
            "committeeID": self.committee(),
        })
    }

    /// Registers the address `email`; returns the body.
    pub async fn register(&self, email: &str) -> Value {
        let answer = self.anonymous().post("/users/register", self.registration(email)).await;
        answer.expect_success(Message::UserRegistered)
    }

    /// The account `id` as it is stored now.
    pub async fn user(&self, id: UserId) -> User {
        self.setup.store.user(id).await.expect("the store answers").expect("it is there")
    }

    /// A verified member of the first committee, signed in.
    pub async fn member(&self) -> Person {
        self.person(Profile::Member).await
    }
}

fn user(now: Instant, email: Email, committee_id: CommitteeId, new_person: &NewPerson) -> User {
    let (name, last_name) =
        ("Amina".parse().expect("a name"), "Ben Salah".parse().expect("a name"));
    let new = User::new(UserId::new(random::id(now)), name, last_name, email, committee_id, now);
    let account = Account {
        phone: new_person.phone.clone().unwrap_or_default(),
        is_active: new_person.is_active,
        is_verified: new_person.is_verified,
        profile: new_person.profile,
        permissions: new_person.grants.iter().copied().collect(),
        ..new.account
    };
    User {
        account,
        is_mailbox_verified: new_person.is_verified,
        is_phone_verified: new_person.phone.is_some(),
        ..new
    }
}
