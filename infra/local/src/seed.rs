//! `cargo dev seed`: creates demonstration data through requests to the API, so that all rules apply to it.

use std::{fmt::Display, net::Ipv4Addr};

use bytes::Bytes;
use common::Edge;
use http::{Method, Request, header};
use http_body_util::Full;
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use runtime::Clock;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{LocalError, edge, home::LocalSettings};

/// The password of all demonstration accounts.
const PASSWORD: &str = "sept grenadiers en fleur";
/// Another address of this machine, so that these requests do not use up the limits of 127.0.0.1.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// The boundary of multipart forms; none of the files contains it.
const BOUNDARY: &str = "between-the-parts-of-a-form";

/// Creates the demonstration data unless it exists, and returns a text about it for the welcome message.
///
/// # Errors
/// When the administrator cannot sign in, or a request is rejected.
pub async fn fill(
    settings: &LocalSettings,
    clock: Clock,
    admin_email: &str,
    admin_password: &str,
) -> Result<String, LocalError> {
    let malformed =
        |error| LocalError::new(format!("The demonstration data is malformed: {error}."));
    let seed: Seed = serde_json::from_str(include_str!("seed.json")).map_err(malformed)?;
    let mut settings = settings.clone();
    settings
        .set("API_PREFIXES", "/api/v1")
        .set("REGISTRATION", "open");
    for limit in [
        "RATE_LIMIT",
        "REGISTER_PER_HOUR",
        "FILE_MAX_BYTES",
        "FILE_QUOTA_BYTES",
    ] {
        settings.set(limit, "1000000");
    }
    let anonymous = Client {
        edge: edge(&settings.setup(clock)?)?,
        token: String::new(),
    };
    if !anonymous.sees_first_committee(&seed).await? {
        let admin = anonymous.signed_in(admin_email, admin_password).await.map_err(|error| {
            let settings = "LOCAL_ADMIN_EMAIL, LOCAL_ADMIN_PASSWORD";
            LocalError::new(format!("Seeding must sign in as the local administrator, with a password only ({settings}): {error}"))
        })?;
        // If the committee was closed since, only the administrator sees it.
        if !admin.sees_first_committee(&seed).await? {
            let half_done = |error| {
                format!(
                    "{error} Data created before this error is kept: move the data folder away to start again."
                )
            };
            seed.import(&anonymous, &admin)
                .await
                .map_err(|error| LocalError::new(half_done(error)))?;
        }
    }
    Ok(seed.welcome())
}

/// The content of `seed.json`. It refers to people and committees by their index.
#[derive(Deserialize)]
struct Seed {
    committees: Vec<Value>,
    people: Vec<Value>,
    courses: Vec<Value>,
    files: Vec<Value>,
}

impl Seed {
    async fn import(&self, anonymous: &Client, admin: &Client) -> Result<(), LocalError> {
        let (mut committees, mut people) = (Vec::new(), Vec::new());
        for committee in &self.committees {
            // Registration needs an active committee; closed ones are closed at the end.
            let created = admin
                .send(
                    Method::POST,
                    "/committees",
                    with(committee, json!({ "isActive": true })),
                )
                .await?;
            committees.push(created["committee"]["committeeID"].clone());
        }
        for person in &self.people {
            people.push(
                register(
                    person,
                    at(&committees, &person["committee"])?,
                    anonymous,
                    admin,
                )
                .await?,
            );
        }
        for course in &self.courses {
            create_course(course, at(&people, &course["author"])?).await?;
        }
        for file in &self.files {
            create_file(file, at(&people, &file["owner"])?).await?;
        }
        for (_, id) in self
            .committees
            .iter()
            .zip(&committees)
            .filter(|(committee, _)| committee["isActive"] == false)
        {
            admin
                .send(
                    Method::PUT,
                    &format!("/committees/{}", text(id)),
                    json!({ "isActive": false }),
                )
                .await?;
        }
        Ok(())
    }

    fn welcome(&self) -> String {
        let of = |profile: &str| {
            self.people
                .iter()
                .find(|person| person["profile"] == profile)
                .map_or("none", |one| text(&one["email"]))
        };
        let (trainer, administrator) = (of("TR"), of("CA"));
        format!(
            r#"
  Demonstration data: committees, people, courses and files. Password of all accounts: {PASSWORD}

    Trainer                  {trainer}
    Committee administrator  {administrator}
"#
        )
    }
}

/// Registers `person` in `committee`, sets profile, permissions and verification, and signs in.
async fn register(
    person: &Value,
    committee: &Value,
    anonymous: &Client,
    admin: &Client,
) -> Result<Client, LocalError> {
    let account = with(
        person,
        json!({ "password": PASSWORD, "committeeID": committee }),
    );
    let created = anonymous
        .send(Method::POST, "/users/register", account)
        .await?;
    let rights = json!({ "profile": person["profile"], "permissions": person["permissions"], "isVerified": person["isVerified"] });
    admin
        .send(
            Method::PUT,
            &format!("/team/{}", text(&created["user"]["userID"])),
            rights,
        )
        .await?;
    anonymous.signed_in(text(&person["email"]), PASSWORD).await
}

