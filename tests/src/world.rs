//! The lifecycle of a World: creation, further processes, settings and access to its parts.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicU32},
    time::Duration,
};

use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use cloud::{Cloud, strict::Strictness};
use common::{Edge, Routes};
use dev::{
    delivery::Consumers,
    edge_of,
    home::{self, LocalSettings},
    pages::Pages,
};
use domain::CommitteeId;
use runtime::{Aws, Clock, ConfigError};
use serde_json::Value;
use store::{Setup, Store};
use tempfile::TempDir;

use crate::{PASSWORD, conditions, policies};

/// What the store does in tests with the environment variable `STRICT`, which is the seed.
#[expect(clippy::disallowed_methods, reason = "a setting of the tests")]
fn strictness() -> Option<Strictness> {
    let seed = std::env::var("STRICT").ok()?;
    Some(Strictness {
        stale_ms: 50,
        torn_ms: 5,
        transaction_ms: 2,
        // Longer than functions keep a connection that is not used.
        idle_ms: 30_000,
        seed: seed.parse().expect("STRICT is a number"),
        ..Strictness::default()
    })
}

/// The whole service in memory, with its own cloud and clock. Clones share it.
#[derive(Clone)]
pub struct World {
    pub(crate) cloud: Cloud,
    settings: LocalSettings,
    pub(crate) setup: Setup,
    edge: Edge,
    pub(crate) consumers: Consumers,
    /// The number of people so far, for unique addresses.
    pub(crate) people: Arc<AtomicU32>,
    pub(crate) committee: CommitteeId,
    /// Deleted with the last clone of this World.
    folder: Arc<Folder>,
}

/// The folder of a cloud. The last World that uses it stores the counts of conditions: the process of a test ends with it.
struct Folder(TempDir);

impl Drop for Folder {
    fn drop(&mut self) {
        conditions::store();
    }
}

impl World {
    /// A World with one committee, one super admin (`admin@example.org`, [`PASSWORD`]) and default settings.
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// Like [`World::new`], with other `settings`. It is eight in the morning (UTC), so that no test depends on the hour in
    /// which it runs.
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let cloud = Cloud::in_memory(folder.path()).await.expect("a cloud in memory starts");
        Self::of(cloud, folder, morning(), settings).await
    }

    /// Like [`World::with`], with the tables in a file: in memory, every write reads the whole stream. With the time of the
    /// system, which other processes have, too.
    pub async fn in_folder(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let cloud = Cloud::in_folder(folder.path()).await.expect("a cloud in a folder starts");
        Self::of(cloud, folder, Clock::default(), settings).await
    }

    async fn of(cloud: Cloud, folder: TempDir, clock: Clock, settings: &[(&str, &str)]) -> Self {
        conditions::start();
        let mut all = LocalSettings::default();
        all.with_new_keys()
            .with_endpoints_of(&cloud)
            .set("PUBLIC_URL", "https://front.example.org");
        // High, so that no test waits for a send time.
        all.set("SMS_RATE_PER_SECOND", "100000");
        all.set("MAIL_RATE_PER_SECOND", "100000");
        for (name, value) in settings {
            all.set(name, *value);
        }
        let setup = own_setup(&all, clock);
        cloud.set_clock(setup.clock.clone());
        home::bootstrap(&setup, "admin@example.org", &PASSWORD.into())
            .await
            .expect("the bootstrap succeeds");
        cloud.guard().set(Box::new(policies::allow));
        if let Some(strictness) = strictness() {
            cloud.set_strictness(strictness);
        }
        let edge = edge(&all, &cloud, &setup);
        let page = setup.store.committees(None, 1).await.expect("the store answers");
        let committee = page.items.first().expect("the World has a committee").committee_id;
        let consumers = consumers(&all, &cloud, &setup);
        Self {
            cloud,
            settings: all,
            setup,
            edge,
            consumers,
            people: Arc::default(),
            committee,
            folder: Arc::new(Folder(folder)),
        }
    }

    /// Another process of the same service, with the same tables, keys and clock.
    pub fn another_process(&self) -> Self {
        self.another_process_with(&[])
    }

    /// Another process with other `settings`.
    pub fn another_process_with(&self, settings: &[(&str, &str)]) -> Self {
        let mut all = self.settings.clone();
        for (name, value) in settings {
            all.set(name, *value);
        }
        let setup = own_setup(&all, self.setup.clock.clone());
        let edge = edge(&all, &self.cloud, &setup);
        let consumers = consumers(&all, &self.cloud, &setup);
        Self { settings: all, setup, edge, consumers, ..self.clone() }
    }

    /// Another process, with the time limits of the product.
    pub fn another_process_with_product_limits(&self) -> Self {
        let setup_of = |function: &str| {
            self.settings.setup_of(function, &self.cloud, self.setup.clock.clone())
        };
        let edge = edge_of(&setup_of).expect("the edge starts");
        let consumers = Consumers::new(&setup_of).expect("dispatcher and worker start");
        Self { edge, consumers, ..self.clone() }
    }

    /// Another process that serves `routes` only.
    pub fn another_process_of(&self, routes: Routes) -> Self {
        let edge = Edge::new(&self.setup, routes).expect("the edge starts");
        Self { edge, ..self.clone() }
    }

    /// Loads the demonstration data of `cargo dev seed`.
    pub async fn seed(&self) {
        let filled = dev::seed::fill(&self.setup);
        filled.await.expect("the demonstration data is valid");
    }

    /// The edge of this process.
    pub const fn edge(&self) -> &Edge {
        &self.edge
    }

    /// Settings, keys, store and clock of this process.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The clock of this World.
    pub const fn clock(&self) -> &Clock {
        &self.setup.clock
    }

    /// A copy of the settings.
    pub fn settings(&self) -> LocalSettings {
        self.settings.clone()
    }

    /// The value of the setting `name`, which must be set.
    pub fn setting(&self, name: &str) -> String {
        self.settings.get(name).expect("the setting is set")
    }

    /// The value of the setting `name`, if it is set.
    pub fn try_setting(&self, name: &str) -> Option<String> {
        self.settings.get(name)
    }

    /// The cloud of this World.
    pub const fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// The folder of the cloud.
    pub fn folder(&self) -> &Path {
        self.folder.0.path()
    }

    /// The handler of the local pages below `/_local`.
    pub fn pages(&self) -> Pages {
        Pages::new(self.cloud.clone(), &self.setup, Vec::new())
    }

    /// The items of the records table whose partition key begins with `prefix`.
    pub fn items_of(&self, prefix: &str) -> Vec<Value> {
        let has_prefix =
            |item: &Value| item["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with(prefix));
        self.items("records").into_iter().filter(has_prefix).collect()
    }

    /// All items of `table`, read directly from the local store.
    pub fn items(&self, table: &str) -> Vec<Value> {
        self.cloud.items(table).expect("the table is there")
    }
}

