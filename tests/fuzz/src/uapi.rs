//! Responses of cPanel: each is read within bounds or is a `PanelError`. An input is the body of a 200, or a complete
//! HTTP response if it begins with `HTTP/1.1 `.

use std::{sync::LazyLock, time::Duration};

use cpanel_client::{Panel, PanelError, Timeouts};
use tokio::time::Instant;

use crate::{cloud::http_response, stage::STAGE};

static PANEL: LazyLock<Panel> = LazyLock::new(|| {
    let long = Duration::from_secs(9);
    let timeouts = Timeouts { connect: long, whole: long, again: long };
    Panel::new(
        &format!("http://{}", STAGE.address),
        "halqa",
        &"TOKEN".into(),
        || Ok(Vec::new()),
        timeouts,
    )
    .expect("a panel")
});

pub(crate) fn run(input: &[u8]) {
    let stage = &*STAGE;
    stage.cloud.set_panel_response(if input.starts_with(b"HTTP/1.1 ") {
        input.to_vec()
    } else {
        http_response("200 OK", input)
    });
    stage.runtime.block_on(async {
        let domains = PANEL.domains(PANEL.probe_budget(Instant::now())).await;
        if let Some(domains) = known(domains) {
            let name = &domains.main_domain;
            assert!(
                !name.is_empty() && name.trim() == name && *name == name.to_lowercase(),
                "{name:?}"
            );
        }
        if let Some(all) = known(PANEL.databases(PANEL.probe_budget(Instant::now())).await) {
            assert!(all.iter().all(|one| one.disk_usage_bytes <= 1 << 53));
            assert!(
                all.chunk_by(|one, other| one.engine == other.engine)
                    .all(|some| some.is_sorted_by_key(|one| &one.name))
            );
        }
        let (label, root) =
            ("a".parse().expect("a label"), "example.org".parse().expect("a domain"));
        known(PANEL.add_subdomain(&label, &root, PANEL.probe_budget(Instant::now())).await);
    });
}

/// The value, or `None` for an error that may occur here and whose text fits into a log line without the token.
fn known<T>(result: Result<T, PanelError>) -> Option<T> {
    let error = match result {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    assert!(
        !matches!(
            error,
            PanelError::NotSent
                | PanelError::Unreachable(_)
                | PanelError::TimedOut
                | PanelError::TimedOutWaiting
        ),
        "{error}"
    );
    let message = error.to_string();
    assert!(
        message.chars().count() <= 500
            && !message.contains(char::is_control)
            && !message.contains("TOKEN"),
        "{message:?}"
    );
    None
}
