use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, expect_fields};

use super::{Course, DAY, automatic, subjects};

#[tokio::test]
async fn people_get_seats_then_places_then_a_refusal() {
    let course = Course::with(automatic(1, 1)).await;
    let (first, confirmed) = course.registered().await;
    expect_fields(
        &confirmed,
        json!({ "state": "CONFIRMED", "number": 1, "position": null, "version": 1 }),
    );
    let (second, waiting) = course.registered().await;
    expect_fields(&waiting, json!({ "state": "WAITLISTED", "number": 2, "position": 1 }));
    let third = course.world.member().await;
    course.register(&third).await.expect_error(ErrorCode::CourseFull);
    assert_eq!(course.counts().await, [0, 1, 1]);
    assert_eq!(subjects(&course.world, &first).await, ["Votre inscription est confirmée"]);
    assert_eq!(subjects(&course.world, &second).await, ["Vous êtes sur la liste d’attente"]);
    assert_eq!(subjects(&course.world, &third).await, [""; 0]);
    let history = json!([{ "at": confirmed["createdAt"], "from": null, "to": "CONFIRMED", "by": "PERSON", "reason": null }]);
    assert_eq!(course.seen(&first).await["history"], history);
}

#[tokio::test]
async fn registered_person_gets_the_stored_registration_again() {
    let course = Course::with(automatic(1, 0)).await;
    let question =
        json!({ "language": "FR", "question": "Repas ?", "questionType": "SHORT_REPLY" });
    let question = course.ask(question).await;
    let member = course.world.member().await;
    let body = json!({ "answers": { &question: "Couscous" } });
    let first =
        member.post(&course.path(""), body).await.expect_success(Message::RegistrationConfirmed);
    course.set(json!({ "mode": "NONE", "capacity": 1 })).await.expect_ok();
    for body in [json!({}), json!({ "answers": { &question: "Pizza", "x": 1 }, "language": "EN" })]
    {
        let again =
            member.post(&course.path(""), body).await.expect_success(Message::AlreadyRegistered);
        assert_eq!(again["registration"], first["registration"]);
    }
    let malformed = member.post(&course.path(""), json!({ "answers": [] })).await;
    malformed.expect_field_error("answers", ErrorCode::FieldType);
    assert_eq!(course.counts().await, [0, 0, 1]);
}

#[tokio::test]
async fn registration_is_refused_for_the_first_reason() {
    let course = Course::with(json!({})).await;
    let member = course.world.member().await;
    let past = "2026-01-01";
    let future = course.world.clock().now().after(DAY);
    for (settings, code) in [
        (json!({}), ErrorCode::RegistrationDisabled),
        (json!({ "mode": "AUTOMATIC", "opensAt": future }), ErrorCode::RegistrationNotOpen),
        (json!({ "mode": "AUTOMATIC", "closesAt": past }), ErrorCode::RegistrationClosed),
        (automatic(0, 0), ErrorCode::CourseFull),
    ] {
        course.set(settings).await.expect_ok();
        course.register(&member).await.expect_error(code);
    }
    course.set(json!({ "mode": "AUTOMATIC", "audience": "COMMITTEE" })).await.expect_ok();
    let elsewhere = course.world.another_committee("Ailleurs", true).await;
    let stranger = course.world.person(NewPerson::with(Profile::Member).of(elsewhere)).await;
    course.register(&stranger).await.expect_error(ErrorCode::RegistrationAudience);
    course.register(&member).await.expect_success(Message::RegistrationConfirmed);
    let to_draft = format!("/courses/{}/to-draft", course.id);
    course.trainer.post(&to_draft, json!({})).await.expect_ok();
    course.register(&stranger).await.expect_error(ErrorCode::CourseNotFound);
    assert_eq!(course.state(&member).await, "CONFIRMED", "their own stays visible");
}

