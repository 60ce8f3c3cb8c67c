//! Keys of the search index.

use domain::{CourseId, Instant};

use super::{Key, publication_sort_key, records};

/// The search entry under `term` of a course that was first published at `published_at`.
pub(crate) fn entry(term: &str, published_at: Instant, id: CourseId) -> Key {
    records(term_partition(term), &format!("{AT_PREFIX}{}", publication_sort_key(published_at, id)))
}

pub(crate) const AT_PREFIX: &str = "AT#";

pub(crate) fn term_count(term: &str) -> Key {
    records(term_partition(term), "COUNT")
}

/// A stem has no `#`.
pub(crate) fn term_partition(term: &str) -> String {
    format!("WORD#{term}")
}
