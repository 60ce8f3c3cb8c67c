//! Processes killed at random moments while SNS refuses, throttles or loses responses: no message is lost or sent
//! twice, and one whose outcome is not known is UNKNOWN.

use std::{collections::BTreeMap, time::Duration};

use cloud::{
    faults::{Fault, Mode, Service},
    random::SeededRandom,
};
use serde_json::Value;
use tests::World;

use super::{numbers, send_to, sender, texts};

/// Whether a message with this status is finished.
fn is_final(status: &str) -> bool {
    ["SENT", "FAILED", "UNKNOWN"].contains(&status)
}

fn statuses(world: &World) -> BTreeMap<String, String> {
    let is_sms = |item: &Value| item["sk"]["S"] == "SMS";
    let text = |value: &Value| value["S"].as_str().unwrap().to_owned();
    let all = world.items("records").into_iter().filter(is_sms);
    all.map(|item| (text(&item["card"]["M"]["to"]), text(&item["card"]["M"]["status"]))).collect()
}

async fn run_with_crashes(seed: u64, messages: usize, kills: usize) {
    let world = World::new().await;
    let mut rng = SeededRandom::new(seed);
    send_to(&sender(&world).await, &numbers(messages), "Bonjour").await;
    let mut killed = 0;
    for _ in 0..10_000 {
        let sns = [Some(Mode::Refuse), Some(Mode::Silent), Some(Mode::Throttle), None]
            [rng.below(4) as usize];
        match sns {
            Some(mode) => {
                world.inject_fault_in(Service::Sns, Fault::new(mode).times(1 + rng.below(3) as u32))
            }
            None => world.clear_faults(),
        }
        let process = world.another_process();
        let work = async {
            process.deliver().await;
            process.sweep().await;
        };
        if killed < kills {
            // Killed at any await point: before or after the claim, the call of SNS or the recorded outcome.
            let life = Duration::from_micros(rng.below(40_000));
            killed += usize::from(tokio::time::timeout(life, work).await.is_err());
        } else {
            work.await;
        }
        world.clock().advance(Duration::from_secs(1 + rng.below(120)));
        let ended = statuses(&world).values().filter(|status| is_final(status)).count();
        if killed == kills && ended == messages {
            break;
        }
    }
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for text in texts(&world) {
        *taken.entry(text["to"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let statuses = statuses(&world);
    assert_eq!(statuses.len(), messages, "seed {seed}: no message is lost");
    for (to, status) in &statuses {
        let taken = taken.get(to).copied().unwrap_or(0);
        let fits = match status.as_str() {
            "SENT" => taken == 1,
            "FAILED" => taken == 0,
            "UNKNOWN" => taken <= 1,
            _ => false,
        };
        assert!(fits, "seed {seed}: {to} is {status} and was sent {taken} times");
    }
    assert_eq!(killed, kills, "seed {seed}");
}

#[tokio::test]
async fn message_is_never_lost_or_sent_twice_for_any_seed() {
    for seed in [1, 2, 3, 0x5eed] {
        run_with_crashes(seed, 150, 12).await;
    }
}
