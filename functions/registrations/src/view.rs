//! Registrations as responses show them.

use std::collections::HashMap;

use domain::{
    FileId, Instant, UserId,
    course::Language,
    file::File,
    question::RequiredQuestion,
    registration::{AnswerView, Registrant, RegistrationCard, RegistrationState, RegistrationView},
    user::User,
};
use serde::Serialize;
use store::StoreError;

use crate::{Registrations, access::VisibleRegistration};

/// The response with one registration.
#[derive(Serialize)]
pub(crate) struct RegistrationResponse {
    pub(crate) registration: RegistrationView,
}

/// A registration in the list of its course.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CardView {
    #[serde(rename = "userID")]
    user_id: UserId,
    number: u64,
    state: RegistrationState,
    #[serde(flatten)]
    person: Registrant,
    language: Language,
    missing: usize,
    created_at: Instant,
    updated_at: Instant,
    version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answers: Option<Vec<AnswerView>>,
}

impl CardView {
    /// The view of `card` of `user` without answers, for a course with the `required` questions. `files` are those of the
    /// answers that are ready.
    pub(crate) fn new(
        card: RegistrationCard,
        user: &User,
        required: &[RequiredQuestion],
        files: &HashMap<FileId, File>,
    ) -> Self {
        let (person, missing) = (card.registrant(user), card.missing(required, files).len());
        Self {
            user_id: card.user_id,
            number: card.number,
            state: card.state,
            person,
            language: card.language,
            missing,
            created_at: card.created_at,
            updated_at: card.updated_at,
            version: card.version,
            answers: None,
        }
    }
}

impl Registrations {
    /// The response with the whole registration `found`.
    pub(crate) async fn response(
        &self,
        found: VisibleRegistration,
        now: Instant,
    ) -> Result<RegistrationResponse, StoreError> {
        let VisibleRegistration { course, questions, full, reader } = found;
        let view = self.store.registration_view(&course, questions, full, reader, now);
        let registration = view.await?;
        Ok(RegistrationResponse { registration })
    }
}
