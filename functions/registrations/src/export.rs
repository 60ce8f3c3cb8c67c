//! `POST /registrations/{courseId}/export`: writes the registrations for a course to a sheet and returns a link to it.

mod sheet;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Fields, Input, Message, Now, Path, Permitted,
    course_rights::writable, input, rights::WriteCourses, success, text,
};
use domain::{
    CommitteeId, CourseId, Email, FileId, Instant, Prose, QuestionId, UserId, Zone,
    audit::{Action, AuditedAction, values},
    file::File,
    limits,
    question::QuestionType,
    registration::{Answer, HeadingLanguage, RegistrationCard, RegistrationState},
};
use futures_util::{StreamExt, TryStreamExt, future::try_join_all, stream};
use identity::random;
use serde::Serialize;
use serde_json::Value;
use storage::EXPORT_TIME;
use store::{
    Counter, FullCourse, FullRegistration, RegistrationOrder, ReserveOutcome, StoreError,
    all_pages, in_time,
};

use self::{
    sheet::{Cell, Sheet},
    words::{Words, words},
};
use crate::Registrations;

/// The content type of a workbook.
const KIND: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
/// Registrations per page of a list; the store ends pages at 1 MB.
const PAGE: u16 = 1000;
/// Registrations that are read whole by one request.
pub(crate) const BATCH: usize = 33;
/// Such requests at once.
const AT_ONCE: usize = 8;

input! {
    pub(crate) struct ExportRequest: 262_144 {
        states: Vec<RegistrationState> = group(states),
        language: HeadingLanguage = optional_or("language", text, HeadingLanguage::French),
    }
}

/// The states in `states`, or else the active ones.
fn states(fields: &mut Fields) -> Option<Vec<RegistrationState>> {
    let submitted = fields.texts("states", None, RegistrationState::ALL.len())?;
    let submitted: Vec<RegistrationState> = submitted.unwrap_or_default();
    let is_wanted = |state: &RegistrationState| {
        if submitted.is_empty() { state.is_active() } else { submitted.contains(state) }
    };
    Some(RegistrationState::ALL.into_iter().filter(is_wanted).collect())
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
    // Every export counts, also one that fails after reading much.
    let counter = Counter::of(limits::REGISTRATIONS_EXPORT, actor.user_id);
    if let ReserveOutcome::Full(full) = store.reserve(&[counter], now).await? {
        return Err(ApiError::too_many_attempts(full.ends.since(now)));
    }
    let (rows, file) = in_time(EXPORT_TIME, registrations.written(&course, &request)).await?;
    let bytes = file.len();
    let (short, day) = (&id.to_string()[..8], registrations.zone.local(now).date());
    let file_name = format!("inscriptions-{short}-{day}.xlsx");
    let named = (&*file_name, KIND);
    let stored = registrations.bucket.export(random::id(now), named, file.into(), now);
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
    words: &'a Words,
    zone: &'a Zone,
    /// Names by id.
    committees: HashMap<CommitteeId, String>,
    /// Those of the course, then deleted ones.
    questions: Vec<QuestionId>,
}

impl Registrations {
    /// The number of rows, and the file.
    async fn written(
        &self,
        course: &FullCourse,
        request: &ExportRequest,
    ) -> Result<(usize, Vec<u8>), ApiError> {
        let (id, states) = (course.course.summary.course_id, request.states.as_slice());
        let cards = self.cards(id, states).await?;
        let words = &words(request.language);
        let asked = self.asked(course, &cards, words).await?;
        let fixed =
            words.headings.iter().map(|heading| heading.replace("{zone}", self.zone.name()));
        let headings =
            fixed.chain(asked.iter().map(|(_, heading)| heading.clone())).collect::<Vec<_>>();
        let mut columns = Columns {
            words,
            zone: &self.zone,
            committees: HashMap::new(),
            questions: asked.into_iter().map(|(id, _)| id).collect(),
        };
        let mut sheet = Sheet::new(request.language, &headings)?;
        let users: Vec<UserId> = cards.iter().map(|card| card.user_id).collect();
        // Owned, because the compiler does not see that closures over slices live long enough.
        let batches: Vec<Vec<UserId>> = users.chunks(BATCH).map(<[UserId]>::to_vec).collect();
        let batches = batches.into_iter().map(|users| self.whole(id, users));
        let mut batches = stream::iter(batches).buffered(AT_ONCE);
        let mut rows = 0;
        while let Some((registrations, files)) = batches.try_next().await? {
            self.add_committees(&mut columns.committees, &registrations).await?;
            for full in registrations {
                // The lists may be a little older.
                if states.contains(&full.registration.card.state) {
                    sheet.add(columns.row(full, &files))?;
                    rows += 1;
                }
            }
        }
        Ok((rows, sheet.finish()?))
    }

