//! Authentication method references (<https://www.rfc-editor.org/rfc/rfc8176>).

use serde::{Deserialize, Serialize};

/// Authentication methods. The values are those of RFC 8176, except `link` and `recovery`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// A password.
    Pwd,
    /// A one-time code of an authenticator app.
    Otp,
    /// A code sent by text message.
    Sms,
    /// A code or link sent by mail.
    Link,
    /// A recovery code.
    Recovery,
    /// A key whose possession was proved: a passkey.
    Pop,
    /// Several factors: a passkey whose authenticator verified the person.
    Mfa,
}
