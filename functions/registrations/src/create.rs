//! `POST /registrations/{courseId}`: registers the caller. The state in the response is final: a confirmed person has a
//! seat.

use std::sync::Arc;

use axum::extract::State;
use common::{
    ActiveMember, ApiError, ApiResult, ErrorCode, FieldError, Input, Message, Now, Path, SignedIn,
    course_rights::{may_write, visible},
    flag, input, success, text,
};
use data_encoding::HEXLOWER;
use domain::{
    CourseId, Instant, ValueError,
    course::Language,
    registration::{
        Answer, Audience, Clearing, MAX_NUMBER, MAX_POSITION, MAX_TIMES, Mode, Registration,
        RegistrationEvent, RegistrationState, Status, answered, form_language,
    },
    user::User,
};
use sha2::{Digest, Sha256};
use store::{FullCourse, FullRegistration, SeatRule, Standing, Transaction};
use tokio::sync::{Mutex, OnceCell};

use crate::{
    Registrations,
    access::Seen,
    answers::{Given, given},
    moving::Move,
    view::RegistrationResponse,
};

input! {
    /// All answers fit also when each letter is escaped.
    pub(crate) struct RegisterRequest: 262_144 {
        answers: Given = group(given),
        language: Option<Language> = optional("language", text),
        consent: bool = optional_or("consent", flag, false),
    }
}

/// What was read after [`Standing`] and holds while its counts of changes are the same: a change of the course or the account
/// in between raises one of them, so that the transaction fails.
struct Known {
    revision: u64,
    changes: u64,
    course: FullCourse,
    user: User,
    is_open: bool,
    /// The language of the form and the answers, once they are checked.
    form: OnceCell<(Option<Language>, Vec<Answer>)>,
}

/// What decides whether the caller can register.
struct Attempt {
    standing: Standing,
    known: Arc<Known>,
}

/// A person who is registered already gets the stored registration, whatever the request says: a second click or an old
/// tab changes nothing.
pub(crate) async fn create(
    State(registrations): State<Registrations>,
    Now(now): Now,
    ActiveMember(person): ActiveMember,
    Path(id): Path<CourseId>,
    Input(request): Input<RegisterRequest>,
) -> ApiResult<RegistrationResponse> {
    let (number, known) = (OnceCell::new(), Mutex::new(None));
    let register = || async {
        let attempt = registrations.attempt(id, &person, &known).await?;
        let own = attempt.standing.own.clone();
        if let Some(full) = own.filter(|own| own.registration.card.state.is_active()) {
            let tx = registrations.store.transaction();
            return Ok((tx, (Message::AlreadyRegistered, attempt.seen(full, &person))));
        }
        let known = &attempt.known;
        let form = || registrations.checked(&request, known, &person);
        let (language, answers) = known.form.get_or_try_init(form).await?.clone();
        let state = attempt.place(registrations.max_active, now)?;
        let number = *number.get_or_try_init(|| registrations.store.next_number(id)).await?;
        if number > MAX_NUMBER {
            return Err(ErrorCode::RegistrationsLimit.into());
        }
        let full = attempt.registration((number, state), language, answers, now);
        let tx = registrations.registered(&attempt, &full, now)?;
        Ok::<_, ApiError>((tx, (message(state), attempt.seen(full, &person))))
    };
    let (message, seen) = registrations.store.update_seats(register, |_| None).await?;
    success(message, registrations.response(seen).await?)
}

fn message(state: RegistrationState) -> Message {
    match state {
        RegistrationState::Confirmed => Message::RegistrationConfirmed,
        RegistrationState::Waitlisted => Message::RegistrationWaitlisted,
        _ => Message::RegistrationPending,
    }
}

impl Registrations {
    /// Reads what decides; of `known`, which the last attempt has read, only what may have changed: under load a person may
    /// need several attempts until they have a seat or the course is full.
    ///
    /// # Errors
    /// `COURSE_NOT_FOUND_MESSAGE`, or `FORBIDDEN_MESSAGE` for a course that takes members of its committee only.
    async fn attempt(
        &self,
        id: CourseId,
        person: &SignedIn,
        known: &Mutex<Option<Arc<Known>>>,
    ) -> Result<Attempt, ApiError> {
        let standing = self.store.standing(id, person.user.user_id).await?;
        let (revision, changes) = (standing.seats.revision, standing.changes);
        let mut last = known.lock().await;
        let same = |known: &&Arc<Known>| (known.revision, known.changes) == (revision, changes);
        if let Some(known) = last.as_ref().filter(same) {
            return Ok(Attempt { standing, known: known.clone() });
        }
        let user = async { Ok(self.store.user(person.user.user_id).await?) };
        let (course, user) = tokio::try_join!(self.course(id, person, visible), user)?;
        let user = user.ok_or(ErrorCode::BadAuthCombination)?;
        let committee = course.course.summary.committee_id;
        if course.settings.audience == Audience::Committee && committee != user.committee_id {
            return Err(ErrorCode::Forbidden.into());
        }
        let is_open = self.is_open(committee, person).await?;
        let form = OnceCell::new();
        let known = Arc::new(Known { revision, changes, course, user, is_open, form });
        *last = Some(known.clone());
        Ok(Attempt { standing, known })
    }