    /// The registrations for the course `id` in one of `states`, by number.
    async fn cards(
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

    /// Adds the names of the committees of the people in `registrations` to `names`.
    async fn add_committees(
        &self,
        names: &mut HashMap<CommitteeId, String>,
        registrations: &[FullRegistration],
    ) -> Result<(), StoreError> {
        let ids = registrations.iter().map(|full| full.user.committee_id);
        let ids: BTreeSet<CommitteeId> = ids.filter(|id| !names.contains_key(id)).collect();
        let committees = stream::iter(ids).map(|id| self.store.committee(id)).buffered(AT_ONCE);
        let committees: Vec<_> = committees.try_collect().await?;
        let committees = committees.into_iter().flatten();
        names.extend(committees.map(|one| (one.committee_id, one.name_latin.to_string())));
        Ok(())
    }

    /// The questions of `course`, and those of the answers in `cards` that were deleted, with their headings.
    async fn asked(
        &self,
        course: &FullCourse,
        cards: &[RegistrationCard],
        words: &Words,
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
            let heading =
                |answer: Answer| format!("{} {}", answer.question.as_str(), words.deleted);
            asked.extend(answer.map(|answer| (question, heading(answer))));
        }
        Ok(asked)
    }

    /// The registrations of `users`, and the files in their answers that are ready.
    async fn whole(
        &self,
        id: CourseId,
        users: Vec<UserId>,
    ) -> Result<(Vec<FullRegistration>, HashMap<FileId, File>), StoreError> {
        let full = self.store.full_registrations(id, &users).await?;
        let answers = full.iter().flat_map(|full| &full.answers);
        let files = self.store.ready_files(answers.filter_map(Answer::file)).await?;
        Ok((full, files))
    }
}

impl Columns<'_> {
    /// The cells of the registration `full`. `files` are those that are ready.
    fn row(
        &self,
        full: FullRegistration,
        files: &HashMap<FileId, File>,
    ) -> impl Iterator<Item = Cell> {
        let FullRegistration { registration, answers, user, .. } = full;
        let (card, details) = (registration.card, registration.details);
        let person = card.registrant(&user);
        let owner = user.user_id;
        let time =
            |at: Option<Instant>| at.map_or(Cell::Empty, |at| Cell::Time(self.zone.local(at)));
        let text =
            |text: Option<&str>| text.map_or(Cell::Empty, |text| Cell::Text(text.to_owned()));
        let fixed = [
            Cell::Number(card.number.to_string()),
            Cell::Text(card.state.code().to_owned()),
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
            answer.map_or(Cell::Empty, |answer| self.cell(answer, (owner, files)))
        };
        fixed.into_iter().chain(self.questions.iter().map(answer))
    }

    fn cell(&self, answer: &Answer, (owner, files): (UserId, &HashMap<FileId, File>)) -> Cell {
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
            (_, Value::String(text)) => Cell::Text(text.clone()),
            (_, Value::Bool(true)) => Cell::Text(self.words.yes.to_owned()),
            (_, Value::Bool(false)) => Cell::Text(self.words.no.to_owned()),
            // As it was typed: `Value` would round it.
            (_, Value::Number(_)) => Cell::Number(answer.value.get().to_owned()),
            (_, Value::Array(options)) => {
                let options: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
                Cell::Text(options.join("; "))
            }
            (_, Value::Null | Value::Object(_)) => Cell::Empty,
        }
    }
}
