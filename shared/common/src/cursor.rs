//! Paging: `limit`, and cursors that nobody can read, change or use elsewhere.

use std::str::FromStr;

use axum::extract::FromRequestParts;
use domain::{Constraint, Instant};
use http::request::Parts;
use identity::{MalformedKey, sealing::Sealer};

use crate::{ApiError, ErrorCode, InvalidValue, Query};

/// Makes and reads cursors: authenticated encryption of a position, bound to route, filter and
/// caller.
#[derive(Clone)]
pub struct Cursors(Sealer);

/// A cursor is good for a day.
const LIFE: std::time::Duration = std::time::Duration::from_secs(86_400);
/// Nothing longer is a cursor of ours.
const MAX_LENGTH: usize = 512;

/// Reads keys as [`Sealer`] does.
impl FromStr for Cursors {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        text.parse().map(Self)
    }
}

impl Cursors {
    /// The cursor of `position` in the list that `list` names: its route, filter and caller.
    ///
    /// # Errors
    /// When the position cannot be sealed.
    pub fn write(&self, position: &str, list: &str, now: Instant) -> Result<String, ApiError> {
        let expires = now.after(LIFE).unix_milliseconds().to_be_bytes();
        Ok(self.0.seal(
            &[&expires[..], position.as_bytes()].concat(),
            &format!("cursor {list}"),
        )?)
    }

    /// The position that `cursor` holds.
    ///
    /// # Errors
    /// `INVALID_CURSOR_MESSAGE` for anything that was not written for this list in the last day.
    pub fn read(&self, cursor: &str, list: &str, now: Instant) -> Result<String, ApiError> {
        let open = || {
            let plain = (cursor.len() <= MAX_LENGTH)
                .then(|| self.0.open(cursor, &format!("cursor {list}")).ok())??;
            let (expires, position) = plain.split_first_chunk::<8>()?;
            let fresh = now < Instant::from_unix_milliseconds(i64::from_be_bytes(*expires));
            fresh.then(|| String::from_utf8(position.to_vec()).ok())?
        };
        open().ok_or_else(|| ApiError::field("cursor", ErrorCode::InvalidCursor))
    }
}

/// A page of a list: where it begins, how long it is, and the cursor of the page after it.
pub struct ListPage<'a> {
    cursors: &'a Cursors,
    list: String,
    now: Instant,
    position: Option<String>,
    /// How many entries it has at the most.
    pub limit: u16,
}

impl ListPage<'_> {
    /// After what it begins.
    pub fn position(&self) -> Option<&str> {
        self.position.as_deref()
    }

    /// The cursor of the next page, which begins after `last`.
    ///
    /// # Errors
    /// When the position cannot be sealed.
    pub fn next_cursor(&self, last: Option<String>) -> Result<Option<String>, ApiError> {
        last.map(|position| self.cursors.write(&position, &self.list, self.now))
            .transpose()
    }
}

impl Paging {
    /// The page of `list`, which names route, filter and caller, that is asked for.
    ///
    /// # Errors
    /// As [`Cursors::read`].
    pub fn open(
        self,
        cursors: &Cursors,
        list: String,
        now: Instant,
    ) -> Result<ListPage<'_>, ApiError> {
        let position = self
            .cursor
            .map(|cursor| cursors.read(&cursor, &list, now))
            .transpose()?;
        Ok(ListPage {
            cursors,
            list,
            now,
            position,
            limit: self.limit,
        })
    }
}

/// The part of a list that the caller asks for.
#[derive(Debug, Clone)]
pub struct Paging {
    /// How many, 1 to 100; 20 when not said.
    pub limit: u16,
    /// After what.
    pub cursor: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Paging {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(query) = Query::from_request_parts(parts, state).await;
        let limit = match query.get("limit") {
            None => 20,
            Some(text) => {
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let number = text
                    .parse()
                    .ok()
                    .filter(|number| digits && (1..=100).contains(number));
                number.ok_or_else(|| {
                    let invalid = InvalidValue {
                        code: ErrorCode::LimitInvalid,
                        constraint: Constraint::range(1.0, 100.0),
                    };
                    ApiError::field("limit", invalid)
                })?
            }
        };
        Ok(Self {
            limit,
            cursor: query.get("cursor").map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use identity::NamedKey;

    proptest::proptest! {
        #[test]
        fn a_cursor_is_good_for_its_list_and_its_day(position in "\\PC{0,80}", list in "[A-Z /]{0,40}", hours in 0u64..48) {
            let cursors = NamedKey::generate("2026-11").to_setting().parse::<Cursors>().unwrap();
            let now = Instant::from_unix_milliseconds(1_800_000_000_000);
            let cursor = cursors.write(&position, &list, now).unwrap();
            proptest::prop_assert!(cursor.len() <= MAX_LENGTH);
            let later = now.after(std::time::Duration::from_secs(hours * 3600));
            proptest::prop_assert_eq!(cursors.read(&cursor, &list, later).ok(), (hours < 24).then_some(position));
            let (other_list, longer) = (format!("{list}x"), format!("{cursor}A"));
            proptest::prop_assert!(cursors.read(&cursor, &other_list, now).is_err());
            proptest::prop_assert!(cursors.read(&longer, &list, now).is_err());
        }
    }
}
