//! Registrations for courses: settings, waiting lists, answers to the questions of a course.

mod access;
mod answers;
mod approve;
mod attendance;
mod availability;
mod calendar;
mod cancel;
mod cancel_course;
mod create;
mod decisions;
mod export;
mod file;
mod issue;
mod list;
mod marking;
mod moving;
mod my_registrations;
mod registration;
mod reject;
mod sessions;
mod settings;
mod view;

pub use self::create::RUSH_TIME;

use std::time::Duration;

use common::{Cursors, Routes};
use domain::Zone;
use identity::outbox::OutboxSealer;
use runtime::{ConfigError, Key};
use storage::Bucket;
use store::{Setup, Store};

/// The keys that `registrations` reads at start.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Cursor, Key::Outbox];

/// The tables, the bucket, the keys and the limits that the handlers use.
#[derive(Clone)]
pub(crate) struct Registrations {
    store: Store,
    bucket: Bucket,
    cursors: Cursors,
    outbox: OutboxSealer,
    /// Most active registrations of one person.
    max_active: u64,
    /// The time zone of the times in exports, and of the days of sessions.
    zone: Zone,
    /// How long after the end of a course attendance can be marked.
    attendance_time: Duration,
    /// After this time a certificate becomes anonymous.
    certificate_retention: Duration,
    /// The URL of the front end, without a trailing slash.
    public_url: String,
}

/// The routes below `/registrations`.
///
/// # Errors
/// When a setting or key is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let settings = &setup.settings;
    let registrations = Registrations {
        store: setup.store.clone(),
        bucket: Bucket::new(&setup.aws, settings)?,
        cursors: setup.keys.parse(Key::Cursor)?,
        outbox: setup.keys.parse(Key::Outbox)?,
        max_active: settings.number("REGISTRATIONS_PER_USER", 50)?,
        attendance_time: settings.days("ATTENDANCE_DAYS", 30)?,
        certificate_retention: settings.days("CERTIFICATES_RETENTION_DAYS", 3650)?,
        zone: settings.parse("TIME_ZONE", "Africa/Tunis")?,
        public_url: settings.required_url("PUBLIC_URL")?.trim_end_matches('/').to_owned(),
    };
    Ok(Routes::default()
        .get("/registrations/my-registrations", my_registrations::list)
        .get("/registrations/{courseId}", list::list)
        .post("/registrations/{courseId}", create::create)
        .put("/registrations/{courseId}/settings", settings::replace)
        .put("/registrations/{courseId}/sessions", sessions::replace)
        .get("/registrations/{courseId}/attendance", attendance::list)
        .post("/registrations/{courseId}/attendance", marking::mark)
        .post("/registrations/{courseId}/certificates", issue::issue)
        .get("/registrations/{courseId}/availability", availability::show)
        .post("/registrations/{courseId}/cancel-course", cancel_course::cancel_course)
        .post("/registrations/{courseId}/decisions", decisions::decide)
        .post("/registrations/{courseId}/export", export::export)
        .get("/registrations/{courseId}/{userId}", registration::show)
        .put("/registrations/{courseId}/{userId}", registration::change)
        .post("/registrations/{courseId}/{userId}/cancel", cancel::cancel)
        .post("/registrations/{courseId}/{userId}/approve", approve::approve)
        .post("/registrations/{courseId}/{userId}/reject", reject::reject)
        .get("/registrations/{courseId}/{userId}/files/{questionId}", file::show)
        .get("/registrations/{courseId}/{userId}/calendar", calendar::show)
        .no_store("/registrations")
        .with_state(registrations))
}
