//! The app on a person's phone that shows one-time passwords.

use common::Message;
use serde_json::json;
use totp_rs::{Algorithm, Builder};

use crate::{Person, World};

/// An totp_app with one account.
#[derive(Debug, Clone)]
pub struct TotpApp {
    secret: [u8; 20],
    /// The recovery codes that came with the account.
    pub recovery_codes: Vec<String>,
}

impl TotpApp {
    /// One that was given the secret `text`.
    pub fn with(text: &str) -> Self {
        Self {
            secret: text
                .as_bytes()
                .try_into()
                .expect("a secret of twenty letters"),
            recovery_codes: Vec::new(),
        }
    }

    /// One that `person` has just enrolled, as the interface wants it.
    pub async fn enrolled_by(world: &World, person: &Person) -> Self {
        let shown = person
            .get("/otp/generate")
            .await
            .expect_success(Message::OtpGenerated);
        let mut totp_app = Self::with(shown["otpAscii"].as_str().expect("a secret"));
        let verified = person
            .post("/otp/verify", json!({ "code": totp_app.code(world) }))
            .await
            .expect_success(Message::OtpVerified);
        let codes = verified["recoveryCodes"]
            .as_array()
            .expect("recovery codes");
        totp_app.recovery_codes = codes
            .iter()
            .map(|code| code.as_str().expect("a code").to_owned())
            .collect();
        totp_app
    }

    /// The code that it shows now.
    pub fn code(&self, world: &World) -> String {
        self.code_in(world, 0)
    }

    /// The code that it shows `steps` steps of thirty seconds from now.
    pub fn code_in(&self, world: &World, steps: i64) -> String {
        let totp = Builder::new()
            .with_algorithm(Algorithm::SHA1)
            .with_digits(6)
            .with_step_duration(30)
            .with_secret(self.secret);
        let seconds = world.clock().now().unix_seconds() + steps * 30;
        totp.build_noncompliant()
            .generate(seconds.try_into().expect("a time after 1970"))
            .to_string()
    }
}
