//! Checks all promises after the run.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Debug,
    net::Ipv4Addr,
    sync::Arc,
};

use bytes::Bytes;
use cloud::random::SeededRandom;
use http::Request;
use serde_dynamo::Item;
use serde_json::{Value, json};
use tests::World;

use crate::{
    DAY, SMS_PER_COMMITTEE, SMS_PER_USER,
    accounts::Account,
    client::{Call, Client, Expected, Outcome, Response, Service, exchange},
    content::{Batch, Course},
    history::Change,
    users::VirtualUser,
};

/// A promise, the number of its checks, and the failed ones.
pub(crate) struct Promise {
    pub(crate) name: &'static str,
    pub(crate) checked: u64,
    pub(crate) broken: Vec<String>,
}

impl Promise {
    /// Counts one check; `what` is printed if it fails.
    pub(crate) fn check(&mut self, holds: bool, what: impl Debug) {
        self.checked += 1;
        if !holds {
            self.broken.push(format!("{what:?}"));
        }
    }
}

#[derive(Default)]
struct Promises(Vec<Promise>);

impl Promises {
    /// The new promise `name`.
    fn of(&mut self, name: &'static str) -> &mut Promise {
        self.0.push(Promise { name, checked: 0, broken: Vec::new() });
        self.0.last_mut().expect("it was added")
    }
}

/// The state after the run.
pub(crate) struct State<'a> {
    pub(crate) world: &'a World,
    faults: &'a BTreeMap<String, u64>,
    pub(crate) users: Vec<VirtualUser>,
    client: Client,
    /// The items of both tables, as plain JSON.
    items: Vec<Value>,
    by_key: HashMap<[String; 2], usize>,
    /// All writes of courses and registrations, in their order.
    pub(crate) changes: Vec<Change>,
}

impl<'a> State<'a> {
    pub(crate) fn read(
        world: &'a World,
        service: &Arc<Service>,
        faults: &'a BTreeMap<String, u64>,
        users: Vec<VirtualUser>,
    ) -> Self {
        let (address, random) = (Ipv4Addr::new(127, 0, 2, 1), SeededRandom::new(0));
        let client = Client { service: Arc::clone(service), address, random, cuts: false };
        let stored = ["records", "transient"].into_iter().flat_map(|table| world.items(table));
        let items: Vec<Value> = stored.map(plain_item).collect();
        let key = |item| ["pk", "sk"].map(|name| text(item, name));
        let by_key = items.iter().enumerate().map(|(at, item)| (key(item), at)).collect();
        Self { world, faults, users, client, items, by_key, changes: Vec::new() }
    }

    pub(crate) fn with_changes(self, changes: Vec<Change>) -> Self {
        Self { changes, ..self }
    }

    pub(crate) async fn check(mut self) -> Vec<Promise> {
        let mut all = Promises::default();
        self.due(all.of("no work is left in the due index"));
        self.refused(all.of("nothing from a refused request is stored"));
        self.accounts(all.of("accounts match the last acknowledged change"));
        self.addresses(all.of("each address has one owner, each owner one address")).await;
        let races = all.of("of two concurrent claims to an address one succeeds");
        for race in self.users.iter().flat_map(|user| &user.races) {
            races.check(race.1 < 2, race);
        }
        self.admins(all.of("the set of super admins matches the accounts"));
        self.sessions(all.of("ended sessions are invalid, all others are valid")).await;
        self.passwords(all.of("exactly the accounts that may sign in can")).await;
        for user in &mut self.users {
            user.people[0].sign_in(&mut self.client).await;
            user.token = user.people[0].usable_tokens().pop().unwrap_or_default();
        }
        self.courses(all.of("courses and questions match the last acknowledged change"));
        self.questions(all.of("number, size and order of questions are right"));
        self.seats(all.of("counters of seats equal registrations, which are as acknowledged"));
        self.free_seats(all.of("no inactive person keeps a free seat from others"));
        self.places(all.of("no mail names a place on a waiting list that was never true"));
        self.expiries(all.of("no registration expires under dates that do not hold"));
        self.marks(all.of("each mark of attendance is the merge of those that were sent"));
        self.certificates(
            all.of("a person has one valid certificate of a course, as acknowledged"),
        );
        self.searches(all.of("search finds the published courses, and no others")).await;
        self.files(all.of("uploaded files are complete, and no others exist")).await;
        self.usage(all.of("the used bytes of files add up"));
        self.messages(all.of("accepted text messages are stored exactly once"));
        self.sent(all.of("a text message is sent at most once, and its status is correct"));
        self.mails(all.of("a mail is sent at most once, and its status is correct"));
        self.unknown(all.of("a message is UNKNOWN only if a fault caused it"));
        self.quotas(all.of("accepted messages count against the quotas, which are not exceeded"));
        self.opt_outs(all.of("the opt-out list matches the last acknowledged changes"));
        self.batches(all.of("the counts of a batch add up")).await;
        self.actions(all.of("every action is in the audit once, and nothing else"));
        self.audited_states(all.of("the last audit entry matches the stored state"));
        self.copies(all.of("an audit entry is found by actor and by target"));
        self.subdomains(all.of("created subdomains are listed, after an audit entry"));
        let responses = self.client.service.responses();
        let answered = responses.times.range(1..).map(|(_, times)| times).sum();
        let envelopes = all.of("every response is an envelope, and none is a 500");
        (envelopes.checked, envelopes.broken) = (answered, responses.malformed.clone());
        let replays = all.of("an idempotency key always gets the same response");
        replays.checked = self.users.iter().map(|user| user.replays).sum();
        let during = all.of("responses during the faults were correct");
        let violations = self.users.iter().flat_map(|user| user.violations.clone());
        (during.checked, during.broken) = (answered, violations.collect());
        all.0
    }

