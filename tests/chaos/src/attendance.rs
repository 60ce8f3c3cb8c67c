//! A course whose attendance several phones mark, and what must hold of the marks.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use domain::Profile;
use serde_json::{Value, json};
use tests::World;

use crate::{
    check::{Promise, State, text},
    client::Outcome,
    users::VirtualUser,
};

/// People who are registered.
const PEOPLE: usize = 300;
/// Most marks of one call.
const BATCH: u64 = 40;

/// A course with two sessions, and its people with their tickets.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    course: String,
    sessions: Vec<String>,
    people: Vec<(String, String)>,
}

/// A mark that was sent.
#[derive(Debug)]
pub(crate) struct Sent {
    person: String,
    session: String,
    is_hand: bool,
    outcome: Outcome,
    /// What the response says of it; null without one.
    result: Value,
}

/// A course of the first committee, which its `markers` mark.
pub(crate) async fn held(world: &World, markers: Vec<&str>) -> Held {
    let (trainer, hour) = (world.person(Profile::Trainer).await, Duration::from_secs(3600));
    let content = json!({
        "courseTitle": "Présences", "description": "Un atelier de deux séances.",
        "courseType": "ONLINE", "sectionOfMatter": "Gestion", "contactEmail": "cours@example.org",
    });
    let created = trainer.post("/courses", content).await.expect_created();
    let course = text(&created["course"], "courseID");
    trainer.post(&format!("/courses/{course}/publish"), json!({})).await.expect_ok();
    let path = format!("/registrations/{course}");
    let settings = json!({ "mode": "AUTOMATIC", "certificate": { "kind": "ATTENDANCE" } });
    trainer.put(&format!("{path}/settings"), settings).await.expect_ok();
    let mut people = Vec::new();
    for _ in 0..PEOPLE {
        let member = world.signed_in(world.unhashed_account(Profile::Member).await).await;
        let made = member.post(&path, json!({})).await.expect_created();
        people.push((member.user().user_id.to_string(), text(&made["registration"], "ticket")));
    }
    // Longer than any clock is wrong.
    let start = world.clock().now().before(hour * 2);
    let session = |hours: u32| json!({ "startAt": start.after(hour * hours), "endAt": start.after(hour * (hours + 1)) });
    let sessions = json!({ "sessions": [session(0), session(1)], "markers": markers });
    let planned = trainer.put(&format!("{path}/sessions"), sessions).await.expect_ok();
    let ids = |list: &Value| {
        list.as_array().into_iter().flatten().map(|one| text(one, "sessionID")).collect()
    };
    Held { course, sessions: ids(&planned["sessions"]), people }
}

impl VirtualUser {
    /// Sends a batch of scans, late, or of hands; sometimes twice, the second time in reverse.
    pub(crate) async fn mark_attendance(&mut self) {
        let Some(Held { course, sessions, people }) = self.held.clone() else { return };
        let (now, is_hand) = (self.clock.now(), self.random.below(4) == 0);
        let mut marks = Vec::new();
        for _ in 0..=self.random.below(if is_hand { 3 } else { BATCH }) {
            let (Some((person, ticket)), Some(session)) =
                (self.pick(&people), self.pick(&sessions))
            else {
                return;
            };
            let mut mark = json!({ "userID": person, "sessionID": session, "status": "PRESENT" });
            if is_hand {
                mark["status"] = self.pick(&["ABSENT", "EXCUSED", "NONE", "PRESENT"]).into();
                // Sometimes the version that is stored.
                mark["version"] = self.random.below(3).into();
            } else {
                mark["ticket"] = ticket.into();
                mark["at"] = json!(now.before(Duration::from_secs(self.random.below(7200))));
            }
            marks.push(mark);
        }
        let line = format!("POST /registrations/{course}/attendance");
        for _ in 0..=u64::from(self.random.below(3) == 0) {
            let body = json!({ "sentAt": self.clock.now(), "marks": marks });
            let response = self.call(&line, body).await;
            let results = response.body["results"].as_array().cloned().unwrap_or_default();
            if response.is_done() && results.len() != marks.len() {
                self.violation(format!("{} results of {} marks", results.len(), marks.len()));
            }
            if is_hand {
                self.audit(response.outcome, true, ("ATTENDANCE_CORRECTED", course.clone()));
            }
            let results = results.into_iter().chain(std::iter::repeat(Value::Null));
            self.marks.extend(marks.iter().zip(results).map(|(mark, result)| Sent {
                person: text(mark, "userID"),
                session: text(mark, "sessionID"),
                is_hand,
                outcome: response.outcome,
                result,
            }));
            marks.reverse();
        }
    }
}

/// Most people of one call that issues certificates.
const ISSUED: u64 = 8;

