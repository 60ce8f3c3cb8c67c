//! A World: the whole service, in memory, with its own cloud and clock.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use accounts::{Arrival, Sessions};
use common::{Edge, Routes};
use dispatcher::Dispatcher;
use domain::{
    CommitteeId, Email, Grant, Instant, Phone, Profile, UserId, committee::Committee,
    session::Method, user::User,
};
use identity::{chance, password::Hasher};
use local::{
    cloud::Cloud,
    delivery,
    faults::{Fault, Mode, Service},
    home::{self, LocalSettings},
    house_of,
    pages::Pages,
};
use runtime::Clock;
use serde_json::Value;
use store::{CommitOutcome, NewUser, Setup};
use tempfile::TempDir;

use crate::{PASSWORD, Person, policies};

/// A service of its own. Cloning shares it.
#[derive(Clone)]
pub struct World {
    cloud: Cloud,
    settings: LocalSettings,
    setup: Setup,
    edge: Edge,
    dispatcher: Dispatcher,
    people: Arc<AtomicU32>,
    committee: CommitteeId,
    /// Files lie in it until the last clone of this World is gone.
    _folder: Arc<TempDir>,
}

/// Who a person is to be.
#[derive(Debug, Clone)]
pub struct Someone {
    profile: Profile,
    grants: Vec<Grant>,
    is_verified: bool,
    is_active: bool,
    committee: Option<CommitteeId>,
    phone: Option<Phone>,
}

impl Someone {
    /// A verified person of `profile` in the first committee.
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

    /// The same in `committee`.
    #[must_use]
    pub fn of(self, committee: CommitteeId) -> Self {
        Self {
            committee: Some(committee),
            ..self
        }
    }

    /// The same with `grants`.
    #[must_use]
    pub fn granted(self, grants: &[Grant]) -> Self {
        Self {
            grants: grants.to_vec(),
            ..self
        }
    }

    /// The same, but not verified.
    #[must_use]
    pub fn unverified(self) -> Self {
        Self {
            is_verified: false,
            ..self
        }
    }

    /// The same with a number that was proved.
    #[must_use]
    pub fn reached_at(self, code: &str, number: &str) -> Self {
        Self {
            phone: Some(Phone::parse(code, number).expect("a number")),
            ..self
        }
    }

    /// The same, but closed.
    #[must_use]
    pub fn inactive(self) -> Self {
        Self {
            is_active: false,
            ..self
        }
    }
}

