//! `cargo bench-sms`: text messages on bad days and at their rate.
//!
//! - `accept`: what `POST /sms/bulk` with a thousand recipients takes, in a process that is the function alone.
//! - `rate`: eight dispatchers at one batch, and a code meanwhile: what arrives in each second.
//! - `crash`: 10,000 messages, dispatchers that are killed (`kill -9`) again and again, and a carrier that
//!   refuses one in ten before it takes it and falls silent for one in ten after; a seed may follow, and another
//!   number of messages.
//!
//! Dispatchers are processes of their own, as on AWS; the embedded cloud is this one.

mod accept;
mod crash;
mod rate;
mod stage;

use local::Trouble;
use tokio::runtime::Builder;

fn main() -> Result<(), Trouble> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // What this program starts of itself runs as it does on Lambda, on one thread.
    let is_on_lambda =
        [stage::DISPATCHER, accept::FUNCTION].contains(&words.first().map_or("", String::as_str));
    let mut runtime = if is_on_lambda {
        Builder::new_current_thread()
    } else {
        Builder::new_multi_thread()
    };
    runtime
        .enable_all()
        .build()
        .map_err(bench::trouble)?
        .block_on(run(&words))
}

async fn run(words: &[String]) -> Result<(), Trouble> {
    match words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["accept"] => accept::run().await,
        ["rate"] => rate::run().await,
        ["crash"] => crash::run(1, 10_000).await,
        ["crash", seed] => crash::run(number(seed)?, 10_000).await,
        ["crash", seed, messages] => crash::run(number(seed)?, number(messages)?).await,
        [stage::DISPATCHER] => stage::dispatch().await,
        [accept::FUNCTION] => accept::function().await,
        _ => Err(Trouble::new(
            "There are `cargo bench-sms accept`, `rate` and `crash`, which may be followed by a seed and a number of messages.",
        )),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Trouble> {
    text.parse()
        .map_err(|_| Trouble::new(format!("{text} is no whole number.")))
}
