//! The figures as a page in Markdown: of each case, beside the floor, and the targets.

use std::{fmt::Write, time::Duration};

use crate::{
    SHARE,
    measure::{Case, Figures, Whose},
};

type Measured = [(Case, Figures)];

/// The value in the middle.
pub(crate) fn median<T: Copy + Ord + Default>(values: &[T]) -> T {
    percentile(values, 50)
}

fn percentile<T: Copy + Ord + Default>(values: &[T], percent: usize) -> T {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted
        .get(sorted.len().saturating_sub(1) * percent / 100)
        .copied()
        .unwrap_or_default()
}

/// The page; `hash` is what a bare Argon2id takes.
pub(crate) fn page(measured: &Measured, hash: Duration) -> String {
    let mut text = "# Our functions as Lambda runs them, beside one that does nothing\n\n\
                    Made by `cargo bench-lambda`, which its source describes. Times and CPU are milliseconds of one machine that \
                    had other things to do: read the ratios.\n\n![CPU and memory beside the floor](lambda.svg)\n\n"
        .to_owned();
    starts(&mut text, measured);
    calls(&mut text, measured);
    shares(&mut text, measured);
    targets(&mut text, measured, hash);
    text
}

fn starts(text: &mut String, measured: &Measured) {
    let (floor_cpu, floor_faults) = floor(measured).map_or((1.0, 1.0), |floor| {
        (ms(median(&floor.init)), median(&floor.page_faults) as f64)
    });
    text.push_str(
        "## From the start to the first request for an event\n\n\
         | started | CPU | ÷ floor | page faults | ÷ floor | zip, MB |\n|---|--:|--:|--:|--:|--:|\n",
    );
    let mut last = String::new();
    for (case, figures) in measured {
        // What is asked later makes no difference here.
        let who = started(case);
        if who == last {
            continue;
        }
        let (cpu, faults) = (
            ms(median(&figures.init)),
            median(&figures.page_faults) as f64,
        );
        let (of_cpu, of_faults, zip) = (
            cpu / floor_cpu,
            faults / floor_faults,
            case.zip as f64 / 1e6,
        );
        let _ = writeln!(
            text,
            "| {who} | {cpu:.2} | {of_cpu:.2} | {faults:.0} | {of_faults:.2} | {zip:.2} |"
        );
        last = who;
    }
}

/// The function, without what it is asked.
fn started(case: &Case) -> String {
    match case.name.split_once(", ") {
        Some((function, rest)) if !rest.starts_with("started") => function.to_owned(),
        _ => case.name.clone(),
    }
}

fn calls(text: &mut String, measured: &Measured) {
    let floor = floor(measured).map_or((1.0, 1.0), |floor| {
        (ms(median(&floor.warm)), ms(median(&floor.cpu)))
    });
    text.push_str(
        "\n## Calls\n\n\
         | asked | first | ÷ its p50 | p50 | p90 | p99 | p50 ÷ floor | CPU per call | ÷ floor | calls/s on one core | memory, MB |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (case, figures) in measured.iter().filter(|(case, _)| case.event.is_some()) {
        let (first, p50, cpu) = (
            ms(median(&figures.first)),
            ms(median(&figures.warm)),
            ms(median(&figures.cpu)),
        );
        let (p90, p99) = (
            ms(percentile(&figures.warm, 90)),
            ms(percentile(&figures.warm, 99)),
        );
        let per_second =
            figures.warm.len() as f64 / figures.warm.iter().sum::<Duration>().as_secs_f64();
        let memory = if case.memory_calls > 1 {
            format!("{:.1}", figures.memory)
        } else {
            "–".to_owned()
        };
        let _ = writeln!(
            text,
            "| {} | {first:.2} | {:.2} | {p50:.2} | {p90:.2} | {p99:.2} | {:.2} | {cpu:.2} | {:.2} | {per_second:.0} | {memory} |",
            case.name,
            first / p50,
            p50 / floor.0,
            cpu / floor.1,
        );
    }
    text.push_str("\nMemory is the most that was ever used, after 2,000 calls, of `POST /auth/login` after 60.\n");
}

fn shares(text: &mut String, measured: &Measured) {
    let _ = write!(
        text,
        "\n## With {SHARE} of a CPU, as 256 MB of memory have\n\n"
    );
    if measured
        .iter()
        .all(|(_, figures)| figures.shared_cold.is_empty())
    {
        text.push_str("Not measured: it takes a control group, and this user may make none.\n");
        return;
    }
    text.push_str(
        "| asked | first answer, after a start with a whole CPU | start and first answer with that share alone |\n|---|--:|--:|\n",
    );
    for (case, figures) in measured
        .iter()
        .filter(|(_, figures)| !figures.shared_cold.is_empty())
    {
        let (first, cold) = (
            ms(median(&figures.shared_first)),
            ms(median(&figures.shared_cold)),
        );
        let _ = writeln!(text, "| {} | {first:.2} | {cold:.1} |", case.name);
    }
}

