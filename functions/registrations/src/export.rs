//! `POST /registrations/{courseId}/export`: writes the registrations for a course, or a list to sign, to a workbook and returns
//! a link to it.

mod names;
mod sessions;
mod sheet;
mod signatures;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Fields, Input, InvalidField, Message, Now, Path, Permitted,
    course_rights::writable, input, rights::WriteCourses, success, text,
};
use domain::{
    CommitteeId, CourseId, Email, FileId, Instant, Prose, QuestionId, UserId, Zone,
    attendance::CourseSessions,
    audit::{Action, AuditedAction, values},
    certificate::{Certificate, CertificateSummary},
    course::CourseSummary,
    file::File,
    limits,
    question::QuestionType,
    registration::{Answer, ExportContent, HeadingLanguage, RegistrationCard, RegistrationState},
    user::User,
};
use futures_util::{StreamExt, TryStreamExt, future::try_join_all, stream};
use identity::random;
use serde::Serialize;
use serde_json::Value;
use storage::EXPORT_TIME;
use store::{
    Counter, FullCourse, FullRegistration, RegistrationOrder, StoreError, all_pages,
    with_time_limit,
};

use self::{
    names::{file_name, sheet_name},
    sheet::{Cell, Sheet},
    words::{DELETED, HEADINGS, LIST, MADE, NO, SIGNATURES, Word, YES, state},
};
use crate::Registrations;

/// The content type of a workbook.
const KIND: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
/// Registrations per page of a list; the store ends pages at 1 MB.
const PAGE: u16 = 1000;
/// Registrations that are read whole by one request.
pub(crate) const BATCH: usize = 25;
/// Such requests at once.
const AT_ONCE: usize = 8;

input! {
    pub(crate) struct ExportRequest: 262_144 {
        content: ExportContent = optional_or("content", text, ExportContent::Registrations),
        /// The states of the registrations in the list.
        states: Vec<RegistrationState> = group(states),
        language: HeadingLanguage = optional_or("language", text, HeadingLanguage::French),
    }
}

/// The states in `states`, or else the active ones.
fn states(fields: &mut Fields) -> Result<Vec<RegistrationState>, InvalidField> {
    let submitted: Vec<RegistrationState> =
        fields.texts("states", None, RegistrationState::ALL.len())?.unwrap_or_default();
    let is_wanted = |state: &RegistrationState| {
        if submitted.is_empty() { state.is_active() } else { submitted.contains(state) }
    };
    Ok(RegistrationState::ALL.into_iter().filter(is_wanted).collect())
}

#[derive(Serialize)]
pub(crate) struct ExportResponse {
    export: ExportView,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportView {
    url: String,
    expires_at: Instant,
    rows: usize,
    bytes: usize,
    file_name: String,
}

/// Shows each person once. The lists of the states are read one beside the other, so that a registration whose state changes
/// meanwhile may be missing.
pub(crate) async fn export(
    State(registrations): State<Registrations>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(id): Path<CourseId>,
    Input(request): Input<ExportRequest>,
) -> ApiResult<ExportResponse> {
    let (store, actor) = (&registrations.store, &writer.person.user);
    let mut course = store.full_course(id).await?.ok_or(ErrorCode::CourseNotFound)?;
    course.course = writable(Some(course.course), &writer.person)?;
    let (content, language) = (request.content, request.language);
    if content == ExportContent::Sheet && course.sessions.sessions.held().next().is_none() {
        return Err(ErrorCode::CourseWithoutSessions.into());
    }
    // Every export counts, also one that fails after reading much.
    let counter = Counter::of(limits::REGISTRATIONS_EXPORT, actor.user_id);
    let _ = store.reserve(&[counter], now).await?;
    let written = async {
        match content {
            ExportContent::Registrations => {
                let made = registrations.made(language, actor, now);
                registrations.written(&course, &request, made, now).await
            }
            ExportContent::Sheet => registrations.signatures(&course, language, now).await,
        }
    };
    let (rows, file) = with_time_limit(EXPORT_TIME, written).await?;
    let bytes = file.len();
    let (title, day) = (&course.course.summary.course_title, registrations.zone.local(now).date());
    let content = match content {
        ExportContent::Registrations => LIST,
        ExportContent::Sheet => SIGNATURES,
    };
    let file_name = file_name(title.as_str(), content.written_in(language), day);
    let stored = registrations.bucket.export(random::id(now), &file_name, KIND, file.into(), now);
    let (url, expires_at) = stored.await?;
    // The response contains the link, so the entry is written before it.
    let values = values([("rows", rows.into())]);
    let (action, summary) = (Action::RegistrationsExported, &course.course.summary);
    let exported = AuditedAction::of_course(action, summary, values);
    let mut tx = store.transaction();
    tx.record_audit(&exported.by(actor, random::id(now), now));
    tx.commit().await?.expect_committed()?;
    let export = ExportView { url, expires_at, rows, bytes, file_name };
    success(Message::RegistrationsExported, ExportResponse { export })
}

/// What the rows of one export have in common.
struct Columns<'a> {
    language: HeadingLanguage,
    zone: &'a Zone,
    /// Names by id.
    committees: HashMap<CommitteeId, String>,
    sessions: &'a CourseSessions,
    /// The questions of the course, then deleted ones.
    questions: Vec<QuestionId>,
}

