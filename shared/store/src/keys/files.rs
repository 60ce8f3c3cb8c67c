//! The keys of files.

use domain::{FileId, UserId};

use super::{IndexKey, Key, LISTING, USER_PREFIX, records};

pub(crate) fn file(id: FileId) -> Key {
    records(format!("{FILE_PREFIX}{id}"), "FILE")
}

pub(crate) const FILE_PREFIX: &str = "FILE#";

/// List partition of a user's files; their identifiers sort by time.
pub(crate) fn files_of(user: UserId) -> String {
    format!("{USER_PREFIX}{user}#FILES")
}

pub(crate) fn file_index_key(user: UserId, id: FileId) -> IndexKey {
    IndexKey { index: &LISTING, pk: files_of(user), sk: id.to_string() }
}

pub(crate) fn usage(user: UserId) -> Key {
    records(format!("{USER_PREFIX}{user}"), "USAGE")
}

/// The list in the index `due` of pending uploads and deleted files.
pub const FILES_DUE: &str = "FILES";
