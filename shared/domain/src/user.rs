//! User accounts, and their views in API responses.

use serde::{Deserialize, Serialize};

use crate::{
    CommitteeId, CountryCodes, Email, Instant, Line, Name, Permissions, Phone, Profile, UserId,
    ValueError, committee::Committee, login_activity::LoginActivity, outbox::Recipient,
    permissions::Rights,
};

/// Path of the default avatar.
pub const DEFAULT_AVATAR: &str = "/media/default.png";
/// Path prefix of avatars.
pub const MEDIA: &str = "/media/";

/// The S3 key of the avatar at `path`: the path without its leading slash.
pub fn avatar_key(path: &str) -> &str {
    path.trim_start_matches('/')
}

/// An account as it is stored. Password and TOTP secrets are items of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// The account's identifier.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// First name.
    pub name: Name,
    /// Last name.
    pub last_name: Name,
    /// Current e-mail address.
    pub email: Email,
    /// When the account was created.
    #[serde(rename = "DoC")]
    pub created_at: Instant,
    /// Path of the avatar, below `/media/`.
    pub avatar: String,
    /// Phone number, or two empty strings.
    #[serde(flatten)]
    pub phone: Phone,
    /// Whether the account can sign in.
    pub is_active: bool,
    /// Whether a mail code or an administrator verified the account.
    pub is_verified: bool,
    /// The account's profile, which gives its default rights.
    pub profile: Profile,
    /// A free label; gives no rights.
    pub role: Option<Line<64>>,
    /// Time of the last request, accurate to five minutes.
    pub last_active: Instant,
    /// Whether sign-in requires a one-time password.
    pub is_otp_enabled: bool,
    /// Always equal to `is_otp_enabled`.
    pub is_otp_verified: bool,
    /// The committee of the account.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// Rights in addition to those of the profile.
    pub permissions: Permissions,
    /// Number of changes, not counting `lastActive`; guards concurrent updates.
    pub version: u64,
    /// Sessions with another epoch are invalid; see [`Session`](crate::session::Session).
    pub epoch: u64,
    /// Whether a code sent to the phone number was entered.
    #[serde(default)]
    pub is_phone_verified: bool,
    /// A requested e-mail address that is not verified yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_email: Option<Email>,
    /// When the account was erased; its personal data is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_at: Option<Instant>,
}

impl User {
    /// A new account: an active, unverified member of `committee_id`.
    pub fn new(
        user_id: UserId,
        name: Name,
        last_name: Name,
        email: Email,
        committee_id: CommitteeId,
        now: Instant,
    ) -> Self {
        Self {
            user_id,
            name,
            last_name,
            email,
            created_at: now,
            avatar: DEFAULT_AVATAR.to_owned(),
            phone: Phone::default(),
            is_active: true,
            is_verified: false,
            profile: Profile::Member,
            role: None,
            last_active: now,
            is_otp_enabled: false,
            is_otp_verified: false,
            committee_id,
            permissions: Permissions::default(),
            version: 1,
            epoch: 1,
            is_phone_verified: false,
            pending_email: None,
            erased_at: None,
        }
    }

    /// The rights of the account.
    pub fn rights(&self) -> Rights {
        Rights {
            user_id: self.user_id,
            profile: self.profile,
            committee_id: self.committee_id,
            permissions: self.permissions.clone(),
        }
    }

    /// Applies `change`, and raises the version if anything differs.
    #[must_use]
    pub fn changed(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut after = self.clone();
        change(&mut after);
        after.version += u64::from(after != *self);
        after
    }

    /// Ends all sessions after a change of password. Also drops a pending e-mail address, which an attacker may have
    /// requested.
    pub fn revoke_sessions(&mut self) {
        self.epoch += 1;
        self.pending_email = None;
    }

    /// Whether this is an active, verified super admin; at least one must exist.
    pub fn is_active_verified_super_admin(&self) -> bool {
        self.is_active && self.is_verified && self.profile == Profile::SuperAdmin
    }

    /// Sets the phone number. A different number is unverified.
    pub fn set_phone(&mut self, phone: Phone) {
        self.is_phone_verified = self.is_phone_verified && self.phone == phone;
        self.phone = phone;
    }

    /// Recipient of a code requested by text message: the phone number if it is verified and of one of `countries`,
    /// else the mailbox. A verified number is a mobile one: others get no code to verify.
    pub fn text_recipient(&self, countries: &CountryCodes) -> Recipient {
        if self.is_phone_verified && countries.contain(&self.phone) {
            Recipient::Sms(self.phone.clone())
        } else {
            Recipient::Mail(self.email.clone())
        }
    }

