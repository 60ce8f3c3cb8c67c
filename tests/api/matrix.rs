//! The rights matrix: profile × operation × own or other committee × grant × verified or not × open or closed
//! committee. What an operation requires is `x-access` in the OpenAPI document; [`refused_by`] states the federation's
//! table of rights.

use common::Message;
use dev::operations::{Operation, operations, resolved};
use domain::{Grant, Profile};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tests::{NewPerson, Person, World};

/// A call of an operation.
#[derive(Debug, Clone)]
struct Call {
    operation: String,
    method: String,
    /// The value of `x-access` that decides, of the operation or of a query parameter.
    access: String,
    /// `{other}` is the other account, `{draft}` a draft of the other account's committee and `{own}` the caller.
    path: String,
    body: Value,
    needs_recent_sign_in: bool,
}

impl Call {
    /// Whether the call is about the other account or a draft of its committee.
    fn is_about_another(&self) -> bool {
        self.path.contains("{other}") || self.path.contains("{draft}")
    }
}

/// The bodies of operations that look at their object after their body, and so need a valid one.
fn body(operation: &Operation) -> Value {
    match format!("{} {}", operation.method, operation.path).as_str() {
        "PUT /users/user-status/{userId}" => json!({ "isActive": true }),
        "PUT /courses/{courseId}" => json!({ "courseTitle": "Forge" }),
        "POST /courses/questions/{courseId}" => {
            json!({ "questions": [{ "language": "FR", "question": "?", "questionType": "FILE" }] })
        }
        "POST /registrations/{courseId}/cancel-course" => json!({ "reason": "?" }),
        "PUT /registrations/{courseId}/sessions" => json!({ "sessions": [] }),
        "POST /registrations/{courseId}/attendance" => json!({
            "sentAt": "2026-11-21",
            "marks": [{
                "userID": domain::UserId::NONE, "sessionID": domain::CourseSessionId::NONE,
                "status": "NONE", "version": 0,
            }],
        }),
        "POST /registrations/{courseId}/decisions" => {
            json!({ "decisions": [{ "userID": domain::UserId::NONE, "decision": "REJECT" }] })
        }
        "POST /cpanel/subdomain" => {
            json!({ "domain": "blog", "rootdomain": "formation.example.org" })
        }
        "POST /users/avatar" => Value::Null,
        _ if operation.content_type.is_some() => json!({}),
        _ => Value::Null,
    }
}

/// The calls that show what `operation` requires: about the caller and about another account, and once more with each
/// query parameter that requires more.
fn calls_of(operation: &Operation) -> Vec<Call> {
    let document =
        &dev::operations::DOCUMENT["paths"][&operation.path][operation.method.to_lowercase()];
    let user = match operation.access.as_str() {
        "see-user" | "own-user" => &["{own}", "{other}"][..],
        _ => &["{other}"],
    };
    // A draft that is archived, or whose questions are deleted, would answer the other calls differently.
    let course = match operation.access.as_str() {
        "see-course" if !operation.path.contains("{questionId}") => &["{draft}", "x"][..],
        _ if operation.method == "DELETE" || operation.path.contains("{questionId}") => &["x"],
        _ => &["{draft}"],
    };
    let call = |access: &str, path: String| Call {
        operation: format!("{} {}", operation.method, operation.path),
        method: operation.method.clone(),
        access: access.to_owned(),
        path,
        body: body(operation),
        needs_recent_sign_in: document["x-recent-sign-in"] == true,
    };
    let mut calls = Vec::new();
    if operation.path.contains("{courseId}") && operation.path.contains("{userId}") {
        let path = operation.path.replace("{courseId}", "{draft}").replace("{userId}", "{other}");
        calls.push(call(&operation.access, path.replace("{questionId}", "x")));
    } else if operation.path.contains("{userId}") {
        for id in user {
            calls.push(call(&operation.access, operation.path.replace("{userId}", id)));
        }
    } else if operation.path.contains("{courseId}") {
        for id in course {
            let path = operation.path.replace("{courseId}", id).replace("{questionId}", "x");
            calls.push(call(&operation.access, path));
        }
    } else {
        let mut path = operation.path.clone();
        while let Some((start, end)) = path.find('{').zip(path.find('}')) {
            path.replace_range(start..=end, "x");
        }
        calls.push(call(&operation.access, path));
    }
    for parameter in document["parameters"].as_array().into_iter().flatten().map(resolved) {
        if let (Some(access), Some(name)) =
            (parameter["x-access"].as_str(), parameter["name"].as_str())
        {
            let value =
                if name == "userID" { "{other}" } else { parameter["example"].as_str().unwrap() };
            calls.push(call(access, format!("{}?{name}={value}", operation.path)));
        }
    }
    calls
}

