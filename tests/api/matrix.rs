//! The rights matrix: profile × endpoint × own or other committee × grant × verified or not × open or closed
//! committee, compared with [`expected`], which states the federation's table of rights.
//! A new endpoint must be added to [`endpoints`].

use std::collections::BTreeSet;

use common::Message;
use domain::{Grant, Profile};
use futures_util::{StreamExt, stream};
use http::Method;
use serde_json::{Value, json};
use tests::{Document, NewPerson, Person, World};

/// What an endpoint requires of its caller.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Requirement {
    /// No session.
    Nothing,
    /// A session of any account.
    Session,
    /// A verified account.
    Verified,
    /// The right to see the other account.
    SeeUser,
    /// To be the owner of the account.
    BeUser,
    /// To be the owner or a super admin.
    EraseUser,
    /// The right to see the activity of the other account.
    SeeActivity,
    /// The right to edit the other account.
    EditUser,
    /// The right to read the audit.
    ReadAudit,
    /// The profile super admin.
    SuperAdmin,
    /// A verified account of an open committee.
    KeepFiles,
    /// The right to write courses, at least own ones.
    Write,
    /// The right to publish courses, at least own ones.
    Publish,
    /// The right to read a draft of another author.
    SeeDraft,
    /// The right to write a draft of another author.
    WriteDraft,
    /// The right to publish a draft of another author.
    PublishDraft,
    /// The right to send single text messages.
    Send,
    /// The right to send text messages in bulk.
    SendBulk,
    /// The right to read messages that others sent.
    SeeSms,
    /// The right to read opt-outs.
    ReadOptOuts,
    /// The right to change opt-outs.
    ChangeOptOuts,
    /// The right to read the cPanel account.
    ReadPanel,
    /// The right to change the cPanel account.
    WritePanel,
}

use Requirement::{
    BeUser, ChangeOptOuts, EditUser, EraseUser, KeepFiles, Nothing, Publish, PublishDraft,
    ReadAudit, ReadOptOuts, ReadPanel, SeeActivity, SeeDraft, SeeSms, SeeUser, Send, SendBulk,
    Session, SuperAdmin, Verified, Write, WriteDraft, WritePanel,
};