async fn create_course(course: &Value, author: &Client) -> Result<(), LocalError> {
    let created = author
        .send(Method::POST, "/courses", course["course"].clone())
        .await?;
    let id = text(&created["course"]["courseID"]);
    if course["questions"]
        .as_array()
        .is_some_and(|questions| !questions.is_empty())
    {
        author
            .send(
                Method::POST,
                &format!("/courses/questions/{id}"),
                json!({ "questions": course["questions"] }),
            )
            .await?;
    }
    match text(&course["state"]) {
        "PUBLISHED" => author
            .send(Method::POST, &format!("/courses/{id}/publish"), Value::Null)
            .await
            .map(drop),
        "ARCHIVED" => author
            .send(Method::DELETE, &format!("/courses/{id}"), Value::Null)
            .await
            .map(drop),
        _ => Ok(()),
    }
}

async fn create_file(file: &Value, owner: &Client) -> Result<(), LocalError> {
    let created = owner
        .send(
            Method::POST,
            "/files",
            with(file, json!({ "size": text(&file["text"]).len() })),
        )
        .await?;
    upload(file, &created["upload"]).await?;
    owner
        .send(
            Method::POST,
            &format!("/files/{}/complete", text(&created["file"]["fileID"])),
            Value::Null,
        )
        .await
        .map(drop)
}

/// Uploads `file` to the bucket with `form`, as a browser does.
async fn upload(file: &Value, form: &Value) -> Result<(), LocalError> {
    let refused = |why: &dyn Display| {
        LocalError::new(format!(
            "The bucket rejected the file {}: {why}.",
            file["name"]
        ))
    };
    let part = |head: &str, content: &Value| {
        format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n{}\r\n",
            text(content)
        )
    };
    let fields = form["fields"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| part(&format!("name=\"{name}\""), value));
    let parts: String = fields
        .chain([part("name=\"file\"; filename=\"file\"", &file["text"])])
        .collect();
    let request = Request::post(text(&form["url"])).header(
        header::CONTENT_TYPE,
        format!("multipart/form-data; boundary={BOUNDARY}"),
    );
    let request = request
        .body(Full::<Bytes>::from(format!("{parts}--{BOUNDARY}--\r\n")))
        .map_err(|error| refused(&error))?;
    let sent = legacy::Client::builder(TokioExecutor::new())
        .build(HttpConnector::new())
        .request(request)
        .await;
    let status = sent.map_err(|error| refused(&error))?.status();
    if status.is_success() {
        Ok(())
    } else {
        Err(refused(&status))
    }
}

/// A client of the edge; without a sign-in `token` is empty.
struct Client {
    edge: Edge,
    token: String,
}

impl Client {
    /// Sends a request and returns the body; 4xx and 5xx are errors.
    async fn send(&self, method: Method, path: &str, body: Value) -> Result<Value, LocalError> {
        let endpoint = format!("{method} {path}");
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header(header::CONTENT_TYPE, "application/json");
        if !self.token.is_empty() {
            request = request.header(header::AUTHORIZATION, self.token.as_str());
        }
        let body = if body.is_null() {
            Bytes::new()
        } else {
            body.to_string().into()
        };
        let request = request.body(body).map_err(|error| {
            LocalError::new(format!("{endpoint} is not a valid request: {error}."))
        })?;
        let answer = self.edge.answer(request, ADDRESS.into()).await;
        let (status, body): (_, Value) = (
            answer.status(),
            serde_json::from_slice(answer.body()).unwrap_or_default(),
        );
        if status.is_client_error() || status.is_server_error() {
            let (code, errors) = (
                text(&body["message"]["RESPONSE_CODE"]),
                body["errors"].as_array().into_iter().flatten(),
            );
            let fields: String = errors
                .map(|error| {
                    format!(
                        ", {} {}",
                        text(&error["field"]),
                        text(&error["RESPONSE_CODE"])
                    )
                })
                .collect();
            return Err(LocalError::new(format!(
                "{endpoint} responded with {} {code}{fields}.",
                status.as_u16()
            )));
        }
        Ok(body)
    }

    async fn signed_in(&self, email: &str, password: &str) -> Result<Self, LocalError> {
        let answer = self
            .send(
                Method::POST,
                "/auth/login",
                json!({ "email": email, "password": password }),
            )
            .await?;
        let token = answer["user"]["token"]
            .as_str()
            .ok_or_else(|| LocalError::new("POST /auth/login asks for a one-time password."))?;
        Ok(Self {
            edge: self.edge.clone(),
            token: token.to_owned(),
        })
    }

    /// Whether this client sees the first committee of `seed`.
    async fn sees_first_committee(&self, seed: &Seed) -> Result<bool, LocalError> {
        let first = seed
            .committees
            .first()
            .map(|committee| &committee["nameLatin"]);
        let mut path = "/committees?limit=100".to_owned();
        loop {
            let page = self.send(Method::GET, &path, Value::Null).await?;
            if page["committees"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|committee| Some(&committee["nameLatin"]) == first)
            {
                return Ok(true);
            }
            let Some(cursor) = page["nextCursor"].as_str() else {
                return Ok(false);
            };
            path = format!("/committees?limit=100&cursor={cursor}");
        }
    }
}

/// The element of `list` with the index `index`.
fn at<'a, T>(list: &'a [T], index: &Value) -> Result<&'a T, LocalError> {
    let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| list.get(index)).ok_or_else(|| {
        LocalError::new("The demonstration data contains an index that is out of range.")
    })
}

/// `object` with `more` fields.
fn with(object: &Value, more: Value) -> Value {
    let fields = [object.as_object(), more.as_object()]
        .into_iter()
        .flatten()
        .flatten();
    fields
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The string `value`; empty for other types.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
