//! The mails about registrations.

use std::{collections::BTreeSet, time::Duration};

use domain::{Email, Profile, registration::next_requests_message, user::User};
use futures_util::future::join_all;
use serde_json::{Value, json};
use store::{Channel, SendingRate};
use tests::{Person, World};

use super::{Course, DAY, automatic, subjects};

async fn post(course: &Course, by: &Person, person: &Person, operation: &str, body: Value) {
    let path = format!("{}/{operation}", course.path_of(person));
    by.post(&path, body).await.expect_ok();
    course.world.deliver().await;
}

#[tokio::test]
async fn each_change_of_state_is_told_once() {
    let settings = json!({ "mode": "MANUAL", "capacity": 1, "waitlistLimit": 5 });
    let course = Course::with(settings).await;
    let [first, second, third] =
        [course.registered().await.0, course.registered().await.0, course.registered().await.0];
    course.world.deliver().await;
    let trainer = &course.trainer;
    for person in [&first, &second] {
        post(&course, trainer, person, "approve", json!({})).await;
    }
    post(&course, trainer, &third, "reject", json!({})).await;
    post(&course, &first, &first, "cancel", json!({})).await;
    post(&course, trainer, &second, "cancel", json!({ "reason": "Salle trop petite" })).await;
    let told = async |person: &Person| subjects(&course.world, person).await;
    let (received, accepted) =
        ("Nous avons reçu votre demande", "Votre demande d’inscription est acceptée");
    let by_person = "Vous avez annulé votre inscription";
    let by_committee = "Le comité a annulé votre inscription";
    assert_eq!(told(&first).await, [by_person, accepted, received]);
    let promoted = "Une place s’est libérée pour vous";
    assert_eq!(told(&second).await, [by_committee, promoted, accepted, received]);
    assert_eq!(told(&third).await, ["Votre demande d’inscription est refusée", received]);
    let text = newest(&course.world, &first).await;
    assert!(text.contains("Vous avez annulé votre inscription."), "{text}");
    let text = newest(&course.world, &second).await;
    assert!(text.contains("Salle trop petite"), "{text}");
}

#[tokio::test]
async fn message_that_a_later_change_has_overtaken_is_not_sent() {
    let course = Course::with(automatic(1, 0)).await;
    let (member, _) = course.registered().await;
    let cancel = format!("{}/cancel", course.path_of(&member));
    member.post(&cancel, json!({})).await.expect_ok();
    assert_eq!(subjects(&course.world, &member).await, ["Vous avez annulé votre inscription"]);
    course.register(&member).await.expect_created();
    // Only a change of the state overtakes.
    let note = json!({ "note": "Au premier rang" });
    course.trainer.put(&course.path_of(&member), note).await.expect_ok();
    assert_eq!(subjects(&course.world, &member).await[0], "Votre inscription est confirmée");
}

#[tokio::test]
async fn person_causes_sixty_mails_a_day_and_every_state() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let member = world.member().await;
    for _ in 0..3 {
        let course = Course::in_world(world.clone(), automatic(1, 0)).await;
        for _ in 0..10 {
            course.register(&member).await.expect_created();
            world.deliver().await;
            post(&course, &member, &member, "cancel", json!({})).await;
        }
    }
    assert_eq!(subjects(&world, &member).await.len(), 60);
    let course = Course::in_world(world.clone(), automatic(2, 0)).await;
    course.register(&member).await.expect_created();
    assert_eq!(subjects(&world, &member).await.len(), 60);
    assert_eq!(course.state(&member).await, "CONFIRMED");
    // What others do is never held back.
    post(&course, &course.trainer, &member, "cancel", json!({})).await;
    assert_eq!(subjects(&world, &member).await.len(), 61);
    let (other, _) = course.registered().await;
    assert_eq!(subjects(&world, &other).await.len(), 1);
}