/// Operation, requirement, path (empty: that of the operation) and body. In the path, `{other}` is the other
/// account, `{draft}` a draft of the other account's committee and `{own}` the caller.
fn endpoints() -> Vec<(&'static str, Requirement, &'static str, Value)> {
    vec![
        ("GET /health", Nothing, "", Value::Null),
        ("GET /media/{key}", Nothing, "", Value::Null),
        ("POST /auth/login", Nothing, "", json!({})),
        ("POST /auth/passkey", Nothing, "", json!({})),
        ("POST /auth/passkey/options", Nothing, "", json!({})),
        ("POST /auth/passwordless", Nothing, "", json!({})),
        ("GET /auth/passwordless", Nothing, "", Value::Null),
        ("POST /users/register", Nothing, "", json!({})),
        ("GET /users/reset-password", Nothing, "", Value::Null),
        ("POST /users/reset-password", Nothing, "", json!({})),
        ("PUT /users/email-verification", Nothing, "", json!({})),
        ("POST /users/not-me", Nothing, "", json!({})),
        ("GET /committees", Nothing, "", Value::Null),
        ("GET /committees/{committeeId}", Nothing, "", Value::Null),
        ("GET /auth/check", Session, "", Value::Null),
        ("GET /auth/current-user", Session, "", Value::Null),
        ("GET /auth/sessions", Session, "", Value::Null),
        ("DELETE /auth/sessions/{sid}", Session, "/auth/sessions/x", Value::Null),
        ("GET /otp/generate", Verified, "", Value::Null),
        ("POST /otp/verify", Verified, "", json!({})),
        ("DELETE /otp", Session, "", json!({})),
        ("POST /otp/recovery-codes", Session, "", json!({})),
        ("POST /passkeys/registration-options", Verified, "", json!({})),
        ("POST /passkeys", Verified, "", json!({})),
        ("GET /passkeys", Session, "", Value::Null),
        ("PUT /passkeys/{passkeyId}", Session, "/passkeys/x", json!({})),
        ("DELETE /passkeys/{passkeyId}", Session, "/passkeys/x", Value::Null),
        ("PUT /users/reset-password", Session, "", json!({})),
        ("POST /users/email-verification", Session, "", json!({})),
        ("POST /users/phone-verification", Verified, "", json!({})),
        ("PUT /users/phone-verification", Verified, "", json!({})),
        ("POST /users/avatar", Session, "", Value::Null),
        ("GET /users/activity", Session, "", Value::Null),
        ("GET /users/activity", SeeActivity, "/users/activity?userID={other}", Value::Null),
        ("GET /users/my-committee-users", Verified, "", Value::Null),
        ("GET /users/{userId}", Session, "/users/{own}", Value::Null),
        ("PUT /users/{userId}", Session, "/users/{own}", json!({})),
        ("GET /users/{userId}/export", Session, "/users/{own}/export", Value::Null),
        ("GET /users/{userId}", SeeUser, "/users/{other}", Value::Null),
        ("PUT /users/{userId}", BeUser, "/users/{other}", json!({})),
        ("GET /users/{userId}/export", BeUser, "/users/{other}/export", Value::Null),
        (
            "PUT /users/user-status/{userId}",
            EditUser,
            "/users/user-status/{other}",
            json!({ "isActive": true }),
        ),
        ("PUT /team/{userId}", EditUser, "/team/{other}", json!({})),
        ("DELETE /team/{userId}/otp", EditUser, "/team/{other}/otp", Value::Null),
        ("GET /audit", ReadAudit, "", Value::Null),
        ("POST /committees", SuperAdmin, "", json!({})),
        ("PUT /committees/{committeeId}", SuperAdmin, "/committees/x", json!({})),
        ("GET /courses/committee", Verified, "", Value::Null),
        ("GET /courses/search-all", Session, "", Value::Null),
        ("POST /courses", Write, "", json!({})),
        ("GET /courses/{courseId}", Session, "/courses/x", Value::Null),
        ("GET /courses/{courseId}", SeeDraft, "/courses/{draft}", Value::Null),
        (
            "PUT /courses/{courseId}",
            WriteDraft,
            "/courses/{draft}",
            json!({ "courseTitle": "Forge" }),
        ),
        ("DELETE /courses/{courseId}", Write, "/courses/x", Value::Null),
        ("GET /courses/{courseId}/publish", PublishDraft, "/courses/{draft}/publish", Value::Null),
        ("POST /courses/{courseId}/publish", Publish, "/courses/x/publish", json!({})),
        (
            "GET /courses/{courseId}/to-draft",
            PublishDraft,
            "/courses/{draft}/to-draft",
            Value::Null,
        ),
        ("POST /courses/{courseId}/to-draft", Publish, "/courses/x/to-draft", json!({})),
        (
            "POST /courses/questions/{courseId}",
            WriteDraft,
            "/courses/questions/{draft}",
            json!({ "questions": [{ "language": "FR", "question": "?", "questionType": "FILE" }] }),
        ),
        (
            "GET /courses/questions/{courseId}/{questionId}",
            Session,
            "/courses/questions/x/x",
            Value::Null,
        ),
        (
            "PUT /courses/questions/{courseId}/{questionId}",
            Write,
            "/courses/questions/x/x",
            json!({}),
        ),
        (
            "DELETE /courses/questions/{courseId}/{questionId}",
            Write,
            "/courses/questions/x/x",
            Value::Null,
        ),
        ("GET /files/my-files", Session, "", Value::Null),
        ("POST /files", KeepFiles, "", json!({})),
        ("GET /files/{fileId}", Session, "/files/x", Value::Null),
        ("POST /files/{fileId}/complete", KeepFiles, "/files/x/complete", json!({})),
        ("DELETE /files/{fileId}", KeepFiles, "/files/x", Value::Null),
        ("GET /files/public/{fileId}", Nothing, "", Value::Null),
        ("GET /sms", Verified, "", Value::Null),
        ("GET /sms", SeeSms, "/sms?scope=committee", Value::Null),
        ("GET /sms/bulk", Verified, "", Value::Null),
        ("GET /sms/bulk", SeeSms, "/sms/bulk?scope=committee", Value::Null),
        ("POST /sms/single", Send, "", json!({})),
        ("POST /sms/bulk", SendBulk, "", json!({})),
        ("GET /sms/{smsId}", Verified, "/sms/x", Value::Null),
        ("GET /sms/bulk/{batchId}", Verified, "/sms/bulk/x", Value::Null),
        ("GET /sms/opt-outs", ReadOptOuts, "", Value::Null),
        ("GET /sms/opt-outs/{number}", ReadOptOuts, "/sms/opt-outs/x", Value::Null),
        ("PUT /sms/opt-outs/{number}", ChangeOptOuts, "/sms/opt-outs/x", json!({})),
        ("DELETE /sms/opt-outs/{number}", ChangeOptOuts, "/sms/opt-outs/x", Value::Null),
        ("GET /cpanel/subdomain", ReadPanel, "", Value::Null),
        ("GET /cpanel/domains", ReadPanel, "", Value::Null),
        ("GET /cpanel/db", ReadPanel, "", Value::Null),
        (
            "POST /cpanel/subdomain",
            WritePanel,
            "",
            json!({ "domain": "blog", "rootdomain": "formation.example.org" }),
        ),
        // Last, because they end the session of the caller.
        ("DELETE /users/{userId}", EraseUser, "/users/{other}", json!({})),
        ("POST /auth/logout", Session, "", json!({})),
    ]
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

/// The status by the federation's table; `None` where it depends on the input only.
fn expected(requirement: Requirement, caller: &Caller, other: &Other) -> Option<u16> {
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
    let can_all = other
        .grant
        .is_none_or(|grant| by_profile(caller.profile, grant) || caller.grant == Some(grant));
    let edits = is_super || (other.is_near && other.profile < caller.profile && can_all);
    let found = |status: Option<u16>| if sees { status } else { Some(404) };
    let has = |grant: Grant| caller.grant == Some(grant);
    let writes = caller.profile >= Profile::Trainer || has(Grant::CoursesWrite);
    let publishes = caller.profile >= Profile::Trainer || has(Grant::CoursesPublish);
    let stopped = !caller.is_verified || (!caller.is_open && !is_super);
    // Rights of committee admins by profile, and of others by one of `grants`, within their own committee.
    let of_committee =
        |grants: &[Grant]| sees && (is_admin || grants.iter().any(|grant| has(*grant)));
    match requirement {
        Requirement::Nothing | Requirement::Session => None,
        Requirement::Verified => (!caller.is_verified).then_some(403),
        Requirement::SeeUser if !caller.is_verified => Some(403),
        Requirement::SeeUser => found(Some(200)),
        Requirement::BeUser if !caller.is_verified => Some(403),
        Requirement::BeUser => found(Some(403)),
        Requirement::EraseUser if !caller.is_verified => Some(403),
        Requirement::EraseUser if is_super => None,
        Requirement::EraseUser => found(Some(403)),
        Requirement::SeeActivity if !is_admin || !caller.is_verified => Some(403),
        Requirement::SeeActivity => found(Some(200)),
        Requirement::EditUser
            if !is_admin || !caller.is_verified || (!caller.is_open && !is_super) =>
        {
            Some(403)
        }
        Requirement::EditUser => found(Some(if edits { 200 } else { 403 })),
        Requirement::ReadAudit | Requirement::SeeSms => {
            Some(if is_admin && caller.is_verified { 200 } else { 403 })
        }
        Requirement::SuperAdmin if !is_super || !caller.is_verified => Some(403),
        Requirement::SuperAdmin => None,
        Requirement::KeepFiles => stopped.then_some(403),
        Requirement::Write => (!writes || stopped).then_some(403),
        Requirement::Publish => (!publishes || stopped).then_some(403),
        Requirement::Send => (stopped || !(is_admin || has(Grant::SmsSend))).then_some(403),
        Requirement::SendBulk => (stopped || !(is_super || has(Grant::SmsBulk))).then_some(403),
        Requirement::ReadOptOuts => (!is_admin || !caller.is_verified).then_some(403),
        Requirement::ChangeOptOuts => (!is_admin || stopped).then_some(403),
        Requirement::SeeDraft if !of_committee(&[Grant::CoursesWrite, Grant::CoursesPublish]) => {
            Some(404)
        }
        Requirement::SeeDraft => Some(if caller.is_verified { 200 } else { 403 }),
        Requirement::WriteDraft if !writes || stopped => Some(403),
        // Concurrent cells change the same draft: 409 is possible.
        Requirement::WriteDraft if of_committee(&[Grant::CoursesWrite]) => None,
        Requirement::WriteDraft => {
            Some(if of_committee(&[Grant::CoursesPublish]) { 403 } else { 404 })
        }
        Requirement::PublishDraft if !publishes || stopped => Some(403),
        Requirement::ReadPanel => {
            Some(if (is_super || has(Grant::CpanelRead)) && caller.is_verified { 200 } else { 403 })
        }
        // the subdomain exists already
        Requirement::WritePanel => {
            Some(if (is_super || has(Grant::CpanelWrite)) && !stopped { 409 } else { 403 })
        }
        // The draft is incomplete, or is a draft already.
        Requirement::PublishDraft if of_committee(&[Grant::CoursesPublish]) => None,
        Requirement::PublishDraft => {
            Some(if of_committee(&[Grant::CoursesWrite]) { 403 } else { 404 })
        }
    }
}

async fn call(
    person: &Person,
    (other, draft): (&str, &str),
    operation: &str,
    path: &str,
    body: &Value,
) -> tests::Answer {
    let (method, template) = operation.split_once(' ').unwrap();
    let path = if path.is_empty() { template } else { path };
    let path = path
        .replace("{other}", other)
        .replace("{draft}", draft)
        .replace("{own}", &person.user().user_id.to_string());
    let prefix = if path.starts_with("/media") { "" } else { "/api/v1" };
    let bytes = if body.is_null() { String::new() } else { body.to_string() };
    let sender = if body.is_null() { person.clone() } else { person.json() };
    sender
        .send(
            Method::from_bytes(method.as_bytes()).unwrap(),
            &format!("{prefix}{path}"),
            bytes.into(),
        )
        .await
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
            for is_verified in [true, false] {
                for is_open in [true, false] {
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
            .expect_success(Message::CourseCreated)["course"]
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
            for (operation, requirement, path, body) in endpoints() {
                let may_edit_members = requirement == Requirement::EditUser
                    && expected(requirement, &caller, &plain(true)) == Some(200);
                let is_about_another = path.contains("{other}") || path.contains("{draft}");
                let targets_that_matter = match (is_about_another, may_edit_members) {
                    (true, true) => targets.len(),
                    (true, false) => 2,
                    (false, _) => 1,
                };
                for (id, draft, other) in targets.iter().take(targets_that_matter) {
                    // A super admin would erase the account.
                    if requirement == Requirement::EraseUser
                        && caller.profile == Profile::SuperAdmin
                        && caller.is_verified
                    {
                        continue;
                    }
                    let answer = call(&person, (id, draft), operation, path, &body).await;
                    cells += 1;
                    let fits = match expected(requirement, &caller, other) {
                        Some(status) => answer.status == status,
                        None if requirement == Requirement::Nothing => answer.status != 403,
                        None if path.contains("{draft}") => {
                            ![401, 403, 404].contains(&answer.status)
                        }
                        None => ![401, 403].contains(&answer.status),
                    };
                    if !fits {
                        wrong.push(format!(
                            "{caller:?} {operation} {other:?}: {} {}",
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

/// The status and code by which `state` changes the result of an operation; `None` where it changes nothing.
fn changed_by(
    state: State,
    operation: &str,
    requirement: Requirement,
) -> Option<(u16, &'static str)> {
    use Requirement::{
        ChangeOptOuts, EditUser, KeepFiles, Nothing, Publish, PublishDraft, Send, SendBulk,
        Session, Write, WriteDraft, WritePanel,
    };
    let writes = [
        ChangeOptOuts,
        EditUser,
        KeepFiles,
        Publish,
        PublishDraft,
        Send,
        SendBulk,
        Write,
        WriteDraft,
        WritePanel,
    ];
    match state {
        // The caller is a committee administrator, whom super admins' operations refuse in any state.
        State::Unverified if ![Nothing, Session, SuperAdmin].contains(&requirement) => {
            Some((403, "ACCOUNT_NOT_VERIFIED_MESSAGE"))
        }
        State::ClosedCommittee if writes.contains(&requirement) => {
            Some((403, "COMMITTEE_INACTIVE_MESSAGE"))
        }
        State::Deactivated if requirement != Nothing => Some((401, "BAD_AUTH_COMBINATION_MESSAGE")),
        State::OldSignIn if needs_recent_sign_in(operation) => {
            Some((403, "REAUTHENTICATION_REQUIRED_MESSAGE"))
        }
        _ => None,
    }
}

fn needs_recent_sign_in(operation: &str) -> bool {
    [
        "GET /otp/generate",
        "POST /passkeys",
        "POST /passkeys/registration-options",
        "DELETE /passkeys/{passkeyId}",
    ]
    .contains(&operation)
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
            .expect_success(Message::CourseCreated)["course"]["courseID"]
            .as_str()
            .unwrap()
            .to_owned();
        let other = world.unhashed_account(&member).await.user_id.to_string();
        let all_grants: Vec<Grant> = Grant::ALL.to_vec();
        let caller = NewPerson::with(Profile::CommitteeAdmin).of(committee);
        let caller = caller.granted(&all_grants);
        let caller = if state == State::Unverified { caller.unverified() } else { caller };
        let mut user = world.unhashed_account(&caller).await;
        if state == State::UnverifiedMailbox {
            let stored = user.changed(|user| user.is_mailbox_verified = Some(false));
            let mut tx = world.setup().store.transaction();
            tx.change_user(&user, &stored);
            assert_eq!(tx.commit().await.unwrap(), store::CommitOutcome::Committed);
            user = stored;
        }
        let person = world.signed_in(user).await;
        let admin = world.admin().await;
        match state {
            State::ClosedCommittee => {
                let path = format!("/committees/{committee}");
                let closing = admin.put(&path, json!({ "isActive": false })).await;
                closing.expect_success(Message::CommitteeUpdated);
            }
            State::Deactivated => {
                let path = format!("/users/user-status/{}", person.user().user_id);
                let closing = admin.put(&path, json!({ "isActive": false })).await;
                closing.expect_success(Message::UserStatusUpdated);
            }
            State::OldSignIn => world.clock().advance(std::time::Duration::from_secs(600)),
            State::Normal | State::Unverified | State::UnverifiedMailbox => {}
        }
        let mut results = Vec::new();
        for (operation, requirement, path, body) in endpoints() {
            let answer = call(&person, (&other, &draft), operation, path, &body).await;
            let result = (answer.status, answer.code());
            results.push((format!("{operation} {path}"), operation, requirement, result));
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
        for (usual, (name, operation, requirement, result)) in
            normal.iter().zip(results(state).await)
        {
            let expected = changed_by(state, operation, requirement)
                .map_or_else(|| usual.3.clone(), |(status, code)| (status, code.into()));
            if result != expected {
                wrong.push((name, result, expected));
            }
        }
        assert!(wrong.is_empty(), "{state:?}: {wrong:#?}");
    }
}

#[test]
fn matrix_contains_every_operation() {
    let operations: BTreeSet<String> = Document::get().operations().into_iter().collect();
    let known: BTreeSet<String> =
        endpoints().into_iter().map(|(operation, ..)| operation.to_owned()).collect();
    assert_eq!(operations, known);
}

#[tokio::test]
async fn operation_that_needs_a_session_returns_401_without_one() {
    let world = World::new().await;
    let anonymous =
        world.anonymous().as_user(world.account(&NewPerson::with(Profile::Member)).await);
    for (operation, requirement, path, body) in endpoints() {
        let answer = call(&anonymous, ("x", "x"), operation, path, &body).await;
        let is_public = requirement == Requirement::Nothing;
        assert!(is_public || answer.status == 401, "{operation}: {answer:?}");
    }
}