    /// The response to a request from `address`, sent again if the first try fails.
    async fn call_from(&self, address: Ipv4Addr, call: Call) -> Response {
        let mut client = Client { address, ..self.client.clone() };
        let response = client.send(&call).await;
        if matches!(response.status, 0 | 500..) { client.send(&call).await } else { response }
    }

    async fn get(&self, token: &str, path: &str) -> Response {
        let call = Call::new(token, &format!("GET {path}"), Value::Null);
        self.call_from(self.client.address, call).await
    }

    /// The item with this key.
    pub(crate) fn at(&self, pk: &str, sk: &str) -> Option<&Value> {
        self.by_key.get(&[pk.to_owned(), sk.to_owned()]).map(|at| &self.items[*at])
    }

    /// The items whose partition key starts with `pk`, and whose sort key is `sk`, or starts with it if it ends with `#`.
    pub(crate) fn of(&self, pk: &str, sk: &str) -> impl Iterator<Item = &Value> {
        self.items.iter().filter(move |item| {
            let own = item["sk"].as_str().unwrap_or_default();
            let is_sk = own == sk || (sk.ends_with('#') && own.starts_with(sk));
            is_sk && item["pk"].as_str().is_some_and(|own| own.starts_with(pk))
        })
    }

    /// The cards of these items.
    pub(crate) fn cards(&self, pk: &str, sk: &str) -> impl Iterator<Item = &Value> {
        self.of(pk, sk).map(|item| &item["card"])
    }

    /// All accounts that are known to exist or to have existed.
    pub(crate) fn people(&self) -> impl Iterator<Item = &Account> {
        self.users.iter().flat_map(|user| &user.people).filter(|account| !account.id.is_empty())
    }

    fn due(&self, promise: &mut Promise) {
        let latest = self.world.clock().now().after(DAY).unix_milliseconds();
        for item in &self.items {
            // New accounts are erased after a week, unless they are verified; the registrations for a course end after a
            // year, and people are reminded of it when it begins.
            let is_unverified = !item["card"]["unverifiedUntil"].is_null();
            let is_later = item["dueAt"].as_i64() > Some(latest);
            let holds = match item["duePk"].as_str() {
                None => !is_unverified,
                Some("UNVERIFIED") => is_unverified,
                Some(_) => {
                    is_later
                        && ["SEATS", "ANNOUNCEMENTS", "CERTIFICATE"].contains(&&*text(item, "sk"))
                }
            };
            promise.check(holds, item);
        }
    }

    fn refused(&self, promise: &mut Promise) {
        let mut stored = HashMap::new();
        for item in &self.items {
            let json = item.to_string();
            stored.extend(words(&json).map(|word| (word.to_owned(), &item["pk"])));
        }
        for word in self.users.iter().flat_map(|user| &user.refused) {
            let place = stored.get(word);
            promise.check(place.is_none(), (word, place));
        }
    }

