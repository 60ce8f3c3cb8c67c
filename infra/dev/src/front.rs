//! The HTTP/1.1 server of `cargo dev`, in the place of API Gateway. It reads whole bodies, passes requests with the
//! client's IP address to the [`Edge`], and keeps connections open. The local pages are served under names of this
//! machine only. The API is served under every name, as behind a gateway, but not to web pages of other machines: the
//! administrator's password is the same everywhere.

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
use common::{Edge, UnreadableRequest};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version, header,
    uri::Authority,
};
use http_body_util::BodyExt;
use hyper::{
    body::{Body, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::pages::{self, Pages};
use cloud::{host, next_connection};

/// The payload limit of API Gateway. Of a longer body only the beginning is passed on: enough to reject it.
const MAX_BODY: usize = 10 * 1024 * 1024;
/// The time-out for reading a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the rest of a body that is too large is read.
const DRAIN: Duration = Duration::from_secs(1);
/// A little longer than the `Keep-Alive` header promises, so that no client uses a closed connection.
const IDLE: Duration = Duration::from_secs(7);

/// Serves `edge` and, if given, the local pages on `listener` until the future is dropped.
pub async fn serve(listener: TcpListener, edge: Edge, pages: Option<Pages>) {
    let gateway = Arc::new(Gateway { edge, pages });
    loop {
        let (stream, peer) = next_connection(&listener).await;
        let gateway = Arc::clone(&gateway);
        let service = service_fn(move |request| {
            let gateway = Arc::clone(&gateway);
            async move { gateway.answer(request, peer).await }
        });
        tokio::spawn(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(IDLE)
                // A client may end its side of the connection before it reads the response (RFC 9112 §9.6).
                .half_close(true)
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

struct Gateway {
    edge: Edge,
    pages: Option<Pages>,
}

impl Gateway {
    /// Fails, which closes the connection, when the body is incomplete or does not arrive in time.
    async fn answer(
        &self,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> io::Result<Response<WholeBody>> {
        let (parts, body) = request.into_parts();
        let stays_open = parts.version == Version::HTTP_11 && !asks_to_close(&parts.headers);
        let body = if body.size_hint().lower() > MAX_BODY as u64 {
            too_large(body).await
        } else {
            let read = tokio::time::timeout(BODY_TIMEOUT, read_body(body));
            read.await.map_err(|_| io::ErrorKind::TimedOut)?.map_err(io::Error::other)?
        };
        let mut request = Request::from_parts(parts, body);
        if !has_one_host(&request) {
            request.extensions_mut().insert(UnreadableRequest);
        }
        let mut response = match &self.pages {
            Some(pages) if Pages::serves(request.uri().path()) => {
                if host::is_local(&request) {
                    pages.answer(&request).await
                } else {
                    host::refusal()
                }
            }
            _ if host::is_of_foreign_page(&request) => host::refusal(),
            Some(_) if request.uri().path() == "/" && request.method() == Method::GET => {
                pages::redirect(StatusCode::FOUND, "/_local")
            }
            Some(pages) => {
                let requests = &pages.requests;
                requests.answer(&self.edge, request, peer.ip()).await
            }
            None => self.edge.answer(request, peer.ip()).await,
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
        Ok(response.map(|body| WholeBody(Some(body))))
    }
}

/// Whether the request has the one valid `Host` that RFC 9112 §3.2 requires. HTTP/1.0 requires none.
fn has_one_host(request: &Request<Bytes>) -> bool {
    let hosts: Vec<_> = request.headers().get_all(header::HOST).iter().collect();
    match hosts.as_slice() {
        [] => request.version() != Version::HTTP_11,
        [host] => {
            Authority::try_from(host.as_bytes()).is_ok_and(|host| !host.as_str().contains('@'))
        }
        _ => false,
    }
}

/// A body that is announced as too large is not waited for: some of it is read, because clients read the response after
/// sending, and a body in its place that is rejected.
async fn too_large(body: Incoming) -> Bytes {
    let _ = tokio::time::timeout(DRAIN, read_body(body)).await;
    vec![b' '; MAX_BODY + 1].into()
}

fn asks_to_close(headers: &HeaderMap) -> bool {
    let words = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    words.map(str::trim).any(|word| word.eq_ignore_ascii_case("close"))
}

/// Reads the body, or the beginning of one that is too long. The rest is read and dropped, because clients read the
/// response only after sending the body.
async fn read_body(mut body: Incoming) -> hyper::Result<Bytes> {
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

/// A body in one piece. Unlike `Full`, an empty one reports its end only after the first poll: hyper then keeps the
/// `Content-Length: 0` of a 204, which clients of the API expect.
struct WholeBody(Option<Bytes>);

impl Body for WholeBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().filter(|body| !body.is_empty()).map(|body| Ok(Frame::data(body))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |body| body.len() as u64))
    }
}
