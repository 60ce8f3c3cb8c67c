//! Paging of lists by `limit` and sealed cursors.

use std::{collections::BTreeMap, fmt::Debug, str::FromStr, time::Duration};

use axum::extract::{FromRequestParts, MatchedPath};
use domain::{Constraint, Instant, UserId};
use http::request::Parts;
use identity::{MalformedKey, sealing::Sealer};
use serde::Serialize;
use store::Page;

use crate::{
    ApiError, ErrorCode, FromFields, InvalidValue, Now, Query, QueryInput, caller::Caller,
};

/// Seals and opens cursors: positions in a list under authenticated encryption, bound to route, filter and caller.
#[derive(Clone)]
pub struct Cursors(Sealer);

/// A cursor expires at the first full hour after a day.
const LIFETIME: Duration = Duration::from_secs(86_400);
/// In milliseconds.
const HOUR: i64 = 3_600_000;
/// Bytes; longer cursors are rejected before decryption.
const MAX_LENGTH: usize = 512;

/// Parses keys as [`Sealer`] does.
impl FromStr for Cursors {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        text.parse().map(Self)
    }
}

impl Cursors {
    /// Seals `position` as a cursor for `list`, a text that identifies route, filter and caller. For an hour the cursor is
    /// the same, so that an unchanged page has an unchanged `ETag`.
    pub fn write(&self, position: &str, list: &str, now: Instant) -> Result<String, ApiError> {
        let end = now.after(LIFETIME).unix_milliseconds();
        let expires = end - end.rem_euclid(HOUR) + HOUR;
        let plain = [&expires.to_be_bytes(), position.as_bytes()].concat();
        Ok(self.0.seal_repeatably(&plain, &format!("cursor {list}"))?)
    }

    /// The position in `cursor`.
    ///
    /// # Errors
    /// `INVALID_CURSOR_MESSAGE` unless [`write`](Self::write) produced `cursor` for the same `list` and it has not
    /// expired.
    pub fn read(&self, cursor: &str, list: &str, now: Instant) -> Result<String, ApiError> {
        let open = || {
            let plain = (cursor.len() <= MAX_LENGTH)
                .then(|| self.0.open(cursor, &format!("cursor {list}")).ok())??;
            let (expires, position) = plain.split_first_chunk::<8>()?;
            let is_valid = now < Instant::from_unix_milliseconds(i64::from_be_bytes(*expires));
            is_valid.then(|| String::from_utf8(position.to_vec()).ok())?
        };
        open().ok_or_else(invalid_cursor)
    }
}

fn invalid_cursor() -> ApiError {
    ApiError::field("cursor", ErrorCode::InvalidCursor)
}

/// A page of a list that is about to be read: where it starts, and its size.
pub struct ListPage<'a> {
    cursors: &'a Cursors,
    list: String,
    now: Instant,
    position: Option<String>,
    /// Maximum number of entries.
    pub limit: u16,
}

impl ListPage<'_> {
    /// The position of the last entry of the previous page; `None` for the first page.
    pub fn position(&self) -> Option<&str> {
        self.position.as_deref()
    }

    /// The response with `page` under `name`.
    pub fn listed<T>(&self, name: &'static str, page: Page<T>) -> Result<Listed<T>, ApiError> {
        let next = page.last.map(|position| self.cursors.write(&position, &self.list, self.now));
        Ok(Listed { items: BTreeMap::from([(name, page.items)]), next_cursor: next.transpose()? })
    }
}

/// The response of a list: the items under their name, and the cursor of the next page.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed<T> {
    #[serde(flatten)]
    items: BTreeMap<&'static str, Vec<T>>,
    next_cursor: Option<String>,
}

impl Paging {
    /// The paging of a list whose responses caches share: its cursors are bound to no caller.
    #[must_use]
    pub fn for_everybody(self) -> Self {
        Self { caller: None, ..self }
    }

