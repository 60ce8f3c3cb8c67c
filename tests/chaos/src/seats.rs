//! Registrations for courses with few seats, which all users share, and what must hold of them.

use std::collections::BTreeSet;

use domain::{CommitteeId, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, World};

use crate::{
    check::{Promise, State, text},
    client::Expected,
    users::VirtualUser,
};

/// Courses of each committee. A person can register ten times for each.
const COURSES: usize = 3;
/// The longest waiting list.
const LIST: usize = 6;

/// A course with few seats, as one user knows it.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    pub(crate) course: String,
    committee: CommitteeId,
    /// Whether the user's registration is active.
    pub(crate) is_active: Expected<bool>,
}

/// Published courses of `committees` with two seats each. Nobody is registered yet.
pub(crate) async fn courses(world: &World, committees: &[CommitteeId]) -> Vec<Seat> {
    let mut seats = Vec::new();
    for committee in committees {
        let trainer = world.person(NewPerson::with(Profile::Trainer).of(*committee)).await;
        for _ in 0..COURSES {
            let course = json!({
                "courseTitle": "Peu de places", "description": "Un atelier pour deux personnes.",
                "courseType": "ONLINE", "sectionOfMatter": "Gestion", "contactEmail": "cours@example.org",
            });
            let created = trainer.post("/courses", course).await.expect_created();
            let course = text(&created["course"], "courseID");
            trainer.post(&format!("/courses/{course}/publish"), json!({})).await.expect_ok();
            let path = format!("/registrations/{course}/settings");
            trainer.put(&path, settings("AUTOMATIC", 2)).await.expect_ok();
            seats.push(Seat { course, committee: *committee, is_active: Expected::new(false) });
        }
    }
    seats
}

fn settings(mode: &str, capacity: u64) -> Value {
    json!({ "mode": mode, "capacity": capacity, "waitlistLimit": LIST })
}

impl VirtualUser {
    pub(crate) async fn use_seats(&mut self) {
        let at = self.random.below(self.seats.len() as u64) as usize;
        let is_writer = self.profile != Profile::Member
            && self.seats[at].committee.to_string() == self.committee;
        match self.random.below(10) {
            0..2 if is_writer => self.change_seats(at).await,
            2..4 if is_writer => self.approve(at).await,
            0..6 => self.register_for(at).await,
            _ => self.leave(at).await,
        }
    }

    async fn register_for(&mut self, at: usize) {
        let line = format!("POST /registrations/{}", self.seats[at].course);
        let response = self.call(&line, json!({})).await;
        let is_known = self.seats[at].is_active.is(&true);
        if response.is_done() && is_known && response.code() != "ALREADY_REGISTERED_MESSAGE" {
            self.violation(format!("registered twice: {:?}: {}", self.seats[at], response.code()));
        }
        self.seats[at].is_active.write(response.outcome, true);
    }

    async fn leave(&mut self, at: usize) {
        let (course, me) = (&self.seats[at].course, &self.people[0].id);
        let line = format!("POST /registrations/{course}/{me}/cancel");
        let response = self.call(&line, json!({})).await;
        self.seats[at].is_active.write(response.outcome, false);
    }

    /// Approves the first registration that waits for it, sometimes with a seat more.
    async fn approve(&mut self, at: usize) {
        let course = self.seats[at].course.clone();
        let waiting = ["PENDING", "WAITLISTED"][self.random.below(2) as usize];
        let line = format!("GET /registrations/{course}?state={waiting}&limit=1");
        let first = self.call(&line, Value::Null).await.text("/registrations/0/userID");
        if !first.is_empty() {
            let line = format!("POST /registrations/{course}/{first}/approve");
            let body = json!({ "addSeat": waiting == "WAITLISTED" || self.random.below(3) == 0 });
            let outcome = self.call(&line, body).await.outcome;
            // Someone who has a seat by now keeps it, without an entry.
            self.audit(outcome, false, ("REGISTRATION_APPROVED", first));
        }
    }

    /// Changes the number of seats, and whether each registration is approved. The word is in the information for confirmed people.
    async fn change_seats(&mut self, at: usize) {
        let mode = ["AUTOMATIC", "AUTOMATIC", "MANUAL"][self.random.below(3) as usize];
        let (word, mut body) = (self.word(), settings(mode, 1 + self.random.below(5)));
        body["joinInfo"] = word.clone().into();
        let course = self.seats[at].course.clone();
        let response = self.call(&format!("PUT /registrations/{course}/settings"), body).await;
        let outcome = self.record_word(&word, &response);
        self.audit(outcome, true, ("REGISTRATION_SETTINGS_UPDATED", course));
    }
}

impl State<'_> {
    /// The counters equal the registrations and do not exceed the capacity, no one waits while a seat is free, each person is
    /// registered as acknowledged, and copies of accounts are up to date.
    pub(crate) fn seats(&self, promise: &mut Promise) {
        for item in self.of("SEATS#", "SEATS").filter(|item| item["registered"] == true) {
            let id = text(item, "pk").trim_start_matches("SEATS#").to_owned();
            let cards: Vec<&Value> =
                self.cards(&format!("REGISTRATION#{id}#"), "REGISTRATION").collect();
            let count = |state: &str| cards.iter().filter(|card| card["state"] == state).count();
            let counters = json!([item["taken"], item["waiting"], item["pending"]]);
            let counted = json!([count("CONFIRMED"), count("WAITLISTED"), count("PENDING")]);
            promise.check(counters == counted, ("counters", &item, &counted));
            let places = self.of(&format!("SEATS#{id}"), "WAITING#").count();
            promise
                .check(places == count("WAITLISTED") && places <= LIST, ("places", item, places));
            let (taken, seats) = (item["taken"].as_u64(), item["seats"].as_u64());
            promise.check(taken <= seats, ("beyond the capacity", item));
            promise.check(taken == seats || places == 0, ("waits while a seat is free", item));
            let numbers: BTreeSet<u64> =
                cards.iter().filter_map(|card| card["number"].as_u64()).collect();
            promise.check(numbers.len() == cards.len(), ("a number twice", &id));
            for card in cards {
                let account = self.at(&format!("USER#{}", text(card, "userID")), "USER");
                let name = account.map(|account| text(&account["card"], "lastName"));
                promise.check(name == Some(text(card, "lastName")), (card, name));
            }
        }
        for user in &self.users {
            for Seat { course, is_active, .. } in &user.seats {
                let pk = format!("REGISTRATION#{course}#{}", user.people[0].id);
                let stored = self.at(&pk, "REGISTRATION").map(|item| &item["card"]);
                let state = stored.map(|card| text(card, "state")).unwrap_or_default();
                let is_stored = ["CONFIRMED", "WAITLISTED", "PENDING"].contains(&state.as_str());
                promise.check(is_active.allows(&is_stored), (pk, is_active, state));
            }
        }
    }
}