    fn accounts(&self, promise: &mut Promise) {
        for account in self.people() {
            let item = self.at(&format!("USER#{}", account.id), "USER");
            let card = item.map_or(&Value::Null, |item| &item["card"]);
            let is_erased = !card["erasedAt"].is_null();
            promise.check(item.is_some() && account.is_erased.allows(&is_erased), (account, card));
            if is_erased {
                continue;
            }
            let is = |expected: &Expected<bool>, name: &str| {
                expected.0.iter().any(|one| card[name] == *one)
            };
            let holds = account.last_name.allows(&text(card, "lastName"))
                && account.label.allows(&text(card, "role"))
                && account.profile.allows(&text(card, "profile"))
                && is(&account.is_active, "isActive")
                && is(&account.is_verified, "isVerified")
                && account.email == text(card, "email");
            promise.check(holds, (account, card));
        }
    }

    async fn addresses(&self, promise: &mut Promise) {
        let mut owned = counted(self.of("EMAIL#", "EMAIL").map(|item| text(item, "userID")));
        for card in self.cards("USER#", "USER").filter(|card| card["erasedAt"].is_null()) {
            let (id, email) = (text(card, "userID"), text(card, "email"));
            let address = email.parse().expect("a stored address is valid");
            let owner = self.world.setup().store.email_owner(&address).await;
            let owner = owner.expect("the store answers").map(|owner| owner.user_id.to_string());
            let holds = owned.remove(&id) == Some(1) && owner.as_ref() == Some(&id);
            promise.check(holds, (email, id, owner));
        }
        promise.check(owned.is_empty(), ("addresses without an owner", owned));
    }

    fn admins(&self, promise: &mut Promise) {
        let ids = self.at("ADMINS", "ADMINS").and_then(|item| item["ids"].as_array());
        let ids: Vec<&Value> = ids.into_iter().flatten().collect();
        for card in self.cards("USER#", "USER") {
            let is_admin = card["profile"] == "SA" && card["isActive"] == true;
            promise.check(ids.contains(&&card["userID"]) == is_admin, card);
        }
        promise.check(!ids.is_empty(), "one super admin remains");
    }

    async fn sessions(&self, promise: &mut Promise) {
        let sessions =
            self.people().flat_map(|one| one.sessions.iter().map(move |session| (one, session)));
        for (account, session) in sessions {
            let expected = match session.has_ended.exact() {
                Some(true) => 401,
                _ if account.is_closed() => 401,
                Some(false) if account.is_open() => 200,
                _ => continue,
            };
            let response = self.get(&session.token, "/auth/check").await;
            promise.check(response.status == expected, (account, session, response));
        }
    }

    /// Open accounts can sign in with the last acknowledged password, or with a later one of unknown outcome; closed ones
    /// cannot.
    async fn passwords(&self, promise: &mut Promise) {
        for (number, account) in self.people().enumerate() {
            let (email, is_closed) = (&account.email, account.is_closed());
            if !is_closed && !account.is_open() {
                continue;
            }
            // Failed sign-ins of one account must not count for the next.
            let [.., high, low] = (number % 60_000 + 256 * 4).to_be_bytes();
            let address = Ipv4Addr::new(127, 1, high, low);
            // The address of an erased account may belong to another one, with another password.
            let mut statuses = Vec::new();
            for password in account.password.0.iter().take(5) {
                let body = json!({ "email": email, "password": password });
                let call = Call::new("", "POST /auth/login", body);
                statuses.push(self.call_from(address, call).await.status);
            }
            promise.check(statuses.contains(&200) != is_closed, (email, is_closed, statuses));
        }
    }

