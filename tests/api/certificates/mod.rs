mod issue;
mod pages;
mod races;
mod revoke;
mod verify;

use std::time::Duration;

use common::Message;
use domain::{Instant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, Person};

use crate::registrations::{Course, HOUR, attendance::hand, automatic};

/// A course whose last session is over, with the people that came.
pub(crate) struct Over {
    pub(crate) course: Course,
    pub(crate) members: Vec<Person>,
    pub(crate) sessions: Vec<Value>,
}

/// The settings of a course that gives certificates.
pub(crate) fn giving(certificate: Value) -> Value {
    let mut settings = automatic(400, 0);
    settings["certificate"] = certificate;
    settings
}

impl Over {
    /// A course with `count` members, who attended all four sessions.
    pub(crate) async fn with(count: usize) -> Self {
        Self::attended(count, 4).await
    }

    /// The same, of which the first `attended` sessions have marks.
    pub(crate) async fn attended(count: usize, attended: usize) -> Self {
        let (course, sessions) = Course::of_two_days().await;
        let mut people = Vec::new();
        for _ in 0..count {
            people.push(course.registered().await.0);
        }
        let mut over = Self { course, members: people, sessions };
        over.pass(HOUR * 40).await;
        let certificate = giving(json!({ "kind": "ATTENDANCE" }));
        over.course.set(certificate).await.expect_success(Message::RegistrationSettings);
        let marks: Vec<Value> = over
            .members
            .iter()
            .flat_map(|person| {
                let sessions = over.sessions.iter().take(attended);
                sessions.map(|session| hand(person, session, "PRESENT", 0))
            })
            .collect();
        for marks in marks.chunks(100) {
            over.course.mark(json!(marks)).await;
        }
        over
    }

    /// Lets `time` pass; everybody signs in again, because their sessions have ended.
    pub(crate) async fn pass(&mut self, time: Duration) {
        let world = self.course.world.clone();
        world.clock().advance(time);
        let trainer = self.course.trainer.user().user_id;
        self.course.trainer = world.signed_in(world.user(trainer).await).await;
        for member in &mut self.members {
            *member = world.signed_in(world.user(member.user().user_id).await).await;
        }
    }

    /// The response to `body`.
    pub(crate) async fn issue(&self, body: Value) -> Value {
        let answer = self.course.trainer.post(&self.course.path("/certificates"), body).await;
        answer.expect_success(Message::CertificatesIssued)
    }

    /// The code of the certificate that the member at `place` gets.
    pub(crate) async fn code(&self, place: usize) -> String {
        let issued = self.issue(json!({ "userIDs": [self.members[place].user().user_id] })).await;
        issued["results"][0]["code"].as_str().unwrap().to_owned()
    }

    /// What the registration of the member at `place` shows.
    pub(crate) async fn summary(&self, place: usize) -> Value {
        self.course.seen(&self.members[place]).await["certificate"].clone()
    }

    /// The certificate `code` as everybody sees it.
    pub(crate) async fn verified(&self, code: &str) -> Value {
        let answer = self.course.world.anonymous().get(&format!("/certificates/{code}")).await;
        answer.expect_ok()["certificate"].clone()
    }

    pub(crate) fn now(&self) -> Instant {
        self.course.world.clock().now()
    }

    /// An account of the course's committee.
    pub(crate) async fn colleague(&self, profile: Profile) -> Person {
        let committee = self.course.trainer.user().committee_id;
        let world = &self.course.world;
        let user = world.unhashed_account(&NewPerson::with(profile).of(committee)).await;
        world.signed_in(user).await
    }
}
