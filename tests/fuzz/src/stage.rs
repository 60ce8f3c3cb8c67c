//! The service under test: a [`World`] with a signed-in super admin and member, a course with a question, and a file.
//! Inputs name them by placeholders. After a request that changed something the World is replaced by a new one, so that
//! the next input finds it as the first one did.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use background::{Event, Handled};
use data_encoding::BASE64;
use dev::delivery::Consumers;
use serde_json::{Value, json};
pub(crate) use tests::LambdaAnswer as Answer;
use tests::World;
use tokio::runtime::{Builder, Runtime};

/// Even GET requests write counters and sessions, so a World is replaced after this number of inputs as well.
const INPUTS: u32 = 500;

pub(crate) static STAGE: Stage = Stage;

/// Access to the service of this process.
pub(crate) struct Stage;

/// A static is never dropped, and the Tokio runtime must not be, whichever code ends the program.
static CURRENT: LazyLock<Mutex<Service>> = LazyLock::new(|| Mutex::new(Service::new()));

struct Service {
    world: World,
    consumers: Consumers,
    /// The placeholders of inputs, and what they stand for. The first two are tokens.
    names: Vec<(String, String)>,
    inputs: u32,
    /// The World's cloud stops with it.
    runtime: Runtime,
}

impl Stage {
    /// The response to an event; `None` if `event` is not JSON.
    pub(crate) fn answer(&self, event: &str) -> Option<Answer> {
        let mut service = current();
        let event = service
            .names
            .iter()
            .fold(event.to_owned(), |event, (name, value)| event.replace(name, value));
        let event: Value = serde_json::from_str(&event).ok()?;
        let is_write = !["GET", "HEAD", "OPTIONS"]
            .iter()
            .any(|method| event["requestContext"]["http"]["method"] == *method);
        let answer = service.runtime.block_on(Answer::to(service.world.edge(), event));
        if is_write && answer.status_code < 300 {
            service.inputs = INPUTS;
        }
        Some(answer)
    }

    /// The bytes that the public `path` of an upload leads to.
    pub(crate) fn media(&self, path: &str) -> Vec<u8> {
        let service = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        let event = json!({ "rawPath": path, "headers": {}, "requestContext": { "http": { "method": "GET", "sourceIp": "203.0.113.7" } } });
        let answer = service.runtime.block_on(Answer::to(service.world.edge(), event));
        assert_eq!(answer.status_code, 200, "{answer:?}");
        BASE64.decode(answer.body.as_bytes()).expect("a binary body")
    }

    /// What dispatcher and worker do with `event`.
    pub(crate) fn handled(&self, event: &Event) -> impl Iterator<Item = Handled> {
        let service = current();
        let Consumers { dispatcher, worker } = service.consumers.clone();
        let by_dispatcher = service.runtime.block_on(dispatcher.answer(event.clone()));
        let by_worker = service.runtime.block_on(worker.answer(event.clone()));
        // An error is one of a receipt or of feedback, which has no records.
        [by_dispatcher, by_worker].into_iter().flatten()
    }

    /// Whether the input contains a placeholder of a token.
    pub(crate) fn is_signed_in(&self, input: &str) -> bool {
        ["$ADMIN", "$MEMBER"].iter().any(|name| input.contains(name))
    }
}

/// The service for the next input.
fn current() -> MutexGuard<'static, Service> {
    let mut service = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    service.inputs += 1;
    if service.inputs > INPUTS {
        *service = Service::new();
    }
    service
}

impl Service {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (world, names) = runtime.block_on(prepare());
        let consumers =
            Consumers::new(&|_| Ok(world.setup().clone())).expect("the settings are valid");
        Self { world, consumers, names, inputs: 0, runtime }
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
    let course = text(&course["course"]["courseID"]);
    let question = json!({ "language": "FR", "question": "Qui ?", "questionType": "SHORT_REPLY", "required": true });
    let questions = json!({ "questions": [question] });
    let questions = created(&format!("/courses/questions/{course}"), questions).await;
    let file = json!({ "name": "Plan.pdf", "contentType": "application/pdf", "size": 1000, "visibility": "public" });
    let file = created("/files", file).await;
    let token = |token: &str| token.trim_start_matches("Bearer ").to_owned();
    let names = vec![
        ("$ADMIN".to_owned(), token(admin.token())),
        ("$MEMBER".to_owned(), token(member.token())),
        (id(1), world.committee().to_string()),
        (id(2), admin.user().user_id.to_string()),
        (id(3), member.user().user_id.to_string()),
        (id(4), course),
        (id(5), text(&questions["questions"][0]["questionID"])),
        (id(6), text(&file["file"]["fileID"])),
    ];
    (world, names)
}

/// The placeholder of an identifier.
fn id(number: u8) -> String {
    format!("0198c0de-0000-7000-8000-{number:012}")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
