//! Requests and stream events through all functions: the edge, the dispatcher and the worker of a [`World`] with a
//! signed-in super admin and member, a course with a question, and a file. Inputs name them by placeholders. After a
//! request that changed something the World is replaced by a new one, so that the next input finds it as the first one did.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use background::Event;
use common::{ErrorCode, Message, if_match_holds, if_none_match_holds};
use data_encoding::BASE64;
use dev::delivery::Consumers;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use storage::avatar::Format;
use tests::{Document, LambdaAnswer as Answer, World};
use tokio::runtime::{Builder, Runtime};

use crate::{avatar::plain, text};

/// Even GET requests write counters and sessions, so a World is replaced after this number of inputs as well.
const INPUTS: u32 = 500;
const TAG: &str = "W/\"c-QETVAhUYmmve97quvZif9EL6tqM\"";

/// A static is never dropped, and the Tokio runtime must not be, whichever code ends the program.
static SERVICE: LazyLock<Mutex<Service>> = LazyLock::new(|| Mutex::new(Service::new()));

struct Service {
    world: World,
    /// The placeholders of inputs, and what they stand for. The first two are tokens.
    names: Vec<(String, String)>,
    inputs: u32,
    /// The World's cloud stops with it.
    runtime: Runtime,
}

impl Service {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (world, names) = runtime.block_on(prepare());
        Self { world, names, inputs: 0, runtime }
    }

    /// The service for the next input.
    fn next() -> MutexGuard<'static, Self> {
        let mut service = SERVICE.lock().unwrap_or_else(PoisonError::into_inner);
        service.inputs += 1;
        if service.inputs > INPUTS {
            *service = Self::new();
        }
        service
    }

    /// The response to an event; `None` if `event` is not JSON.
    fn answer(&mut self, event: &str) -> Option<Answer> {
        let mut event = event.to_owned();
        for (name, value) in &self.names {
            event = event.replace(name, value);
        }
        let event: Value = serde_json::from_str(&event).ok()?;
        let method = event["requestContext"]["http"]["method"].as_str().unwrap_or_default();
        let is_write = !["GET", "HEAD", "OPTIONS"].contains(&method);
        let answer = self.runtime.block_on(Answer::to(self.world.edge(), event));
        if is_write && answer.status_code < 300 {
            self.inputs = INPUTS;
        }
        Some(answer)
    }
}

async fn prepare() -> (World, Vec<(String, String)>) {
    let many = "1000000000";
    let settings = [("RATE_LIMIT", many), ("REGISTER_PER_HOUR", many), ("EDGE", "optional")];
    let world = World::with(&settings).await;
    let (admin, member) = (world.admin().await, world.member().await);
    let created = async |path: &str, body: Value| {
        let answer = admin.post(path, body).await;
        assert!(answer.status < 300, "{path}: {answer:?}");
        answer.json()
    };
    let course = created("/courses", json!({ "courseTitle": "Sécurité électrique" })).await;
    let course = course["course"]["courseID"].as_str().expect("an identifier").to_owned();
    let question = json!({ "language": "FR", "question": "Qui ?", "questionType": "SHORT_REPLY", "required": true });
    let questions = json!({ "questions": [question] });
    let questions = created(&format!("/courses/questions/{course}"), questions).await;
    let file = json!({ "name": "Plan.pdf", "contentType": "application/pdf", "size": 1000, "visibility": "public" });
    let file = created("/files", file).await;
    let string = |value: &Value| value.as_str().expect("an identifier").to_owned();
    let token = |token: &str| token.trim_start_matches("Bearer ").to_owned();
    let names = vec![
        ("$ADMIN".to_owned(), token(admin.token())),
        ("$MEMBER".to_owned(), token(member.token())),
        (id(1), world.committee().to_string()),
        (id(2), admin.user().user_id.to_string()),
        (id(3), member.user().user_id.to_string()),
        (id(4), course),
        (id(5), string(&questions["questions"][0]["questionID"])),
        (id(6), string(&file["file"]["fileID"])),
    ];
    (world, names)
}

/// The placeholder of an identifier.
fn id(number: u8) -> String {
    format!("0198c0de-0000-7000-8000-{number:012}")
}

