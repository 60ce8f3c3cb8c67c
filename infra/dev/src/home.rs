//! The local state that is kept between starts: the data folder, the keys and the first administrator.

use std::{
    collections::HashMap,
    fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use domain::{CommitteeId, Email, Instant, Profile, UserId, committee::Committee, user::User};
use identity::{NamedKey, password::Hasher, random, token::PublicKey};
use runtime::{Aws, Clock, ConfigError, Settings, Startup};
use secrecy::{ExposeSecret, SecretString};
use store::{NewUser, Setup};

use cloud::{Cloud, LocalError};

/// The keys that are stored in the data folder.
const KEYS: [&str; 7] = [
    "TOKEN_PUBLIC_KEYS",
    "TOKEN_SIGNING_KEY",
    "SEALING_KEYS",
    "CURSOR_KEYS",
    "OUTBOX_KEYS",
    "EDGE_SECRETS",
    "CANARY_SIGN_IN",
];

/// The settings of one process: its environment, the endpoints of the local cloud, and the keys.
#[derive(Clone, Default)]
pub struct LocalSettings(HashMap<String, String>);

impl LocalSettings {
    /// The environment variables of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "a development tool reads its own environment, once"
    )]
    pub fn of_environment() -> Self {
        Self(std::env::vars().collect())
    }

    /// Sets `name` to `value`.
    pub fn set(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Sets `name` to `value`, or removes it for `None`.
    pub fn set_or_unset(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.set(name, value),
            None => self.unset(name),
        }
    }

    /// Removes `name`.
    pub fn unset(&mut self, name: &str) -> &mut Self {
        self.0.remove(name);
        self
    }

    /// Sets `name` to `value` if it is not set.
    pub fn set_default(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.0.entry(name.to_owned()).or_insert_with(|| value.into());
        self
    }

    /// Sets the endpoints and credentials of `cloud`.
    pub fn with_endpoints_of(&mut self, cloud: &Cloud) -> &mut Self {
        for (name, value) in cloud.settings() {
            self.set(name, value);
        }
        // A custom panel comes with its own user and token.
        if self.get("CPANEL_URL").is_none() {
            for (name, value) in cloud.uapi().settings() {
                self.set_default(name, value);
            }
        }
        self
    }

    /// Sets new random keys.
    pub fn with_new_keys(&mut self) -> &mut Self {
        let signing = NamedKey::generate("local");
        self.set("TOKEN_PUBLIC_KEYS", PublicKey::of(&signing).to_string());
        self.set("TOKEN_SIGNING_KEY", signing.to_setting());
        for name in ["SEALING_KEYS", "CURSOR_KEYS", "OUTBOX_KEYS", "EDGE_SECRETS"] {
            self.set(name, NamedKey::generate("local").to_setting());
        }
        let password = NamedKey::generate("local").to_setting();
        self.set("CANARY_SIGN_IN", format!("canary@halqa.invalid {password}"))
    }

    /// Sets the keys stored in `folder`. Missing ones are created first, in a file that only the owner can read.
    ///
    /// # Errors
    /// When the folder cannot be written, or the file is damaged.
    pub fn with_keys_of(&mut self, folder: &Path) -> Result<&mut Self, LocalError> {
        let file = folder.join("keys.json");
        let unusable = |what: &dyn std::fmt::Display| {
            LocalError::new(format!(
                "The keys in {} cannot be used: {what}. Move the file away to create new ones.",
                file.display()
            ))
        };
        // Fills in keys that an older file does not have.
        self.with_new_keys();
        if file.exists() {
            let text = fs::read_to_string(&file).map_err(|error| unusable(&error))?;
            let keys: HashMap<String, String> =
                serde_json::from_str(&text).map_err(|error| unusable(&error))?;
            let is_complete = KEYS.iter().all(|name| keys.contains_key(*name));
            self.0.extend(keys);
            if is_complete {
                return Ok(self);
            }
        }
        let keys: HashMap<&str, String> =
            KEYS.into_iter().filter_map(|name| Some((name, self.get(name)?))).collect();
        let text = serde_json::to_string_pretty(&keys).map_err(|error| unusable(&error))?;
        write_private(&file, &text).map_err(|error| unusable(&error))?;
        Ok(self)
    }

    /// Writes the settings that other processes need to use `cloud` to `environment` in `folder`, as lines of
    /// `NAME='value'`: `cargo lambda watch` reads no `+` and no `=` without quotes. Only the owner can read the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_environment(&self, cloud: &Cloud, folder: &Path) -> Result<(), LocalError> {
        let file = folder.join("environment");
        let unwritable =
            |error| LocalError::new(format!("{} cannot be written: {error}.", file.display()));
        let of_cloud = cloud.settings().into_iter().map(|(name, _)| name);
        let of_panel = cloud.uapi().settings().into_iter().map(|(name, _)| name);
        let names = of_cloud.chain(of_panel).chain(KEYS).chain(["PUBLIC_URL"]);
        let lines: String =
            names.filter_map(|name| Some(format!("{name}='{}'\n", self.get(name)?))).collect();
        write_private(&file, &lines).map_err(unwritable)
    }

    /// The value of `name`, if set.
    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// Address and password of the first super admin: `LOCAL_ADMIN_EMAIL` and `LOCAL_ADMIN_PASSWORD`, or their defaults.
    pub fn administrator(&self) -> [String; 2] {
        let or = |name: &str, default: &str| self.get(name).unwrap_or_else(|| default.to_owned());
        [
            or("LOCAL_ADMIN_EMAIL", "admin@example.org"),
            or("LOCAL_ADMIN_PASSWORD", "local-admin-passphrase"),
        ]
    }

    /// All settings, for a child process.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }

    /// The setup of the function `role`, with an access key of its own for `cloud`. The functions that make presigned
    /// forms and links have another one for S3, because its id is public.
    ///
    /// # Errors
    /// When a setting is missing or invalid.
    pub fn setup_of(&self, role: &str, cloud: &Cloud, clock: Clock) -> Result<Setup, ConfigError> {
        let mut settings = self.clone();
        settings.set("AWS_ACCESS_KEY_ID", cloud.key_of(role));
        let mut setup = Setup::new(Startup::of_settings(settings.settings(), clock)?)?;
        if ["files", "registrations", "users"].contains(&role) {
            for (name, value) in cloud.files_key_of(role) {
                settings.set(name, value);
            }
            setup.aws = Aws::new(&settings.settings())?;
        }
        Ok(setup)
    }

    /// The setup that all functions share.
    ///
    /// # Errors
    /// When a setting is missing or invalid.
    pub fn setup(&self, clock: Clock) -> Result<Setup, LocalError> {
        Ok(Setup::new(Startup::of_settings(self.settings(), clock)?)?)
    }

    /// The settings in the type that functions read.
    pub fn settings(&self) -> Settings {
        self.0.clone().into_iter().collect()
    }
}

