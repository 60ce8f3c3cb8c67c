//! The last requests to the API: their responses, what each cost in the store, and the log lines that it wrote.
//!
//! Cost and lines belong to one request even if others run at the same time: the edge measures the cost in a task-local
//! meter (`store::metered`), and the lines are collected in another task-local.

use std::{
    cell::RefCell,
    collections::VecDeque,
    fmt::{Debug, Write},
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use common::{Edge, RequestCost};
use http::{Request, Response};
use runtime::Clock;
use store::Cost;
use tokio::sync::Semaphore;
use tracing::{
    Dispatch, Event, Level, Metadata, Subscriber, dispatcher,
    field::{Field, Visit},
    instrument::WithSubscriber,
    level_filters::LevelFilter,
    span,
};

/// The number of requests that are kept.
const KEPT: usize = 200;
/// Bodies above this size, in bytes, are pictures.
const LARGE: usize = 500_000;

tokio::task_local! {
    static LINES: RefCell<Vec<String>>;
}

/// An answered request. The query is left out, because it can contain codes.
#[derive(Debug, Clone)]
pub(crate) struct AnsweredRequest {
    pub(crate) at: domain::Instant,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) took: Duration,
    pub(crate) cost: Option<Cost>,
    pub(crate) lines: Vec<String>,
}

/// The last requests. Clones share them.
#[derive(Clone)]
pub(crate) struct RequestLog {
    clock: Clock,
    /// The level at which the process logs.
    pub(crate) level: LevelFilter,
    collector: Dispatch,
    /// Permits for requests with large bodies.
    large: Arc<Semaphore>,
    requests: Arc<Mutex<VecDeque<AnsweredRequest>>>,
}

impl RequestLog {
    /// An empty log. Lines go to the present subscriber as well.
    pub(crate) fn new(clock: Clock) -> Self {
        let level = LevelFilter::current();
        let subscriber = dispatcher::get_default(Dispatch::clone);
        Self {
            clock,
            level,
            collector: Dispatch::new(LineCollector { subscriber }),
            large: Arc::new(Semaphore::new(2)),
            requests: Arc::default(),
        }
    }

    /// The response of `edge` to `request` from `ip`, which is recorded.
    pub(crate) async fn answer(
        &self,
        edge: &Edge,
        request: Request<Bytes>,
        ip: IpAddr,
    ) -> Response<Bytes> {
        let (at, start) = (self.clock.now(), Instant::now());
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        // On Lambda a process answers one request at a time. Here several pictures of 180 MB would be decoded at once.
        let is_large = request.body().len() > LARGE;
        let _permit = if is_large { self.large.acquire().await.ok() } else { None };
        let answering = async {
            let response = edge.answer(request, ip).await;
            (response, LINES.with(RefCell::take))
        };
        let collected = answering.with_subscriber(self.collector.clone());
        let (response, lines) = LINES.scope(RefCell::default(), collected).await;
        let cost = response.extensions().get::<RequestCost>();
        let answered = AnsweredRequest {
            at,
            method,
            path,
            status: response.status().as_u16(),
            took: start.elapsed(),
            cost: cost.map(|cost| cost.0),
            lines,
        };
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push_front(answered);
        requests.truncate(KEPT);
        drop(requests);
        response
    }

    /// The last requests, newest first.
    pub(crate) fn newest_first(&self) -> Vec<AnsweredRequest> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.iter().cloned().collect()
    }
}

/// Collects the log lines of the request that runs, and passes everything on to `subscriber`.
struct LineCollector {
    subscriber: Dispatch,
}

impl Subscriber for LineCollector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        // Outside of a request there is no list, and nothing to collect.
        let _ = LINES.try_with(|lines| lines.borrow_mut().push(line.0));
        if self.subscriber.enabled(event.metadata()) {
            self.subscriber.event(event);
        }
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        self.subscriber.new_span(span)
    }

    fn record(&self, span: &span::Id, values: &span::Record<'_>) {
        self.subscriber.record(span, values);
    }

    fn record_follows_from(&self, span: &span::Id, follows: &span::Id) {
        self.subscriber.record_follows_from(span, follows);
    }

    fn enter(&self, span: &span::Id) {
        self.subscriber.enter(span);
    }

    fn exit(&self, span: &span::Id) {
        self.subscriber.exit(span);
    }

    fn clone_span(&self, id: &span::Id) -> span::Id {
        self.subscriber.clone_span(id)
    }

    fn try_close(&self, id: span::Id) -> bool {
        self.subscriber.try_close(id)
    }
}

/// A log line as the terminal shows it: level, message and fields.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
