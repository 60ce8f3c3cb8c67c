//! Signs in every few minutes as a client would, over the public URL: gateway, function, keys and tables all have
//! to work for it. A walk that fails fails the invocation, which an alarm watches, and by which a deployment goes
//! back by itself.

mod visit;

#[cfg(feature = "lambda")]
use runtime::Settings;
use runtime::{ConfigError, Error, Key, Keys, Startup};
use secrecy::{ExposeSecret, SecretString};
use serde::de::IgnoredAny;

pub use visit::{Reply, Visitor};

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::Canary];

/// What this function can do. Cloning shares it.
#[derive(Clone)]
pub struct Canary {
    visitor: Visitor,
    sign_in: SignIn,
}

/// The canary's account: a member without rights, at an address that no mail reaches
/// (<https://www.rfc-editor.org/rfc/rfc2606#section-2>) and that nobody can guess, so that nobody takes it first, or
/// has its sign-ins refused for too many failures.
#[derive(Clone)]
pub struct SignIn {
    /// Its address.
    pub email: String,
    /// Its password.
    pub password: SecretString,
}

impl SignIn {
    /// The one that stands among `keys`: address and password, a space between them.
    ///
    /// # Errors
    /// When there is none, or it reads otherwise.
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
    /// A canary for the URL that `CANARY_URL` names, with the prefix, and the account `CANARY_SIGN_IN`.
    ///
    /// # Errors
    /// When one of them is missing or makes no sense.
    #[cfg(feature = "lambda")]
    pub async fn start(settings: Settings) -> Result<Self, ConfigError> {
        Self::new(&Startup::read(settings, KEYS).await?)
    }

    /// The same from what was read already.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn new(startup: &Startup) -> Result<Self, ConfigError> {
        let missing = || ConfigError::new("CANARY_URL", "is missing");
        let url = startup.settings.url("CANARY_URL")?.ok_or_else(missing)?;
        Ok(Self {
            visitor: Visitor::new(startup.aws.clone(), url.to_owned()),
            sign_in: SignIn::of(&startup.keys)?,
        })
    }

    /// Walks once, whatever `_event` says.
    ///
    /// # Errors
    /// The first step that did not go as it should.
    pub async fn answer(self, _event: IgnoredAny) -> Result<(), Error> {
        Ok(self.walk().await?)
    }

    /// Asks for the health, signs in, is known, and signs out.
    ///
    /// # Errors
    /// The first step that did not go as it should, in a sentence.
    pub async fn walk(&self) -> Result<(), String> {
        self.visitor.get("/health").await?.must_be(200)?;
        let visitor = self.visitor.clone().signed_in(&self.sign_in).await?;
        visitor.get("/auth/check").await?.must_be(200)?;
        visitor
            .post("/auth/logout", &serde_json::json!({}))
            .await?
            .must_be(200)
    }
}
