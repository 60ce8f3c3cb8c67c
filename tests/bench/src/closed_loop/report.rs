//! The figures, in Markdown and as a picture.

use std::fmt::Write;

use bench::{
    grouped,
    load::{milliseconds, percentile},
    plot::{Panel, Picture, Scale},
};

use crate::{mix::MIX, step::Step};

/// With 256 clients, the slowest hundredth may take so many times as long as the median.
const FAIR: f64 = 20.0;
/// By so much may memory grow over any step, from where its connections stand to its end.
const FLAT: f64 = 1.1;

/// A row for each step, what went wrong, and what is to be read in it.
pub(crate) fn markdown(steps: &[Step]) -> String {
    let mut text =
        "| clients | requests | requests/s | p50 ms | p90 ms | p99 ms | max ms | p99 ÷ p50 | errors | memory MB | peak MB | open files |\n\
                    |---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for step in steps {
        let at = |percent| milliseconds(percentile(&step.times, percent));
        let (before, after) = ends(step);
        let peak = step.memory.last().map_or(0.0, |(_, memory)| memory.peak);
        let requests = step.times.len() + step.logins.len();
        let _ = writeln!(
            text,
            "| {} | {} | {:.0} | {:.1} | {:.1} | {:.1} | {:.0} | {:.1} | {} | {before:.0} → {after:.0} | {peak:.0} | {} |",
            step.clients,
            grouped(requests as u64),
            requests as f64 / step.took.as_secs_f64(),
            at(50),
            at(90),
            at(99),
            at(100),
            at(99) / at(50),
            step.errors.values().sum::<u64>(),
            step.open_files,
        );
    }
    let _ = write!(
        text,
        "\n| sign-ins, apart | number | p50 ms | max ms |\n|---|---:|---:|---:|\n"
    );
    for step in steps {
        let at = |percent| milliseconds(percentile(&step.logins, percent));
        let _ = writeln!(
            text,
            "| {} clients | {} | {:.0} | {:.0} |",
            step.clients,
            step.logins.len(),
            at(50),
            at(100)
        );
    }
    let _ = write!(text, "\n{}", verdicts(steps));
    for (step, (error, times)) in steps
        .iter()
        .flat_map(|step| step.errors.iter().map(move |error| (step, error)))
    {
        let _ = writeln!(text, "- {} clients, {times} times: {error}", step.clients);
    }
    text
}

fn verdicts(steps: &[Step]) -> String {
    let mut text = String::new();
    if let Some(step) = steps.iter().max_by_key(|step| step.clients) {
        let ratio =
            percentile(&step.times, 99).as_secs_f64() / percentile(&step.times, 50).as_secs_f64();
        let _ = writeln!(
            text,
            "- p99 ≤ {FAIR} × p50 with {} clients: {}, {ratio:.1} ×",
            step.clients,
            yes(ratio <= FAIR)
        );
    }
    let grown = |step: &Step| ends(step).1 / settled(step);
    let most = steps.iter().map(grown).fold(0.0, f64::max);
    let _ = writeln!(
        text,
        "- memory is flat: {}, × {most:.2} at most from where a step's connections stand to its end",
        yes(most <= FLAT)
    );
    if let [.., few, many] = steps {
        let each = (ends(many).1 - ends(few).1) / (many.clients - few.clients) as f64;
        let _ = writeln!(
            text,
            "- each client more than {} takes {each:.2} MB",
            few.clients
        );
    }
    text
}

fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "**no**" }
}

/// Memory before and after `step`, in megabytes.
fn ends(step: &Step) -> (f64, f64) {
    let resident = |memory: Option<&(u64, bench::process::Memory)>| {
        memory.map_or(0.0, |(_, memory)| memory.resident)
    };
    (resident(step.memory.first()), resident(step.memory.last()))
}

/// What it uses when the first part of a step is over: each client has its connection, and the service its own for it.
fn settled(step: &Step) -> f64 {
    step.memory
        .get(1)
        .map_or(1.0, |(_, memory)| memory.resident)
}

/// The page that is kept.
pub(crate) fn page(table: &str) -> String {
    let mix: Vec<String> = MIX
        .iter()
        .map(|(_, name, share)| format!("`{name}` {:.1} %", *share as f64 / 10.0))
        .collect();
    format!(
        "# Under load\n\n\
         Made by `cargo bench-load write`: `cargo dev seed` as a process of its own, on a file, and clients that send their next \
         request when the last was answered, on the same machine.\n\n\
         ![Time per request by the number of clients, and memory by the number of requests](load.svg)\n\n{table}\n\
         Of all requests are {}. Each client is somebody else, with an account, a course and files of his own. Memory and open files \
         are those of the service, before and after each step, the embedded cloud in the same process included.\n\n\
         The embedded store does one thing at a time, so from a few clients on, whoever comes waits for those before him: the median \
         grows as the clients do, and requests per second stay what they are. Read the errors, how far p99 is from p50, and whether \
         memory stays; the milliseconds are this machine’s.\n",
        mix.join(", ")
    )
}

/// The picture of `steps`.
pub(crate) fn svg(steps: &[Step]) -> String {
    let clients: Vec<u64> = steps.iter().map(|step| step.clients as u64).collect();
    let percents = [50, 90, 99];
    let times = percents.iter().map(|percent| {
        let time = |step: &Step| {
            (
                step.clients as f64,
                milliseconds(percentile(&step.times, *percent)),
            )
        };
        steps.iter().map(time).collect()
    });
    let (mut memory, mut ticks, mut sent) = (Vec::new(), vec![0], 0);
    for step in steps {
        memory.extend(
            step.memory
                .iter()
                .map(|(number, memory)| ((sent + number) as f64, memory.resident)),
        );
        sent += step.memory.last().map_or(0, |(number, _)| *number);
        ticks.push(sent);
    }
    Picture {
        title: "Under load",
        about: "Two diagrams: the time of a request by the number of clients, and the service’s memory by the number of requests so far.",
        panels: [
            Panel {
                title: "Time per request",
                label: "milliseconds",
                across: "clients (logarithmic)",
                scale: Scale::Logarithmic,
                ticks: &clients,
                note: None,
                curves: times.enumerate().collect(),
            },
            Panel {
                title: "Resident memory of the service",
                label: "megabytes",
                across: "requests so far; steps end at the numbers",
                scale: Scale::Linear,
                ticks: &ticks,
                note: None,
                curves: vec![(percents.len(), memory)],
            },
        ],
        legend: percents.iter().map(|percent| format!("p{percent}")).chain(["memory".to_owned()]).collect(),
    }
    .svg()
}
