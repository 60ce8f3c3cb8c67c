//! The binary of two Lambda functions. `canary` signs in over the public URL every few minutes, which tests gateway,
//! functions, keys and tables: a failed check fails the invocation, which triggers an alarm. `pretraffic` invokes the
//! new versions of all functions before a deployment gives them traffic, and once a week deletes old versions.

mod aws_api;
mod old_versions;
mod pre_traffic;
mod versions;
mod visit;

use runtime::{ConfigError, Key, Keys, Startup};
#[cfg(feature = "lambda")]
use runtime::{Error, Settings};
use secrecy::{ExposeSecret, SecretString};
#[cfg(feature = "lambda")]
use serde_json::Value;
use serde_json::json;
#[cfg(feature = "lambda")]
use store::Setup;

pub use aws_api::AwsApi;
pub use pre_traffic::{CLAIM, HOOK_TIME, PreTraffic};
pub use visit::{HttpResponse, Visitor};

/// The keys that this function reads: the credentials of the canary's account, and the secret of the content network,
/// because a request without it is refused.
pub const KEYS: &[Key] = &[Key::Canary, Key::Edge];

/// The function that this process runs. Clones share it.
#[derive(Clone)]
pub enum Function {
    /// Calls the public URL, on a schedule.
    Canary(Canary),
    /// Checks a deployment, or deletes old versions.
    PreTraffic(PreTraffic),
}

impl Function {
    /// Reads the settings and keys. With the setting `NEW_VERSIONS` it is [`PreTraffic`], without it [`Canary`].
    ///
    /// # Errors
    /// As [`Startup::read`], [`Setup::new`], [`PreTraffic::new`] and [`Canary::new`].
    #[cfg(feature = "lambda")]
    pub async fn start(settings: Settings) -> Result<Self, ConfigError> {
        let startup = Startup::read(settings, KEYS).await?;
        match startup.settings.optional("NEW_VERSIONS") {
            Some(_) => PreTraffic::new(&Setup::new(startup)?).map(Self::PreTraffic),
            None => Canary::new(&startup).map(Self::Canary),
        }
    }

    /// Handles an invocation. The canary ignores the content of `event`.
    ///
    /// # Errors
    /// Those of [`Canary::check`] and [`PreTraffic::answer`].
    #[cfg(feature = "lambda")]
    pub async fn answer(self, event: Value) -> Result<(), Error> {
        match self {
            Self::Canary(canary) => Ok(canary.check().await?),
            Self::PreTraffic(hook) => Ok(hook.answer(&event).await?),
        }
    }
}

/// The client and account for the check.
#[derive(Clone)]
pub struct Canary {
    visitor: Visitor,
    sign_in: SignIn,
}

/// The canary's account: a member without rights. Its address is in a domain that receives no mail
/// (<https://www.rfc-editor.org/rfc/rfc2606#section-2>) and cannot be guessed, so that others can neither register it
/// first nor exhaust its sign-in attempts.
#[derive(Clone)]
pub struct SignIn {
    /// The mail address.
    pub email: String,
    /// The password.
    pub password: SecretString,
}

impl SignIn {
    /// Reads `CANARY_SIGN_IN` from `keys`: address and password, separated by a space.
    ///
    /// # Errors
    /// When the key is missing or contains no space.
    pub fn of(keys: &Keys) -> Result<Self, ConfigError> {
        let both = keys.secret(Key::Canary)?;
        let (email, password) = both.expose_secret().split_once(' ').ok_or_else(|| {
            ConfigError::new("CANARY_SIGN_IN", "must be an address, a space and a password")
        })?;
        Ok(Self { email: email.to_owned(), password: password.into() })
    }
}

impl Canary {
    /// The canary for the setting `CANARY_URL`, which includes the API prefix, the account of [`SignIn::of`] and the
    /// secret of the content network.
    ///
    /// # Errors
    /// When one of them is missing or invalid.
    pub fn new(startup: &Startup) -> Result<Self, ConfigError> {
        let url = startup.settings.required_url("CANARY_URL")?;
        let visitor = Visitor::new(startup.aws.clone(), url.to_owned());
        Ok(Self {
            visitor: visitor.with_edge_secret(&startup.keys)?,
            sign_in: SignIn::of(&startup.keys)?,
        })
    }

    /// Calls `/health`, signs in, reads a list, one of its courses, the account's files and a form that uploads a file, and
    /// signs out. The form is that of the same file for a day, because its request has the same `Idempotency-Key`.
    ///
    /// # Errors
    /// The first unexpected response or failed request, in one sentence.
    pub async fn check(&self) -> Result<(), String> {
        self.visitor.get("/health").await?.expect_status(200)?;
        let visitor = self.visitor.clone().signed_in(&self.sign_in).await?;
        visitor.get("/auth/check").await?.expect_status(200)?;
        let list = visitor.get("/courses/search-all").await?;
        list.expect_status(200)?;
        if let Some(id) = list.json()["courses"][0]["courseID"].as_str() {
            visitor.get(&format!("/courses/{id}")).await?.expect_status(200)?;
        }
        visitor.get("/files/my-files").await?.expect_status(200)?;
        let file = json!({ "name": "canary.txt", "contentType": "text/plain", "size": 1 });
        let uploader = visitor.clone().with("idempotency-key", "canary")?;
        let form = uploader.post("/files", &file).await?;
        // The committee that the account belongs to was deactivated, which is no failure.
        if form.code() != "COMMITTEE_INACTIVE_MESSAGE" {
            form.expect_status(201)?;
        }
        visitor.post("/auth/logout", &json!({})).await?.expect_status(200)
    }
}
