//! Registrations as responses show them.

use domain::{
    Instant, UserId,
    course::Language,
    question::Question,
    registration::{
        Party, Registrant, RegistrationCard, RegistrationState, RegistrationView, missing,
    },
};
use serde::Serialize;
use store::StoreError;

use crate::{Registrations, access::Seen};

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
    language: Option<Language>,
    missing: usize,
    created_at: Instant,
    updated_at: Instant,
    version: u64,
}

impl CardView {
    /// The view of `card`, for a course with `questions`.
    pub(crate) fn new(card: RegistrationCard, questions: &[Question]) -> Self {
        let missing = missing(questions, card.language.as_ref(), &card.answered).len();
        Self {
            user_id: card.user_id,
            number: card.number,
            state: card.state,
            person: card.person,
            language: card.language,
            missing,
            created_at: card.created_at,
            updated_at: card.updated_at,
            version: card.version,
        }
    }
}

impl Registrations {
    /// The response with the whole registration `seen`.
    pub(crate) async fn response(&self, seen: Seen) -> Result<RegistrationResponse, StoreError> {
        let Seen { course, full, is_writer, .. } = seen;
        let reader = if is_writer { Party::Committee } else { Party::Person };
        let registration = self.store.registration_view(&course, full, reader).await?;
        Ok(RegistrationResponse { registration })
    }
}
