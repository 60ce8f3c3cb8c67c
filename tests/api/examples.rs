//! The examples of successes in the OpenAPI document are answers of the service with the demonstration data.

use std::{collections::HashMap, fs, time::Duration};

use cloud::strict::Strictness;
use dev::operations::operations;
use domain::Instant;
use http::Method;
use serde_json::json;
use serde_yaml_ng::{Mapping, Value as Yaml};
use tests::{Answer, Document, PASSWORD, Person, TotpApp, World};

use crate::{
    costs::every_endpoint,
    registrations::{Course, automatic},
    seed::browser,
};

/// The answers, which the document shows.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../infra/api/examples.json");
/// When they seem to be given: after the times in the demonstration data.
const NOW: &str = "2026-11-21T09:00:00.000Z";
/// Later times than this after the beginning of a run are those of the demonstration data.
const MONTH: Duration = Duration::from_secs(30 * 86_400);
/// The sessions of the demonstration data began this long before a run, or less.
const HELD: Duration = Duration::from_secs(8 * 86_400);

/// With the environment variable `UPDATE` it writes the examples instead, as `cargo dev update` does. An example that differs
/// by what is random alone stays.
#[expect(clippy::disallowed_methods, reason = "says that the examples are to be written")]
#[tokio::test]
async fn examples_are_answers_of_the_seeded_service() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    world.cloud().set_strictness(Strictness::default());
    let mut answers = Answers { begun: world.clock().now(), by_name: HashMap::new() };
    let ids: HashMap<String, String> = operations()
        .into_iter()
        .map(|one| (format!("{} {}", one.method, one.path), one.id))
        .collect();
    world.seed().await;
    world.deliver().await;
    // In reverse order, so that answers to examples of requests come last and stay.
    for (route, answer) in every_endpoint(&world).await.all.into_iter().rev() {
        if let Some(id) = ids.get(&route) {
            answers.add(id, "", &answer);
        }
    }
    several(&world, &mut answers).await;
    let kept = fs::read_to_string(FILE).unwrap();
    let kept: Mapping = serde_yaml_ng::from_str(&kept).unwrap();
    let wanted = wanted().into_iter().map(|name| {
        let new = answers.by_name.get(&name).unwrap_or_else(|| panic!("no call shows {name:?}"));
        let old = kept.get(&name).filter(|old| differ_by_chance(old, new));
        let shown = serde_json::to_string(old.unwrap_or(new)).unwrap();
        format!("  {name:?}: {shown}")
    });
    let written = format!("{{\n{}\n}}\n", wanted.collect::<Vec<_>>().join(",\n"));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(FILE, &written).unwrap();
    }
    let kept = fs::read_to_string(FILE).unwrap();
    let changed: Vec<&str> =
        written.lines().filter(|line| !kept.lines().any(|old| old == *line)).collect();
    assert!(kept == written, "`cargo dev update` writes it:\n{}", changed.join("\n"));
}

/// The names of the examples that the document shows, in its order.
fn wanted() -> Vec<String> {
    let mut wanted = Vec::new();
    for item in Document::get().root()["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let responses = operation["responses"].as_object().into_iter().flatten();
            for (status, response) in responses.filter(|(status, _)| status.as_str() < "400") {
                let media = &response["content"]["application/json"];
                let name = format!("{} {status}", operation["operationId"].as_str().unwrap());
                match media["examples"].as_object() {
                    Some(several) => {
                        wanted.extend(several.keys().map(|one| format!("{name} {one}")))
                    }
                    None => wanted.extend(media.is_object().then_some(name)),
                }
            }
        }
    }
    wanted
}

/// The bodies by the names of the examples; the last answer with a name stays.
struct Answers {
    /// When the run began.
    begun: Instant,
    by_name: HashMap<String, Yaml>,
}

impl Answers {
    fn add(&mut self, id: &str, name: &str, answer: &Answer) {
        let key = format!("{id} {} {name}", answer.status);
        if let Ok(body) = serde_yaml_ng::from_slice(&answer.body) {
            let shown = self.shown(body);
            self.by_name.insert(key.trim_end().to_owned(), shown);
        }
    }

    /// `value` as if the run had begun at [`NOW`], with links to AWS.
    fn shown(&self, value: Yaml) -> Yaml {
        match value {
            Yaml::Mapping(fields) => fields
                .into_iter()
                .map(|(name, value)| (name, self.shown(value)))
                .collect::<Mapping>()
                .into(),
            Yaml::Sequence(elements) => {
                elements.into_iter().map(|element| self.shown(element)).collect::<Vec<_>>().into()
            }
            Yaml::String(text) => self.shown_text(text).into(),
            other => other,
        }
    }

