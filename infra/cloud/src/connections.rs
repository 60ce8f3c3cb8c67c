//! Accepting connections.

use std::{net::SocketAddr, time::Duration};

use tokio::net::{TcpListener, TcpStream};

/// The pause after an error.
const PAUSE: Duration = Duration::from_millis(50);

/// The next connection to `listener`, and its peer. An error, such as too many open files, is temporary: it tries again
/// after a pause.
pub async fn next_connection(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                return (stream, peer);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
