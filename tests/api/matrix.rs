//! The matrix of rights: every profile × every endpoint × own or other committee × grant × verified or
//! not × open or closed committee, against one function that says what the federation's table says.
//! A new endpoint takes its place in `endpoints`; a test of this file fails without it.

use std::collections::BTreeSet;

use common::Message;
use domain::{Grant, Profile};
use futures_util::{StreamExt, stream};
use http::Method;
use serde_json::{Value, json};
use tests::{Document, NewPerson, Person, World};

/// What an endpoint asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Asks {
    /// Nothing: anybody.
    Nothing,
    /// A session, whatever the account is.
    Session,
    /// A verified account.
    Verified,
    /// To see another person.
    SeeUser,
    /// To be the person.
    BeUser,
    /// The same, or to be a super admin.
    EraseUser,
    /// To administrate another person's activity.
    SeeActivity,
    /// To edit another person.
    EditUser,
    /// To be allowed to read the audit.
    ReadAudit,
    /// To be a super admin.
    SuperAdmin,
    /// To keep files: verified, of an open committee.
    Keep,
    /// To write courses, at least one's own.
    Write,
    /// To publish courses, at least one's own.
    Publish,
    /// To read a draft of another member of one's committee, or of another one.
    SeeDraft,
    /// To write it.
    WriteDraft,
    /// To publish it.
    PublishDraft,
    /// To send single text messages.
    Send,
    /// To send them to many.
    SendBulk,
    /// To look at the numbers that are not written to.
    ReadNumbers,
    /// To change them.
    ChangeNumbers,
    /// To look at the hosting account.
    ReadPanel,
    /// To change it.
    WritePanel,
}

use Asks::{
    BeUser, ChangeNumbers, EditUser, EraseUser, Keep, Nothing, Publish, PublishDraft, ReadAudit,
    ReadNumbers, ReadPanel, SeeActivity, SeeDraft, SeeUser, Send, SendBulk, Session, SuperAdmin,
    Verified, Write, WriteDraft, WritePanel,
};

