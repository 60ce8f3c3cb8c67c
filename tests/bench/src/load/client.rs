//! A client: a signed-in trainer with their own account, course and files.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use bench::{
    Result, error,
    service::{EMAIL, PASSWORD, body_bytes, text},
};
use bytes::Bytes;
use futures_util::future::try_join_all;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use serde_json::{Value, json};
use tokio::time::timeout;

/// The kinds of requests, with their share per thousand.
pub(crate) const MIX: [(&str, u64); 10] = [
    ("GET /health", 20),
    ("GET /auth/check", 160),
    ("GET /auth/current-user", 150),
    ("GET /courses/search-all", 200),
    ("GET /courses/search-all?q=", 100),
    ("GET /courses/{courseId}", 220),
    ("GET /files/my-files", 98),
    ("PUT /users/{userId}", 25),
    ("PUT /courses/{courseId}", 25),
    ("POST /auth/login", 2),
];
/// Coprime to a thousand, so that each kind is spread evenly.
const STRIDE: u64 = 381;
/// The longest wait for a response: a Lambda function would have timed out, too.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The service closes idle connections after five seconds.
const IDLE: Duration = Duration::from_secs(4);

pub(crate) struct Client {
    http: legacy::Client<HttpConnector, Full<Bytes>>,
    address: SocketAddr,
    email: String,
    token: String,
    user: String,
    course: String,
    course_version: u64,
    /// The query of the second page of courses; empty if the first page is next.
    cursor: String,
    changes: u64,
}

/// Registers `count` trainers with the service at `address`.
pub(crate) async fn register(address: SocketAddr, count: usize) -> Result<Vec<Client>> {
    let mut admin = Client::new(0, address, EMAIL.to_owned());
    admin.sign_in().await?;
    let page = admin.api("GET", "/committees", &Value::Null).await?;
    let committee = text(&page["committees"][0]["committeeID"]);
    let registered = |number| Client::registered(number, &committee, &admin);
    let numbers: Vec<usize> = (0..count).collect();
    let mut clients = Vec::new();
    for group in numbers.chunks(8) {
        let group = group.iter().map(|number| registered(*number));
        clients.extend(try_join_all(group).await?);
    }
    Ok(clients)
}

impl Client {
    fn new(number: usize, address: SocketAddr, email: String) -> Self {
        Self {
            http: http_client(number),
            address,
            email,
            token: String::new(),
            user: String::new(),
            course: String::new(),
            course_version: 0,
            cursor: String::new(),
            changes: 0,
        }
    }

    /// This client with new connections.
    pub(crate) fn reconnected(self, number: usize) -> Self {
        Self { http: http_client(number), ..self }
    }

    async fn registered(number: usize, committee: &str, admin: &Self) -> Result<Self> {
        let mut client = Self::new(number, admin.address, format!("trainer{number}@example.org"));
        let account = json!({
            "name": "Amina", "lastName": "Ben Salah", "email": client.email, "password": PASSWORD, "committeeID": committee,
        });
        let created = client.api("POST", "/users/register", &account).await?;
        let user = text(&created["user"]["userID"]);
        let trainer = json!({ "profile": "TR", "isVerified": true });
        admin.api("PUT", &format!("/team/{user}"), &trainer).await?;
        client.user = format!("/users/{user}");
        client.sign_in().await?;
        let created = client.api("POST", "/courses", &client.course_body()).await?;
        client.course = format!("/courses/{}", text(&created["course"]["courseID"]));
        let path = format!("{}/publish", client.course);
        let published = client.api("POST", &path, &Value::Null).await?;
        client.course_version = version(&published);
        for file in 0..3 {
            let file = json!({ "name": format!("Support {file}.pdf"), "contentType": "application/pdf", "size": 4096 });
            client.api("POST", "/files", &file).await?;
        }
        Ok(client)
    }

