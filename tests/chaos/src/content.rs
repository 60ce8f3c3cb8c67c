//! Actions on courses, files, text messages and subdomains.

use std::time::{Duration, Instant};

use http::Request;
use serde_json::{Value, json};

use crate::{
    client::{Call, Expected, Outcome, Response, exchange},
    users::VirtualUser,
};

/// Maximum number of open courses per user.
const COURSES: usize = 12;
/// Separates the parts of a form.
const BOUNDARY: &str = "between-the-parts-of-a-form";
/// Maximum number of requests with one key.
const TRIES: usize = 4;
/// The opt-outs of many recipients are read eventually consistent, and again before each message is sent: for this long,
/// twice the injected delay, a batch may not take notice of a change of the list.
const SETTLING_TIME: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Course {
    pub(crate) id: String,
    /// The word in its title; empty while it may not exist.
    pub(crate) title: Expected<String>,
    pub(crate) state: Expected<&'static str>,
    pub(crate) questions: Vec<Question>,
    /// The version in the last response, if nothing has changed since.
    version: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) word: String,
    id: String,
    pub(crate) exists: Expected<bool>,
}

#[derive(Debug)]
pub(crate) struct StoredFile {
    pub(crate) id: String,
    pub(crate) text: String,
    /// Whether it is in the bucket.
    pub(crate) was_sent: Expected<bool>,
    /// Whether its completion was acknowledged.
    pub(crate) is_ready: bool,
    pub(crate) is_deleted: Expected<bool>,
}

/// Messages with one text.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) word: String,
    /// Empty for a single message, and without a response.
    pub(crate) batch_id: String,
    /// Identifier and number of each accepted message.
    pub(crate) accepted: Vec<(String, String)>,
    pub(crate) recipients: usize,
    pub(crate) outcome: Outcome,
}

impl Course {
    /// Whether it certainly exists and may be changed.
    fn is_open(&self) -> bool {
        let exists = self.title.exact().is_some_and(|title| !title.is_empty());
        exists && !self.state.allows(&"ARCHIVED")
    }

    fn record_version(&mut self, response: &Response) {
        self.version = match response.outcome {
            Outcome::Acknowledged => response.body["course"]["version"].as_u64(),
            Outcome::Refused => self.version,
            Outcome::Unknown => None,
        };
    }
}

fn content(word: &str) -> Value {
    json!({
        "courseTitle": format!("Cours {word}"), "description": "Trois jours pour apprendre à tenir des comptes.",
        "courseType": "ONLINE", "sectionOfMatter": "Gestion", "language": "FR", "contactEmail": "cours@example.org",
    })
}

/// Courses: created, replaced, published, returned to draft, archived, and their questions.
impl VirtualUser {
    pub(crate) async fn work_on_courses(&mut self) {
        let open: Vec<usize> =
            (0..self.courses.len()).filter(|at| self.courses[*at].is_open()).collect();
        let Some(at) = self.pick(&open) else {
            return self.create_course().await;
        };
        match self.random.below(100) {
            0..15 if open.len() < COURSES => self.create_course().await,
            0..35 => self.replace_course(at).await,
            35..45 => self.read_course(at).await,
            45..60 => self.move_course(at, "PUBLISHED").await,
            60..70 => self.move_course(at, "DRAFT").await,
            70..73 => self.move_course(at, "ARCHIVED").await,
            73..88 => self.add_questions(at).await,
            _ => self.remove_question(at).await,
        }
    }

    async fn create_course(&mut self) {
        let word = self.word();
        let (first, last) = (self.random.below(1 << 32), self.random.below(1 << 48));
        // Of two in three the caller chooses the identifier (RFC 9562, version 4).
        let own_id = format!("{first:08x}-0000-4000-8000-{last:012x}");
        let own_id = Some(own_id).filter(|_| self.random.below(3) > 0);
        let mut call = Call::new(&self.token, "POST /courses", content(&word));
        if let Some(id) = &own_id {
            call.line = format!("PUT /courses/{id}");
            call.header = Some(("If-None-Match", "*".to_owned()));
        }
        let response = self.client.send(&call).await;
        let outcome = self.record_word(&word, &response);
        // A course without a known identifier cannot be changed; it exists once at most.
        let id = own_id.unwrap_or_else(|| response.text("/course/courseID"));
        if outcome == Outcome::Refused || id.is_empty() {
            return;
        }
        let (mut title, state) = (Expected::new(String::new()), Expected::new("DRAFT"));
        title.write(outcome, word);
        let mut course = Course { id, title, state, questions: Vec::new(), version: None };
        course.record_version(&response);
        self.courses.push(course);
    }