/// Writes a file that only the owner can read. It is a new one, because an existing one may have wider permissions.
fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let _ = fs::remove_file(file);
    let mut options = fs::OpenOptions::new();
    let mut opened = options.write(true).create_new(true).mode(0o600).open(file)?;
    opened.write_all(text.as_bytes())
}

/// Whether `folder` has a local database.
pub fn is_used(folder: &Path) -> bool {
    folder.join("dynamodb.sqlite").is_file()
}

/// Creates the data folder.
///
/// # Errors
/// When the folder cannot be written.
pub fn make_folder(folder: &Path) -> Result<(), LocalError> {
    let unwritable = |error| {
        LocalError::new(format!(
            "The data folder {} cannot be written: {error}. Set DATA_DIR to another one.",
            folder.display()
        ))
    };
    // It contains password hashes, so only the owner has access.
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unwritable)?;
    let probe = folder.join(".writable");
    fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)).map_err(unwritable)
}

/// Deletes the data folder with all that is in it. An absent folder is no error.
///
/// # Errors
/// When the folder has no local database, so that a wrong `DATA_DIR` deletes nothing else, or cannot be deleted.
pub fn delete_folder(folder: &Path) -> Result<(), LocalError> {
    if !folder.exists() {
        return Ok(());
    }
    if !is_used(folder) {
        return Err(LocalError::new(format!(
            "{} is not a data folder of `cargo dev`: it has no dynamodb.sqlite. Nothing was deleted.",
            folder.display()
        )));
    }
    fs::remove_dir_all(folder).map_err(|error| {
        LocalError::new(format!("{} cannot be deleted: {error}.", folder.display()))
    })
}

/// Creates the first committee and super admin, unless the address has an account or a super admin existed before.
///
/// # Errors
/// When the address is invalid, or the password is too weak for an administrator.
pub async fn bootstrap(
    setup: &Setup,
    admin_email: &str,
    admin_password: &SecretString,
) -> Result<(), LocalError> {
    let min_length = setup.settings.number("PASSWORD_MIN_LENGTH_ADMIN", 15)?;
    let weak = |_| {
        LocalError::new(format!(
            "The setting LOCAL_ADMIN_PASSWORD must have {min_length} to 128 characters and not be a common password."
        ))
    };
    domain::password::check(admin_password.expose_secret(), min_length, None).map_err(weak)?;
    let email: Email = admin_email.parse().map_err(|_| {
        LocalError::new("The setting LOCAL_ADMIN_EMAIL is not a valid e-mail address.")
    })?;
    let now = setup.clock.now();
    if setup.store.email_owner(&email).await?.is_some() {
        return Ok(());
    }
    let committee = first_committee(&email, now)?;
    let password_hash = Hasher::default()
        .hash(admin_password)
        .await
        .map_err(|error| LocalError::new(error.to_string()))?;
    let user = first_admin(email, committee.committee_id, now)?;
    // Does nothing if the folder has an administrator with another address.
    setup
        .store
        .bootstrap(&committee, &NewUser { user, password_hash }, setup.store.transaction())
        .await?;
    Ok(())
}

fn first_committee(email: &Email, now: Instant) -> Result<Committee, LocalError> {
    let malformed = |_| LocalError::new("The first committee is malformed.");
    Ok(Committee {
        committee_id: CommitteeId::new(random::id(now)),
        name_arabe: "الجامعة الوطنية للتكوين".parse().map_err(malformed)?,
        name_latin: "Fédération nationale de la formation".parse().map_err(malformed)?,
        r#type: "NATIONAL".parse().map_err(malformed)?,
        date_of_est: "1956-03-20".parse().map_err(malformed)?,
        vat: String::new(),
        address: String::new(),
        region: "Tunis".parse().map_err(malformed)?,
        city: "Tunis".parse().map_err(malformed)?,
        postal_code: 1000,
        is_active: true,
        primary_email: email.clone(),
        secondary_email: None,
        primary_phone: "+21671123456".parse().map_err(malformed)?,
        secondary_phone: String::new(),
    })
}

fn first_admin(email: Email, committee_id: CommitteeId, now: Instant) -> Result<User, LocalError> {
    let malformed = |_| LocalError::new("The first administrator is malformed.");
    let (name, last_name) =
        ("Super".parse().map_err(malformed)?, "Admin".parse().map_err(malformed)?);
    let id = UserId::new(random::id(now));
    let mut admin = User::new(id, name, last_name, email, committee_id, now);
    admin.profile = Profile::SuperAdmin;
    admin.is_verified = true;
    admin.is_mailbox_verified = true;
    Ok(admin)
}
