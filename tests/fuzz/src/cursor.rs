//! Cursors and the query around them: nobody makes a cursor but we, and what is sealed in ours says only what it said.

use axum::extract::{FromRequestParts, Request};
use common::{Cursors, ApiError, Paging};
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

    // What is sealed by us, whatever it is, is read as it was sealed, here alone, or refused.
    if let Some(plain) = input.strip_prefix(b"!") {
        let cursor = sealer
            .seal(plain, &format!("cursor {LIST}"))
            .expect("it is short");
        assert!(cursors.read(&cursor, "GET /courses", now).is_err());
        match cursors.read(&cursor, LIST, now) {
            Ok(position) => assert!(
                cursor.len() <= 512 && plain.len() >= 8 && position.as_bytes() == &plain[8..]
            ),
            Err(failure) => assert!(matches!(failure, ApiError::Refused(_))),
        }
        return;
    }
    let Some(written) = text(input) else { return };
    assert!(
        matches!(cursors.read(written, LIST, now), Err(ApiError::Refused(_))),
        "nobody sealed {written:?}"
    );
    assert_eq!(
        sealer.is_mac(written, "code", b"data"),
        written == sealer.mac("code", b"data")
    );
    let Ok(request) = Request::get(format!("/?{written}")).body(()) else {
        return;
    };
    match Paging::from_request_parts(&mut request.into_parts().0, &())
        .now_or_never()
        .expect("nothing is waited for")
    {
        Ok(paging) => assert!((1..=100).contains(&paging.limit)),
        Err(failure) => assert!(matches!(failure, ApiError::Refused(_))),
    }
}
