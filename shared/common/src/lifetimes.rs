//! Lifetimes of access tokens and sessions.

use std::time::Duration;

use domain::{Instant, session::Session, user::User};
use identity::token::Claims;
use runtime::{ConfigError, Settings};

/// Lifetimes of access tokens and sessions, normal and strict.
#[derive(Debug, Clone, Copy)]
pub struct TokenLifetimes {
    normal: Lifetimes,
    strict: Lifetimes,
}

#[derive(Debug, Clone, Copy)]
struct Lifetimes {
    token: Duration,
    session: Duration,
}

impl TokenLifetimes {
    /// Reads `ACCESS_TOKEN_SECONDS` (default 43,200), `SESSION_DAYS` (30) and, for SA, CA and accounts with one-time
    /// passwords, `ACCESS_TOKEN_SECONDS_STRICT` (14,400) and `SESSION_DAYS_STRICT` (7).
    ///
    /// # Errors
    /// As [`Settings::number`].
    pub fn of(settings: &Settings) -> Result<Self, ConfigError> {
        Ok(Self {
            normal: Lifetimes {
                token: settings.seconds("ACCESS_TOKEN_SECONDS", 43_200)?,
                session: settings.days("SESSION_DAYS", 30)?,
            },
            strict: Lifetimes {
                token: settings.seconds("ACCESS_TOKEN_SECONDS_STRICT", 14_400)?,
                session: settings.days("SESSION_DAYS_STRICT", 7)?,
            },
        })
    }

    /// The lifetime of an access token of `user`.
    pub fn token(&self, user: &User) -> Duration {
        self.of_user(user).token
    }

    /// The lifetime of a session of `user`.
    pub fn session(&self, user: &User) -> Duration {
        self.of_user(user).session
    }

    fn of_user(&self, user: &User) -> &Lifetimes {
        if user.is_strict() { &self.strict } else { &self.normal }
    }

    /// Whether the token `claims` or `session` has exceeded the lifetime that applies to `user` at `now`. Lifetimes
    /// shorten at once when an account comes under the strict rules, by a promotion for example.
    pub fn are_exceeded(
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
