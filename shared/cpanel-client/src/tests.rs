//! Tests the client against local TCP servers with valid and invalid responses.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};

use super::*;

const QUICK: Timeouts = Timeouts {
    connect: Duration::from_millis(300),
    whole: Duration::from_millis(300),
    again: Duration::from_millis(300),
};

/// A server that responds to every request with `answer` and closes the connection. With an empty `answer` it
/// sends nothing and keeps the connection open; with `drop` it closes at once. The receiver gets the requests.
async fn server(answer: &'static [u8]) -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap_or(0);
            let _ = sender.send(String::from_utf8_lossy(&request[..length]).into_owned());
            match answer {
                b"" => held.push(stream),
                b"drop" => drop(stream),
                answer => {
                    let _ = stream.write_all(answer).await;
                }
            }
        }
    });
    (base, requests)
}

fn panel(base: &str) -> Panel {
    Panel::new(base, "halqa", &SecretString::from("SECRETTOKEN"), || unreachable!(), QUICK).unwrap()
}

async fn domains_from(
    answer: &'static [u8],
) -> (Result<Domains, PanelError>, mpsc::UnboundedReceiver<String>) {
    let (base, requests) = server(answer).await;
    let panel = panel(&base);
    (panel.domains(panel.deadline()).await, requests)
}

#[tokio::test]
async fn add_subdomain_sends_one_request_with_credentials() {
    let (base, mut requests) =
        server(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"status\":1,\"data\":null}").await;
    let panel = panel(&base);
    let (label, root) = ("bücher".parse().unwrap(), "example.org".parse().unwrap());
    assert_eq!(panel.add_subdomain(&label, &root, panel.deadline()).await, Ok(()));
    let request = requests.recv().await.unwrap();
    assert!(
        request.starts_with("GET /execute/SubDomain/addsubdomain?domain=xn--bcher-kva&rootdomain=example.org HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(request.contains("\r\nauthorization: cpanel halqa:SECRETTOKEN\r\n"), "{request}");
    assert!(requests.try_recv().is_err(), "once");
}

#[tokio::test]
async fn invalid_response_is_classified_without_retry() {
    let malformed = |cause: &str| PanelError::Malformed(cause.to_owned());
    let mut cases = vec![
        (b"".as_slice(), PanelError::TimedOut),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<html>", malformed("it is no JSON")),
    ];
    for (head, expected) in [
        ("401 Unauthorized", PanelError::Auth(401)),
        ("403 Forbidden", PanelError::Auth(403)),
        ("302 Found\r\nlocation: http://127.0.0.1:9/", malformed("status 302")),
        ("429 Too Many Requests\r\nretry-after: 1", malformed("status 429")),
        ("503 Unavailable", malformed("status 503")),
    ] {
        let answer = format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\n\r\n");
        cases.push((answer.leak().as_bytes(), expected));
    }
    for (answer, expected) in cases {
        let (result, mut requests) = domains_from(answer).await;
        assert_eq!(result, Err(expected));
        assert!(requests.recv().await.is_some() && requests.try_recv().is_err(), "once");
    }
    for answer in [
        b"drop".as_slice(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{",
        b"rubbish\r\n\r\n",
    ] {
        let (result, mut requests) = domains_from(answer).await;
        assert!(matches!(result, Err(PanelError::ConnectionLost(_))), "{result:?}");
        assert!(requests.recv().await.is_some() && requests.try_recv().is_err(), "once");
    }
}

#[tokio::test]
async fn refused_connection_is_unreachable() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let panel = panel(&format!("http://{closed}"));
    let result = panel.domains(panel.deadline()).await;
    assert!(
        matches!(&result, Err(PanelError::Unreachable(cause)) if !cause.contains("SECRETTOKEN")),
        "{result:?}"
    );
}

fn panel_of(base: &str, user: &str, token: &str) -> Result<Panel, ConfigError> {
    let token = SecretString::from(token);
    Panel::new(base, user, &token, || Ok(Vec::new()), QUICK)
}

#[test]
fn invalid_setting_is_named_without_its_value() {
    let make = |base: &str, user: &str, token: &str| {
        panel_of(base, user, token).map(|_| ()).map_err(|problem| problem.to_string())
    };
    assert_eq!(make("https://cpanel.example.org:2083", "halqa", "TOKEN"), Ok(()));
    assert_eq!(make("http://127.0.0.1:2083/", "halqa", "TOKEN"), Ok(()));
    assert_eq!(make("http://[::1]:2083", "halqa", "TOKEN"), Ok(()));
    for base in [
        "",
        "cpanel.example.org",
        "http://cpanel.example.org",
        "ftp://127.0.0.1",
        "https://a:b@cpanel.example.org",
        "https://c.example.org/x",
        "https://c.example.org?x",
        "https://c.example.org/#x",
        "http://localhost:2083@c.example.org",
        "http://127.0.0.1.example.org",
    ] {
        let problem = make(base, "halqa", "TOKEN").unwrap_err();
        assert!(problem.starts_with("The setting CPANEL_URL "), "{base}: {problem}");
    }
    for user in ["", "a:b", "a b", "a\r\nb", "é"] {
        let problem = make("http://127.0.0.1", user, "TOKEN").unwrap_err();
        assert!(problem.starts_with("The setting CPANEL_USER "), "{user:?}: {problem}");
    }
    for token in ["", "a b", "rubb\nish"] {
        let problem = make("http://127.0.0.1", "halqa", token).unwrap_err();
        assert_eq!(problem, "The setting CPANEL_TOKEN must be a token in visible ASCII.");
    }
}

#[test]
fn invalid_certificate_file_is_named() {
    let (token, roots) = (SecretString::from("T"), || Ok(b"rubbish".to_vec()));
    let broken = Panel::new("https://c.example.org", "halqa", &token, roots, QUICK);
    assert!(broken.map(|_| ()).unwrap_err().to_string().starts_with("The setting SSL_CERT_FILE "));
}

#[test]
fn fingerprint_depends_on_url_user_and_token() {
    let of = |base: &str, user: &str, token: &str| panel_of(base, user, token).unwrap().fingerprint;
    let first = of("http://127.0.0.1:1", "a", "b");
    assert_eq!((first.len(), &first), (64, &of("http://127.0.0.1:1/", "a", "b")));
    for other in [
        of("http://127.0.0.1:2", "a", "b"),
        of("http://127.0.0.1:1", "b", "b"),
        of("http://127.0.0.1:1", "a", "c"),
    ] {
        assert_ne!(first, other);
    }
}
