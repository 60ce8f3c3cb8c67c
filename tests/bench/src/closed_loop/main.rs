//! `cargo bench-load`: what `cargo dev` does under 1, 8, 64 and 256 clients that never rest.
//!
//! The service is a process of its own, on a file; the clients are this one, on the same machine. Each sends
//! its next request when the last was answered, so there are never more requests at once than clients. With
//! `write`, `load.md` and `load.svg` are written anew; `short` sends a tenth of the requests. It fails when any request does not succeed.

mod mix;
mod report;
mod service;
mod step;
mod visitor;

use std::{fs, path::Path};

use bench::{grouped, say, trouble};
use local::Trouble;

use service::Service;
use step::Step;
use visitor::Visitor;

/// How many clients send how many requests, together.
const STEPS: [(usize, u64); 4] = [(1, 10_000), (8, 10_000), (64, 100_000), (256, 10_000)];
/// What nobody measures: caches fill and connections are opened.
const WARM_UP: (usize, u64) = (64, 5_000);
/// A short run sends one of so many requests.
const SHORT: u64 = 10;
/// So many join at once.
const JOINING: usize = 8;

#[tokio::main]
async fn main() -> Result<(), Trouble> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (writes, share) = match words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [] => (false, 1),
        ["write"] => (true, 1),
        ["short"] => (false, SHORT),
        _ => {
            return Err(Trouble::new(
                "Say nothing, `write` for new files, or `short` for a tenth of the requests.",
            ));
        }
    };
    let service = Service::start().await?;
    let most = STEPS
        .iter()
        .map(|(clients, _)| *clients)
        .max()
        .unwrap_or_default();
    let mut visitors = join(&service, most).await?;
    say(&format!("{most} people have signed in."));
    let mut steps: Vec<Step> = Vec::new();
    for (place, (clients, requests)) in [WARM_UP].into_iter().chain(STEPS).enumerate() {
        // Connections of the step before have ended: everybody comes anew.
        let callers = visitors
            .drain(..clients)
            .enumerate()
            .map(|(number, visitor)| visitor.again(number))
            .collect();
        let (step, back) = step::run(callers, requests / share, &service.process).await?;
        visitors.splice(..0, back);
        say(&format!(
            "{clients} clients: {} requests in {:.0} s",
            grouped(requests / share),
            step.took.as_secs_f64()
        ));
        if place > 0 || !step.errors.is_empty() {
            steps.push(step);
        }
    }
    let markdown = report::markdown(&steps);
    say(&format!("\n{markdown}"));
    if steps.iter().any(|step| !step.errors.is_empty()) {
        return Err(Trouble::new(format!(
            "Requests did not succeed. The service’s log says:\n{}",
            service.complaints()
        )));
    }
    if writes {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::write(here.join("load.md"), report::page(&markdown)).map_err(trouble)?;
        fs::write(here.join("load.svg"), report::svg(&steps)).map_err(trouble)?;
    }
    Ok(())
}

/// `count` trainers, in all the committees.
async fn join(service: &Service, count: usize) -> Result<Vec<Visitor>, Trouble> {
    let admin = std::sync::Arc::new(Visitor::administrator(service.address).await?);
    let committees = std::sync::Arc::new(admin.committees().await?);
    let groups: Vec<_> = (0..JOINING)
        .map(|group| {
            let (admin, committees) = (admin.clone(), committees.clone());
            tokio::spawn(async move {
                let mut joined = Vec::new();
                for number in (group..count).step_by(JOINING) {
                    let committee = committees
                        .get(number % committees.len())
                        .map_or("", String::as_str);
                    joined.push(Visitor::joining(number, committee, &admin).await?);
                }
                Ok::<_, Trouble>(joined)
            })
        })
        .collect();
    let mut visitors = Vec::new();
    for group in groups {
        let joined = group.await.map_err(trouble)?;
        visitors.extend(joined.map_err(|error| {
            Trouble::new(format!(
                "A trainer cannot join: {error}\n{}",
                service.complaints()
            ))
        })?);
    }
    Ok(visitors)
}
