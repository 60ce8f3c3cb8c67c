//! `POST /users/email-verification`: sends a code to the caller's mailbox. `PUT`: verifies the mailbox with it.

use accounts::{email_challenge, may_use, pending_email_challenge};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, SignedIn, input, success,
    text,
};
use domain::{
    Email, Instant,
    audit::AuditedAction,
    code::{Challenge, Code, CodeId, CodeKind, TypedCode},
    outbox::AccountEvent,
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
        users.codes.require_send(CodeKind::Email, user, now),
        users.store.email_owner(email)
    );
    let reserved = reserved?;
    let sent = async {
        // Another account may have taken the pending address in the meantime.
        if owner?.is_some_and(|owner| owner.user_id != user.user_id) {
            return Err(ErrorCode::EmailTaken.into());
        }
        users.codes.send_to_mailbox(user, email, now).await
    };
    let sent = sent.await;
    users.codes.release_unless_sent(reserved, sent).await?;
    success(Message::VerificationSent, Empty {})
}

input! {
    pub(crate) struct VerifyEmailRequest {
        code: TypedCode = required("code", text),
        email: Option<Email> = optional("email", text),
    }
}

/// Needs a session of the account, so that nobody verifies an account that somebody else registered, or moves one to
/// their address, by a click. Without `email` the code is that of the pending address if there is one, else of the
/// current one.
pub(crate) async fn verify(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    SignedIn { user, session, .. }: SignedIn,
    Input(VerifyEmailRequest { code, email }): Input<VerifyEmailRequest>,
) -> ApiResult<Empty> {
    let email = email.or(user.pending_email.clone()).unwrap_or_else(|| user.email.clone());
    let account = email_challenge(&user.email);
    let challenge =
        if email == user.email { account } else { pending_email_challenge(&email, user.user_id) };
    let id = CodeId { kind: CodeKind::Email, challenge };
    let found = users.codes.verify(id, account, code.as_str(), &client, now).await?;
    let (code, attempt) = found.ok_or(ErrorCode::VerificationInvalid)?;
    let proof = Proof { email: &email, challenge, code: &code };
    let changed = verify_mailbox(&users, proof, user, session, now);
    attempt.end_with(changed).await?;
    success(Message::EmailVerified, Empty {})
}

/// The code of a challenge that was sent to an address.
struct Proof<'a> {
    email: &'a Email,
    challenge: Challenge,
    code: &'a Code,
}

/// Uses up the code and verifies the current address, or replaces it by the pending one and notifies the old one. If
/// another account has taken the address in the meantime, the code is not used up. Mails to the address that were stopped
/// are sent again. The first proof of the mailbox ends all sessions but this one.
async fn verify_mailbox(
    users: &Users,
    Proof { email, challenge, code }: Proof<'_>,
    user: User,
    session: Session,
    now: Instant,
) -> Result<(User, Session), ApiError> {
    let invalid = || ApiError::from(ErrorCode::VerificationInvalid);
    let stop = users.store.mail_stop(email, now).await?;
    let decide = |user: &User, session: &Session, tx: &mut Transaction| {
        let is_change = challenge == pending_email_challenge(email, user.user_id)
            && user.pending_email.as_ref() == Some(email);
        let is_current = user.email == *email && challenge == email_challenge(email);
        if !may_use(user, code) || !(is_change || is_current) {
            return Err(invalid());
        }
        tx.use_code(CodeId { kind: CodeKind::Email, challenge }, code);
        if is_change {
            tx.release_email(&user.email);
            tx.reserve_email(email, user.user_id, user.committee_id);
            tx.send(&users.codes.outbox().notify(user, AccountEvent::EmailChanged, now)?);
        }
        if stop.is_some() {
            let resumed = AuditedAction::of_mail_stop(user, stop, None);
            tx.resume_mails(email, now);
            tx.record_audit(&resumed.by(user, random::id(now), now));
        }
        let after = user.changed(|user| {
            user.verify_mailbox(users.registration.mailbox_verifies());
            if is_change {
                user.pending_email = None;
                user.email = email.clone();
            }
        });
        if after.epoch != user.epoch {
            tx.renew_session(session, &Session { epoch: after.epoch, ..session.clone() });
        }
        Ok(after)
    };
    let condition_error = |part| match part {
        Part::Email => ApiError::field("email", ErrorCode::EmailAlreadyUsed),
        Part::User | Part::Session => ApiError::invalid_token(),
        _ => invalid(),
    };
    users.store.update_own(user, session, now, decide, condition_error).await
}
