//! `GET /users/my-committee-users`: lists the users of a committee, the caller's own or, for super admins, any.

use axum::extract::{FromRequestParts, State};
use common::{
    ApiError, ApiResult, Filtered, Listed, Query, RequestedCommittee, SignedIn, Verified, choice,
    input, ok, text,
};
use domain::{
    Profile, Prose, folded,
    permissions::{Reach, Right},
    user::{Card, User},
};
use http::request::Parts;

use crate::{Users, show::View};

input! {
    #[derive(Debug)]
    pub(crate) struct MyCommitteeUsersQuery {
        is_active: Option<bool> = optional("isActive", choice),
        is_verified: Option<bool> = optional("isVerified", choice),
        profile: Option<Profile> = optional("profile", choice),
        /// Search text, normalised with [`folded`].
        words: Option<String> = nullable("q", |value| Ok(folded(text::<Prose<100>>(value)?.as_str()))),
    }
}

/// A verified caller and the committee whose users they request. Rejects those who request another than their own
/// and may not read all accounts.
pub(crate) struct UsersRequest {
    caller: SignedIn,
    committee: RequestedCommittee,
}

impl<S: Send + Sync> FromRequestParts<S> for UsersRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Verified(caller) = Verified::from_request_parts(parts, state).await?;
        let Ok(query) = Query::from_request_parts(parts, state).await;
        let committee = RequestedCommittee::of(&query, &caller.user, Right::ReadAccounts)?;
        Ok(Self { caller, committee })
    }
}

/// Lists users by normalised last and first name. With a filter a page may be short or even empty before the last one.
pub(crate) async fn list(
    State(users): State<Users>,
    UsersRequest { caller, committee }: UsersRequest,
    Filtered(paging, filter): Filtered<MyCommitteeUsersQuery>,
) -> ApiResult<Listed<View>> {
    let sees_accounts = caller.user.rights().reach(Right::ReadAccounts) >= Reach::Committee;
    let list = paging.open(&users.cursors, (committee.id, &filter, sees_accounts))?;
    let matches = filter.is_set().then_some(|user: &User| filter.matches(user, sees_accounts));
    let store = &users.store;
    let read = store.users(committee.id, list.position(), list.limit, matches);
    let page = committee.if_exists(store, read).await?;
    let view = |user: User| {
        if sees_accounts {
            View::ListedAccount(Box::new(user.account))
        } else {
            View::Card(Card::from(user))
        }
    };
    ok(list.listed("users", page.map(view))?)
}

impl MyCommitteeUsersQuery {
    const fn is_set(&self) -> bool {
        self.is_active.is_some()
            || self.is_verified.is_some()
            || self.profile.is_some()
            || self.words.is_some()
    }

    /// Whether `user` passes all filters. Each word of `q` must be the beginning of a word of the names or, if the
    /// caller sees accounts, of the e-mail address. `isVerified`, which cards do not show, only filters accounts.
    fn matches(&self, user: &User, sees_accounts: bool) -> bool {
        let matches_words = |words: &String| {
            let names = format!("{} {}", user.name, user.last_name);
            let email = if sees_accounts { user.email.as_str() } else { "" };
            let text = format!("{} {email}", folded(&names));
            words.split_whitespace().all(|word| has_word_prefix(&text, word))
        };
        self.is_active.is_none_or(|is_active| user.is_active == is_active)
            && self
                .is_verified
                .is_none_or(|is_verified| !sees_accounts || user.is_verified == is_verified)
            && self.profile.is_none_or(|profile| user.profile == profile)
            && self.words.as_ref().is_none_or(matches_words)
    }
}

/// Whether a word of `text` begins with `prefix`.
fn has_word_prefix(text: &str, prefix: &str) -> bool {
    let is_word_start =
        |at: usize| text[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric());
    text.match_indices(prefix).any(|(at, _)| is_word_start(at))
}