    fn shown_text(&self, text: String) -> String {
        if text.starts_with("Bearer ") {
            return "Bearer ACCESS.TOKEN.EXAMPLE".to_owned();
        }
        if let Some(link) = text.strip_prefix("http://127.0.0.1:") {
            let (path, signature) = match link.split_once('?') {
                Some((path, _)) => (path, "?X-Amz-Signature=EXAMPLE"),
                None => (link, ""),
            };
            let path = path.trim_start_matches(|letter: char| letter.is_ascii_digit());
            return format!("https://s3.eu-west-3.amazonaws.com{path}{signature}");
        }
        let first = self.begun.before(HELD);
        match time(&text).filter(|time| *time >= first).map(|time| time.since(first)) {
            Some(since) if since < MONTH => {
                NOW.parse::<Instant>().unwrap().before(HELD).after(since).to_string()
            }
            // The name of an exported file has the day.
            _ => text.replace(&day(&self.begun.to_string()), &day(NOW)),
        }
    }
}

fn day(time: &str) -> String {
    time.chars().take(10).collect()
}

/// The time `text`. Forms of S3 have another form of times, which is signed.
fn time(text: &str) -> Option<Instant> {
    text.parse().ok().filter(|_| text.contains(':'))
}

/// Whether the values are equal but for times of the same hour, random ids and numbers, sizes of compressed files, and links.
fn differ_by_chance(old: &Yaml, new: &Yaml) -> bool {
    match (old, new) {
        (Yaml::Mapping(old), Yaml::Mapping(new)) => {
            let mut pairs = old.iter().zip(new);
            old.len() == new.len()
                && pairs.all(|(old, new)| old.0 == new.0 && differ_by_chance(old.1, new.1))
        }
        (Yaml::Sequence(old), Yaml::Sequence(new)) => {
            let mut pairs = old.iter().zip(new);
            old.len() == new.len() && pairs.all(|(old, new)| differ_by_chance(old, new))
        }
        (Yaml::String(old), Yaml::String(new)) if old != new => match (time(old), time(new)) {
            (Some(old), Some(new)) => {
                old.since(new).max(new.since(old)) < Duration::from_secs(3_600)
            }
            (None, None) => is_random(old) && is_random(new),
            _ => false,
        },
        (Yaml::Number(old), Yaml::Number(new)) if old != new => {
            let (old, new) = (old.as_f64().unwrap_or_default(), new.as_f64().unwrap_or_default());
            old > 1e12 && new > 1e12 || (old - new).abs() < old / 100.0
        }
        _ => old == new,
    }
}

/// Whether `text` is one word of at least ten characters, such as an id, a code or a link, and no id of the demonstration
/// data.
fn is_random(text: &str) -> bool {
    text.len() >= 10 && !text.contains(' ') && !text.starts_with("0198c0de")
}

/// The answers of operations that have several examples.
async fn several(world: &World, answers: &mut Answers) {
    let [amina, salma, nizar, wassim] = ["02", "20", "21", "22"];
    let person = async |id: &str| {
        let id = format!("0198c0de-0000-7000-8000-0000000000{id}").parse().unwrap();
        world.signed_in(world.user(id).await).await
    };
    let (amina, salma) = (person(amina).await, person(salma).await);
    let (nizar, wassim) = (person(nizar).await, person(wassim).await);
    for (name, caller) in [("public", &world.anonymous()), ("full", &amina)] {
        answers.add("listCommittees", name, &caller.get("/committees").await);
        let path = format!("/committees/{}", wassim.user().committee_id);
        answers.add("showCommittee", name, &caller.get(&path).await);
    }
    let path = |person: &Person| format!("/users/{}", person.user().user_id);
    answers.add("showUser", "editable", &salma.get(&path(&wassim)).await);
    answers.add("showUser", "account", &nizar.get(&path(&wassim)).await);
    answers.add("showUser", "card", &wassim.get(&path(&nizar)).await);
    let list = "/users/my-committee-users?limit=2";
    answers.add("listCommitteeUsers", "accounts", &salma.get(list).await);
    answers.add("listCommitteeUsers", "cards", &wassim.get(list).await);
    let body = json!({
        "message": "Bonjour {prenom}, la formation de secourisme commence demain à 8 h.",
        "recipients": ["+21622000456", "+21655000788"], "dryRun": true,
    });
    answers.add("sendBulkSms", "dryRun", &salma.post("/sms/bulk", body).await);
    let body = json!({
        "message": "Bonjour {{prenom}}, la formation de secourisme commence demain à 8 h.",
        "recipients": [
            { "to": "+21622000456", "variables": { "prenom": "Youssef" }, "clientRef": "inscription-17" },
            { "to": "+21655000788", "message": "La salle a changé, venez à la maison des jeunes." },
            { "to": "+21622000456", "variables": { "prenom": "Youssef" } },
            { "to": "98 00" },
        ],
    });
    answers.add("sendBulkSms", "accepted", &salma.post("/sms/bulk", body).await);
    let file = "/files/public/0198c0de-0000-7000-8000-00000000000e";
    answers.add("showPublicFile", "", &world.anonymous().get(file).await);
    courses(&nizar, answers).await;
    registrations(world, [&wassim, &salma, &amina], answers).await;
    exports(&nizar, &wassim, answers).await;
    answers.add(
        "listAudit",
        "",
        &amina.get("/audit?limit=2&userID=0198c0de-0000-7000-8000-000000000002").await,
    );
    sign_in(world, &wassim, answers).await;
}

