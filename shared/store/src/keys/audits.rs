//! The keys of audit entries.

use domain::{CommitteeId, UserId};

use super::{IndexKey, Key, LISTING, USER_PREFIX, records};

pub(crate) fn audit_of_committee(committee: CommitteeId, id: &str) -> Key {
    records(format!("AUDIT#{committee}"), &format!("{AUDIT_PREFIX}{id}"))
}

pub(crate) fn audit_of_person(user: UserId, id: &str) -> Key {
    records(format!("{USER_PREFIX}{user}"), &format!("{AUDIT_PREFIX}{id}"))
}

pub(crate) const AUDIT_PREFIX: &str = "AUDIT#";

/// The list of the audit entries of all committees, in shards.
pub(crate) const AUDIT: &str = "AUDIT";

/// List partition of the audit entries of `committee` that have `user` as actor or target.
pub(crate) fn audit_of_person_in(user: UserId, committee: CommitteeId) -> String {
    format!("{USER_PREFIX}{user}#AUDIT#{committee}")
}

/// The key of the entry `id` in the list partition `pk`.
pub(crate) fn audit_index_key(pk: String, id: &str) -> IndexKey {
    IndexKey { index: &LISTING, pk, sk: id.to_owned() }
}
