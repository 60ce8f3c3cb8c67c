//! Every parser that meets strangers, fed by libFuzzer: it keeps what reaches a branch that nothing has reached
//! before, and changes that. One program for all targets; `FUZZ_TARGET` names the one that runs.
#![no_main]
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a finding ends the program, and so does a stage that cannot be set"
)]

mod avatar;
mod body;
mod cloud;
mod cursor;
mod event;
mod field;
mod form;
mod headers;
mod host;
mod json;
mod phone;
mod sms_text;
mod stage;
mod stream;
mod token;
mod uapi;

use std::sync::LazyLock;

/// What a target does with an input. A finding is a panic.
type Run = fn(&[u8]);

const TARGETS: [(&str, Run); 13] = [
    ("avatar", avatar::run),
    ("body", body::run),
    ("cursor", cursor::run),
    ("event", event::run),
    ("field", field::run),
    ("form", form::run),
    ("headers", headers::run),
    ("host", host::run),
    ("phone", phone::run),
    ("sms", sms_text::run),
    ("stream", stream::run),
    ("token", token::run),
    ("uapi", uapi::run),
];

static TARGET: LazyLock<Run> = LazyLock::new(|| {
    #[expect(
        clippy::disallowed_methods,
        reason = "libFuzzer reads the arguments, so the target's name stands in the environment"
    )]
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let names = TARGETS.map(|(name, _)| name).join(" ");
    TARGETS
        .iter()
        .find(|(target, _)| *target == name)
        .unwrap_or_else(|| panic!("FUZZ_TARGET is one of {names}"))
        .1
});

libfuzzer_sys::fuzz_target!(
    init: {
        // libFuzzer's hook ends the program at a panic that somebody catches, too: decoders' are caught, and are no picture.
        drop(std::panic::take_hook());
        // What is set up once takes none of the time that the first input has.
        TARGET(b"");
    },
    |input: &[u8]| TARGET(input)
);

/// What a target reads that reads text.
fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}
