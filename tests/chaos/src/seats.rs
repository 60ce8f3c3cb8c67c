//! Registrations for courses with few seats, which all users share, and what must hold of them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use domain::{CommitteeId, Instant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, PASSWORD, World};

use crate::{
    accounts::{Account, Session},
    check::{Promise, State, text},
    client::{Expected, Response},
    history::Change,
    users::VirtualUser,
};

/// Courses of each committee. A person can register ten times for each.
const COURSES: usize = 3;
/// Further ones, which begin during the run.
const STARTING: usize = 2;
/// The time between two starts.
const INTERVAL: Duration = Duration::from_secs(20);
/// The longest waiting list while no seat is free.
const LIST: usize = 6;
/// People of each super admin who are registered from the beginning.
const PEOPLE: usize = 3;
/// How long after a change of the start no registration expires.
const GRACE: Duration = Duration::from_secs(600);
/// The most seconds between the moments when the place is read and when the mail is recorded.
const SENDING_SECONDS: i64 = 30;

/// A waiting list: the second when it came about, and its people by their places.
type WaitingList = (i64, BTreeMap<String, String>);

/// A course with few seats, as one user knows it.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    pub(crate) course: String,
    committee: CommitteeId,
    title: String,
    /// The number of the only user who changes its start, if it has one, and the start.
    start: Option<(u64, Expected<Instant>)>,
}

/// Published courses of `committees` with two seats each. For every second one a suspended person waits, before everybody
/// else.
pub(crate) async fn courses(world: &World, committees: &[CommitteeId]) -> Vec<Seat> {
    let (mut seats, mut starting) = (Vec::new(), 0);
    for committee in committees {
        let trainer = world.person(NewPerson::with(Profile::Trainer).of(*committee)).await;
        for at in 0..COURSES + STARTING {
            let (title, mut start) = (format!("Peu de places {}", seats.len()), None);
            if at >= COURSES {
                starting += 1;
                start = Some(world.clock().now().after(INTERVAL * starting));
            }
            let created = trainer.post("/courses", content(&title, start)).await.expect_created();
            let course = text(&created["course"], "courseID");
            trainer.post(&format!("/courses/{course}/publish"), json!({})).await.expect_ok();
            let path = format!("/registrations/{course}/settings");
            trainer.put(&path, settings("AUTOMATIC", 0)).await.expect_ok();
            let start = start.map(|start| (u64::from(starting % 2), Expected::new(start)));
            seats.push(Seat { course, committee: *committee, title, start });
        }
    }
    let (admin, suspended) = (world.admin().await, world.member().await);
    for Seat { course, .. } in seats.iter().step_by(2) {
        suspended.post(&format!("/registrations/{course}"), json!({})).await.expect_created();
    }
    admin.set_active(suspended.user().user_id, false).await;
    for Seat { course, .. } in &seats {
        let path = format!("/registrations/{course}/settings");
        admin.put(&path, settings("AUTOMATIC", 2)).await.expect_ok();
    }
    seats
}

/// People of a super admin of `committee`, who are registered for the courses of `seats` that begin.
pub(crate) async fn people(world: &World, committee: CommitteeId, seats: &[Seat]) -> Vec<Account> {
    let mut people = Vec::new();
    for _ in 0..PEOPLE {
        let member = world.person(NewPerson::with(Profile::Member).of(committee)).await;
        let (user, token) = (member.user(), member.token().to_owned());
        let fields = [user.email.as_str(), PASSWORD, user.last_name.as_str(), "MB"];
        let mut person = Account::new(user.user_id.to_string(), fields);
        person.is_verified = Expected::new(true);
        person.sessions = vec![Session { token, has_ended: Expected::new(false), rejections: 0 }];
        for Seat { course, .. } in seats.iter().filter(|seat| seat.start.is_some()) {
            let path = format!("/registrations/{course}");
            member.post(&path, json!({})).await.expect_created();
            person.registered.insert(course.clone(), Expected::new(true));
        }
        people.push(person);
    }
    people
}

