//! Cursors and page queries: no cursor can be forged, and a sealed one is read unchanged.

use axum::{
    extract::{FromRequestParts, Request},
    response::IntoResponse,
};
use common::{ApiError, Cursors, Paging};
use domain::Instant;
use futures_util::FutureExt;
use identity::sealing::Sealer;

use crate::text;

const LIST: &str = "GET /courses/search-all";

pub(crate) fn run(input: &[u8]) {
    let key = "k:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
    let sealer: Sealer = key.parse().expect("a key");
    let cursors: Cursors = key.parse().expect("a key");
    let now = Instant::from_unix_milliseconds(1_800_000_000_000);

    // A sealed cursor with any content is read unchanged, in its own list only, or is a client error.
    if let Some(plain) = input.strip_prefix(b"!") {
        let cursor = sealer.seal(plain, &format!("cursor {LIST}")).expect("it is short");
        assert!(cursors.read(&cursor, "GET /courses", now).is_err());
        match cursors.read(&cursor, LIST, now) {
            Ok(position) => assert!(
                cursor.len() <= 512 && plain.len() >= 8 && position.as_bytes() == &plain[8..]
            ),
            Err(error) => assert!(is_client_error(error)),
        }
        return;
    }
    let Some(written) = text(input) else { return };
    assert!(
        cursors.read(written, LIST, now).is_err_and(is_client_error),
        "not sealed: {written:?}"
    );
    assert_eq!(sealer.is_mac(written, "code", b"data"), written == sealer.mac("code", b"data"));
    let Ok(request) = Request::get(format!("/?{written}")).body(()) else {
        return;
    };
    match Paging::from_request_parts(&mut request.into_parts().0, &())
        .now_or_never()
        .expect("a query is ready at once")
    {
        Ok(paging) => assert!((1..=100).contains(&paging.limit)),
        Err(error) => assert!(is_client_error(error)),
    }
}

fn is_client_error(error: ApiError) -> bool {
    error.into_response().status().is_client_error()
}
