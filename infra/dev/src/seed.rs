//! `cargo dev seed`: writes the demonstration data. It has the objects whose ids stand in the examples of the OpenAPI
//! document, so that the requests of the examples succeed, and a few more.

pub(crate) mod records;

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use domain::{
    BatchId, CourseId, CourseSessionId, Instant, Line, Name, Profile, QuestionId, UserId,
    attendance::{AttendanceStatus, CourseSession, CourseSessions, Hand, Mark, Submitted, Ticket},
    batch::{Batch, Chunk, Entry},
    certificate::{Candidate, Issue},
    committee::Committee,
    course::Course,
    file::{File, Status},
    login_activity::{Location, LoginActivity},
    outbox::State,
    passkey::Passkey,
    question::Question,
    registration::{
        Admission, Clearing, Reason, Registration, RegistrationSettings, RegistrationState,
        answered, merged,
    },
    session::Session,
    sms::{OptOut, Recipient, Sms, Text},
    user::User,
};
use identity::password::Hasher;
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use storage::{Bucket, file_key, upload_key};
use store::{
    Attendee, CommitOutcome, NewUser, Outbound, Reservation, SeatRule, Setup, Store, Transaction,
    chunk_pk,
};

use self::records::{SEED, all};
use cloud::LocalError;

/// The password of all demonstration accounts.
pub(crate) const PASSWORD: &str = "sept grenadiers en fleur";
/// How long sessions last, and a message that is being sent stays so.
const DAY: Duration = Duration::from_secs(86_400);
/// The quota of a person, in bytes.
const QUOTA: u64 = 1_000_000_000;
/// A page without content. Readers find its objects without a table of their positions.
const PDF: &str = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj\ntrailer<</Root 1 0 R>>\n";

/// A text message of the demonstration data, with its text.
#[derive(Deserialize)]
struct Message {
    #[serde(flatten)]
    sms: Sms,
    message: Text,
}

/// The registrations for a course.
#[derive(Deserialize)]
struct RegistrationSeed {
    #[serde(rename = "courseID")]
    course_id: CourseId,
    /// Those that differ from the defaults.
    settings: Map<String, Value>,
    people: Vec<Registered>,
    #[serde(default)]
    markers: Vec<UserId>,
    #[serde(default)]
    sessions: Vec<Held>,
    #[serde(default)]
    certificates: Vec<Issued>,
}

/// A certificate of the course.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Issued {
    code: String,
    #[serde(rename = "userID")]
    user_id: UserId,
    /// How many hours after now it was issued.
    hours: i64,
    /// How long it is valid, if the rules of the course were others.
    valid_months: Option<u8>,
    /// The names of the person at that time, if they were others.
    name: Option<Name>,
    last_name: Option<Name>,
    /// Why it was revoked, if it was.
    reason: Option<Reason>,
    #[serde(default)]
    is_anonymous: bool,
}

/// A session of the course, of three hours.
#[derive(Deserialize)]
struct Held {
    #[serde(rename = "sessionID")]
    session_id: CourseSessionId,
    title: Line<200>,
    /// How many hours after now it starts.
    hours: i64,
    #[serde(default)]
    trainers: Vec<Name>,
    marks: Vec<Marked>,
}

/// A mark: a scan, this many minutes after the start, or a hand.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Marked {
    #[serde(rename = "userID")]
    user_id: UserId,
    scanned_after: Option<i64>,
    status: Option<AttendanceStatus>,
    minutes: Option<u32>,
    note: Option<Line<200>>,
}

impl Held {
    fn session(&self, now: Instant) -> CourseSession {
        let start_at = minutes_after(now, self.hours * 60);
        CourseSession {
            session_id: self.session_id,
            title: Some(self.title.clone()),
            start_at,
            end_at: minutes_after(start_at, 180),
            location: None,
            trainers: self.trainers.clone(),
            cancelled: false,
        }
    }
}

