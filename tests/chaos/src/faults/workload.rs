//! The main loop of virtual users: random actions until the run ends.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::json;
use tokio::time::{Duration, sleep};

use crate::{
    client::Call,
    virtual_user::{Role, VirtualUser},
};

impl VirtualUser {
    /// Acts until `is_over`.
    pub(crate) async fn run(mut self, is_over: Arc<AtomicBool>) -> Self {
        while !is_over.load(Ordering::Relaxed) {
            let Some(token) = self.token().await else {
                sleep(Duration::from_millis(200)).await;
                continue;
            };
            match (self.role, self.random.below(100)) {
                (_, 0..4) => self.change_own_name(&token).await,
                (_, 4..6) => self.change_own_password(&token).await,
                (_, 6..8) => self.end_a_session().await,
                (_, 8..20) => self.read_something(&token).await,
                (Role::Newcomer, 20..32) => self.keep_files(&token).await,
                (Role::Newcomer, _) => self.register_and_leave().await,
                (_, 20..35) => self.keep_files(&token).await,
                (Role::SuperAdmin, 35..41) => self.make_subdomain(&token).await,
                (Role::SuperAdmin, 41..90) => self.administer(&token).await,
                (Role::CommitteeAdmin, 35..41) => self.change_opt_out(&token).await,
                (_, 35..50) => self.send_one(&token).await,
                (_, 50..53) => self.send_many(&token).await,
                (_, _) => self.work_on_courses(&token).await,
            }
        }
        self
    }

    /// The token of one of their sessions. Signs in if there is none, and one time in fifty.
    async fn token(&mut self) -> Option<String> {
        if self.me.usable_sessions() == 0 || self.random.below(50) == 0 {
            self.me.sign_in(&mut self.client).await;
        }
        self.me.any_token(&mut self.random)
    }

    async fn read_something(&mut self, token: &str) {
        let id = &self.me.id;
        let paths = [
            "/auth/check".to_owned(),
            "/auth/current-user".to_owned(),
            "/auth/sessions".to_owned(),
            "/users/activity".to_owned(),
            "/courses/search-all?limit=50".to_owned(),
            "/courses/committee".to_owned(),
            "/files/my-files".to_owned(),
            format!("/users/{id}"),
        ];
        if let Some(path) = Self::pick(&mut self.random, &paths) {
            self.call(token, Call::new("GET", path)).await;
        }
    }

    async fn change_own_name(&mut self, token: &str) {
        let word = self.word();
        let call = Call::new("PUT", format!("/users/{}", self.me.id));
        let response = self.call(token, call.json(json!({ "lastName": word }))).await;
        let outcome = self.record_word(&word, &response);
        self.me.last_name.write(outcome, word);
    }

    async fn change_own_password(&mut self, token: &str) {
        let new = format!("mot de passe {}", self.word());
        self.me.change_password(&mut self.client, token, &new).await;
    }

    async fn end_a_session(&mut self) {
        if self.me.usable_sessions() > 3 {
            self.me.sign_out(&mut self.client, &mut self.random).await;
        }
    }
}
