//! The consumed capacity that DynamoDB bills.

use std::ops::{AddAssign, Sub};

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::Value;

/// Read and write units.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Units {
    /// Read units.
    pub reads: f64,
    /// Write units, plus one for each failed write: AWS bills failed conditions and does not report them.
    pub writes: f64,
}

impl AddAssign for Units {
    fn add_assign(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
    }
}

impl Sub for Units {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { reads: self.reads - other.reads, writes: self.writes - other.writes }
    }
}

/// `request` with `ReturnConsumedCapacity`. A request that has it already stays as it is.
pub(crate) fn with_reported_capacity(request: &Bytes) -> Bytes {
    const NAME: &[u8] = b"\"ReturnConsumedCapacity\"";
    if request.windows(NAME.len()).any(|part| part == NAME) {
        return request.clone();
    }
    let rest = request.strip_prefix(b"{").unwrap_or_default();
    [b"{", NAME, b":\"TOTAL\",", rest].concat().into()
}

#[derive(Default, Deserialize)]
struct Reported {
    /// An object, or a list of them for requests to several tables.
    #[serde(default, rename = "ConsumedCapacity")]
    consumed: Value,
}

/// What `operation` consumed, whose response has this status and body.
pub(crate) fn consumed(operation: &str, status: StatusCode, body: &[u8]) -> Units {
    let Reported { consumed } = serde_json::from_slice(body).unwrap_or_default();
    let tables = consumed.as_array().map_or(std::slice::from_ref(&consumed), Vec::as_slice);
    let units = tables.iter().filter_map(|table| table["CapacityUnits"].as_f64()).sum();
    let is_read = ["Query", "GetItem", "BatchGetItem", "TransactGetItems"].contains(&operation);
    match (is_read, status.is_success()) {
        (true, _) => Units { reads: units, writes: 0.0 },
        (false, true) => Units { reads: 0.0, writes: units },
        (false, false) => Units { reads: 0.0, writes: 1.0 },
    }
}
