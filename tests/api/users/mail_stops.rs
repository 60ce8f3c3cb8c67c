//! Mails are stopped after a bounce or a complaint, as `worker` learns it from SES through EventBridge, and sent again
//! once the owner has proved the mailbox.

use std::time::Duration;

use domain::{Instant, Profile, UserId};
use runtime::Error;
use serde_json::{Value, json};
use tests::{PASSWORD, Person, World};

/// "Bounce record" (<https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html>), in an
/// event of EventBridge (<https://docs.aws.amazon.com/ses/latest/dg/monitoring-eventbridge.html>).
const BOUNCE: &str = include_str!("../../../events/worker/bounce.json");
/// "Complaint record" on the same page, likewise.
const COMPLAINT: &str = include_str!("../../../events/worker/complaint.json");

/// The record `example` about the mail that was sent to `email` at `sent_at`.
fn record(example: &str, email: &str, sent_at: Instant) -> Value {
    let mut event: Value = serde_json::from_str(example).unwrap();
    let mut record = event["detail"].take();
    record["mail"]["timestamp"] = json!(sent_at);
    record["mail"]["destination"] = json!([email]);
    record
}

/// Passes `detail` to the worker in an event of EventBridge.
async fn invoke(world: &World, detail: Value) -> Result<(), Error> {
    let mut event: Value = serde_json::from_str(BOUNCE).unwrap();
    event["detail"] = detail;
    let worker = world.consumers().worker.clone();
    worker.answer(serde_json::from_value(event)?).await.map(|_| ())
}

/// Reports `example` about a mail to `email` that is sent now.
async fn report(world: &World, example: &str, email: &str) {
    let record = record(example, email, world.clock().now());
    invoke(world, record).await.unwrap();
}

/// Lets someone without a session request a code for `email`; returns whether it was sent.
async fn is_code_sent(world: &World, email: &str) -> bool {
    world.clock().advance(Duration::from_secs(3600));
    let before = world.mails(email).await.len();
    world.anonymous().ask_to_sign_in(email, "email").await;
    world.mails(email).await.len() > before
}

/// The audited actions on `user`, newest first, with what stopped their mails before and after.
async fn audited(world: &World, user: UserId) -> Vec<[Value; 3]> {
    let audit = world.admin().await.get(&format!("/audit?userID={user}")).await.expect_ok();
    let entries = audit["audit"].as_array().unwrap().iter();
    entries
        .map(|entry| {
            assert_eq!(entry["targetID"], json!(user));
            [
                entry["action"].clone(),
                entry["before"]["mailStop"].clone(),
                entry["after"]["mailStop"].clone(),
            ]
        })
        .collect()
}

fn email_of(person: &Person) -> String {
    person.user().email.to_string()
}

#[tokio::test]
async fn bounce_stops_all_mails_for_seven_days() {
    let (world, member) = World::with_member().await;
    let email = email_of(&member);
    assert!(is_code_sent(&world, &email).await);
    report(&world, BOUNCE, &email).await;
    assert!(!is_code_sent(&world, &email).await);
    let before = world.mails(&email).await.len();
    let again = world.signed_in(member.user().clone()).await;
    again.post("/users/email-verification", json!({})).await.expect_ok();
    again.change_password(PASSWORD, "cinq cigognes au nord").await.expect_ok();
    assert_eq!(world.mails(&email).await.len(), before);
    let stopped = [json!("MAILS_STOPPED"), Value::Null, json!("BOUNCE")];
    assert_eq!(audited(&world, member.user().user_id).await, [stopped]);
    world.clock().advance(Duration::from_secs(7 * 86_400 - 3 * 3600));
    assert!(!is_code_sent(&world, &email).await);
    assert!(is_code_sent(&world, &email).await);
    report(&world, BOUNCE, &email).await;
    assert!(!is_code_sent(&world, &email).await);
}

#[tokio::test]
async fn complaint_stops_codes_of_anyone_beyond_one_a_day() {
    let (world, member) = World::with_member().await;
    let email = email_of(&member);
    report(&world, COMPLAINT, &email).await;
    assert!(is_code_sent(&world, &email).await);
    assert!(!is_code_sent(&world, &email).await);
    let before = world.mails(&email).await.len();
    let member = world.signed_in(member.user().clone()).await;
    member.post("/users/email-verification", json!({})).await.expect_ok();
    member.change_password(PASSWORD, "cinq cigognes au nord").await.expect_ok();
    assert_eq!(world.mails(&email).await.len(), before + 2, "a code of the session, a notice");
    world.clock().advance(Duration::from_secs(86_400));
    assert!(is_code_sent(&world, &email).await);
}

