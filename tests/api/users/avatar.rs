use std::time::Duration;

use cloud::faults::{Fault, Mode, Service};
use common::{ErrorCode, Message};
use http::Method;
use tests::{Answer, Person, World};

const PICTURE: &[u8] = include_bytes!("../../../functions/files/src/default.png");
const LOSSY: &[u8] = include_bytes!("../../fuzz/corpus/avatar/lossy.webp");

pub(crate) async fn send(person: &Person, content_type: &str, body: Vec<u8>) -> Answer {
    person
        .with("content-type", content_type)
        .send(Method::POST, "/api/v1/users/avatar", body.into())
        .await
}

fn form(field: &str, file: &[u8]) -> Vec<u8> {
    let head = format!(
        "--limit\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"x.png\"\r\nContent-Type: image/png\r\n\r\n"
    );
    [head.as_bytes(), file, b"\r\n--limit--\r\n"].concat()
}

#[tokio::test]
async fn picture_is_accepted_as_body_or_form_and_is_public() {
    let (world, member) = World::with_member().await;
    let mut avatars = Vec::new();
    for (content_type, body) in [
        ("image/png", PICTURE.to_vec()),
        ("multipart/form-data; boundary=limit", form("avatar", PICTURE)),
        ("multipart/form-data; boundary=limit", form("file", PICTURE)),
    ] {
        let answer = send(&member, content_type, body).await.expect_success(Message::AvatarUpdated);
        assert_eq!(answer["user"]["avatar"], answer["avatar"]);
        avatars.push(answer["avatar"].as_str().unwrap().to_owned());
    }
    assert!(
        avatars.iter().all(|avatar| *avatar == avatars[0]),
        "the same picture of the same person has the same name"
    );
    let image = world.anonymous().send(Method::GET, &avatars[0], "".into()).await;
    assert_eq!(
        (image.status, image.header("cache-control")),
        (200, "public, max-age=31536000, immutable")
    );
    assert!(["image/png", "image/jpeg"].contains(&image.header("content-type")));
    // A content network sends what the bucket says.
    let (bucket, key) = (crate::files::bucket(&world), avatars[0].trim_start_matches('/'));
    let minute = Duration::from_secs(60);
    let link = bucket.link(key, "x.png", "image/png", minute, world.clock().now()).await.unwrap();
    let (_, headers, _) = crate::files::fetch(&link).await;
    assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
    let other = send(&world.member().await, "image/png", PICTURE.to_vec()).await.json()["avatar"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_ne!(other, avatars[0]);
}

#[tokio::test]
async fn field_of_a_form_is_found_whatever_stands_beside_its_name() {
    let (_, member) = World::with_member().await;
    let content_type = "multipart/form-data; boundary=limit";
    let of = |disposition: &str| {
        let head = format!("--limit\r\nContent-Disposition: form-data; {disposition}\r\n\r\n");
        [head.as_bytes(), PICTURE, b"\r\n--limit--\r\n"].concat()
    };
    let empty = "--limit\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n\r\n".repeat(30);
    for body in [
        of(r#"filename="a; name=x.png"; name="avatar""#),
        of(r#"NAME="avatar"; filename="\"; name=x""#),
        of("name=file"),
        of("name=\"avatar\"; filename=\"Capture d’écran.png\""),
        [empty.as_bytes(), &form("avatar", PICTURE)].concat(),
    ] {
        send(&member, content_type, body).await.expect_success(Message::AvatarUpdated);
    }
    let other = of(r#"filename="a; name=avatar"; name="other""#);
    let answer = send(&member, content_type, other).await;
    answer.expect_field_error("avatar", ErrorCode::FieldRequired);
}

#[tokio::test]
async fn invalid_picture_is_rejected_with_its_reason() {
    let (world, member) = World::with_member().await;
    for hostile in [
        b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec(),
        b"GIF89a".to_vec(),
        PICTURE[..40].to_vec(),
        vec![0; 1000],
    ] {
        let answer = send(&member, "image/png", hostile).await;
        answer.expect_field_error("avatar", ErrorCode::AvatarInvalid);
    }
    for other in ["image/svg+xml", "application/json", "text/html", ""] {
        send(&member, other, PICTURE.to_vec()).await.expect_error(ErrorCode::UnsupportedMediaType);
    }
    let answer = send(&member, "image/png", Vec::new()).await;
    answer.expect_field_error("avatar", ErrorCode::FieldRequired);
    let answer = send(&member, "multipart/form-data; boundary=limit", form("other", PICTURE)).await;
    answer.expect_field_error("avatar", ErrorCode::FieldRequired);
    let answer = send(&member, "image/png", vec![0; 4 * 1024 * 1024 + 1]).await;
    answer.expect_error(ErrorCode::PayloadTooLarge);
    send(
        &member,
        "multipart/form-data; boundary=limit",
        form("avatar", &vec![0; 4 * 1024 * 1024 + 1]),
    )
    .await
    .expect_error(ErrorCode::PayloadTooLarge);
    send(&world.anonymous(), "image/png", PICTURE.to_vec()).await.expect_unauthorized();
}

#[tokio::test]
async fn avatar_webp_lossy_is_accepted_lossless_and_animated_are_refused() {
    const LOSSLESS: &[u8] = include_bytes!("../../fuzz/corpus/avatar/lossless.webp");
    // One frame of 16 × 8 pixels, shown for 100 ms, with the image chunk of the lossy file.
    let chunks = [
        &b"VP8X\x0A\0\0\0\x02\0\0\0\x0F\0\0\x07\0\0ANIM\x06\0\0\0\0\0\0\0\0\0ANMF\x44\0\0\0"[..],
        b"\0\0\0\0\0\0\x0F\0\0\x07\0\0\x64\0\0\0",
        &LOSSY[12..],
    ]
    .concat();
    let length = (chunks.len() as u32 + 4).to_le_bytes();
    let animated = [b"RIFF", &length[..], b"WEBP", &chunks].concat();
    let (_, member) = World::with_member().await;
    send(&member, "image/webp", LOSSY.to_vec()).await.expect_success(Message::AvatarUpdated);
    for refused in [LOSSLESS.to_vec(), animated] {
        let answer = send(&member, "image/webp", refused).await;
        answer.expect_field_error("avatar", ErrorCode::AvatarInvalid);
    }
}

#[tokio::test]
async fn unreachable_bucket_keeps_the_previous_picture() {
    let (world, member) = World::with_member().await;
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse));
    send(&member, "image/png", PICTURE.to_vec()).await.expect_error(ErrorCode::Unavailable);
    world.clear_faults();
    assert_eq!(
        member.get("/auth/current-user").await.expect_ok()["user"]["avatar"],
        "/media/default.png"
    );
}

#[tokio::test]
async fn eleventh_decoded_picture_within_an_hour_is_refused() {
    let (world, member) = World::with_member().await;
    for _ in 0..9 {
        send(&member, "image/png", PICTURE.to_vec()).await.expect_success(Message::AvatarUpdated);
    }
    // These two are not decoded and do not count.
    let answer = send(&member, "image/gif", PICTURE.to_vec()).await;
    answer.expect_error(ErrorCode::UnsupportedMediaType);
    let answer = send(&member, "image/png", vec![0; 4 * 1024 * 1024 + 1]).await;
    answer.expect_error(ErrorCode::PayloadTooLarge);
    let answer = send(&member, "image/png", b"no picture".to_vec()).await;
    answer.expect_field_error("avatar", ErrorCode::AvatarInvalid);
    let refused = send(&member, "image/png", PICTURE.to_vec()).await;
    refused.expect_error(ErrorCode::TooManyAttempts);
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=3600).contains(&seconds), "{seconds}");
    send(&world.member().await, "image/png", PICTURE.to_vec()).await.expect_ok();
    world.clock().advance(Duration::from_secs(3600));
    send(&member, "image/png", PICTURE.to_vec()).await.expect_success(Message::AvatarUpdated);
}

