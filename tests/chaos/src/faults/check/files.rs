//! Checks files, and the bytes that they use.

use std::collections::BTreeMap;

use http::Request;

use crate::{
    client::{Call, call_bucket},
    promise::{PromiseCheck, Snapshot},
    tables::text,
    virtual_user::VirtualUser,
};

pub(crate) async fn all(snapshot: &mut Snapshot<'_>, users: &[VirtualUser]) -> [PromiseCheck; 2] {
    [kept(snapshot, users).await, usage(snapshot)]
}

async fn kept(snapshot: &mut Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("uploaded files are complete, and no others exist");
    for user in users {
        let token = user.me.last_token();
        for file in &user.files {
            let (id, is_ready, was_sent) = (&file.id, file.is_ready, &file.was_sent);
            let item = snapshot.tables.at(&format!("FILE#{id}"), "FILE");
            let status = item.map_or("gone".to_owned(), |item| text(&item["card"], "status"));
            let holds = match status.as_str() {
                "gone" => file.is_deleted.allows(&true) || (!is_ready && was_sent.allows(&false)),
                "READY" => file.is_deleted.allows(&false) && was_sent.allows(&true),
                _ => false,
            };
            promise.check(holds, || format!("{id} is {status}, ready {is_ready}, {was_sent:?}"));
            if status == "READY" {
                let call = Call::new("GET", format!("/files/{id}")).with(&token);
                let response = snapshot.call(&call).await;
                let url = response.text("/file/url");
                let stored = call_bucket(&url, Request::get(""), String::new()).await;
                let is_complete = |(status, bytes)| status == 200 && bytes == file.text;
                promise.check(stored.is_some_and(is_complete), || {
                    format!("{id} differs from the uploaded text: {}", response.body)
                });
            }
        }
    }
    promise
}

fn usage(snapshot: &Snapshot<'_>) -> PromiseCheck {
    let mut promise = PromiseCheck::of("the used bytes of files add up");
    let mut used: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for item in snapshot.tables.of("FILE#", "FILE") {
        let (files, bytes) = used.entry(text(&item["card"], "userID")).or_default();
        *files += 1;
        *bytes += item["card"]["size"].as_u64().unwrap_or(0);
    }
    for item in snapshot.tables.of("USER#", "USAGE") {
        let pk = text(item, "pk");
        let (files, bytes) = used.remove(pk.trim_start_matches("USER#")).unwrap_or_default();
        let holds = item["files"] == files && item["bytes"] == bytes && item["taken"] == bytes;
        promise.check(holds, || format!("{item} for {files} files of {bytes} bytes"));
    }
    promise.check(used.is_empty(), || format!("not counted: {used:?}"));
    promise
}
