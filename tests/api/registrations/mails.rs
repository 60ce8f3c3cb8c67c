//! The mails about registrations.

use domain::{Profile, user::User};
use serde_json::{Value, json};
use tests::{Person, World};

use super::{Course, automatic, subjects};

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
        ("Votre demande d’inscription est reçue", "Votre demande d’inscription est acceptée");
    let cancelled = "Votre inscription est annulée";
    assert_eq!(told(&first).await, [cancelled, accepted, received]);
    let promoted = "Une place s’est libérée pour vous";
    assert_eq!(told(&second).await, [cancelled, promoted, accepted, received]);
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
    assert_eq!(subjects(&course.world, &member).await, ["Votre inscription est annulée"]);
    course.register(&member).await.expect_created();
    // Only a change of the state overtakes.
    let note = json!({ "note": "Au premier rang" });
    course.trainer.put(&course.path_of(&member), note).await.expect_ok();
    assert_eq!(subjects(&course.world, &member).await[0], "Votre inscription est confirmée");
}

#[tokio::test]
async fn account_gets_sixty_mails_a_day_and_every_state() {
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
    let (other, _) = course.registered().await;
    assert_eq!(subjects(&world, &other).await.len(), 1);
}

#[tokio::test]
async fn mail_to_an_unproved_mailbox_has_no_text_of_people() {
    let mut settings = automatic(5, 0);
    settings["joinInfo"] = json!("Salle 2");
    let course = Course::with(settings).await;
    let (proved, _) = course.registered().await;
    let user = course.world.unhashed_account(Profile::Member).await;
    let unproved = |user: &mut User| user.is_mailbox_verified = false;
    let user = course.world.changed_account(&user, unproved).await;
    let member = course.world.signed_in(user).await;
    course.register(&member).await.expect_created();
    for (person, is_shown) in [(&proved, true), (&member, false)] {
        let reason = json!({ "reason": "Niveau" });
        let mut texts = vec![newest(&course.world, person).await];
        post(&course, &course.trainer, person, "cancel", reason).await;
        texts.push(newest(&course.world, person).await);
        for (text, part) in [(&texts[0], "Salle 2"), (&texts[1], "Niveau")] {
            assert_eq!(text.contains("Premiers secours"), is_shown, "{text}");
            assert_eq!(text.contains(part), is_shown, "{text}");
        }
        assert!(texts[0].contains("Votre inscription est confirmée"));
    }
}

async fn newest(world: &World, person: &Person) -> String {
    let mails = world.mails(person.user().email.as_str()).await;
    mails[0]["text"].as_str().unwrap().to_owned()
}