/// The path of the avatar in force, whose object must exist.
async fn served_avatar(world: &World, person: &Person) -> String {
    let view = person.get("/auth/current-user").await.expect_ok();
    let path = view["user"]["avatar"].as_str().unwrap().to_owned();
    let image = world.anonymous().send(Method::GET, &path, "".into()).await;
    assert_eq!(image.status, 200, "{path}");
    path
}

#[tokio::test]
async fn change_without_an_answer_keeps_the_picture_in_force() {
    for (mode, is_changed) in [(Mode::Silent, true), (Mode::Refuse, false)] {
        let world = World::new().await;
        let member = world.member().await;
        send(&member, "image/png", PICTURE.to_vec()).await.expect_success(Message::AvatarUpdated);
        let before = served_avatar(&world, &member).await;
        world.inject_fault(Fault::new(mode).on("TransactWriteItems"));
        send(&member, "image/webp", LOSSY.to_vec()).await.expect_error(ErrorCode::Unavailable);
        world.clear_faults();
        let after = served_avatar(&world, &member).await;
        assert_eq!(after != before, is_changed, "{mode:?}");
        send(&member, "image/webp", LOSSY.to_vec()).await.expect_success(Message::AvatarUpdated);
        served_avatar(&world, &member).await;
    }
}

/// A second object could outlive a replacement or an erasure that deletes the first one meanwhile.
#[tokio::test]
async fn picture_in_force_sent_again_is_not_stored_again() {
    let (world, member) = World::with_member().await;
    send(&member, "image/png", PICTURE.to_vec()).await.expect_success(Message::AvatarUpdated);
    let before = served_avatar(&world, &member).await;
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse).on("PutObject"));
    send(&member, "image/png", PICTURE.to_vec()).await.expect_success(Message::AvatarUpdated);
    world.clear_faults();
    assert_eq!(served_avatar(&world, &member).await, before);
}
