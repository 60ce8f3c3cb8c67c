//! Registrations as responses show them.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Answer, HistoryEntry, Note, Party, Reason, Registrant, Registration, RegistrationSettings,
    RegistrationState,
};
use crate::{
    CommitteeId, CourseId, FileId, Instant, Line, Prose, QuestionId, UserId,
    course::{CourseState, CourseSummary, CourseType, Language},
    file::File,
    question::{Question, QuestionType, RequiredQuestion},
    user::User,
};

/// What the view of a registration is made of beside the registration.
#[derive(Debug, Clone, Copy)]
pub struct ViewContext<'a> {
    /// The account of the person.
    pub user: &'a User,
    /// The course.
    pub course: &'a CourseSummary,
    /// The settings of its registrations.
    pub settings: &'a RegistrationSettings,
    /// Its required questions.
    pub required: &'a [RequiredQuestion],
    /// The files among the answers that are ready.
    pub files: &'a HashMap<FileId, File>,
    /// For whom the view is; a committee also sees its note.
    pub reader: Party,
}

/// A registration with all fields; lists leave out answers and history.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationView {
    #[serde(rename = "courseID")]
    course_id: CourseId,
    #[serde(rename = "userID")]
    user_id: UserId,
    number: u64,
    state: RegistrationState,
    reason: Option<Reason>,
    cancelled_by: Option<Party>,
    position: Option<usize>,
    language: Language,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<Vec<AnswerView>>,
    missing: Vec<QuestionId>,
    consent_at: Option<Instant>,
    join_info: Option<Prose<2000>>,
    confirmed_at: Option<Instant>,
    created_at: Instant,
    updated_at: Instant,
    version: u64,
    person: Registrant,
    course: CourseView,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<HistoryEntry>>,
    /// For writers of the course.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<Option<Note>>,
}

/// What a registration shows of its course.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CourseView {
    course_title: Line<200>,
    #[serde(rename = "committeeID")]
    committee_id: CommitteeId,
    course_type: Option<CourseType>,
    location: Option<Line<300>>,
    region: Option<Line<100>>,
    city: Option<Line<100>>,
    start_at: Option<Instant>,
    end_at: Option<Instant>,
    state: CourseState,
    cancelled_at: Option<Instant>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AnswerView {
    #[serde(rename = "questionID")]
    question_id: QuestionId,
    question: Prose<1000>,
    question_type: QuestionType,
    /// `None` for a file that was deleted.
    value: Option<Box<RawValue>>,
    /// Whether the question is still the same.
    current: bool,
}

impl RegistrationView {
    /// The view of `registration`, without answers and history.
    pub fn new(registration: Registration, context: &ViewContext<'_>) -> Self {
        let ViewContext { user, course, settings, required, files, reader } = *context;
        let is_writer = reader == Party::Committee;
        let Registration { card, details, .. } = registration;
        let missing = card.missing(required, files);
        let person = card.registrant(user);
        let sees_join_info = is_writer || card.state == RegistrationState::Confirmed;
        Self {
            course_id: card.course_id,
            user_id: card.user_id,
            number: card.number,
            state: card.state,
            reason: details.reason,
            cancelled_by: details.cancelled_by,
            position: None,
            language: card.language,
            answers: None,
            missing,
            consent_at: details.consent_at,
            join_info: settings.join_info.clone().filter(|_| sees_join_info),
            confirmed_at: details.confirmed_at,
            created_at: card.created_at,
            updated_at: card.updated_at,
            version: card.version,
            person,
            course: CourseView {
                course_title: course.course_title.clone(),
                committee_id: course.committee_id,
                course_type: course.course_type,
                location: course.location.clone(),
                region: course.region.clone(),
                city: course.city.clone(),
                start_at: course.start_at,
                end_at: course.end_at,
                state: course.state,
                cancelled_at: settings.cancelled_at,
            },
            history: None,
            note: is_writer.then_some(details.note),
        }
    }

    /// The view of `registration` with its history and its `answers`, in the order of `questions` and then those to deleted
    /// ones.
    pub fn whole(
        registration: Registration,
        mut answers: Vec<Answer>,
        questions: &[Question],
        context: &ViewContext<'_>,
    ) -> Self {
        answers.sort_by_cached_key(|answer| {
            let place = questions.iter().position(|one| one.question_id == answer.question_id);
            place.unwrap_or(usize::MAX)
        });
        let view = |answer: Answer| {
            let is_gone = |file| !registration.card.is_usable(file, context.files);
            let is_gone = answer.file().is_some_and(is_gone);
            AnswerView {
                current: !is_gone && answer.is_current(questions),
                question_id: answer.question_id,
                question: answer.question,
                question_type: answer.question_type,
                value: Some(answer.value).filter(|_| !is_gone),
            }
        };
        let answers = answers.into_iter().map(view).collect();
        let history = registration.history.clone();
        let view = Self::new(registration, context);
        Self { answers: Some(answers), history: Some(history), ..view }
    }

    /// The same with the place on the waiting list.
    #[must_use]
    pub fn at(self, position: Option<usize>) -> Self {
        Self { position, ..self }
    }
}
