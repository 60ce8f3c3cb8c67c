//! The Lambda function `canary`: signs in over the public URL every few minutes, which tests gateway, functions, keys
//! and tables. A failed check fails the invocation, which triggers an alarm and rolls a deployment back.

mod visit;

#[cfg(feature = "lambda")]
use runtime::Settings;
use runtime::{ConfigError, Error, Key, Keys, Startup};
use secrecy::{ExposeSecret, SecretString};
use serde::de::IgnoredAny;

pub use visit::{HttpResponse, Visitor};

/// The keys that this function reads: the credentials of the canary's account.
pub const KEYS: &[Key] = &[Key::Canary];

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
            ConfigError::new(
                "CANARY_SIGN_IN",
                "must be an address, a space and a password",
            )
        })?;
        Ok(Self {
            email: email.to_owned(),
            password: password.into(),
        })
    }
}

impl Canary {
    /// Reads the settings and the key, then creates the canary as [`new`](Self::new) does.
    ///
    /// # Errors
    /// As [`Startup::read`] and [`new`](Self::new).
    #[cfg(feature = "lambda")]
    pub async fn start(settings: Settings) -> Result<Self, ConfigError> {
        Self::new(&Startup::read(settings, KEYS).await?)
    }

    /// The canary for the setting `CANARY_URL`, which includes the API prefix, and the account of [`SignIn::of`].
    ///
    /// # Errors
    /// When one of them is missing or invalid.
    pub fn new(startup: &Startup) -> Result<Self, ConfigError> {
        let missing = || ConfigError::new("CANARY_URL", "is missing");
        let url = startup.settings.url("CANARY_URL")?.ok_or_else(missing)?;
        Ok(Self {
            visitor: Visitor::new(startup.aws.clone(), url.to_owned()),
            sign_in: SignIn::of(&startup.keys)?,
        })
    }

    /// Handles an invocation by calling [`check`](Self::check). The content of the event is ignored.
    ///
    /// # Errors
    /// That of [`check`](Self::check).
    pub async fn answer(self, _event: IgnoredAny) -> Result<(), Error> {
        Ok(self.check().await?)
    }

    /// Calls `/health`, `/auth/login`, `/auth/check` and `/auth/logout`.
    ///
    /// # Errors
    /// The first unexpected response or failed request, in one sentence.
    pub async fn check(&self) -> Result<(), String> {
        self.visitor.get("/health").await?.expect_status(200)?;
        let visitor = self.visitor.clone().signed_in(&self.sign_in).await?;
        visitor.get("/auth/check").await?.expect_status(200)?;
        visitor
            .post("/auth/logout", &serde_json::json!({}))
            .await?
            .expect_status(200)
    }
}
