//! `/_local/api`: the API reference, the OpenAPI document shown by Scalar. All files are in this binary; nothing is
//! loaded from other hosts.

use std::sync::LazyLock;

use bytes::Bytes;
use http::{Response, StatusCode, header};
use serde_json::Value as Json;
use serde_yaml_ng::Value;

use crate::{operations, pages::responses::response};

const PAGE: &str = include_str!("reference/page.html");
/// Scalar's script, about 5 MB.
static SCRIPT: LazyLock<Bytes> =
    LazyLock::new(|| scalar_api_reference::get_asset("scalar.js").unwrap_or_default().into());

/// Scalar uses `data:` for icons and `blob:` for pictures in responses.
const POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The file at `path`, if it belongs to the page, which signs in to `accounts`.
pub(crate) fn answer(path: &str, accounts: &[Json]) -> Option<Response<Bytes>> {
    let (kind, content) = match path {
        "/_local/api" => ("text/html; charset=utf-8", PAGE.into()),
        "/_local/api/scalar.js" => ("text/javascript; charset=utf-8", SCRIPT.clone()),
        "/_local/api/openapi.json" => ("application/json", document(accounts).into()),
        _ => return None,
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    Some(response(StatusCode::OK, content, &headers))
}

/// The OpenAPI document, with `accounts` in `x-accounts`.
fn document(accounts: &[Json]) -> Vec<u8> {
    let mut document = operations::document().unwrap_or_default();
    for path in document.paths.values_mut().filter_map(Value::as_mapping_mut) {
        // Scalar's requests ignore the servers of a path, but not those of an operation.
        if let Some(servers) = path.shift_remove("servers") {
            for operation in path.values_mut().filter_map(Value::as_mapping_mut) {
                operation.insert("servers".into(), servers.clone());
            }
        }
    }
    let accounts = serde_yaml_ng::to_value(accounts).unwrap_or_default();
    document.fields.insert("x-accounts".into(), accounts);
    serde_json::to_vec(&document).unwrap_or_default()
}