/// Every operation, what it asks, the path that is sent (`{other}` is a person of the cell's committee,
/// `{own}` the caller) and the body.
fn endpoints() -> Vec<(&'static str, Asks, &'static str, Value)> {
    vec![
        ("GET /health", Nothing, "", Value::Null),
        ("GET /media/{key}", Nothing, "", Value::Null),
        ("POST /auth/login", Nothing, "", json!({})),
        ("POST /auth/passwordless", Nothing, "", json!({})),
        ("GET /auth/passwordless", Nothing, "", Value::Null),
        ("POST /users/register", Nothing, "", json!({})),
        ("GET /users/reset-password", Nothing, "", Value::Null),
        ("POST /users/reset-password", Nothing, "", json!({})),
        ("PUT /users/email-verification", Nothing, "", json!({})),
        ("GET /committees", Nothing, "", Value::Null),
        ("GET /committees/{committeeId}", Nothing, "", Value::Null),
        ("GET /auth/check", Session, "", Value::Null),
        ("GET /auth/current-user", Session, "", Value::Null),
        ("GET /auth/sessions", Session, "", Value::Null),
        (
            "DELETE /auth/sessions/{sid}",
            Session,
            "/auth/sessions/x",
            Value::Null,
        ),
        ("GET /otp/generate", Session, "", Value::Null),
        ("POST /otp/verify", Session, "", json!({})),
        ("DELETE /otp", Session, "", json!({})),
        ("POST /otp/recovery-codes", Session, "", json!({})),
        ("PUT /users/reset-password", Session, "", json!({})),
        ("POST /users/email-verification", Session, "", json!({})),
        ("POST /users/phone-verification", Session, "", json!({})),
        ("PUT /users/phone-verification", Session, "", json!({})),
        ("POST /users/avatar", Session, "", Value::Null),
        ("GET /users/activity", Session, "", Value::Null),
        (
            "GET /users/activity",
            SeeActivity,
            "/users/activity?userID={other}",
            Value::Null,
        ),
        ("GET /users/my-committee-users", Verified, "", Value::Null),
        ("GET /users/{userId}", Session, "/users/{own}", Value::Null),
        ("PUT /users/{userId}", Session, "/users/{own}", json!({})),
        (
            "GET /users/{userId}/export",
            Session,
            "/users/{own}/export",
            Value::Null,
        ),
        (
            "GET /users/{userId}",
            SeeUser,
            "/users/{other}",
            Value::Null,
        ),
        ("PUT /users/{userId}", BeUser, "/users/{other}", json!({})),
        (
            "GET /users/{userId}/export",
            BeUser,
            "/users/{other}/export",
            Value::Null,
        ),
        (
            "PUT /users/user-status/{userId}",
            EditUser,
            "/users/user-status/{other}",
            json!({ "isActive": true }),
        ),
        ("PUT /team/{userId}", EditUser, "/team/{other}", json!({})),
        (
            "DELETE /team/{userId}/otp",
            EditUser,
            "/team/{other}/otp",
            Value::Null,
        ),
        ("GET /audit", ReadAudit, "", Value::Null),
        ("POST /committees", SuperAdmin, "", json!({})),
        (
            "PUT /committees/{committeeId}",
            SuperAdmin,
            "/committees/x",
            json!({}),
        ),
        ("GET /courses/committee", Verified, "", Value::Null),
        ("GET /courses/search-all", Session, "", Value::Null),
        ("POST /courses", Write, "", json!({})),
        (
            "GET /courses/{courseId}",
            Session,
            "/courses/x",
            Value::Null,
        ),
        (
            "GET /courses/{courseId}",
            SeeDraft,
            "/courses/{draft}",
            Value::Null,
        ),
        (
            "PUT /courses/{courseId}",
            WriteDraft,
            "/courses/{draft}",
            json!({ "courseTitle": "Forge" }),
        ),
        (
            "DELETE /courses/{courseId}",
            Write,
            "/courses/x",
            Value::Null,
        ),
        (
            "GET /courses/{courseId}/publish",
            PublishDraft,
            "/courses/{draft}/publish",
            Value::Null,
        ),
        (
            "POST /courses/{courseId}/publish",
            Publish,
            "/courses/x/publish",
            json!({}),
        ),
        (
            "GET /courses/{courseId}/to-draft",
            PublishDraft,
            "/courses/{draft}/to-draft",
            Value::Null,
        ),
        (
            "POST /courses/{courseId}/to-draft",
            Publish,
            "/courses/x/to-draft",
            json!({}),
        ),
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
        ("POST /files", Keep, "", json!({})),
        ("GET /files/{fileId}", Session, "/files/x", Value::Null),
        (
            "POST /files/{fileId}/complete",
            Keep,
            "/files/x/complete",
            json!({}),
        ),
        ("DELETE /files/{fileId}", Keep, "/files/x", Value::Null),
        ("GET /files/public/{fileId}", Nothing, "", Value::Null),
        ("GET /sms", Verified, "", Value::Null),
        ("POST /sms/single", Send, "", json!({})),
        ("POST /sms/bulk", SendBulk, "", json!({})),
        ("GET /sms/{smsId}", Verified, "/sms/x", Value::Null),
        (
            "GET /sms/bulk/{batchId}",
            Verified,
            "/sms/bulk/x",
            Value::Null,
        ),
        ("GET /sms/opt-outs", ReadNumbers, "", Value::Null),
        (
            "GET /sms/opt-outs/{number}",
            ReadNumbers,
            "/sms/opt-outs/x",
            Value::Null,
        ),
        (
            "PUT /sms/opt-outs/{number}",
            ChangeNumbers,
            "/sms/opt-outs/x",
            json!({}),
        ),
        (
            "DELETE /sms/opt-outs/{number}",
            ChangeNumbers,
            "/sms/opt-outs/x",
            Value::Null,
        ),
        ("GET /cpanel/subdomain", ReadPanel, "", Value::Null),
        ("GET /cpanel/domains", ReadPanel, "", Value::Null),
        ("GET /cpanel/db", ReadPanel, "", Value::Null),
        (
            "POST /cpanel/subdomain",
            WritePanel,
            "",
            json!({ "domain": "blog", "rootdomain": "formation.example.org" }),
        ),
        // these end what they are asked with: last
        (
            "DELETE /users/{userId}",
            EraseUser,
            "/users/{other}",
            json!({}),
        ),
        ("POST /auth/logout", Session, "", json!({})),
    ]
}