#[tokio::test]
async fn mail_has_texts_of_people_if_somebody_vouches_for_the_mailbox() {
    let mut settings = automatic(5, 0);
    settings["joinInfo"] = json!("Salle 2");
    let course = Course::with(settings).await;
    // Proved by its owner, verified by an administrator, and neither: that was taken back.
    for (proved, verified) in [(true, true), (false, true), (true, false), (false, false)] {
        let user = course.world.unhashed_account(Profile::Member).await;
        let unproved = |user: &mut User| user.is_mailbox_verified = proved;
        let user = course.world.changed_account(&user, unproved).await;
        let person = course.world.signed_in(user.clone()).await;
        course.register(&person).await.expect_created();
        let text = newest(&course.world, &person).await;
        assert!(text.contains("Premiers secours") && text.contains("Salle 2"), "{text}");
        course.world.changed_account(&user, |user| user.is_verified = verified).await;
        post(&course, &course.trainer, &person, "cancel", json!({ "reason": "Niveau" })).await;
        let (text, is_shown) = (newest(&course.world, &person).await, proved || verified);
        assert!(text.contains("Le comité a annulé votre inscription."), "{text}");
        for part in ["Premiers secours", "Niveau"] {
            assert_eq!(text.contains(part), is_shown, "{text}");
        }
    }
}

/// A course with 20 people who registered, and the address of an account that then asked for a code. Mails in numbers go
/// out one a second.
async fn course_with_mails_before_a_code() -> (Course, Vec<Person>, Email) {
    let settings = [("RATE_LIMIT", "100000"), ("MAIL_RATE_PER_SECOND", "1")];
    let course = Course::in_world(World::with(&settings).await, automatic(100, 0)).await;
    let mut people = Vec::new();
    for _ in 0..20 {
        people.push(course.registered().await.0);
    }
    let owner = ask_for_code(&course.world).await;
    (course, people, owner)
}

async fn ask_for_code(world: &World) -> Email {
    let email = world.unhashed_account(Profile::Member).await.email.clone();
    world.anonymous().ask_to_sign_in(&email, "email").await;
    email
}

#[tokio::test]
async fn mails_without_a_send_time_wait_for_the_sweep_codes_do_not() {
    let (course, people, owner) = course_with_mails_before_a_code().await;
    let (world, now) = (&course.world, course.world.clock().now());
    let rate = SendingRate { channel: Channel::Mails, per_second: 1 };
    world.setup().store.reserve_send_times(rate, 8, Duration::ZERO, now).await.unwrap();
    assert_eq!(world.mails(owner.as_str()).await.len(), 1);
    assert_eq!(world.cloud().recorder().mails().len(), 1, "the mails wait");
    world.clock().advance(Duration::from_secs(60));
    world.another_process_with(&[("MAIL_RATE_PER_SECOND", "1000")]).sweep().await;
    for person in &people {
        assert_eq!(subjects(world, person).await, ["Votre inscription est confirmée"]);
    }
}

#[tokio::test]
async fn mails_that_wait_for_their_send_times_delay_no_code() {
    let (course, ..) = course_with_mails_before_a_code().await;
    let world = &course.world;
    world.clock().advance(Duration::from_secs(60));
    let recorder = world.cloud().recorder();
    let is_code = |mail: &&Value| mail["subject"] == "Votre code de connexion à Halqa";
    let sent = async {
        for codes in [1, 2] {
            while recorder.mails().iter().filter(is_code).count() < codes {
                tokio::task::yield_now().await;
            }
            // The next one becomes due while the sweep runs.
            ask_for_code(world).await;
            world.clock().advance(Duration::from_secs(60));
        }
    };
    tokio::select! {
        () = sent => {}
        () = world.sweep() => panic!("the codes were not sent beside the mails"),
    }
    assert!(recorder.mails().len() < 20, "the others still wait");
}