/// Whether the input contains a placeholder of a token.
fn is_signed_in(input: &str) -> bool {
    ["$ADMIN", "$MEMBER"].iter().any(|name| input.contains(name))
}

/// A request in the text form of inputs.
struct Request<'a> {
    method: &'a str,
    target: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body: &'a [u8],
}

impl<'a> Request<'a> {
    fn read(input: &'a [u8]) -> Option<Self> {
        let end = input.windows(2).position(|two| two == b"\n\n");
        let (head, body) = end.map_or((input, &b""[..]), |end| (&input[..end], &input[end + 2..]));
        let mut lines = text(head)?.split('\n');
        let (method, target) = lines.next()?.split_once(' ')?;
        let headers = lines.filter_map(|line| line.split_once(": ")).collect();
        Some(Self { method, target, headers, body })
    }

    fn event(&self) -> Value {
        let (path, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        let (body, is_encoded) = text(self.body)
            .map_or_else(|| (BASE64.encode(self.body), true), |body| (body.to_owned(), false));
        // The last of several headers with the same name counts, as in a JSON object.
        let headers: Map<String, Value> = self
            .headers
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), Value::from(*value)))
            .collect();
        json!({
            "rawPath": path, "rawQueryString": query, "headers": headers, "body": body, "isBase64Encoded": is_encoded,
            "requestContext": { "http": { "method": self.method, "sourceIp": "203.0.113.7" } },
        })
    }

    /// The complete response of the service for the next input.
    fn answer(&self) -> Option<Answer> {
        let answer = Service::next().answer(&self.event().to_string())?;
        assert_complete(&answer);
        Some(answer)
    }
}

/// Checks that the response has the envelope of the service: status, request id, known code.
fn assert_complete(answer: &Answer) {
    let status = answer.status_code;
    assert!((200..500).contains(&status), "{answer:?}");
    assert!(
        answer.body.len() < 6_000_000 && answer.headers.contains_key("x-request-id"),
        "{answer:?}"
    );
    if answer.headers.get("content-type").is_none_or(|kind| !kind.starts_with("application/json"))
        || answer.body.is_empty()
    {
        return;
    }
    let body: Value = serde_json::from_str(&answer.body).expect("the body is JSON");
    assert_eq!(body["code"], status, "{}", answer.body);
    if status >= 400 {
        let code = body["message"]["RESPONSE_CODE"].as_str().expect("an error has a code");
        assert!(ErrorCode::ALL.iter().any(|error| error.code() == code), "{code}");
    } else if let Some(code) = body["message"]["RESPONSE_CODE"].as_str() {
        assert!(Message::ALL.iter().any(|message| message.code() == code), "{code}");
    }
}

/// Target `event`: every response is complete and never a 5xx, and routes that need a token reject requests without one.
/// An input is the JSON of an event, or method and path, header lines, an empty line and the body.
pub(crate) fn event(input: &[u8]) {
    if input.starts_with(b"{") {
        if let Some(answer) = text(input).and_then(|event| Service::next().answer(event)) {
            assert_complete(&answer);
        }
        return;
    }
    let Some(request) = Request::read(input) else { return };
    let Some(answer) = request.answer() else { return };
    let is_anonymous = !request.headers.iter().any(|(_, value)| is_signed_in(value));
    let succeeded = (200..300).contains(&answer.status_code) && request.method != "OPTIONS";
    let Request { method, target, .. } = request;
    assert!(
        !(is_anonymous && succeeded) || is_public(method, target),
        "{} without a token for {method} {target}",
        answer.status_code,
    );
}

/// Whether the operation of a request is public in the document.
fn is_public(method: &str, target: &str) -> bool {
    let method = if method == "HEAD" { "get".to_owned() } else { method.to_lowercase() };
    let path = Document::get().template(target).unwrap_or_default();
    Document::get().root()["paths"][path][method]["x-access"] == "public"
}

