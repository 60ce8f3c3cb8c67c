//! `GET /users/my-committee-users`: the people of the caller's committee.

use axum::extract::State;
use common::{Asked, Fields, FromFields, Now, Paging, Reply, Verified, shown, text};
use domain::{
    Flaw, Line, Profile, folded,
    permissions::{Reach, Right},
    user::{Account, Card, User},
};
use serde::Serialize;
use serde_json::Value;

use crate::{Users, show::View};

pub(crate) struct Filter {
    is_active: Option<bool>,
    profile: Option<Profile>,
    /// Folded.
    words: Option<String>,
}

impl<S> FromFields<S> for Filter {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let is_active = fields.optional("isActive", |value| match value.as_str() {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            _ => Err(Flaw::Value),
        });
        let profile = fields.optional("profile", |value: Value| {
            text(value).map_err(|_| Flaw::Value)
        });
        let words = fields.nullable("q", text::<Line<100>>);
        Some(Self {
            is_active: is_active?,
            profile: profile?,
            words: words?.flatten().map(|words| folded(words.as_str())),
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    users: Vec<View>,
    next_cursor: Option<String>,
}

/// By folded last name and name; a page may be short before the list ends.
pub(crate) async fn list(
    State(users): State<Users>,
    Now(now): Now,
    Verified(person): Verified,
    paging: Paging,
    Asked(filter): Asked<Filter>,
) -> Reply<Shown> {
    let sees_accounts = person.user.standing().reach(Right::ReadAccounts) >= Reach::Committee;
    let Filter {
        is_active,
        profile,
        words,
    } = &filter;
    let list = format!(
        "GET /users/my-committee-users {is_active:?} {profile:?} {words:?} {sees_accounts} caller={}",
        person.user.user_id
    );
    let position = paging
        .cursor
        .map(|cursor| users.cursors.read(&cursor, &list, now))
        .transpose()?;
    let wanted = |user: &User| filter.wants(user, sees_accounts);
    let page = users
        .store
        .users(
            person.committee.committee_id,
            position.as_deref(),
            paging.limit,
            wanted,
        )
        .await?;
    let next_cursor = page
        .last
        .map(|position| users.cursors.write(&position, &list, now))
        .transpose()?;
    let view = |user: User| {
        if sees_accounts {
            View::Account(Box::new(Account::listed(user)))
        } else {
            View::Card(Card::from(user))
        }
    };
    shown(Shown {
        users: page.items.into_iter().map(view).collect(),
        next_cursor,
    })
}

impl Filter {
    /// Each word of `q` is the beginning of a word of the names, or of the address where it is shown.
    fn wants(&self, user: &User, sees_accounts: bool) -> bool {
        let is_named = |words: &String| {
            let names = format!("{} {}", user.name, user.last_name);
            let email = if sees_accounts {
                user.email.as_str()
            } else {
                ""
            };
            let text = format!("{} {email}", folded(&names));
            words
                .split_whitespace()
                .all(|word| begins_a_word(&text, word))
        };
        self.is_active.is_none_or(|wanted| user.is_active == wanted)
            && self.profile.is_none_or(|wanted| user.profile == wanted)
            && self.words.as_ref().is_none_or(is_named)
    }
}

/// Whether a word of `text` begins with `start`.
fn begins_a_word(text: &str, start: &str) -> bool {
    let is_start = |at: usize| {
        text[..at]
            .chars()
            .next_back()
            .is_none_or(|before| !before.is_alphanumeric())
    };
    text.match_indices(start).any(|(at, _)| is_start(at))
}
