//! Avatar uploads: the first line of an input is the content type, the rest the body. Either the upload is rejected, or
//! a small image without metadata is stored.

use serde_json::Value;
use storage::avatar::Format;

use crate::{
    avatar::plain,
    event::{Request, assert_complete},
    stage::STAGE,
    text,
};

pub(crate) fn run(input: &[u8]) {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
        return;
    };
    let Some(content_type) = text(&input[..end]) else {
        return;
    };
    let headers = vec![("authorization", "Bearer $MEMBER"), ("content-type", content_type)];
    let request = Request {
        method: "POST",
        target: "/api/v1/users/avatar",
        headers,
        body: &input[end + 1..],
    };
    let Some(answer) = STAGE.answer(&request.event().to_string()) else {
        return;
    };
    assert_complete(&answer);
    assert!([200, 400, 413, 415].contains(&answer.status_code), "{answer:?}");
    if answer.status_code == 200 {
        let body: Value = serde_json::from_str(&answer.body).expect("the body is JSON");
        let file = STAGE.media(body["avatar"].as_str().expect("the picture has a path"));
        plain(&file, if file.starts_with(b"\xff\xd8") { Format::Jpeg } else { Format::Png });
    }
}
