mod announcements;
mod approve;
pub(crate) mod attendance;
mod audit;
mod availability;
mod cancel;
mod cancel_course;
mod create;
mod decisions;
mod edges;
mod export;
mod file;
mod list;
mod mails;
mod my_registrations;
mod promotion;
mod races;
mod registration;
mod reject;
mod retention;
mod sessions;
mod settings;

use common::Message;
use domain::Profile;
use serde_json::{Value, json};
use tests::{Answer, Person, World};

/// A published course of a trainer, and the World that has it.
pub(crate) struct Course {
    pub(crate) world: World,
    pub(crate) trainer: Person,
    pub(crate) id: String,
}

impl Course {
    /// A course with `settings` of its registrations, which starts in ten days.
    pub(crate) async fn with(settings: Value) -> Self {
        let world = World::with(&[("RATE_LIMIT", "100000")]).await;
        Self::in_world(world, settings).await
    }

    pub(crate) async fn in_world(world: World, settings: Value) -> Self {
        let trainer = world.person(Profile::Trainer).await;
        Self::of(trainer, world, settings).await
    }

    pub(crate) async fn of(trainer: Person, world: World, settings: Value) -> Self {
        let start = world.clock().now().after(DAY * 10);
        let course = json!({
            "courseTitle": "Premiers secours", "description": "Les gestes qui sauvent, en trois jours.",
            "courseType": "ONLINE", "sectionOfMatter": "Secourisme", "contactEmail": "cours@example.org",
            "startAt": start, "endAt": start.after(DAY),
        });
        let created = trainer.post("/courses", course).await.expect_success(Message::CourseCreated);
        let id = created["course"]["courseID"].as_str().unwrap().to_owned();
        let answer = trainer.post(&format!("/courses/{id}/publish"), json!({})).await;
        answer.expect_success(Message::CoursePublished);
        let course = Self { world, trainer, id };
        course.set(settings).await.expect_success(Message::RegistrationSettings);
        course
    }

    pub(crate) async fn set(&self, settings: Value) -> Answer {
        self.trainer.put(&self.path("/settings"), settings).await
    }

    /// The course becomes one without start and end.
    pub(crate) async fn remove_dates(&self) {
        let path = format!("/courses/{}", self.id);
        let mut course = self.trainer.get(&path).await.expect_ok()["course"].clone();
        for date in ["startAt", "endAt"] {
            course[date] = json!(null);
        }
        course["courseType"] = json!("SELF_PACED");
        self.trainer.put(&path, course).await.expect_success(Message::CourseUpdated);
    }

    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/registrations/{}{rest}", self.id)
    }

    /// The path of the registration of `person`.
    pub(crate) fn path_of(&self, person: &Person) -> String {
        self.path(&format!("/{}", person.user().user_id))
    }

    pub(crate) async fn register(&self, person: &Person) -> Answer {
        person.post(&self.path(""), json!({})).await
    }

    /// A new member who is registered; the registration of the response.
    pub(crate) async fn registered(&self) -> (Person, Value) {
        let user = self.world.unhashed_account(Profile::Member).await;
        let member = self.world.signed_in(user).await;
        let body = self.register(&member).await.expect_created();
        (member, body["registration"].clone())
    }

    /// The registration of `person` as they see it.
    pub(crate) async fn seen(&self, person: &Person) -> Value {
        person.get(&self.path_of(person)).await.expect_ok()["registration"].clone()
    }

    pub(crate) async fn state(&self, person: &Person) -> String {
        self.seen(person).await["state"].as_str().unwrap().to_owned()
    }

    /// Adds `question` to the course; returns its id.
    pub(crate) async fn ask(&self, question: Value) -> String {
        let path = format!("/courses/questions/{}", self.id);
        let added = self.trainer.post(&path, json!({ "questions": [question] })).await;
        let added = added.expect_success(Message::QuestionsAdded);
        added["questions"][0]["questionID"].as_str().unwrap().to_owned()
    }

    /// The counters of the course, which must equal its registrations.
    pub(crate) async fn counts(&self) -> [u64; 3] {
        let states = self.world.items_of(&format!("REGISTRATION#{}", self.id));
        let count = |state: &str| {
            let has = |item: &&Value| item["card"]["M"]["state"]["S"] == state;
            states.iter().filter(has).count() as u64
        };
        let listed = ["PENDING", "WAITLISTED", "CONFIRMED"].map(count);
        let body = self.trainer.get(&self.path("")).await.expect_ok();
        let counts = ["pending", "waitlisted", "confirmed"];
        assert_eq!(counts.map(|name| body["counts"][name].as_u64().unwrap()), listed);
        let places = self.world.items_of(&format!("SEATS#{}", self.id)).into_iter();
        let places = places.filter(|item| item["sk"]["S"].as_str().unwrap().starts_with("WAITING"));
        assert_eq!(places.count() as u64, listed[1], "places on the waiting list");
        listed
    }
}

pub(crate) const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);
pub(crate) const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);

/// Settings by which people register without a decision.
pub(crate) fn automatic(capacity: u32, waitlist_limit: u32) -> Value {
    json!({ "mode": "AUTOMATIC", "capacity": capacity, "waitlistLimit": waitlist_limit })
}

/// The subjects of the mails to `person` about registrations, newest first, without the title of the usual course.
pub(crate) async fn subjects(world: &World, person: &Person) -> Vec<String> {
    let mails = world.mails(person.user().email.as_str()).await;
    let without_title = |mail: &Value| {
        let subject = mail["subject"].as_str().unwrap();
        subject.trim_end_matches("\u{a0}: Premiers secours").to_owned()
    };
    mails.iter().map(without_title).collect()
}