/// The calls of all operations. Those that end the session of the caller come last.
fn calls() -> Vec<Call> {
    let mut calls: Vec<Call> = operations().iter().flat_map(calls_of).collect();
    calls.sort_by_key(|call| (call.operation == "POST /auth/logout", call.access == "erase-user"));
    calls
}

/// The caller of a cell.
#[derive(Debug, Clone)]
struct Caller {
    profile: Profile,
    grant: Option<Grant>,
    is_verified: bool,
    is_open: bool,
}

/// The account that the call is about.
#[derive(Debug, Clone)]
struct Other {
    profile: Profile,
    grant: Option<Grant>,
    is_near: bool,
}

/// The status with which `call` is refused by the federation's table; `None` where the caller may call.
fn refused_by(call: &Call, caller: &Caller, other: &Other) -> Option<u16> {
    let is_super = caller.profile == Profile::SuperAdmin;
    let is_admin = caller.profile >= Profile::CommitteeAdmin;
    let sees = is_super || other.is_near;
    // Whether a profile includes a grant.
    let by_profile = |profile: Profile, grant: Grant| match grant {
        Grant::CoursesWrite | Grant::CoursesPublish | Grant::SmsSend => {
            profile >= Profile::CommitteeAdmin
        }
        Grant::UsersRead => profile >= Profile::Trainer,
        Grant::SmsBulk | Grant::CpanelRead | Grant::CpanelWrite => profile == Profile::SuperAdmin,
    };
    let has = |grant: Grant| caller.grant == Some(grant);
    let may = |grant: Grant| by_profile(caller.profile, grant) || has(grant);
    let edits = other.profile < caller.profile && other.grant.is_none_or(may);
    let stopped = !caller.is_verified || (!caller.is_open && !is_super);
    let is_open_or_super = caller.is_open || is_super;
    // Rights of committee admins by profile, and of others by one of `grants`, within their own committee.
    let of_committee =
        |grants: &[Grant]| sees && (is_admin || grants.iter().any(|grant| has(*grant)));
    let unless = |allowed: bool| (!allowed).then_some(403);
    let about_draft = |grant: Grant, other_grant: Grant| {
        let may_by_profile = caller.profile >= Profile::Trainer || has(grant);
        if !may_by_profile || stopped {
            Some(403)
        } else if of_committee(&[grant]) || !call.is_about_another() {
            None
        } else if of_committee(&[other_grant]) {
            Some(403)
        } else {
            Some(404)
        }
    };
    match call.access.as_str() {
        "public" | "session" => None,
        "see-user" | "own-user" if call.path.contains("{own}") => None,
        "verified" => unless(caller.is_verified),
        "see-user" | "own-user" | "erase-user" if !caller.is_verified => Some(403),
        "see-user" => (!sees).then_some(404),
        "own-user" | "erase-user" => Some(if sees { 403 } else { 404 }),
        "edit-user" if !is_admin || !caller.is_verified || !is_open_or_super => Some(403),
        "edit-user" if !sees => Some(404),
        "edit-user" => unless(is_super || edits),
        "administrator" if !is_admin || !caller.is_verified => Some(403),
        "administrator" if call.is_about_another() && !sees => Some(404),
        "administrator" => None,
        "super-admin" => unless(is_super && caller.is_verified),
        "upload-files" => unless(!stopped),
        "see-course" if !call.is_about_another() => None,
        "see-course" if !of_committee(&[Grant::CoursesWrite, Grant::CoursesPublish]) => Some(404),
        "see-course" => unless(caller.is_verified),
        "write-course" => about_draft(Grant::CoursesWrite, Grant::CoursesPublish),
        "register" if stopped => Some(403),
        "register" if !of_committee(&[Grant::CoursesWrite, Grant::CoursesPublish]) => Some(404),
        "register" => None,
        // The other account is not registered for the draft.
        "registration" => Some(if caller.is_verified { 404 } else { 403 }),
        "decide-registration" => {
            let is_writer = caller.profile >= Profile::Trainer || has(Grant::CoursesWrite);
            Some(if is_writer && !stopped { 404 } else { 403 })
        }
        "read-registrations" => {
            let is_writer = caller.profile >= Profile::Trainer || has(Grant::CoursesWrite);
            if !is_writer || !caller.is_verified {
                Some(403)
            } else if of_committee(&[Grant::CoursesWrite]) {
                None
            } else {
                Some(if of_committee(&[Grant::CoursesPublish]) { 403 } else { 404 })
            }
        }
        // The caller is no marker of the draft.
        "read-attendance" | "mark-attendance" => {
            let is_stopped =
                if call.access == "mark-attendance" { stopped } else { !caller.is_verified };
            if is_stopped {
                Some(403)
            } else if of_committee(&[Grant::CoursesWrite]) {
                None
            } else {
                Some(if of_committee(&[Grant::CoursesPublish]) { 403 } else { 404 })
            }
        }
        "publish-course" => about_draft(Grant::CoursesPublish, Grant::CoursesWrite),
        "sms:send" => unless(!stopped && may(Grant::SmsSend)),
        "sms:bulk" => unless(!stopped && may(Grant::SmsBulk)),
        "change-opt-outs" => unless(is_admin && !stopped),
        "cpanel:read" => unless(caller.is_verified && may(Grant::CpanelRead)),
        "cpanel:write" => unless(!stopped && may(Grant::CpanelWrite)),
        unknown => panic!("{}: the document has no such x-access: {unknown:?}", call.operation),
    }
}