/// All functions, each with the permissions that the template gives it.
fn edge(settings: &LocalSettings, cloud: &Cloud, setup: &Setup) -> Edge {
    edge_of(&|function| function_setup(settings, function, cloud, setup)).expect("the edge starts")
}

/// The functions without routes, each with the permissions that the template gives it.
fn consumers(settings: &LocalSettings, cloud: &Cloud, setup: &Setup) -> Consumers {
    Consumers::new(&|function| function_setup(settings, function, cloud, setup))
        .expect("dispatcher and worker start")
}

fn function_setup(
    settings: &LocalSettings,
    role: &str,
    cloud: &Cloud,
    setup: &Setup,
) -> Result<Setup, ConfigError> {
    let mut of_role = settings.clone();
    of_role.set("AWS_ACCESS_KEY_ID", cloud.key_of(role));
    let setup = settings.setup_of(role, cloud, setup.clock.clone())?;
    Ok(Setup { store: store_with_more_time(&of_role)?, ..setup })
}

/// A store whose calls have more time than in the product: a machine that runs many tests is slow, and a lost answer, which
/// may have taken effect, is to be a fault that a test has injected.
fn store_with_more_time(settings: &LocalSettings) -> Result<Store, ConfigError> {
    let settings = settings.settings();
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(Duration::from_secs(4))
        .operation_timeout(Duration::from_secs(9));
    let sdk = Aws::new(&settings)?.sdk().clone().into_builder();
    Ok(Store::new(
        &sdk.timeout_config(timeouts.build()).build(),
        settings.required("RECORDS_TABLE")?.to_owned(),
        settings.required("TRANSIENT_TABLE")?.to_owned(),
    ))
}

/// The setup of `settings`, with a [`store_with_more_time`].
fn morning() -> Clock {
    let clock = Clock::default();
    let now = clock.now();
    clock.advance(now.end_of_day().since(now) + Duration::from_hours(8));
    clock
}

fn own_setup(settings: &LocalSettings, clock: Clock) -> Setup {
    let setup = settings.setup(clock).expect("the settings are valid");
    Setup { store: store_with_more_time(settings).expect("the settings are valid"), ..setup }
}
