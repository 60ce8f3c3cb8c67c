//! Connection pools that do not outlive a freeze of the function.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use aws_smithy_http_client::{
    ConnectorBuilder,
    tls::{Provider, TlsContext, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::{
    http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector},
    orchestrator::HttpRequest,
};
use domain::Instant;

use crate::Clock;

/// Connections to a host are not used again after a longer pause than this. AWS keeps idle connections for longer, and a
/// process that uses a host more often notices which of its connections were closed.
const MAX_PAUSE: Duration = Duration::from_secs(20);

/// How connections are opened: by plain HTTP without a TLS configuration, else by TLS with ring.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) builder: ConnectorBuilder,
    pub(crate) tls: Option<TlsContext>,
}

impl Transport {
    /// A connector with an empty pool. The certificates are in memory; no file is read again.
    fn connector(&self) -> SharedHttpConnector {
        let builder = self.builder.clone();
        SharedHttpConnector::new(match &self.tls {
            None => builder.build_http(),
            Some(context) => builder
                .tls_provider(Provider::rustls(CryptoMode::Ring))
                .tls_context(context.clone())
                .build(),
        })
    }
}

/// Sends requests through connection pools, and opens a new pool for a host to which no request was sent for
/// [`MAX_PAUSE`].
///
/// Lambda freezes the process between invocations
/// (<https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html>). A connection that was closed
/// meanwhile looks open, and a request sent on it gets no response: a message would have an unknown outcome. While
/// frozen, timers of a pool do not run and monotonic clocks may stand still, so the time of day decides.
#[derive(Debug)]
pub(crate) struct Connections {
    transport: Transport,
    clock: Clock,
    /// The connector until the first pause, for all hosts.
    first: SharedHttpConnector,
    hosts: Mutex<HashMap<String, Pool>>,
}

#[derive(Debug)]
struct Pool {
    connector: SharedHttpConnector,
    last_used: Instant,
}

impl Connections {
    pub(crate) fn new(transport: Transport, clock: Clock) -> Self {
        Self { first: transport.connector(), transport, clock, hosts: Mutex::default() }
    }

    fn connector_to(&self, host: &str) -> SharedHttpConnector {
        let now = self.clock.now();
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = hosts
            .entry(host.to_owned())
            .or_insert_with(|| Pool { connector: self.first.clone(), last_used: now });
        // After a step of the clock the length of the pause is unknown.
        let pause = now.max(pool.last_used).since(now.min(pool.last_used));
        if pause > MAX_PAUSE {
            pool.connector = self.transport.connector();
        }
        pool.last_used = now;
        pool.connector.clone()
    }
}

impl HttpConnector for Connections {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        // Host and port are the third part of a URL.
        let host = request.uri().split('/').nth(2).unwrap_or_default();
        self.connector_to(host).call(request)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Write},
        net::{TcpListener, TcpStream},
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    use aws_smithy_http_client::Connector;
    use aws_smithy_types::body::SdkBody;
    use http::Request;

    use super::*;

    /// A server that keeps its connections open, and counts them.
    struct Server {
        url: String,
        accepted: Arc<AtomicUsize>,
    }

    impl Server {
        fn start() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}/", listener.local_addr().unwrap());
            let accepted = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&accepted);
            thread::spawn(move || {
                for stream in listener.incoming() {
                    count.fetch_add(1, Ordering::SeqCst);
                    thread::spawn(move || answer_all(stream.unwrap()));
                }
            });
            Self { url, accepted }
        }

        /// Sends one request through `connections`; returns how many connections the server has accepted so far.
        async fn after_request(&self, connections: &Connections) -> usize {
            let request = Request::get(&self.url).body(SdkBody::empty()).unwrap();
            let response = connections.call(request.try_into().unwrap()).await.unwrap();
            assert!(response.status().is_success());
            // Tasks of the pool take the connection back.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            self.accepted.load(Ordering::SeqCst)
        }
    }

    /// Responds to every request without a body.
    fn answer_all(mut stream: TcpStream) {
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        for line in lines.map_while(Result::ok) {
            if line.is_empty() {
                let response = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                stream.write_all(response).unwrap();
            }
        }
    }

    fn connections(clock: &Clock) -> Connections {
        let transport = Transport { builder: Connector::builder(), tls: None };
        Connections::new(transport, clock.clone())
    }

    #[tokio::test]
    async fn connection_is_not_used_again_after_a_pause() {
        let (clock, server) = (Clock::default(), Server::start());
        let connections = connections(&clock);
        assert_eq!(server.after_request(&connections).await, 1);
        clock.advance(Duration::from_secs(15));
        assert_eq!(server.after_request(&connections).await, 1);
        clock.advance(Duration::from_secs(25));
        assert_eq!(server.after_request(&connections).await, 2);
        assert_eq!(server.after_request(&connections).await, 2);
        clock.step_back(Duration::from_secs(25));
        assert_eq!(server.after_request(&connections).await, 3);
    }

    #[tokio::test]
    async fn pauses_are_measured_for_each_host() {
        let clock = Clock::default();
        let (mail, store) = (Server::start(), Server::start());
        let connections = connections(&clock);
        assert_eq!(mail.after_request(&connections).await, 1);
        for _ in 0..3 {
            assert_eq!(store.after_request(&connections).await, 1);
            clock.advance(Duration::from_secs(15));
        }
        assert_eq!(mail.after_request(&connections).await, 2);
    }
}
