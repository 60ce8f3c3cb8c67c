//! Who may do what: the federation's table of rights as one pure function.

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{CommitteeId, Profile, UserId, ValueError};

/// A right that one person was given beyond the defaults of the profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grant {
    /// `courses:publish`
    CoursesPublish,
    /// `courses:write`
    CoursesWrite,
    /// `cpanel:read`
    CpanelRead,
    /// `cpanel:write`
    CpanelWrite,
    /// `sms:bulk`
    SmsBulk,
    /// `sms:send`
    SmsSend,
    /// `users:read`
    UsersRead,
}

impl Grant {
    /// All grants, in the alphabetical order in which they are written.
    pub const ALL: [Self; 7] = [
        Self::CoursesPublish,
        Self::CoursesWrite,
        Self::CpanelRead,
        Self::CpanelWrite,
        Self::SmsBulk,
        Self::SmsSend,
        Self::UsersRead,
    ];

    /// The grant as clients write it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::CoursesPublish => "courses:publish",
            Self::CoursesWrite => "courses:write",
            Self::CpanelRead => "cpanel:read",
            Self::CpanelWrite => "cpanel:write",
            Self::SmsBulk => "sms:bulk",
            Self::SmsSend => "sms:send",
            Self::UsersRead => "users:read",
        }
    }

    /// The right that the grant gives within the own committee (`cpanel:*`: in the whole service).
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

impl FromStr for Grant {
    type Err = ValueError;

    /// `Value` for a grant that does not exist.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::ALL
            .into_iter()
            .find(|grant| grant.code() == text)
            .ok_or(ValueError::Value)
    }
}

/// A person's grants. Written as a *string* that holds a sorted JSON array: `"[\"sms:send\"]"`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions(BTreeSet<Grant>);

impl Permissions {
    /// Whether `grant` is among them.
    pub fn has(&self, grant: Grant) -> bool {
        self.0.contains(&grant)
    }

    /// The grants, sorted.
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
        let quoted: Vec<String> = self
            .iter()
            .map(|grant| format!("\"{}\"", grant.code()))
            .collect();
        write!(out, "[{}]", quoted.join(","))
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
        let inner = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .ok_or_else(|| D::Error::custom("no list"))?;
        let grants = inner
            .split(',')
            .filter(|grant| !grant.is_empty())
            .map(|grant| grant.trim_matches('"').parse());
        grants
            .collect::<Result<_, ValueError>>()
            .map(Self)
            .map_err(|_| D::Error::custom("unknown grant"))
    }
}

/// Something that not everybody may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// See the card of other users.
    ReadCards,
    /// See the whole account of other users.
    ReadAccounts,
    /// Open, close and change other people's accounts.
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
    /// Send text messages to many.
    SendBulkSms,
    /// See what others sent, and who is not to be written to.
    ManageSms,
    /// Look at the hosting account.
    ReadPanel,
    /// Change the hosting account.
    WritePanel,
    /// Found and change committees.
    WriteCommittees,
    /// Read the audit of everything.
    ReadAudit,
}

/// How far a right goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Not at all.
    Nowhere,
    /// What is one's own.
    Own,
    /// All of the own committee.
    Committee,
    /// Everything.
    Everywhere,
}

/// What decides over a person's rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Whose they are.
    pub user_id: UserId,
    /// The profile.
    pub profile: Profile,
    /// The committee that the person belongs to.
    pub committee_id: CommitteeId,
    /// What was granted beyond the profile.
    pub permissions: Permissions,
}

impl Standing {
    /// How far `right` goes for this person: the profile's default, or what a grant adds to it.
    pub fn reach(&self, right: Right) -> Reach {
        let granted = self
            .permissions
            .iter()
            .map(|grant| reach_of_grant(grant, right))
            .max();
        default_reach(self.profile, right).max(granted.unwrap_or(Reach::Nowhere))
    }

    /// Whether `right` covers something of `owner` in `committee`. Rights end at the own committee: who moves
    /// to another one leaves what is his in the former.
    pub fn may(&self, right: Right, owner: UserId, committee: CommitteeId) -> bool {
        match self.reach(right) {
            Reach::Nowhere => false,
            Reach::Own => owner == self.user_id && committee == self.committee_id,
            Reach::Committee => committee == self.committee_id,
            Reach::Everywhere => true,
        }
    }

    /// Whether this person may change the account of `other` as an administrator: a super admin
    /// anybody's but his own; others those of the own committee with a lower profile *and* no
    /// grant for a right that they lack themselves, else a committee admin could take over an
    /// account that can do more.
    pub fn may_edit(&self, other: &Self) -> bool {
        let below = || {
            self.may(Right::ManageUsers, other.user_id, other.committee_id)
                && other.profile < self.profile
                && other
                    .permissions
                    .iter()
                    .all(|grant| self.reach(grant.right()) >= other.reach(grant.right()))
        };
        self.user_id != other.user_id && (self.profile == Profile::SuperAdmin || below())
    }

    /// Whether this person may pass on `grant`: only a right held by profile, and the hosting
    /// account's only as a super admin.
    pub fn may_grant(&self, grant: Grant) -> bool {
        default_reach(self.profile, grant.right()) >= Reach::Committee
    }
}

/// The table of rights: what each profile may by default.
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

/// What `grant` adds to `right`. Either grant for courses shows the committee's drafts.
fn reach_of_grant(grant: Grant, right: Right) -> Reach {
    let shows_drafts =
        matches!(grant, Grant::CoursesWrite | Grant::CoursesPublish) && right == Right::ReadDrafts;
    match grant {
        Grant::CpanelRead | Grant::CpanelWrite if grant.right() == right => Reach::Everywhere,
        _ if grant.right() == right || shows_drafts => Reach::Committee,
        _ => Reach::Nowhere,
    }
}

#[cfg(test)]
mod tests;
