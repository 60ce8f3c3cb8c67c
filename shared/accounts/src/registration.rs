//! Who may open an account.

use std::str::FromStr;

use runtime::{ConfigError, Settings};

/// Who may open an account, and what verifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// Anyone; the mailbox verifies the account.
    Open,
    /// Anyone; an administrator verifies the account.
    Approval,
    /// Registration is refused.
    Closed,
}

impl Registration {
    /// What the setting `REGISTRATION` says: `open` (the default), `approval` or `closed`.
    ///
    /// # Errors
    /// When it is another word.
    pub fn of(settings: &Settings) -> Result<Self, ConfigError> {
        settings.parse("REGISTRATION", "open")
    }

    /// Whether a code that came by mail verifies an account; otherwise an administrator alone does.
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
