//! The state of the hosting account, and the four UAPI functions that the service calls.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::LocalError;

/// The result of a UAPI function.
pub(super) enum UapiResult {
    /// Status 1, with this `data`.
    Done(Value),
    /// Status 0, with this text in the language of the account.
    Refused(String),
    /// Status 0, for an unknown module or function.
    Unknown(String),
}

impl UapiResult {
    pub(super) const fn outcome(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Refused(_) => "refused",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The error of a cPanel version without the function.
    pub(super) fn missing(module: &str, function: &str) -> Self {
        Self::Unknown(format!(
            "The system could not find the function “{function}” in the module “{module}”."
        ))
    }

    /// The result of `list_domains` when cPanel cannot read the account's file.
    pub(super) fn blank() -> Self {
        Self::Done(
            json!({ "main_domain": "", "addon_domains": [], "parked_domains": [], "sub_domains": [] }),
        )
    }
}

/// The account, and the file that it is kept in.
pub(super) struct Account {
    state: State,
    file: Option<PathBuf>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    main_domain: String,
    addon_domains: Vec<String>,
    parked_domains: Vec<String>,
    sub_domains: Vec<String>,
    databases: Vec<Database>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Database {
    engine: String,
    name: String,
    disk_usage_bytes: u64,
    users: Vec<String>,
}

impl Account {
    /// Opens the account in `folder` or creates it; without a folder it is kept in memory only.
    pub(super) fn open(folder: Option<&Path>) -> Result<Self, LocalError> {
        let file = folder.map(|folder| folder.join("cpanel.json"));
        let Some(path) = file.clone() else {
            return Ok(Self { state: State::new(), file });
        };
        let unusable = |problem: &dyn std::fmt::Display| {
            LocalError::new(format!(
                "The hosting account in {} cannot be used: {problem}. Move the file away to create a new one.",
                path.display()
            ))
        };
        if !path.exists() {
            let account = Self { state: State::new(), file };
            account.save(&account.state).map_err(|error| unusable(&error))?;
            return Ok(account);
        }
        let text = fs::read_to_string(&path).map_err(|error| unusable(&error))?;
        Ok(Self { state: serde_json::from_str(&text).map_err(|error| unusable(&error))?, file })
    }

    pub(super) fn shown(&self) -> Value {
        json!(self.state)
    }

    pub(super) fn answer(
        &mut self,
        module: &str,
        function: &str,
        parameters: &Map<String, Value>,
    ) -> UapiResult {
        match (module, function) {
            ("DomainInfo", "list_domains") => self.list_domains(),
            ("SubDomain", "addsubdomain") => self.add_subdomain(parameters),
            ("Mysql", "list_databases") => self.list_databases("mysql"),
            ("Postgresql", "list_databases") => self.list_databases("postgresql"),
            ("DomainInfo" | "SubDomain" | "Mysql" | "Postgresql", _) => {
                UapiResult::missing(module, function)
            }
            _ => UapiResult::Unknown(format!("Failed to load module “{module}”.")),
        }
    }

    fn list_domains(&self) -> UapiResult {
        UapiResult::Done(json!({
            "main_domain": self.state.main_domain,
            "addon_domains": self.state.addon_domains,
            "parked_domains": self.state.parked_domains,
            "sub_domains": self.state.sub_domains,
        }))
    }

    fn list_databases(&self, engine: &str) -> UapiResult {
        let of_engine = self.state.databases.iter().filter(|database| database.engine == engine);
        let shown = |one: &Database| json!({ "database": one.name, "disk_usage": one.disk_usage_bytes, "users": one.users });
        UapiResult::Done(of_engine.map(shown).collect())
    }

    /// Error texts are in French, the language of the account.
    fn add_subdomain(&mut self, parameters: &Map<String, Value>) -> UapiResult {
        let text = |name: &str| {
            parameters.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
        };
        let (Some(domain), Some(root)) = (text("domain"), text("rootdomain")) else {
            return UapiResult::Refused(
                "Vous devez fournir « domain » et « rootdomain ».".to_owned(),
            );
        };
        if !domain.split('.').all(is_label) {
            return UapiResult::Refused(format!(
                "« {domain} » n’est pas un nom de sous-domaine valide."
            ));
        }
        if !self.state.roots().any(|own| own == root) {
            return UapiResult::Refused(format!("Vous ne contrôlez pas le domaine « {root} »."));
        }
        let fqdn = format!("{domain}.{root}");
        if self
            .state
            .roots()
            .chain(self.state.sub_domains.iter().map(String::as_str))
            .any(|own| own == fqdn)
        {
            return UapiResult::Refused(format!(
                "Le domaine « {fqdn} » existe déjà dans la configuration."
            ));
        }
        let mut state = self.state.clone();
        state.sub_domains.push(fqdn);
        state.sub_domains.sort();
        if let Err(error) = self.save(&state) {
            return UapiResult::Refused(format!(
                "La configuration n’a pas pu être écrite : {error}."
            ));
        }
        self.state = state;
        UapiResult::Done(Value::Null)
    }

    /// Writes a new file and renames it, so that an interrupted write leaves the old one intact.
    fn save(&self, state: &State) -> std::io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let temporary = file.with_extension("json.new");
        fs::write(&temporary, serde_json::to_string_pretty(state)?)?;
        fs::rename(&temporary, file)
    }
}

impl State {
    fn new() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let database = |engine: &str, name: &str, disk_usage_bytes, user: &str| Database {
            engine: engine.to_owned(),
            name: name.to_owned(),
            disk_usage_bytes,
            users: vec![user.to_owned()],
        };
        Self {
            main_domain: "formation.example.org".to_owned(),
            addon_domains: names(&["comites.example.org"]),
            parked_domains: names(&["formation.example.net"]),
            // cPanel creates a subdomain of the main domain for each addon domain.
            sub_domains: names(&[
                "blog.formation.example.org",
                "comites.formation.example.org",
                "intranet.comites.example.org",
            ]),
            databases: vec![
                database("mysql", "formation_forum", 7_340_032, "formation_forum"),
                database("mysql", "formation_site", 48_234_496, "formation_web"),
                database("postgresql", "formation_stats", 12_582_912, "formation_stats"),
            ],
        }
    }

    fn roots(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.main_domain)
            .chain(&self.addon_domains)
            .chain(&self.parked_domains)
            .map(String::as_str)
    }
}

fn is_label(label: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&label.len())
        && label.bytes().all(plain)
        && !label.starts_with('-')
        && !label.ends_with('-')
}
