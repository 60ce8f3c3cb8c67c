//! The service under test with its data: a committee, a signed-in super admin and member, a course with a question, and
//! a file. Their identifiers are the same in every run, so that inputs can name them.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::LazyLock,
};

use accounts::{AccountContext, Sessions};
use common::{Client, Edge, Routes, answer_event};
use dispatcher::Dispatcher;
use domain::{
    CommitteeId, CourseId, FileId, Instant, Profile, QuestionId, UserId,
    agent::Agent,
    amr::Method,
    committee::Committee,
    course::{Course, CourseDetails, CourseSummary, Currency, Language, State},
    device::KnownDevices,
    file::{File, Status, Visibility},
    login_activity::Location,
    question::{Question, QuestionContent, QuestionType},
    user::User,
};
use identity::{NamedKey, token::PublicKey};
use lambda_runtime::{Context, LambdaEvent};
use runtime::{Clock, ConfigError, Startup};
use serde::Deserialize;
use store::{CommitOutcome, NewUser, Reservation, Setup};
use tokio::runtime::{Builder, Runtime};
use uuid::Uuid;
use worker::Worker;

use crate::{cloud::Cloud, event::Request};

/// A response in the payload format 2.0 of API Gateway.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    pub(crate) status_code: u16,
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) body: String,
}

pub(crate) struct Stage {
    pub(crate) runtime: Runtime,
    pub(crate) cloud: Cloud,
    pub(crate) address: SocketAddr,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) worker: Worker,
    edge: Edge,
    /// The placeholder of a token in inputs, and the token.
    tokens: [(&'static str, String); 2],
}

/// A static is never dropped, and the Tokio runtime must not be, whichever code ends the program.
pub(crate) static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (cloud, address) = runtime.block_on(Cloud::start()).expect("a port of this machine");
    let setup = setup(address);
    let tokens = runtime.block_on(add_data(&setup)).expect("the data is written");
    cloud.freeze();
    let edge = Edge::new(&setup, routes(&setup).expect("the settings are valid"))
        .expect("the settings are valid");
    let dispatcher = Dispatcher::new(&setup).expect("the settings are valid");
    let worker = Worker::new(&setup).expect("the settings are valid");
    let stage = Stage { runtime, cloud, address, dispatcher, worker, edge, tokens };
    for authorization in ["Bearer $ADMIN", "Bearer $MEMBER"] {
        let request = Request {
            method: "GET",
            target: "/api/v1/auth/check",
            headers: vec![("authorization", authorization)],
            body: b"",
        };
        let answer = stage.answer(&request.event().to_string()).expect("an answer");
        assert_eq!(answer.status_code, 200, "{answer:?}");
    }
    stage
});

impl Stage {
    /// The response to an event; `None` if `event` is not JSON.
    pub(crate) fn answer(&self, event: &str) -> Option<Answer> {
        let event = serde_json::from_str(&self.with_tokens(event)).ok()?;
        let event = LambdaEvent::new(event, Context::default());
        let Ok(answer) = self.runtime.block_on(answer_event(&self.edge, event));
        let answer = serde_json::to_value(answer).expect("an answer is JSON");
        Some(serde_json::from_value(answer).expect("a complete response"))
    }

    /// Whether the input contains a placeholder of a token.
    pub(crate) fn is_signed_in(&self, input: &str) -> bool {
        self.tokens.iter().any(|(name, _)| input.contains(name))
    }

    fn with_tokens(&self, input: &str) -> String {
        self.tokens.iter().fold(input.to_owned(), |input, (name, token)| input.replace(name, token))
    }
}

fn setup(address: SocketAddr) -> Setup {
    let key = |name: &str| format!("{name}:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=");
    let signing: NamedKey = key("k").parse().expect("a key");
    let lookup = |name: &str| {
        Some(match name {
            "AWS_ENDPOINT_URL" | "CPANEL_URL" => format!("http://{address}"),
            "AWS_REGION" => "eu-west-3".to_owned(),
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" | "CPANEL_USER" | "CPANEL_TOKEN" => {
                "halqa".to_owned()
            }
            "RECORDS_TABLE" | "TRANSIENT_TABLE" => name.to_ascii_lowercase(),
            "FILES_BUCKET" => "bucket".to_owned(),
            "PUBLIC_URL" => "https://front.example.org".to_owned(),
            "RATE_LIMIT" | "REGISTER_PER_HOUR" => "1000000000".to_owned(),
            "SMS_SENDER_IDS" => "Halqa".to_owned(),
            "EDGE" => "optional".to_owned(),
            "TOKEN_PUBLIC_KEYS" => PublicKey::of(&signing).to_string(),
            "TOKEN_SIGNING_KEY" | "SEALING_KEYS" | "CURSOR_KEYS" | "OUTBOX_KEYS"
            | "EDGE_SECRETS" => key("k"),
            _ => return None,
        })
    };
    let names = [
        "AWS_ENDPOINT_URL",
        "AWS_REGION",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "CPANEL_URL",
        "CPANEL_USER",
        "CPANEL_TOKEN",
        "RECORDS_TABLE",
        "TRANSIENT_TABLE",
        "FILES_BUCKET",
        "PUBLIC_URL",
        "RATE_LIMIT",
        "REGISTER_PER_HOUR",
        "SMS_SENDER_IDS",
        "EDGE",
        "TOKEN_PUBLIC_KEYS",
        "TOKEN_SIGNING_KEY",
        "SEALING_KEYS",
        "CURSOR_KEYS",
        "OUTBOX_KEYS",
        "EDGE_SECRETS",
    ];
    let settings = names.into_iter().filter_map(|name| Some((name.to_owned(), lookup(name)?)));
    let startup = Startup::of_settings(settings.collect(), Clock::default());
    startup.and_then(Setup::new).expect("the settings are valid")
}

fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    Ok(Routes::default()
        .merge(auth::routes(setup)?)
        .merge(committees::routes(setup)?)
        .merge(courses::routes(setup)?)
        .merge(cpanel::routes(setup)?)
        .merge(fallback::routes(setup)?)
        .merge(files::routes(setup)?)
        .merge(otp::routes(setup)?)
        .merge(passkeys::routes(setup)?)
        .merge(sms::routes(setup)?)
        .merge(team::routes(setup)?)
        .merge(users::routes(setup)?))
}

/// `0198c0de-0000-7000-8000-00000000000n`.
fn id(number: u128) -> Uuid {
    Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0000 + number)
}

/// Writes the people and objects, and returns the tokens of the two people.
async fn add_data(setup: &Setup) -> Result<[(&'static str, String); 2], common::ApiError> {
    let now = setup.clock.now();
    let committee = committee();
    let committee_id = committee.committee_id;
    let admin = User {
        is_verified: true,
        profile: Profile::SuperAdmin,
        ..user(2, "admin@example.org", committee_id, now)
    };
    let member = User { is_verified: true, ..user(3, "member@example.org", committee_id, now) };
    let store = &setup.store;
    let no_password = || "no password".to_owned();
    store
        .bootstrap(
            &committee,
            &NewUser { user: admin.clone(), password_hash: no_password() },
            store.transaction(),
        )
        .await?;
    let course = course(&admin, now);
    let mut add = store.transaction();
    add.new_user(&NewUser { user: member.clone(), password_hash: no_password() });
    add.new_course(&course);
    assert_eq!(add.commit().await?, CommitOutcome::Committed);
    if let Some(questionnaire) = store.questionnaire(course.outline.course_id).await? {
        let mut ask = store.transaction();
        ask.add_questions(&questionnaire, &[question(course.outline.course_id, now)], now);
        assert_eq!(ask.commit().await?, CommitOutcome::Committed);
    }
    store.create_file(&file(admin.user_id, now), u64::MAX / 2).await?;
    // A sweep would begin it for fifty seconds again and again, because the tables ignore later writes.
    while store.rebuild_index(now).await? {}
    let sessions = Sessions::new(setup)?;
    let token = async |user: User| {
        let account = AccountContext {
            user,
            committee: committee.clone(),
            activity: Vec::new(),
            devices: KnownDevices::default(),
        };
        let client = Client {
            ip: IpAddr::from([203, 0, 113, 7]),
            network: String::new(),
            agent: Agent::of(""),
            place: Location::default(),
        };
        let view = sessions
            .begin(
                account,
                vec![Method::Pwd],
                &client,
                now,
                store.transaction(),
                &mut Reservation::default(),
            )
            .await?;
        Ok::<_, common::ApiError>(
            view.expect("a session begins").token().trim_start_matches("Bearer ").to_owned(),
        )
    };
    Ok([("$ADMIN", token(admin).await?), ("$MEMBER", token(member).await?)])
}

fn committee() -> Committee {
    Committee {
        committee_id: CommitteeId::new(id(1)),
        name_arabe: "الجامعة الوطنية للتكوين".parse().expect("a name"),
        name_latin: "Fédération nationale".parse().expect("a name"),
        r#type: "NATIONAL".parse().expect("a code"),
        date_of_est: "1956-03-20".parse().expect("a day"),
        vat: String::new(),
        address: String::new(),
        region: "Tunis".parse().expect("a name"),
        city: "Tunis".parse().expect("a name"),
        postal_code: 1000,
        is_active: true,
        primary_email: "committee@example.org".parse().expect("an address"),
        secondary_email: None,
        primary_phone: "+21671123456".parse().expect("a number"),
        secondary_phone: String::new(),
    }
}

fn user(number: u128, email: &str, committee_id: CommitteeId, now: Instant) -> User {
    let (name, last_name) =
        ("Amina".parse().expect("a name"), "Ben Salah".parse().expect("a name"));
    User::new(
        UserId::new(id(number)),
        name,
        last_name,
        email.parse().expect("an address"),
        committee_id,
        now,
    )
}

fn course(author: &User, now: Instant) -> Course {
    let outline = CourseSummary {
        course_id: CourseId::new(id(4)),
        committee_id: author.committee_id,
        course_title: "Sécurité électrique".parse().expect("a title"),
        course_sub_title: None,
        price: None,
        currency: Currency::default(),
        location: None,
        course_type: None,
        section_of_matter: None,
        language: Language::default(),
        region: None,
        city: None,
        start_at: None,
        end_at: None,
        state: State::Draft,
        version: 1,
        question_count: 0,
        created_by: author.user_id,
        created_at: now,
        updated_at: now,
        published_at: None,
    };
    Course { outline, details: CourseDetails::default() }
}

fn question(course_id: CourseId, created_at: Instant) -> Question {
    let question = "Qui ?".parse().expect("a question");
    let wording = QuestionContent {
        language: Language::default(),
        question,
        question_type: QuestionType::ShortReply,
        required: true,
        options: None,
    };
    Question { question_id: QuestionId::new(id(5)), course_id, wording, created_at }
}

fn file(user_id: UserId, created_at: Instant) -> File {
    File {
        file_id: FileId::new(id(6)),
        user_id,
        name: "Plan.pdf".parse().expect("a name"),
        content_type: "application/pdf".parse().expect("a type"),
        size: 1000,
        visibility: Visibility::Public,
        status: Status::Pending,
        created_at,
        deleted_at: None,
    }
}
