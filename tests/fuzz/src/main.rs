//! Fuzzes every parser of untrusted input with libFuzzer. One program contains all targets; `FUZZ_TARGET` selects one.
#![no_main]
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a finding ends the program, and so does a failed setup"
)]

mod avatar;
mod body;
mod keys;
mod passkey;
mod service;
mod texts;
mod uapi;

use std::sync::LazyLock;

/// Runs a target on one input; panics on a finding.
type Run = fn(&[u8]);

const TARGETS: [(&str, Run); 14] = [
    ("avatar", avatar::run),
    ("body", body::run),
    ("cursor", keys::cursor),
    ("event", service::event),
    ("field", |input| text(input).map_or((), texts::field)),
    ("form", service::form),
    ("headers", service::headers),
    ("host", |input| text(input).map_or((), texts::host)),
    ("passkey", passkey::run),
    ("phone", |input| text(input).map_or((), texts::phone)),
    ("sms", |input| text(input).map_or((), texts::sms)),
    ("stream", service::stream),
    ("token", keys::token),
    ("uapi", uapi::run),
];

static TARGET: LazyLock<Run> = LazyLock::new(|| {
    #[expect(
        clippy::disallowed_methods,
        reason = "libFuzzer reads the arguments, so an environment variable names the target"
    )]
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let names = TARGETS.map(|(name, _)| name).join(" ");
    TARGETS
        .iter()
        .find(|(target, _)| *target == name)
        .unwrap_or_else(|| panic!("FUZZ_TARGET must be one of {names}"))
        .1
});

libfuzzer_sys::fuzz_target!(
    init: {
        // libFuzzer's hook ends the program even if the panic is caught, as those of image decoders are.
        drop(std::panic::take_hook());
        // One-time setup must not count towards the time limit of the first input.
        TARGET(b"");
    },
    |input: &[u8]| TARGET(input)
);

/// `input` as UTF-8, or `None`.
fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}
