//! What examples need besides stored data: codes, an upload, a session, new accounts. Everything is created through
//! requests, as by `cargo dev seed`, and only in a store with the demonstration data.

use std::{sync::Arc, time::Duration};

use domain::{
    Instant, PasskeyId, UserId, ValueError,
    passkey::{Credential, Passkey},
    user::User,
};
use http::Method;
use identity::random;
use runtime::Clock;
use serde_json::{Value, json};
use store::{Store, Transaction};
use tokio::sync::Mutex;

use crate::{
    edge,
    home::LocalSettings,
    seed::{self, Client, text},
};
use cloud::{Cloud, LocalError};

/// How long prepared values are used again: shorter than the ten minutes in which codes are valid.
const LIFE: Duration = Duration::from_secs(8 * 60);
/// How often, and how many times, it is checked whether a message has arrived: three seconds in all.
const POLL: (Duration, usize) = (Duration::from_millis(30), 100);
/// The newest messages that are searched for codes.
const MESSAGES: usize = 200;
/// The password of new accounts.
const PASSWORD: &str = "huit cigognes sur le toit";
/// The administrator's phone number, and one that is opted out.
const PHONE: (&str, &str) = ("216", "20123100");
const NUMBER: &str = "+21620123199";

/// The accounts that the API reference signs in to, and the values that it prepares with them. Clones share the values.
#[derive(Clone)]
pub struct Demonstration {
    cloud: Cloud,
    clock: Clock,
    store: Store,
    anonymous: Client,
    email: String,
    password: String,
    prepared: Arc<Mutex<Option<Prepared>>>,
}

struct Prepared {
    at: Instant,
    /// The keys of the items that an example uses up, and what they were like.
    keys: Vec<[String; 2]>,
    states: Vec<Value>,
    admin: Client,
    values: Value,
}

impl Demonstration {
    /// The demonstration of the service with `settings`, whose super admin has `email` and `password`.
    ///
    /// # Errors
    /// When a setting or a key is missing or malformed.
    pub fn new(
        settings: &LocalSettings,
        cloud: Cloud,
        clock: Clock,
        email: &str,
        password: &str,
    ) -> Result<Self, LocalError> {
        let setup = seed::setup(settings, clock.clone())?;
        Ok(Self {
            anonymous: Client::new(edge(&setup)?),
            store: setup.store,
            cloud,
            clock,
            email: email.to_owned(),
            password: password.to_owned(),
            prepared: Arc::default(),
        })
    }

    /// The super admin and, of the demonstration data in `items`, the first person of each profile: `name`, `email`,
    /// `password` and, except for the super admin, `userID`.
    ///
    /// # Errors
    /// When the demonstration data is malformed.
    pub(crate) fn accounts(&self, items: &[Value]) -> Result<Vec<Value>, LocalError> {
        let people = seed::people()?;
        let admin =
            json!({ "name": "Super admin", "email": self.email, "password": self.password });
        let names = [("CA", "Committee admin"), ("TR", "Trainer"), ("MB", "Member")];
        let others = names.into_iter().filter_map(|(profile, name)| {
            let person = people.iter().find(|person| person["profile"] == profile)?;
            let email = person["email"].as_str()?;
            let is_theirs =
                |item: &&Value| item.pointer("/card/M/email/S").is_some_and(|is| is == email);
            let user = items.iter().filter(|item| item["sk"]["S"] == "USER").find(is_theirs)?;
            let id = text(&user["pk"]["S"]).strip_prefix("USER#")?;
            Some(json!({ "name": name, "email": email, "password": person["password"], "userID": id }))
        });
        Ok([admin].into_iter().chain(others).collect())
    }

    /// The values for examples; those of codes, the upload and the session are used again until one of them is used up.
    ///
    /// # Errors
    /// When the super admin cannot sign in with the password, or a request is rejected.
    pub(crate) async fn values(&self) -> Result<Value, LocalError> {
        let mut prepared = self.prepared.lock().await;
        let now = self.clock.now();
        let last = match prepared.take() {
            Some(last) if now.since(last.at) < LIFE && self.states(&last.keys)? == last.states => {
                last
            }
            _ => Box::pin(self.prepare(now)).await?,
        };
        let mut values = seed::with(&last.values, Box::pin(self.lasting(&last.admin)).await?);
        let new = random::id(now).simple().to_string();
        let new: String = new.chars().rev().take(12).collect();
        values["newEmail"] = json!(format!("nouveau-{new}@example.org"));
        values["newDomain"] = json!(format!("cours-{new}"));
        *prepared = Some(last);
        Ok(values)
    }

