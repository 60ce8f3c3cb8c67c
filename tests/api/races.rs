//! Writes of accounts and their secrets that another change overtakes: the data was read before, the write follows after.

use std::time::Duration;

use cloud::faults::{Fault, Mode};
use common::{ErrorCode, Message};
use domain::{
    SessionId,
    otp::{Otp, Proof},
    passkey::Challenge,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{CommitOutcome, Counter, NewUser, Part, Store, Transaction};
use tests::{Authenticator, Person, TotpApp, World};

/// The part whose condition has failed.
async fn failed(store: &Store, write: impl FnOnce(&mut Transaction)) -> Option<Part> {
    let mut tx = store.transaction();
    write(&mut tx);
    match tx.commit().await.unwrap() {
        CommitOutcome::Committed => None,
        CommitOutcome::ConditionFailed(part) => Some(part),
    }
}

/// An identifier that nothing else has.
fn new_id<T: DeserializeOwned>(number: u8) -> T {
    let text = format!("0198c7a0-0000-7000-8000-0000000000{number:02x}");
    serde_json::from_value(json!(text)).unwrap()
}

async fn session_of(person: &Person) -> SessionId {
    let listed = person.get("/auth/sessions").await.expect_ok();
    serde_json::from_value(listed["sessions"][0]["sid"].clone()).unwrap()
}

#[tokio::test]
async fn one_time_password_used_meanwhile_removes_and_renews_nothing() {
    let (world, member) = World::with_member().await;
    TotpApp::enrolled_by(&world, &member).await;
    let (store, id) = (&world.setup().store, member.user().user_id);
    let otp = store.otp(id).await.unwrap().unwrap();
    let (used, code) = (otp.last_step + 1, otp.recovery.keys().next().unwrap().clone());
    let proofs = [Proof::Step(used), Proof::Recovery(code)];
    for proof in &proofs {
        assert_eq!(failed(store, |tx| tx.use_proof(id, proof)).await, None);
        assert_eq!(failed(store, |tx| tx.use_proof(id, proof)).await, Some(Part::Otp));
        assert_eq!(failed(store, |tx| tx.remove_otp(id, Some(proof))).await, Some(Part::Otp));
    }
    assert_eq!(failed(store, |tx| tx.renew_recovery(id, used, &otp)).await, Some(Part::Otp));
    // Of a secret that was replaced meanwhile.
    let former = Otp { sealed: "former".to_owned(), ..otp };
    let renewed = failed(store, |tx| tx.renew_recovery(id, used + 9, &former)).await;
    assert_eq!(renewed, Some(Part::Otp));
    assert!(!store.reseal_otp(id, &former, "new", "key").await.unwrap());
}

#[tokio::test]
async fn enrolment_replaced_meanwhile_is_neither_completed_nor_counted() {
    let (world, member) = World::with_member().await;
    TotpApp::pending_of(&member).await;
    let (store, id) = (&world.setup().store, member.user().user_id);
    let enrolment = store.enrolment(id).await.unwrap().unwrap();
    let mut former = enrolment.clone();
    former.sealed = "former".to_owned();
    store.count_failed_enrolment(id, &former).await.unwrap();
    assert_eq!(store.enrolment(id).await.unwrap().unwrap().tries, 0);
    let completed = failed(store, |tx| tx.complete_enrolment(id, &former)).await;
    assert_eq!(completed, Some(Part::Enrolment));
    // Wrong codes that were tried since it was read.
    for _ in 0..5 {
        store.count_failed_enrolment(id, &enrolment).await.unwrap();
    }
    let completed = failed(store, |tx| tx.complete_enrolment(id, &enrolment)).await;
    assert_eq!(completed, Some(Part::Enrolment));
}

#[tokio::test]
async fn step_of_a_sign_in_and_challenge_are_used_once() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let id: SessionId = new_id(1);
    assert_eq!(failed(store, |tx| tx.complete_step(id, now)).await, None);
    assert_eq!(failed(store, |tx| tx.complete_step(id, now)).await, Some(Part::Step));
    let [first, second] = ["first", "second"].map(|text| Challenge::new(text.to_owned(), 0, now));
    store.put_challenge(id, &first).await.unwrap();
    store.put_challenge(id, &second).await.unwrap();
    for (challenge, refused) in
        [(&first, Some(Part::Challenge)), (&second, None), (&second, Some(Part::Challenge))]
    {
        assert_eq!(failed(store, |tx| tx.use_challenge(id, challenge)).await, refused);
    }
}

