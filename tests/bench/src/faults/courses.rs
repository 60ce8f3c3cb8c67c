//! Courses: begun, replaced, published, taken back, archived, and their questions.

use serde_json::{Value, json};

use crate::{
    actor::Actor,
    client::{Ask, Heard},
    directing::Deed,
    known::{Known, Outcome},
};

/// Nobody works on more courses at a time.
const MOST: usize = 12;

pub(crate) struct KnownCourse {
    pub(crate) id: String,
    /// The word in its title; empty while it may not be there.
    pub(crate) title: Known<String>,
    pub(crate) state: Known<&'static str>,
    pub(crate) questions: Vec<KnownQuestion>,
    /// What the last answer said, when nothing has happened since.
    version: Option<u64>,
}

pub(crate) struct KnownQuestion {
    pub(crate) word: String,
    id: String,
    pub(crate) is_there: Known<bool>,
}

impl KnownCourse {
    /// Whether it is surely there, and still changed.
    fn is_open(&self) -> bool {
        self.title.surely().is_some_and(|title| !title.is_empty())
            && !self.state.may_be(&"ARCHIVED")
    }

    fn heard(&mut self, heard: &Heard) {
        self.version = match heard.outcome() {
            Outcome::Acknowledged => heard.body["course"]["version"].as_u64(),
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

impl Actor {
    pub(crate) async fn work_on_courses(&mut self, token: &str) {
        let open: Vec<usize> = (0..self.courses.len())
            .filter(|at| self.courses[*at].is_open())
            .collect();
        let Some(at) = Self::any(&mut self.chance, &open).map(|place| open[place]) else {
            return self.begin_course(token).await;
        };
        match self.chance.below(100) {
            0..15 if open.len() < MOST => self.begin_course(token).await,
            0..35 => self.replace_course(token, at).await,
            35..45 => self.show_course(token, at).await,
            45..60 => {
                self.move_course(token, at, "POST", "/publish", "PUBLISHED")
                    .await
            }
            60..70 => {
                self.move_course(token, at, "POST", "/to-draft", "DRAFT")
                    .await
            }
            70..73 => self.move_course(token, at, "DELETE", "", "ARCHIVED").await,
            73..88 => self.add_questions(token, at).await,
            _ => self.remove_question(token, at).await,
        }
    }

    async fn begin_course(&mut self, token: &str) {
        let word = self.word();
        let is_named = self.chance.below(3) > 0;
        let id = self.identifier();
        let ask = if is_named {
            Ask::new("PUT", format!("/courses/{id}")).header("If-None-Match", "*")
        } else {
            Ask::new("POST", "/courses")
        };
        let heard = self
            .client
            .send(&ask.with(token).json(content(&word)))
            .await;
        self.me.heard_with(token, &heard);
        let outcome = self.tried(&word, &heard);
        // One whose identifier nobody was told is nobody's to change; it is there once at most.
        let id = if is_named {
            id
        } else {
            heard.text("/course/courseID")
        };
        if outcome == Outcome::Refused || id.is_empty() {
            return;
        }
        let mut course = KnownCourse {
            id,
            title: Known::new(String::new()),
            state: Known::new("DRAFT"),
            questions: Vec::new(),
            version: None,
        };
        course.title.write(outcome, word);
        course.heard(&heard);
        self.courses.push(course);
    }

    /// With the version that was seen last, or one that is surely too old.
    async fn replace_course(&mut self, token: &str, at: usize) {
        let word = self.word();
        let is_late = self.chance.below(8) == 0;
        let course = &self.courses[at];
        let seen = course.version;
        let mut body = content(&word);
        if let Some(version) = seen {
            body["version"] = if is_late {
                (version - 1).into()
            } else {
                version.into()
            };
        }
        let ask = Ask::new("PUT", format!("/courses/{}", course.id))
            .with(token)
            .json(body);
        let heard = self.client.send(&ask).await;
        let outcome = self.tried(&word, &heard);
        if seen.is_some() && is_late && outcome == Outcome::Acknowledged {
            self.wrong(format!(
                "a course was replaced that had changed since it was seen: {word}"
            ));
        }
        self.courses[at].title.write(outcome, word);
        self.courses[at].heard(&heard);
        self.me.heard_with(token, &heard);
    }

    /// What is shown is what was written.
    async fn show_course(&mut self, token: &str, at: usize) {
        let heard = self
            .client
            .send(&Ask::new("GET", format!("/courses/{}", self.courses[at].id)).with(token))
            .await;
        self.me.heard_with(token, &heard);
        if !heard.is_done() {
            if heard.status == 404 {
                self.wrong(format!("the course {} is gone", self.courses[at].id));
            }
            return;
        }
        let course = &mut self.courses[at];
        course.heard(&heard);
        let title = heard.text("/course/courseTitle").replace("Cours ", "");
        let state = heard.text("/course/state");
        if !course.title.may_be(&title) || !course.state.all().contains(&state.as_str()) {
            let what = format!(
                "the course {} is shown as {title} {state}, not as {:?} {:?}",
                course.id, course.title, course.state
            );
            self.wrong(what);
        }
    }

    async fn move_course(
        &mut self,
        token: &str,
        at: usize,
        method: &'static str,
        end: &str,
        state: &'static str,
    ) {
        let course = &mut self.courses[at];
        let (id, was) = (course.id.clone(), course.state.clone());
        let heard = self
            .client
            .send(&Ask::new(method, format!("/courses/{id}{end}")).with(token))
            .await;
        course.state.write(heard.outcome(), state);
        course.heard(&heard);
        let action = match state {
            "PUBLISHED" => "COURSE_PUBLISHED",
            "DRAFT" => "COURSE_RETURNED_TO_DRAFT",
            _ => "COURSE_ARCHIVED",
        };
        // Where it was so already nothing is done, and where it was so perhaps, perhaps.
        let is_sure = heard.is_done() && !was.may_be(&state);
        let is_possible = heard.outcome() != Outcome::Refused && !was.is_surely(&state);
        if is_possible {
            self.deeds.push(Deed {
                actor: self.me.id.clone(),
                action,
                target: id,
                is_sure,
            });
        }
        self.me.heard_with(token, &heard);
    }

    async fn add_questions(&mut self, token: &str, at: usize) {
        let words: Vec<String> = (0..=self.chance.below(3)).map(|_| self.word()).collect();
        let asked: Vec<Value> = words
            .iter()
            .map(
                |word| json!({ "language": "FR", "question": word, "questionType": "SHORT_REPLY" }),
            )
            .collect();
        let ask = Ask::new(
            "POST",
            format!("/courses/questions/{}", self.courses[at].id),
        )
        .with(token);
        let heard = self
            .client
            .send(&ask.json(json!({ "questions": asked })))
            .await;
        self.me.heard_with(token, &heard);
        for (place, word) in words.into_iter().enumerate() {
            let mut is_there = Known::new(false);
            is_there.write(self.tried(&word, &heard), true);
            let id = heard.text(&format!("/questions/{place}/questionID"));
            self.courses[at]
                .questions
                .push(KnownQuestion { word, id, is_there });
        }
        // Their answer does not tell the course's version.
        if heard.outcome() != Outcome::Refused {
            self.courses[at].version = None;
        }
    }

    async fn remove_question(&mut self, token: &str, at: usize) {
        let course = &mut self.courses[at];
        let Some(question) = course
            .questions
            .iter_mut()
            .find(|question| !question.id.is_empty() && question.is_there.is_surely(&true))
        else {
            return;
        };
        let path = format!("/courses/questions/{}/{}", course.id, question.id);
        let heard = self
            .client
            .send(&Ask::new("DELETE", path).with(token))
            .await;
        question.is_there.write(heard.outcome(), false);
        if heard.outcome() != Outcome::Refused {
            course.version = None;
        }
        self.me.heard_with(token, &heard);
    }

    /// An identifier of his own choice (RFC 9562, version 4).
    fn identifier(&mut self) -> String {
        let mut some = |digits: u32| self.chance.below(16_u64.pow(digits));
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:06x}{:06x}",
            some(8),
            some(4),
            some(3),
            some(3),
            some(6),
            some(6)
        )
    }
}
