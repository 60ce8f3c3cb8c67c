//! A World: the whole service, in memory, with its own cloud and clock.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use common::{Clock, Edge, Sessions, Setup};
use domain::{
    CommitteeId, Email, Grant, Instant, Phone, Profile, UserId,
    committee::Committee,
    session::Method,
    user::{DEFAULT_AVATAR, User},
};
use identity::{chance, password::Hasher};
use local::{
    cloud::Cloud,
    faults::{Fault, Mode, Service},
    home::{self, LocalSettings},
    house,
    pages::Pages,
};
use serde_json::Value;
use store::NewUser;

use crate::{PASSWORD, Person};

/// A service of its own. Cloning shares it.
#[derive(Clone)]
pub struct World {
    cloud: Cloud,
    settings: LocalSettings,
    setup: Setup,
    edge: Edge,
    people: Arc<AtomicU32>,
    committee: CommitteeId,
}

/// Who a person is to be.
#[derive(Debug, Clone)]
pub struct Someone {
    profile: Profile,
    grants: Vec<Grant>,
    is_verified: bool,
    is_active: bool,
    committee: Option<CommitteeId>,
}

impl Someone {
    /// A verified person of `profile` in the first committee.
    pub const fn with(profile: Profile) -> Self {
        Self { profile, grants: Vec::new(), is_verified: true, is_active: true, committee: None }
    }

    /// The same in `committee`.
    #[must_use]
    pub fn of(self, committee: CommitteeId) -> Self {
        Self { committee: Some(committee), ..self }
    }

    /// The same with `grants`.
    #[must_use]
    pub fn granted(self, grants: &[Grant]) -> Self {
        Self { grants: grants.to_vec(), ..self }
    }

    /// The same, but not verified.
    #[must_use]
    pub fn unverified(self) -> Self {
        Self { is_verified: false, ..self }
    }

    /// The same, but closed.
    #[must_use]
    pub fn inactive(self) -> Self {
        Self { is_active: false, ..self }
    }
}

