//! Files, and what they take.

use std::collections::BTreeMap;

use crate::{
    actor::Actor,
    check::{Evening, Finding},
    client::Ask,
    files::download,
    tables::text,
};

pub(crate) async fn all(evening: &mut Evening<'_>, people: &[Actor]) -> [Finding; 2] {
    [kept(evening, people).await, usage(evening)]
}

async fn kept(evening: &mut Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("files that came are kept whole, no others");
    for person in people {
        let token = person
            .me
            .sessions
            .last()
            .map(|session| session.token.clone())
            .unwrap_or_default();
        for file in &person.files {
            let item = evening.tables.at(&format!("FILE#{}", file.id), "FILE");
            let status =
                item.map_or_else(|| "gone".to_owned(), |item| text(&item["card"], "status"));
            let may_be_gone =
                file.is_deleted.may_be(&true) || (!file.is_ready && file.was_sent.may_be(&false));
            let may_be_ready = file.is_deleted.may_be(&false) && file.was_sent.may_be(&true);
            let is_good = (status == "gone" && may_be_gone) || (status == "READY" && may_be_ready);
            finding.look(is_good, || {
                format!(
                    "{} is {status}, ready {}, {:?}",
                    file.id, file.is_ready, file.was_sent
                )
            });
            if status == "READY" {
                let heard = evening
                    .ask(&Ask::new("GET", format!("/files/{}", file.id)).with(&token))
                    .await;
                let came = download(&heard.text("/file/url")).await;
                let is_whole =
                    came.is_some_and(|(status, bytes)| status == 200 && bytes == file.text);
                finding.look(is_whole, || {
                    format!("{} is not what was sent: {}", file.id, heard.body)
                });
            }
        }
    }
    finding
}

fn usage(evening: &Evening<'_>) -> Finding {
    let mut finding = Finding::of("what files take adds up");
    let mut takes: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for item in evening.tables.of("FILE#", "FILE") {
        let (files, bytes) = takes.entry(text(&item["card"], "userID")).or_default();
        *files += 1;
        *bytes += item["card"]["size"].as_u64().unwrap_or(0);
    }
    for item in evening.tables.of("USER#", "USAGE") {
        let (files, bytes) = takes
            .remove(text(item, "pk").trim_start_matches("USER#"))
            .unwrap_or_default();
        let is_good = item["files"] == files && item["bytes"] == bytes && item["taken"] == bytes;
        finding.look(is_good, || {
            format!("{item} for {files} files of {bytes} bytes")
        });
    }
    finding.look(takes.is_empty(), || {
        format!("nothing is noted of {takes:?}")
    });
    finding
}
