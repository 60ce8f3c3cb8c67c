//! Text messages: accepting batches, processes that send them, and what became of each.

use std::{
    collections::{BTreeMap, HashMap},
    process::Stdio,
};

use dev::delivery::{self, Consumers};
use serde_json::json;
use tokio::process::Child;

use crate::{
    Result, error, print, process,
    service::{LocalService, text},
};

/// The argument with which a program starts itself as a sending process, which has a dispatcher and a worker.
pub const SENDER: &str = "sender";
/// Quotas that no run reaches.
pub const QUOTAS: [(&str, &str); 2] =
    [("SMS_PER_USER_DAY", "1000000"), ("SMS_PER_COMMITTEE_DAY", "1000000")];

/// Accepts `count` messages to numbers that begin with `prefix`, and delivers the stream until they are written and due.
pub async fn accept_messages(service: &LocalService, prefix: &str, count: usize) -> Result<()> {
    let numbers: Vec<String> = (0..count).map(|at| format!("{prefix}{at:06}")).collect();
    for chunk in numbers.chunks(1000) {
        let body = json!({ "recipients": chunk, "message": "Bonjour" });
        service.call("POST", "/sms/bulk", &body).await?;
    }
    let consumers = consumers(service)?;
    while delivery::deliver(&service.cloud, &consumers).await? > 0 {}
    Ok(())
}

/// Dispatcher and worker in this process.
pub fn consumers(service: &LocalService) -> Result<Consumers> {
    Ok(Consumers::new(&|_| Ok(service.setup.clone()))?)
}

/// Starts a sending process.
pub fn start_sender(service: &LocalService) -> Result<Child> {
    process::start_role(SENDER, &service.settings, Stdio::null())
}

/// Compares the status of each message with how often it was sent.
pub fn report(service: &LocalService, messages: usize) -> Result<()> {
    let mut sent: HashMap<String, usize> = HashMap::new();
    for message in service.cloud.recorder().texts() {
        *sent.entry(text(&message["to"])).or_default() += 1;
    }
    let mut table: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for item in service.cloud.items("records")? {
        if item["sk"]["S"] == "SMS" {
            let card = &item["card"]["M"];
            let times = sent.get(card["to"]["S"].as_str().unwrap_or_default());
            let times = times.copied().unwrap_or(0).min(2);
            table.entry(text(&card["status"]["S"])).or_default()[times] += 1;
        }
    }
    print("| status | not sent | sent once | sent twice |\n|---|--:|--:|--:|");
    for (status, [none, once, twice]) in &table {
        print(format!("| {status} | {none} | {once} | {twice} |"));
    }
    let written: usize = table.values().flatten().sum();
    print(format!("| lost | {} | | |", messages.saturating_sub(written)));
    let is_consistent = |(status, [none, once, twice]): (&String, &[usize; 3])| {
        let matches = match status.as_str() {
            "SENT" => *none == 0,
            "FAILED" => *once == 0,
            status => status == "UNKNOWN",
        };
        matches && *twice == 0
    };
    let has_duplicates = sent.values().any(|times| *times > 1);
    match written == messages && !has_duplicates && table.iter().all(is_consistent) {
        true => Ok(()),
        false => Err(error("a message was lost, sent twice, or has a wrong status")),
    }
}
