//! `GET /users/my-committee-users`: the people of the caller's committee.

use axum::extract::State;
use common::{ApiResult, Asked, Now, Paging, Verified, choice, input, ok, text};
use domain::{
    Line, Profile, folded,
    permissions::{Reach, Right},
    user::{Account, Card, User},
};
use serde::Serialize;

use crate::{Users, show::View};

input! {
    pub(crate) struct MyCommitteeUsersQuery {
        is_active: Option<bool> = optional("isActive", choice),
        profile: Option<Profile> = optional("profile", choice),
        /// Folded.
        words: Option<String> = nullable("q", |value| Ok(folded(text::<Line<100>>(value)?.as_str()))),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsersResponse {
    users: Vec<View>,
    next_cursor: Option<String>,
}

/// By folded last name and name; a page may be short before the list ends.
pub(crate) async fn list(
    State(users): State<Users>,
    Now(now): Now,
    Verified(person): Verified,
    paging: Paging,
    Asked(filter): Asked<MyCommitteeUsersQuery>,
) -> ApiResult<UsersResponse> {
    let sees_accounts = person.user.standing().reach(Right::ReadAccounts) >= Reach::Committee;
    let MyCommitteeUsersQuery {
        is_active,
        profile,
        words,
    } = &filter;
    let list = format!(
        "GET /users/my-committee-users {is_active:?} {profile:?} {words:?} {sees_accounts} caller={}",
        person.user.user_id
    );
    let list = paging.open(&users.cursors, list, now)?;
    let wanted = |user: &User| filter.wants(user, sees_accounts);
    let page = users
        .store
        .users(
            person.committee.committee_id,
            list.position(),
            list.limit,
            wanted,
        )
        .await?;
    let next_cursor = list.next_cursor(page.last)?;
    let view = |user: User| {
        if sees_accounts {
            View::Account(Box::new(Account::listed(user)))
        } else {
            View::Card(Card::from(user))
        }
    };
    ok(UsersResponse {
        users: page.items.into_iter().map(view).collect(),
        next_cursor,
    })
}

impl MyCommitteeUsersQuery {
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