#[tokio::test]
async fn passkey_removed_meanwhile_signs_in_no_more_and_is_not_made_again() {
    let (world, member) = World::with_member().await;
    Authenticator::registered_by(&member).await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let passkey = store.passkeys(member.user().user_id).await.unwrap().remove(0);
    assert_eq!(failed(store, |tx| tx.remove_passkey(&passkey)).await, None);
    let mut without_counter = passkey.credential.clone();
    without_counter.sign_count = 0;
    let used = failed(store, |tx| tx.use_passkey(&passkey, &without_counter, now)).await;
    assert_eq!(used, Some(Part::Passkey));
    let committee = world.committee();
    let moved = failed(store, |tx| tx.update_passkey_committee(&passkey, committee)).await;
    assert_eq!(moved, Some(Part::Passkey));
    assert!(store.rename_passkey(&passkey, &passkey.name).await.unwrap().is_none());
    assert_eq!(store.passkeys(passkey.user_id).await.unwrap(), []);
}

#[tokio::test]
async fn code_replaced_meanwhile_signs_nobody_in_and_costs_the_new_one_no_try() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    let requested = world.anonymous().ask_to_sign_in(email, "email").await;
    let person = world.anonymous().with_token(requested["token"].as_str().unwrap());
    let path = format!("/auth/passwordless?code={}", world.mailed_code(email).await);
    // A new code, with a wrong attempt from the same network.
    let replace = async {
        world.clock().advance(Duration::from_secs(60));
        let requested = world.anonymous().ask_to_sign_in(email, "email").await;
        let again = person.with_token(requested["token"].as_str().unwrap());
        let wrong = format!("{path}0").replace("code=", "code=1");
        again.get(&wrong[..path.len()]).await.expect_unauthorized();
    };
    let used = person.get(&path);
    let answer = world.overtaken(("TransactWriteItems", "CODE#"), used, replace).await;
    answer.expect_unauthorized();
    let codes = world.items("transient").into_iter().filter(|item| item["sk"]["S"] == "CODE");
    let networks: Vec<Value> = codes.map(|item| item["networks"]["M"].clone()).collect();
    let tries: Vec<&Value> = networks[0].as_object().unwrap().values().collect();
    assert_eq!(tries, [&json!({ "N": "1" })]);
}

#[tokio::test]
async fn digits_of_an_expired_code_are_wrong_before_it_is_deleted() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    world.anonymous().ask_to_reset(email, "email").await;
    let code = world.mailed_code(email).await;
    world.clock().advance(Duration::from_secs(86_400));
    let body = json!({
        "email": email, "code": code, "newPassword": "cinq cigognes", "confirmPassword": "cinq cigognes",
    });
    let answer = world.anonymous().post("/users/reset-password", body).await;
    answer.expect_error(ErrorCode::ResetCodeInvalid);
}

#[tokio::test]
async fn password_changed_or_set_meanwhile_is_not_overwritten() {
    let (world, member) = World::with_member().await;
    let (store, id) = (&world.setup().store, member.user().user_id);
    for read in [Some("former hash"), None] {
        let changed = failed(store, |tx| tx.change_password(id, read, "new hash")).await;
        assert_eq!(changed, Some(Part::Credentials));
    }
}

