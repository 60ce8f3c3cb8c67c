//! User accounts, and their views in API responses.

mod views;

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

pub use self::views::{AccountWithCommittee, Card, EditableAccount, OwnAccount, SecretFields};

use crate::{
    CommitteeId, CountryCodes, E164, Email, Instant, Line, Name, Permissions, Phone, Profile,
    Recipient, UserId, ValueError, committee::Committee, folded, permissions::Rights,
};

/// Path of the default avatar.
pub const DEFAULT_AVATAR: &str = "/media/default.png";
/// Path prefix of avatars.
pub const MEDIA: &str = "/media/";

/// The S3 key of the avatar at `path`: the path without its leading slash.
pub fn avatar_key(path: &str) -> &str {
    path.trim_start_matches('/')
}

/// The fields of an account that its owner and administrators see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
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
}

/// An account as it is stored. Password and TOTP secrets are items of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// The fields that people see. The others are in no response.
    #[serde(flatten)]
    pub account: Account,
    /// How often the avatar has changed.
    pub avatar_number: u64,
    /// Number of changes, not counting `lastActive`; guards concurrent updates.
    pub version: u64,
    /// Sessions with another epoch are invalid; see [`Session`](crate::session::Session).
    pub epoch: u64,
    /// Whether a code sent to the phone number was entered.
    pub is_phone_verified: bool,
    /// Whether a code mailed to the account was used.
    pub is_mailbox_verified: bool,
    /// Whether an administrator took `is_verified` back: then only an administrator sets it again.
    pub is_verification_withdrawn: bool,
    /// SHA-256 of the code with which the owner of the mailbox removes an account that they did not register.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removal_code: Option<String>,
    /// When the account is erased unless its mailbox, or an administrator, verifies it before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unverified_until: Option<Instant>,
    /// Number of passkeys; see [`Passkey`](crate::passkey::Passkey).
    pub passkeys: u32,
    /// How often all passkeys were removed. Passkeys of an earlier number are invalid.
    pub passkey_series: u64,
    /// How often the limit of notifications of new devices has begun anew: with each reset, suspension, and with the first
    /// verification of the mailbox. So an attacker who used it up before is noticed afterwards.
    pub device_series: u64,
    /// A requested e-mail address that is not verified yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_email: Option<Email>,
    /// How the person was reached before the erasure, until it is complete: only their own contact details in courses are
    /// replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former_contact: Option<FormerContact>,
    /// When the account was erased; its personal data is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased_at: Option<Instant>,
}

/// The fields that people see are written as the others: `user.name`.
impl Deref for User {
    type Target = Account;

    fn deref(&self) -> &Account {
        &self.account
    }
}

impl DerefMut for User {
    fn deref_mut(&mut self) -> &mut Account {
        &mut self.account
    }
}

/// The contact details of a person whose account was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerContact {
    /// First and last name, folded.
    name: String,
    email: Email,
    phone: E164,
}

impl FormerContact {
    /// Whether `name` is the person's, in either order.
    pub fn is_named(&self, name: &Name) -> bool {
        let mut words: Vec<String> =
            folded(name.as_str()).split_whitespace().map(str::to_owned).collect();
        let mut own: Vec<&str> = self.name.split_whitespace().collect();
        words.sort();
        own.sort_unstable();
        words == own
    }

    /// Whether `email` is the person's.
    pub fn has_email(&self, email: &Email) -> bool {
        self.email == *email
    }

    /// Whether `phone` is the person's.
    pub fn has_phone(&self, phone: &E164) -> bool {
        self.phone == *phone
    }
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
        let account = Account {
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
        };
        Self {
            account,
            avatar_number: 0,
            version: 1,
            epoch: 1,
            is_phone_verified: false,
            is_mailbox_verified: false,
            is_verification_withdrawn: false,
            removal_code: None,
            unverified_until: None,
            passkeys: 0,
            passkey_series: 0,
            device_series: 0,
            pending_email: None,
            former_contact: None,
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

    /// Whether the account's `committee` is active. Super admins may act for one that is not.
    pub fn may_act_in(&self, committee: &Committee) -> bool {
        committee.is_active || self.profile == Profile::SuperAdmin
    }

    /// Applies `change`, and raises the version if anything differs.
    #[must_use]
    pub fn changed(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut after = self.clone();
        change(&mut after);
        if after != *self {
            after.version += 1;
        }
        after
    }

    /// Records that a code mailed to the account was used. Only the first one has an effect: it ends all sessions.
    /// With `verifies_account` the account becomes verified, unless an administrator took that back.
    pub fn verify_mailbox(&mut self, verifies_account: bool) {
        if self.is_mailbox_verified {
            return;
        }
        self.is_mailbox_verified = true;
        self.is_verified |= verifies_account && !self.is_verification_withdrawn;
        self.removal_code = None;
        self.unverified_until = None;
        self.epoch += 1;
        self.device_series += 1;
    }

    /// As [`verify_mailbox`](Self::verify_mailbox), by a code that signs in or sets a password. The person who registered
    /// the address need not own it, so the first such code also drops what they may have set: pending address, phone
    /// number and passkeys. The caller drops password and known devices.
    pub fn verify_mailbox_and_clear(&mut self, verifies_account: bool) {
        if self.is_mailbox_verified {
            return;
        }
        self.verify_mailbox(verifies_account);
        self.pending_email = None;
        self.set_phone(Phone::default());
        self.remove_passkeys();
    }

    /// Removes all passkeys, if there are any: the stored ones become invalid with this change of the account.
    pub fn remove_passkeys(&mut self) {
        if self.passkeys > 0 {
            self.passkeys = 0;
            self.passkey_series += 1;
        }
    }

    /// Sets `is_verified` as an administrator decided.
    pub fn set_verified(&mut self, is_verified: bool) {
        let was_verified = self.is_verified || self.is_verification_withdrawn;
        self.is_verification_withdrawn = was_verified && !is_verified;
        self.is_verified = is_verified;
        if is_verified {
            self.unverified_until = None;
        }
    }

    /// Ends all sessions and codes, after a change of password or a deactivation. Also drops a pending e-mail address,
    /// which an attacker may have requested.
    pub fn revoke_sessions(&mut self) {
        self.epoch += 1;
        self.pending_email = None;
    }

    /// As [`revoke_sessions`](Self::revoke_sessions), for an account that somebody else may have used: the number, which
    /// they may have set, must be verified again before it receives codes.
    pub fn recover(&mut self) {
        self.revoke_sessions();
        self.is_phone_verified = false;
        self.device_series += 1;
    }

    /// Whether the mailbox is the person's: they have proved it, or an administrator vouches for the account.
    pub fn is_vouched_for(&self) -> bool {
        self.is_mailbox_verified || self.is_verified
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
        let former_contact = FormerContact {
            name: folded(&format!("{} {}", self.name, self.last_name)),
            email: self.email.clone(),
            phone: E164::from(&self.phone),
        };
        let account = Account {
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
            ..self.account
        };
        Ok(Self {
            account,
            former_contact: Some(former_contact),
            version: self.version + 1,
            epoch: self.epoch + 1,
            is_phone_verified: false,
            removal_code: None,
            unverified_until: None,
            passkeys: 0,
            passkey_series: self.passkey_series + 1,
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