impl World {
    /// A founded World with the usual settings.
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// A founded World with these `settings`.
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let cloud = Cloud::in_memory().await.expect("a cloud in memory starts");
        let mut all = LocalSettings::default();
        all.with_new_keys().find(&cloud);
        for (name, value) in settings {
            all.set(name, *value);
        }
        let setup = all.setup(Clock::default()).expect("the settings are good");
        home::found(&setup, "admin@example.org", &PASSWORD.into()).await.expect("the World is founded");
        let edge = house(&setup).expect("the house stands");
        let page = setup.store.committees(None, 1).await.expect("the store answers");
        let committee = page.committees.first().expect("the World has a committee").committee_id;
        Self { cloud, settings: all, setup, edge, people: Arc::default(), committee }
    }

    /// Another process of the same service: same tables, keys and clock, a memory of its own.
    pub fn another_process(&self) -> Self {
        let setup = self.settings.setup(self.setup.clock.clone()).expect("the settings are good");
        let edge = house(&setup).expect("the house stands");
        Self { setup, edge, ..self.clone() }
    }

    /// The edge of this process.
    pub const fn edge(&self) -> &Edge {
        &self.edge
    }

    /// What routes are made of here.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The clock of this World.
    pub const fn clock(&self) -> &Clock {
        &self.setup.clock
    }

    /// The value of the setting `name`.
    pub fn setting(&self, name: &str) -> String {
        self.settings.get(name).expect("the setting is set")
    }

    /// The same, if it is set.
    pub fn try_setting(&self, name: &str) -> Option<String> {
        self.settings.get(name)
    }

    /// The cloud of this World.
    pub const fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// The local pages of this World.
    pub fn pages(&self) -> Pages {
        Pages::new(self.cloud.clone(), self.clock().clone(), Value::Null)
    }

    /// Has the tables have a bad day.
    pub fn strike(&self, fault: Fault) {
        self.cloud.faults().set([(Service::Dynamodb, fault)].into());
    }

    /// Has the tables have a bad day of kind `mode`, until cleared.
    pub fn strike_with(&self, mode: Mode) {
        self.strike(Fault::new(mode));
    }

    /// Ends all bad days.
    pub fn heal(&self) {
        self.cloud.faults().set([].into());
    }

    /// Every item of `table`, behind the service's back.
    pub fn items(&self, table: &str) -> Vec<Value> {
        self.cloud.items(table).expect("the table is there")
    }

    /// Somebody without an account, at an address of his own.
    pub fn stranger(&self) -> Person {
        let number = self.people.fetch_add(1, Ordering::Relaxed) + 1;
        let [_, a, b, c] = number.to_be_bytes();
        Person::new(self.clone(), format!("10.{a}.{b}.{c}").parse().expect("an address"))
    }

    /// The first committee.
    pub const fn committee(&self) -> CommitteeId {
        self.committee
    }

    /// A new committee of this Latin name, made straight in the tables.
    pub async fn another_committee(&self, name: &str, is_active: bool) -> CommitteeId {
        let first = self.setup.store.committee(self.committee()).await.expect("the store answers").expect("it is there");
        let committee_id = CommitteeId::new(chance::id(self.clock().now()));
        let committee = Committee { committee_id, name_latin: name.parse().expect("a name"), is_active, ..first };
        self.setup.store.create_committee(&committee).await.expect("the store answers");
        committee_id
    }

    /// An account made straight in the tables, with [`PASSWORD`] and an address of its own.
    pub async fn account(&self, someone: &Someone) -> User {
        let committee_id = someone.committee.unwrap_or(self.committee);
        let number = self.people.fetch_add(1, Ordering::Relaxed) + 1;
        let user = user(self.clock().now(), format!("person{number}@example.org").parse().expect("an address"), committee_id, someone);
        let password_hash = Hasher::default().hash(&PASSWORD.into()).await.expect("a hash");
        self.setup.store.register(&NewUser { user: user.clone(), password_hash }).await.expect("the store answers");
        user
    }

    /// A person with an account and a session, both made straight in the tables.
    pub async fn person(&self, someone: Someone) -> Person {
        let user = self.account(&someone).await;
        self.signed_in(user).await
    }

    /// A session of `user`, made straight in the tables.
    pub async fn signed_in(&self, user: User) -> Person {
        let committee = self.setup.store.committee(user.committee_id).await.expect("the store answers").expect("it is there");
        let stranger = self.stranger();
        let sessions = Sessions::new(&self.setup).expect("the keys are there");
        let client = stranger.client();
        let begun = sessions.begin(user.clone(), committee, Vec::new(), vec![Method::Pwd], &client, self.clock().now());
        let view = begun.await.expect("a session begins");
        stranger.holding(view.token()).known_as(user)
    }

    /// The first super admin, signed in.
    pub async fn admin(&self) -> Person {
        let email: Email = "admin@example.org".parse().expect("an address");
        let owner = self.setup.store.email_owner(&email).await.expect("the store answers").expect("the World is founded");
        let user = self.setup.store.user(owner.user_id).await.expect("the store answers").expect("it is there");
        self.signed_in(user).await
    }

    /// A verified member of the first committee, signed in.
    pub async fn member(&self) -> Person {
        self.person(Someone::with(Profile::Member)).await
    }
}

fn user(now: Instant, email: Email, committee_id: CommitteeId, someone: &Someone) -> User {
    User {
        user_id: UserId::new(chance::id(now)),
        name: "Amina".parse().expect("a name"),
        last_name: "Ben Salah".parse().expect("a name"),
        email,
        created_at: now,
        avatar: DEFAULT_AVATAR.to_owned(),
        phone: Phone::default(),
        is_active: someone.is_active,
        is_verified: someone.is_verified,
        profile: someone.profile,
        role: None,
        last_active: now,
        is_otp_enabled: false,
        is_otp_verified: false,
        committee_id,
        permissions: someone.grants.iter().copied().collect(),
        version: 1,
        epoch: 1,
    }
}
