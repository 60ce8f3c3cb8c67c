//! How long tokens and sessions live.

use std::time::Duration;

use domain::{Instant, session::Session, user::User};
use identity::token::Claims;
use runtime::{ConfigError, Settings};

/// How long tokens and sessions live, by the rules of most people and by the strict ones.
#[derive(Debug, Clone, Copy)]
pub struct Lives {
    usual: (Duration, Duration),
    strict: (Duration, Duration),
}

impl Lives {
    /// What `settings` say: `ACCESS_TOKEN_SECONDS` (43,200), `SESSION_DAYS` (30) and, for SA, CA and whoever
    /// has one-time passwords, `ACCESS_TOKEN_SECONDS_STRICT` (14,400), `SESSION_DAYS_STRICT` (7).
    ///
    /// # Errors
    /// When one of them is no whole number from 1 up.
    pub fn of(settings: &Settings) -> Result<Self, ConfigError> {
        Ok(Self {
            usual: (
                settings.seconds("ACCESS_TOKEN_SECONDS", 43_200)?,
                settings.days("SESSION_DAYS", 30)?,
            ),
            strict: (
                settings.seconds("ACCESS_TOKEN_SECONDS_STRICT", 14_400)?,
                settings.days("SESSION_DAYS_STRICT", 7)?,
            ),
        })
    }

    /// How long a token of `user` lives.
    pub fn token(&self, user: &User) -> Duration {
        if user.is_strict() {
            self.strict.0
        } else {
            self.usual.0
        }
    }

    /// How long a session of `user` lives.
    pub fn session(&self, user: &User) -> Duration {
        if user.is_strict() {
            self.strict.1
        } else {
            self.usual.1
        }
    }

    /// Whether the rules that hold for `user` now have ended what began under others: whoever was promoted
    /// lives under the strict ones at once.
    pub fn have_ended(
        &self,
        user: &User,
        session: &Session,
        claims: &Claims,
        now: Instant,
    ) -> bool {
        let issued = Instant::from_unix_milliseconds(claims.iat.saturating_mul(1000));
        now >= issued.after(self.token(user)) || now >= session.created_at.after(self.session(user))
    }
}
