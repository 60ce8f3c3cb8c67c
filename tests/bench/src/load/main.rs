//! `cargo bench-load`: the service under 1, 8, 64 and 256 clients that send without pause.
//!
//! The service is a separate process with its tables in a file; the clients run in this process on the same machine.
//! `write` rewrites `load.md` and `load.svg`; `short` sends a tenth of the requests. Fails if a request fails.

mod client;

use std::{
    collections::BTreeMap,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use bench::{
    Result, Samples,
    chart::{self, Panel},
    error, print, process,
    service::{LocalService, Tables},
    thousands, write_page,
};
use dev::{
    delivery::{self, Consumers},
    front,
    home::LocalSettings,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    time::{Instant, interval},
};

use client::{Client, MIX};

/// The argument with which this program starts itself as the service.
const SERVICE: &str = "service";
/// The number of clients of each step, and of their requests in total; the first step is a warm-up.
const STEPS: [(usize, u64); 5] =
    [(64, 5_000), (1, 10_000), (8, 10_000), (64, 100_000), (256, 10_000)];
/// The number of errors after which a client stops.
const MAX_ERRORS: u64 = 20;
/// The target for p99 ÷ p50 with 256 clients.
const MAX_SPREAD: f64 = 20.0;
/// The target for the growth of memory within a step, once its connections are open.
const MAX_GROWTH: f64 = 1.1;

/// The measurements of one step.
struct Step {
    clients: usize,
    requests: u64,
    took: Duration,
    times: Samples,
    /// The count of each error.
    errors: BTreeMap<String, u64>,
    /// Resident memory of the service in MB, every second.
    memory: Vec<f64>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = arguments.first().map(String::as_str);
    process::runtime(&arguments, &[])?.block_on(async {
        match argument {
            None => bench(1, false).await,
            Some("write") => bench(1, true).await,
            Some("short") => bench(10, false).await,
            Some(SERVICE) => serve().await,
            Some(_) => Err(error("usage: cargo bench-load [write | short]")),
        }
    })
}

/// The whole service, as `cargo dev` runs it; prints its address.
async fn serve() -> Result<()> {
    // The standard input is closed when the parent process ends.
    std::thread::spawn(|| {
        let _ = std::io::read_to_string(std::io::stdin());
        std::process::exit(0)
    });
    let settings = [("REGISTER_PER_HOUR", "4000000000")];
    let service = LocalService::start(Tables::File, &settings).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(error)?;
    print(listener.local_addr().map_err(error)?);
    let consumers = Consumers::new(&|_| Ok(service.setup.clone()))?;
    let delivery = delivery::run(service.cloud, consumers);
    tokio::join!(delivery, front::serve(listener, service.edge, None));
    Ok(())
}

async fn bench(divisor: u64, writes: bool) -> Result<()> {
    let folder = tempfile::tempdir().map_err(error)?;
    let mut settings = LocalSettings::default();
    settings.set("TMPDIR", folder.path().display().to_string());
    let mut service = process::start_role(SERVICE, &settings, Stdio::piped())?;
    let process = service.id().ok_or_else(|| error("the service ended"))?;
    let output = service.stdout.take().ok_or_else(|| error("no output"))?;
    let address = BufReader::new(output).lines().next_line().await;
    let address = address.map_err(error)?.unwrap_or_default();
    let most = STEPS.map(|(clients, _)| clients).into_iter().max();
    let address = address.parse().map_err(error)?;
    let mut clients = client::register(address, most.unwrap_or(1)).await?;
    print(format!("{} clients have signed in", clients.len()));
    let mut steps = Vec::new();
    for (count, requests) in STEPS {
        let active = clients.drain(..count).enumerate();
        let active = active.map(|(number, client)| client.reconnected(number));
        let (step, back) = run(active.collect(), requests / divisor, process).await?;
        clients.splice(..0, back);
        print(format!("{count} clients: {:.0} s", step.took.as_secs_f64()));
        steps.push(step);
    }
    let markdown = table(&steps[1..]);
    print(format!("\n{markdown}"));
    let errors: Vec<_> = steps.iter().flat_map(|step| &step.errors).collect();
    if !errors.is_empty() {
        return Err(error(format!("requests failed: {errors:?}")));
    }
    if writes {
        write_page("load", &page(&markdown), &svg(&steps[1..])?)?;
    }
    Ok(())
}

/// Sends `requests` in total; each client sends its next request after its last response.
async fn run(clients: Vec<Client>, requests: u64, process: u32) -> Result<(Step, Vec<Client>)> {
    let sent = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let mut step = Step {
        clients: clients.len(),
        requests,
        took: Duration::ZERO,
        times: Samples::new()?,
        errors: BTreeMap::new(),
        memory: vec![process::memory(process)?.resident],
    };
    let tasks = clients.into_iter().map(|client| {
        let sent = Arc::clone(&sent);
        tokio::spawn(send(client, sent, requests))
    });
    let tasks: Vec<_> = tasks.collect();
    let mut second = interval(Duration::from_secs(1));
    while tasks.iter().any(|task| !task.is_finished()) {
        second.tick().await;
        step.memory.push(process::memory(process)?.resident);
    }
    let mut back = Vec::new();
    for task in tasks {
        let (client, times, errors, ended) = task.await.map_err(error)??;
        step.times.merge(&times)?;
        for (failure, times) in errors {
            *step.errors.entry(failure).or_default() += times;
        }
        step.took = step.took.max(ended - start);
        back.push(client);
    }
    Ok((step, back))
}

type Sent = (Client, Samples, BTreeMap<String, u64>, Instant);

async fn send(mut client: Client, sent: Arc<AtomicU64>, requests: u64) -> Result<Sent> {
    let (mut times, mut errors) = (Samples::new()?, BTreeMap::new());
    loop {
        let number = sent.fetch_add(1, Relaxed);
        if number >= requests || errors.values().sum::<u64>() >= MAX_ERRORS {
            return Ok((client, times, errors, Instant::now()));
        }
        let start = Instant::now();
        match client.send_numbered(number).await {
            Ok(()) => times.record_time(start.elapsed()),
            Err(failure) => *errors.entry(failure.to_string()).or_default() += 1,
        }
    }
}

fn table(steps: &[Step]) -> String {
    let mut text =
        "| clients | requests | requests/s | p50 ms | p99 ms | p99 ÷ p50 | errors | memory MB |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    let (mut spread, mut growth) = (0.0, 0.0_f64);
    for step in steps {
        let (p50, p99) = (step.times.milliseconds(0.5), step.times.milliseconds(0.99));
        let last = step.memory.last().copied().unwrap_or_default();
        let rate = step.times.count() as f64 / step.took.as_secs_f64();
        spread = p99 / p50;
        // The third sample: after a second every client has its connection.
        growth = growth.max(last / step.memory.get(2).copied().unwrap_or(last));
        text += &format!(
            "| {} | {} | {rate:.0} | {p50:.1} | {p99:.1} | {spread:.1} | {} | {:.0} → {last:.0} |\n",
            step.clients,
            thousands(step.requests),
            step.errors.values().sum::<u64>(),
            step.memory.first().copied().unwrap_or_default(),
        );
    }
    let verdict = |holds| if holds { "met" } else { "**missed**" };
    text += &format!(
        "\n- p99 ≤ {MAX_SPREAD} × p50 with the most clients: {spread:.1}, {}\n\
         - memory grows by ≤ {MAX_GROWTH} × within a step: {growth:.2}, {}\n",
        verdict(spread <= MAX_SPREAD),
        verdict(growth <= MAX_GROWTH)
    );
    text
}

fn page(table: &str) -> String {
    let mix = MIX.map(|(name, share)| format!("`{name}` {:.1} %", share as f64 / 10.0));
    format!(
        "# Under load\n\n\
         This page is for engineers who want to know how the service behaves under load. Written by `cargo bench-load \
         write`: the service as a separate process, tables in a file, and clients on the same machine that send their next \
         request when the last was answered.\n\n\
         ![Time per request by number of clients, and memory over time](load.svg)\n\n{table}\n\
         Requests: {}. Every client has its own account, course and files. Memory is that of the service, at the start and \
         at the end of a step, with the local cloud in the same process.\n\n\
         The local store handles one request at a time: from a few clients on, requests queue, the median grows with the \
         number of clients and requests per second stay the same. Read the errors, p99 ÷ p50 and the memory; the \
         milliseconds are those of this machine.\n",
        mix.join(", ")
    )
}

fn svg(steps: &[Step]) -> Result<String> {
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];
    let times = quantiles.map(|(name, share)| {
        let point = |step: &Step| ((step.clients as f64).log10(), step.times.milliseconds(share));
        (name.to_owned(), steps.iter().map(point).collect())
    });
    let memory = steps.iter().flat_map(|step| &step.memory).enumerate();
    let memory = memory.map(|(second, memory)| (second as f64, *memory)).collect();
    let panels = [
        Panel {
            title: "Time per request",
            x: "clients (logarithmic)",
            x_label: |power| format!("{:.0}", 10_f64.powf(*power)),
            y: "milliseconds",
            lines: times.into(),
        },
        Panel {
            title: "Resident memory of the service",
            x: "seconds",
            x_label: |second| format!("{second:.0}"),
            y: "megabytes",
            lines: vec![("memory".to_owned(), memory)],
        },
    ];
    chart::lines("Under load", &panels)
}