/// Registrations that are read at once.
struct Batch {
    registrations: Vec<FullRegistration>,
    /// The certificate of each registration.
    certificates: Vec<Option<Certificate>>,
    /// The files in the answers that are ready.
    files: HashMap<FileId, File>,
}

impl Registrations {
    /// The number of rows, and the file. `made` ends its first line.
    async fn written(
        &self,
        course: &FullCourse,
        request: &ExportRequest,
        made: String,
        now: Instant,
    ) -> Result<(usize, Vec<u8>), ApiError> {
        let (summary, states) = (&course.course.summary, request.states.as_slice());
        let (id, language) = (summary.course_id, request.language);
        let cards = self.cards(id, states).await?;
        let asked = self.asked(course, &cards, language).await?;
        let zone = self.zone.name();
        let fixed = HEADINGS.map(|heading| heading.written_in(language).replace("{zone}", zone));
        let sessions = &course.sessions.sessions;
        let of_sessions = sessions::headings(sessions, language, &self.zone);
        let asked_headings = asked.iter().map(|(_, heading)| heading.clone());
        let headings: Vec<String> =
            fixed.into_iter().chain(of_sessions).chain(asked_headings).collect();
        let mut columns = Columns {
            language,
            zone: &self.zone,
            committees: HashMap::new(),
            sessions,
            questions: asked.into_iter().map(|(id, _)| id).collect(),
        };
        self.add_committees(&mut columns, [summary.committee_id]).await?;
        let name = sheet_name(summary.course_title.as_str(), language);
        let title = columns.title(summary, made);
        let mut sheet = Sheet::new(language, &name, &title, &headings)?;
        let users: Vec<UserId> = cards.iter().map(|card| card.user_id).collect();
        // Owned, because the compiler does not see that closures over slices live long enough.
        let batches: Vec<Vec<UserId>> = users.chunks(BATCH).map(<[UserId]>::to_vec).collect();
        let batches = batches.into_iter().map(|users| self.whole(id, users));
        let mut batches = stream::iter(batches).buffered(AT_ONCE);
        let mut rows = 0;
        while let Some(Batch { registrations, certificates, files }) = batches.try_next().await? {
            let committees = registrations.iter().map(|full| full.user.committee_id);
            self.add_committees(&mut columns, committees).await?;
            for (full, certificate) in registrations.into_iter().zip(certificates) {
                // The lists may be a little older.
                if states.contains(&full.registration.card.state) {
                    let certificate = certificate.map(|certificate| certificate.summary(now));
                    sheet.add(columns.row(full, certificate, &files))?;
                    rows += 1;
                }
            }
        }
        Ok((rows, sheet.finish()?))
    }