    async fn prepare(&self, now: Instant) -> Result<Prepared, LocalError> {
        let admin = self.anonymous.signed_in(&self.email, &self.password).await?;
        let me = admin.get("/auth/current-user").await?["user"].take();
        let id = text(&me["userID"]);
        if text(&me["phone"]).is_empty() {
            let (code, number) = PHONE;
            let phone = json!({ "phoneCode": code, "phone": number, "password": self.password });
            admin.send(Method::PUT, &format!("/users/{id}"), phone).await?;
        }
        let me = admin.get("/auth/current-user").await?["user"].take();
        let sessions = admin.get("/auth/sessions").await?["sessions"].take();
        let mut sessions = sessions.as_array().into_iter().flatten();
        let session = sessions.find(|session| session["current"] == true);
        let sid = session.map(|session| session["sid"].clone()).unwrap_or_default();
        let committees = self.anonymous.get("/committees").await?["committees"].take();
        let committee = committees[0]["committeeID"].clone();
        let text_sent = admin.send(Method::POST, "/users/phone-verification", Value::Null);
        // A number that is verified, or not reachable, gets no code.
        let _ = text_sent.await;

        let visitor = || self.visitor(&committee);
        let (mut verify, mut remove, mut reset, mut sign_in) =
            tokio::try_join!(visitor(), visitor(), visitor(), visitor())?;
        let ask =
            format!("/users/reset-password?sendMethode=email&email={}", text(&reset["email"]));
        self.anonymous.get(&ask).await?;
        let ask = json!({ "email": sign_in["email"], "sendMethode": "email" });
        self.anonymous.send(Method::POST, "/auth/passwordless", ask).await?;
        for (person, link) in [
            (&mut verify, "/email-verification#code="),
            (&mut remove, "/not-me#code="),
            (&mut reset, "/reset-password#code="),
            (&mut sign_in, "/passwordless#code="),
        ] {
            person["code"] = self.code(&person["email"], link).await;
        }
        let file = json!({ "name": "Plan.txt", "contentType": "text/plain", "visibility": "private", "text": "Plan" });
        let upload = seed::upload_file(&file, &admin).await?;

        let mut keys: Vec<[String; 2]> = [&verify, &remove, &reset, &sign_in]
            .map(|person| [format!("USER#{}", text(&person["userID"])), "USER".to_owned()])
            .into();
        keys.push([format!("FILE#{upload}"), "FILE".to_owned()]);
        keys.push([format!("USER#{id}"), format!("SESSION#{}", text(&sid))]);
        Ok(Prepared {
            at: now,
            states: self.states(&keys)?,
            keys,
            values: json!({
                "me": id, "phone": me, "sid": sid, "committee": committee, "upload": upload,
                "phoneCode": self.phone_code(&me), "email": self.email, "password": self.password,
                "verify": verify, "remove": remove, "reset": reset, "signIn": sign_in,
            }),
            admin,
        })
    }

    /// Registers an account that examples use up.
    async fn visitor(&self, committee: &Value) -> Result<Value, LocalError> {
        let email = format!("visiteur-{}@example.org", random::id(self.clock.now()).simple());
        let account = json!({
            "name": "Visiteur", "lastName": "Essai", "email": email, "password": PASSWORD, "committeeID": committee,
        });
        let created = self.anonymous.send(Method::POST, "/users/register", account).await?;
        Ok(json!({ "userID": created["user"]["userID"], "email": email }))
    }

