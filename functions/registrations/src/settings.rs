//! `PUT /registrations/{courseId}/settings`: replaces the settings of a course's registrations.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, FieldError, Fields, Input, InvalidField, InvalidValue, Message,
    Now, Path, Permitted, course_rights::changeable, input, integer, rights::WriteCourses, success,
    text,
};
use domain::{
    Constraint, CourseId, Instant, Patch,
    attendance::MAX_REMINDER_HOURS,
    audit::AuditedAction,
    certificate::CertificateRules,
    registration::{Audience, Mode, RegistrationSettings, SettingsView},
};
use identity::random;
use serde::Serialize;
use store::{CourseTerms, Part};

use crate::Registrations;

/// Longest waiting list.
const MAX_WAITING: u32 = 10_000;

input! {
    pub(crate) struct SettingsRequest: 262_144 {
        settings: RegistrationSettings = group(read),
        /// The version of the course that the change is based on.
        version: Option<u64> = optional("version", integer(0..=u64::MAX)),
    }
}

fn read(fields: &mut Fields) -> Result<RegistrationSettings, InvalidField> {
    let mode = fields.optional_or("mode", text, Mode::None);
    let capacity = fields.nullable("capacity", integer(0..=RegistrationSettings::MAX_CAPACITY));
    let waitlist_limit = fields.optional_or("waitlistLimit", integer(0..=MAX_WAITING), 0);
    let opens_at = fields.nullable("opensAt", text::<Instant>);
    let closes_at = fields.nullable("closesAt", text::<Instant>);
    let cancel_until = fields.nullable("cancelUntil", text::<Instant>);
    let audience = fields.optional_or("audience", text, Audience::All);
    let consent_text = fields.nullable("consentText", text);
    let join_info = fields.nullable("joinInfo", text);
    let reminder_hours = match fields.patch("reminderHours", integer(0..=MAX_REMINDER_HOURS)) {
        Ok(Patch::Absent) => Ok(RegistrationSettings::default().reminder_hours),
        submitted => submitted.map(Patch::value),
    };
    let certificate = fields.object("certificate", certificate);
    if let (Ok(Some(opens)), Ok(Some(closes))) = (opens_at, closes_at)
        && closes < opens
    {
        let constraint = Constraint::end_of(opens);
        fields.reject("closesAt", InvalidValue { code: ErrorCode::FieldValue, constraint });
    }
    Ok(RegistrationSettings {
        mode: mode?,
        capacity: capacity?,
        waitlist_limit: waitlist_limit?,
        opens_at: opens_at?,
        closes_at: closes_at?,
        cancel_until: cancel_until?,
        audience: audience?,
        consent_text: consent_text?,
        join_info: join_info?,
        reminder_hours: reminder_hours?,
        certificate: certificate?,
        ..RegistrationSettings::default()
    })
}

fn certificate(fields: &mut Fields) -> Result<CertificateRules, InvalidField> {
    let kind = fields.required("kind", text);
    let minimum_percent =
        fields.optional_or("minimumPercent", integer(1..=100), CertificateRules::MINIMUM_PERCENT);
    let certificate_text = fields.nullable("text", text);
    let signed_by = fields.nullable("signedBy", text);
    let signed_as = fields.nullable("signedAs", text);
    let valid_months = fields.nullable("validMonths", integer(1..=CertificateRules::MAX_MONTHS));
    Ok(CertificateRules {
        kind: kind?,
        minimum_percent: minimum_percent?,
        text: certificate_text?,
        signed_by: signed_by?,
        signed_as: signed_as?,
        valid_months: valid_months?,
    })
}

#[derive(Serialize)]
pub(crate) struct SettingsResponse {
    registration: SettingsView,
    /// Of the course.
    version: u64,
}

/// A higher capacity, and any other change that makes room, promotes people who wait, within seconds.
pub(crate) async fn replace(
    State(registrations): State<Registrations>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(id): Path<CourseId>,
    Input(request): Input<SettingsRequest>,
) -> ApiResult<SettingsResponse> {
    let actor = &writer.person.user;
    let attempt = || async {
        let terms = registrations.course(id, &writer.person, changeable).await?;
        let (course, before) = (&terms.course.summary, &terms.settings);
        if before.cancelled_at.is_some() {
            return Err(ErrorCode::CourseCancelled.into());
        }
        if request.version.is_some_and(|version| version != course.version) {
            return Err(ErrorCode::VersionConflict.into());
        }
        let after = RegistrationSettings { updated_at: Some(now), ..request.settings.clone() };
        let mut tx = registrations.store.transaction();
        tx.set_registration_settings(course, before, &after, now);
        let later = CourseTerms { settings: after.clone(), ..terms.clone() };
        tx.reschedule(course, &terms.schedule(), &later.schedule(), now);
        let audited = AuditedAction::of_registration_settings(course, before, &after);
        tx.record_audit(&audited.by(actor, random::id(now), now));
        Ok::<_, ApiError>((tx, later))
    };
    // What is confirmed is read only if the condition on the seats fails.
    let too_low = |part| (part == Part::Seats).then(|| ErrorCode::CapacityTooLow.into());
    match registrations.store.update(attempt, too_low).await {
        Ok(terms) => {
            let version = terms.course.summary.version + 1;
            let store = &registrations.store;
            let registration = terms.sessions.settings_view(store, terms.settings, true).await?;
            success(Message::RegistrationSettings, SettingsResponse { registration, version })
        }
        Err(error) if error.code() == ErrorCode::CapacityTooLow => {
            let taken = registrations.store.seats(id).await?.taken;
            let constraint = Constraint { min: Some(taken.into()), ..Constraint::default() };
            let invalid = InvalidValue { code: ErrorCode::CapacityTooLow, constraint };
            let errors = vec![FieldError::new("capacity", invalid)];
            Err(ApiError::with_errors(ErrorCode::CapacityTooLow, errors))
        }
        Err(error) => Err(error),
    }
}