    /// The registrations for the course `id` in one of `states`, by number.
    pub(crate) async fn cards(
        &self,
        id: CourseId,
        states: &[RegistrationState],
    ) -> Result<Vec<RegistrationCard>, StoreError> {
        let lists = states.iter().map(|state| async move {
            all_pages(|at| async move {
                let order = RegistrationOrder::Number;
                self.store.registrations(id, &[*state], &order, at.as_deref(), PAGE).await
            })
            .await
        });
        let found = try_join_all(lists).await?.into_iter().flatten();
        // A registration that moves from one list to another is in both for a moment; BatchGetItem refuses a key twice.
        let cards: BTreeMap<UserId, RegistrationCard> =
            found.map(|card| (card.user_id, card)).collect();
        let mut cards: Vec<RegistrationCard> = cards.into_values().collect();
        cards.sort_unstable_by_key(|card| card.number);
        Ok(cards)
    }

    /// Adds the names of the committees `ids` to `columns`.
    async fn add_committees(
        &self,
        columns: &mut Columns<'_>,
        ids: impl IntoIterator<Item = CommitteeId>,
    ) -> Result<(), StoreError> {
        let names = &mut columns.committees;
        let ids: BTreeSet<CommitteeId> =
            ids.into_iter().filter(|id| !names.contains_key(id)).collect();
        let committees = stream::iter(ids).map(|id| self.store.committee(id)).buffered(AT_ONCE);
        let committees: Vec<_> = committees.try_collect().await?;
        for committee in committees.into_iter().flatten() {
            let name = match columns.language {
                HeadingLanguage::Arabic => committee.name_arabe,
                HeadingLanguage::French | HeadingLanguage::English => committee.name_latin,
            };
            names.insert(committee.committee_id, name.to_string());
        }
        Ok(())
    }

    /// The questions of `course`, and those of the answers in `cards` that were deleted, with their headings.
    async fn asked(
        &self,
        course: &FullCourse,
        cards: &[RegistrationCard],
        language: HeadingLanguage,
    ) -> Result<Vec<(QuestionId, String)>, StoreError> {
        let id = course.course.summary.course_id;
        let questions = course.questions.iter();
        let mut asked: Vec<(QuestionId, String)> = questions
            .map(|one| (one.question_id, one.wording.question.as_str().to_owned()))
            .collect();
        // Their texts are in the answers of the people who answered them last.
        let mut deleted: BTreeMap<QuestionId, UserId> = BTreeMap::new();
        for card in cards {
            let exists = |id: &QuestionId| asked.iter().any(|(asked, _)| asked == id);
            let answered = card.answered.keys().filter(|id| !exists(id));
            deleted.extend(answered.map(|id| (*id, card.user_id)));
        }
        for (question, user) in deleted {
            let full = self.store.full_registration(id, user).await?;
            let answers = full.map(|full| full.answers).unwrap_or_default();
            let answer = answers.into_iter().find(|answer| answer.question_id == question);
            let text = answer.map(|answer| answer.question);
            let deleted = DELETED.written_in(language);
            asked.extend(text.map(|text| (question, format!("{} {deleted}", text.as_str()))));
        }
        Ok(asked)
    }

    /// Says that `user` made an export at `now`.
    fn made(&self, language: HeadingLanguage, user: &User, now: Instant) -> String {
        let made = MADE.written_in(language).replace("{at}", &shown(&self.zone, now));
        made.replace("{name}", &format!("{} {}", user.name, user.last_name))
    }

    /// The registrations of `users`, with what their rows need beside them.
    async fn whole(&self, id: CourseId, users: Vec<UserId>) -> Result<Batch, StoreError> {
        let registrations = self.store.full_registrations(id, &users).await?;
        let answers = registrations.iter().flat_map(|full| &full.answers);
        let codes: Vec<_> =
            registrations.iter().map(|full| full.attendance.certificate.clone()).collect();
        let (certificates, files) = tokio::try_join!(
            self.store.certificates(&codes),
            self.store.ready_files(answers.filter_map(Answer::file))
        )?;
        Ok(Batch { registrations, certificates, files })
    }
}

