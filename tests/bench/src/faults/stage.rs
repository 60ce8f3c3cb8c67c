//! The cloud, the committees and the people, made on a calm day before everything begins.

use std::{net::TcpListener, sync::Arc};

use bench::error as trouble;
use bytes::Bytes;
use common::{Clock, Edge, Setup};
use http::{Request, header};
use local::{Trouble, chance::Chance, cloud::Cloud, home, home::LocalSettings, house};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    account::Account,
    actor::{Actor, Role},
    client::{Client, Service},
};

const EMAIL: &str = "admin@example.org";
const PASSWORD: &str = "sept grenadiers en fleur";
/// Who is there, by what he may do.
const PEOPLE: [(Role, &str, &str, u64); 4] = [
    (Role::SuperAdmin, "SA", "[]", 2),
    (Role::CommitteeAdmin, "CA", r#"["sms:bulk"]"#, 4),
    (Role::Trainer, "TR", r#"["sms:bulk","sms:send"]"#, 12),
    (Role::Newcomer, "MB", "[]", 6),
];
/// Messages that one person may send in a day, and a committee: some come to feel it.
pub(crate) const SMS_PER_USER: u64 = 1500;
pub(crate) const SMS_PER_COMMITTEE: u64 = 12_000;
/// A claim lasts longer than any clock is wrong.
const CLAIM_SECONDS: &str = "300";

pub(crate) struct Stage {
    pub(crate) cloud: Cloud,
    pub(crate) settings: LocalSettings,
    pub(crate) setup: Setup,
    pub(crate) service: Arc<Service>,
    _folder: TempDir,
    edge: Edge,
}

impl Stage {
    pub(crate) async fn new() -> Result<Self, Trouble> {
        let folder = tempfile::tempdir().map_err(trouble)?;
        let cloud = Cloud::in_folder(folder.path()).await?;
        let mut settings = LocalSettings::default();
        settings
            .with_new_keys()
            .find(&cloud)
            .set("PUBLIC_URL", "http://127.0.0.1")
            .set("RATE_LIMIT", "4000000000");
        settings
            .set("REGISTER_PER_HOUR", "1000000")
            .set("SMS_RATE_PER_SECOND", "200")
            .set("SMS_CLAIM_SECONDS", CLAIM_SECONDS);
        settings
            .set("SMS_PER_USER_DAY", SMS_PER_USER.to_string())
            .set("SMS_PER_COMMITTEE_DAY", SMS_PER_COMMITTEE.to_string());
        settings.set("MESSAGE_INTERVAL_SECONDS", "1");
        let setup = settings.setup(Clock::default())?;
        home::found(&setup, EMAIL, &PASSWORD.into()).await?;
        let edge = house(&setup)?;
        let service = Arc::new(Service::new([free_port()?, free_port()?]));
        Ok(Self {
            cloud,
            settings,
            setup,
            service,
            _folder: folder,
            edge,
        })
    }

    /// Three committees and everybody who acts, signed in.
    pub(crate) async fn people(&self, seed: u64) -> Result<Vec<Actor>, Trouble> {
        let signed_in = self
            .post(
                "POST",
                "/auth/login",
                "",
                json!({ "email": EMAIL, "password": PASSWORD }),
            )
            .await?;
        let token = signed_in["user"]["token"].as_str().unwrap_or_default();
        let mut committees = vec![
            signed_in["user"]["committeeID"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        ];
        for name in ["Comité de Sfax", "Comité de Bizerte"] {
            let wish = json!({
                "nameArabe": "لجنة", "nameLatin": name, "type": "REGIONAL", "dateOfEst": "1990-01-01", "region": "Sfax", "city": "Sfax",
                "postalCode": 3000, "primaryEmail": "comite@example.org", "primaryPhone": "+21674123456",
            });
            let made = self.post("POST", "/committees", token, wish).await?;
            committees.push(
                made["committee"]["committeeID"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
        let all = PEOPLE.iter().flat_map(|(role, profile, grants, count)| {
            (0..*count).map(move |_| (*role, *profile, *grants))
        });
        let mut people = Vec::new();
        for (number, (role, profile, grants)) in (0_u64..).zip(all) {
            let (email, password) = (
                format!("person{number}@example.org"),
                format!("sept grenadiers en fleur {number}"),
            );
            let committee =
                committees[usize::try_from(number).unwrap_or(0) % committees.len()].clone();
            let wish = json!({ "name": "Amel", "lastName": "Trabelsi", "email": email, "password": password, "committeeID": committee });
            let made = self.post("POST", "/users/register", "", wish).await?;
            let id = made["user"]["userID"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let standing = json!({ "profile": profile, "permissions": grants, "isVerified": true });
            self.post("PUT", &format!("/team/{id}"), token, standing)
                .await?;
            let mut account = Account::new(id, &email, &password, "Trabelsi", profile);
            account.is_verified = crate::known::Known::new(true);
            let address = format!("127.0.1.{}", number + 1).parse().map_err(trouble)?;
            // Each has a row of his own, so that what he does does not depend on who is faster.
            let chance =
                |of: u64| Chance::new(seed.wrapping_mul(1_000_003).wrapping_add(number * 2 + of));
            let client = Client::new(Arc::clone(&self.service), address, chance(0));
            people.push(Actor::new(
                number,
                role,
                committee,
                account,
                client,
                chance(1),
                self.cloud.recorder().clone(),
            ));
        }
        Ok(people)
    }

    async fn post(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: Value,
    ) -> Result<Value, Trouble> {
        let request = Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header(header::CONTENT_TYPE, "application/json");
        let request = if token.is_empty() {
            request
        } else {
            request.header(header::AUTHORIZATION, token)
        };
        let request = request
            .body(Bytes::from(body.to_string()))
            .map_err(trouble)?;
        let answer = self.edge.answer(request, [127, 0, 0, 2].into()).await;
        let told = serde_json::from_slice(answer.body()).unwrap_or_default();
        if answer.status().is_success() {
            Ok(told)
        } else {
            Err(Trouble::new(format!("{path} answered {told}")))
        }
    }
}

/// A port that nobody had a moment ago.
fn free_port() -> Result<u16, Trouble> {
    Ok(TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(trouble)?
        .port())
}
