//! Editing the account of another person as an administrator.

use axum::extract::FromRequestParts;
use common::{ApiError, ErrorCode, Permitted, SignedIn, rights::ManageUsers};
use domain::{
    Instant, UserId,
    audit::{Action, AuditedAction},
    committee::Committee,
    permissions::Right,
    user::User,
};
use http::request::Parts;
use identity::random;
use store::{Part, Store, Transaction};

/// A signed-in person with the right [`ManageUsers`].
///
/// The extractor rejects as that of [`Permitted`].
#[derive(Debug, Clone)]
pub struct Administrator(pub SignedIn);

impl Administrator {
    /// Loads the account `id` and checks that this administrator may edit it.
    ///
    /// # Errors
    /// `USER_NOT_FOUND_MESSAGE` when the account does not exist or they may not read it, `FORBIDDEN_MESSAGE` when they
    /// may read but not edit it.
    pub async fn account_to_edit(&self, store: &Store, id: UserId) -> Result<User, ApiError> {
        let user = store.user(id).await?.ok_or(ErrorCode::UserNotFound)?;
        self.require_may_edit(&user)?;
        Ok(user)
    }

    fn require_may_edit(&self, user: &User) -> Result<(), ErrorCode> {
        let caller = self.0.user.rights();
        if !caller.may(Right::ReadCards, user.user_id, user.committee_id) {
            Err(ErrorCode::UserNotFound)
        } else if !caller.may_edit(&user.rights()) {
            Err(ErrorCode::Forbidden)
        } else {
            Ok(())
        }
    }

    /// Writes the account that `decide` returns, in one transaction with the writes that `decide` adds and, if the
    /// account changed, an audit entry of `action`. `user` comes from [`account_to_edit`](Self::account_to_edit); if
    /// the stored account has changed since, it is loaded again and `decide` runs again.
    ///
    /// # Errors
    /// As [`account_to_edit`](Self::account_to_edit); those of `decide`; `LAST_ADMIN_MESSAGE`; `CONFLICT_MESSAGE` for
    /// other failed conditions.
    pub async fn edit(
        &self,
        store: &Store,
        user: User,
        action: Action,
        now: Instant,
        mut decide: impl FnMut(&User, &mut Transaction) -> Result<User, ApiError>,
    ) -> Result<User, ApiError> {
        let actor = &self.0.user;
        let decide = |before: &User, tx: &mut Transaction| {
            self.require_may_edit(before)?;
            let after = decide(before, tx)?;
            if after != *before {
                let audited = AuditedAction::of_user(action, before, &after);
                tx.record_audit(&audited.by(actor, random::id(now), now));
            }
            Ok(after)
        };
        let condition_error = |part| match part {
            Part::User => ErrorCode::UserNotFound.into(),
            Part::Admins => ErrorCode::LastAdmin.into(),
            _ => ErrorCode::Conflict.into(),
        };
        store.update_user(user, decide, condition_error).await
    }

    /// The committee of `user`. Needs no read if it is the administrator's own.
    pub async fn committee_of(&self, store: &Store, user: &User) -> Result<Committee, ApiError> {
        let own = self.0.committee.clone();
        Ok(store.committee_of(user, own.committee_id, Some(own)).await?)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Administrator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let manager = Permitted::<ManageUsers>::from_request_parts(parts, state).await?;
        Ok(Self(manager.person))
    }
}