    /// Sends the request with this number in the mix.
    pub(crate) async fn send_numbered(&mut self, number: u64) -> Result<()> {
        let mut place = number % 1000 * STRIDE % 1000;
        for (kind, share) in MIX {
            if place < share {
                let failed = |cause| error(format!("{kind}: {cause}"));
                return self.send(kind).await.map_err(failed);
            }
            place -= share;
        }
        Ok(())
    }

    async fn send(&mut self, kind: &str) -> Result<()> {
        let (method, path) = kind.split_once(' ').unwrap_or_default();
        self.changes += u64::from(method == "PUT");
        let (path, body) = match kind {
            "POST /auth/login" => return self.sign_in().await,
            "GET /courses/search-all" => (format!("{path}{}", self.cursor), Value::Null),
            "GET /courses/search-all?q=" => (format!("{path}securite+ateliers"), Value::Null),
            "GET /courses/{courseId}" => (self.course.clone(), Value::Null),
            "PUT /courses/{courseId}" => (self.course.clone(), self.course_body()),
            "PUT /users/{userId}" => {
                let name = ["Amina", "Leïla"][usize::from(self.changes % 2 == 1)];
                (self.user.clone(), json!({ "name": name }))
            }
            _ => (path.to_owned(), Value::Null),
        };
        let answer = self.api(method, &path, &body).await?;
        match kind {
            "PUT /courses/{courseId}" => self.course_version = version(&answer),
            // The first and the second page alternate.
            "GET /courses/search-all" if self.cursor.is_empty() => {
                let next = answer["nextCursor"].as_str();
                self.cursor = next.map_or(String::new(), |next| format!("?cursor={next}"));
            }
            "GET /courses/search-all" => self.cursor.clear(),
            _ => {}
        }
        Ok(())
    }

    async fn sign_in(&mut self) -> Result<()> {
        let body = json!({ "email": self.email, "password": PASSWORD });
        let answer = self.api("POST", "/auth/login", &body).await?;
        self.token = text(&answer["user"]["token"]);
        Ok(())
    }

    fn course_body(&self) -> Value {
        let mut body = json!({
            "courseTitle": "Sécurité électrique dans les ateliers", "courseSubTitle": format!("Habilitation niveau {}", self.changes % 3),
            "description": "Tout ce qu’il faut savoir, en trois jours. ".repeat(14), "courseType": "ONSITE",
            "sectionOfMatter": "Énergie", "region": "Sfax", "city": "Sfax", "location": "Centre de formation, salle 3",
            "contactEmail": self.email, "price": 250, "startAt": "2027-01-10", "endAt": "2027-01-12",
        });
        if self.course_version > 0 {
            body["version"] = self.course_version.into();
        }
        body
    }

    /// Sends a request, and returns the body of a 2xx response; any other status is an error.
    async fn api(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let uri = format!("http://{}/api/v1{path}", self.address);
        let mut request = Request::builder().method(method).uri(uri);
        if !self.token.is_empty() {
            request = request.header(header::AUTHORIZATION, &self.token);
        }
        let request = request.body(Full::new(body_bytes(body))).map_err(error)?;
        let answer = async {
            let response = self.http.request(request).await.map_err(error)?;
            let status = response.status();
            let body = response.into_body().collect().await.map_err(error)?;
            let body: Value = serde_json::from_slice(&body.to_bytes()).map_err(error)?;
            if status.is_success() {
                return Ok(body);
            }
            let code = &body["message"]["RESPONSE_CODE"];
            Err(error(format!("{status} {code}")))
        };
        timeout(TIMEOUT, answer).await.map_err(error)?
    }
}

/// A client with its own source address and without retries.
fn http_client(number: usize) -> legacy::Client<HttpConnector, Full<Bytes>> {
    let mut connector = HttpConnector::new();
    let [.., third, last] = u32::try_from(number + 1).unwrap_or(1).to_be_bytes();
    connector.set_local_address(Some(Ipv4Addr::new(127, 0, third, last).into()));
    connector.set_nodelay(true);
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    builder.retry_canceled_requests(false);
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
    builder.build(connector)
}

fn version(answer: &Value) -> u64 {
    answer["course"]["version"].as_u64().unwrap_or_default()
}