    fn courses(&self, promise: &mut Promise) {
        let mut questions: HashMap<String, Vec<String>> = HashMap::new();
        for item in self.of("COURSE#", "QUESTIONS") {
            let stored = item["questions"].as_array().into_iter().flatten();
            let texts = stored.map(|question| text(question, "question")).collect();
            questions.insert(text(item, "pk"), texts);
        }
        for course in self.users.iter().flat_map(|user| &user.courses) {
            let Course { id, title: titles, state: states, .. } = course;
            let pk = format!("COURSE#{id}");
            let card = self.at(&pk, "COURSE").map(|item| &item["card"]);
            let title = card.map_or(String::new(), |card| text(card, "courseTitle"));
            promise.check(titles.allows(&title.replace("Cours ", "")), (course, title));
            let Some(card) = card else { continue };
            promise.check(states.0.iter().any(|state| card["state"] == *state), (course, card));
            let stored = questions.remove(&pk).unwrap_or_default();
            for question in &course.questions {
                let times = stored.iter().filter(|stored| **stored == question.word).count();
                let holds = times < 2 && question.exists.allows(&(times == 1));
                promise.check(holds, (question, times));
            }
            promise.check(stored.len() <= course.questions.len(), ("unexpected questions", course));
        }
    }

    fn questions(&self, promise: &mut Promise) {
        for item in self.of("COURSE#", "COURSE") {
            let stored = self.at(&text(item, "pk"), "QUESTIONS");
            let list = stored.and_then(|stored| stored["questions"].as_array());
            let ids = list.into_iter().flatten().map(|question| text(question, "questionID"));
            let (count, ids) = (list.map_or(0, Vec::len), ids.collect::<BTreeSet<_>>());
            let version = stored.map(|stored| &stored["version"]);
            let holds = ids.len() == count
                && item["card"]["questionCount"] == count
                && item.get("questionsVersion") == version;
            promise.check(holds, (item, stored));
        }
        for item in self.of("COURSE#", "QUESTIONS") {
            let course = self.at(&text(item, "pk"), "COURSE");
            promise.check(course.is_some(), ("questions without a course", item));
        }
    }

    async fn searches(&self, promise: &mut Promise) {
        let (mut published, mut titles) = (BTreeSet::new(), BTreeSet::new());
        for card in self.cards("COURSE#", "COURSE") {
            let (id, title) = (text(card, "courseID"), text(card, "courseTitle"));
            let mut expected = BTreeSet::new();
            if card["state"] == "PUBLISHED" {
                expected.insert(id.clone());
                published.insert(id);
                titles.insert(title.clone());
            }
            for word in words(&title) {
                let found = self.search(&format!("q={word}&")).await;
                promise.check(found == expected, (card, found));
            }
        }
        let found = self.search("").await;
        let differ: Vec<_> = found.symmetric_difference(&published).collect();
        promise.check(differ.is_empty(), ("the list of all differs", differ));
        // The search index has no entry of a replaced or rejected title.
        for item in self.of("WORD#zq", "AT#") {
            let word = text(item, "pk").trim_start_matches("WORD#").to_owned();
            promise.check(titles.contains(&format!("Cours {word}")), ("an entry is left", word));
        }
    }

    /// The courses on all pages of a search.
    async fn search(&self, query: &str) -> BTreeSet<String> {
        let (mut found, mut cursor) = (BTreeSet::new(), String::new());
        for _ in 0..200 {
            let path = format!("/courses/search-all?{query}limit=100{cursor}");
            let response = self.get(&self.users[0].token, &path).await;
            let courses = response.body["courses"].as_array().into_iter().flatten();
            found.extend(courses.map(|course| text(course, "courseID")));
            let next = response.text("/nextCursor");
            if next.is_empty() {
                break;
            }
            cursor = format!("&cursor={next}");
        }
        found
    }

    async fn files(&self, promise: &mut Promise) {
        for (user, file) in
            self.users.iter().flat_map(|user| user.files.iter().map(move |file| (user, file)))
        {
            let item = self.at(&format!("FILE#{}", file.id), "FILE");
            let status = item.map(|item| text(&item["card"], "status"));
            let (was_sent, is_deleted) = (&file.was_sent, &file.is_deleted);
            let holds = match status.as_deref() {
                None => is_deleted.allows(&true) || (!file.is_ready && was_sent.allows(&false)),
                Some("READY") => is_deleted.allows(&false) && was_sent.allows(&true),
                _ => false,
            };
            promise.check(holds, (file, &status));
            if status.as_deref() == Some("READY") {
                let url =
                    self.get(&user.token, &format!("/files/{}", file.id)).await.text("/file/url");
                let request = Request::get(&url).body(Bytes::new().into()).unwrap_or_default();
                let stored = exchange(None, request).await.ok().flatten();
                let is_complete =
                    stored.is_some_and(|(parts, bytes)| parts.status == 200 && bytes == file.text);
                promise.check(is_complete, ("differs from the uploaded text", file, url));
            }
        }
    }

