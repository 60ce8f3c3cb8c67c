//! Uploaded pictures: the first line is the content type, the rest the body. What is kept of a form is a small, plain
//! picture; everything else is refused.

use storage::avatar::Format;

use crate::{
    avatar::plain,
    event::{Request, is_whole},
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
    let headers = vec![
        ("authorization", "Bearer $MEMBER"),
        ("content-type", content_type),
    ];
    let request = Request {
        method: "POST",
        target: "/api/v1/users/avatar",
        headers,
        body: &input[end + 1..],
    };
    let Some(answer) = STAGE.answer(&request.event().to_string()) else {
        return;
    };
    is_whole(&answer);
    assert!(
        [200, 400, 413, 415].contains(&answer.status_code),
        "{answer:?}"
    );
    if answer.status_code == 200 {
        let file = STAGE.cloud.last_put();
        plain(
            &file,
            if file.starts_with(b"\xff\xd8") {
                Format::Jpeg
            } else {
                Format::Png
            },
        );
    }
}
