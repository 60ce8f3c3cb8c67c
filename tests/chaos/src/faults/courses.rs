//! Courses: created, replaced, published, returned to draft, archived, and their questions.

use serde_json::{Value, json};

use crate::{
    client::{Call, Response},
    expected::{Expected, ExpectedCourse, ExpectedQuestion, Outcome},
    virtual_user::VirtualUser,
};

/// Maximum number of open courses per user.
const MOST: usize = 12;

impl ExpectedCourse {
    /// Whether it certainly exists and may be changed.
    fn is_open(&self) -> bool {
        let title = self.title.exact();
        title.is_some_and(|title| !title.is_empty()) && !self.state.allows(&"ARCHIVED")
    }

    fn record_version(&mut self, response: &Response) {
        self.version = match response.outcome() {
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

impl VirtualUser {
    pub(crate) async fn work_on_courses(&mut self, token: &str) {
        let open = (0..self.courses.len()).filter(|at| self.courses[*at].is_open());
        let open: Vec<usize> = open.collect();
        let Some(at) = Self::pick(&mut self.random, &open) else {
            return self.create_course(token).await;
        };
        match self.random.below(100) {
            0..15 if open.len() < MOST => self.create_course(token).await,
            0..35 => self.replace_course(token, at).await,
            35..45 => self.read_course(token, at).await,
            45..60 => self.move_course(token, at, "PUBLISHED").await,
            60..70 => self.move_course(token, at, "DRAFT").await,
            70..73 => self.move_course(token, at, "ARCHIVED").await,
            73..88 => self.add_questions(token, at).await,
            _ => self.remove_question(token, at).await,
        }
    }

    async fn create_course(&mut self, token: &str) {
        let word = self.word();
        let has_id = self.random.below(3) > 0;
        let id = self.identifier();
        let call = if has_id {
            Call::new("PUT", format!("/courses/{id}")).header("If-None-Match", "*")
        } else {
            Call::new("POST", "/courses")
        };
        let response = self.call(token, call.json(content(&word))).await;
        let outcome = self.record_word(&word, &response);
        // A course without a known identifier cannot be changed; it exists once at most.
        let created = response.text("/course/courseID");
        let id = if has_id { id } else { created };
        if outcome == Outcome::Refused || id.is_empty() {
            return;
        }
        let mut course = ExpectedCourse {
            id,
            title: Expected::new(String::new()),
            state: Expected::new("DRAFT"),
            questions: Vec::new(),
            version: None,
        };
        course.title.write(outcome, word);
        course.record_version(&response);
        self.courses.push(course);
    }

    /// Replaces a course with the version of the last response, or with a stale one.
    async fn replace_course(&mut self, token: &str, at: usize) {
        let word = self.word();
        let is_stale = self.random.below(8) == 0;
        let version = self.courses[at].version;
        let mut body = content(&word);
        if let Some(version) = version {
            body["version"] = (version - u64::from(is_stale)).into();
        }
        let call = Call::new("PUT", format!("/courses/{}", self.courses[at].id));
        let response = self.call(token, call.json(body)).await;
        let outcome = self.record_word(&word, &response);
        if version.is_some() && is_stale && outcome == Outcome::Acknowledged {
            self.violation(&format!("a course was replaced with a stale version: {word}"));
        }
        self.courses[at].title.write(outcome, word);
        self.courses[at].record_version(&response);
    }

    /// Reads a course; the response must match what was written.
    async fn read_course(&mut self, token: &str, at: usize) {
        let call = Call::new("GET", format!("/courses/{}", self.courses[at].id));
        let response = self.call(token, call).await;
        let course = &mut self.courses[at];
        if response.status == 404 {
            let what = format!("the course {} is gone", course.id);
            return self.violation(&what);
        }
        if !response.is_done() {
            return;
        }
        course.record_version(&response);
        let title = response.text("/course/courseTitle").replace("Cours ", "");
        let state = response.text("/course/state");
        if !course.title.allows(&title) || !course.state.all().contains(&state.as_str()) {
            let (id, titles, states) = (&course.id, &course.title, &course.state);
            let what = format!("the course {id} is {title} {state}, not {titles:?} {states:?}");
            self.violation(&what);
        }
    }

    async fn move_course(&mut self, token: &str, at: usize, state: &'static str) {
        let (method, end, action) = match state {
            "PUBLISHED" => ("POST", "/publish", "COURSE_PUBLISHED"),
            "DRAFT" => ("POST", "/to-draft", "COURSE_RETURNED_TO_DRAFT"),
            _ => ("DELETE", "", "COURSE_ARCHIVED"),
        };
        let (id, before) = (self.courses[at].id.clone(), self.courses[at].state.clone());
        let call = Call::new(method, format!("/courses/{id}{end}"));
        let response = self.call(token, call).await;
        self.courses[at].state.write(response.outcome(), state);
        self.courses[at].record_version(&response);
        // A course that is already in this state does not change, and no audit entry is written.
        if !before.is_exactly(&state) {
            self.record_audited(response.outcome(), !before.allows(&state), action, id);
        }
    }

    async fn add_questions(&mut self, token: &str, at: usize) {
        let words: Vec<String> = (0..=self.random.below(3)).map(|_| self.word()).collect();
        let question =
            |word| json!({ "language": "FR", "question": word, "questionType": "SHORT_REPLY" });
        let questions: Vec<Value> = words.iter().map(question).collect();
        let path = format!("/courses/questions/{}", self.courses[at].id);
        let call = Call::new("POST", path).json(json!({ "questions": questions }));
        let response = self.call(token, call).await;
        for (place, word) in words.into_iter().enumerate() {
            let mut exists = Expected::new(false);
            exists.write(self.record_word(&word, &response), true);
            let id = response.text(&format!("/questions/{place}/questionID"));
            let question = ExpectedQuestion { word, id, exists };
            self.courses[at].questions.push(question);
        }
        // The response does not contain the course's new version.
        if response.outcome() != Outcome::Refused {
            self.courses[at].version = None;
        }
    }

    async fn remove_question(&mut self, token: &str, at: usize) {
        let mut questions = self.courses[at].questions.iter();
        let is_known = |one: &ExpectedQuestion| !one.id.is_empty() && one.exists.is_exactly(&true);
        let Some(place) = questions.position(is_known) else {
            return;
        };
        let course = &self.courses[at];
        let id = &course.questions[place].id;
        let path = format!("/courses/questions/{}/{id}", course.id);
        let outcome = self.call(token, Call::new("DELETE", path)).await.outcome();
        let course = &mut self.courses[at];
        course.questions[place].exists.write(outcome, false);
        if outcome != Outcome::Refused {
            course.version = None;
        }
    }

    /// A new identifier (RFC 9562, version 4).
    fn identifier(&mut self) -> String {
        let mut hex = |digits: u32| self.random.below(16_u64.pow(digits));
        let (a, b, c, d, e, f) = (hex(8), hex(4), hex(3), hex(3), hex(6), hex(6));
        format!("{a:08x}-{b:04x}-4{c:03x}-8{d:03x}-{e:06x}{f:06x}")
    }
}
