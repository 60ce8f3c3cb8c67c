//! `cargo dev seed`: creates demonstration data through requests to the API, so that all rules apply to it.

mod client;
mod messages;

use std::fmt::Display;

use bytes::Bytes;
use domain::Email;
use http::{Method, Request, header};
use http_body_util::Full;
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use runtime::Clock;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{Setup, Store};

use crate::{edge, home::LocalSettings};
use cloud::LocalError;

pub(crate) use client::Client;

/// The password of all demonstration accounts.
const PASSWORD: &str = "sept grenadiers en fleur";
/// The boundary of multipart forms; none of the files contains it.
const BOUNDARY: &str = "between-the-parts-of-a-form";

/// Creates the demonstration data unless it exists.
///
/// # Errors
/// When the administrator cannot sign in, or a request is rejected.
pub async fn fill(
    settings: &LocalSettings,
    clock: Clock,
    admin_email: &str,
    admin_password: &str,
) -> Result<(), LocalError> {
    let seed = Seed::read()?;
    let setup = setup(settings, clock)?;
    if seed.is_there(&setup.store).await? {
        return Ok(());
    }
    let anonymous = Client::new(edge(&setup)?);
    let admin = anonymous.signed_in(admin_email, admin_password).await.map_err(|error| {
        let settings = "LOCAL_ADMIN_EMAIL, LOCAL_ADMIN_PASSWORD";
        LocalError::new(format!("Seeding must sign in as the local administrator, with a password only ({settings}): {error}"))
    })?;
    seed.import(&anonymous, &admin, &setup).await.map_err(|error| {
        LocalError::new(format!(
            "{error} Data created before this error is kept: `cargo dev reset` deletes it."
        ))
    })
}

/// The setup of a service with `settings`, but without its limits on requests, registrations, files and text messages.
///
/// # Errors
/// When a setting or a key is missing or malformed.
pub(crate) fn setup(settings: &LocalSettings, clock: Clock) -> Result<Setup, LocalError> {
    let mut settings = settings.clone();
    settings
        .set("API_PREFIXES", "/api/v1")
        .set("REGISTRATION", "open")
        .set("SMS_COUNTRY_CODES", "216")
        .set("SMS_RATE_PER_SECOND", "1000");
    for limit in [
        "RATE_LIMIT",
        "REGISTER_PER_HOUR",
        "FILE_MAX_BYTES",
        "FILE_QUOTA_BYTES",
        "SMS_PER_USER_DAY",
        "SMS_PER_COMMITTEE_DAY",
    ] {
        settings.set(limit, "1000000");
    }
    settings.setup(clock)
}

/// The people of the demonstration data, as in `seed.json`, each with the `password` of their account.
///
/// # Errors
/// When the demonstration data is malformed.
pub(crate) fn people() -> Result<Vec<Value>, LocalError> {
    let people = Seed::read()?.people.into_iter();
    Ok(people.map(|person| with(&person, json!({ "password": PASSWORD }))).collect())
}

/// Whether the demonstration data was created: one of its people has an account.
///
/// # Errors
/// When the store does not answer.
pub async fn is_there(store: &Store) -> Result<bool, LocalError> {
    Seed::read()?.is_there(store).await
}

/// A text about who can sign in, for the welcome message; empty without demonstration data.
///
/// # Errors
/// As [`is_there`].
pub async fn welcome(store: &Store) -> Result<String, LocalError> {
    let seed = Seed::read()?;
    if !seed.is_there(store).await? {
        return Ok(String::new());
    }
    let lines: String = seed
        .people
        .iter()
        .filter(|person| person["shownAs"].is_string())
        .map(|person| {
            let (role, email) = (text(&person["shownAs"]), text(&person["email"]));
            format!("    {role:<25}{email}\n")
        })
        .collect();
    Ok(format!("\n  Demonstration data. Password of all accounts: {PASSWORD}\n\n{lines}"))
}

/// The content of `seed.json`. It refers to people and committees by their index.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seed {
    committees: Vec<Value>,
    people: Vec<Value>,
    courses: Vec<Value>,
    files: Vec<Value>,
    opt_outs: Vec<Value>,
    messages: Vec<Value>,
    batches: Vec<Value>,
}

impl Seed {
    fn read() -> Result<Self, LocalError> {
        serde_json::from_str(include_str!("seed.json")).map_err(|error| {
            LocalError::new(format!("The demonstration data is malformed: {error}."))
        })
    }