fn content(title: &str, start: Option<Instant>) -> Value {
    json!({
        "courseTitle": title, "description": "Un atelier pour deux personnes.", "startAt": start,
        "courseType": "ONLINE", "sectionOfMatter": "Gestion", "contactEmail": "cours@example.org",
    })
}

fn settings(mode: &str, capacity: u64) -> Value {
    json!({ "mode": mode, "capacity": capacity, "waitlistLimit": LIST })
}

impl VirtualUser {
    pub(crate) async fn use_seats(&mut self) {
        let at = self.random.below(self.seats.len() as u64) as usize;
        let is_writer = self.profile != Profile::Member
            && self.seats[at].committee.to_string() == self.committee;
        let who = self.registrant();
        match self.random.below(10) {
            0..2 if is_writer => self.change_seats(at).await,
            2..4 if is_writer => self.approve(at).await,
            0..6 => self.register_for(at, who).await,
            _ => self.leave(at, who).await,
        }
    }

    /// Who registers or leaves: the user or, of a super admin, one of their people with a session.
    fn registrant(&mut self) -> usize {
        let may_register = |at: &usize| {
            *at == 0
                || self.profile == Profile::SuperAdmin
                    && !self.people[*at].usable_tokens().is_empty()
        };
        let people: Vec<usize> = (0..self.people.len()).filter(may_register).collect();
        self.pick(&people).unwrap_or_default()
    }

    async fn call_of(&mut self, who: usize, line: &str) -> Response {
        let tokens = self.people[who].usable_tokens();
        let token = self.pick(&tokens).unwrap_or_default();
        self.call_as(&token, line, json!({})).await
    }

    async fn register_for(&mut self, at: usize, who: usize) {
        let Seat { course, start, .. } = self.seats[at].clone();
        let response = self.call_of(who, &format!("POST /registrations/{course}")).await;
        let registered = self.people[who].registered.entry(course.clone());
        let is_active = registered.or_insert_with(|| Expected::new(false));
        let is_known = is_active.is(&true) && start.is_none();
        is_active.write(response.outcome, true);
        if response.is_done() && is_known && response.code() != "ALREADY_REGISTERED_MESSAGE" {
            self.violation(format!("registered twice for {course}: {}", response.code()));
        }
    }

    async fn leave(&mut self, at: usize, who: usize) {
        let (course, id) = (self.seats[at].course.clone(), self.people[who].id.clone());
        let line = format!("POST /registrations/{course}/{id}/cancel");
        let outcome = self.call_of(who, &line).await.outcome;
        if let Some(is_active) = self.people[who].registered.get_mut(&course) {
            is_active.write(outcome, false);
        }
        if who == 0 {
            // Once the course has begun, only its writers may, also for themselves.
            self.audit(outcome, false, ("REGISTRATION_CANCELLED", id));
        }
    }