    /// Opens the cursor for the list of this route and caller that `filter` selects.
    ///
    /// # Errors
    /// As [`Cursors::read`].
    pub fn open(self, cursors: &Cursors, filter: impl Debug) -> Result<ListPage<'_>, ApiError> {
        let Self { limit, cursor, route, caller, now } = self;
        let list = format!("{route} caller={caller:?} {filter:?}");
        let position = cursor.map(|cursor| cursors.read(&cursor, &list, now)).transpose()?;
        Ok(ListPage { cursors, list, now, position, limit })
    }
}

/// The query parameters `limit` and `cursor`.
///
/// The extractor rejects with `LIMIT_INVALID_MESSAGE`; [`open`](Self::open) checks the cursor.
#[derive(Debug, Clone)]
pub struct Paging {
    /// Page size, 1 to 100, default 20.
    pub limit: u16,
    /// The sealed position; `None` for the first page.
    pub cursor: Option<String>,
    route: String,
    caller: Option<UserId>,
    now: Instant,
}

impl<S: Send + Sync> FromRequestParts<S> for Paging {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(query) = Query::from_request_parts(parts, state).await;
        let limit = match query.get("limit") {
            None => 20,
            Some(text) => {
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let number =
                    text.parse().ok().filter(|number| digits && (1..=100).contains(number));
                number.ok_or_else(|| {
                    let invalid = InvalidValue {
                        code: ErrorCode::LimitInvalid,
                        constraint: Constraint::range(1.0, 100.0),
                    };
                    ApiError::field("limit", invalid)
                })?
            }
        };
        let Ok(Now(now)) = Now::from_request_parts(parts, state).await;
        let path = parts.extensions.get().map_or("", MatchedPath::as_str);
        let caller = match parts.extensions.get() {
            Some(Caller::SignedIn(person)) => Some(person.user.user_id),
            _ => None,
        };
        let route = format!("{} {path}", parts.method);
        Ok(Self { limit, cursor: query.get("cursor").map(str::to_owned), route, caller, now })
    }
}

/// Extracts the paging of a list and the filter `T` from the query parameters.
///
/// The extractor rejects as [`Paging`]; then, if the filter is invalid, with `INVALID_CURSOR_MESSAGE` when there is a
/// cursor, which belongs to another filter, else as [`QueryInput`].
#[derive(Debug)]
pub struct Filtered<T>(pub Paging, pub T);

impl<T: FromFields<S>, S: Send + Sync> FromRequestParts<S> for Filtered<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let paging = Paging::from_request_parts(parts, state).await?;
        match QueryInput::from_request_parts(parts, state).await {
            Ok(QueryInput(filter)) => Ok(Self(paging, filter)),
            Err(_) if paging.cursor.is_some() => Err(invalid_cursor()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use identity::NamedKey;

    proptest::proptest! {
        #[test]
        fn cursor_opens_only_for_its_list_for_a_day(position in "\\PC{0,80}", list in "[A-Z /]{0,40}", hours in 0u64..48) {
            let cursors = NamedKey::generate("2026-11").to_setting().parse::<Cursors>().unwrap();
            let now = Instant::from_unix_milliseconds(1_800_000_000_000);
            let cursor = cursors.write(&position, &list, now).unwrap();
            proptest::prop_assert!(cursor.len() <= MAX_LENGTH);
            let later = now.after(Duration::from_secs(hours * 3600));
            proptest::prop_assert_eq!(cursors.read(&cursor, &list, later).ok(), (hours < 25).then_some(position.clone()));
            let same = cursors.write(&position, &list, now.after(Duration::from_secs(3599))).unwrap();
            proptest::prop_assert_eq!(&same, &cursor);
            let (other_list, longer) = (format!("{list}x"), format!("{cursor}A"));
            proptest::prop_assert!(cursors.read(&cursor, &other_list, now).is_err());
            proptest::prop_assert!(cursors.read(&longer, &list, now).is_err());
        }
    }
}
