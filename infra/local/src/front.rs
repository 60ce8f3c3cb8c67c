//! The front door of a laptop: plain HTTP/1.1 in front of the edge, as the gateway stands in front
//! of Lambda. It reads bodies whole, tells the edge who calls, and says that connections stay open.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use common::Edge;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Version, header};
use http_body_util::BodyExt;
use hyper::{
    body::{Body, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::pages::Pages;

/// What the gateway takes at most. Of a longer body the first bytes are enough to refuse it.
const MAX_BODY: usize = 10 * 1024 * 1024;
/// A body that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// A little longer than the `Keep-Alive` header promises, so that no client meets a closed door.
const IDLE: Duration = Duration::from_secs(7);

/// Serves `edge`, and the local pages if there are any, on `listener` until the future is dropped.
pub async fn serve(listener: TcpListener, edge: Edge, pages: Option<Pages>) {
    let front = Arc::new(Front { edge, pages });
    loop {
        // Too many open files is a passing error: the next one may go well.
        let Ok((stream, peer)) = listener.accept().await else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let front = Arc::clone(&front);
        let service = service_fn(move |request| {
            let front = Arc::clone(&front);
            async move { front.answer(request, peer).await }
        });
        tokio::spawn(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(IDLE)
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

struct Front {
    edge: Edge,
    pages: Option<Pages>,
}

impl Front {
    /// A body that breaks off, or never comes, ends its connection: half a request is none.
    async fn answer(
        &self,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> io::Result<Response<Whole>> {
        let (parts, body) = request.into_parts();
        let stays_open = parts.version == Version::HTTP_11 && !asks_to_close(&parts.headers);
        let body = tokio::time::timeout(PATIENCE, whole(body))
            .await
            .map_err(|_| io::ErrorKind::TimedOut)?;
        let request = Request::from_parts(parts, body.map_err(io::Error::other)?);
        let mut response = match &self.pages {
            Some(pages) if Pages::are_at(request.uri().path()) => pages.answer(&request).await,
            _ => self.edge.answer(request, peer.ip()).await,
        };
        if stays_open {
            response
                .headers_mut()
                .insert(header::CONNECTION, HeaderValue::from_static("keep-alive"));
            response.headers_mut().insert(
                HeaderName::from_static("keep-alive"),
                HeaderValue::from_static("timeout=5"),
            );
        }
        Ok(response.map(|body| Whole(Some(body))))
    }
}

fn asks_to_close(headers: &HeaderMap) -> bool {
    let words = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    words
        .map(str::trim)
        .any(|word| word.eq_ignore_ascii_case("close"))
}

/// The body, or the beginning of one that is too long; the rest is read and dropped, so that the
/// client hears the answer.
async fn whole(mut body: Incoming) -> hyper::Result<Bytes> {
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame?;
        if let Some(data) = frame.data_ref()
            && read.len() <= MAX_BODY
        {
            read.extend_from_slice(data);
        }
    }
    Ok(read.freeze())
}

/// A body in one piece. Unlike `Full`, an empty one has not ended before it was asked: only then
/// does hyper let the `Content-Length: 0` of a 204 pass, which clients of the interface expect.
struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(
            self.0
                .take()
                .filter(|body| !body.is_empty())
                .map(|body| Ok(Frame::data(body))),
        )
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |body| body.len() as u64))
    }
}