    /// The account without personal data, erased at `now`. Identifier, profile and committee remain, and the avatar's
    /// path until its object is deleted. Parsing the replacement values does not fail in practice.
    pub fn erased(self, now: Instant) -> Result<Self, ValueError> {
        Ok(Self {
            name: "Compte".parse()?,
            last_name: "supprimé".parse()?,
            email: format!("{}@erased.invalid", self.user_id).parse()?,
            phone: Phone::default(),
            is_active: false,
            is_verified: false,
            role: None,
            is_otp_enabled: false,
            is_otp_verified: false,
            permissions: Permissions::default(),
            version: self.version + 1,
            epoch: self.epoch + 1,
            is_phone_verified: false,
            pending_email: None,
            erased_at: Some(now),
            ..self
        })
    }

    /// Whether sessions and tokens are short-lived: for administrators and for accounts with one-time passwords.
    pub fn is_strict(&self) -> bool {
        self.is_otp_enabled || self.profile.is_admin()
    }
}

/// An account as its owner and administrators see it: eighteen fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    #[serde(rename = "userID")]
    user_id: UserId,
    name: Name,
    last_name: Name,
    email: Email,
    #[serde(rename = "DoC")]
    created_at: Instant,
    avatar: String,
    #[serde(flatten)]
    phone: Phone,
    is_active: bool,
    is_verified: bool,
    profile: Profile,
    role: Option<Line<64>>,
    last_active: Instant,
    is_otp_enabled: bool,
    is_otp_verified: bool,
    #[serde(rename = "committeeID")]
    committee_id: CommitteeId,
    #[serde(rename = "Committee", skip_serializing_if = "Option::is_none")]
    committee: Option<Committee>,
    permissions: Permissions,
}

impl Account {
    /// The view of `user` with their `committee`.
    pub fn of(user: User, committee: Committee) -> Self {
        Self {
            committee: Some(committee),
            ..Self::listed(user)
        }
    }

    /// The view of `user` in lists: without the committee.
    pub fn listed(user: User) -> Self {
        Self {
            user_id: user.user_id,
            name: user.name,
            last_name: user.last_name,
            email: user.email,
            created_at: user.created_at,
            avatar: user.avatar,
            phone: user.phone,
            is_active: user.is_active,
            is_verified: user.is_verified,
            profile: user.profile,
            role: user.role,
            last_active: user.last_active,
            is_otp_enabled: user.is_otp_enabled,
            is_otp_verified: user.is_otp_verified,
            committee_id: user.committee_id,
            committee: None,
            permissions: user.permissions,
        }
    }
}

/// An account with its version, for administrators who may edit it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EditableAccount {
    /// The account.
    pub user: Account,
    /// The version that the next change must name.
    pub version: u64,
}

impl EditableAccount {
    /// The view of `user` with their `committee` and version.
    pub fn of(user: User, committee: Committee) -> Self {
        let version = user.version;
        Self {
            user: Account::of(user, committee),
            version,
        }
    }
}

/// An account as other members of the committee see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Card {
    #[serde(rename = "userID")]
    user_id: UserId,
    name: Name,
    last_name: Name,
    avatar: String,
    profile: Profile,
    is_active: bool,
    #[serde(rename = "committeeID")]
    committee_id: CommitteeId,
}

impl From<User> for Card {
    fn from(user: User) -> Self {
        Self {
            user_id: user.user_id,
            name: user.name,
            last_name: user.last_name,
            avatar: user.avatar,
            profile: user.profile,
            is_active: user.is_active,
            committee_id: user.committee_id,
        }
    }
}

/// The secret fields of an account's own view: a pending TOTP secret, or decoys. The active secret is never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MaskedSecrets {
    /// TOTP secret in hexadecimal.
    pub otp_hex: String,
    /// The secret as ASCII text.
    pub otp_ascii: String,
    /// The secret as an `otpauth://` URL.
    pub otp_auth_url: String,
    /// The secret in Base32.
    pub otp_base32: String,
    /// A decoy that is never accepted.
    pub passwordless_base32: String,
}

/// An account as its owner sees it after sign-in: all twenty-five fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnAccount {
    #[serde(flatten)]
    account: Account,
    #[serde(rename = "LoginActivity")]
    login_activity: Vec<LoginActivity>,
    #[serde(flatten)]
    secrets: MaskedSecrets,
    token: String,
}

impl OwnAccount {
    /// Most sign-ins in the view.
    pub const ACTIVITY: u16 = 10;

    /// The view of `account`. `login_activity` is newest first; `token` is `Bearer …`.
    pub fn new(
        account: Account,
        mut login_activity: Vec<LoginActivity>,
        secrets: MaskedSecrets,
        token: String,
    ) -> Self {
        login_activity.truncate(usize::from(Self::ACTIVITY));
        Self {
            account,
            login_activity,
            secrets,
            token,
        }
    }

    /// The value of the `Authorization` response header.
    pub fn token(&self) -> &str {
        &self.token
    }
}