#[tokio::test]
async fn session_that_is_over_is_not_ended_once_more() {
    let (world, member) = World::with_member().await;
    let sid = session_of(&member).await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let user = world.user(member.user().user_id).await;
    let later = now.after(Duration::from_secs(86_400 * 365));
    assert!(!store.end_session(&user, sid, later).await.unwrap(), "it has expired");
    let after = user.changed(|user| user.epoch += 1);
    assert!(!store.end_session(&after, sid, now).await.unwrap(), "a new password has ended it");
    assert!(store.end_session(&user, sid, now).await.unwrap());
}

#[tokio::test]
async fn activity_recorded_late_does_not_move_the_time_back() {
    let (world, member) = World::with_member().await;
    let (store, id, sid) = (&world.setup().store, member.user().user_id, session_of(&member).await);
    let later = world.clock().now().after(Duration::from_secs(100));
    for now in [later, world.clock().now()] {
        store.touch(id, sid, now).await.unwrap();
        assert_eq!(world.user(id).await.last_active, later);
    }
    let listed = member.get("/auth/sessions").await.expect_ok();
    assert_eq!(listed["sessions"][0]["lastActive"], json!(later));
}

#[tokio::test]
async fn address_without_a_stop_gets_none_when_it_is_lifted() {
    let (world, member) = World::with_member().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let lifted = failed(store, |tx| tx.resume_mails(&member.user().email, now)).await;
    assert_eq!(lifted, Some(Part::MailStop));
}

#[tokio::test]
async fn second_bootstrap_at_the_same_time_makes_no_second_administrator() {
    let (world, member) = World::with_member().await;
    let store = &world.setup().store;
    let mut user = member.user().clone();
    user.account.user_id = new_id(1);
    user.account.email = "second@example.org".parse().unwrap();
    let mut committee = store.committee(world.committee()).await.unwrap().unwrap();
    committee.committee_id = new_id(2);
    let admin = NewUser { user, password_hash: "hash".to_owned() };
    let made = store.bootstrap(&committee, &admin, store.transaction()).await.unwrap();
    assert!(!made);
    assert!(store.committee(committee.committee_id).await.unwrap().is_none());
}

#[tokio::test]
async fn committee_renamed_meanwhile_is_not_renamed_by_what_was_read() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let before = store.committee(world.committee()).await.unwrap().unwrap();
    let mut after = before.clone();
    after.name_latin = "Comité du nord".parse().unwrap();
    let renamed = failed(store, |tx| tx.change_committee(&before, &after, now)).await;
    assert_eq!(renamed, None);
    after.name_latin = "Comité du sud".parse().unwrap();
    let renamed = failed(store, |tx| tx.change_committee(&before, &after, now)).await;
    assert_eq!(renamed, Some(Part::Committee));
}

#[tokio::test]
async fn work_of_an_account_or_committee_active_once_more_is_not_done_by_the_former() {
    let (world, member) = World::with_member().await;
    let (store, admin, id) = (&world.setup().store, world.admin().await, member.user().user_id);
    let committee = world.another_committee("Nord", true).await;
    let path = format!("/committees/{committee}");
    let again = async || {
        for is_active in [false, true] {
            admin.set_active(id, is_active).await;
            admin.put(&path, json!({ "isActive": is_active })).await.expect_ok();
        }
        world.clock().advance(Duration::from_secs(1));
    };
    again().await;
    let account = store.reactivation(id).await.unwrap().unwrap();
    let reopened = store.reopening(committee).await.unwrap().unwrap();
    again().await;
    store.finish_reactivation(&account).await.unwrap();
    let now = world.clock().now();
    store.continue_reopening(&reopened, None, now).await.unwrap();
    store.continue_reopening(&reopened, Some("position".to_owned()), now).await.unwrap();
    assert!(store.reactivation(id).await.unwrap().is_some());
    assert!(store.reopening(committee).await.unwrap().unwrap().position.is_none());
}

