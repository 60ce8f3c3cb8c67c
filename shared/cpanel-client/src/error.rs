//! The errors of calls to cPanel.

use std::fmt;

/// Why a panel request failed. The texts are for logs, not for clients, and contain no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelError {
    /// cPanel refused user and token with this status, 401 or 403.
    Auth(u16),
    /// No connection could be opened, so no request was sent.
    Unreachable(String),
    /// The request was or may have been sent, and the connection ended without a response.
    ConnectionLost(String),
    /// The request was or may have been sent, and no response arrived in time.
    TimedOut,
    /// cPanel reported an error (`status` 0), with its text in the language of the account.
    Refused(String),
    /// The response has another status than 200, is malformed, or is too long.
    Malformed(String),
}

impl fmt::Display for PanelError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auth(status) => write!(out, "cPanel refuses user and token with status {status}"),
            Self::Unreachable(cause) => write!(out, "cPanel cannot be reached: {cause}"),
            Self::ConnectionLost(cause) => {
                write!(out, "cPanel ended the connection without a response: {cause}")
            }
            Self::TimedOut => out.write_str("cPanel did not respond in time"),
            Self::Refused(cause) => write!(out, "cPanel reported an error: {cause}"),
            Self::Malformed(cause) => write!(out, "cPanel's response is malformed: {cause}"),
        }
    }
}

impl std::error::Error for PanelError {}
