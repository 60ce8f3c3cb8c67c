//! Erases accounts again that a restored table has back.

use common::{ApiError, ErrorCode};
use domain::{
    Instant, UserId,
    audit::{Action, AuditEntry},
    user::User,
};
use store::{AuditList, Part, Store, Transaction};

/// The entries read per query.
const PAGE: u16 = 100;

/// The result of [`erase_again`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErasedAgain {
    /// The accounts that were erased.
    pub erased: Vec<UserId>,
    /// Those that were not, because each would have been the last super admin.
    pub kept: Vec<UserId>,
}

/// Erases the accounts in the restored table of `store` whose erasure the audit in `former`, the store with the table
/// before, has. In the same transaction that entry becomes part of the restored audit, unless it has it already: it is
/// the record. It can be repeated. The audit has no accounts that were erased because nobody verified them: the worker erases those itself.
///
/// # Errors
/// When a table does not respond. Accounts that were erased before an error stay so.
pub async fn erase_again(
    former: &Store,
    store: &Store,
    now: Instant,
) -> Result<ErasedAgain, ApiError> {
    let (mut done, mut position) = (ErasedAgain::default(), None);
    loop {
        let page = former.audit(AuditList::All, position.as_deref(), PAGE, now).await?;
        for entry in page.items.iter().filter(|entry| entry.audited.action == Action::UserDeleted) {
            let id = UserId::new(entry.audited.target_id);
            let Some(user) = store.user(id).await? else {
                continue;
            };
            match erase_one(store, user, entry, now).await {
                Ok(_) => done.erased.push(id),
                Err(error) if error.code() == ErrorCode::LastAdmin => done.kept.push(id),
                Err(error) => return Err(error),
            }
        }
        position = page.last;
        if position.is_none() {
            return Ok(done);
        }
    }
}

async fn erase_one(
    store: &Store,
    user: User,
    entry: &AuditEntry,
    now: Instant,
) -> Result<User, ApiError> {
    let is_recorded = store.has_audit(entry).await?;
    let erase = |user: &User, tx: &mut Transaction| {
        if !is_recorded {
            tx.record_audit(entry);
        }
        Ok(tx.erase(user, now)?)
    };
    let error = |part| match part {
        Part::Admins => ErrorCode::LastAdmin.into(),
        _ => ErrorCode::Conflict.into(),
    };
    store.update_user(user, erase, error).await
}
