//! `POST /users/email-verification`: sends a code to the caller's mailbox. `PUT`: verifies the mailbox with it.

use accounts::{VerifiedCode, email_challenge, may_use, pending_email_challenge};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, SignedIn, input, success,
    text,
};
use domain::{
    Email, Instant,
    audit::AuditEntry,
    code::{Challenge, Code, CodeKind, TypedCode},
    outbox::Notification,
    session::Session,
    user::User,
};
use identity::random;
use store::{Part, Transaction};

use crate::Users;

/// Sends the code to the pending address if there is one, else to the current one.
pub(crate) async fn request(
    State(users): State<Users>,
    Now(now): Now,
    caller: SignedIn,
) -> ApiResult<Empty> {
    let user = &caller.user;
    let email = user.pending_email.as_ref().unwrap_or(&user.email);
    let (reserved, owner) = tokio::join!(
        users.codes.reserve_send(CodeKind::Email, user.email.as_str(), now),
        users.store.email_owner(email)
    );
    let reserved = reserved?;
    let sent = async {
        // Another account may have taken the pending address in the meantime.
        let is_taken = owner?.is_some_and(|owner| owner.user_id != user.user_id);
        if is_taken || reserved.is_none() {
            return Ok(());
        }
        users.codes.send_to_mailbox(user, email, now).await
    };
    let sent = sent.await;
    users.codes.release_unless_sent(reserved, sent).await?;
    success(Message::VerificationSent, Empty {})
}

input! {
    pub(crate) struct VerifyEmailRequest {
        email: Email = required("email", text),
        code: TypedCode = required("code", text),
    }
}

/// Needs no session, because the mail may be read on another device. In a session of the account, that session stays; in
/// one of another account the code is invalid.
pub(crate) async fn verify(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    caller: Option<SignedIn>,
    Input(VerifyEmailRequest { email, code }): Input<VerifyEmailRequest>,
) -> ApiResult<Empty> {
    let session = caller.map(|caller| caller.session);
    let caller_id = session.as_ref().map(|session| session.user_id);
    let Some(VerifiedCode { code: verified, challenge, reserved }) =
        users.codes.verify_address(&email, caller_id, code.as_str(), &client, now).await?
    else {
        return Err(ErrorCode::VerificationInvalid.into());
    };
    // In a session the code must be its account's own: somebody else may want the same address, and their mail looks the
    // same.
    let is_foreign = caller_id.is_some_and(|caller| caller != verified.user_id);
    let found = (challenge, &verified);
    let changing = async {
        match is_foreign {
            true => Err(ErrorCode::VerificationInvalid.into()),
            false => verify_mailbox(&users, &email, found, session.as_ref(), now).await,
        }
    };
    let (changed, _) = tokio::join!(changing, users.store.release(reserved));
    let found = (CodeKind::Email, challenge, &verified);
    users.codes.return_unless_used(found, &client, changed).await?;
    success(Message::EmailVerified, Empty {})
}

/// Uses up the code and verifies the current address, or replaces it by the pending one and notifies the old one. If
/// another account has taken the address in the meantime, the code is not used up. Mails to the address that were stopped
/// are sent again. `session` is the caller's, if it is one of the account.
async fn verify_mailbox(
    users: &Users,
    email: &Email,
    (challenge, code): (Challenge, &Code),
    session: Option<&Session>,
    now: Instant,
) -> Result<User, ApiError> {
    let invalid = || ApiError::from(ErrorCode::VerificationInvalid);
    let (user, stop) =
        tokio::try_join!(users.store.user(code.user_id), users.store.mail_stop(email))?;
    let user = user.ok_or_else(invalid)?;
    let verify = |user: &User, tx: &mut Transaction| {
        let is_change = challenge == pending_email_challenge(email, user.user_id)
            && user.pending_email.as_ref() == Some(email);
        let is_current = user.email == *email && challenge == email_challenge(email);
        if !may_use(user, code) || !(is_change || is_current) {
            return Err(invalid());
        }
        tx.use_code(CodeKind::Email, challenge, code, now);
        if is_change {
            let notification = Notification::EmailChanged { at: now };
            tx.release_email(&user.email);
            tx.reserve_email(email, user.user_id, user.committee_id);
            tx.send(&users.codes.outbox().notify(user, notification, now)?);
        }
        if stop.is_some() {
            let id = random::id(now);
            tx.resume_mails(email, now);
            tx.record_audit(&AuditEntry::of_mail_stop(id, user, stop, None, now));
        }
        let after = user.changed(|user| {
            user.verify_mailbox(users.mailbox_verifies(), session.is_some());
            if is_change {
                user.pending_email = None;
                user.email = email.clone();
            }
        });
        users.codes.report_removed_passkeys(tx, user, &after, now)?;
        if let Some(session) = session.filter(|_| after.epoch != user.epoch) {
            let kept = Session { epoch: after.epoch, ..session.clone() };
            tx.renew_session(session, &kept);
        }
        Ok(after)
    };
    let condition_error = |part| match part {
        Part::Email => ApiError::field("email", ErrorCode::EmailAlreadyUsed),
        _ => invalid(),
    };
    users.store.update_user(user, verify, condition_error).await
}
