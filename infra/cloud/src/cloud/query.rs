//! Reads for the table browser.

use serde_json::Value;

use super::Cloud;
use crate::{LocalError, tables::request};

impl Cloud {
    /// The response to the DynamoDB request `query`, a Query. It is current and consistent: faults and strictness do
    /// not apply.
    ///
    /// # Errors
    /// When the store rejects the query.
    pub fn query(&self, query: Value) -> Result<Value, LocalError> {
        let found = self
            .database
            .query(request(query)?)
            .map_err(|error| LocalError::new(error.to_string()))?;
        serde_json::to_value(found).map_err(|error| LocalError::new(error.to_string()))
    }
}