/// Target `form`: the first line of an input is the content type, the rest the body. Either the upload of an avatar is
/// rejected, or a small image without metadata is stored.
pub(crate) fn form(input: &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == b'\n');
    let (Some(content_type), Some(body)) = (parts.next().and_then(text), parts.next()) else {
        return;
    };
    let headers = vec![("authorization", "Bearer $MEMBER"), ("content-type", content_type)];
    let request = Request { method: "POST", target: "/api/v1/users/avatar", headers, body };
    let Some(answer) = request.answer() else { return };
    assert!([200, 400, 413, 415].contains(&answer.status_code), "{answer:?}");
    if answer.status_code == 200 {
        let body: Value = serde_json::from_str(&answer.body).expect("the body is JSON");
        let path = body["avatar"].as_str().expect("the picture has a path");
        let media = Request { method: "GET", target: path, headers: Vec::new(), body: b"" };
        // Of the same World: the next one does not have it.
        let mut service = SERVICE.lock().unwrap_or_else(PoisonError::into_inner);
        let media = service.answer(&media.event().to_string()).expect("the event is JSON");
        assert_eq!(media.status_code, 200, "{media:?}");
        let file = BASE64.decode(media.body.as_bytes()).expect("a binary body");
        plain(&file, if file.starts_with(b"\xff\xd8") { Format::Jpeg } else { Format::Png });
    }
}

/// Target `headers`, one per line: only a named entity tag matches, a preflight is always answered, and only a valid token
/// gives access.
pub(crate) fn headers(input: &[u8]) {
    let Some(written) = text(input) else { return };
    let lines = written.split('\n').filter_map(|line| line.split_once(": "));
    let headers: Vec<(&str, &str)> = lines.collect();
    check_conditions(&headers);
    for (method, target) in
        [("OPTIONS", "/api/v1/sms"), ("GET", "/health"), ("GET", "/api/v1/auth/check")]
    {
        let request = Request { method, target, headers: headers.clone(), body: b"" };
        let Some(answer) = request.answer() else { return };
        let is_tag = |(name, _): &&(&str, &str)| name.eq_ignore_ascii_case("if-none-match");
        let tag = headers.iter().rev().find(is_tag);
        match target {
            "/health" => assert!(
                answer.status_code == 200
                    || (answer.status_code == 304
                        && tag.is_some_and(|tag| tag.1.contains(['*', '"']))),
                "{answer:?}"
            ),
            "/api/v1/sms" => assert_eq!(answer.status_code, 204),
            _ if !is_signed_in(written) => assert_eq!(answer.status_code, 401),
            _ => {}
        }
    }
}

/// Checks `If-Match` and `If-None-Match` against a resource whose entity tag is [`TAG`].
fn check_conditions(written: &[(&str, &str)]) {
    let mut headers = HeaderMap::new();
    for (name, value) in written {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(*name), HeaderValue::try_from(*value))
        {
            headers.append(name, value);
        }
    }
    let is_fit = |value: &HeaderValue| {
        value.to_str().is_ok_and(|tags| tags.contains(&TAG[2..]))
            || value.as_bytes().contains(&b'*')
    };
    let fits = |name: &str| headers.get_all(name).iter().any(is_fit);
    assert!(
        !if_match_holds(&headers, TAG) || !headers.contains_key("if-match") || fits("if-match"),
        "{headers:?}"
    );
    assert!(if_none_match_holds(&headers, TAG) || fits("if-none-match"), "{headers:?}");
}

/// Target `stream`: dispatcher and worker report only records that they received as failed.
pub(crate) fn stream(input: &[u8]) {
    let (Ok(event), Ok(whole)) =
        (serde_json::from_slice::<Event>(input), serde_json::from_slice(input))
    else {
        return;
    };
    let received = strings(&whole);
    let service = Service::next();
    let Consumers { dispatcher, worker } = service.world.consumers().clone();
    let by_dispatcher = service.runtime.block_on(dispatcher.answer(event.clone()));
    let by_worker = service.runtime.block_on(worker.answer(event));
    // An error is one of a receipt or of feedback, which has no records.
    for handled in [by_dispatcher, by_worker].into_iter().flatten() {
        let handled = serde_json::to_value(handled).expect("a response for Lambda");
        for failed in handled["batchItemFailures"].as_array().into_iter().flatten() {
            let number = failed["itemIdentifier"].as_str();
            assert!(received.iter().any(|text| number == Some(text.as_str())), "{handled}");
        }
    }
}

/// All strings in `value`, at any depth.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(strings).collect(),
        Value::Object(object) => object.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}