    /// What stays in the store and is created only if it is not there: a file of the administrator, a text message, a
    /// batch and an opt-out.
    async fn lasting(&self, admin: &Client) -> Result<Value, LocalError> {
        let files = admin.get("/files/my-files?limit=100").await?["files"].take();
        let mut files = files.as_array().into_iter().flatten();
        let file = if let Some(file) = files.find(|file| file["status"] == "READY") {
            file["fileID"].clone()
        } else {
            let file = json!({ "name": "Programme.txt", "contentType": "text/plain", "visibility": "public", "text": "Programme" });
            let id = seed::upload_file(&file, admin).await?;
            let path = format!("/files/{id}/complete");
            admin.send(Method::POST, &path, Value::Null).await?;
            id.into()
        };
        let mut sms = admin.get("/sms?limit=1").await?["sms"][0]["smsID"].clone();
        if sms.is_null() {
            let message = json!({ "to": "+21620123198", "message": "Bonjour" });
            sms = admin.send(Method::POST, "/sms/single", message).await?["sms"]["smsID"].take();
            let batch =
                json!({ "recipients": ["+21620123197", "+21620123198"], "message": "Bonjour" });
            admin.send(Method::POST, "/sms/bulk", batch).await?;
        }
        let mut number = admin.get("/sms/opt-outs?limit=1").await?["optOuts"][0]["number"].clone();
        if number.is_null() {
            let path = format!("/sms/opt-outs/{NUMBER}");
            admin.send(Method::PUT, &path, Value::Null).await?;
            number = NUMBER.into();
        }
        let mut passkey = admin.get("/passkeys").await?["passkeys"][0]["passkeyID"].clone();
        if passkey.is_null() {
            let me = admin.get("/auth/current-user").await?["user"].take();
            passkey = self.passkey(text(&me["userID"])).await?;
        }
        let main_domain = self.cloud.uapi().shown()["mainDomain"].take();
        Ok(
            json!({ "file": file, "sms": sms, "number": number, "passkey": passkey, "mainDomain": main_domain }),
        )
    }

    /// Gives the account `id` a passkey that no authenticator has, to be renamed and removed.
    async fn passkey(&self, id: &str) -> Result<Value, LocalError> {
        let missing = || LocalError::new("The super admin has no account.");
        let user = self.store.user(UserId::or_none(id)).await?.ok_or_else(missing)?;
        let now = self.clock.now();
        let passkey_id = PasskeyId::new(random::id(now));
        let name = "Exemple".parse();
        let mut passkey = Passkey {
            passkey_id,
            user_id: user.user_id,
            name: name.map_err(|_: ValueError| LocalError::new("The name is invalid."))?,
            created_at: now,
            last_used_at: None,
            series: user.passkey_series,
            credential: Credential {
                credential_id: passkey_id.to_string(),
                public_key: String::new(),
                sign_count: 0,
                is_backup_eligible: false,
                is_backed_up: false,
                transports: Vec::new(),
            },
        };
        let add = |user: &User, tx: &mut Transaction| {
            passkey.series = user.passkey_series;
            tx.add_passkey(&passkey, user.committee_id);
            Ok(user.changed(|user| user.passkeys += 1))
        };
        let changed = |_| LocalError::new("The super admin's account has changed.");
        self.store.update_user(user, add, changed).await?;
        Ok(json!(passkey_id))
    }

    /// The code behind `link` in the newest mail to `email` that has such a link; `null` if none arrives.
    async fn code(&self, email: &Value, link: &str) -> Value {
        let (interval, times) = POLL;
        for _ in 0..times {
            let mails = self.cloud.recorder().newest_mails(MESSAGES);
            let mut mails = mails.iter().filter(|mail| mail["to"] == *email);
            if let Some(code) = mails.find_map(|mail| code_of_link(text(&mail["text"]), link)) {
                return code.into();
            }
            tokio::time::sleep(interval).await;
        }
        Value::Null
    }

    /// The code in the newest text message to the phone of `user`; `null` if there is none.
    fn phone_code(&self, user: &Value) -> Value {
        let number = format!("+{}{}", text(&user["phoneCode"]), text(&user["phone"]));
        let texts = self.cloud.recorder().newest_texts(MESSAGES);
        let mut texts = texts.iter().filter(|message| message["to"] == number);
        let code = texts.find_map(|message| {
            let mut runs = text(&message["text"]).split(|one: char| !one.is_ascii_digit());
            runs.find(|run| run.len() == 6)
        });
        code.map(Value::from).unwrap_or_default()
    }

    /// The version or status of each item; `null` for those that are gone.
    fn states(&self, keys: &[[String; 2]]) -> Result<Vec<Value>, LocalError> {
        let items = [self.cloud.items("records")?, self.cloud.items("transient")?].concat();
        let state = |[pk, sk]: &[String; 2]| {
            let mut items = items.iter();
            let found = items.find(|item| item["pk"]["S"] == *pk && item["sk"]["S"] == *sk);
            let of = |item: &Value| {
                json!([item.pointer("/card/M/version"), item.pointer("/card/M/status")])
            };
            found.map(of).unwrap_or_default()
        };
        Ok(keys.iter().map(state).collect())
    }
}

/// The letters that follow `link` in `text`.
fn code_of_link<'a>(text: &'a str, link: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(link)?;
    rest.split(|one: char| !one.is_ascii_alphabetic()).next()
}