    /// The language and the answers of the form, if the request is complete.
    ///
    /// # Errors
    /// Those of all fields.
    async fn checked(
        &self,
        request: &RegisterRequest,
        known: &Known,
        person: &SignedIn,
    ) -> Result<(Option<Language>, Vec<Answer>), ApiError> {
        let FullCourse { course, questions, settings } = &known.course;
        let wanted = request.language.as_ref();
        let language = form_language(questions, wanted, &course.summary.language);
        let is_missing = settings.consent_text.is_some() && !request.consent;
        let consent = is_missing.then(|| FieldError::new("consent", ValueError::Required));
        let language = match language {
            Ok(language) => language,
            Err(error) => {
                let errors = [Some(FieldError::new("language", error)), consent];
                return Err(ApiError::fields(errors.into_iter().flatten().collect()));
            }
        };
        let form = (questions.as_slice(), language.as_ref());
        let (owner, given) = (person.user.user_id, &request.answers);
        let answers =
            self.merged_answers(owner, form, &[], given, Clearing::Never, consent).await?;
        Ok((language, answers))
    }

    /// The transaction that stores the registration `full`.
    fn registered(
        &self,
        attempt: &Attempt,
        full: &FullRegistration,
        now: Instant,
    ) -> Result<Transaction, ApiError> {
        let Attempt { standing, known } = attempt;
        let (course, user) = (&known.course, &known.user);
        let before = standing.own.as_ref();
        let list_limit = course.settings.list_limit(&course.course.summary, now);
        let is_waiting = full.registration.card.state == RegistrationState::Waitlisted;
        let place = standing.seats.waiting + 1;
        let position = (is_waiting && place <= MAX_POSITION.into()).then_some(place);
        let change = Move {
            course,
            user,
            before: before.map(|before| &before.registration),
            after: &full.registration,
            rule: SeatRule::Newcomer { list_limit, revision: standing.seats.revision },
            changes: Some(standing.changes),
            event: RegistrationEvent::Registered,
            position,
        };
        let mut tx = self.moved(&change, now)?;
        let former = before.map_or(0, |before| before.answers_version);
        tx.set_answers(&full.registration, &full.answers, former);
        Ok(tx)
    }
}

impl Attempt {
    /// The state that a registration gets now.
    ///
    /// # Errors
    /// The first reason why there is none.
    fn place(&self, max_active: u64, now: Instant) -> Result<RegistrationState, ErrorCode> {
        let Self { standing, known } = self;
        let (summary, settings) = (&known.course.course.summary, &known.course.settings);
        let status = settings.status(summary, &standing.seats, known.is_open, now);
        match status {
            Status::Cancelled => return Err(ErrorCode::CourseCancelled),
            Status::Disabled => return Err(ErrorCode::RegistrationDisabled),
            Status::NotOpen => return Err(ErrorCode::RegistrationNotOpen),
            Status::Closed => return Err(ErrorCode::RegistrationClosed),
            Status::Open | Status::Waitlist | Status::Full => {}
        }
        let own = standing.own.as_ref().map(|own| &own.registration);
        if own.is_some_and(|own| own.card.state == RegistrationState::Rejected) {
            return Err(ErrorCode::RegistrationRejected);
        }
        let is_last = own.is_some_and(|own| own.details.times >= MAX_TIMES);
        if is_last || standing.active >= max_active {
            return Err(ErrorCode::RegistrationsLimit);
        }
        if settings.mode == Mode::Manual {
            return Ok(RegistrationState::Pending);
        }
        let list_limit = settings.list_limit(summary, now);
        standing.seats.place(list_limit).ok_or(ErrorCode::CourseFull)
    }

    fn registration(
        &self,
        place: (u64, RegistrationState),
        language: Option<Language>,
        answers: Vec<Answer>,
        now: Instant,
    ) -> FullRegistration {
        let own = self.standing.own.as_ref().map(|own| &own.registration);
        let course_id = self.known.course.course.summary.course_id;
        let mut registration = Registration::new(own, course_id, &self.known.user, place, now);
        registration.card.language = language;
        registration.card.answered = answered(&answers);
        if let Some(text) = &self.known.course.settings.consent_text {
            registration.details.consent_at = Some(now);
            let hash = HEXLOWER.encode(&Sha256::digest(text.as_str()));
            registration.details.consent_hash = Some(hash);
        }
        FullRegistration { registration, answers, answers_version: 0 }
    }

    fn seen(self, full: FullRegistration, person: &SignedIn) -> Seen {
        let course = self.known.course.clone();
        let is_writer = may_write(&course.course.summary, person);
        Seen { course, full, is_writer, is_own: true }
    }
}