impl Marked {
    fn submitted(&self, start: Instant) -> Submitted {
        let Self { status, minutes, note, .. } = self;
        match self.scanned_after {
            Some(minutes) => Submitted::Scan(Some(minutes_after(start, minutes))),
            None => {
                let hand = Hand { status: *status, minutes: *minutes, note: note.clone() };
                Submitted::Hand { seen: 0, hand }
            }
        }
    }
}

fn minutes_after(time: Instant, minutes: i64) -> Instant {
    Instant::from_unix_milliseconds(time.unix_milliseconds() + minutes * 60_000)
}

/// A person who is registered.
#[derive(Deserialize)]
struct Registered {
    #[serde(rename = "userID")]
    user_id: UserId,
    state: RegistrationState,
    answers: BTreeMap<QuestionId, Box<RawValue>>,
}

impl RegistrationSeed {
    fn read() -> Result<Vec<Self>, LocalError> {
        Vec::deserialize(&SEED["registrations"]).map_err(|error| LocalError::new(error.to_string()))
    }

    fn settings(&self, now: Instant) -> Result<RegistrationSettings, LocalError> {
        let malformed = |error: serde_json::Error| LocalError::new(error.to_string());
        let defaults =
            RegistrationSettings { updated_at: Some(now), ..RegistrationSettings::default() };
        let mut settings = serde_json::to_value(defaults).map_err(malformed)?;
        for (name, value) in &self.settings {
            settings[name] = value.clone();
        }
        serde_json::from_value(settings).map_err(malformed)
    }
}

/// A batch of the demonstration data, with its text.
#[derive(Deserialize)]
struct Batched {
    #[serde(flatten)]
    batch: Batch,
    message: Text,
}

/// The people of the demonstration data.
///
/// # Errors
/// When the demonstration data is malformed.
pub(crate) fn people() -> Result<Vec<User>, LocalError> {
    // What the API does not show.
    let hidden = json!({
        "avatarNumber": 0, "isPhoneVerified": false, "isMailboxVerified": false, "isVerificationWithdrawn": false, "passkeys": 0, "passkeySeries": 0, "deviceSeries": 0,
    });
    let (mut people, passkeys): (Vec<User>, _) = (all("users", &hidden)?, passkeys()?);
    for user in &mut people {
        user.is_mailbox_verified = user.is_verified;
        let own = passkeys.iter().filter(|passkey| passkey.user_id == user.user_id).count();
        user.passkeys = u32::try_from(own).unwrap_or(u32::MAX);
    }
    Ok(people)
}

fn passkeys() -> Result<Vec<Passkey>, LocalError> {
    let mut passkeys: Vec<Passkey> = all("passkeys", &json!({}))?;
    for passkey in &mut passkeys {
        // No authenticator has it.
        passkey.credential.credential_id = passkey.passkey_id.to_string();
    }
    Ok(passkeys)
}

