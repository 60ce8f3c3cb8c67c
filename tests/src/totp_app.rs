//! An authenticator app: computes time-based one-time passwords (RFC 6238).

use common::Message;
use serde_json::{Value, json};
use totp_rs::{Algorithm, Builder};

use crate::{Person, World};

/// An authenticator app with one account.
#[derive(Debug, Clone)]
pub struct TotpApp {
    secret: [u8; 20],
    /// The recovery codes from the enrolment; empty if there was none.
    pub recovery_codes: Vec<String>,
}

impl TotpApp {
    /// An app with the secret `text` of twenty ASCII characters.
    pub fn with(text: &str) -> Self {
        Self {
            secret: text.as_bytes().try_into().expect("a secret of twenty characters"),
            recovery_codes: Vec::new(),
        }
    }

    /// Begins the enrolment of `person` through the API, which the app's code then completes.
    pub async fn pending_of(person: &Person) -> Self {
        let generated = person.get("/otp/generate").await.expect_success(Message::OtpGenerated);
        Self::with(generated["otpAscii"].as_str().expect("a secret"))
    }

    /// Enrols `person` through the API; returns the app and its recovery codes.
    pub async fn enrolled_by(world: &World, person: &Person) -> Self {
        let mut totp_app = Self::pending_of(person).await;
        let verified = person
            .post("/otp/verify", json!({ "code": totp_app.code(world) }))
            .await
            .expect_success(Message::OtpVerified);
        totp_app.recovery_codes = recovery_codes(&verified);
        totp_app
    }

    /// Replaces the secret of `person` by that of a new app, which this one's code confirms.
    pub async fn replaced_by(&self, world: &World, person: &Person) -> Self {
        let mut new = Self::pending_of(person).await;
        let body = json!({ "code": new.code(world), "currentCode": self.code(world) });
        let answer = person.post("/otp/verify", body).await;
        new.recovery_codes = recovery_codes(&answer.expect_success(Message::OtpVerified));
        new
    }

    /// The current code.
    pub fn code(&self, world: &World) -> String {
        self.code_in(world, 0)
    }

    /// The code `steps` time steps of 30 seconds from now.
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

fn recovery_codes(verified: &Value) -> Vec<String> {
    let codes = verified["recoveryCodes"].as_array().expect("recovery codes");
    codes.iter().map(|code| code.as_str().expect("a code").to_owned()).collect()
}
