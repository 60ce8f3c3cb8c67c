//! A hostile panel: whatever it answers, it is read within bounds or is a trouble of its kind. An input is the body of
//! a 200, or, where it begins so, a whole answer of HTTP.

use std::{sync::LazyLock, time::Duration};

use cpanel_client::{Panel, Patience, LocalError};
use tokio::time::Instant;

use crate::{cloud::whole, stage::STAGE};

static PANEL: LazyLock<Panel> = LazyLock::new(|| {
    let long = Duration::from_secs(9);
    let patience = Patience {
        connect: long,
        whole: long,
        again: long,
    };
    Panel::new(
        &format!("http://{}", STAGE.address),
        "halqa",
        &"TOKEN".into(),
        || Ok(Vec::new()),
        patience,
    )
    .expect("a panel")
});

pub(crate) fn run(input: &[u8]) {
    let stage = &*STAGE;
    stage.cloud.panel_says(if input.starts_with(b"HTTP/1.1 ") {
        input.to_vec()
    } else {
        whole("200 OK", input)
    });
    stage.runtime.block_on(async {
        let domains = PANEL.domains(PANEL.trial(Instant::now())).await;
        if let Some(domains) = known(domains) {
            let name = &domains.main_domain;
            assert!(
                !name.is_empty() && name.trim() == name && *name == name.to_lowercase(),
                "{name:?}"
            );
        }
        if let Some(all) = known(PANEL.databases(PANEL.trial(Instant::now())).await) {
            assert!(all.iter().all(|one| one.disk_usage_bytes <= 1 << 53));
            assert!(
                all.chunk_by(|one, other| one.engine == other.engine)
                    .all(|some| some.is_sorted_by_key(|one| &one.name))
            );
        }
        let (label, root) = (
            "a".parse().expect("a label"),
            "example.org".parse().expect("a domain"),
        );
        known(
            PANEL
                .add_subdomain(&label, &root, PANEL.trial(Instant::now()))
                .await,
        );
    });
}

/// What came, or a trouble whose words fit into a log.
fn known<T>(result: Result<T, LocalError>) -> Option<T> {
    let trouble = match result {
        Ok(value) => return Some(value),
        Err(trouble) => trouble,
    };
    assert!(
        !matches!(
            trouble,
            LocalError::NotAsked | LocalError::Unreachable(_) | LocalError::TimedOut | LocalError::Crowded
        ),
        "{trouble}"
    );
    let said = trouble.to_string();
    assert!(
        said.chars().count() <= 500 && !said.contains(char::is_control) && !said.contains("TOKEN"),
        "{said:?}"
    );
    None
}
