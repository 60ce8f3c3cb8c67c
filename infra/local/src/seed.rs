//! `cargo dev seed`: demonstration data. It is brought in as a client would bring it, request by request, so
//! that all of it is valid by every rule.

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

use crate::{LocalError, home::LocalSettings, house};

/// Of everybody who is seeded.
const PASSWORD: &str = "sept grenadiers en fleur";
/// This machine by another address: what is counted here is not held against whoever tries the service next.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// Stands between the parts of a form, and in none of the files.
const BOUNDARY: &str = "between-the-parts-of-a-form";

/// Fills the store with the demonstration data, unless it was filled before: what the welcome says of it.
///
/// # Errors
/// When the administrator cannot sign in, or something is refused.
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
    let anybody = Client {
        edge: house(&settings.setup(clock)?)?,
        token: String::new(),
    };
    if !anybody.finds(&seed).await? {
        let admin = anybody.signed_in(admin_email, admin_password).await.map_err(|error| {
            let settings = "LOCAL_ADMIN_EMAIL, LOCAL_ADMIN_PASSWORD";
            LocalError::new(format!("Seeding needs the local administrator's password, and no more than that ({settings}): {error}"))
        })?;
        // A committee that was closed since is seen by him alone.
        if !admin.finds(&seed).await? {
            let half_done = |error| {
                format!(
                    "{error} What came before that stays: move the data folder away to begin anew."
                )
            };
            seed.bring(&anybody, &admin)
                .await
                .map_err(|error| LocalError::new(half_done(error)))?;
        }
    }
    Ok(seed.welcome())
}

/// What `seed.json` holds. People and committees are named by their places in their lists, from 0.
#[derive(Deserialize)]
struct Seed {
    committees: Vec<Value>,
    people: Vec<Value>,
    courses: Vec<Value>,
    files: Vec<Value>,
}

impl Seed {
    async fn bring(&self, anybody: &Client, admin: &Client) -> Result<(), LocalError> {
        let (mut committees, mut people) = (Vec::new(), Vec::new());
        for committee in &self.committees {
            // Nobody registers in a closed one.
            let made = admin
                .send(
                    Method::POST,
                    "/committees",
                    with(committee, json!({ "isActive": true })),
                )
                .await?;
            committees.push(made["committee"]["committeeID"].clone());
        }
        for person in &self.people {
            people.push(
                join(
                    person,
                    at(&committees, &person["committee"])?,
                    anybody,
                    admin,
                )
                .await?,
            );
        }
        for course in &self.courses {
            write(course, at(&people, &course["author"])?).await?;
        }
        for file in &self.files {
            keep(file, at(&people, &file["owner"])?).await?;
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
                .map_or("nobody", |one| text(&one["email"]))
        };
        let (trainer, administrator) = (of("TR"), of("CA"));
        format!(
            r#"
  Demonstration data is there: committees, people, courses and files. Everybody's password: {PASSWORD}

    Trainer                  {trainer}
    Committee administrator  {administrator}
"#
        )
    }
}

/// Has `person` register in `committee`, be what he is, and sign in.
async fn join(
    person: &Value,
    committee: &Value,
    anybody: &Client,
    admin: &Client,
) -> Result<Client, LocalError> {
    let account = with(
        person,
        json!({ "password": PASSWORD, "committeeID": committee }),
    );
    let made = anybody
        .send(Method::POST, "/users/register", account)
        .await?;
    let standing = json!({ "profile": person["profile"], "permissions": person["permissions"], "isVerified": person["isVerified"] });
    admin
        .send(
            Method::PUT,
            &format!("/team/{}", text(&made["user"]["userID"])),
            standing,
        )
        .await?;
    anybody.signed_in(text(&person["email"]), PASSWORD).await
}

async fn write(course: &Value, author: &Client) -> Result<(), LocalError> {
    let made = author
        .send(Method::POST, "/courses", course["course"].clone())
        .await?;
    let id = text(&made["course"]["courseID"]);
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

async fn keep(file: &Value, owner: &Client) -> Result<(), LocalError> {
    let made = owner
        .send(
            Method::POST,
            "/files",
            with(file, json!({ "size": text(&file["text"]).len() })),
        )
        .await?;
    upload(file, &made["upload"]).await?;
    owner
        .send(
            Method::POST,
            &format!("/files/{}/complete", text(&made["file"]["fileID"])),
            Value::Null,
        )
        .await
        .map(drop)
}

/// Sends `file` to the bucket by `form`, as a browser does.
async fn upload(file: &Value, form: &Value) -> Result<(), LocalError> {
    let refused = |why: &dyn Display| {
        LocalError::new(format!(
            "The bucket did not take the file {}: {why}.",
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

/// Somebody in front of the house, with the token that he has.
struct Client {
    edge: Edge,
    token: String,
}

impl Client {
    /// The body of the answer, if that is no refusal.
    async fn send(&self, method: Method, path: &str, body: Value) -> Result<Value, LocalError> {
        let asked = format!("{method} {path}");
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
        let request = request
            .body(body)
            .map_err(|error| LocalError::new(format!("{asked} cannot be asked: {error}.")))?;
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
                "{asked} was answered with {} {code}{fields}.",
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

    /// Whether the first committee of `seed` is there for this client.
    async fn finds(&self, seed: &Seed) -> Result<bool, LocalError> {
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

/// What stands in `list` at `place`.
fn at<'a, T>(list: &'a [T], place: &Value) -> Result<&'a T, LocalError> {
    let place = place.as_u64().and_then(|place| usize::try_from(place).ok());
    place
        .and_then(|place| list.get(place))
        .ok_or_else(|| LocalError::new("The demonstration data names somebody who is not in it."))
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

/// The text that `value` is, or nothing.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
