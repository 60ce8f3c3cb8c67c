//! Views of accounts in API responses.

use serde::{Deserialize, Serialize};

use crate::{
    CommitteeId, Name, Profile, UserId,
    committee::Committee,
    login_activity::LoginActivity,
    user::{Account, User},
};

/// An account with its committee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccountWithCommittee {
    #[serde(flatten)]
    account: Account,
    #[serde(rename = "Committee")]
    committee: Committee,
}

impl AccountWithCommittee {
    /// The view of `user`.
    pub fn of(user: User, committee: Committee) -> Self {
        Self { account: user.account, committee }
    }
}

/// An account with its version, for administrators who may edit it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EditableAccount {
    /// The account.
    pub user: AccountWithCommittee,
    /// The version that the next change must name.
    pub version: u64,
}

impl EditableAccount {
    /// The view of `user` with their `committee` and version.
    pub fn of(user: User, committee: Committee) -> Self {
        let version = user.version;
        Self { user: AccountWithCommittee::of(user, committee), version }
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
        let Account { user_id, name, last_name, avatar, profile, is_active, committee_id, .. } =
            user.account;
        Self { user_id, name, last_name, avatar, profile, is_active, committee_id }
    }
}

/// The secret fields of an account's own view: a pending TOTP secret, or decoys. The active secret is never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretFields {
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
    account: AccountWithCommittee,
    #[serde(rename = "LoginActivity")]
    login_activity: Vec<LoginActivity>,
    #[serde(flatten)]
    secrets: SecretFields,
    token: String,
}

impl OwnAccount {
    /// Most sign-ins in the view.
    pub const ACTIVITY: u16 = 10;

    /// The view of `account`. `login_activity` is newest first; `token` is `Bearer …`.
    pub fn new(
        account: AccountWithCommittee,
        mut login_activity: Vec<LoginActivity>,
        secrets: SecretFields,
        token: String,
    ) -> Self {
        login_activity.truncate(usize::from(Self::ACTIVITY));
        // The fields of this view are fixed: how the person signed in is in `GET /users/activity`.
        for sign_in in &mut login_activity {
            sign_in.amr.clear();
        }
        Self { account, login_activity, secrets, token }
    }

    /// The value of the `Authorization` response header.
    pub fn token(&self) -> &str {
        &self.token
    }
}
