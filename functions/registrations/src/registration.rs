//! `GET` and `PUT /registrations/{courseId}/{userId}`: returns a registration, or changes its answers or note.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, FieldError, Input, InvalidValue, Message, Now, Path, Verified,
    input, integer, ok, success, text,
};
use domain::{
    CourseId, Instant, Patch, QuestionId, UserId,
    audit::{Action, AuditedAction, values},
    registration::{Clearing, Note, Party, Registration, answered},
};
use identity::random;
use serde_json::Value;
use store::FullRegistration;

use crate::{
    Registrations,
    access::Seen,
    answers::{Given, given},
    view::RegistrationResponse,
};

input! {
    /// All answers fit also when each letter is escaped.
    pub(crate) struct UpdateRegistrationRequest: 262_144 {
        answers: Given = group(given),
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
    Verified(person): Verified,
    Path(ids): Ids,
) -> ApiResult<RegistrationResponse> {
    let seen = registrations.seen(ids, &person).await?;
    ok(registrations.response(seen).await?)
}

/// Answers that the request does not name stay as they are.
pub(crate) async fn change(
    State(registrations): State<Registrations>,
    Now(now): Now,
    Verified(person): Verified,
    Path(ids): Ids,
    Input(request): Input<UpdateRegistrationRequest>,
) -> ApiResult<RegistrationResponse> {
    let change = || async {
        let mut seen = registrations.seen(ids, &person).await?;
        let party = seen.party(&person)?;
        let after = registrations.changed(&seen, &request, party, now).await?;
        let mut tx = registrations.store.transaction();
        if let Some(FullRegistration { registration, answers, answers_version }) = after {
            let before = &seen.full.registration;
            tx.change_registration(before, &registration);
            if !request.answers.is_empty() {
                tx.set_answers(&registration, &answers, answers_version);
            }
            if party == Party::Committee {
                let (action, course) = (Action::RegistrationUpdated, &seen.course.course.summary);
                let ids = request.answers.answers.keys();
                let ids: Vec<String> = ids.map(QuestionId::to_string).collect();
                let values =
                    values([("answers", ids.into()), ("note", request.note.is_some().into())]);
                let audited = AuditedAction::of_registration(action, course, &before.card, values);
                tx.record_audit(&audited.by(&person.user, random::id(now), now));
            }
            seen.full = FullRegistration { registration, answers, answers_version };
        }
        Ok::<_, ApiError>((tx, seen))
    };
    let seen = registrations.store.update_seats(change, |_| None).await?;
    success(Message::RegistrationUpdated, registrations.response(seen).await?)
}

impl Registrations {
    /// The registration `seen` with what `party` requests; `None` if nothing is to change.
    ///
    /// # Errors
    /// Those of the fields, then `REGISTRATION_ENDED_MESSAGE`, `EDIT_CLOSED_MESSAGE` and `VERSION_CONFLICT_MESSAGE`.
    async fn changed(
        &self,
        seen: &Seen,
        request: &UpdateRegistrationRequest,
        party: Party,
        now: Instant,
    ) -> Result<Option<FullRegistration>, ApiError> {
        let FullRegistration { registration, answers, answers_version } = &seen.full;
        let (card, course) = (&registration.card, &seen.course);
        let is_committee = party == Party::Committee;
        let note = if is_committee { request.note() } else { Ok(Patch::Absent) };
        let (note, invalid) = match note {
            Ok(note) => (note, None),
            Err(invalid) => (Patch::Absent, Some(FieldError::new("note", invalid))),
        };
        let form = (course.questions.as_slice(), card.language.as_ref());
        let clearing = if is_committee { Clearing::Any } else { Clearing::Absent };
        let given = &request.answers;
        let answers =
            self.merged_answers(card.user_id, form, answers, given, clearing, invalid).await?;
        if !card.state.is_active() {
            return Err(ErrorCode::RegistrationEnded.into());
        }
        if !is_committee && course.course.summary.has_started(now) {
            return Err(ErrorCode::EditClosed.into());
        }
        if request.version.is_some_and(|version| version != card.version) {
            return Err(ErrorCode::VersionConflict.into());
        }
        if given.is_empty() && note.is_absent() {
            return Ok(None);
        }
        let registration = registration.changed(now, |after: &mut Registration| {
            after.card.answered = answered(&answers);
            note.apply(&mut after.details.note);
        });
        let answers_version = *answers_version;
        Ok(Some(FullRegistration { registration, answers, answers_version }))
    }
}