#[tokio::test]
async fn mails_about_registrations_reserve_times_of_mails_only() {
    let course = Course::with(automatic(5, 0)).await;
    let world = &course.world;
    let rates = || {
        let items = world.items("transient").into_iter();
        let keys = items.map(|item| item["pk"]["S"].as_str().unwrap().to_owned());
        keys.filter(|pk| pk.starts_with("RATE#")).collect::<Vec<_>>()
    };
    let owner = ask_for_code(world).await;
    assert_eq!((world.mails(owner.as_str()).await.len(), rates()), (1, vec![]));
    let (member, _) = course.registered().await;
    assert_eq!(subjects(world, &member).await.len(), 1);
    assert_eq!(rates(), ["RATE#MAILS"]);
}

#[tokio::test]
async fn people_who_join_together_are_told_different_places() {
    let course = Course::with(automatic(1, 50)).await;
    course.registered().await;
    let mut people = Vec::new();
    for _ in 0..30 {
        let user = course.world.unhashed_account(Profile::Member).await;
        people.push(course.world.signed_in(user).await);
    }
    for answer in join_all(people.iter().map(|person| course.register(person))).await {
        answer.expect_created();
    }
    let mut places = BTreeSet::new();
    for person in &people {
        places.extend(place(&newest(&course.world, person).await));
    }
    assert_eq!(places, (1..=30).collect());
}

#[tokio::test]
async fn mail_names_the_place_when_it_is_sent() {
    let course = Course::with(automatic(1, 5)).await;
    let [_, (first, _), (second, _)] =
        [course.registered().await, course.registered().await, course.registered().await];
    let cancel = format!("{}/cancel", course.path_of(&first));
    first.post(&cancel, json!({})).await.expect_ok();
    assert_eq!(place(&newest(&course.world, &second).await), Some(1));
    // Who was accepted is told their place, too.
    course.set(json!({ "mode": "MANUAL", "capacity": 1, "waitlistLimit": 5 })).await.expect_ok();
    let (third, _) = course.registered().await;
    post(&course, &course.trainer, &third, "approve", json!({})).await;
    assert_eq!(place(&newest(&course.world, &third).await), Some(2));
}

/// The place on the waiting list that `text` names.
fn place(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("Votre place sur la liste\u{a0}: ")?;
    rest.lines().next()?.parse().ok()
}

#[tokio::test]
async fn unproved_mailbox_gets_ten_mails_a_day_whatever_causes_them() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let user = world.unhashed_account(Profile::Member).await;
    let member = world.signed_in(user.clone()).await;
    let mut courses = Vec::new();
    for _ in 0..6 {
        let course = Course::in_world(world.clone(), automatic(1, 0)).await;
        course.register(&member).await.expect_created();
        courses.push(course);
    }
    let unproved = |user: &mut User| (user.is_mailbox_verified, user.is_verified) = (false, false);
    let user = world.changed_account(&user, unproved).await;
    assert_eq!(subjects(&world, &member).await.len(), 6);
    for course in &courses {
        post(course, &course.trainer, &member, "cancel", json!({})).await;
    }
    assert_eq!(subjects(&world, &member).await.len(), 10);
    // An administrator vouches for it.
    world.changed_account(&user, |user| user.is_verified = true).await;
    course_cancels(&world, &member).await;
    assert_eq!(subjects(&world, &member).await.len(), 12);
}

/// A new course confirms `member`, and then cancels their registration.
async fn course_cancels(world: &World, member: &Person) {
    let course = Course::in_world(world.clone(), automatic(1, 0)).await;
    course.register(member).await.expect_created();
    world.deliver().await;
    post(&course, &course.trainer, member, "cancel", json!({})).await;
}

#[tokio::test]
async fn times_in_mails_are_those_of_the_setting() {
    let world = World::with(&[("TIME_ZONE", "Asia/Tokyo")]).await;
    let course = Course::in_world(world, automatic(5, 0)).await;
    let (member, _) = course.registered().await;
    let text = newest(&course.world, &member).await;
    assert!(text.contains("(heure de Tokyo)"), "{text}");
}