#[tokio::test]
async fn administrator_lifts_a_stop_with_the_address_as_it_stands() {
    let (world, member) = World::with_member().await;
    let (email, user) = (email_of(&member), member.user().user_id);
    report(&world, BOUNCE, &email).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    admin.change_member(user, json!({ "name": "Leïla" })).await;
    assert!(!is_code_sent(&world, &email).await);
    let admin = world.signed_in(admin.user().clone()).await;
    admin.change_member(user, json!({ "email": email })).await;
    assert!(is_code_sent(&world, &email).await);
    let resumed = [json!("MAILS_RESUMED"), json!("BOUNCE"), Value::Null];
    assert_eq!(audited(&world, user).await[0], resumed);
}

#[tokio::test]
async fn other_feedback_stops_nothing() {
    let (world, member) = World::with_member().await;
    let (email, now) = (email_of(&member), world.clock().now());
    let mut transient = record(BOUNCE, &email, now);
    transient["bounce"]["bounceType"] = "Transient".into();
    let mut not_spam = record(COMPLAINT, &email, now);
    not_spam["complaint"]["complaintFeedbackType"] = "not-spam".into();
    let mut delivery = record(BOUNCE, &email, now);
    delivery.as_object_mut().unwrap().remove("bounce");
    for detail in [
        transient,
        not_spam,
        delivery,
        record(BOUNCE, "no address", now),
        record(BOUNCE, "unknown@example.org", now),
    ] {
        invoke(&world, detail).await.unwrap();
    }
    assert!(is_code_sent(&world, &email).await);
    assert_eq!(audited(&world, member.user().user_id).await.len(), 0);
    assert!(invoke(&world, json!("{}")).await.is_err(), "it is repeated");
}

#[tokio::test]
async fn proof_of_the_mailbox_ends_the_stop() {
    let (world, member) = World::with_member().await;
    let (email, user) = (email_of(&member), member.user().user_id);
    report(&world, COMPLAINT, &email).await;
    member.post("/users/email-verification", json!({})).await.expect_ok();
    member.verify_email(&email, &world.mailed_code(&email).await).await.expect_ok();
    for _ in 0..2 {
        assert!(is_code_sent(&world, &email).await);
    }
    let complaint = json!("COMPLAINT");
    assert_eq!(
        audited(&world, user).await,
        [
            [json!("MAILS_RESUMED"), complaint.clone(), Value::Null],
            [json!("MAILS_STOPPED"), Value::Null, complaint],
        ]
    );
}

#[tokio::test]
async fn feedback_on_an_older_mail_does_not_stop_mails_again() {
    let (world, member) = World::with_member().await;
    let email = email_of(&member);
    let first = record(BOUNCE, &email, world.clock().now());
    let second = record(COMPLAINT, &email, world.clock().now());
    for _ in 0..2 {
        invoke(&world, first.clone()).await.unwrap();
    }
    let admin = world.admin().await;
    world.clock().advance(Duration::from_secs(1));
    admin.change_member(member.user().user_id, json!({ "email": email })).await;
    for late in [second, first] {
        invoke(&world, late).await.unwrap();
    }
    assert!(is_code_sent(&world, &email).await);
    report(&world, BOUNCE, &email).await;
    assert!(!is_code_sent(&world, &email).await);
    let audit = audited(&world, member.user().user_id).await;
    let actions: Vec<&Value> = audit.iter().map(|[action, ..]| action).collect();
    assert_eq!(actions, ["MAILS_STOPPED", "MAILS_RESUMED", "MAILS_STOPPED"]);
}

/// A pending address belongs to no account yet: the mail itself names the account that wants it.
#[tokio::test]
async fn bounce_of_a_pending_address_is_audited_for_the_account_that_wants_it() {
    let world = World::with(&[("MAIL_CONFIGURATION_SET", "halqa-prod")]).await;
    let member = world.member().await;
    let user = member.user().user_id;
    member.request_address("nouvelle@example.org").await.expect_ok();
    let mail = world.mails("nouvelle@example.org").await[0].clone();
    assert_eq!(mail["configurationSet"], "halqa-prod");
    assert_eq!(mail["tags"], json!([{ "Name": "account", "Value": user }]));
    let mut bounce = record(BOUNCE, "nouvelle@example.org", world.clock().now());
    bounce["mail"]["tags"]["account"] = json!([user]);
    invoke(&world, bounce).await.unwrap();
    let stopped = [json!("MAILS_STOPPED"), Value::Null, json!("BOUNCE")];
    assert_eq!(audited(&world, user).await, [stopped]);
    assert!(is_code_sent(&world, &email_of(&member)).await);
}