fn targets(text: &mut String, measured: &Measured, hash: Duration) {
    let Some(floor) = floor(measured) else { return };
    let (floor_init, floor_faults) = (ms(median(&floor.init)), median(&floor.page_faults) as f64);
    let find = |name: &str| {
        measured
            .iter()
            .find(|(case, _)| case.whose == Whose::Ours && case.name == name)
            .map(|(_, figures)| figures)
    };
    let ours = |with_phones: bool| {
        let is_phones = move |case: &Case| case.name.starts_with("`sms`") == with_phones;
        let is_plain = |case: &Case| case.whose == Whose::Ours && !case.name.ends_with("from SSM");
        measured
            .iter()
            .filter(move |(case, _)| is_plain(case) && is_phones(case))
    };
    let worst = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let mut rows: Vec<(&str, f64, f64)> = vec![
        (
            "start, CPU ÷ floor",
            worst(&mut ours(false).map(|(_, seen)| ms(median(&seen.init)) / floor_init)),
            3.8,
        ),
        (
            "start of `sms`, CPU in ms",
            worst(&mut ours(true).map(|(_, seen)| ms(median(&seen.init)))),
            60.0,
        ),
        (
            "start, page faults ÷ floor",
            worst(
                &mut ours(false).map(|(_, seen)| median(&seen.page_faults) as f64 / floor_faults),
            ),
            4.0,
        ),
        (
            "memory after 2,000 calls, MB",
            worst(
                &mut ours(false)
                    .filter(|(case, _)| case.memory_calls == 2000)
                    .map(|(_, seen)| seen.memory),
            ),
            16.0,
        ),
    ];
    if let Some(canary) = find("`canary`, started") {
        rows.push((
            "start of `canary`, which opens no connection, CPU ÷ floor",
            ms(median(&canary.init)) / floor_init,
            2.2,
        ));
    }
    if let Some(health) = find("`fallback`, GET /health") {
        rows.push((
            "`GET /health`, p50 ÷ floor",
            ms(median(&health.warm)) / ms(median(&floor.warm)),
            1.3,
        ));
    }
    if let Some(read) = find("`auth`, GET /auth/current-user") {
        rows.push((
            "authenticated read, first ÷ its p50",
            ms(median(&read.first)) / ms(median(&read.warm)),
            2.5,
        ));
        rows.push((
            "authenticated read, first with a share, ms",
            ms(median(&read.shared_first)),
            3.0,
        ));
        rows.push((
            "authenticated read, CPU per call ÷ floor",
            ms(median(&read.cpu)) / ms(median(&floor.cpu)),
            12.0,
        ));
    }
    if let Some(late) = find("`auth`, GET /auth/current-user, store answers in 4 ms") {
        rows.push((
            "authenticated read, store answers in 4 ms, p50 in ms",
            ms(median(&late.warm)),
            5.2,
        ));
    }
    if let Some(login) = find("`auth`, POST /auth/login") {
        rows.push((
            "`POST /auth/login`, p50 ÷ a bare Argon2id",
            ms(median(&login.warm)) / ms(hash),
            1.15,
        ));
        rows.push(("memory after 60 sign-ins, MB", login.memory, 40.0));
    }
    text.push_str("\n## Targets\n\nOf several, the worst. The authenticated read is `GET /auth/current-user`, which waits for the store once; others wait once more. ");
    if let Some((_, late)) = measured
        .iter()
        .find(|(case, _)| case.store_answers_in.is_some())
    {
        let _ = write!(
            text,
            "Where the store answers in 4 ms, a read that asked nothing else of it took {:.2}.",
            ms(median(&late.store))
        );
    }
    text.push_str("\n\n| what | measured | target | |\n|---|--:|--:|---|\n");
    for (what, value, limit) in rows {
        let verdict = if value <= limit { "met" } else { "**missed**" };
        let _ = writeln!(text, "| {what} | {value:.2} | ≤ {limit} | {verdict} |");
    }
}

fn floor(measured: &Measured) -> Option<&Figures> {
    measured
        .iter()
        .find(|(case, _)| case.whose == Whose::Floor)
        .map(|(_, figures)| figures)
}

pub(crate) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
