use std::time::Duration;

use common::{ErrorCode, Message};
use data_encoding::{BASE32_NOPAD, HEXLOWER};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Authenticator, PASSWORD, World};

#[tokio::test]
async fn the_secret_is_shown_in_forms_that_agree_and_is_the_same_for_ten_minutes() {
    let world = World::new().await;
    let member = world.member().await;
    let shown = member
        .get("/otp/generate")
        .await
        .tells(Message::OtpGenerated);
    let ascii = shown["otpAscii"].as_str().unwrap();
    assert_eq!(shown["otpHex"], HEXLOWER.encode(ascii.as_bytes()));
    assert_eq!(shown["otpBase32"], BASE32_NOPAD.encode(ascii.as_bytes()));
    let url = shown["otpAuthUrl"].as_str().unwrap();
    assert!(
        url.starts_with("otpauth://totp/Halqa:")
            && url.contains(&format!("secret={}", shown["otpBase32"].as_str().unwrap())),
        "{url}"
    );
    let inner = json!({ "ascii": shown["otpAscii"], "hex": shown["otpHex"], "base32": shown["otpBase32"], "otpauth_url": shown["otpAuthUrl"] });
    assert_eq!(shown["otp"], inner);
    world.clock().advance(Duration::from_secs(599));
    assert_eq!(
        member.get("/otp/generate").await.json()["otpAscii"],
        shown["otpAscii"]
    );
    world.clock().advance(Duration::from_secs(1));
    assert_ne!(
        member.get("/otp/generate").await.json()["otpAscii"],
        shown["otpAscii"]
    );
}

#[tokio::test]
async fn of_many_at_once_all_get_the_same() {
    let world = World::new().await;
    let member = world.member().await;
    let answers = join_all((0..20).map(|_| member.get("/otp/generate"))).await;
    let first = answers[0].json()["otpAscii"].clone();
    assert!(
        answers
            .iter()
            .all(|answer| answer.json()["otpAscii"] == first)
    );
}

#[tokio::test]
async fn the_self_view_shows_a_decoy_then_the_secret_that_is_tried_out_then_nothing() {
    let world = World::new().await;
    let member = world.member().await;
    let shown = |view: &Value| view["user"]["otpAscii"].as_str().unwrap().to_owned();
    let decoy = shown(&member.get("/auth/check").await.shows());
    assert_eq!(
        decoy,
        shown(&member.get("/auth/check").await.shows()),
        "so that tags hold"
    );
    let refused = member
        .post(
            "/otp/verify",
            json!({ "code": Authenticator::with(&decoy).code(&world) }),
        )
        .await;
    refused.refuses(ErrorCode::OtpInvalid);

    let pending = member.get("/otp/generate").await.json()["otpAscii"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(shown(&member.get("/auth/check").await.shows()), pending);
    world.clock().advance(Duration::from_secs(600));
    assert_eq!(shown(&member.get("/auth/check").await.shows()), decoy);

    Authenticator::enrolled_by(&world, &member).await;
    let view = member.get("/auth/check").await.shows()["user"].clone();
    assert_eq!(
        (&view["otpAscii"], &view["otpHex"], &view["otpBase32"]),
        (&json!(""), &json!(""), &json!(""))
    );
    assert!(!view["otpAuthUrl"].as_str().unwrap().contains("secret="));
}

#[tokio::test]
async fn whoever_has_one_must_have_signed_in_lately_and_the_old_one_stays_until_the_new_one_is_proved()
 {
    let world = World::new().await;
    let member = world.member().await;
    let old = Authenticator::enrolled_by(&world, &member).await;
    world.clock().advance(Duration::from_secs(599));
    let shown = member
        .get("/otp/generate")
        .await
        .tells(Message::OtpGenerated);
    let new = Authenticator::with(shown["otpAscii"].as_str().unwrap());
    let email = member.user().email.as_str();
    let step = world
        .stranger()
        .login(email, PASSWORD)
        .await
        .tells(Message::OtpRequired)["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let arriving = world.stranger().holding(&step);
    arriving
        .post("/otp/verify", json!({ "code": new.code(&world) }))
        .await
        .refuses(ErrorCode::OtpInvalid);
    arriving
        .post("/otp/verify", json!({ "code": old.code(&world) }))
        .await
        .tells(Message::OtpVerified);
    world.clock().advance(Duration::from_secs(1));
    member
        .get("/otp/generate")
        .await
        .refuses(ErrorCode::Reauthentication);
    member
        .post("/otp/verify", json!({ "code": new.code(&world) }))
        .await
        .tells(Message::OtpVerified);
}

#[tokio::test]
async fn it_takes_a_whole_session() {
    let world = World::new().await;
    world
        .stranger()
        .get("/otp/generate")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}