    /// Postpones the start of a course, or sets it to a wrong year or to the next minute.
    pub(crate) async fn change_start(&mut self) {
        let is_own = |seat: &Seat| seat.start.as_ref().is_some_and(|start| start.0 == self.number);
        let own: Vec<usize> = (0..self.seats.len()).filter(|at| is_own(&self.seats[*at])).collect();
        let Some(at) = self.pick(&own) else { return };
        let (now, days) = (self.clock.now(), Duration::from_secs(86_400));
        let start = match self.random.below(4) {
            0 => now.before(days * 365),
            1 => now.after(Duration::from_secs(self.random.below(60))),
            _ => now.after(days * 60),
        };
        let Seat { course, title, .. } = &self.seats[at];
        let (line, body) = (format!("PUT /courses/{course}"), content(title, Some(start)));
        let course = course.clone();
        let outcome = self.call(&line, body).await.outcome;
        self.audit(outcome, true, ("COURSE_UPDATED", course));
        if let Some((_, expected)) = &mut self.seats[at].start {
            expected.write(outcome, start);
        }
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
    /// The counters equal the registrations and never exceed the capacity; each person is registered as acknowledged, and
    /// their set of courses says so.
    pub(crate) fn seats(&self, promise: &mut Promise) {
        for change in self.changes.iter().filter(|change| change.sk == "SEATS") {
            let [taken, seats] = ["taken", "seats"].map(|name| change.after[name].as_u64());
            promise
                .check(seats.is_none() || taken <= seats, ("beyond the capacity", &change.after));
        }
        for item in self.of("SEATS#", "SEATS") {
            let id = text(item, "pk").trim_start_matches("SEATS#").to_owned();
            let cards: Vec<&Value> =
                self.cards(&format!("REGISTRATION#{id}#"), "REGISTRATION").collect();
            let count = |state: &str| cards.iter().filter(|card| card["state"] == state).count();
            let counters = ["taken", "waiting", "pending", "registered"]
                .map(|name| item[name].as_u64().unwrap_or_default() as usize);
            let [confirmed, waiting, pending] = ["CONFIRMED", "WAITLISTED", "PENDING"].map(count);
            let counted = [confirmed, waiting, pending, cards.len()];
            promise.check(counters == counted, ("counters", item, &counted));
            let places = self.of(&format!("SEATS#{id}"), "WAITING#").count();
            promise.check(places == waiting, ("places", item, places));
            let numbers: BTreeSet<u64> =
                cards.iter().filter_map(|card| card["number"].as_u64()).collect();
            promise.check(numbers.len() == cards.len(), ("a number twice", &id));
        }
        let mut active: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for card in self.cards("REGISTRATION#", "REGISTRATION").filter(|card| is_active(card)) {
            active.entry(text(card, "userID")).or_default().insert(text(card, "courseID"));
        }
        for item in self.of("REGISTERED#", "REGISTERED") {
            let id = text(item, "pk").trim_start_matches("REGISTERED#").to_owned();
            let courses = item["courses"].as_array().into_iter().flatten();
            let courses = courses.filter_map(|course| Some(course.as_str()?.to_owned()));
            let (courses, active): (BTreeSet<_>, _) =
                (courses.collect(), active.remove(&id).unwrap_or_default());
            promise.check(courses == active, ("courses of a person", item, active));
        }
        promise.check(active.is_empty(), ("in no set of courses", active));
        let starting: BTreeSet<&str> = self.starting().map(|(course, _)| course).collect();
        for account in self.people() {
            for (course, expected) in &account.registered {
                let pk = format!("REGISTRATION#{course}#{}", account.id);
                let card = self.at(&pk, "REGISTRATION").map_or(&Value::Null, |item| &item["card"]);
                let was_ended = card["state"] == "EXPIRED" && starting.contains(&**course)
                    || account.is_erased.allows(&true) && !is_active(card);
                let holds = if account.is_erased.is(&true) {
                    was_ended
                } else {
                    was_ended || expected.allows(&is_active(card))
                };
                promise.check(holds, (pk, expected, card));
            }
        }
    }

    /// The courses that begin, with the user who changes the start as that user knows it.
    fn starting(&self) -> impl Iterator<Item = (&str, &Expected<Instant>)> {
        self.users.iter().flat_map(|user| {
            user.seats.iter().filter_map(|seat| {
                let (planner, start) = seat.start.as_ref()?;
                (*planner == user.number).then_some((&*seat.course, start))
            })
        })
    }

    /// Wherever a seat is free and the course has not begun, nobody with an active account waits.
    pub(crate) fn free_seats(&self, promise: &mut Promise) {
        let now = self.world.clock().now();
        for item in self.of("SEATS#", "SEATS") {
            let id = text(item, "pk").trim_start_matches("SEATS#").to_owned();
            let course = self.at(&format!("COURSE#{id}"), "COURSE");
            let start = course.and_then(|course| instant(&course["card"]["startAt"]));
            let [taken, seats] = ["taken", "seats"].map(|name| item[name].as_u64());
            if taken == seats || start.is_some_and(|start| start <= now) {
                continue;
            }
            for waiting in self.of(&format!("SEATS#{id}"), "WAITING#") {
                let user = self.at(&format!("USER#{}", text(waiting, "userID")), "USER");
                let is_active = user.is_some_and(|user| user["card"]["isActive"] == true);
                promise.check(!is_active, ("waits while a seat is free", waiting, item));
            }
            promise.check(true, item);
        }
    }

    /// A place that a mail names was that of its recipient at a moment shortly before it was sent.
    pub(crate) fn places(&self, promise: &mut Promise) {
        let courses = self.users.first().into_iter().flat_map(|user| &user.seats);
        let courses = courses.map(|seat| (seat.title.as_str(), self.lists(&seat.course)));
        let lists: HashMap<&str, Vec<WaitingList>> = courses.collect();
        for mail in self.world.cloud().recorder().mails() {
            let content = text(&mail, "text");
            let Some(place) = fact(&content, "Votre place sur la liste") else { continue };
            let lists = fact(&content, "Cours").and_then(|title| lists.get(title));
            let sent_at = instant(&mail["at"]).map_or(0, |at| at.unix_milliseconds() / 1000);
            let to = text(&mail, "to");
            let ids: Vec<&str> =
                self.people().filter(|one| one.email == to).map(|one| &*one.id).collect();
            let was_true = lists.into_iter().flatten().enumerate().any(|(at, (since, list))| {
                let until =
                    lists.and_then(|lists| lists.get(at + 1)).map_or(i64::MAX, |next| next.0);
                let is_recent = *since <= sent_at + 1 && until >= sent_at - SENDING_SECONDS;
                let there = place
                    .parse()
                    .ok()
                    .and_then(|place: usize| list.values().nth(place.checked_sub(1)?));
                is_recent && there.is_some_and(|id| ids.contains(&&**id))
            });
            promise.check(was_true, (to, content, sent_at));
        }
    }

    /// The waiting lists of `course` since the beginning, each with the second when it came about.
    fn lists(&self, course: &str) -> Vec<WaitingList> {
        let (pk, mut list) = (format!("SEATS#{course}"), BTreeMap::new());
        let is_place = |change: &&Change| change.pk == pk && change.sk.starts_with("WAITING#");
        let places = self.changes.iter().filter(is_place).map(|change| {
            if change.after.is_null() {
                list.remove(&change.sk)
            } else {
                list.insert(change.sk.clone(), text(&change.after, "userID"))
            };
            (change.at, list.clone())
        });
        places.collect()
    }

    /// Starts are as acknowledged. A registration expires after the start, and ten minutes after its last change while the
    /// course was published, by the dates that the store held when it was written.
    pub(crate) fn expiries(&self, promise: &mut Promise) {
        for (course, expected) in self.starting() {
            let stored = self.at(&format!("COURSE#{course}"), "COURSE");
            let start = stored.and_then(|course| instant(&course["card"]["startAt"]));
            let is_expected = start.is_some_and(|start| expected.allows(&start));
            promise.check(is_expected, (stored, expected));
        }
        let mut dates: HashMap<String, [Option<Instant>; 2]> = HashMap::new();
        for change in &self.changes {
            let [before, after] = [&change.before["card"], &change.after["card"]];
            let course = text(after, "courseID");
            if change.sk == "COURSE" {
                let [start, changed_at] = dates.entry(course).or_default();
                if before["state"] == "PUBLISHED" && before["startAt"] != after["startAt"] {
                    *changed_at = instant(&after["updatedAt"]);
                }
                *start = instant(&after["startAt"]);
            } else if after["state"] == "EXPIRED" && before["state"] != "EXPIRED" {
                let [start, changed_at] = dates.get(&course).copied().unwrap_or_default();
                let earliest = start.max(changed_at.map(|at| at.after(GRACE)));
                let history = change.after["history"].as_array().and_then(|all| all.last());
                let at = history.and_then(|entry| instant(&entry["at"]));
                promise.check(start.is_some() && earliest <= at, (after, at, start, changed_at));
            }
        }
    }
}

fn is_active(card: &Value) -> bool {
    ["CONFIRMED", "WAITLISTED", "PENDING"].iter().any(|state| card["state"] == *state)
}

fn instant(value: &Value) -> Option<Instant> {
    value.as_str()?.parse().ok()
}

/// What the text of a mail says about `name`.
fn fact<'a>(content: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = content.split_once(&format!("- {name}\u{a0}: "))?;
    rest.lines().next()
}
