//! The schema of the tables and their indexes.

/// One of the two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Durable items.
    Records,
    /// Short-lived items.
    Transient,
}

impl Table {
    /// Its local name; capitalised, its logical name in the template.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Transient => "transient",
        }
    }
}

/// The index of lists by committee, owner or batch.
pub const LISTING: IndexSchema = IndexSchema {
    name: "listing",
    pk: "listPk",
    sk: ("listSk", "S"),
    projected: &["card", "details", "lastActive"],
};
/// The sparse index of pending work; its sort key is the due time in Unix milliseconds.
pub const DUE: IndexSchema =
    IndexSchema { name: "due", pk: "duePk", sk: ("dueAt", "N"), projected: &["requestId"] };
/// The index of courses, text messages and batches by author.
pub const AUTHORED: IndexSchema = IndexSchema {
    name: "authored",
    pk: "authoredPk",
    sk: ("authoredSk", "S"),
    projected: &["card", "details"],
};
/// The index of published courses, and of text messages and batches by committee.
pub const OVERVIEW: IndexSchema = IndexSchema {
    name: "overview",
    pk: "overviewPk",
    sk: ("overviewSk", "S"),
    projected: &["card"],
};

/// The index of announced courses by their start.
pub const CATALOGUE: IndexSchema = IndexSchema {
    name: "catalogue",
    pk: "cataloguePk",
    sk: ("catalogueSk", "S"),
    projected: &["card"],
};

/// The schema of a table. Its keys are the strings `pk` and `sk`, its TTL attribute is `ttl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSchema {
    /// Its local name; capitalised, its logical name in the template.
    pub name: &'static str,
    /// Its indexes.
    pub indexes: &'static [IndexSchema],
    /// Whether it has a stream for dispatcher and worker, with old and new images.
    pub has_stream: bool,
}

/// The schema of a global secondary index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSchema {
    /// Its name.
    pub name: &'static str,
    /// Its partition key, a string.
    pub pk: &'static str,
    /// Its sort key and that key's type, `S` or `N`.
    pub sk: (&'static str, &'static str),
    /// The projected attributes beside the keys.
    pub projected: &'static [&'static str],
}

/// The two tables. All indexes exist from the first deployment, because CloudFormation adds one per update.
pub const TABLES: [TableSchema; 2] = [
    TableSchema {
        name: Table::Records.name(),
        indexes: &[LISTING, DUE, AUTHORED, OVERVIEW, CATALOGUE],
        has_stream: true,
    },
    TableSchema { name: Table::Transient.name(), indexes: &[], has_stream: false },
];