/// Who calls.
#[derive(Debug, Clone)]
struct Caller {
    profile: Profile,
    grant: Option<Grant>,
    is_verified: bool,
    is_open: bool,
}

/// Whom it is about.
#[derive(Debug, Clone)]
struct Other {
    profile: Profile,
    grant: Option<Grant>,
    is_near: bool,
}

/// The status that the federation's table asks for; `None` where it leaves the call to its fields.
fn expected(asks: Asks, caller: &Caller, other: &Other) -> Option<u16> {
    let is_super = caller.profile == Profile::SuperAdmin;
    let is_admin = caller.profile >= Profile::CommitteeAdmin;
    let sees = is_super || other.is_near;
    // Grants of the caller that he has not by profile, and rights that the other has and the caller has not.
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
    // What a committee admin may by profile and others by one of these grants, within the own committee.
    let of_committee =
        |grants: &[Grant]| sees && (is_admin || grants.iter().any(|grant| has(*grant)));
    match asks {
        Asks::Nothing | Asks::Session => None,
        Asks::Verified => (!caller.is_verified).then_some(403),
        Asks::SeeUser if !caller.is_verified => Some(403),
        Asks::SeeUser => found(Some(200)),
        Asks::BeUser if !caller.is_verified => Some(403),
        Asks::BeUser => found(Some(403)),
        Asks::EraseUser if !caller.is_verified => Some(403),
        Asks::EraseUser if is_super => None,
        Asks::EraseUser => found(Some(403)),
        Asks::SeeActivity if !is_admin || !caller.is_verified => Some(403),
        Asks::SeeActivity => found(Some(200)),
        Asks::EditUser if !is_admin || !caller.is_verified || (!caller.is_open && !is_super) => {
            Some(403)
        }
        Asks::EditUser => found(Some(if edits { 200 } else { 403 })),
        Asks::ReadAudit => Some(if is_admin && caller.is_verified {
            200
        } else {
            403
        }),
        Asks::SuperAdmin if !is_super || !caller.is_verified => Some(403),
        Asks::SuperAdmin => None,
        Asks::Keep => stopped.then_some(403),
        Asks::Write => (!writes || stopped).then_some(403),
        Asks::Publish => (!publishes || stopped).then_some(403),
        Asks::Send => (stopped || !(is_admin || has(Grant::SmsSend))).then_some(403),
        Asks::SendBulk => (stopped || !(is_super || has(Grant::SmsBulk))).then_some(403),
        Asks::ReadNumbers => (!is_admin || !caller.is_verified).then_some(403),
        Asks::ChangeNumbers => (!is_admin || stopped).then_some(403),
        Asks::SeeDraft if !of_committee(&[Grant::CoursesWrite, Grant::CoursesPublish]) => Some(404),
        Asks::SeeDraft => Some(if caller.is_verified { 200 } else { 403 }),
        Asks::WriteDraft if !writes || stopped => Some(403),
        // seven others change it at the same time, so it may be 409, too
        Asks::WriteDraft if of_committee(&[Grant::CoursesWrite]) => None,
        Asks::WriteDraft => Some(if of_committee(&[Grant::CoursesPublish]) {
            403
        } else {
            404
        }),
        Asks::PublishDraft if !publishes || stopped => Some(403),
        Asks::ReadPanel => Some(
            if (is_super || has(Grant::CpanelRead)) && caller.is_verified {
                200
            } else {
                403
            },
        ),
        // it is there already
        Asks::WritePanel => Some(if (is_super || has(Grant::CpanelWrite)) && !stopped {
            409
        } else {
            403
        }),
        // it is not ready, or a draft already
        Asks::PublishDraft if of_committee(&[Grant::CoursesPublish]) => None,
        Asks::PublishDraft => Some(if of_committee(&[Grant::CoursesWrite]) {
            403
        } else {
            404
        }),
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
    let prefix = if path.starts_with("/media") {
        ""
    } else {
        "/api/v1"
    };
    let bytes = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let sender = if body.is_null() {
        person.clone()
    } else {
        person.json()
    };
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
                    callers.push(Caller {
                        profile,
                        grant: *grant,
                        is_verified,
                        is_open,
                    });
                }
            }
        }
    }
    // The first two tell near from far; who may edit whom depends on all of them.
    let plain = |is_near| Other {
        profile: Profile::Member,
        grant: None,
        is_near,
    };
    let mut others = vec![plain(true), plain(false)];
    for profile in Profile::ALL {
        for grant in [None, Some(Grant::SmsBulk), Some(Grant::CpanelRead)] {
            others.push(Other {
                profile,
                grant,
                is_near: true,
            });
        }
    }
    let mut drafts = Vec::new();
    for committee in [open, closed, elsewhere] {
        let writer = world
            .signed_in(
                world
                    .unhashed_account(&NewPerson::with(Profile::Trainer).of(committee))
                    .await,
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
        .put(
            &format!("/committees/{closed}"),
            json!({ "isActive": false }),
        )
        .await;
    closing.expect_success(Message::CommitteeUpdated);
    let make = |other: Other, committee: domain::CommitteeId| {
        let draft = drafts
            .iter()
            .find(|(of, _)| *of == committee)
            .map(|(_, id)| id.clone())
            .unwrap();
        let world = world.clone();
        async move {
            let someone = NewPerson::with(other.profile)
                .of(committee)
                .granted(other.grant.as_slice());
            (
                world.unhashed_account(&someone).await.user_id.to_string(),
                draft,
                other,
            )
        }
    };
    let mut near_open = Vec::new();
    let mut near_closed = Vec::new();
    for other in &others {
        near_open.push(make(other.clone(), if other.is_near { open } else { elsewhere }).await);
        near_closed.push(
            make(
                other.clone(),
                if other.is_near { closed } else { elsewhere },
            )
            .await,
        );
    }

    let cells = stream::iter(callers).map(|caller| {
        let (world, targets) = (
            world.clone(),
            if caller.is_open {
                near_open.clone()
            } else {
                near_closed.clone()
            },
        );
        async move {
            let mut someone = NewPerson::with(caller.profile)
                .of(if caller.is_open { open } else { closed })
                .granted(caller.grant.as_slice());
            if !caller.is_verified {
                someone = someone.unverified();
            }
            let person = world
                .signed_in(world.unhashed_account(&someone).await)
                .await;
            let (mut cells, mut wrong) = (0, Vec::new());
            for (operation, asks, path, body) in endpoints() {
                let may_edit_somebody =
                    asks == Asks::EditUser && expected(asks, &caller, &plain(true)) == Some(200);
                let is_about_another = path.contains("{other}") || path.contains("{draft}");
                let targets_that_matter = match (is_about_another, may_edit_somebody) {
                    (true, true) => targets.len(),
                    (true, false) => 2,
                    (false, _) => 1,
                };
                for (id, draft, other) in targets.iter().take(targets_that_matter) {
                    // a super admin would really erase
                    if asks == Asks::EraseUser
                        && caller.profile == Profile::SuperAdmin
                        && caller.is_verified
                    {
                        continue;
                    }
                    let answer = call(&person, (id, draft), operation, path, &body).await;
                    cells += 1;
                    let fits = match expected(asks, &caller, other) {
                        Some(status) => answer.status == status,
                        None if asks == Asks::Nothing => answer.status != 403,
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

#[test]
fn matrix_contains_every_operation() {
    let operations: BTreeSet<String> = Document::get().operations().into_iter().collect();
    let known: BTreeSet<String> = endpoints()
        .into_iter()
        .map(|(operation, ..)| operation.to_owned())
        .collect();
    assert_eq!(operations, known);
}

#[tokio::test]
async fn operation_that_needs_a_session_returns_401_without_one() {
    let world = World::new().await;
    let nobody = world
        .anonymous()
        .as_user(world.account(&NewPerson::with(Profile::Member)).await);
    for (operation, asks, path, body) in endpoints() {
        let answer = call(&nobody, ("x", "x"), operation, path, &body).await;
        let is_public = asks == Asks::Nothing;
        assert!(is_public || answer.status == 401, "{operation}: {answer:?}");
    }
}
