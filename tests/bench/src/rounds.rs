//! Rounds of one request: eight clients together, then one alone.

use std::{net::SocketAddr, time::Duration};

use bench::{
    load::{Client, percentile, request},
    trouble,
};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use local::Trouble;
use tokio::time::Instant;

const CLIENTS: usize = 8;

/// A request to repeat.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) name: &'a str,
    pub(crate) address: SocketAddr,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) token: &'a str,
    pub(crate) body: &'a str,
    /// How many a round sends.
    pub(crate) requests: usize,
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Figures {
    together: Vec<Duration>,
    alone: Vec<Duration>,
    took: Duration,
}

impl Figures {
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        percentile(&self.together, percent)
    }

    /// The median of one client alone.
    pub(crate) fn alone(&self) -> Duration {
        percentile(&self.alone, 50)
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.together.len() as f64 / self.took.as_secs_f64()
    }
}

/// One round of `target`: eight clients together, then one alone with a tenth as many requests.
pub(crate) async fn run(target: &Target<'_>, figures: &mut Figures) -> Result<(), Trouble> {
    let request = || {
        request(
            target.address,
            target.method,
            target.path,
            target.token,
            target.body,
        )
    };
    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (request, requests) = (request(), target.requests / CLIENTS);
            tokio::spawn(async move { repeat(&Client::new(number), request?, requests).await })
        })
        .collect();
    for client in clients {
        figures.together.extend(client.await.map_err(trouble)??);
    }
    figures.took += start.elapsed();
    figures.alone.extend(
        repeat(
            &Client::new(CLIENTS),
            request()?,
            (target.requests / 10).max(4),
        )
        .await?,
    );
    Ok(())
}

async fn repeat(
    client: &Client,
    request: Request<Full<Bytes>>,
    requests: usize,
) -> Result<Vec<Duration>, Trouble> {
    let mut durations = Vec::with_capacity(requests);
    for _ in 0..requests {
        let answer = client.send(request.clone()).await?;
        if answer.status.is_server_error() || answer.status == StatusCode::TOO_MANY_REQUESTS {
            return Err(Trouble::new(format!(
                "a request was answered with {}",
                answer.status
            )));
        }
        durations.push(answer.took);
    }
    Ok(durations)
}