    /// Replaces a course with the version of the last response, or with a stale one.
    async fn replace_course(&mut self, at: usize) {
        let word = self.word();
        let is_stale = self.random.below(8) == 0;
        let (mut body, version) = (content(&word), self.courses[at].version);
        if let Some(version) = version {
            body["version"] = (version - u64::from(is_stale)).into();
        }
        let response = self.call(&format!("PUT /courses/{}", self.courses[at].id), body).await;
        let outcome = self.record_word(&word, &response);
        if version.is_some() && is_stale && outcome == Outcome::Acknowledged {
            self.violation(format!("a course was replaced with a stale version: {word}"));
        }
        self.courses[at].title.write(outcome, word);
        self.courses[at].record_version(&response);
        let (id, state) = (self.courses[at].id.clone(), &self.courses[at].state);
        // Changes of drafts are not audited.
        if state.allows(&"PUBLISHED") {
            let is_published = state.is(&"PUBLISHED");
            self.audit(outcome, is_published, ("COURSE_UPDATED", id));
        }
    }

    /// Reads a course; the response must match what was written.
    async fn read_course(&mut self, at: usize) {
        let line = format!("GET /courses/{}", self.courses[at].id);
        let response = self.call(&line, Value::Null).await;
        let course = &mut self.courses[at];
        if response.is_done() {
            course.record_version(&response);
        }
        let title = response.text("/course/courseTitle").replace("Cours ", "");
        let state = response.text("/course/state");
        let fits = course.title.allows(&title) && course.state.0.iter().any(|one| *one == state);
        if response.status == 404 || (response.is_done() && !fits) {
            let what = format!("{course:?} is {title} {state}: {}", response.status);
            self.violation(what);
        }
    }

    async fn move_course(&mut self, at: usize, state: &'static str) {
        let (method, end, action) = match state {
            "PUBLISHED" => ("POST", "/publish", "COURSE_PUBLISHED"),
            "DRAFT" => ("POST", "/to-draft", "COURSE_RETURNED_TO_DRAFT"),
            _ => ("DELETE", "", "COURSE_ARCHIVED"),
        };
        let (id, before) = (self.courses[at].id.clone(), self.courses[at].state.clone());
        let response = self.call(&format!("{method} /courses/{id}{end}"), Value::Null).await;
        self.courses[at].state.write(response.outcome, state);
        self.courses[at].record_version(&response);
        // A course that is already in this state does not change, and no audit entry is written.
        if !before.is(&state) {
            self.audit(response.outcome, !before.allows(&state), (action, id));
        }
    }

    async fn add_questions(&mut self, at: usize) {
        let words: Vec<String> = (0..=self.random.below(3)).map(|_| self.word()).collect();
        let question =
            |word| json!({ "language": "FR", "question": word, "questionType": "SHORT_REPLY" });
        let questions: Vec<Value> = words.iter().map(question).collect();
        let line = format!("POST /courses/questions/{}", self.courses[at].id);
        let response = self.call(&line, json!({ "questions": questions })).await;
        for (place, word) in words.into_iter().enumerate() {
            let mut exists = Expected::new(false);
            exists.write(self.record_word(&word, &response), true);
            let id = response.text(&format!("/questions/{place}/questionID"));
            self.courses[at].questions.push(Question { word, id, exists });
        }
        // The response does not contain the course's new version.
        if response.outcome != Outcome::Refused {
            self.courses[at].version = None;
        }
    }

    async fn remove_question(&mut self, at: usize) {
        let is_known = |one: &Question| !one.id.is_empty() && one.exists.is(&true);
        let course = &self.courses[at];
        let Some(place) = course.questions.iter().position(is_known) else { return };
        let question = &course.questions[place].id;
        let line = format!("DELETE /courses/questions/{}/{question}", course.id);
        let outcome = self.call(&line, Value::Null).await.outcome;
        self.courses[at].questions[place].exists.write(outcome, false);
        if outcome != Outcome::Refused {
            self.courses[at].version = None;
        }
    }