    fn usage(&self, promise: &mut Promise) {
        let mut used: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for card in self.cards("FILE#", "FILE") {
            let (files, bytes) = used.entry(format!("USAGE#{}", text(card, "userID"))).or_default();
            *files += 1;
            *bytes += card["size"].as_u64().unwrap_or(0);
        }
        for item in self.of("USAGE#", "USAGE") {
            let (files, bytes) = used.remove(&text(item, "pk")).unwrap_or_default();
            let holds = item["files"] == files && item["bytes"] == bytes && item["taken"] == bytes;
            promise.check(holds, (item, files, bytes));
        }
        promise.check(used.is_empty(), ("not counted", used));
    }

    /// The word in the text of the message `item`.
    fn word_of(&self, item: &Value) -> String {
        let batch = format!("BATCH#{}", text(&item["card"], "batchID"));
        let own = self.at(&text(item, "pk"), "TEXT");
        let text = own.or_else(|| self.at(&batch, "TEXT")).map(|item| text(item, "text"));
        words(&text.unwrap_or_default()).next().unwrap_or_default().to_owned()
    }

    fn messages(&self, promise: &mut Promise) {
        // Identifier and number of each message, by word.
        let mut stored: HashMap<String, BTreeSet<(String, String)>> = HashMap::new();
        for item in self.of("SMS#", "SMS") {
            let (id, to) = (text(&item["card"], "smsID"), text(&item["card"], "to"));
            stored.entry(self.word_of(item)).or_default().insert((id, to));
        }
        for batch in self.users.iter().flat_map(|user| &user.batches) {
            let found = stored.remove(&batch.word).unwrap_or_default();
            let holds = match batch.outcome {
                Outcome::Acknowledged => found == batch.accepted.iter().cloned().collect(),
                Outcome::Refused => found.is_empty(),
                Outcome::Unknown => found.len() <= batch.recipients,
            };
            promise.check(holds, (batch, found));
        }
        promise.check(stored.is_empty(), ("unexpected messages", stored));
    }

    fn sent(&self, promise: &mut Promise) {
        let word = |sms: &Value| words(&text(sms, "text")).next().unwrap_or_default().to_owned();
        let texts = self.world.cloud().recorder().texts();
        let mut sent = counted(texts.iter().map(|sms| (text(sms, "to"), word(sms))));
        for item in self.of("SMS#", "SMS") {
            let card = &item["card"];
            let times = sent.remove(&(text(card, "to"), self.word_of(item))).unwrap_or(0);
            let holds = match card["status"].as_str() {
                Some("SENT") => times == 1,
                Some("FAILED") => times == 0,
                Some("UNKNOWN") => times < 2,
                _ => false,
            };
            promise.check(holds, (card, times));
        }
        promise.check(sent.is_empty(), ("unexpected messages", sent));
    }

    /// A mail's text is deleted once it is sent, so mails are only counted; those with a code are distinguished by it.
    fn mails(&self, promise: &mut Promise) {
        let counts = counted(self.cards("OUTBOX#", "OUTBOX").map(|card| text(card, "status")));
        let [sent, failed, unknown] =
            ["SENT", "FAILED", "UNKNOWN"].map(|name| counts.get(name).copied().unwrap_or(0));
        promise.check(counts.values().sum::<u64>() == sent + failed + unknown, &counts);
        let mails = self.world.cloud().recorder().mails();
        let holds = (sent..=sent + unknown).contains(&(mails.len() as u64));
        promise.check(holds, (mails.len(), "mails", counts));
        let codes = mails.iter().filter(|mail| text(mail, "text").contains("#code="));
        for (mail, times) in counted(codes.map(|mail| ["to", "text"].map(|name| text(mail, name))))
        {
            promise.check(times == 1, (mail, times));
        }
    }

