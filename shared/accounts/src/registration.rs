//! The setting `REGISTRATION`.

use std::str::FromStr;

use runtime::{ConfigError, Settings};

/// Whether people may register, and what verifies a new account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// Anyone; the mailbox verifies the account.
    Open,
    /// Anyone; an administrator verifies the account.
    Approval,
    /// No one.
    Closed,
}

impl Registration {
    /// Reads the setting `REGISTRATION`: `open` (the default), `approval` or `closed`.
    ///
    /// # Errors
    /// When it has another value.
    pub fn of(settings: &Settings) -> Result<Self, ConfigError> {
        settings.parse("REGISTRATION", "open")
    }

    /// Whether a code sent by mail verifies an account; otherwise only an administrator can verify it.
    pub fn mailbox_verifies(self) -> bool {
        self != Self::Approval
    }
}

impl FromStr for Registration {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "open" => Ok(Self::Open),
            "approval" => Ok(Self::Approval),
            "closed" => Ok(Self::Closed),
            _ => Err("must be open, approval or closed"),
        }
    }
}