impl VirtualUser {
    /// Issues certificates to some people, and sometimes revokes one.
    pub(crate) async fn issue_certificates(&mut self) {
        let Some(Held { course, people, .. }) = self.held.clone() else { return };
        let mut some = BTreeSet::new();
        for _ in 0..=self.random.below(ISSUED) {
            some.extend(self.pick(&people).map(|(person, _)| person));
        }
        let line = format!("POST /registrations/{course}/certificates");
        let response = self.call(&line, json!({ "userIDs": some, "override": true })).await;
        let is_new = response.body["issued"].as_u64() > Some(0);
        self.audit(response.outcome, is_new, ("CERTIFICATES_ISSUED", course.clone()));
        let results = response.body["results"].as_array().cloned().unwrap_or_default();
        let codes =
            results.iter().filter_map(|one| Some((text(one, "userID"), one["code"].as_str()?)));
        self.certificates.extend(codes.map(|(person, code)| (person, code.to_owned())));
        if self.random.below(3) == 0
            && let Some((_, code)) = self.pick(&self.certificates.clone())
        {
            let line = format!("POST /certificates/{code}/revoke");
            let response = self.call(&line, json!({ "reason": "Nom" })).await;
            self.audit(response.outcome, false, ("CERTIFICATE_REVOKED", course));
            if response.is_done() {
                self.revoked.push(code);
            }
        }
    }
}

impl State<'_> {
    /// Each certificate that a response named is stored, and revoked if that was acknowledged; of one person at most one is not
    /// revoked, which their attendance names.
    pub(crate) fn certificates(&self, promise: &mut Promise) {
        let mut valid: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for card in self.cards("CERTIFICATE#", "CERTIFICATE") {
            if card["revocation"].is_null() {
                valid.entry(text(card, "userID")).or_default().push(text(card, "code"));
            }
        }
        for user in &self.users {
            for (person, code) in &user.certificates {
                let item = self.at(&format!("CERTIFICATE#{code}"), "CERTIFICATE");
                let is_of_person =
                    item.is_some_and(|item| text(&item["card"], "userID") == *person);
                promise.check(is_of_person, ("not stored", person, code));
            }
            for code in &user.revoked {
                let is_valid = valid.values().flatten().any(|one| one == code);
                promise.check(!is_valid, ("not revoked", code));
            }
        }
        for item in self.of("ATTENDANCE#", "USER#") {
            let person = text(item, "sk").replace("USER#", "");
            let codes = valid.remove(&person).unwrap_or_default();
            let is_named = codes.is_empty() || codes == [text(item, "certificate")];
            promise.check(is_named, ("valid certificates", codes, item));
        }
        promise.check(valid.is_empty(), ("certificates without attendance", valid));
    }

    /// Each mark is the merge of what was sent: a hand that was acknowledged stays over every scan, each hand that was counted
    /// raised the version by one, and what was acknowledged is stored.
    pub(crate) fn marks(&self, promise: &mut Promise) {
        let mut sent: BTreeMap<(&str, &str), Vec<&Sent>> = BTreeMap::new();
        for one in self.users.iter().flat_map(|user| &user.marks) {
            sent.entry((&one.person, &one.session)).or_default().push(one);
        }
        let held = self.users.iter().find_map(|user| user.held.as_ref());
        let course = held.map(|held| held.course.clone()).unwrap_or_default();
        for ((person, session), sent) in sent {
            let item = self.at(&format!("ATTENDANCE#{course}"), &format!("USER#{person}"));
            let mark = item.map_or(&Value::Null, |item| &item["marks"][session]);
            let is_acknowledged = |one: &&&Sent| one.outcome == Outcome::Acknowledged;
            let hands = || sent.iter().filter(|one| one.is_hand);
            let stored = hands().filter(|one| one.result["result"] == "MARKED").count() as u64;
            let unknown = hands().filter(|one| one.outcome == Outcome::Unknown).count() as u64;
            let version = mark["version"].as_u64().unwrap_or_default();
            let is_counted = (stored..=stored + unknown).contains(&version);
            promise.check(is_counted, ("version", &sent, mark));
            let source = if version == 0 { "SCAN" } else { "HAND" };
            let is_stored = !mark.is_null() || !sent.iter().any(|one| is_acknowledged(&one));
            promise.check(is_stored, ("not stored", &sent, mark));
            promise.check(mark.is_null() || mark["source"] == source, ("source", &sent, mark));
            let of_version = hands().find(|one| {
                one.result["result"] == "MARKED" && one.result["mark"]["version"] == version
            });
            let is_last = of_version.is_none_or(|one| {
                let status = mark.get("status").unwrap_or(&Value::Null);
                one.result["mark"]["status"] == *status
            });
            promise.check(is_last, ("status", &sent, mark));
        }
        let sessions = self.at(&format!("COURSE#{course}"), "SESSIONS");
        let marked = sessions.map_or(&Value::Null, |item| &item["marked"]);
        for item in self.of(&format!("ATTENDANCE#{course}"), "USER#") {
            for session in item["marks"].as_object().into_iter().flat_map(|marks| marks.keys()) {
                let is_known = marked.as_array().is_some_and(|ids| ids.contains(&json!(session)));
                promise.check(is_known, ("a mark of no session", item));
            }
        }
    }
}