    /// A status is UNKNOWN only if a fault caused it: no response from SNS or SES, or from the store to a claim or its
    /// result, or a killed process, which held at most eight messages. The two that are killed at the end count, too.
    fn unknown(&self, promise: &mut Promise) {
        let times = |kind: &str| self.faults.get(kind).copied().unwrap_or(0);
        let of = |service: &str, modes: &[&str]| -> u64 {
            modes.iter().map(|mode| times(&format!("{service}: {mode}"))).sum()
        };
        let carriers = of("sns", &["silent", "slow"]) + of("ses", &["silent", "slow"]);
        let store = of("dynamodb", &["silent", "slow", "refuse", "error", "throttle"]);
        let mut left = carriers + store + 8 * (times("kill of dispatcher and worker") + 2);
        for card in self.cards("SMS#", "SMS").chain(self.cards("OUTBOX#", "OUTBOX")) {
            let is_unknown = card["status"] == "UNKNOWN";
            promise.check(!is_unknown || left > 0, ("more than faults", card));
            left = left.saturating_sub(u64::from(is_unknown));
        }
    }

    fn quotas(&self, promise: &mut Promise) {
        let user = |card: &Value| format!("USER#{}", text(card, "userID"));
        let committee = |card: &Value| format!("COMMITTEE#{}", text(card, "committeeID"));
        let owners = self.cards("SMS#", "SMS").flat_map(|card| [user(card), committee(card)]);
        let messages = counted(owners);
        // A run may cover two days.
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for item in self.of("QUOTA#", "QUOTA") {
            let pk = text(item, "pk");
            let owner = pk.trim_start_matches("QUOTA#").rsplit_once('#').map_or("", |pair| pair.0);
            let is_user = owner.starts_with("USER#");
            let most = if is_user { SMS_PER_USER } else { SMS_PER_COMMITTEE };
            let count = item["n"].as_u64().unwrap_or(u64::MAX);
            promise.check(count <= most, item);
            *counted.entry(owner.to_owned()).or_default() += count;
        }
        for (owner, count) in messages {
            // Messages of a request whose outcome is unknown stay counted.
            let counter = counted.get(&owner);
            promise.check(counter >= Some(&count), (owner, count, counter));
        }
    }

    fn opt_outs(&self, promise: &mut Promise) {
        let cards = self.cards("OPTOUT#", "OPTOUT");
        let stored: Vec<String> = cards.map(|card| text(card, "number")).collect();
        for (number, expected) in self.users.iter().flat_map(|user| &user.opt_outs) {
            promise.check(expected.allows(&stored.contains(number)), (number, expected));
        }
    }

    async fn batches(&self, promise: &mut Promise) {
        for user in &self.users {
            let is_certain = |batch: &&Batch| {
                batch.outcome == Outcome::Acknowledged && !batch.batch_id.is_empty()
            };
            for batch in user.batches.iter().filter(is_certain) {
                let path = format!("/sms/bulk/{}", batch.batch_id);
                let counts = &self.get(&user.token, &path).await.body["batch"];
                let states =
                    ["queued", "sending", "sent", "failed", "unknown", "delivered", "undelivered"];
                let sum: u64 = states.iter().filter_map(|state| counts[state].as_u64()).sum();
                let accepted = batch.accepted.len() as u64;
                promise.check(counts["accepted"] == accepted && sum == accepted, (batch, counts));
            }
        }
    }

    fn actions(&self, promise: &mut Promise) {
        // By actor, action and target. The first administrator acted only before the run.
        let actors: BTreeSet<&str> = self.users.iter().map(|user| &*user.people[0].id).collect();
        let mut entered = counted(self.cards("AUDIT#", "AUDIT#").filter_map(|entry| {
            let (actor, action) = (text(entry, "actorID"), text(entry, "action"));
            let target = match action.as_str() {
                "SUBDOMAIN_REQUESTED" => return None,
                "TEAM_MEMBER_UPDATED" => text(&entry["after"], "role"),
                _ => text(entry, "targetID"),
            };
            actors.contains(actor.as_str()).then_some([actor, action, target])
        }));
        // The minimum and the maximum number of times that each action was done.
        let mut done: BTreeMap<[String; 3], (u64, u64)> = BTreeMap::new();
        for user in &self.users {
            let batches = user.batches.iter().filter(|batch| !batch.batch_id.is_empty());
            let batches = batches.map(|batch| ("BATCH_ACCEPTED", &batch.batch_id, true));
            let audited =
                user.audited.iter().map(|(action, target, done)| (*action, target, *done));
            for (action, target, is_certain) in audited.chain(batches) {
                let key = [&user.people[0].id, action, target].map(str::to_owned);
                let (certain, possible) = done.entry(key).or_default();
                *certain += u64::from(is_certain);
                *possible += 1;
            }
        }
        for (key, (certain, possible)) in done {
            let times = entered.remove(&key).unwrap_or(0);
            promise.check((certain..=possible).contains(&times), (key, times, certain, possible));
        }
        // Batches of unknown outcome are checked against the store.
        entered.retain(|[_, action, _], _| action != "BATCH_ACCEPTED");
        promise.check(entered.is_empty(), ("not done", entered));
    }

