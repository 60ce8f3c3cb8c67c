//! Persons: HTTP clients with an IP address and, if signed in, a token.

use std::{fmt::Display, net::IpAddr, time::Instant};

use bytes::Bytes;
use common::{Client, Message};
use domain::{agent::Agent, login_activity::Location, user::User};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use serde_json::{Value, json};

use crate::{Answer, Document, PASSWORD, World};

/// A client of a [`World`]. Methods that change it return a copy.
#[derive(Clone)]
pub struct Person {
    world: World,
    ip: IpAddr,
    user: Option<User>,
    headers: HeaderMap,
}

impl Person {
    pub(crate) fn new(world: World, ip: IpAddr) -> Self {
        Self { world, ip, user: None, headers: HeaderMap::new() }
    }

    pub(crate) fn client(&self) -> Client {
        Client {
            ip: self.ip,
            network: self.ip.to_string(),
            site: None,
            agent: Agent::of(""),
            place: Location::default(),
        }
    }

    /// With the account `user`; the token stays the same.
    #[must_use]
    pub fn as_user(self, user: User) -> Self {
        Self { user: Some(user), ..self }
    }

    /// The account of this person, as it was at sign-in; panics without one.
    pub fn user(&self) -> &User {
        self.user.as_ref().expect("this person has an account")
    }

    /// At the IP address `ip`.
    #[must_use]
    pub fn at(&self, ip: &str) -> Self {
        Self { ip: ip.parse().expect("an address"), ..self.clone() }
    }

    /// The IP address.
    pub const fn ip(&self) -> IpAddr {
        self.ip
    }

    /// Sends requests to the process `world`.
    #[must_use]
    pub fn via(&self, world: &World) -> Self {
        Self { world: world.clone(), ..self.clone() }
    }

