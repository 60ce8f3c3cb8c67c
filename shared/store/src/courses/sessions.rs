//! The sessions of a course, in an item beside it. A change of them raises the version of the course, which is written to both
//! items, to the course as `sessionsVersion`.
//!
//! The item also has the ids of the sessions that have marks of attendance. An id is added before the first mark of its session
//! is stored, under the condition that the sessions are still those that were read; a session is removed under the condition
//! that its id is not among them. So no mark is without its session.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{
    CourseId, CourseSessionId, UserId,
    attendance::{CourseSessions, MAX_MARKERS},
    course::{Course, CourseSummary},
    registration::{RegistrationSettings, SettingsView},
};
use serde::Deserialize;

use crate::{
    Part, Store, StoreError, Transaction, courses::course_change, keys, table::number, write::Write,
};

/// The sessions of a course as they are stored.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct StoredSessions {
    /// The sessions.
    pub sessions: CourseSessions,
    /// Who may mark attendance beside the writers of the course, also erased accounts.
    pub markers: Vec<UserId>,
    /// The sessions that have marks.
    pub marked: BTreeSet<CourseSessionId>,
    /// The version of the course that they are from.
    pub(crate) version: u64,
}

impl Store {
    /// Which of `users`, whatever their number, are erased or do not exist.
    pub async fn erased_of(
        &self,
        users: impl IntoIterator<Item = UserId>,
    ) -> Result<BTreeSet<UserId>, StoreError> {
        let mut users: BTreeSet<UserId> = users.into_iter().collect();
        let ids: Vec<UserId> = users.iter().copied().collect();
        for some in ids.chunks(MAX_MARKERS) {
            for user in self.accounts(some).await?.into_values() {
                if user.erased_at.is_none() {
                    users.remove(&user.user_id);
                }
            }
        }
        Ok(users)
    }
}

impl StoredSessions {
    /// The `settings` of the course of these sessions as a response shows them to a writer of the course, if `is_writer`, or
    /// another reader.
    pub async fn settings_view(
        &self,
        store: &Store,
        mut settings: RegistrationSettings,
        is_writer: bool,
    ) -> Result<SettingsView, StoreError> {
        if !is_writer {
            settings.join_info = None;
            return Ok(SettingsView { settings, markers: None });
        }
        Ok(SettingsView { settings, markers: Some(self.current_markers(store).await?) })
    }

    /// The markers without erased accounts.
    pub async fn current_markers(&self, store: &Store) -> Result<Vec<UserId>, StoreError> {
        let erased = store.erased_of(self.markers.iter().copied()).await?;
        Ok(self.markers.iter().copied().filter(|id| !erased.contains(id)).collect())
    }
}

impl Transaction {
    /// Replaces the course `before`, with the `stored` sessions, by `after` with these `sessions` and `markers`. The condition
    /// fails (`Part::Course`) when the course has changed since it was read, or (`Part::Sessions`) when a session that is
    /// removed has marks.
    pub fn set_sessions(
        &mut self,
        before: &CourseSummary,
        after: &Course,
        stored: &StoredSessions,
        sessions: &CourseSessions,
        markers: &[UserId],
    ) {
        let version = after.summary.version;
        let update = course_change(before, after).set(&["sessionsVersion"], number(version));
        self.update(Part::Course, update);
        self.revise_seats(before, &after.summary);
        let update = Write::at(&keys::sessions(before.course_id))
            .expression("SET version = :version, sessions = :sessions, markers = :markers")
            .number(":version", version)
            .value(":sessions", sessions)
            .value(":markers", &markers);
        let removed =
            stored.sessions.iter().filter(|session| sessions.get(session.session_id).is_none());
        let update = removed.zip(0..).fold(update, |update, (session, place)| {
            let placeholder = format!(":removed{place}");
            update
                .and(&format!("NOT contains(marked, {placeholder})"))
                .text(placeholder, &session.session_id.to_string())
        });
        self.update(Part::Sessions, update);
    }

    /// Records that the `sessions` among those `stored` for `course`, at least one, have marks. The condition fails
    /// (`Part::Sessions`) when others have been stored since.
    pub fn mark_sessions(
        &mut self,
        course: CourseId,
        stored: &StoredSessions,
        sessions: &BTreeSet<CourseSessionId>,
    ) {
        let ids = sessions.iter().map(CourseSessionId::to_string).collect();
        let update = Write::at(&keys::sessions(course))
            .when("version = :version")
            .expression("ADD marked :ids")
            .number(":version", stored.version)
            .attribute(":ids", AttributeValue::Ss(ids));
        self.update(Part::Sessions, update);
    }
}
