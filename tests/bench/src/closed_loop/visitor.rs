//! One client: a trainer who is signed in, reads what people read and now and then changes what is his.

use std::{net::SocketAddr, time::Duration};

use bench::{
    load::{Client, request},
    trouble,
};
use local::Trouble;
use serde_json::{Value, json};

use crate::{mix::Kind, service::ADMIN};

const PASSWORD: &str = "sept grenadiers en fleur";
/// How many files each has announced.
const FILES: u64 = 3;

/// Somebody with an account, a course and files of his own.
pub(crate) struct Visitor {
    client: Client,
    address: SocketAddr,
    email: String,
    token: String,
    own: String,
    course: String,
    /// The version of the course that he has seen last.
    version: u64,
    /// Where the list of courses goes on.
    cursor: Option<String>,
    /// How often he has changed something.
    changes: u64,
}

impl Visitor {
    /// The administrator.
    ///
    /// # Errors
    /// When he is not let in.
    pub(crate) async fn administrator(address: SocketAddr) -> Result<Self, Trouble> {
        let mut visitor = Self::nobody(0, address, ADMIN.0.to_owned());
        visitor.sign_in(ADMIN.1).await?;
        Ok(visitor)
    }

    /// A new trainer with this number, in `committee`; `admin` makes him one.
    ///
    /// # Errors
    /// When anything is refused.
    pub(crate) async fn joining(
        number: usize,
        committee: &str,
        admin: &Self,
    ) -> Result<Self, Trouble> {
        let mut visitor = Self::nobody(
            number,
            admin.address,
            format!("trainer{number}@example.org"),
        );
        let account = json!({
            "name": "Amina", "lastName": "Ben Salah", "email": visitor.email, "password": PASSWORD, "committeeID": committee,
        });
        let made = visitor.send("POST", "/users/register", account).await?.0;
        let id = text(&made["user"]["userID"]);
        admin
            .send(
                "PUT",
                &format!("/team/{id}"),
                json!({ "profile": "TR", "isVerified": true }),
            )
            .await?;
        visitor.own = format!("/users/{id}");
        visitor.sign_in(PASSWORD).await?;
        let begun = visitor.send("POST", "/courses", visitor.wish()).await?.0;
        visitor.course = format!("/courses/{}", text(&begun["course"]["courseID"]));
        let published = visitor
            .send("POST", &format!("{}/publish", visitor.course), Value::Null)
            .await?
            .0;
        visitor.version = version(&published);
        for file in 0..FILES {
            let wish = json!({ "name": format!("Support {file}.pdf"), "contentType": "application/pdf", "size": 4096 });
            visitor.send("POST", "/files", wish).await?;
        }
        Ok(visitor)
    }

    fn nobody(number: usize, address: SocketAddr, email: String) -> Self {
        let (token, own, course) = Default::default();
        Self {
            client: Client::new(number),
            address,
            email,
            token,
            own,
            course,
            version: 0,
            cursor: None,
            changes: 0,
        }
    }

    /// The same with connections of his own that are new.
    pub(crate) fn again(self, number: usize) -> Self {
        Self {
            client: Client::new(number),
            ..self
        }
    }

    /// The committees that are open.
    pub(crate) async fn committees(&self) -> Result<Vec<String>, Trouble> {
        let page = self.send("GET", "/committees", Value::Null).await?.0;
        let open = page["committees"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|committee| committee["isActive"] == true);
        Ok(open
            .map(|committee| text(&committee["committeeID"]).to_owned())
            .collect())
    }

    /// Sends one request of this kind: how long it took.
    ///
    /// # Errors
    /// When it did not succeed.
    pub(crate) async fn ask(&mut self, kind: Kind) -> Result<Duration, Trouble> {
        let get = async |path: &str| self.send("GET", path, Value::Null).await;
        match kind {
            Kind::Health => get("/health").await.map(took),
            Kind::Check => get("/auth/check").await.map(took),
            Kind::CurrentUser => get("/auth/current-user").await.map(took),
            Kind::Files => get("/files/my-files").await.map(took),
            Kind::Course => get(&self.course).await.map(took),
            Kind::Search => get("/courses/search-all?q=securite+ateliers")
                .await
                .map(took),
            Kind::Courses => {
                let path = self
                    .cursor
                    .as_ref()
                    .map_or("/courses/search-all".to_owned(), |at| {
                        format!("/courses/search-all?cursor={at}")
                    });
                let (page, took) = get(&path).await?;
                // The second page follows the first; then he begins again.
                self.cursor = page["nextCursor"]
                    .as_str()
                    .filter(|_| self.cursor.is_none())
                    .map(str::to_owned);
                Ok(took)
            }
            Kind::ChangeOneself => {
                self.changes += 1;
                let name = if self.changes.is_multiple_of(2) {
                    "Amina"
                } else {
                    "Leïla"
                };
                self.send("PUT", &self.own, json!({ "name": name }))
                    .await
                    .map(took)
            }
            Kind::ChangeCourse => {
                self.changes += 1;
                let mut wish = self.wish();
                wish["version"] = self.version.into();
                let (changed, took) = self.send("PUT", &self.course, wish).await?;
                self.version = version(&changed);
                Ok(took)
            }
            Kind::Login => self.sign_in(PASSWORD).await,
        }
    }

    async fn sign_in(&mut self, password: &str) -> Result<Duration, Trouble> {
        let (signed_in, took) = self
            .send(
                "POST",
                "/auth/login",
                json!({ "email": self.email, "password": password }),
            )
            .await?;
        text(&signed_in["user"]["token"]).clone_into(&mut self.token);
        Ok(took)
    }

    /// What his course is to say.
    fn wish(&self) -> Value {
        json!({
            "courseTitle": "Sécurité électrique dans les ateliers", "courseSubTitle": format!("Habilitation niveau {}", self.changes % 3),
            "description": "Tout ce qu’il faut savoir, en trois jours. ".repeat(14), "courseType": "ONSITE",
            "sectionOfMatter": "Énergie", "region": "Sfax", "city": "Sfax", "location": "Centre de formation, salle 3",
            "contactEmail": self.email, "price": 250, "startAt": "2027-01-10", "endAt": "2027-01-12",
        })
    }

    /// The body of a success, and how long it took.
    async fn send(
        &self,
        method: &str,
        path: &str,
        body: Value,
    ) -> Result<(Value, Duration), Trouble> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = request(
            self.address,
            method,
            &format!("/api/v1{path}"),
            &self.token,
            &body,
        )?;
        let answer = self.client.send(request).await?;
        let body: Value = serde_json::from_slice(&answer.body).map_err(trouble)?;
        if answer.status.is_success() {
            return Ok((body, answer.took));
        }
        Err(Trouble::new(format!(
            "{} {}",
            answer.status.as_u16(),
            text(&body["message"]["RESPONSE_CODE"])
        )))
    }
}

fn took((_, took): (Value, Duration)) -> Duration {
    took
}

fn version(answer: &Value) -> u64 {
    answer["course"]["version"].as_u64().unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
