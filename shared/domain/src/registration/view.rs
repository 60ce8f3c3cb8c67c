//! Registrations as responses show them.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Answer, HistoryEntry, Note, Party, Reader, Reason, Registrant, Registration, RegistrationCard,
    RegistrationSettings, RegistrationState,
};
use crate::{
    CommitteeId, CourseId, FileId, Instant, Line, Prose, QuestionId, UserId,
    attendance::{Attendance, CourseSessions, Marks, Ticket},
    certificate::{Certificate, CertificateSummary},
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
    /// Its sessions.
    pub sessions: &'a CourseSessions,
    /// The marks of the person, as the caller may see them.
    pub marks: &'a Marks,
    /// Their latest certificate.
    pub certificate: Option<&'a Certificate>,
    /// Its required questions.
    pub required: &'a [RequiredQuestion],
    /// The files among the answers that are ready.
    pub files: &'a HashMap<FileId, File>,
    /// The caller.
    pub reader: Reader,
    /// When the view is read.
    pub now: Instant,
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
    ticket: Option<Ticket>,
    /// `None` for a course without sessions.
    attendance: Option<Attendance>,
    certificate: Option<CertificateSummary>,
    /// Until when the person can leave by themselves; `None` without a limit, and when the registration is not active.
    cancel_until: Option<Instant>,
    /// Whether the caller can cancel it now.
    can_cancel: bool,
    /// Whether the caller can change its answers now.
    can_edit: bool,
    created_at: Instant,
    updated_at: Instant,
    version: u64,
    person: Registrant,
    course: CourseView,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<HistoryEntry>>,
    #[serde(flatten)]
    for_writers: Option<ForWriters>,
}

/// What a registration shows to writers of its course alone.
#[derive(Debug, Serialize)]
struct ForWriters {
    note: Option<Note>,
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

/// An answer, with the question as it was asked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerView {
    #[serde(rename = "questionID")]
    question_id: QuestionId,
    question: Prose<1000>,
    question_type: QuestionType,
    /// `None` for a file that was deleted.
    value: Option<Box<RawValue>>,
    /// Whether the question is still the same.
    current: bool,
}

impl AnswerView {
    /// The `answers` of the registration with `card`, in the order of `questions` and then those to deleted ones. `files` are
    /// those of the answers that are ready.
    pub fn all(
        card: &RegistrationCard,
        mut answers: Vec<Answer>,
        questions: &[Question],
        files: &HashMap<FileId, File>,
    ) -> Vec<Self> {
        answers.sort_by_cached_key(|answer| {
            let place = questions.iter().position(|one| one.question_id == answer.question_id);
            place.unwrap_or(usize::MAX)
        });
        let view = |answer: Answer| {
            let is_gone = answer.file().is_some_and(|file| !card.is_usable(file, files));
            Self {
                current: !is_gone && answer.is_current(questions),
                question_id: answer.question_id,
                question: answer.question,
                question_type: answer.question_type,
                value: Some(answer.value).filter(|_| !is_gone),
            }
        };
        answers.into_iter().map(view).collect()
    }
}

impl RegistrationView {
    /// The view of `registration`, without answers, history and note.
    pub fn new(registration: Registration, context: &ViewContext<'_>) -> Self {
        let ViewContext {
            user,
            course,
            settings,
            sessions,
            marks,
            certificate,
            required,
            files,
            reader,
            now,
        } = *context;
        let Registration { card, details, .. } = registration;
        let cancel_until = card.cancellation_end(course, settings);
        let can_cancel = reader.canceller(&card, course, settings, now).is_some();
        let can_edit = reader.may_edit(&card, course, now);
        let missing = card.missing(required, files);
        let person = card.registrant(user);
        let sees_join_info = reader.is_writer || card.state == RegistrationState::Confirmed;
        let ticket = card.valid_ticket().cloned();
        Self {
            course_id: card.course_id,
            user_id: card.user_id,
            number: card.number,
            state: card.state,
            ticket,
            attendance: (!sessions.is_empty()).then(|| Attendance::new(sessions, marks)),
            certificate: certificate.map(|certificate| certificate.summary(now)),
            reason: details.reason,
            cancelled_by: details.cancelled_by,
            position: None,
            language: card.language,
            answers: None,
            missing,
            consent_at: details.consent_at,
            join_info: settings.join_info.clone().filter(|_| sees_join_info),
            confirmed_at: details.confirmed_at,
            cancel_until: cancel_until.filter(|_| card.state.is_active()),
            can_cancel,
            can_edit,
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
            for_writers: None,
        }
    }

    /// The view of `registration` with its history, its note for writers, and its `answers`, in the order of `questions` and
    /// then those to deleted ones.
    pub fn whole(
        registration: Registration,
        answers: Vec<Answer>,
        questions: &[Question],
        context: &ViewContext<'_>,
    ) -> Self {
        let answers = AnswerView::all(&registration.card, answers, questions, context.files);
        let history = registration.history.clone();
        let writer = context.reader.is_writer.then_some(&registration.details);
        let for_writers = writer.map(|details| ForWriters { note: details.note.clone() });
        let view = Self::new(registration, context);
        Self { answers: Some(answers), history: Some(history), for_writers, ..view }
    }

    /// The same with the place on the waiting list.
    #[must_use]
    pub fn at(self, position: Option<usize>) -> Self {
        Self { position, ..self }
    }
}