    pub(crate) async fn make_subdomain(&mut self) {
        let word = self.word();
        let body = json!({ "domain": word, "rootdomain": "formation.example.org" });
        let outcome = self.call("POST /cpanel/subdomain", body).await.outcome;
        self.subdomains.push((word, outcome));
    }
}

/// Files: created, uploaded, completed, deleted.
impl VirtualUser {
    pub(crate) async fn keep_files(&mut self) {
        let kept: Vec<usize> =
            (0..self.files.len()).filter(|at| self.files[*at].is_deleted.is(&false)).collect();
        match (self.pick(&kept), self.random.below(10)) {
            (Some(at), 0..3) => {
                let line = format!("DELETE /files/{}", self.files[at].id);
                let outcome = self.call(&line, Value::Null).await.outcome;
                self.files[at].is_deleted.write(outcome, true);
            }
            (Some(at), 3..5) => self.complete_file(at).await,
            _ => self.create_file().await,
        }
    }

    async fn create_file(&mut self) {
        let word = self.word();
        let text = format!("Le fichier {word}");
        let body = json!({ "name": format!("{word}.txt"), "contentType": "text/plain", "size": text.len() });
        let response = self.call("POST /files", body).await;
        if self.record_word(&word, &response) != Outcome::Acknowledged {
            return;
        }
        let mut was_sent = Expected::new(false);
        // One file in eight is created and not uploaded.
        if self.random.below(8) > 0 {
            for _ in 0..2 {
                if !was_sent.is(&true) {
                    was_sent.write(upload(&response.body["upload"], &text).await, true);
                }
            }
        }
        let (id, is_deleted) = (response.text("/file/fileID"), Expected::new(false));
        self.files.push(StoredFile { id, text, was_sent, is_ready: false, is_deleted });
        self.complete_file(self.files.len() - 1).await;
    }

    async fn complete_file(&mut self, at: usize) {
        let line = format!("POST /files/{}/complete", self.files[at].id);
        let response = self.call(&line, Value::Null).await;
        let file = &mut self.files[at];
        file.is_ready |= response.is_done();
        let is_wrong = match response.status {
            409 => file.was_sent.is(&true),
            404 => true,
            _ => response.is_done() && file.was_sent.is(&false),
        };
        if is_wrong {
            let what = format!("{file:?} was completed: {response:?}");
            self.violation(what);
        }
    }
}

/// Sends `text` to the bucket with `form`, as a browser does.
async fn upload(form: &Value, text: &str) -> Outcome {
    let fields = form["fields"].as_object().into_iter().flatten();
    let fields =
        fields.map(|(name, value)| (format!("\"{name}\""), value.as_str().unwrap_or_default()));
    let mut body = String::new();
    for (name, value) in fields.chain([("\"file\"; filename=\"file\"".to_owned(), text)]) {
        body += &format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name={name}\r\n\r\n{value}\r\n"
        );
    }
    body += &format!("--{BOUNDARY}--\r\n");
    let request = Request::post(form["url"].as_str().unwrap_or_default())
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"));
    match exchange(None, request.body(body.into()).expect("a valid request")).await {
        Ok(Some((parts, _))) if parts.status.is_success() => Outcome::Acknowledged,
        Ok(Some((parts, _))) if parts.status.is_client_error() => Outcome::Refused,
        _ => Outcome::Unknown,
    }
}

/// Text messages: single ones, batches, and the opt-out list. A request of unknown outcome is repeated with its
/// idempotency key.
impl VirtualUser {
    pub(crate) async fn send_one(&mut self) {
        let word = self.word();
        // The first ten of these numbers may be on the opt-out list.
        let to = format!("+21620{:02}{:04}", self.number, self.random.below(40));
        let body = json!({ "to": to, "message": format!("Bonjour {word}") });
        let response = self.call_idempotently("POST /sms/single", &word, body).await;
        let outcome = self.record_word(&word, &response);
        self.check_opt_out(&to, response.is_done(), &response.code());
        let accepted = vec![(response.text("/sms/smsID"), to)];
        let batch_id = String::new();
        self.batches.push(Batch { word, batch_id, accepted, recipients: 1, outcome });
    }

