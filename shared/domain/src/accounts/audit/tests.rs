use super::*;

fn entry_with(after: AuditValues) -> AuditEntry {
    let (name, now) = ("é".repeat(100), Instant::from_unix_milliseconds(1_800_000_000_000));
    let (name, email) = (name.parse().unwrap(), "amina@example.org".parse().unwrap());
    let committee = CommitteeId::new(Uuid::nil());
    let mut actor =
        User::new(UserId::new(Uuid::nil()), Clone::clone(&name), name, email, committee, now);
    actor.profile = crate::Profile::SuperAdmin;
    let target = (TargetType::User, Uuid::nil());
    let action = AuditedAction::new(Action::RegistrationUpdated, target, committee);
    let (before, after) = (Some(after.clone()), Some(after));
    AuditedAction { before, after, ..action }.by(&actor, Uuid::nil(), now)
}

#[test]
fn values_beyond_four_kilobytes_are_cut_and_say_so() {
    let ids = vec![Uuid::nil().to_string(); 5_000];
    let entry = entry_with(values([("answers", ids.into()), ("note", true.into())]));
    assert!(entry.bytes() <= MAX_BYTES, "{}", entry.bytes());
    let after = entry.audited.after.unwrap();
    let answers = after["answers"].as_str().unwrap();
    assert!(answers.starts_with("[\"00000000-") && answers.ends_with("… (195001 bytes)"));
    assert_eq!(after["note"], true);
}

#[test]
fn entry_has_at_most_four_kilobytes_whatever_its_values_are() {
    for (fields, letter, length) in
        [(1, "a", 20_000), (1, "م", 3_000), (40, "\u{1}", 20_000), (40, "\"", 100), (40, "a", 10)]
    {
        let value = || Value::from(letter.repeat(length));
        let values = (0..fields).map(|number| (format!("secondaryField{number}"), value()));
        let entry = entry_with(values.collect());
        assert!(entry.bytes() <= MAX_BYTES, "{fields} × {length}: {}", entry.bytes());
    }
}

#[test]
fn short_entry_is_recorded_as_it_is() {
    let values = values([("reason", "Salle fermée".into()), ("capacity", Value::Null)]);
    assert_eq!(entry_with(values.clone()).audited.after, Some(values));
}
