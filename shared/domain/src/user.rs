//! People, and the three ways in which they are shown.

use serde::{Deserialize, Serialize};

use crate::{
    CommitteeId, Email, Instant, Line, Name, Permissions, Phone, Profile, UserId, ValueError,
    committee::Committee, login_activity::LoginActivity, outbox::Recipient, permissions::Standing,
};

/// The avatar of a person who has not chosen one.
pub const DEFAULT_AVATAR: &str = "/media/default.png";
/// The folder of avatars in paths.
pub const MEDIA: &str = "/media/";

/// The key in the bucket of the avatar at `path`: the path without its first slash.
pub fn avatar_key(path: &str) -> &str {
    path.trim_start_matches('/')
}

/// A person's account, as it is stored: without secrets, which have an item of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Who.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// First name.
    pub name: Name,
    /// Last name.
    pub last_name: Name,
    /// The address in force.
    pub email: Email,
    /// When the account was made.
    #[serde(rename = "DoC")]
    pub created_at: Instant,
    /// A path below `/media/`.
    pub avatar: String,
    /// The number, or two empty texts.
    #[serde(flatten)]
    pub phone: Phone,
    /// Closed accounts have no way in.
    pub is_active: bool,
    /// Whether the mailbox was proved, or an administrator vouched.
    pub is_verified: bool,
    /// What the person is.
    pub profile: Profile,
    /// A free label without authority.
    pub role: Option<Line<64>>,
    /// When the person last did something, at most five minutes old.
    pub last_active: Instant,
    /// Whether signing in ends in the one-time password step.
    pub is_otp_enabled: bool,
    /// The same.
    pub is_otp_verified: bool,
    /// Where the person belongs.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// What was granted beyond the profile.
    pub permissions: Permissions,
    /// Counts the changes of the account, `lastActive` apart.
    pub version: u64,
    /// Sessions of another epoch are dead.
    pub epoch: u64,
    /// Whether a code that was sent to the number came back.
    #[serde(default)]
    pub is_phone_verified: bool,
    /// An address that was asked for and not proved yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_email: Option<Email>,
    /// When the account was erased: what is left is anonymous and nobody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_at: Option<Instant>,
}

impl User {
    /// An account that `user_id` opens at `now` in `committee_id`: an active member whom nobody has verified.
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

    /// What decides over this person's rights.
    pub fn standing(&self) -> Standing {
        Standing {
            user_id: self.user_id,
            profile: self.profile,
            committee_id: self.committee_id,
            permissions: self.permissions.clone(),
        }
    }

    /// The account as `change` makes it; of the next version, when that is another.
    #[must_use]
    pub fn changed(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut after = self.clone();
        change(&mut after);
        after.version += u64::from(after != *self);
        after
    }

    /// Ends all sessions for one whose owner has a new password, and with them what was asked for in one of them:
    /// an address that a thief would have comes into force no more.
    pub fn throw_out(&mut self) {
        self.epoch += 1;
        self.pending_email = None;
    }

    /// Whether this is one of those of whom one must remain.
    pub fn is_active_super_admin(&self) -> bool {
        self.is_active && self.profile == Profile::SuperAdmin
    }

    /// Gives the account another number, which nobody has proved yet unless it is the same.
    pub fn set_phone(&mut self, phone: Phone) {
        self.is_phone_verified = self.is_phone_verified && self.phone == phone;
        self.phone = phone;
    }

    /// Where a code goes that was asked for as a text message: to a number that was proved, else by mail.
    pub fn text_recipient(&self) -> Recipient {
        if self.is_phone_verified {
            Recipient::Sms(self.phone.clone())
        } else {
            Recipient::Mail(self.email.clone())
        }
    }

    /// What is left of a person who was erased at `now`: an identifier, a profile and a committee, and
    /// the avatar until its object was removed.
    ///
    /// # Errors
    /// None: every value is well formed.
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

    /// Whether the stricter rules hold: short sessions and tokens for those who run something,
    /// and for those who asked for a second factor.
    pub fn is_strict(&self) -> bool {
        self.is_otp_enabled || self.profile.is_admin()
    }
}

/// A person as himself and his administrators see him: eighteen fields.
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
    /// `user`, who belongs to `committee`.
    pub fn of(user: User, committee: Committee) -> Self {
        Self {
            committee: Some(committee),
            ..Self::listed(user)
        }
    }

    /// `user` as lists show him: without his committee.
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

/// A person as whoever may edit him sees him.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Editable {
    /// The account.
    pub user: Account,
    /// What guards the next change.
    pub version: u64,
}

impl Editable {
    /// `user`, who belongs to `committee`.
    pub fn of(user: User, committee: Committee) -> Self {
        let version = user.version;
        Self {
            user: Account::of(user, committee),
            version,
        }
    }
}

/// A person as other members of the committee see him.
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

/// The secrets that a person sees of himself. None of them opens anything: real ones are sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownSecrets {
    /// The one-time password secret in hexadecimal.
    pub otp_hex: String,
    /// The same as text.
    pub otp_ascii: String,
    /// The same as an `otpauth://` URL.
    pub otp_auth_url: String,
    /// The same in Base32.
    pub otp_base32: String,
    /// A decoy.
    pub passwordless_base32: String,
}

/// A person as he sees himself when he signs in: all twenty-five fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelfView {
    #[serde(flatten)]
    account: Account,
    #[serde(rename = "LoginActivity")]
    login_activity: Vec<LoginActivity>,
    #[serde(flatten)]
    secrets: ShownSecrets,
    token: String,
}

impl SelfView {
    /// At most this many sign-ins are shown.
    pub const ACTIVITY: u16 = 10;

    /// `account` with its last sign-ins, newest first, and `token`, which reads `Bearer …`.
    pub fn new(
        account: Account,
        mut login_activity: Vec<LoginActivity>,
        secrets: ShownSecrets,
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

    /// The value of the `Authorization` header that goes with this view.
    pub fn token(&self) -> &str {
        &self.token
    }
}
