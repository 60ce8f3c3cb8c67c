//! An administrator edits the account of another person.

use axum::extract::FromRequestParts;
use common::{ApiError, ErrorCode, Permitted, SignedIn, rights::ManageUsers};
use domain::{
    Instant, UserId,
    audit::{Action, AuditEntry},
    committee::Committee,
    permissions::Right,
    user::User,
};
use http::request::Parts;
use identity::chance;
use store::{Part, Store, StoreError, Transaction};

/// A verified person who runs a committee that is open, or the service.
#[derive(Debug, Clone)]
pub struct Administrator(pub SignedIn);

impl Administrator {
    /// The person `id`, if this administrator may edit them.
    ///
    /// # Errors
    /// `USER_NOT_FOUND_MESSAGE` for whom they may not know, `FORBIDDEN_MESSAGE` for whom they may not edit.
    pub async fn edits(&self, store: &Store, id: UserId) -> Result<User, ApiError> {
        let user = store.user(id).await?.ok_or(ErrorCode::UserNotFound)?;
        self.must_edit(&user)?;
        Ok(user)
    }

    fn must_edit(&self, user: &User) -> Result<(), ErrorCode> {
        let caller = self.0.user.standing();
        if !caller.may(Right::ReadCards, user.user_id, user.committee_id) {
            Err(ErrorCode::UserNotFound)
        } else if !caller.may_edit(&user.standing()) {
            Err(ErrorCode::Forbidden)
        } else {
            Ok(())
        }
    }

    /// Edits `user`, as [`edits`](Self::edits) gave them: writes what `decide` makes of the account, with the
    /// audit entry of `action` when that is a change.
    ///
    /// # Errors
    /// As [`edits`](Self::edits); `LAST_ADMIN_MESSAGE`; `COMMITTEE_INVALID_MESSAGE` when the transaction
    /// requires an active committee that is not one; those of `decide`.
    pub async fn edit(
        &self,
        store: &Store,
        user: User,
        action: Action,
        now: Instant,
        mut decide: impl FnMut(&User, &mut Transaction) -> Result<User, ApiError>,
    ) -> Result<User, ApiError> {
        let actor = self.0.user.user_id;
        let decide = |before: &User, change: &mut Transaction| {
            self.must_edit(before)?;
            let after = decide(before, change)?;
            if after != *before {
                let id = chance::id(now);
                change.follow_admins(before, &after);
                change.note(&AuditEntry::of_user(id, actor, action, before, &after, now));
            }
            Ok(after)
        };
        let refused = |part| match part {
            Part::User => ErrorCode::UserNotFound.into(),
            Part::Admins => ErrorCode::LastAdmin.into(),
            Part::Committee => ApiError::field("committeeID", ErrorCode::CommitteeInvalid),
            _ => ErrorCode::Conflict.into(),
        };
        store.update_user(user, decide, refused).await
    }

    /// The committee of `user`: the administrator's own without another read.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn committee_of(&self, store: &Store, user: &User) -> Result<Committee, ApiError> {
        if user.committee_id == self.0.committee.committee_id {
            return Ok(self.0.committee.clone());
        }
        Ok(store
            .committee(user.committee_id)
            .await?
            .ok_or_else(|| StoreError::Unexpected("a user's committee is not there".to_owned()))?)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Administrator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let manager = Permitted::<ManageUsers>::from_request_parts(parts, state).await?;
        Ok(Self(manager.person))
    }
}