    /// Sends the header `name` too. A header that is set already is sent twice.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut person = self.clone();
        let name = HeaderName::try_from(name).expect("a header name");
        person
            .headers
            .append(name, HeaderValue::from_bytes(value.as_bytes()).expect("a header value"));
        person
    }

    /// Sends `token`, such as `Bearer …`, as the only `Authorization` header.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        let mut person = self.clone();
        person.headers.insert(header::AUTHORIZATION, token.parse().expect("a header value"));
        person
    }

    /// The value of the `Authorization` header; panics without one.
    pub fn token(&self) -> &str {
        self.headers
            .get(header::AUTHORIZATION)
            .expect("this person has a token")
            .to_str()
            .expect("visible text")
    }

    /// Sends GET `/api/v1{path}`.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, &format!("/api/v1{path}"), Bytes::new()).await
    }

    /// The items of `list` on all pages of GET `/api/v1{path}`.
    pub async fn pages(&self, path: &str, list: &str) -> Vec<Value> {
        self.pages_beside(path, list, async || ()).await
    }

    /// Like [`Person::pages`], with `change` after each page.
    pub async fn pages_beside(
        &self,
        path: &str,
        list: &str,
        mut change: impl AsyncFnMut(),
    ) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        for _ in 0..1000 {
            let joint = if path.contains('?') { '&' } else { '?' };
            let page = self.get(&format!("{path}{joint}{cursor}")).await.expect_ok();
            all.extend(page[list].as_array().expect("a list").clone());
            change().await;
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("cursor={next}"),
                None => return all,
            }
        }
        panic!("{path} has no end");
    }

    /// Sends DELETE `/api/v1{path}` without a body.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, &format!("/api/v1{path}"), Bytes::new()).await
    }

    /// Sends POST `/api/v1{path}` with a JSON body.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.json().send(Method::POST, &format!("/api/v1{path}"), body.to_string().into()).await
    }

    /// Like [`Person::post`], as [`until_answered`]. Repeating is safe with an `Idempotency-Key`.
    pub async fn post_until_answered(&self, path: &str, body: Value) -> Answer {
        until_answered(|| self.post(path, body.clone())).await
    }

    /// Sends PUT `/api/v1{path}` with a JSON body.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.json().send(Method::PUT, &format!("/api/v1{path}"), body.to_string().into()).await
    }

    /// Sends `Content-Type: application/json`.
    #[must_use]
    pub fn json(&self) -> Self {
        self.with("content-type", "application/json")
    }

    /// Sends a request to `path`, including its prefix, and validates the response against the OpenAPI document.
    pub async fn send(&self, method: Method, path: &str, body: Bytes) -> Answer {
        let mut request = Request::new(body);
        *request.method_mut() = method.clone();
        *request.uri_mut() = path.parse().expect("a path");
        *request.headers_mut() = self.headers.clone();
        // What a test has written, it may read: only requests that change something meet a stale store.
        if [Method::GET, Method::HEAD].contains(&method) {
            self.world.cloud().settle();
        }
        let (cloud, start) = (self.world.cloud(), Instant::now());
        let units = cloud.units();
        // Boxed, because a test with many requests would overflow its stack.
        let response = Box::pin(self.world.edge().answer(request, self.ip)).await;
        let answer = Answer::new(response, cloud.units() - units, start.elapsed());
        Document::get().check(&method, path, &answer);
        answer
    }

    /// Signs in to an account without a second factor; returns the body.
    pub async fn sign_in(&self, email: &str, password: &str) -> Value {
        self.login(email, password).await.expect_success(Message::LoginSuccess)
    }

    /// Sends PUT `/users/reset-password`.
    pub async fn change_password(&self, old: &str, new: &str) -> Answer {
        let body = json!({ "oldPassword": old, "newPassword": new, "confirmPassword": new });
        self.put("/users/reset-password", body).await
    }

    /// Sends PUT `/users/email-verification`.
    pub async fn verify_email(&self, email: impl Display, code: &str) -> Answer {
        let body = json!({ "email": email.to_string(), "code": code });
        self.put("/users/email-verification", body).await
    }

    /// Sends PUT `/users/{userId}` for the own account.
    pub async fn change_self(&self, change: Value) -> Answer {
        self.put(&format!("/users/{}", self.user().user_id), change).await
    }

    /// Requests the address `email` for the own account.
    pub async fn request_address(&self, email: impl Display) -> Answer {
        self.change_self(json!({ "email": email.to_string(), "password": PASSWORD })).await
    }

    /// Sets the Tunisian `number` of the own account, without its country code.
    pub async fn set_number(&self, number: &str) {
        let phone = json!({ "phoneCode": "216", "phone": number, "password": PASSWORD });
        self.change_self(phone).await.expect_success(Message::UserUpdated);
    }

    /// Opens or closes the account `id`, which must succeed.
    pub async fn set_active(&self, id: impl Display, is_active: bool) {
        let path = format!("/users/user-status/{id}");
        let answer = self.put(&path, json!({ "isActive": is_active })).await;
        answer.expect_success(Message::UserStatusUpdated);
    }

    /// Requests a code that signs in to the account with the address `email`; returns the body. It goes by `method`,
    /// `email` or `sms`.
    pub async fn ask_to_sign_in(&self, email: impl Display, method: &str) -> Value {
        let body = json!({ "email": email.to_string(), "sendMethode": method });
        self.post("/auth/passwordless", body).await.expect_success(Message::PasswordlessSent)
    }

    /// Requests a code that resets the password, likewise.
    pub async fn ask_to_reset(&self, email: impl Display, method: &str) {
        let path = format!("/users/reset-password?sendMethode={method}&email={email}");
        self.get(&path).await.expect_success(Message::ResetCodeSent);
    }

    /// Sends PUT `/team/{userId}`, which must succeed; returns the body.
    pub async fn change_member(&self, id: impl Display, change: Value) -> Value {
        let answer = self.put(&format!("/team/{id}"), change).await;
        answer.expect_success(Message::TeamMemberUpdated)
    }

    /// Sends DELETE `/api/v1{path}` with a JSON body.
    pub async fn delete_with(&self, path: &str, body: Value) -> Answer {
        self.json().send(Method::DELETE, &format!("/api/v1{path}"), body.to_string().into()).await
    }

    /// The number of sessions that `GET /auth/sessions` lists.
    pub async fn session_count(&self) -> usize {
        let listed = self.get("/auth/sessions").await.expect_ok();
        listed["sessions"].as_array().expect("a list").len()
    }

    /// Sends POST `/auth/login`.
    pub async fn login(&self, email: &str, password: &str) -> Answer {
        self.post("/auth/login", json!({ "email": email, "password": password })).await
    }
}

/// The answer to `request`, which is repeated while it is a 503 or `CONFLICT_MESSAGE`, at most thirty times in all: a busy
/// machine leaves too little time for transactions that conflict.
pub async fn until_answered<F: Future<Output = Answer>>(request: impl Fn() -> F) -> Answer {
    let mut answer = request().await;
    for _ in 0..29 {
        if !answer.is_to_be_repeated() {
            break;
        }
        answer = request().await;
    }
    answer
}