/// The ends of a sign-in, without and with a second factor.
async fn sign_in(world: &World, member: &Person, answers: &mut Answers) {
    let anonymous = browser(world);
    let email = member.user().email.as_str();
    let link = async || {
        let token = anonymous.ask_to_sign_in(email, "email").await["token"].clone();
        let path = format!("/auth/passwordless?code={}", world.mailed_link(email).await);
        anonymous.with_token(token.as_str().unwrap()).get(&path).await
    };
    answers.add("login", "signedIn", &anonymous.login(email, PASSWORD).await);
    answers.add("signInPasswordless", "signedIn", &link().await);
    let app = TotpApp::pending_of(member).await;
    let enrolled = member.post("/otp/verify", json!({ "code": app.code(world) })).await;
    answers.add("verifyOtp", "enrolled", &enrolled);
    world.clock().advance(Duration::from_secs(60));
    let begun = anonymous.login(email, PASSWORD).await;
    answers.add("login", "otpRequired", &begun);
    answers.add("signInPasswordless", "otpRequired", &link().await);
    let token = begun.json()["token"].clone();
    let caller = anonymous.with_token(token.as_str().unwrap());
    let signed_in = caller.post("/otp/verify", json!({ "code": app.code(world) })).await;
    answers.add("verifyOtp", "signedIn", &signed_in);
}

/// A course that is published twice, by each method, and one that is created under a chosen id.
async fn courses(trainer: &Person, answers: &mut Answers) {
    let course = json!({
        "courseTitle": "Gestes et postures", "description": "Porter sans se blesser, en une matinée.",
        "courseType": "ONLINE", "sectionOfMatter": "Prévention", "contactEmail": "formation.sfax@example.org",
    });
    let path = "/courses/0198c0de-0000-7000-8000-0000000000f1";
    answers.add("replaceCourse", "", &trainer.put(path, course).await);
    let (trainer, publish) = (trainer.json(), format!("/api/v1{path}/publish"));
    for (id, method) in [("publishCourse", Method::POST), ("publishCourseByGet", Method::GET)] {
        let body = if method == Method::POST { "{}" } else { "" };
        for name in ["published", "alreadyPublished"] {
            answers.add(id, name, &trainer.send(method.clone(), &publish, body.into()).await);
        }
        trainer.post(&format!("{path}/to-draft"), json!({})).await.expect_ok();
    }
}

/// The three answers to a registration.
async fn registrations(world: &World, people: [&Person; 3], answers: &mut Answers) {
    let [first, second, third] = people;
    let automatic = Course::in_world(world.clone(), automatic(1, 5)).await;
    let manual = Course::in_world(world.clone(), json!({ "mode": "MANUAL" })).await;
    for (name, person, course) in [
        ("confirmed", first, &automatic),
        ("waitlisted", second, &automatic),
        ("pending", third, &manual),
    ] {
        answers.add("register", name, &course.register(person).await);
    }
}

/// The data of a person, and of one whose courses need a link.
async fn exports(trainer: &Person, member: &Person, answers: &mut Answers) {
    let path = |person: &Person| format!("/users/{}/export", person.user().user_id);
    answers.add("exportUser", "inline", &member.get(&path(member)).await);
    let long = json!({ "courseTitle": "Soudure", "description": "🔥".repeat(20_000) });
    for _ in 0..52 {
        trainer.post("/courses", long.clone()).await.expect_created();
    }
    answers.add("exportUser", "link", &trainer.get(&path(trainer)).await);
}
