//! The tables and their indexes, as they must be made.

/// Which of the two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// What stays.
    Records,
    /// What has a short life.
    Transient,
}

/// The index of lists. It carries what a list shows of an item, and of a course all that it says.
pub const LISTING: IndexSchema = IndexSchema {
    name: "listing",
    pk: "listPk",
    sk: ("listSk", "S"),
    projected: &["card", "details"],
};
/// The index of what is still to be done.
pub const DUE: IndexSchema = IndexSchema {
    name: "due",
    pk: "duePk",
    sk: ("dueAt", "N"),
    projected: &[],
};
/// The index of what a person wrote.
pub const AUTHORED: IndexSchema = IndexSchema {
    name: "authored",
    pk: "authoredPk",
    sk: ("authoredSk", "S"),
    projected: &["card", "details"],
};
/// The index of what is published.
pub const PUBLISHED: IndexSchema = IndexSchema {
    name: "published",
    pk: "publishedPk",
    sk: ("publishedSk", "S"),
    projected: &["card"],
};

/// A table as it must be made: text keys `pk` and `sk`, TTL on `ttl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSchema {
    /// The name on a laptop and the logical name in the template, there with a capital.
    pub name: &'static str,
    /// Its indexes.
    pub indexes: &'static [IndexSchema],
    /// Whether its changes flow to the dispatcher, with old and new images.
    pub has_stream: bool,
}

/// An index as it must be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSchema {
    /// Its name.
    pub name: &'static str,
    /// Its partition key, a text.
    pub pk: &'static str,
    /// Its sort key and that key's type, `S` or `N`.
    pub sk: (&'static str, &'static str),
    /// What it carries beyond the keys.
    pub projected: &'static [&'static str],
}

/// The two tables. All indexes stand from the first deployment on: CloudFormation adds one at a time.
pub const TABLES: [TableSchema; 2] = [
    TableSchema {
        name: "records",
        indexes: &[LISTING, DUE, AUTHORED, PUBLISHED],
        has_stream: true,
    },
    TableSchema {
        name: "transient",
        indexes: &[],
        has_stream: false,
    },
];