impl World {
    /// A founded World with the usual settings.
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// A founded World with these `settings`.
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let cloud = Cloud::in_memory(folder.path())
            .await
            .expect("a cloud in memory starts");
        let mut all = LocalSettings::default();
        all.with_new_keys()
            .find(&cloud)
            .set("PUBLIC_URL", "https://front.example.org");
        // so that no test waits for its turn
        all.set("SMS_RATE_PER_SECOND", "100000");
        for (name, value) in settings {
            all.set(name, *value);
        }
        let setup = all.setup(Clock::default()).expect("the settings are good");
        home::found(&setup, "admin@example.org", &PASSWORD.into())
            .await
            .expect("the World is founded");
        cloud.guard().set(Box::new(policies::allow));
        let edge = edge(&all, &cloud, &setup);
        let page = setup
            .store
            .committees(None, 1)
            .await
            .expect("the store answers");
        let committee = page
            .items
            .first()
            .expect("the World has a committee")
            .committee_id;
        let dispatcher = dispatcher(&all, &cloud, &setup);
        Self {
            cloud,
            settings: all,
            setup,
            edge,
            dispatcher,
            people: Arc::default(),
            committee,
            _folder: Arc::new(folder),
        }
    }

    /// Another process of the same service: same tables, keys and clock, a memory of its own.
    pub fn another_process(&self) -> Self {
        self.another_process_with(&[])
    }

    /// The same with other `settings`.
    pub fn another_process_with(&self, settings: &[(&str, &str)]) -> Self {
        let mut all = self.settings.clone();
        for (name, value) in settings {
            all.set(name, *value);
        }
        let setup = all
            .setup(self.setup.clock.clone())
            .expect("the settings are good");
        let edge = edge(&all, &self.cloud, &setup);
        let dispatcher = dispatcher(&all, &self.cloud, &setup);
        Self {
            settings: all,
            setup,
            edge,
            dispatcher,
            ..self.clone()
        }
    }

    /// Another process of the same service that serves `routes` alone.
    pub fn another_process_of(&self, routes: Routes) -> Self {
        let edge = Edge::new(&self.setup, routes).expect("the edge stands");
        Self {
            edge,
            ..self.clone()
        }
    }

    /// Brings the demonstration data of `cargo dev seed` in.
    pub async fn seed(&self) {
        let filled = local::seed::fill(
            &self.settings,
            self.clock().clone(),
            "admin@example.org",
            PASSWORD,
        );
        filled.await.expect("the demonstration data is valid");
    }

    /// Has the dispatcher deal with everything that the stream has brought.
    pub async fn deliver(&self) {
        while delivery::bring(&self.cloud, &self.dispatcher)
            .await
            .expect("the stream answers")
            > 0
        {}
    }

    /// Has the dispatcher look for what is due, as it does every minute.
    pub async fn sweep(&self) {
        delivery::sweep(&self.dispatcher)
            .await
            .expect("the dispatcher sweeps");
    }

    /// The dispatcher of this process.
    pub const fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// The mails that `to` has got, newest first, once everything was delivered.
    pub async fn mails(&self, to: &str) -> Vec<Value> {
        self.deliver().await;
        self.cloud
            .recorder()
            .mails()
            .into_iter()
            .filter(|mail| mail["to"] == to)
            .collect()
    }

    /// The text messages that `to` has got, newest first, once everything was delivered.
    pub async fn texts(&self, to: &str) -> Vec<Value> {
        self.deliver().await;
        self.cloud
            .recorder()
            .texts()
            .into_iter()
            .filter(|text| text["to"] == to)
            .collect()
    }

    /// The six digits in the last mail to `to`.
    pub async fn mailed_code(&self, to: &str) -> String {
        let mails = self.mails(to).await;
        digits(
            mails.first().unwrap_or_else(|| panic!("no mail to {to}"))["text"]
                .as_str()
                .expect("a text"),
        )
    }

    /// The long code in the link of the last mail to `to`.
    pub async fn mailed_link(&self, to: &str) -> String {
        let mails = self.mails(to).await;
        let text = mails.first().unwrap_or_else(|| panic!("no mail to {to}"))["text"]
            .as_str()
            .expect("a text")
            .to_owned();
        let code = text.split("#code=").nth(1).expect("a link");
        code.chars().take_while(char::is_ascii_alphabetic).collect()
    }

    /// The six digits in the last text message to `to`.
    pub async fn texted_code(&self, to: &str) -> String {
        let texts = self.texts(to).await;
        digits(
            texts
                .first()
                .unwrap_or_else(|| panic!("no text message to {to}"))["text"]
                .as_str()
                .expect("a text"),
        )
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

    /// The settings, to start another process with.
    pub fn settings(&self) -> LocalSettings {
        self.settings.clone()
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
        Pages::new(self.cloud.clone(), &self.setup, Value::Null)
    }

    /// Has the tables have a bad day.
    pub fn strike(&self, fault: Fault) {
        self.cloud.faults().set([(Service::Dynamodb, fault)].into());
    }

    /// Has `service` have a bad day.
    pub fn strike_at(&self, service: Service, fault: Fault) {
        self.cloud.faults().set([(service, fault)].into());
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
        Person::new(
            self.clone(),
            format!("10.{a}.{b}.{c}").parse().expect("an address"),
        )
    }

    /// The first committee.
    pub const fn committee(&self) -> CommitteeId {
        self.committee
    }

    /// A new committee of this Latin name, made straight in the tables.
    pub async fn another_committee(&self, name: &str, is_active: bool) -> CommitteeId {
        let first = self
            .setup
            .store
            .committee(self.committee())
            .await
            .expect("the store answers")
            .expect("it is there");
        let committee_id = CommitteeId::new(chance::id(self.clock().now()));
        let committee = Committee {
            committee_id,
            name_latin: name.parse().expect("a name"),
            is_active,
            ..first
        };
        self.setup
            .store
            .create_committee(&committee)
            .await
            .expect("the store answers");
        committee_id
    }

    /// An account made straight in the tables, with [`PASSWORD`] and an address of its own.
    pub async fn account(&self, someone: &Someone) -> User {
        let password_hash = Hasher::default()
            .hash(&PASSWORD.into())
            .await
            .expect("a hash");
        self.account_with(someone, password_hash).await
    }

    /// The same with a password that nobody knows, which takes no time to make.
    pub async fn unhashed_account(&self, someone: &Someone) -> User {
        self.account_with(someone, "nobody knows".to_owned()).await
    }

    async fn account_with(&self, someone: &Someone, password_hash: String) -> User {
        let committee_id = someone.committee.unwrap_or(self.committee);
        let number = self.people.fetch_add(1, Ordering::Relaxed) + 1;
        let user = user(
            self.clock().now(),
            format!("person{number}@example.org")
                .parse()
                .expect("an address"),
            committee_id,
            someone,
        );
        let mut register = self.setup.store.transaction();
        register.new_user(&NewUser {
            user: user.clone(),
            password_hash,
        });
        register.follow_admins(
            &User {
                is_active: false,
                ..user.clone()
            },
            &user,
        );
        assert_eq!(
            register.commit().await.expect("the store answers"),
            CommitOutcome::Committed
        );
        user
    }

    /// A person with an account and a session, both made straight in the tables.
    pub async fn person(&self, someone: Someone) -> Person {
        let user = self.account(&someone).await;
        self.signed_in(user).await
    }

    /// A session of `user`, made straight in the tables.
    pub async fn signed_in(&self, user: User) -> Person {
        let committee = self
            .setup
            .store
            .committee(user.committee_id)
            .await
            .expect("the store answers")
            .expect("it is there");
        let stranger = self.stranger();
        let sessions = Sessions::new(&self.setup).expect("the keys are there");
        let client = stranger.client();
        let arrival = Arrival {
            user: user.clone(),
            committee,
            activity: Vec::new(),
            enrolment: None,
        };
        let begun = sessions.begin(
            arrival,
            vec![Method::Pwd],
            &client,
            self.clock().now(),
            self.setup.store.transaction(),
        );
        let view = begun
            .await
            .expect("the store answers")
            .expect("a session begins");
        stranger.holding(view.token()).known_as(user)
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
            .expect("the World is founded");
        let user = self
            .setup
            .store
            .user(owner.user_id)
            .await
            .expect("the store answers")
            .expect("it is there");
        self.signed_in(user).await
    }

    /// The account `id` as it is now.
    pub async fn user(&self, id: UserId) -> User {
        self.setup
            .store
            .user(id)
            .await
            .expect("the store answers")
            .expect("it is there")
    }

    /// A verified member of the first committee, signed in.
    pub async fn member(&self) -> Person {
        self.person(Someone::with(Profile::Member)).await
    }
}

