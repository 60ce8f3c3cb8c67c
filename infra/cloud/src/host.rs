//! The names of this machine, the only ones under which the local cloud and the local pages answer.

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header, uri::Authority};

const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Whether `request` is addressed to a name of this machine, with any port. A web page can make its own name resolve to
/// 127.0.0.1 (DNS rebinding), but the browser then sends that name.
pub fn is_local<B>(request: &Request<B>) -> bool {
    let from_header = || -> Option<Authority> {
        let host = request.headers().get(header::HOST)?;
        host.to_str().ok()?.parse().ok()
    };
    // An absolute request target takes precedence (RFC 9112, section 3.2.2).
    let target = request.uri().authority().cloned();
    let authority = target.or_else(from_header);
    authority.is_some_and(|authority| is_name_of_this_machine(&authority))
}

/// Whether a browser sends `request` for a page of another machine, or to another name. Only browsers send the header
/// `Sec-Fetch-Site`, and pages cannot remove it (<https://www.w3.org/TR/fetch-metadata/>).
pub fn is_of_foreign_page<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    let is_local_origin = |origin: &HeaderValue| {
        let origin = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
        let authority = origin.and_then(|origin| origin.into_parts().authority);
        authority.is_some_and(|authority| is_name_of_this_machine(&authority))
    };
    let origin = headers.get(header::ORIGIN);
    headers.contains_key("sec-fetch-site")
        && !(is_local(request) && origin.is_none_or(is_local_origin))
}

fn is_name_of_this_machine(authority: &Authority) -> bool {
    let mut names = NAMES.iter();
    names.any(|name| authority.host().eq_ignore_ascii_case(name))
}

/// The response to a request for another name.
pub fn refusal() -> Response<Bytes> {
    let text = "Available only under 127.0.0.1, localhost and [::1].\n";
    let mut response = Response::new(Bytes::from_static(text.as_bytes()));
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_local_others_are_not() {
        let is_served = |target: &str, host: Option<&str>| {
            let mut request = Request::get(target);
            if let Some(host) = host {
                request = request.header("host", host);
            }
            is_local(&request.body(()).unwrap())
        };
        for host in ["127.0.0.1", "127.0.0.1:9000", "LocalHost:1", "[::1]:9000"] {
            assert!(is_served("/", Some(host)), "{host}");
        }
        for host in [
            "",
            "x",
            "evil.example",
            "localhost.evil.example:9000",
            "127.0.0.1:80@evil.example",
            "127.0.0.1.nip.io",
        ] {
            assert!(!is_served("/", Some(host)), "{host}");
        }
        let is_foreign = |headers: &[(&str, &str)]| {
            let mut request = Request::get("/api/v1/auth/check").header("sec-fetch-site", "x");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            is_of_foreign_page(&request.body(()).unwrap())
        };
        let host = ("host", "localhost:9000");
        assert!(!is_foreign(&[host]));
        for origin in ["http://localhost:3000", "http://127.0.0.1:9000"] {
            assert!(!is_foreign(&[host, ("origin", origin)]), "{origin}");
        }
        for origin in ["null", "https://evil.example", "http://127.0.0.1.nip.io"] {
            assert!(is_foreign(&[host, ("origin", origin)]), "{origin}");
        }
        assert!(is_foreign(&[("host", "evil.example")]));
        assert!(!is_served("/", None));
        assert!(!is_served("http://evil.example/", Some("localhost")));
        assert!(is_served("http://localhost:9000/", Some("evil.example")));
    }
}
