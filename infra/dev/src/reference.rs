//! `/_local/api`: the API reference, the OpenAPI document shown by Scalar. All files are in this binary; nothing is
//! loaded from other hosts.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    sync::LazyLock,
};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderValue, Request, Response, StatusCode, header};
use serde_json::Value as Json;
use serde_yaml_ng::{Mapping, Value};

use crate::OPENAPI;

const PAGE: &str = include_str!("reference/page.html");
/// Scalar's script, about 5 MB.
static SCRIPT: LazyLock<Script> = LazyLock::new(Script::new);

/// Scalar uses `data:` for icons and `blob:` for pictures in responses.
const POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The files of the page.
#[derive(Clone)]
pub(crate) struct Reference {
    /// The accounts that the page signs in to, as in [`seed::accounts`](crate::seed::accounts).
    accounts: Vec<Json>,
}

impl Reference {
    pub(crate) const fn new(accounts: Vec<Json>) -> Self {
        Self { accounts }
    }

    /// The file at the path of `request`, if it belongs to the page.
    pub(crate) fn answer(&self, request: &Request<Bytes>) -> Option<Response<Bytes>> {
        let mut response = match request.uri().path().trim_end_matches('/') {
            "/_local/api" => file("text/html; charset=utf-8", PAGE),
            "/_local/api/scalar.js" => SCRIPT.answer(request),
            "/_local/api/openapi.json" => match self.document() {
                Ok(document) => file("application/json", document),
                Err(error) => {
                    let mut response = file("text/plain; charset=utf-8", error.to_string());
                    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                    response
                }
            },
            _ => return None,
        };
        for (name, value) in [
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ] {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        Some(response)
    }

    /// The OpenAPI document with the accounts in `x-accounts`.
    fn document(&self) -> Result<Vec<u8>, serde_yaml_ng::Error> {
        let mut document: Mapping = serde_yaml_ng::from_str(OPENAPI)?;
        let paths = document.get_mut("paths").and_then(Value::as_mapping_mut);
        for path in
            paths.into_iter().flat_map(Mapping::values_mut).filter_map(Value::as_mapping_mut)
        {
            // Scalar's requests ignore the servers of a path, but not those of an operation.
            if let Some(servers) = path.shift_remove("servers") {
                for operation in path.values_mut().filter_map(Value::as_mapping_mut) {
                    operation.insert("servers".into(), servers.clone());
                }
            }
        }
        document.insert("x-accounts".into(), serde_yaml_ng::to_value(&self.accounts)?);
        Ok(serde_json::to_vec(&document).unwrap_or_default())
    }
}

/// The script as it is and compressed, with its validator.
struct Script {
    plain: Bytes,
    compressed: Bytes,
    tag: String,
}

impl Script {
    fn new() -> Self {
        let plain = scalar_api_reference::get_asset("scalar.js").unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        plain.hash(&mut hasher);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let compressed = encoder.write_all(&plain).and_then(|()| encoder.finish());
        Self {
            plain: plain.into(),
            compressed: compressed.unwrap_or_default().into(),
            tag: format!("\"{:x}\"", hasher.finish()),
        }
    }

    /// 304 if the browser has this script already.
    fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let contains = |name, text: &str| {
            let value = request.headers().get(name);
            let value = value.and_then(|value: &HeaderValue| value.to_str().ok());
            value.is_some_and(|value| value.contains(text))
        };
        let mut response = if contains(header::IF_NONE_MATCH, &self.tag) {
            let mut response = Response::new(Bytes::new());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        } else if contains(header::ACCEPT_ENCODING, "gzip") && !self.compressed.is_empty() {
            let mut response = file("text/javascript; charset=utf-8", self.compressed.clone());
            response
                .headers_mut()
                .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response
        } else {
            file("text/javascript; charset=utf-8", self.plain.clone())
        };
        let headers = response.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        // The browser keeps the script, and asks whether it is still this one.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}

/// A file that the browser does not keep.
fn file(kind: &'static str, content: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(content.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