    pub(crate) async fn send_many(&mut self) {
        let word = self.word();
        let is_list_settled = self.opt_outs_changed.elapsed() > SETTLING_TIME;
        let number = |at| format!("+21620{:02}{at:04}", self.number);
        let mut recipients: Vec<String> = (0..5 + self.random.below(60)).map(number).collect();
        // One number is duplicate, and one is malformed.
        recipients.extend([recipients[0].clone(), "+216".to_owned()]);
        let body = json!({ "recipients": recipients, "message": format!("Bonjour {word}") });
        let response = self.call_idempotently("POST /sms/bulk", &word, body).await;
        let outcome = self.record_word(&word, &response);
        let mut accepted = Vec::new();
        let results = response.body["results"].as_array().into_iter().flatten();
        for (result, to) in results.zip(&recipients) {
            let is_queued = result["status"] == "QUEUED";
            if is_queued {
                accepted
                    .push((result["smsID"].as_str().unwrap_or_default().to_owned(), to.clone()));
            }
            if is_list_settled {
                self.check_opt_out(
                    to,
                    is_queued,
                    result["RESPONSE_CODE"].as_str().unwrap_or_default(),
                );
            }
        }
        if response.is_done() && response.body["batch"]["accepted"] != accepted.len() {
            self.violation(format!("a batch does not add up: {}", response.body));
        }
        let (batch_id, recipients) = (response.text("/batch/batchID"), recipients.len());
        self.batches.push(Batch { word, batch_id, accepted, recipients, outcome });
    }

    pub(crate) async fn change_opt_out(&mut self) {
        let (method, adds, action) = match self.random.below(2) {
            0 => ("PUT", true, "OPT_OUT_ADDED"),
            _ => ("DELETE", false, "OPT_OUT_REMOVED"),
        };
        let at = self.random.below(self.opt_outs.len() as u64) as usize;
        let (number, before) = self.opt_outs[at].clone();
        let line = format!("{method} /sms/opt-outs/{}", number.replace('+', "%2B"));
        let outcome = self.call(&line, Value::Null).await.outcome;
        self.opt_outs[at].1.write(outcome, adds);
        self.opt_outs_changed = Instant::now();
        // A list that does not change has no audit entry.
        if !before.is(&adds) {
            self.audit(outcome, !before.allows(&adds), (action, self.committee.clone()));
        }
    }

    /// Sends the request with the key `word` until its outcome is known, and sometimes once more: the response must be
    /// the same.
    async fn call_idempotently(&mut self, line: &str, word: &str, body: Value) -> Response {
        let mut call = Call::new(&self.token, line, body);
        call.header = Some(("Idempotency-Key", word.to_owned()));
        let mut response = self.client.send(&call).await;
        let was_unknown = response.outcome == Outcome::Unknown;
        for _ in 1..TRIES {
            if response.outcome == Outcome::Unknown {
                response = self.client.send(&call).await;
            }
        }
        if !response.is_done() && was_unknown {
            // A rejected retry does not show the outcome of the first request.
            return Response::none(Outcome::Unknown);
        }
        if response.is_done() && self.random.below(4) == 0 {
            let again = self.client.send(&call).await;
            self.replays += u64::from(again.is_done());
            let is_same = again.is_replayed && again.body == response.body;
            if (again.is_done() && !is_same) || again.code() == "IDEMPOTENCY_KEY_REUSED_MESSAGE" {
                self.violation(format!("{line}, same key: {response:?}, then {again:?}"));
            }
        }
        response
    }

    /// A number that is certainly on the list must not be accepted, and the reverse.
    fn check_opt_out(&mut self, to: &str, was_accepted: bool, code: &str) {
        let Some((_, is_listed)) = self.opt_outs.iter().find(|(number, _)| number == to) else {
            return;
        };
        let was_listed = code == "RECIPIENT_OPTED_OUT_MESSAGE";
        if (was_accepted && is_listed.is(&true)) || (was_listed && is_listed.is(&false)) {
            let what = format!("{to} was accepted: {was_accepted}, on the list: {is_listed:?}");
            self.violation(what);
        }
    }
}
