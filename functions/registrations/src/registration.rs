//! `GET` and `PUT /registrations/{courseId}/{userId}`: returns a registration, or changes its answers or note.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, FieldError, Input, InvalidValue, Message, Now, Path, Verified,
    input, integer, ok, success, text,
};
use domain::{
    CourseId, Instant, Patch, QuestionId, UserId,
    audit::{Action, AuditedAction, values},
    course::Language,
    registration::{Clearing, Note, Party, Registration, answered, form_language},
};
use identity::random;
use serde_json::Value;
use store::FullRegistration;

use crate::{
    Registrations,
    access::VisibleRegistration,
    answers::{Form, SubmittedAnswers, submitted_answers},
    view::RegistrationResponse,
};

input! {
    /// All answers fit also when each letter is escaped.
    pub(crate) struct UpdateRegistrationRequest: 262_144 {
        answers: SubmittedAnswers = group(submitted_answers),
        /// The language of the questions that are answered; it can be changed while there are no answers.
        language: Option<Language> = optional("language", text),
        /// Read by [`note`](Self::note), because only writers of the course may set it.
        note: Option<Value> = raw("note"),
        version: Option<u64> = optional("version", integer(0..=u64::MAX)),
    }
}

impl UpdateRegistrationRequest {
    fn note(&self) -> Result<Patch<Note>, InvalidValue> {
        match &self.note {
            None => Ok(Patch::Absent),
            Some(Value::Null) => Ok(Patch::Null),
            Some(Value::String(note)) if domain::is_blank(note) => Ok(Patch::Null),
            Some(note) => text(note.clone()).map(Patch::Value),
        }
    }
}

type Ids = Path<(CourseId, UserId)>;

pub(crate) async fn show(
    State(registrations): State<Registrations>,
    Now(now): Now,
    Verified(person): Verified,
    Path(ids): Ids,
) -> ApiResult<RegistrationResponse> {
    let found = registrations.visible_with_questions(ids, &person).await?;
    ok(registrations.response(found, now).await?)
}

/// Answers that the request does not name stay as they are. The person of a registration that is not active can still take
/// answers back.
pub(crate) async fn change(
    State(registrations): State<Registrations>,
    Now(now): Now,
    Verified(person): Verified,
    Path(ids): Ids,
    Input(request): Input<UpdateRegistrationRequest>,
) -> ApiResult<RegistrationResponse> {
    let attempt = || async {
        let mut found = registrations.visible_with_questions(ids, &person).await?;
        let party = found.party()?;
        let after = registrations.changed(&found, &request, party, now).await?;
        let mut tx = registrations.store.transaction();
        if let Some(after) = after {
            let (before, registration) = (&found.full.registration, &after.registration);
            tx.change_registration(before, registration);
            if !request.answers.is_empty() {
                tx.set_answers(registration, &after.answers, after.answers_version);
            }
            if party == Party::Committee {
                let (action, course) = (Action::RegistrationUpdated, &found.course.course.summary);
                let ids: Vec<String> =
                    request.answers.answers.keys().map(QuestionId::to_string).collect();
                let values =
                    values([("answers", ids.into()), ("note", request.note.is_some().into())]);
                let audited = AuditedAction::of_registration(action, course, &before.card, values);
                tx.record_audit(&audited.by(&person.user, random::id(now), now));
            }
            found.full = after;
        }
        Ok::<_, ApiError>((tx, found))
    };
    let found = registrations.store.update(attempt, |_| None).await?;
    success(Message::RegistrationUpdated, registrations.response(found, now).await?)
}

impl Registrations {
    /// The registration `found` with what `party` requests; `None` if nothing is to change.
    ///
    /// # Errors
    /// Those of the fields, then `REGISTRATION_ENDED_MESSAGE`, `EDIT_CLOSED_MESSAGE` and `VERSION_CONFLICT_MESSAGE`.
    async fn changed(
        &self,
        found: &VisibleRegistration,
        request: &UpdateRegistrationRequest,
        party: Party,
        now: Instant,
    ) -> Result<Option<FullRegistration>, ApiError> {
        let FullRegistration { registration, answers: stored, user, .. } = &found.full;
        let (card, summary) = (&registration.card, &found.course.course.summary);
        let is_committee = party == Party::Committee;
        let (mut note, mut invalid) = (Patch::Absent, None);
        if is_committee {
            match request.note() {
                Ok(submitted) => note = submitted,
                Err(error) => invalid = Some(FieldError::new("note", error)),
            }
        }
        let submitted = &request.answers;
        let questions = found.questions.as_deref().unwrap_or_default();
        // The stored answers may be of another moment than the registration, on whose version the change depends.
        let wanted = request.language.as_ref().filter(|_| card.answered.is_empty());
        let language = match wanted {
            None => Ok(card.language.clone()),
            wanted => form_language(questions, wanted, &summary.language),
        };
        let language = language.unwrap_or_else(|error| {
            invalid.get_or_insert(FieldError::new("language", error));
            card.language.clone()
        });
        let clearing =
            if card.state.is_active() && !is_committee { Clearing::Absent } else { Clearing::Any };
        let form = Form { questions, language: &language };
        let answers =
            self.merged_answers(card.user_id, form, stored, submitted, clearing, invalid).await?;
        if !card.state.is_active() {
            let is_cleared =
                |id: &QuestionId| answers.iter().all(|answer| answer.question_id != *id);
            let only_clears = !submitted.is_empty() && submitted.answers.keys().all(is_cleared);
            if !found.reader.is_own
                || !only_clears
                || !note.is_absent()
                || language != card.language
            {
                return Err(ErrorCode::RegistrationEnded.into());
            }
        } else if !is_committee && summary.has_started(now) {
            return Err(ErrorCode::EditClosed.into());
        }
        if request.version.is_some_and(|version| version != card.version) {
            return Err(ErrorCode::VersionConflict.into());
        }
        if submitted.is_empty() && note.is_absent() && language == card.language {
            return Ok(None);
        }
        // Without submitted answers, the stored ones may be of another moment than the registration.
        let registration = registration.named(user).changed(now, |after: &mut Registration| {
            if !submitted.is_empty() {
                after.card.answered = answered(&answers);
            }
            after.card.language = language;
            note.apply(&mut after.details.note);
        });
        Ok(Some(FullRegistration { registration, answers, ..found.full.clone() }))
    }
}
