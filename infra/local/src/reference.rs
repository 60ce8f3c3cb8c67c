//! `/_local/api`: the API reference, an OpenAPI document shown by Swagger UI. All files are in this binary; nothing is
//! loaded from other hosts.

use bytes::Bytes;
use http::{HeaderValue, Response, header};

const PAGE: &str = include_str!("reference/page.html");
/// The document that tests validate every response against.
const DOCUMENT: &str = include_str!("../../api/openapi.yaml");
/// Both files are unchanged from npm; `infra/bin/check-client` compares them.
const SCRIPT: &str = include_str!("reference/swagger-ui-bundle.js");
const STYLE: &str = include_str!("reference/swagger-ui.css");

/// Swagger UI uses `data:` for icons and `blob:` for pictures in responses.
const POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The file at `path`, if it belongs to the page.
pub(crate) fn answer(path: &str) -> Option<Response<Bytes>> {
    let (kind, text) = match path {
        "/_local/api" => ("text/html; charset=utf-8", PAGE),
        "/_local/api/openapi.yaml" => ("application/yaml", DOCUMENT),
        "/_local/api/swagger-ui-bundle.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "/_local/api/swagger-ui.css" => ("text/css; charset=utf-8", STYLE),
        _ => return None,
    };
    let mut response = Response::new(Bytes::from_static(text.as_bytes()));
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    Some(response)
}
