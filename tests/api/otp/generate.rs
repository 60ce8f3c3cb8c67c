use std::time::Duration;

use common::{ErrorCode, Message};
use data_encoding::{BASE32_NOPAD, HEXLOWER};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{PASSWORD, Person, TotpApp, World};

#[tokio::test]
async fn secret_formats_agree_and_secret_stays_for_ten_minutes() {
    let (world, member) = World::with_member().await;
    let generated = member.get("/otp/generate").await.expect_success(Message::OtpGenerated);
    let ascii = generated["otpAscii"].as_str().unwrap();
    assert_eq!(generated["otpHex"], HEXLOWER.encode(ascii.as_bytes()));
    assert_eq!(generated["otpBase32"], BASE32_NOPAD.encode(ascii.as_bytes()));
    let url = generated["otpAuthUrl"].as_str().unwrap();
    assert!(
        url.starts_with("otpauth://totp/Halqa:")
            && url.contains(&format!("secret={}", generated["otpBase32"].as_str().unwrap())),
        "{url}"
    );
    let inner = json!({ "ascii": generated["otpAscii"], "hex": generated["otpHex"], "base32": generated["otpBase32"], "otpauth_url": generated["otpAuthUrl"] });
    assert_eq!(generated["otp"], inner);
    world.clock().advance(Duration::from_secs(540));
    assert_eq!(member.get("/otp/generate").await.json()["otpAscii"], generated["otpAscii"]);
    world.clock().advance(Duration::from_secs(60));
    let member = world.signed_in(member.user().clone()).await;
    assert_ne!(member.get("/otp/generate").await.json()["otpAscii"], generated["otpAscii"]);
}

#[tokio::test]
async fn concurrent_requests_get_the_same_secret() {
    let (_, member) = World::with_member().await;
    let answers = join_all((0..20).map(|_| member.get("/otp/generate"))).await;
    let first = answers[0].json()["otpAscii"].clone();
    assert!(answers.iter().all(|answer| answer.json()["otpAscii"] == first));
}

#[tokio::test]
async fn secret_shown_meanwhile_in_the_same_session_is_kept() {
    let (world, member) = World::with_member().await;
    let secret = |answer: &tests::Answer| answer.json()["otpAscii"].clone();
    let mut shown = Value::Null;
    let other = async { shown = secret(&member.get("/otp/generate").await) };
    let enrolment = ("TransactWriteItems", "ENROLMENT");
    let answer = world.overtaken(enrolment, member.get("/otp/generate"), other).await;
    assert_eq!(secret(&answer), shown);
}

#[tokio::test]
async fn own_account_shows_decoy_then_pending_secret_then_nothing() {
    let (world, member) = World::with_member().await;
    let ascii_secret = |view: &Value| view["user"]["otpAscii"].as_str().unwrap().to_owned();
    let decoy = ascii_secret(&member.get("/auth/check").await.expect_ok());
    assert_eq!(
        decoy,
        ascii_secret(&member.get("/auth/check").await.expect_ok()),
        "so that the ETag stays the same"
    );
    let refused =
        member.post("/otp/verify", json!({ "code": TotpApp::with(&decoy).code(&world) })).await;
    refused.expect_error(ErrorCode::OtpInvalid);

    let pending = member.get("/otp/generate").await.json()["otpAscii"].as_str().unwrap().to_owned();
    assert_eq!(ascii_secret(&member.get("/auth/check").await.expect_ok()), pending);
    world.clock().advance(Duration::from_secs(600));
    assert_eq!(ascii_secret(&member.get("/auth/check").await.expect_ok()), decoy);

    let member = world.signed_in(member.user().clone()).await;
    TotpApp::enrolled_by(&world, &member).await;
    let view = member.get("/auth/check").await.expect_ok()["user"].clone();
    assert_eq!(json!([view["otpAscii"], view["otpHex"], view["otpBase32"]]), json!(["", "", ""]));
    assert!(!view["otpAuthUrl"].as_str().unwrap().contains("secret="));
}

#[tokio::test]
async fn replacing_otp_needs_recent_sign_in_and_keeps_old_until_verified() {
    let (world, member) = World::with_member().await;
    let old = TotpApp::enrolled_by(&world, &member).await;
    world.clock().advance(Duration::from_secs(585));
    let generated = member.get("/otp/generate").await.expect_success(Message::OtpGenerated);
    let new = TotpApp::with(generated["otpAscii"].as_str().unwrap());
    let email = member.user().email.as_str();
    let answer = world.anonymous().login(email, PASSWORD).await;
    let step = answer.expect_success(Message::OtpRequired)["token"].as_str().unwrap().to_owned();
    let pending_sign_in = world.anonymous().with_token(&step);
    let answer = pending_sign_in.post("/otp/verify", json!({ "code": new.code(&world) })).await;
    answer.expect_error(ErrorCode::OtpInvalid);
    pending_sign_in.post("/otp/verify", json!({ "code": old.code(&world) })).await.expect_created();
    let body = json!({ "code": new.code(&world), "recoveryCode": old.recovery_codes[0] });
    let late = world.signed_in(world.user(member.user().user_id).await).await;
    world.clock().advance(Duration::from_secs(15));
    member.get("/otp/generate").await.expect_error(ErrorCode::Reauthentication);
    member.post("/otp/verify", body.clone()).await.expect_error(ErrorCode::Reauthentication);
    // The pending secret belongs to the session that began it.
    late.post("/otp/verify", body).await.expect_error(ErrorCode::OtpInvalid);
}

#[tokio::test]
async fn pending_secret_belongs_to_the_session_that_began_it() {
    let (world, member) = World::with_member().await;
    let other = world.signed_in(member.user().clone()).await;
    let secret = async |person: &Person| {
        let view = person.get("/otp/generate").await.expect_success(Message::OtpGenerated);
        view["otpAscii"].as_str().unwrap().to_owned()
    };
    let shown = async |person: &Person| {
        person.get("/auth/check").await.expect_ok()["user"]["otpAscii"].clone()
    };
    let decoy = shown(&other).await;
    let first = secret(&member).await;
    assert_eq!(shown(&other).await, decoy);
    let view = world.anonymous().sign_in(member.user().email.as_str(), PASSWORD).await;
    assert_eq!(view["user"]["otpAscii"], decoy);

    // The other session begins its own enrolment, which ends the first one.
    let second = secret(&other).await;
    assert_ne!(first, second);
    for (person, ascii) in [(&member, &first), (&member, &second), (&other, &first)] {
        let code = TotpApp::with(ascii).code(&world);
        let answer = person.post("/otp/verify", json!({ "code": code })).await;
        answer.expect_error(ErrorCode::OtpInvalid);
    }
    let code = TotpApp::with(&second).code(&world);
    other.post("/otp/verify", json!({ "code": code })).await.expect_success(Message::OtpVerified);
}

#[tokio::test]
async fn pending_secret_ends_with_a_password_change() {
    let (world, member) = World::with_member().await;
    let generated = member.get("/otp/generate").await.json();
    member
        .change_password(PASSWORD, "le phare de Kelibia")
        .await
        .expect_success(Message::PasswordChanged);
    let ascii = generated["otpAscii"].as_str().unwrap();
    let code = TotpApp::with(ascii).code(&world);
    member.post("/otp/verify", json!({ "code": code })).await.expect_error(ErrorCode::OtpInvalid);
}