#[tokio::test]
async fn registration_is_closed_with_its_committee_or_if_manual_at_start() {
    let course = Course::with(automatic(5, 0)).await;
    let elsewhere = course.world.another_committee("Ailleurs", true).await;
    let stranger = course.world.person(NewPerson::with(Profile::Member).of(elsewhere)).await;
    let (admin, member) = (course.world.admin().await, course.world.member().await);
    let committee = format!("/committees/{}", course.world.committee());
    admin.put(&committee, json!({ "isActive": false })).await.expect_ok();
    course.register(&stranger).await.expect_error(ErrorCode::RegistrationClosed);
    course.register(&member).await.expect_error(ErrorCode::CommitteeInactive);
    admin.put(&committee, json!({ "isActive": true })).await.expect_ok();

    let later = course.world.clock().now().after(DAY * 11);
    let replace = async |mode: &str| {
        let settings =
            json!({ "mode": mode, "closesAt": later, "capacity": 1, "waitlistLimit": 5 });
        let trainer = course.world.signed_in(course.trainer.user().clone()).await;
        trainer.put(&course.path("/settings"), settings).await.expect_ok();
    };
    course.world.clock().advance(DAY * 10);
    let [first, second] = [course.world.member().await, course.world.member().await];
    replace("MANUAL").await;
    course.register(&first).await.expect_error(ErrorCode::RegistrationClosed);
    replace("AUTOMATIC").await;
    course.register(&first).await.expect_success(Message::RegistrationConfirmed);
    // After the start nobody is promoted, so that there is no list.
    course.register(&second).await.expect_error(ErrorCode::CourseFull);
}

#[tokio::test]
async fn place_on_the_list_is_counted_up_to_a_hundred() {
    let course = Course::with(automatic(0, 200)).await;
    for number in 1..=101 {
        let (_, registration) = course.registered().await;
        let position = Some(number).filter(|number| *number <= 100);
        expect_fields(&registration, json!({ "number": number, "position": position }));
    }
    assert_eq!(course.counts().await, [0, 101, 0]);
}

#[tokio::test]
async fn consent_is_required_and_kept_with_its_time() {
    let mut settings = automatic(5, 0);
    settings["consentText"] = json!("Je viens à mes risques.");
    let course = Course::with(settings).await;
    let member = course.world.member().await;
    for body in [json!({}), json!({ "consent": false })] {
        let refused = member.post(&course.path(""), body).await;
        refused.expect_field_error("consent", ErrorCode::FieldRequired);
        let expected = "Votre accord est nécessaire : cochez la case.";
        let error = json!({ "RESPONSE_TEXT": expected, "allowed": ["true"] });
        expect_fields(&refused.json()["errors"][0], error);
    }
    let body = member.post(&course.path(""), json!({ "consent": true })).await.expect_created();
    assert_eq!(body["registration"]["consentAt"], body["registration"]["createdAt"]);
    // A response has all errors of the form.
    let asked = json!({
        "language": "FR", "question": "Attestation ?", "questionType": "FILE", "required": true,
    });
    let field = format!("answers.{}", course.ask(asked).await);
    let consent = ("consent".to_owned(), ErrorCode::FieldRequired.code().to_owned());
    let other = course.world.member().await;
    for (answers, code) in [
        (json!({}), ErrorCode::FieldRequired),
        (json!({ &field[8..]: "attestation.pdf" }), ErrorCode::FileNotFound),
        (json!({ &field[8..]: course.id }), ErrorCode::FileNotFound),
    ] {
        let refused = other.post(&course.path(""), json!({ "answers": answers })).await;
        assert_eq!(refused.errors(), [(field.clone(), code.code().to_owned()), consent.clone()]);
    }
}

