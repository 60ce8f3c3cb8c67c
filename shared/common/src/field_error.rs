//! The elements of `errors`.

use serde::Serialize;

use crate::ErrorCode;

/// One element of `errors`: a field of the request and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// A path such as `questions[2].language`.
    pub field: String,
    #[serde(rename = "RESPONSE_CODE")]
    response_code: &'static str,
    #[serde(rename = "RESPONSE_TEXT")]
    response_text: &'static str,
    #[serde(skip)]
    pub(crate) code: ErrorCode,
}

impl FieldError {
    /// `field` is invalid because of `code`.
    pub fn new(field: impl Into<String>, code: impl Into<ErrorCode>) -> Self {
        let code = code.into();
        Self {
            field: field.into(),
            response_code: code.code(),
            response_text: code.text(),
            code,
        }
    }
}
