//! Keys of sessions, codes, second factors and passkeys.

use domain::{
    PasskeyId, SessionId, UserId,
    code::{Challenge, CodeKind},
};

use super::{Key, USER_PREFIX, hashed, records, transient};

pub(crate) fn session(user: UserId, sid: SessionId) -> Key {
    transient(format!("{USER_PREFIX}{user}"), &format!("{SESSION_PREFIX}{sid}"))
}

pub(crate) const SESSION_PREFIX: &str = "SESSION#";

pub(crate) fn code(kind: CodeKind, challenge: Challenge) -> Key {
    let pk = format!("CODE#{}#{}", kind.as_str(), challenge.id);
    match challenge.wanted_by {
        None => transient(pk, "CODE"),
        Some(user) => transient(pk, &format!("{PENDING_CODE_PREFIX}{user}")),
    }
}

pub(crate) const PENDING_CODE_PREFIX: &str = "CODE#";

pub(crate) fn otp(user: UserId) -> Key {
    records(format!("{USER_PREFIX}{user}"), "OTP")
}

/// List partition of the secrets that are sealed under the key `kid`.
pub(crate) fn sealed_under(kid: &str) -> String {
    format!("SEALED#{kid}")
}

pub(crate) fn enrolment(user: UserId) -> Key {
    transient(format!("{USER_PREFIX}{user}"), "ENROLMENT")
}

/// When the user last signed in from each device and each address range.
pub(crate) fn devices(user: UserId) -> Key {
    transient(format!("{USER_PREFIX}{user}"), "DEVICES")
}

pub(crate) fn step(id: SessionId) -> Key {
    transient(format!("STEP#{id}"), "STEP")
}

pub(crate) fn passkey(user: UserId, id: PasskeyId) -> Key {
    records(format!("{USER_PREFIX}{user}"), &format!("{PASSKEY_PREFIX}{id}"))
}

pub(crate) const PASSKEY_PREFIX: &str = "PASSKEY#";

/// The owner of a credential. Hashed, because its identifier may have 1,023 bytes.
pub(crate) fn passkey_owner(credential_id: &str) -> Key {
    records(format!("{PASSKEY_PREFIX}{}", hashed(credential_id)), "PASSKEY")
}

/// The challenge of a passkey: of the session that registers it, or of the token of the sign-in.
pub(crate) fn challenge(id: SessionId) -> Key {
    transient(format!("CHALLENGE#{id}"), "CHALLENGE")
}
