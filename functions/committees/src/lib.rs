//! Committees: readable without sign-in; super admins create and change them.

mod change;
mod create;
mod fields;
mod list;
mod show;

use common::{Cursors, Routes, SignedIn};
use domain::{
    Profile,
    committee::{Committee, PublicCommittee},
};
use runtime::{ConfigError, Key};
use serde::Serialize;
use store::{Setup, Store};

/// The keys that `committees` reads at start.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Cursor];

/// The state of the handlers.
#[derive(Clone)]
pub(crate) struct Committees {
    store: Store,
    cursors: Cursors,
}

/// The routes below `/committees`.
///
/// # Errors
/// When the key of the cursors is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let committees =
        Committees { store: setup.store.clone(), cursors: setup.keys.parse(Key::Cursor)? };
    Ok(Routes::default()
        .get("/committees", list::list)
        .post("/committees", create::create)
        .get("/committees/{committeeId}", show::show)
        .put("/committees/{committeeId}", change::change)
        .with_state(committees))
}

/// The view of `committee` for `caller`: the whole for super admins and for its members, the public fields for
/// all others. `None` when it is closed and the caller is neither.
fn view(committee: Committee, caller: Option<&SignedIn>) -> Option<View> {
    let is_super = is_super_admin(caller);
    let is_member = caller.is_some_and(|person| person.user.committee_id == committee.committee_id);
    if is_super || is_member {
        Some(View::Whole(Box::new(committee)))
    } else {
        committee.is_active.then(|| View::Public(committee.into()))
    }
}

fn is_super_admin(caller: Option<&SignedIn>) -> bool {
    caller.is_some_and(|person| person.user.profile == Profile::SuperAdmin)
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum View {
    Whole(Box<Committee>),
    Public(PublicCommittee),
}

#[derive(Serialize)]
pub(crate) struct CommitteeResponse {
    committee: View,
}

impl CommitteeResponse {
    fn whole(committee: Committee) -> Self {
        Self { committee: View::Whole(Box::new(committee)) }
    }
}