#[tokio::test]
async fn line_breaks_of_people_are_shown_in_both_forms() {
    let mut settings = automatic(5, 0);
    settings["joinInfo"] = json!("Salle 2 <A>\nAu premier étage");
    let course = Course::with(settings).await;
    let (member, _) = course.registered().await;
    let reason = json!({ "reason": "Salle inondée\nÀ bientôt" });
    post(&course, &course.trainer, &member, "cancel", reason).await;
    let mut mails = course.world.mails(member.user().email.as_str()).await;
    mails.retain(|mail| mail["subject"].as_str().unwrap().starts_with("Le comité"));
    let has = |form: &str, text: &str| mails[0][form].as_str().unwrap().contains(text);
    assert!(has("text", "Salle inondée\nÀ bientôt"), "{mails:?}");
    assert!(has("html", "Salle inondée<br>À bientôt"), "{mails:?}");
    course.register(&member).await.expect_created();
    let mails = course.world.mails(member.user().email.as_str()).await;
    let html = mails[0]["html"].as_str().unwrap();
    assert!(html.contains("Salle 2 &lt;A&gt;<br>Au premier étage"), "{html}");
}

#[tokio::test]
async fn mails_to_confirmed_people_name_the_course_and_attach_it() {
    let mut settings = automatic(1, 5);
    settings["joinInfo"] = json!("Salle 2");
    let course = Course::with(settings).await;
    let shown = course.trainer.get(&format!("/courses/{}", course.id)).await.expect_ok();
    let [(member, _), (waiting, _)] = [course.registered().await, course.registered().await];
    let mails = async |person: &Person| course.world.mails(person.user().email.as_str()).await;
    let mail = mails(&member).await[0].clone();
    assert_eq!(mail["subject"], "Votre inscription est confirmée\u{a0}: Premiers secours");
    let contact = shown["course"]["contactEmail"].as_str().unwrap();
    let page = format!("/courses/{}", course.id);
    for part in ["Début\u{a0}: le ", "Fin\u{a0}: le ", contact, &page, "Salle 2"] {
        assert!(mail["text"].as_str().unwrap().contains(part), "{part}: {mail}");
    }
    let event = &mail["attachments"][0];
    assert_eq!(event["contentType"], "text/calendar; charset=utf-8");
    let calendar = member.get(&format!("{}/calendar", course.path_of(&member))).await;
    let without_time = |calendar: &str| {
        let lines = calendar.lines().filter(|line| !line.starts_with("DTSTAMP"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let shown = without_time(&String::from_utf8_lossy(&calendar.body));
    assert_eq!(without_time(event["content"].as_str().unwrap()), shown);
    assert_eq!(mails(&waiting).await[0]["attachments"], json!([]));
    post(&course, &member, &member, "cancel", json!({})).await;
    let event = mails(&member).await[0]["attachments"][0]["content"].clone();
    let event = without_time(event.as_str().unwrap());
    let has = |line: &str| event.iter().any(|one| one == line);
    assert!(has("STATUS:CANCELLED") && !event.iter().any(|line| line.contains("Salle 2")));
    assert!(has(shown.iter().find(|line| line.starts_with("UID:")).unwrap()), "{event:?}");
    post(&course, &waiting, &waiting, "cancel", json!({})).await;
    assert_ne!(mails(&waiting).await[0]["attachments"], json!([]), "they were promoted");
}

#[tokio::test]
async fn mails_of_a_registration_in_arabic_are_in_arabic_from_right_to_left() {
    let course = Course::with(automatic(5, 0)).await;
    let member = course.world.member().await;
    member.post(&course.path(""), json!({ "language": "AR" })).await.expect_created();
    let mail = course.world.mails(member.user().email.as_str()).await[0].clone();
    assert_eq!(mail["subject"], "تم تأكيد تسجيلكم: \u{2068}Premiers secours\u{2069}");
    let text = mail["text"].as_str().unwrap();
    for part in ["مرحبًا", "- البداية: ", "(توقيت تونس)", "فريق حلقة"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(mail["html"].as_str().unwrap().contains("<html lang=\"ar\" dir=\"rtl\">"));
}

const REQUESTS: &str = "Des demandes d’inscription vous attendent";

#[tokio::test]
async fn creator_is_told_once_an_hour_of_new_requests() {
    let course = Course::with(json!({ "mode": "MANUAL" })).await;
    let told = async || subjects(&course.world, &course.trainer).await;
    course.world.clock().advance(until_next_hour(&course.world));
    let (first, _) = course.registered().await;
    assert_eq!(told().await, [REQUESTS]);
    for _ in 0..3 {
        course.registered().await;
        assert_eq!(told().await, [REQUESTS]);
    }
    let hour = Duration::from_secs(3600);
    course.world.clock().advance(hour);
    course.world.sweep().await;
    assert_eq!(told().await, [REQUESTS, REQUESTS]);
    let text = newest(&course.world, &course.trainer).await;
    assert!(text.contains("- Demandes en attente\u{a0}: 4"), "{text}");
    course.world.clock().advance(hour);
    course.world.sweep().await;
    assert_eq!(told().await.len(), 2, "nothing is new");
    // What is decided before the mail is sent is not told.
    let decided = course.registered().await.0;
    for person in [&first, &decided] {
        post(&course, &course.trainer, person, "approve", json!({})).await;
    }
    assert_eq!(told().await.len(), 3, "two still wait");
}

#[tokio::test]
async fn request_during_the_mail_about_others_is_told_in_the_next_hour() {
    let course = Course::with(json!({ "mode": "MANUAL" })).await;
    let world = &course.world;
    world.clock().advance(until_next_hour(world));
    course.registered().await;
    let another = async {
        course.registered().await;
    };
    world.overtaken(("UpdateItem", "REMOVE requestedAt"), world.deliver(), another).await;
    assert_eq!(subjects(world, &course.trainer).await, [REQUESTS]);
    world.clock().advance(Duration::from_secs(3600));
    world.sweep().await;
    assert_eq!(subjects(world, &course.trainer).await, [REQUESTS; 2]);
}

#[tokio::test]
async fn admins_are_told_of_requests_when_the_creator_may_not_decide() {
    let course = Course::with(json!({ "mode": "MANUAL" })).await;
    let (world, trainer) = (&course.world, course.trainer.user());
    let admin = world.unhashed_account(Profile::CommitteeAdmin).await;
    let admin = world.signed_in(admin).await;
    course.world.changed_account(trainer, |user| user.profile = Profile::Member).await;
    course.registered().await;
    assert_eq!(subjects(world, &admin).await, [REQUESTS]);
    assert_eq!(subjects(world, &course.trainer).await, [""; 0]);
}

/// The time until the clock's next full hour.
fn until_next_hour(world: &World) -> Duration {
    let now = world.clock().now();
    next_requests_message(now).since(now)
}

#[tokio::test]
async fn start_of_the_course_is_told_by_what_the_person_waited_for() {
    let course = Course::with(automatic(1, 5)).await;
    course.registered().await;
    let (waiting, _) = course.registered().await;
    course.set(json!({ "mode": "MANUAL", "capacity": 1, "waitlistLimit": 5 })).await.expect_ok();
    let (pending, _) = course.registered().await;
    course.world.deliver().await;
    course.world.clock().advance(DAY * 10 + Duration::from_secs(3600));
    course.world.sweep().await;
    let text = newest(&course.world, &waiting).await;
    assert!(text.contains("Le cours a commencé, aucune place ne s’est libérée."), "{text}");
    let text = newest(&course.world, &pending).await;
    assert!(text.contains("le comité n’a pas décidé"), "{text}");
    assert!(!text.contains("place"), "{text}");
}

async fn newest(world: &World, person: &Person) -> String {
    let mails = world.mails(person.user().email.as_str()).await;
    mails[0]["text"].as_str().unwrap().to_owned()
}