#[tokio::test]
async fn answers_are_checked_and_returned_as_they_were_typed() {
    let course = Course::with(automatic(5, 0)).await;
    let of = |kind: &str, text: &str| json!({ "language": "FR", "question": text, "questionType": kind });
    let mut age = of("NUMBER", "Âge ?");
    age["required"] = json!(true);
    let (age, day) = (course.ask(age).await, course.ask(of("DATE", "Jour ?")).await);
    let mut arabic = of("SHORT_REPLY", "الاسم");
    arabic["language"] = json!("AR");
    let arabic = course.ask(arabic).await;
    let member = course.world.member().await;
    let send =
        async |answers: Value| member.post(&course.path(""), json!({ "answers": answers })).await;
    let field = |id: &str| format!("answers.{id}");
    send(json!({})).await.expect_field_error(&field(&age), ErrorCode::FieldRequired);
    let wrong = send(json!({ &age: 5, &day: "2026-02-30" })).await;
    wrong.expect_field_error(&field(&day), ErrorCode::FieldFormat);
    let other = send(json!({ &age: 5, &arabic: "x" })).await;
    other.expect_field_error(&field(&arabic), ErrorCode::FieldValue);
    let unknown = send(json!({ &age: 5, "x": 1 })).await;
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "QUESTION_NOT_FOUND_MESSAGE"));
    let english = json!({ "language": "EN", "answers": { &age: 5 } });
    let english = member.post(&course.path(""), english).await;
    english.expect_field_error("language", ErrorCode::FieldValue);
    let exact = format!(r#"{{"answers":{{"{day}":"2026-03-01","{age}":12345678901.123456}}}}"#);
    let path = format!("/api/v1{}", course.path(""));
    let answer = member.json().send(http::Method::POST, &path, exact.into()).await;
    answer.expect_created();
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(text.contains("12345678901.123456"), "{text}");
    let seen = course.seen(&member).await;
    let answers = seen["answers"].as_array().unwrap();
    assert_eq!(json!([answers[0]["questionID"], answers[1]["questionID"]]), json!([age, day]));
    assert_eq!(json!([answers[1]["value"], answers[1]["current"]]), json!(["2026-03-01", true]));
}

#[tokio::test]
async fn errors_of_answers_come_in_form_order_and_say_what_is_right() {
    let course = Course::with(automatic(5, 0)).await;
    let mut given = json!({});
    let mut expected = Vec::new();
    for (kind, value, error) in [
        (
            "TIME",
            json!("9 h"),
            json!({ "RESPONSE_TEXT": "Ce champ doit être une heure, par exemple 09:30.", "format": "time" }),
        ),
        (
            "SCALE",
            json!(1.5),
            json!({ "RESPONSE_TEXT": "Ce champ doit être un nombre entier.", "min": 1, "max": 10, "decimals": 0 }),
        ),
        (
            "NUMBER",
            json!(0.000_000_1),
            json!({ "RESPONSE_TEXT": "Ce nombre a au plus 6 décimales.", "max": 999_999_999_999_u64, "decimals": 6 }),
        ),
        (
            "MULTIPLE_CHOICE",
            json!(["a", "a"]),
            json!({ "RESPONSE_TEXT": "Une option est choisie deux fois.", "allowed": ["a", "b"] }),
        ),
        (
            "DATE",
            json!("1899-12-31"),
            json!({ "RESPONSE_TEXT": "Cette date doit être comprise entre le 01/01/1900 et le 31/12/2100.", "min": "1900-01-01", "max": "2100-12-31" }),
        ),
    ] {
        let options = (kind == "MULTIPLE_CHOICE").then_some(["a", "b"]);
        let question =
            json!({ "language": "FR", "question": kind, "questionType": kind, "options": options });
        let id = course.ask(question).await;
        given[&id] = value;
        expected.push((format!("answers.{id}"), error));
    }
    let member = course.world.member().await;
    // The members of the object are in another order.
    let reversed: Value = given.as_object().unwrap().clone().into_iter().rev().collect();
    let refused = member.post(&course.path(""), json!({ "answers": reversed })).await;
    refused.expect_error(ErrorCode::Validation);
    let errors = refused.json()["errors"].as_array().unwrap().clone();
    assert_eq!(errors.len(), expected.len());
    for (error, (field, expected)) in errors.iter().zip(expected) {
        assert_eq!(error["field"], *field);
        expect_fields(error, expected);
    }
}