/// Every function with the rights that the template gives it.
fn edge(settings: &LocalSettings, cloud: &Cloud, setup: &Setup) -> Edge {
    house_of(&|function| settings.setup_of(function, cloud, setup.clock.clone()))
        .expect("the house stands")
}

fn dispatcher(settings: &LocalSettings, cloud: &Cloud, setup: &Setup) -> Dispatcher {
    let setup = settings
        .setup_of("dispatcher", cloud, setup.clock.clone())
        .expect("the settings are good");
    Dispatcher::new(&setup).expect("the dispatcher starts")
}

fn user(now: Instant, email: Email, committee_id: CommitteeId, someone: &Someone) -> User {
    let (name, last_name) = (
        "Amina".parse().expect("a name"),
        "Ben Salah".parse().expect("a name"),
    );
    User {
        phone: someone.phone.clone().unwrap_or_default(),
        is_active: someone.is_active,
        is_verified: someone.is_verified,
        profile: someone.profile,
        permissions: someone.grants.iter().copied().collect(),
        is_phone_verified: someone.phone.is_some(),
        ..User::new(
            UserId::new(chance::id(now)),
            name,
            last_name,
            email,
            committee_id,
            now,
        )
    }
}

/// The only run of six digits in `text`.
pub fn digits(text: &str) -> String {
    let runs: Vec<&str> = text
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|run| run.len() >= 6)
        .collect();
    match runs.as_slice() {
        [only] if only.len() == 6 => (*only).to_owned(),
        runs => panic!("{runs:?} in {text}"),
    }
}