    /// Clocks are wrong, so the order of the entries is unknown. But each state is entered as often as it is left; the
    /// first state counts as entered, and the stored one as left.
    fn audited_states(&self, promise: &mut Promise) {
        let mut flows: HashMap<String, BTreeMap<String, i64>> = HashMap::new();
        let courses = self.of("COURSE#", "COURSE").map(|item| (item, "state", json!("DRAFT")));
        let users = self.of("USER#", "USER").map(|item| (item, "isActive", json!(true)));
        for (item, field, first) in courses.chain(users) {
            let card = &item["card"];
            // Erasing one's own account writes no entry.
            if card["erasedAt"].is_null() {
                let flow = flows.entry(text(item, "pk")).or_default();
                *flow.entry(first.to_string()).or_default() += 1;
                *flow.entry(card[field].to_string()).or_default() -= 1;
            }
        }
        for entry in self.cards("AUDIT#", "AUDIT#") {
            let is_course = entry["targetType"] == "COURSE";
            let (kind, field) = if is_course { ("COURSE", "state") } else { ("USER", "isActive") };
            let flow = flows.get_mut(&format!("{kind}#{}", text(entry, "targetID")));
            let Some(flow) = flow else { continue };
            for (side, step) in [("before", -1), ("after", 1)] {
                let state = &entry[side][field];
                *flow.entry(state.to_string()).or_default() += i64::from(!state.is_null()) * step;
            }
        }
        for flow in flows {
            promise.check(flow.1.values().all(|left| *left == 0), flow);
        }
        let batches = self.cards("AUDIT#", "AUDIT#").filter(|entry| entry["targetType"] == "BATCH");
        let entered = counted(batches.map(|entry| text(entry, "targetID")));
        let stored = counted(self.cards("BATCH#", "BATCH").map(|card| text(card, "batchID")));
        promise.check(entered == stored, ("batches", entered, stored));
    }

    fn copies(&self, promise: &mut Promise) {
        for entry in self.cards("AUDIT#", "AUDIT#") {
            let sk = format!("AUDIT#{}", text(entry, "auditID"));
            let pk = |field| format!("PERSON-AUDIT#{}", text(entry, field));
            let has_copy = |field| self.at(&pk(field), &sk).is_some();
            let is_of_user = entry["targetType"] == "USER";
            promise.check(has_copy("actorID") && (!is_of_user || has_copy("targetID")), entry);
        }
    }

    fn subdomains(&self, promise: &mut Promise) {
        let panel = self.world.cloud().uapi().shown();
        for (word, outcome) in self.users.iter().flat_map(|user| &user.subdomains) {
            let fqdn = Value::from(format!("{word}.formation.example.org"));
            let is_listed = panel["subDomains"].as_array().is_some_and(|all| all.contains(&fqdn));
            let times = self
                .cards("AUDIT#", "AUDIT#")
                .filter(|entry| entry["after"]["fqdn"] == fqdn)
                .count();
            let holds = match outcome {
                Outcome::Acknowledged => is_listed && times == 1,
                Outcome::Refused => !is_listed && times < 2,
                Outcome::Unknown => times == 1 || (times == 0 && !is_listed),
            };
            promise.check(holds, (fqdn, outcome, is_listed, times));
        }
    }
}

/// The text of the field `name`, or an empty string.
pub(crate) fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// How often each key occurs.
fn counted<K: Ord>(keys: impl IntoIterator<Item = K>) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts
}

/// The words of the virtual users in `text`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("zq")
        .filter_map(|(at, _)| text.get(at..at + 10))
        .filter(|word| word.ends_with('k') && word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Converts an item of DynamoDB's JSON into plain JSON.
pub(crate) fn plain_item(item: Value) -> Value {
    let item: Item = serde_json::from_value(item).expect("an item");
    serde_dynamo::from_item(item).expect("it is an object")
}
