//! Creates the cloud, the committees and the users before any fault.

use std::{net::TcpListener, sync::Arc};

use bench::{
    Result, error,
    service::{LocalService, Tables, call, text},
};
use cloud::random::SeededRandom;
use serde_json::json;

use crate::{
    account::Account,
    client::{Client, Service},
    expected::Expected,
    virtual_user::{Role, VirtualUser},
};

/// Roles, profiles, permissions, and the number of users that have them.
const USERS: [(Role, &str, &[&str], u64); 4] = [
    (Role::SuperAdmin, "SA", &[], 2),
    (Role::CommitteeAdmin, "CA", &["sms:bulk"], 4),
    (Role::Trainer, "TR", &["sms:bulk", "sms:send"], 12),
    (Role::Newcomer, "MB", &[], 6),
];
/// Quotas that some users reach.
pub(crate) const SMS_PER_USER: u64 = 1500;
pub(crate) const SMS_PER_COMMITTEE: u64 = 12_000;

pub(crate) struct Deployment {
    pub(crate) local: LocalService,
    pub(crate) service: Arc<Service>,
}

impl Deployment {
    pub(crate) async fn new() -> Result<Self> {
        let settings = [
            ("REGISTER_PER_HOUR", "1000000"),
            ("SMS_RATE_PER_SECOND", "200"),
            // Longer than any clock error.
            ("SMS_CLAIM_SECONDS", "300"),
            ("SMS_PER_USER_DAY", &SMS_PER_USER.to_string()),
            ("SMS_PER_COMMITTEE_DAY", &SMS_PER_COMMITTEE.to_string()),
            ("MESSAGE_INTERVAL_SECONDS", "1"),
        ];
        let local = LocalService::start(Tables::File, &settings).await?;
        let service = Arc::new(Service::new([free_port()?, free_port()?]));
        Ok(Self { local, service })
    }

    /// Three committees and all users, signed out.
    pub(crate) async fn users(&self, seed: u64) -> Result<Vec<VirtualUser>> {
        let admin = self.local.call("GET", "/auth/current-user", &json!(null)).await?;
        let mut committees = vec![text(&admin.body["user"]["committeeID"])];
        for name in ["Comité de Sfax", "Comité de Bizerte"] {
            let body = json!({
                "nameArabe": "لجنة", "nameLatin": name, "type": "REGIONAL", "dateOfEst": "1990-01-01", "region": "Sfax", "city": "Sfax",
                "postalCode": 3000, "primaryEmail": "comite@example.org", "primaryPhone": "+21674123456",
            });
            let created = self.local.call("POST", "/committees", &body).await?;
            committees.push(text(&created.body["committee"]["committeeID"]));
        }
        let mut users = Vec::new();
        for (role, profile, permissions, count) in USERS {
            for _ in 0..count {
                let committee = committees[users.len() % committees.len()].clone();
                let kind = (role, profile, permissions);
                let number = users.len() as u64;
                users.push(self.user(seed, number, kind, committee).await?);
            }
        }
        Ok(users)
    }

    async fn user(
        &self,
        seed: u64,
        number: u64,
        (role, profile, permissions): (Role, &str, &[&str]),
        committee: String,
    ) -> Result<VirtualUser> {
        let email = format!("person{number}@example.org");
        let password = format!("sept grenadiers en fleur {number}");
        let body = json!({ "name": "Amel", "lastName": "Trabelsi", "email": email, "password": password, "committeeID": committee });
        let created = call(&self.local.edge, "POST", "/users/register", "", &body).await?;
        let id = text(&created.body["user"]["userID"]);
        let body = json!({ "profile": profile, "permissions": permissions, "isVerified": true });
        self.local.call("PUT", &format!("/team/{id}"), &body).await?;
        let mut account = Account::new(id, [&email, &password, "Trabelsi", profile]);
        account.is_verified = Expected::new(true);
        let address = format!("127.0.1.{}", number + 1).parse().map_err(error)?;
        // Each user has their own random numbers, so that the order of the users does not matter.
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(number * 2);
        let client = Client::new(Arc::clone(&self.service), address, SeededRandom::new(seed));
        let random = SeededRandom::new(seed.wrapping_add(1));
        let recorder = self.local.cloud.recorder().clone();
        Ok(VirtualUser::new((number, role), committee, account, client, random, recorder))
    }
}

/// A free port; another process could still take it.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    Ok(address.map_err(error)?.port())
}