impl Columns<'_> {
    /// The first line: the title of `course`, its committee, its dates, and `made`.
    fn title(&self, course: &CourseSummary, made: String) -> String {
        let dates = [course.start_at, course.end_at].into_iter().flatten();
        let dates: Vec<String> = dates.map(|at| shown(self.zone, at)).collect();
        let parts = [
            Some(course.course_title.to_string()),
            self.committees.get(&course.committee_id).cloned(),
            Some(dates.join(" – ")).filter(|dates| !dates.is_empty()),
            Some(made),
        ];
        // LibreOffice garbles Arabic after a middle dot.
        parts.into_iter().flatten().collect::<Vec<_>>().join(" — ")
    }

    /// The cells of the registration `full`. `files` are those that are ready.
    fn row(
        &self,
        full: FullRegistration,
        certificate: Option<CertificateSummary>,
        files: &HashMap<FileId, File>,
    ) -> impl Iterator<Item = Cell> {
        let FullRegistration { registration, answers, user, attendance, .. } = full;
        let (card, details) = (registration.card, registration.details);
        let person = card.registrant(&user);
        let owner = user.user_id;
        let time =
            |at: Option<Instant>| at.map_or(Cell::Empty, |at| Cell::Moment(self.zone.local(at)));
        let text =
            |text: Option<&str>| text.map_or(Cell::Empty, |text| Cell::Text(text.to_owned()));
        let fixed = [
            Cell::Number(card.number.to_string()),
            self.word(state(card.state)),
            Cell::Text(person.last_name.to_string()),
            Cell::Text(person.name.to_string()),
            text(person.email.as_ref().map(Email::as_str)),
            person.phone.map_or(Cell::Empty, |phone| Cell::Text(phone.to_string())),
            text(self.committees.get(&person.committee_id).map(String::as_str)),
            time(Some(card.created_at)),
            time(details.confirmed_at),
            text(details.reason.as_ref().map(Prose::as_str)),
            Cell::Text(card.language.code().to_owned()),
            text(details.note.as_ref().map(Prose::as_str)),
        ];
        let answer = move |id: &QuestionId| {
            let answer = answers.iter().find(|answer| answer.question_id == *id);
            answer.map_or(Cell::Empty, |answer| self.cell(answer, owner, files))
        };
        let of_sessions =
            sessions::cells(self.sessions, &attendance.marks, certificate, self.language);
        fixed.into_iter().chain(of_sessions).chain(self.questions.iter().map(answer))
    }

    fn word(&self, word: Word) -> Cell {
        Cell::Text(word.written_in(self.language).to_owned())
    }

    fn cell(&self, answer: &Answer, owner: UserId, files: &HashMap<FileId, File>) -> Cell {
        let value: Value = serde_json::from_str(answer.value.get()).unwrap_or_default();
        match (answer.question_type, &value) {
            (QuestionType::File, _) => {
                let file = answer.file().and_then(|file| files.get(&file));
                let file = file.filter(|file| file.user_id == owner);
                file.map_or(Cell::Empty, |file| Cell::Text(file.name.as_str().to_owned()))
            }
            (QuestionType::Date, Value::String(text)) => {
                text.parse().map_or_else(|_| Cell::Text(text.clone()), Cell::Date)
            }
            (QuestionType::Time, Value::String(text)) => {
                text.parse().map_or_else(|_| Cell::Text(text.clone()), Cell::Time)
            }
            (_, Value::String(text)) => Cell::Text(text.clone()),
            (_, Value::Bool(true)) => self.word(YES),
            (_, Value::Bool(false)) => self.word(NO),
            // As it was typed: `Value` would round it.
            (_, Value::Number(_)) => Cell::Number(answer.value.get().to_owned()),
            (_, Value::Array(options)) => {
                let options: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
                Cell::Text(options.join("\n"))
            }
            (_, Value::Null | Value::Object(_)) => Cell::Empty,
        }
    }
}

/// Date and time in `zone`, as the first line shows them.
fn shown(zone: &Zone, at: Instant) -> String {
    zone.local(at).strftime("%d/%m/%Y %H:%M").to_string()
}