/// Whether `status` is what the table expects.
fn fits(call: &Call, refused: Option<u16>, status: u16) -> bool {
    match refused {
        Some(refused) => status == refused,
        // Without a right the right answer may be 401, for example of a wrong password.
        None if call.access == "public" => status != 403 && status < 500,
        None if call.is_about_another() => ![401, 403, 404].contains(&status) && status < 500,
        None => ![401, 403].contains(&status) && status < 500,
    }
}

async fn send(person: &Person, (other, draft): (&str, &str), call: &Call) -> tests::Answer {
    let path = call
        .path
        .replace("{other}", other)
        .replace("{draft}", draft)
        .replace("{own}", &person.user().user_id.to_string());
    let prefix = if path.starts_with("/media") { "" } else { "/api/v1" };
    let bytes = if call.body.is_null() { String::new() } else { call.body.to_string() };
    let sender = if call.body.is_null() { person.clone() } else { person.json() };
    sender.send(call.method.parse().unwrap(), &format!("{prefix}{path}"), bytes.into()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_cell_of_the_rights_matrix_matches_the_table() {
    let world = World::with(&[("RATE_LIMIT", "1000000"), ("MESSAGE_INTERVAL_SECONDS", "1")]).await;
    let (open, closed) = (
        world.another_committee("Ouvert", true).await,
        world.another_committee("Fermé", true).await,
    );
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let grants: Vec<Option<Grant>> = std::iter::once(None).chain(Grant::ALL.map(Some)).collect();
    let mut callers = Vec::new();
    for profile in Profile::ALL {
        for grant in &grants {
            for (is_verified, is_open) in
                [(true, true), (true, false), (false, true), (false, false)]
            {
                // A grant does not lift what stops its holder: seen with members, who have no rights by profile.
                let is_stopped = !is_verified || !is_open;
                if !is_stopped || grant.is_none() || profile == Profile::Member {
                    callers.push(Caller { profile, grant: *grant, is_verified, is_open });
                }
            }
        }
    }
    // The first two: same committee and another one. The right to edit depends on all of them.
    let plain = |is_near| Other { profile: Profile::Member, grant: None, is_near };
    let mut others = vec![plain(true), plain(false)];
    for profile in Profile::ALL {
        for grant in [None, Some(Grant::SmsBulk), Some(Grant::CpanelRead)] {
            others.push(Other { profile, grant, is_near: true });
        }
    }
    let mut drafts = Vec::new();
    for committee in [open, closed, elsewhere] {
        let writer = world
            .signed_in(
                world.unhashed_account(&NewPerson::with(Profile::Trainer).of(committee)).await,
            )
            .await;
        let course = writer
            .post("/courses", json!({ "courseTitle": "Soudure" }))
            .await
            .expect_created()["course"]
            .clone();
        drafts.push((committee, course["courseID"].as_str().unwrap().to_owned()));
    }
    let closing = world
        .admin()
        .await
        .put(&format!("/committees/{closed}"), json!({ "isActive": false }))
        .await;
    closing.expect_success(Message::CommitteeUpdated);
    let make = |other: Other, committee: domain::CommitteeId| {
        let draft =
            drafts.iter().find(|(of, _)| *of == committee).map(|(_, id)| id.clone()).unwrap();
        let world = world.clone();
        async move {
            let someone =
                NewPerson::with(other.profile).of(committee).granted(other.grant.as_slice());
            (world.unhashed_account(&someone).await.user_id.to_string(), draft, other)
        }
    };
    let mut near_open = Vec::new();
    let mut near_closed = Vec::new();
    for other in &others {
        near_open.push(make(other.clone(), if other.is_near { open } else { elsewhere }).await);
        near_closed.push(make(other.clone(), if other.is_near { closed } else { elsewhere }).await);
    }

    let cells = stream::iter(callers).map(|caller| {
        let (world, targets) =
            (world.clone(), if caller.is_open { near_open.clone() } else { near_closed.clone() });
        async move {
            let mut someone = NewPerson::with(caller.profile)
                .of(if caller.is_open { open } else { closed })
                .granted(caller.grant.as_slice());
            if !caller.is_verified {
                someone = someone.unverified();
            }
            let person = world.signed_in(world.unhashed_account(&someone).await).await;
            let (mut cells, mut wrong) = (0, Vec::new());
            for call in calls() {
                let may_edit_members = call.access == "edit-user"
                    && refused_by(&call, &caller, &plain(true)).is_none();
                let targets_that_matter = match (call.is_about_another(), may_edit_members) {
                    (true, true) => targets.len(),
                    (true, false) => 2,
                    (false, _) => 1,
                };
                for (id, draft, other) in targets.iter().take(targets_that_matter) {
                    // A super admin would erase the account.
                    if call.access == "erase-user"
                        && caller.profile == Profile::SuperAdmin
                        && caller.is_verified
                    {
                        continue;
                    }
                    let answer = send(&person, (id, draft), &call).await;
                    cells += 1;
                    if !fits(&call, refused_by(&call, &caller, other), answer.status) {
                        wrong.push(format!(
                            "{caller:?} {} {} {other:?}: {} {}",
                            call.operation,
                            call.path,
                            answer.status,
                            answer.code()
                        ));
                    }
                }
            }
            (cells, wrong)
        }
    });
    let done: Vec<(usize, Vec<String>)> = cells.buffer_unordered(8).collect().await;
    let wrong: Vec<&String> = done.iter().flat_map(|(_, wrong)| wrong).collect();
    let count: usize = done.iter().map(|(cells, _)| cells).sum();
    assert!(
        wrong.is_empty(),
        "{} of {count} cells: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(20)]
    );
    assert!(count > 6_000, "{count}");
}

/// A state of an account or a session, besides profile and grants.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Normal,
    Unverified,
    /// Verified by an administrator, not by its mailbox.
    UnverifiedMailbox,
    ClosedCommittee,
    Deactivated,
    /// Signed in more than ten minutes ago.
    OldSignIn,
}

/// The status and code by which `state` changes the result of `call`; `None` where it changes nothing.
fn changed_by(state: State, call: &Call) -> Option<(u16, &'static str)> {
    let is_own =
        call.path.contains("{own}") || (call.access == "see-course" && !call.is_about_another());
    let access = if is_own { "session" } else { call.access.as_str() };
    let writes = [
        "change-opt-outs",
        "decide-registration",
        "edit-user",
        "mark-attendance",
        "register",
        "upload-files",
        "publish-course",
        "write-course",
        "sms:send",
        "sms:bulk",
        "cpanel:write",
    ];
    match state {
        // The caller is a committee administrator, whom super admins' operations refuse in any state.
        State::Unverified if !["public", "session", "super-admin"].contains(&access) => {
            Some((403, "ACCOUNT_NOT_VERIFIED_MESSAGE"))
        }
        State::ClosedCommittee if writes.contains(&access) => {
            Some((403, "COMMITTEE_INACTIVE_MESSAGE"))
        }
        State::Deactivated if access != "public" => Some((401, "BAD_AUTH_COMBINATION_MESSAGE")),
        State::OldSignIn if call.needs_recent_sign_in => {
            Some((403, "REAUTHENTICATION_REQUIRED_MESSAGE"))
        }
        _ => None,
    }
}

#[tokio::test]
async fn each_state_of_an_account_changes_the_operations_of_the_table() {
    let world = World::with(&[("RATE_LIMIT", "1000000")]).await;
    let results = async |state: State| {
        let committee = world.another_committee(&format!("{state:?}"), true).await;
        let member = NewPerson::with(Profile::Trainer).of(committee);
        let writer = world.person(member.clone()).await;
        let draft = writer
            .post("/courses", json!({ "courseTitle": "Soudure" }))
            .await
            .expect_created()["course"]["courseID"]
            .as_str()
            .unwrap()
            .to_owned();
        let other = world.unhashed_account(&member).await.user_id.to_string();
        let all_grants: Vec<Grant> = Grant::ALL.to_vec();
        let caller = NewPerson::with(Profile::CommitteeAdmin).of(committee).granted(&all_grants);
        let caller = if state == State::Unverified { caller.unverified() } else { caller };
        let mut user = world.unhashed_account(&caller).await;
        if state == State::UnverifiedMailbox {
            user = world.changed_account(&user, |user| user.is_mailbox_verified = false).await;
        }
        let person = world.signed_in(user).await;
        let admin = world.admin().await;
        match state {
            State::ClosedCommittee => {
                let path = format!("/committees/{committee}");
                admin.put(&path, json!({ "isActive": false })).await.expect_ok();
            }
            State::Deactivated => {
                admin.set_active(person.user().user_id, false).await;
            }
            State::OldSignIn => world.clock().advance(std::time::Duration::from_secs(600)),
            State::Normal | State::Unverified | State::UnverifiedMailbox => {}
        }
        let mut results = Vec::new();
        for call in calls() {
            let answer = send(&person, (&other, &draft), &call).await;
            results.push((call, (answer.status, answer.code())));
        }
        results
    };
    let normal = results(State::Normal).await;
    for state in [
        State::Unverified,
        State::UnverifiedMailbox,
        State::ClosedCommittee,
        State::Deactivated,
        State::OldSignIn,
    ] {
        let mut wrong = Vec::new();
        for ((_, usual), (call, result)) in normal.iter().zip(results(state).await) {
            let expected = changed_by(state, &call)
                .map_or_else(|| usual.clone(), |(status, code)| (status, code.into()));
            if result != expected {
                wrong.push((call.operation, call.path, result, expected));
            }
        }
        assert!(wrong.is_empty(), "{state:?}: {wrong:#?}");
    }
}

#[tokio::test]
async fn operation_that_needs_a_session_returns_401_without_one() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    let anonymous = world.anonymous().as_user(world.account(Profile::Member).await);
    for call in calls() {
        let answer = send(&anonymous, ("x", "x"), &call).await;
        assert!(call.access == "public" || answer.status == 401, "{call:?}: {answer:?}");
    }
}
