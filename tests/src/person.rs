//! People: they have an address, perhaps a token, and send requests.

use std::net::IpAddr;

use bytes::Bytes;
use common::Client;
use domain::{agent::Agent, login_activity::Location, user::User};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use serde_json::Value;

use crate::{Answer, Document, World};

/// Somebody at an address.
#[derive(Clone)]
pub struct Person {
    world: World,
    ip: IpAddr,
    user: Option<User>,
    headers: HeaderMap,
}

impl Person {
    pub(crate) fn new(world: World, ip: IpAddr) -> Self {
        Self {
            world,
            ip,
            user: None,
            headers: HeaderMap::new(),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client {
            ip: self.ip,
            network: self.ip.to_string(),
            agent: Agent::of(""),
            place: Location::default(),
        }
    }

    /// The same person, known to have the account `user`.
    #[must_use]
    pub fn as_user(self, user: User) -> Self {
        Self {
            user: Some(user),
            ..self
        }
    }

    /// The account that this person has.
    pub fn user(&self) -> &User {
        self.user.as_ref().expect("this person has an account")
    }

    /// The same person at another address.
    #[must_use]
    pub fn at(&self, ip: &str) -> Self {
        Self {
            ip: ip.parse().expect("an address"),
            ..self.clone()
        }
    }

    /// The same person in front of another process.
    #[must_use]
    pub fn before(&self, world: &World) -> Self {
        Self {
            world: world.clone(),
            ..self.clone()
        }
    }

    /// The same person with a header more; of one that stands there already, both are sent.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut person = self.clone();
        let name = HeaderName::try_from(name).expect("a header name");
        person.headers.append(
            name,
            HeaderValue::from_bytes(value.as_bytes()).expect("a header value"),
        );
        person
    }

    /// The same person with `token`, which reads `Bearer …`, as the one that he sends.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        let mut person = self.clone();
        person.headers.insert(
            header::AUTHORIZATION,
            token.parse().expect("a header value"),
        );
        person
    }

    /// The token that this person sends.
    pub fn token(&self) -> &str {
        self.headers
            .get(header::AUTHORIZATION)
            .expect("this person has a token")
            .to_str()
            .expect("visible text")
    }

    /// GET below `/api/v1`.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, &format!("/api/v1{path}"), Bytes::new())
            .await
    }

    /// DELETE below `/api/v1`.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, &format!("/api/v1{path}"), Bytes::new())
            .await
    }

    /// POST of JSON below `/api/v1`.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.json()
            .send(
                Method::POST,
                &format!("/api/v1{path}"),
                body.to_string().into(),
            )
            .await
    }

    /// The same, asked again while the answer is a 503, as whoever sends an `Idempotency-Key` may; ten times at most.
    pub async fn post_until_answered(&self, path: &str, body: Value) -> Answer {
        let mut answer = self.post(path, body.clone()).await;
        for _ in 0..9 {
            if answer.status != 503 {
                break;
            }
            answer = self.post(path, body.clone()).await;
        }
        answer
    }

    /// PUT of JSON below `/api/v1`.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.json()
            .send(
                Method::PUT,
                &format!("/api/v1{path}"),
                body.to_string().into(),
            )
            .await
    }

    /// The same person, who sends JSON.
    #[must_use]
    pub fn json(&self) -> Self {
        self.with("content-type", "application/json")
    }

    /// Any request to any path. The answer is held against the OpenAPI document.
    pub async fn send(&self, method: Method, path: &str, body: Bytes) -> Answer {
        let mut request = Request::new(body);
        *request.method_mut() = method.clone();
        *request.uri_mut() = path.parse().expect("a path");
        *request.headers_mut() = self.headers.clone();
        // on the heap, for a test that sends many would outgrow its stack
        let answer = Answer::new(Box::pin(self.world.edge().answer(request, self.ip)).await);
        Document::get().check(&method, path, &answer);
        answer
    }

    /// Signs in with `password`.
    pub async fn login(&self, email: &str, password: &str) -> Answer {
        self.post(
            "/auth/login",
            serde_json::json!({ "email": email, "password": password }),
        )
        .await
    }
}