/// Whether the demonstration data was written: one of its people has an account.
///
/// # Errors
/// When the store does not answer.
pub async fn is_there(store: &Store) -> Result<bool, LocalError> {
    for person in people()? {
        if store.email_owner(&person.email).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The accounts that the API reference offers: `name`, `email` and `password` of a person of each profile, or of the
/// `administrator` without demonstration data.
///
/// # Errors
/// As [`is_there`].
pub async fn accounts(store: &Store, administrator: [&str; 2]) -> Result<Vec<Value>, LocalError> {
    let account = |name: &str, email: &str, password: &str| json!({ "name": name, "email": email, "password": password });
    if !is_there(store).await? {
        let [email, password] = administrator;
        return Ok(vec![account("Super admin", email, password)]);
    }
    let people = people()?;
    let profiles = [
        (Profile::SuperAdmin, "Super admin"),
        (Profile::CommitteeAdmin, "Committee admin"),
        (Profile::Trainer, "Trainer"),
        (Profile::Member, "Member"),
    ];
    let first = |(profile, name)| {
        let mut fit = people.iter().filter(|user| user.is_active && user.is_verified);
        let person = fit.find(|user| user.profile == profile)?;
        Some(account(name, person.email.as_str(), PASSWORD))
    };
    Ok(profiles.into_iter().filter_map(first).collect())
}

/// Writes the demonstration data unless it is there.
///
/// # Errors
/// When the store or the bucket does not answer.
pub async fn fill(setup: &Setup) -> Result<(), LocalError> {
    let (store, now) = (&setup.store, setup.clock.now());
    if is_there(store).await? {
        return Ok(());
    }
    for committee in all::<Committee>("committees", &json!({}))? {
        commit(store, |tx| tx.create_committee(&committee)).await?;
    }
    let password_hash = Hasher::default()
        .hash(&PASSWORD.into())
        .await
        .map_err(|error| LocalError::new(error.to_string()))?;
    let people = people()?;
    for user in &people {
        let new = NewUser { user: user.clone(), password_hash: password_hash.clone() };
        let mut before = user.clone();
        before.is_active = false;
        commit(store, |tx| {
            tx.new_user(&new);
            tx.update_admins(&before, user);
        })
        .await?;
    }
    for passkey in passkeys()? {
        let owner = people.iter().find(|user| user.user_id == passkey.user_id);
        if let Some(owner) = owner {
            commit(store, |tx| tx.add_passkey(&passkey, owner.committee_id)).await?;
        }
    }
    for opt_out in all::<OptOut>("optOuts", &json!({}))? {
        commit(store, |tx| tx.opt_out(&opt_out)).await?;
    }
    add_sessions(store, now).await?;
    add_courses(store).await?;
    add_registrations(store, &people, now).await?;
    add_files(setup, now).await?;
    add_messages(store, now).await
}

/// Commits a transaction of `write`.
async fn commit(store: &Store, write: impl FnOnce(&mut Transaction)) -> Result<(), LocalError> {
    let mut tx = store.transaction();
    write(&mut tx);
    match tx.commit().await? {
        CommitOutcome::Committed => Ok(()),
        CommitOutcome::ConditionFailed(part) => Err(LocalError::new(format!(
            "A part of the demonstration data is there already ({part:?}): `cargo dev reset` deletes all data."
        ))),
    }
}

async fn add_sessions(store: &Store, now: Instant) -> Result<(), LocalError> {
    let times = json!({ "createdAt": now, "lastActive": now, "authTime": now, "expiresAt": now.after(DAY) });
    for session in all::<Session>("sessions", &times)? {
        let Session { user_id, ip, agent, amr, .. } = session.clone();
        let mut activity = LoginActivity::new(user_id, ip, Location::default(), agent, amr, now);
        let (tx, mut reserved) = (store.transaction(), Reservation::default());
        // Nothing is added whose condition could fail.
        let _ = store.sign_in(&session, &mut activity, tx, &mut reserved).await?;
    }
    Ok(())
}

async fn add_courses(store: &Store) -> Result<(), LocalError> {
    let questions: Vec<Question> = all("questions", &json!({}))?;
    for mut course in all::<Course>("courses", &json!({ "questionCount": 0 }))? {
        let id = course.summary.course_id;
        let own: Vec<Question> =
            questions.iter().filter(|question| question.course_id == id).cloned().collect();
        course.summary.question_count = own.len().try_into().unwrap_or(u32::MAX);
        commit(store, |tx| tx.new_course(&course, own)).await?;
    }
    Ok(())
}

async fn add_registrations(store: &Store, people: &[User], now: Instant) -> Result<(), LocalError> {
    for own in RegistrationSeed::read()? {
        let id = own.course_id;
        let Some(full) = store.full_course(id).await? else { continue };
        let (course, questions) = (&full.course.summary, &full.questions);
        let (settings, language) = (own.settings(now)?, &course.language);
        commit(store, |tx| tx.set_registration_settings(course, &full.settings, &settings, now))
            .await?;
        for Registered { user_id, state, answers } in &own.people {
            let (user_id, state) = (*user_id, *state);
            let Some(user) = people.iter().find(|user| user.user_id == user_id) else { continue };
            let (answers, errors) = merged(questions, language, &[], answers, Clearing::Any);
            if !errors.is_empty() {
                return Err(LocalError::new(format!("{errors:?}")));
            }
            let number = store.next_number(id).await?;
            let admission = Admission { number, state, ticket: ticket(number) };
            let mut registration = Registration::new(None, id, user, admission, now);
            registration.card.language = language.clone();
            registration.card.answered = answered(&answers);
            commit(store, |tx| {
                tx.move_registrations(id, &[(None, &registration)], SeatRule::None, u64::MAX);
                tx.set_answers(&registration, &answers, 0);
            })
            .await?;
        }
        if !own.sessions.is_empty() {
            add_attendance(store, &own, now).await?;
        }
        add_certificates(store, &own, now).await?;
    }
    Ok(())
}

/// Issues the certificates of `own`, in their order, and revokes some of them, or makes them anonymous.
async fn add_certificates(
    store: &Store,
    own: &RegistrationSeed,
    now: Instant,
) -> Result<(), LocalError> {
    for Issued { code, user_id, hours, valid_months, name, last_name, reason, is_anonymous } in
        &own.certificates
    {
        let Some(full) = store.full_course(own.course_id).await? else { return Ok(()) };
        let course = &full.course.summary;
        let committee = store.committee(course.committee_id).await?;
        let attendee = store.attendees(own.course_id, &[*user_id]).await?.pop().flatten();
        let Some(((committee, rules), attendee)) =
            committee.zip(full.settings.certificate).zip(attendee)
        else {
            continue;
        };
        let sessions = &full.sessions.sessions;
        let issue = Issue { course, sessions, committee: &committee, rules: &rules };
        let Attendee { registration, stored, user } = &attendee;
        let candidate = Candidate { registration, user, marks: &stored.marks };
        let code = code.parse().map_err(|_| LocalError::new("a code is malformed"))?;
        let issued_at = minutes_after(now, hours * 60);
        let mut issued = issue.certificate(code, candidate, issued_at);
        issued.snapshot.expires_at = valid_months.map(|months| issued_at.after_months(months));
        issued.snapshot.name = name.clone().or(issued.snapshot.name);
        issued.snapshot.last_name = last_name.clone().or(issued.snapshot.last_name);
        let forget_at = issued_at.after(DAY * 3650);
        commit(store, |tx| tx.add_certificate(&issued, registration, stored, forget_at)).await?;
        let mut after = issued.clone();
        if let Some(reason) = reason {
            after = after.revoked(reason.clone(), issued_at.after(DAY));
        }
        if *is_anonymous {
            after = after.anonymised();
        }
        if after != issued {
            commit(store, |tx| tx.change_certificate(&issued, &after)).await?;
        }
    }
    Ok(())
}

/// Gives the course of `own` its sessions, and people their marks.
async fn add_attendance(
    store: &Store,
    own: &RegistrationSeed,
    now: Instant,
) -> Result<(), LocalError> {
    let id = own.course_id;
    let sessions = own.sessions.iter().map(|held| held.session(now)).collect();
    let overlap = |_| LocalError::new("sessions of the demonstration data overlap");
    let sessions = CourseSessions::new(sessions).map_err(overlap)?;
    let Some(full) = store.full_course(id).await? else { return Ok(()) };
    let (course, dates) = (&full.course, sessions.dates());
    let after = course.changed(course.summary.updated_at, |course| {
        let content = &mut course.summary.content;
        (content.start_at, content.end_at) = dates.unzip();
    });
    let write = |tx: &mut Transaction| {
        tx.set_sessions(&course.summary, &after, &full.sessions, &sessions, &own.markers);
    };
    commit(store, write).await?;
    let Some(full) = store.full_course(id).await? else { return Ok(()) };
    let marked = own.sessions.iter().filter(|held| !held.marks.is_empty());
    let marked = marked.map(|held| held.session_id).collect();
    commit(store, |tx| tx.mark_sessions(id, &full.sessions, &marked)).await?;
    let by = full.course.summary.created_by;
    for held in &own.sessions {
        let session = held.session(now);
        for mark in &held.marks {
            let submitted = mark.submitted(session.start_at);
            let attendee = store.attendees(id, &[mark.user_id]).await?.pop().flatten();
            let decide = |attendee: Option<&Attendee>| {
                let mut marks = attendee.map(|one| one.stored.marks.clone()).unwrap_or_default();
                let (_, merged) = Mark::merged(None, &submitted, by, session.end_at.min(now));
                marks.0.extend(merged.map(|merged| (held.session_id, merged)));
                Ok::<_, LocalError>((Some(marks), ()))
            };
            store.update_marks(id, mark.user_id, attendee, decide).await?;
        }
    }
    Ok(())
}

/// That of the registration with this `number`: the same in each copy of the demonstration data.
fn ticket(number: u64) -> Ticket {
    Ticket::new([u8::try_from(number).unwrap_or_default(); 10])
}

async fn add_files(setup: &Setup, now: Instant) -> Result<(), LocalError> {
    let bucket = Bucket::new(&setup.aws, &setup.settings)?;
    for file in all::<File>("files", &json!({ "createdAt": now }))? {
        let kind = file.content_type.code();
        let mut content =
            if kind == "application/pdf" { PDF } else { file.name.as_str() }.as_bytes().to_vec();
        content.resize(usize::try_from(file.size).unwrap_or_default(), b'\n');
        let is_ready = file.status == Status::Ready;
        let key = if is_ready { file_key(file.file_id) } else { upload_key(file.file_id) };
        let stored = bucket.put(&key, kind, None, Bytes::from(content)).await;
        stored.map_err(|error| LocalError::new(format!("The bucket rejected a file: {error}.")))?;
        let id = file.file_id;
        let pending = File { status: Status::Pending, ..file };
        commit(&setup.store, |tx| tx.new_file(&pending, QUOTA)).await?;
        if is_ready {
            setup.store.complete_file(id).await?;
        }
    }
    Ok(())
}

/// Queues the messages, and then brings each to its state, through the writes by which messages are sent.
async fn add_messages(store: &Store, now: Instant) -> Result<(), LocalError> {
    let times = json!({ "createdAt": now, "updatedAt": now });
    let messages: Vec<Message> = all("sms", &times)?;
    for Message { sms, message } in messages.iter().filter(|message| message.sms.batch_id.is_none())
    {
        let queued = Sms { status: State::Queued, failure: None, ..sms.clone() };
        commit(store, |tx| tx.accept_sms(&queued, message)).await?;
    }
    for Batched { batch, message } in all("batches", &times)? {
        let entries = messages.iter().filter_map(|Message { sms, message }| {
            let (of, place) = BatchId::of_message(sms.sms_id)?;
            let recipient = Recipient { to: sms.to.clone(), client_ref: sms.client_ref.clone() };
            (of == batch.batch_id).then(|| Entry { place, recipient, text: Some(message.clone()) })
        });
        let (batch_id, sending) = (batch.batch_id, batch.sending.clone());
        let chunk = Chunk { batch_id, number: 0, sending, entries: entries.collect() };
        commit(store, |tx| tx.accept_batch(&batch, Some(&message), &[chunk])).await?;
        store.expand_chunk(&chunk_pk(batch_id, 0), now).await?;
    }
    for Message { sms, .. } in messages.iter().filter(|message| message.sms.status != State::Queued)
    {
        let what = Outbound::Sms(sms.sms_id);
        let Some(claimed) = store.claim(what, now.after(DAY), now).await? else {
            continue;
        };
        if sms.status != State::Sending {
            store.record_outcome(what, claimed.attempts, sms.status, sms.failure, now).await?;
        }
    }
    Ok(())
}
