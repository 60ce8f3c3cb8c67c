//! Responses of cPanel: each is read within bounds or is a `PanelError`. An input is the body of a 200, or a complete
//! HTTP response if it begins with `HTTP/1.1 `.

use std::{sync::LazyLock, time::Duration};

use cpanel_client::{Panel, PanelError, Timeouts};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    runtime::{Builder, Runtime},
};

/// A static is never dropped, and the Tokio runtime must not be, whichever code ends the program.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));

static SERVER: LazyLock<TcpListener> = LazyLock::new(|| {
    RUNTIME.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port of this machine")
});

static PANEL: LazyLock<Panel> = LazyLock::new(|| {
    let long = Duration::from_secs(9);
    let timeouts = Timeouts { connect: long, whole: long, again: long };
    let url = format!("http://{}", SERVER.local_addr().expect("an address"));
    Panel::new(&url, "halqa", &"TOKEN".into(), || Ok(Vec::new()), timeouts).expect("a panel")
});

/// Sends `response` to every request, and closes each connection.
async fn serve(response: &[u8]) -> std::io::Result<()> {
    loop {
        let (mut stream, _) = SERVER.accept().await?;
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") && stream.read_buf(&mut request).await? > 0 {}
        stream.write_all(response).await?;
    }
}

pub(crate) fn run(input: &[u8]) {
    let response = if input.starts_with(b"HTTP/1.1 ") {
        input.to_vec()
    } else {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", input.len());
        [head.as_bytes(), input].concat()
    };
    LazyLock::force(&PANEL);
    RUNTIME.block_on(async {
        tokio::select! {
            served = serve(&response) => panic!("{served:?}"),
            () = ask() => {}
        }
    });
}

async fn ask() {
    let domains = PANEL.domains(PANEL.deadline()).await;
    if let Some(domains) = known(domains) {
        let name = &domains.main_domain;
        assert!(!name.is_empty() && *name == name.trim().to_lowercase(), "{name:?}");
    }
    if let Some(all) = known(PANEL.databases(PANEL.deadline()).await) {
        assert!(all.iter().all(|one| one.disk_usage_bytes <= 1 << 53));
        let mut engines = all.chunk_by(|one, other| one.engine == other.engine);
        assert!(engines.all(|some| some.is_sorted_by_key(|one| &one.name)));
    }
    let (label, root) = ("a".parse().expect("a label"), "example.org".parse().expect("a domain"));
    known(PANEL.add_subdomain(&label, &root, PANEL.deadline()).await);
}

/// The value, or `None` for an error that may occur here and whose text fits into a log line without the token.
fn known<T>(result: Result<T, PanelError>) -> Option<T> {
    use PanelError::{TimedOut, Unreachable};
    let error = match result {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    let cannot_occur = matches!(error, Unreachable(_) | TimedOut);
    assert!(!cannot_occur, "{error}");
    let message = error.to_string();
    assert!(message.chars().count() <= 500 && !message.contains(char::is_control), "{message:?}");
    assert!(!message.contains("TOKEN"), "{message:?}");
    None
}