#[tokio::test]
async fn answers_have_at_most_65536_bytes() {
    let course = Course::with(automatic(5, 0)).await;
    let member = course.world.member().await;
    let mut answers = json!({});
    for number in 0..14 {
        let question = json!({ "language": "FR", "question": format!("{number} ?"), "questionType": "LONG_REPLY" });
        answers[course.ask(question).await] = json!("x".repeat(5000));
    }
    let refused = member.post(&course.path(""), json!({ "answers": answers })).await;
    refused.expect_field_error("answers", ErrorCode::AnswersLimit);
}

#[tokio::test]
async fn errors_are_at_most_a_hundred_and_list_short_options_only() {
    let course = Course::with(automatic(1, 0)).await;
    let options = |length: usize| (10..60).map(move |at| format!("{at}{}", "é".repeat(length)));
    let ask = async |kind: &str, length: usize| {
        let options: Vec<String> = options(length).collect();
        course.ask(json!({ "language": "FR", "question": "?", "questionType": kind, "options": options })).await
    };
    let short = ask("DROPDOWN", 2).await;
    let long = [ask("DROPDOWN", 198).await, ask("MULTIPLE_CHOICE", 198).await];
    let member = course.world.member().await;
    let answers = json!({ &short: "x", &long[0]: "x", &long[1]: ["x"] });
    let refused = member.post(&course.path(""), json!({ "answers": answers })).await;
    refused.expect_error(ErrorCode::Validation);
    let errors = refused.json()["errors"].clone();
    let of = |id: &String| {
        let mut errors = errors.as_array().unwrap().iter();
        errors.find(|error| error["field"] == format!("answers.{id}")).unwrap().clone()
    };
    assert_eq!(of(&short)["allowed"], json!(options(2).collect::<Vec<_>>()));
    for id in &long {
        let error = of(id);
        assert_eq!(
            (&error["RESPONSE_CODE"], &error["allowed"]),
            (&json!("FIELD_VALUE_MESSAGE"), &Value::Null)
        );
        assert!(error["RESPONSE_TEXT"].as_str().unwrap().len() < 100, "{error}");
    }
    let unknown: Value = (0..150).map(|number| (format!("{number}"), json!("x"))).collect();
    let refused = member.post(&course.path(""), json!({ "answers": unknown })).await;
    refused.expect_error(ErrorCode::Validation);
    assert_eq!(refused.errors().len(), 100);
}

#[tokio::test]
async fn registering_again_takes_a_new_number_at_most_ten_times() {
    let course = Course::with(automatic(5, 0)).await;
    let member = course.world.member().await;
    for number in 1..=10 {
        let body = course.register(&member).await.expect_created();
        assert_eq!(body["registration"]["number"], number);
        let cancel = format!("{}/cancel", course.path_of(&member));
        member.post(&cancel, json!({})).await.expect_ok();
    }
    course.register(&member).await.expect_error(ErrorCode::RegistrationsLimit);
}

#[tokio::test]
async fn person_has_a_limited_number_of_active_registrations() {
    let world =
        tests::World::with(&[("RATE_LIMIT", "10000"), ("REGISTRATIONS_PER_USER", "2")]).await;
    let member = world.member().await;
    let mut courses = Vec::new();
    for _ in 0..3 {
        courses.push(Course::in_world(world.clone(), automatic(5, 0)).await);
    }
    for course in &courses[..2] {
        course.register(&member).await.expect_created();
    }
    courses[2].register(&member).await.expect_error(ErrorCode::RegistrationsLimit);
    let cancel = format!("{}/cancel", courses[0].path_of(&member));
    member.post(&cancel, json!({})).await.expect_ok();
    courses[2].register(&member).await.expect_created();
}
