//! What a restore undid, by the table before: what must hold again is written, the rest is listed.

use common::ApiError;
use domain::{
    CommitteeId, Instant, UserId,
    audit::{Action, AuditEntry, AuditValues},
    sms::OptOut,
    user::User,
};
use store::{AuditList, CommitOutcome, Page, Store, StoreError, all_pages};

/// The entries, accounts or opt-outs read per query.
const PAGE: u16 = 100;

/// The result of [`since`]: a line for each change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Since {
    /// What holds again: opt-outs, and stopped addresses.
    pub applied: Vec<String>,
    /// What a person decides, the oldest first: who did it, what it was before and after.
    pub open: Vec<String>,
}

/// Compares `former`, the store with the table before, with the restored table of `store`. What opted-out people and
/// carriers have asked for since `from` is written again, with its audit entry. Changes of accounts, committees and the state
/// of courses, registrations that were rejected or cancelled, and revoked certificates since then are listed, whether they were
/// right or are the damage; and the accounts whose password is another one. It can be repeated.
///
/// # Errors
/// When a table does not respond. What was written before an error stays so.
pub async fn since(
    former: &Store,
    store: &Store,
    from: Instant,
    now: Instant,
) -> Result<Since, ApiError> {
    let mut found = Since::default();
    let mut entries = entries_since(former, from, now).await?;
    entries.reverse();
    for entry in &entries {
        let action = entry.audited.action;
        if action == Action::MailsStopped && stop_again(former, store, entry).await? {
            found.applied.push(format!("mails stopped: {}", entry.audited.target_id));
        }
        if is_listed(action) && !store.has_audit(entry).await? {
            found.open.push(line(entry));
        }
    }
    let page = |position: Option<String>| async move {
        former.committees(position.as_deref(), PAGE).await
    };
    let committees: Vec<CommitteeId> =
        all_pages(page).await?.iter().map(|committee| committee.committee_id).collect();
    for list in committees.iter().copied().map(Some).chain([None]) {
        opt_out_again(former, store, list, from, &entries, &mut found.applied).await?;
    }
    for committee in committees {
        for id in with_other_password(former, store, committee).await? {
            found.open.push(format!("password changed: {id}"));
        }
    }
    Ok(found)
}

/// The entries since `from`, the newest first.
async fn entries_since(
    former: &Store,
    from: Instant,
    now: Instant,
) -> Result<Vec<AuditEntry>, StoreError> {
    let (mut entries, mut position) = (Vec::new(), None);
    loop {
        let page = former.audit(AuditList::All, position.as_deref(), PAGE, now).await?;
        let is_whole = page.items.iter().all(|entry| entry.created_at >= from);
        entries.extend(page.items.into_iter().filter(|entry| entry.created_at >= from));
        position = page.last.filter(|_| is_whole);
        if position.is_none() {
            return Ok(entries);
        }
    }
}

/// Whether `action` is a decision about people, files, courses or registrations that the restore undid. What `erase-again` and
/// the new signing key do, what is written here, and what only adds to the data or changes its content, is not listed.
const fn is_listed(action: Action) -> bool {
    match action {
        Action::UserStatusChanged
        | Action::TeamMemberUpdated
        | Action::OtpReset
        | Action::FileRemoved
        | Action::MailsResumed
        | Action::OptOutRemoved
        | Action::CommitteeUpdated
        | Action::CourseReturnedToDraft
        | Action::CourseArchived
        | Action::CourseCancelled
        | Action::RegistrationRejected
        | Action::RegistrationCancelled
        | Action::CertificateRevoked => true,
        Action::UserDeleted
        | Action::SessionsEnded
        | Action::MailsStopped
        | Action::OptOutAdded
        | Action::CommitteeCreated
        | Action::CourseUpdated
        | Action::QuestionUpdated
        | Action::QuestionDeleted
        | Action::CourseCopied
        | Action::CoursePublished
        | Action::RegistrationSettingsUpdated
        | Action::RegistrationApproved
        | Action::RegistrationUpdated
        | Action::RegistrationFileRead
        | Action::RegistrationsExported
        | Action::SessionsUpdated
        | Action::AttendanceCorrected
        | Action::CertificatesIssued
        | Action::BatchAccepted
        | Action::SubdomainRequested => false,
    }
}

fn line(entry: &AuditEntry) -> String {
    let AuditEntry { actor_id, audited, created_at, .. } = entry;
    let text = |values: &Option<AuditValues>| {
        values
            .as_ref()
            .map_or_else(|| "-".to_owned(), |values| serde_json::json!(values).to_string())
    };
    format!(
        "{created_at}  {}  {}  by {actor_id}  {} → {}",
        serde_json::json!(audited.action).as_str().unwrap_or_default(),
        audited.target_id,
        text(&audited.before),
        text(&audited.after)
    )
}

/// Stops mails to the address of the account of `entry` again, if they are still stopped in `former`. Returns whether they
/// were not in `store`.
async fn stop_again(former: &Store, store: &Store, entry: &AuditEntry) -> Result<bool, ApiError> {
    let Some(user) = former.user(UserId::new(entry.audited.target_id)).await? else {
        return Ok(false);
    };
    let at = entry.created_at;
    let Some(cause) = former.mail_stop(&user.email, at).await? else {
        return Ok(false);
    };
    let mut tx = store.transaction();
    tx.stop_mails(&user.email, cause, at, at);
    if !store.has_audit(entry).await? {
        tx.record_audit(entry);
    }
    Ok(tx.commit().await? == CommitOutcome::Committed)
}

/// Adds the numbers again that have been added to the list of `committee`, or of all committees (`None`), since `from` and
/// are there. A line for each goes to `applied`.
async fn opt_out_again(
    former: &Store,
    store: &Store,
    committee: Option<CommitteeId>,
    from: Instant,
    entries: &[AuditEntry],
    applied: &mut Vec<String>,
) -> Result<(), ApiError> {
    let mut position = None;
    loop {
        let page: Page<OptOut> = former.opt_outs(committee, position.as_deref(), PAGE).await?;
        let is_whole = page.items.iter().all(|opt_out| opt_out.created_at >= from);
        for opt_out in page.items.iter().filter(|opt_out| opt_out.created_at >= from) {
            let entry = entries.iter().find(|entry| {
                entry.audited.action == Action::OptOutAdded
                    && (entry.actor_id, entry.created_at)
                        == (opt_out.created_by, opt_out.created_at)
            });
            let mut tx = store.transaction();
            tx.opt_out(opt_out);
            if let Some(entry) = entry
                && !store.has_audit(entry).await?
            {
                tx.record_audit(entry);
            }
            if tx.commit().await? == CommitOutcome::Committed {
                applied.push(format!("opted out: {}", opt_out.number));
            }
        }
        position = page.last.filter(|_| is_whole);
        if position.is_none() {
            return Ok(());
        }
    }
}

/// The accounts of `committee` that have another password in `former` than in `store`.
async fn with_other_password(
    former: &Store,
    store: &Store,
    committee: CommitteeId,
) -> Result<Vec<UserId>, StoreError> {
    let page = |position: Option<String>| async move {
        former.users(committee, position.as_deref(), PAGE, None::<fn(&User) -> bool>).await
    };
    let mut found = Vec::new();
    for user in all_pages(page).await? {
        // A change of the password raises the version of the account.
        let restored = store.user(user.user_id).await?;
        if restored.is_none_or(|restored| restored.version == user.version) {
            continue;
        }
        if former.credentials(user.user_id).await? != store.credentials(user.user_id).await? {
            found.push(user.user_id);
        }
    }
    Ok(found)
}
