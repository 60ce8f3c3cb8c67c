//! Writes the measurements as a page, with the targets.

use bench::Samples;
use store::Cost;

use crate::{AUTHENTICATED_READ, case::Case, delayed::Delayed};

/// The page of `cases`, the first of which is the floor; `login` is the store's cost of a sign-in.
pub(crate) fn page(cases: &[Case], delayed: &Delayed, login: Option<Cost>) -> String {
    let mut text = "# Functions as Lambda runs them, beside one that does nothing\n\n\
        This page is for engineers who change the start of a function or the path of a request. Written by \
        `cargo bench-lambda`. Times are milliseconds of one machine: read the ratios to the floor, a bare `lambda_http` \
        function.\n\n\
        | function, event | start CPU | ÷ floor | start page faults | ÷ floor | first | p50 | ÷ floor | p99 | CPU per call | ÷ floor | memory MB | zip MB |\n\
        |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    let mut targets = String::new();
    for case in cases {
        let ratios = ratios(case, &cases[0]);
        let faults = case.start_faults.quantile(0.5);
        text += &format!(
            "| {} | {:.2} | {:.2} | {faults} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {:.2} |\n",
            case.name,
            median(&case.start_cpu),
            ratios[0],
            ratios[1],
            median(&case.first),
            median(&case.warm),
            ratios[2],
            case.warm.milliseconds(0.99),
            median(&case.call_cpu),
            ratios[3],
            case.memory,
            case.zip,
        );
        if case.function != "floor" {
            targets += &targets_of(case, ratios);
        }
    }
    if delayed.call.count() > 0 {
        let (call, alone) = (median(&delayed.call), median(&delayed.alone));
        targets += &target(
            &format!(
                "{AUTHENTICATED_READ}: p50 with a store delayed to 4 ms, ms; one read alone took {alone:.2}"
            ),
            call,
            alone + 1.0,
        );
    }
    if let Some(cost) = login {
        targets += &target("sign-in, round trips to the store", cost.round_trips.into(), 3.0);
        targets += &target("sign-in, requests to the store", cost.requests.into(), 8.0);
    }
    text + "\nMemory is the peak after 2,000 calls, of sign-ins after 60.\n\n## Targets\n\n\
        | what | measured | target | |\n|---|--:|--:|---|\n"
        + &targets
}

fn median(samples: &Samples) -> f64 {
    samples.milliseconds(0.5)
}

/// CPU and page faults of the start, time and CPU of a call, each ÷ the floor's.
fn ratios(case: &Case, floor: &Case) -> [f64; 4] {
    let of = |samples: fn(&Case) -> &Samples| median(samples(case)) / median(samples(floor));
    [
        of(|case| &case.start_cpu),
        of(|case| &case.start_faults),
        of(|case| &case.warm),
        of(|case| &case.call_cpu),
    ]
}

/// The targets of one case, as rows.
fn targets_of(case: &Case, [start_cpu, start_faults, warm, call_cpu]: [f64; 4]) -> String {
    let row = |what: &str, value, most| target(&format!("{}: {what}", case.name), value, most);
    let zip = match case.function.as_str() {
        "dispatcher" | "worker" => 4.6,
        "files" => 5.2,
        "users" => 6.2,
        _ => 4.2,
    };
    let memory = match case.name.as_str() {
        "auth, login" => 40.0,
        "sms, list" => 20.0,
        _ => 16.0,
    };
    let mut rows = row("start CPU ÷ floor", start_cpu, 3.5)
        + &row("start page faults ÷ floor", start_faults, 4.0)
        + &row("memory, MB", case.memory, memory)
        + &row("zip, MB", case.zip, zip);
    if case.name == "fallback, health" {
        rows += &row("p50 ÷ floor", warm, 1.3);
    }
    if case.name == AUTHENTICATED_READ {
        rows += &row("first ÷ its p50", median(&case.first) / median(&case.warm), 2.5);
        rows += &row("CPU per call ÷ floor", call_cpu, 12.0);
    }
    rows
}

fn target(what: &str, value: f64, most: f64) -> String {
    let verdict = if value <= most { "met" } else { "**missed**" };
    format!("| {what} | {value:.2} | ≤ {most:.2} | {verdict} |\n")
}
