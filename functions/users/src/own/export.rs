//! `GET /users/{userId}/export`: returns all data about the caller that they may read, or a link to it.

use axum::extract::State;
use common::{ApiError, ApiResult, Now, Path, SignedIn, ok};
use domain::{
    Instant, UserId,
    audit::AuditEntry,
    certificate::OwnCertificateView,
    course::{Course, CourseState},
    file::{File, FileView},
    limits,
    login_activity::LoginActivity,
    passkey::PasskeyView,
    permissions::Right,
    registration::{Reader, RegistrationState, RegistrationView},
    session::SessionView,
    sms::Sms,
    user::AccountWithCommittee,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use identity::random;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use storage::EXPORT_TIME;
use store::{AuditList, Counter, CourseList, Senders, StoreError, all_pages, with_time_limit};

use crate::Users;

/// Entries per page of a list; the store ends pages at 1 MB.
const PAGE: u16 = 1000;
/// Bytes of the largest export in a response.
const MAX_INLINE: usize = 4_000_000;
/// Bytes of the largest export in the JSON string that Lambda makes of the body, in which quotation marks and backslashes have two bytes,
/// and which it limits to 6 MB (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>).
const MAX_ESCAPED: usize = 5_500_000;
/// Registrations that are read at once.
const AT_ONCE: usize = 10;

#[derive(Serialize)]
pub(crate) struct ExportResponse {
    export: ExportView,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ExportView {
    /// An [`Export`].
    Inline(Box<RawValue>),
    /// A link to an object with an [`Export`].
    #[serde(rename_all = "camelCase")]
    Link { url: String, expires_at: Instant },
}

#[derive(Serialize)]
struct Export {
    user: AccountWithCommittee,
    activity: Vec<LoginActivity>,
    sessions: Vec<SessionView>,
    passkeys: Vec<PasskeyView>,
    files: Vec<FileView>,
    courses: Vec<Course>,
    registrations: Vec<RegistrationView>,
    certificates: Vec<OwnCertificateView>,
    sms: Vec<Sms>,
    audit: Vec<AuditEntry>,
}

pub(crate) async fn export(
    State(users): State<Users>,
    Now(now): Now,
    caller: SignedIn,
    Path(id): Path<UserId>,
) -> ApiResult<ExportResponse> {
    users.require_self(&caller, id).await?;
    // Every export counts, also one that fails after reading much, so the reservation is not released.
    let _ = users.store.reserve(&[Counter::of(limits::EXPORT, id)], now).await?;
    // The time is the only limit on the size: at an estimated 5 MB per second an export can have 100 MB, which is 200,000 text
    // messages. The function then holds it as entries and as text, about 400 of its 1,024 MB.
    let read = with_time_limit(EXPORT_TIME, users.read_export(&caller, now)).await?;
    let text = to_raw_value(&read)?;
    let bytes = text.get().len();
    let escaped = text.get().bytes().filter(|byte| b"\"\\".contains(byte));
    let export = if bytes <= MAX_INLINE && bytes + escaped.count() <= MAX_ESCAPED {
        ExportView::Inline(text)
    } else {
        users.export_link(text, now).await?
    };
    ok(ExportResponse { export })
}

impl Users {
    /// Everything about the caller that they may also read by the other operations.
    async fn read_export(&self, caller: &SignedIn, now: Instant) -> Result<Export, StoreError> {
        let (store, user) = (&self.store, &caller.user);
        let id = user.user_id;
        let lists: Vec<CourseList> =
            CourseState::ALL.iter().map(|state| CourseList::OfAuthor(id, *state)).collect();
        let lists = lists.as_slice();
        let (
            activity,
            sessions,
            mut passkeys,
            files,
            mut courses,
            registrations,
            certificates,
            mut sms,
            mut audit,
        ) = tokio::try_join!(
            all_pages(|at| async move {
                let at = at.as_deref();
                store.login_activity_page(id, at, PAGE, now).await
            }),
            all_pages(|at| async move {
                let at = at.as_deref();
                store.sessions_page(user, at, PAGE, now).await
            }),
            store.passkeys(id),
            all_pages(|at| async move { store.files(id, at.as_deref(), PAGE).await }),
            all_pages(|at| async move { store.courses(lists, at.as_deref(), PAGE).await }),
            self.own_registrations(id, now),
            // Not more, because they are read again by their codes.
            all_pages(|at| async move { store.certificates_of(id, at.as_deref(), 100).await }),
            all_pages(|at| async move {
                let at = at.as_deref();
                store.kept_sms_of(Senders::User(id), at, PAGE, now).await
            }),
            all_pages(|at| async move {
                let at = at.as_deref();
                store.audit(AuditList::Person(id), at, PAGE, now).await
            }),
        )?;
        // Authors who have changed committee or lost a right may no longer read their drafts.
        let (rights, is_verified) = (user.rights(), user.is_verified);
        courses.retain(|Course { summary, .. }| {
            let (state, author) = (summary.state, summary.created_by);
            (is_verified || state == CourseState::Published)
                && rights.may(state.read_right(), author, summary.committee_id)
        });
        sms.retain(|_| is_verified);
        let may_audit = |actor, committee| rights.may(Right::ReadAudit, actor, committee);
        audit.retain(|entry| is_verified && may_audit(entry.actor_id, entry.audited.committee_id));
        passkeys.retain(|passkey| passkey.is_of(user));
        let current = caller.session.sid;
        let sessions =
            sessions.into_iter().map(|session| SessionView::of(session, current)).collect();
        Ok(Export {
            user: caller.account(),
            activity,
            sessions,
            passkeys: passkeys.into_iter().map(PasskeyView::from).collect(),
            files: files.into_iter().map(File::listed).collect(),
            courses,
            registrations: registrations.into_iter().flatten().collect(),
            certificates: certificates.iter().map(|one| one.own(now)).collect(),
            sms,
            audit,
        })
    }

    /// All registrations of the user `id`, latest change first; `None` for one whose lists are not up to date.
    async fn own_registrations(
        &self,
        id: UserId,
        now: Instant,
    ) -> Result<Vec<Option<RegistrationView>>, StoreError> {
        let store = &self.store;
        let states = &RegistrationState::ALL;
        let listed =
            all_pages(
                |at| async move { store.registrations_of(id, states, at.as_deref(), PAGE).await },
            );
        let views = listed.await?.into_iter().map(|listed| async move {
            let course = listed.card.course_id;
            let read =
                tokio::try_join!(store.course_terms(course), store.full_registration(course, id));
            let (Some(course), Some(full)) = read? else { return Ok(None) };
            let reader = Reader { is_writer: false, is_own: true, may_act: true };
            store.registration_view(&course, None, full, reader, now).await.map(Some)
        });
        stream::iter(views).buffered(AT_ONCE).try_collect().await
    }

    /// Stores the export `text`, and signs a link to it.
    async fn export_link(&self, text: Box<RawValue>, now: Instant) -> Result<ExportView, ApiError> {
        let text: Box<str> = text.into();
        let (id, bytes) = (random::id(now), String::from(text).into());
        let stored = self.bucket.export(id, "export.json", "application/json", bytes, now);
        let (url, expires_at) = stored.await?;
        Ok(ExportView::Link { url, expires_at })
    }
}