#[tokio::test]
async fn step_of_an_erasure_done_meanwhile_is_not_undone() {
    let (world, member) = World::with_member().await;
    let (store, id) = (&world.setup().store, member.user().user_id);
    let path = format!("/users/{id}");
    world.admin().await.delete(&path).await.expect_success(Message::UserDeleted);
    let later = |seconds| world.clock().now().after(Duration::from_secs(seconds));
    let read = store.erasure(id, later(1)).await.unwrap().unwrap();
    store.continue_erasure(&read, &read.courses, later(2)).await.unwrap();
    store.continue_erasure(&read, &read.courses, later(9_000)).await.unwrap();
    store.finish_erasure(&read, later(3)).await.unwrap();
    let read = store.erasure(id, later(5)).await.unwrap().unwrap();
    // The second pass.
    store.finish_erasure(&read, later(5)).await.unwrap();
    let read = store.erasure(id, later(86_400)).await.unwrap().unwrap();
    store.continue_erasure(&read, &read.courses, later(86_401)).await.unwrap();
    store.finish_erasure(&read, later(86_402)).await.unwrap();
    assert!(store.erasure(id, later(86_403)).await.unwrap().is_some());
}

#[tokio::test]
async fn wrong_hint_of_an_open_window_opens_a_new_one() {
    let world = World::new().await;
    let (store, now, minute) = (&world.setup().store, world.clock().now(), Duration::from_secs(60));
    let count = async |now, hint| store.count_request("key", minute, now, hint).await.unwrap();
    assert_eq!(count(now, true).await.count, 1, "there is none yet");
    assert_eq!(count(now, true).await.count, 2);
    let over = now.after(minute);
    let window = count(over, true).await;
    assert_eq!((window.count, window.ends), (1, over.after(minute)));
}

#[tokio::test]
async fn closed_window_is_opened_anew_by_a_process_that_takes_it_for_open() {
    let (world, minute) = (World::new().await, Duration::from_secs(60));
    let (one, other) = (world.setup().store.clone(), world.another_process().setup().store.clone());
    let counter = Counter { name: "attempts", key: "x".to_owned(), max: 5, window: minute };
    let reserve = async |store: &Store, now| {
        store.reserve(std::slice::from_ref(&counter), now).await.unwrap()
    };
    let now = world.clock().now();
    let (first, second) = (reserve(&one, now).await, reserve(&other, now).await);
    one.release(first).await.unwrap();
    other.release(second).await.unwrap();
    let later = now.after(minute / 2);
    let _ = reserve(&other, later).await;
    let windows = world.items("transient").into_iter().filter(|item| item["sk"]["S"] == "COUNTER");
    let ends: Vec<Value> = windows.map(|item| item["exp"]["N"].clone()).collect();
    assert!(ends.contains(&later.after(minute).unix_milliseconds().to_string().into()), "{ends:?}");
}

#[tokio::test]
async fn attempt_released_twice_after_a_lost_answer_is_subtracted_once() {
    let world = World::new().await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let counter =
        Counter { name: "attempts", key: "x".to_owned(), max: 5, window: Duration::from_secs(60) };
    let reserve = async || store.reserve(std::slice::from_ref(&counter), now).await.unwrap();
    let (mut first, mut second, third) = (reserve().await, reserve().await, reserve().await);
    let write = |number| {
        let mut tx = store.transaction();
        tx.complete_step(new_id(number), now);
        tx
    };
    world.inject_fault(Fault::new(Mode::Silent).on("TransactWriteItems"));
    assert!(write(1).commit_and_release(&mut first).await.is_err(), "the outcome is unknown");
    world.clear_faults();
    store.release(third).await.unwrap();
    store.release(first).await.unwrap();
    let outcome = write(2).commit_and_release(&mut second).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Committed, "although nothing is left to subtract");
    store.release(second).await.unwrap();
    // The window is closed, not below zero.
    assert_eq!(store.count_one(&counter, now).await.unwrap().1, 1);
}