    async fn is_there(&self, store: &Store) -> Result<bool, LocalError> {
        for person in &self.people {
            let email: Email = text(&person["email"]).parse().map_err(|_| {
                LocalError::new("The demonstration data contains an invalid e-mail address.")
            })?;
            if store.email_owner(&email).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn import(
        &self,
        anonymous: &Client,
        admin: &Client,
        setup: &Setup,
    ) -> Result<(), LocalError> {
        let (mut committees, mut people) = (Vec::new(), Vec::new());
        for committee in &self.committees {
            // Registration needs an active committee; closed ones are closed at the end.
            let created = admin
                .send(Method::POST, "/committees", with(committee, json!({ "isActive": true })))
                .await?;
            committees.push(created["committee"]["committeeID"].clone());
        }
        for person in &self.people {
            people.push(
                register(person, at(&committees, &person["committee"])?, anonymous, admin).await?,
            );
        }
        messages::create_opt_outs(self, &people).await?;
        for course in &self.courses {
            create_course(course, at(&people, &course["author"])?).await?;
        }
        for file in &self.files {
            create_file(file, at(&people, &file["owner"])?).await?;
        }
        messages::create(self, &people, setup).await?;
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
}

/// Registers `person` in `committee`, sets profile, permissions and verification, signs in, and then deactivates them if
/// they are inactive.
async fn register(
    person: &Value,
    committee: &Value,
    anonymous: &Client,
    admin: &Client,
) -> Result<Client, LocalError> {
    let account = with(person, json!({ "password": PASSWORD, "committeeID": committee }));
    let created = anonymous.send(Method::POST, "/users/register", account).await?;
    let rights = json!({ "profile": person["profile"], "permissions": person["permissions"], "isVerified": person["isVerified"] });
    let id = text(&created["user"]["userID"]);
    admin.send(Method::PUT, &format!("/team/{id}"), rights).await?;
    let client = anonymous.signed_in(text(&person["email"]), PASSWORD).await?;
    if person["isActive"] == false {
        let status = json!({ "isActive": false });
        admin.send(Method::PUT, &format!("/users/user-status/{id}"), status).await?;
    }
    Ok(client)
}

async fn create_course(course: &Value, author: &Client) -> Result<(), LocalError> {
    let created = author.send(Method::POST, "/courses", course["course"].clone()).await?;
    let id = text(&created["course"]["courseID"]);
    if course["questions"].as_array().is_some_and(|questions| !questions.is_empty()) {
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
        "ARCHIVED" => {
            author.send(Method::DELETE, &format!("/courses/{id}"), Value::Null).await.map(drop)
        }
        _ => Ok(()),
    }
}

async fn create_file(file: &Value, owner: &Client) -> Result<(), LocalError> {
    let created = announce(file, owner).await?;
    if file["status"] == "PENDING" {
        return Ok(());
    }
    upload(file, &created["upload"]).await?;
    let id = text(&created["file"]["fileID"]);
    owner.send(Method::POST, &format!("/files/{id}/complete"), Value::Null).await.map(drop)
}

/// Uploads `file` without completing it, and returns its id.
pub(crate) async fn upload_file(file: &Value, owner: &Client) -> Result<String, LocalError> {
    let created = announce(file, owner).await?;
    upload(file, &created["upload"]).await?;
    Ok(text(&created["file"]["fileID"]).to_owned())
}

/// Creates the record of `file`, and returns it with the form for its upload.
async fn announce(file: &Value, owner: &Client) -> Result<Value, LocalError> {
    let size = json!({ "size": text(&file["text"]).len() });
    owner.send(Method::POST, "/files", with(file, size)).await
}

/// Uploads `file` to the bucket with `form`, as a browser does.
async fn upload(file: &Value, form: &Value) -> Result<(), LocalError> {
    let refused = |why: &dyn Display| {
        LocalError::new(format!("The bucket rejected the file {}: {why}.", file["name"]))
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
    let parts: String =
        fields.chain([part("name=\"file\"; filename=\"file\"", &file["text"])]).collect();
    let request = Request::post(text(&form["url"]))
        .header(header::CONTENT_TYPE, format!("multipart/form-data; boundary={BOUNDARY}"));
    let request = request
        .body(Full::<Bytes>::from(format!("{parts}--{BOUNDARY}--\r\n")))
        .map_err(|error| refused(&error))?;
    let sent = legacy::Client::builder(TokioExecutor::new())
        .build(HttpConnector::new())
        .request(request)
        .await;
    let status = sent.map_err(|error| refused(&error))?.status();
    if status.is_success() { Ok(()) } else { Err(refused(&status)) }
}

/// The element of `list` with the index `index`.
fn at<'a, T>(list: &'a [T], index: &Value) -> Result<&'a T, LocalError> {
    let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| list.get(index)).ok_or_else(|| {
        LocalError::new("The demonstration data contains an index that is out of range.")
    })
}

/// `object` with `more` fields.
pub(crate) fn with(object: &Value, more: Value) -> Value {
    let fields = [object.as_object(), more.as_object()].into_iter().flatten().flatten();
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The string `value`; empty for other types.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
