//! Authorisation: rights, grants and the table that gives each profile its rights.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{CommitteeId, Profile, UserId, choice::choice};

choice! {
    /// A right that an account has in addition to those of its profile, in alphabetical order.
    Grant {
        /// Publish courses and return them to draft.
        CoursesPublish "courses:publish"
        /// Create, change and archive courses.
        CoursesWrite "courses:write"
        /// Read the hosting account.
        CpanelRead "cpanel:read"
        /// Change the hosting account.
        CpanelWrite "cpanel:write"
        /// Send batches of text messages.
        SmsBulk "sms:bulk"
        /// Send single text messages.
        SmsSend "sms:send"
        /// Read the accounts of other users.
        UsersRead "users:read"
    }
}

impl Grant {
    /// The right that the grant gives, limited to the account's committee except for `cpanel:*`.
    pub const fn right(self) -> Right {
        match self {
            Self::CoursesPublish => Right::PublishCourses,
            Self::CoursesWrite => Right::WriteCourses,
            Self::CpanelRead => Right::ReadPanel,
            Self::CpanelWrite => Right::WritePanel,
            Self::SmsBulk => Right::SendBulkSms,
            Self::SmsSend => Right::SendSms,
            Self::UsersRead => Right::ReadAccounts,
        }
    }
}

/// The grants of an account. Serialised as a *string* that contains a sorted JSON array: `"[\"sms:send\"]"`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions(BTreeSet<Grant>);

impl Permissions {
    /// Whether the account has `grant`.
    pub fn has(&self, grant: Grant) -> bool {
        self.0.contains(&grant)
    }

    /// The grants in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = Grant> {
        self.0.iter().copied()
    }
}

impl FromIterator<Grant> for Permissions {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        Self(grants.into_iter().collect())
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Permissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map(Self).map_err(D::Error::custom)
    }
}

/// An action that needs authorisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Read the cards of other users.
    ReadCards,
    /// Read the accounts of other users.
    ReadAccounts,
    /// Change, activate and deactivate the accounts of other users.
    ManageUsers,
    /// Read published courses.
    ReadPublished,
    /// Read courses that are not published.
    ReadDrafts,
    /// Create, change and archive courses.
    WriteCourses,
    /// Publish courses and return them to draft.
    PublishCourses,
    /// Send single text messages.
    SendSms,
    /// Send batches of text messages.
    SendBulkSms,
    /// Read messages that others sent, and manage opt-outs.
    ManageSms,
    /// Read the hosting account.
    ReadPanel,
    /// Change the hosting account.
    WritePanel,
    /// Create and change committees.
    WriteCommittees,
    /// Read the audit log.
    ReadAudit,
}

/// The objects that a right covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// None.
    Nowhere,
    /// Objects that the account owns.
    Own,
    /// All objects of the account's committee.
    Committee,
    /// All objects.
    Everywhere,
}

/// The rights of an account, computed from its identity, profile, committee and grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// The account.
    pub user_id: UserId,
    /// The account's profile.
    pub profile: Profile,
    /// The account's committee.
    pub committee_id: CommitteeId,
    /// Grants in addition to the profile.
    pub permissions: Permissions,
}

impl Rights {
    /// The reach of `right` for this account: the larger of the profile's default and what grants add.
    pub fn reach(&self, right: Right) -> Reach {
        let granted = self.permissions.iter().map(|grant| reach_of_grant(grant, right)).max();
        default_reach(self.profile, right).max(granted.unwrap_or(Reach::Nowhere))
    }

    /// Whether `right` covers an object of `owner` in `committee`. Owned objects only count in the account's present
    /// committee: after a move, objects in the former one are no longer covered.
    pub fn may(&self, right: Right, owner: UserId, committee: CommitteeId) -> bool {
        match self.reach(right) {
            Reach::Nowhere => false,
            Reach::Own => owner == self.user_id && committee == self.committee_id,
            Reach::Committee => committee == self.committee_id,
            Reach::Everywhere => true,
        }
    }

    /// Whether this account may change `other` as an administrator. A super admin may change all accounts but their
    /// own. Others need [`Right::ManageUsers`] over `other`, a higher profile, and at least the reach of each grant of
    /// `other`; otherwise a committee admin could take over an account with more rights.
    pub fn may_edit(&self, other: &Self) -> bool {
        let outranks = || {
            self.may(Right::ManageUsers, other.user_id, other.committee_id)
                && other.profile < self.profile
                && other
                    .permissions
                    .iter()
                    .all(|grant| self.reach(grant.right()) >= other.reach(grant.right()))
        };
        self.user_id != other.user_id && (self.profile == Profile::SuperAdmin || outranks())
    }

    /// Whether this account may give `grant` to others: its own profile, without grants, must cover the committee.
    /// `cpanel:*` can only be given by super admins.
    pub fn may_grant(&self, grant: Grant) -> bool {
        default_reach(self.profile, grant.right()) >= Reach::Committee
    }
}

/// The reach of each right by profile, without grants.
const fn default_reach(profile: Profile, right: Right) -> Reach {
    use Profile::{CommitteeAdmin, Member, SuperAdmin, Trainer};
    match (right, profile) {
        (_, SuperAdmin) | (Right::ReadPublished, _) => Reach::Everywhere,
        (Right::ReadCards, _) => Reach::Committee,
        (Right::ReadAccounts, Member) => Reach::Own,
        (Right::ReadAccounts, Trainer | CommitteeAdmin) => Reach::Committee,
        (Right::ReadDrafts | Right::WriteCourses | Right::PublishCourses, Trainer) => Reach::Own,
        (
            Right::ManageUsers
            | Right::ReadDrafts
            | Right::WriteCourses
            | Right::PublishCourses
            | Right::SendSms
            | Right::ManageSms
            | Right::ReadAudit,
            CommitteeAdmin,
        ) => Reach::Committee,
        _ => Reach::Nowhere,
    }
}

/// What `grant` adds to `right`. Both grants for courses also allow reading the committee's drafts.
fn reach_of_grant(grant: Grant, right: Right) -> Reach {
    let reads_drafts =
        matches!(grant, Grant::CoursesWrite | Grant::CoursesPublish) && right == Right::ReadDrafts;
    match grant {
        Grant::CpanelRead | Grant::CpanelWrite if grant.right() == right => Reach::Everywhere,
        _ if grant.right() == right || reads_drafts => Reach::Committee,
        _ => Reach::Nowhere,
    }
}

#[cfg(test)]
mod tests;
