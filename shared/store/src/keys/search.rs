//! Keys of the search index, and its versions.

use domain::{CourseId, Instant, Word, course::CourseSummary};
use serde::{Deserialize, Serialize};

use super::{Key, publication_sort_key, records};

/// A version of the search index: which terms of a word have entries. A change of them, of the stemmer too, is another
/// version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub(crate) enum IndexVersion {
    /// The folded words.
    #[default]
    Words,
    /// The stems of the words.
    Stems,
}

impl From<u8> for IndexVersion {
    /// A later version than this code knows is read as the current one: after a return to this code, searches use
    /// what it writes.
    fn from(number: u8) -> Self {
        if number <= 1 { Self::Words } else { Self::Stems }
    }
}

impl From<IndexVersion> for u8 {
    fn from(version: IndexVersion) -> Self {
        match version {
            IndexVersion::Words => 1,
            IndexVersion::Stems => 2,
        }
    }
}

impl IndexVersion {
    pub(crate) const ALL: [Self; 2] = [Self::Words, Self::Stems];
    pub(crate) const CURRENT: Self = Self::Stems;

    /// The attribute of a course with the terms under which it has entries.
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            Self::Words => "foundBy",
            Self::Stems => "foundByStems",
        }
    }

    /// The terms of `word`: a course is found if it has an entry under one of them.
    pub(crate) fn terms_of(self, word: &Word) -> Vec<String> {
        match self {
            Self::Words => vec![word.folded()],
            Self::Stems => word.stems(),
        }
    }

    /// The distinct terms of the words of `course`: at most 40, or 320 stems.
    pub(crate) fn terms(self, course: &CourseSummary) -> Vec<String> {
        let mut distinct = Vec::new();
        for term in course.words().iter().flat_map(|word| self.terms_of(word)) {
            if !distinct.contains(&term) {
                distinct.push(term);
            }
        }
        distinct
    }
}

/// The search entry under `term` of a course that was first published at `published_at`.
pub(crate) fn entry(version: IndexVersion, term: &str, published_at: Instant, id: CourseId) -> Key {
    records(
        term_partition(version, term),
        &format!("{AT_PREFIX}{}", publication_sort_key(published_at, id)),
    )
}

pub(crate) const AT_PREFIX: &str = "AT#";

pub(crate) fn term_count(version: IndexVersion, term: &str) -> Key {
    records(term_partition(version, term), "COUNT")
}

/// A folded word or stem has no `#`.
pub(crate) fn term_partition(version: IndexVersion, term: &str) -> String {
    match version {
        IndexVersion::Words => format!("WORD#{term}"),
        IndexVersion::Stems => format!("WORD#2#{term}"),
    }
}

/// Which version of the search index is complete, and what the worker does to it.
pub(crate) fn search_index() -> Key {
    records("SEARCH".to_owned(), "SEARCH")
}
