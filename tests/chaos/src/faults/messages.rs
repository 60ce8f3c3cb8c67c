//! Actions on text messages: single ones, batches, and the opt-out list. A request of unknown outcome is repeated with
//! its idempotency key.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    client::{Call, Response},
    expected::{ExpectedBatch, ExpectedSms, Outcome},
    virtual_user::VirtualUser,
};

/// Maximum number of requests with one key.
const TRIES: usize = 4;
/// The opt-outs of many recipients are read eventually consistent, and again before each message is sent: for this long,
/// twice the injected delay, a batch may not take notice of a change of the list.
const SETTLING_TIME: Duration = Duration::from_secs(1);

impl VirtualUser {
    pub(crate) async fn send_one(&mut self, token: &str) {
        let word = self.word();
        // The first ten of these numbers may be on the opt-out list.
        let to = format!("+21620{:02}{:04}", self.number, self.random.below(40));
        let body = json!({ "to": to, "message": format!("Bonjour {word}") });
        let response = self.call_idempotently("/sms/single", token, &word, body).await;
        let outcome = self.record_word(&word, &response);
        self.check_opt_out(&to, response.is_done(), response.code());
        let sms_id = response.text("/sms/smsID");
        self.texts.push(ExpectedSms { word, to, sms_id, outcome });
    }

    pub(crate) async fn send_many(&mut self, token: &str) {
        let word = self.word();
        let is_list_settled = self.opt_outs_changed.elapsed() > SETTLING_TIME;
        let number = |at| format!("+21620{:02}{at:04}", self.number);
        let mut recipients: Vec<String> = (0..5 + self.random.below(60)).map(number).collect();
        // One number is duplicate, and one is malformed.
        recipients.extend([recipients[0].clone(), "+216".to_owned()]);
        let body = json!({ "recipients": recipients, "message": format!("Bonjour {word}") });
        let response = self.call_idempotently("/sms/bulk", token, &word, body).await;
        let outcome = self.record_word(&word, &response);
        let mut accepted = Vec::new();
        let results = response.body["results"].as_array().into_iter().flatten();
        for (result, to) in results.zip(&recipients) {
            let is_queued = result["status"] == "QUEUED";
            if is_queued {
                accepted.push((to.clone(), bench::service::text(&result["smsID"])));
            }
            let code = result["RESPONSE_CODE"].as_str().unwrap_or_default();
            if is_list_settled {
                self.check_opt_out(to, is_queued, code);
            }
        }
        if response.is_done() && response.body["batch"]["accepted"] != accepted.len() {
            self.violation(&format!("a batch does not add up: {}", response.body));
        }
        self.batches.push(ExpectedBatch {
            word,
            batch_id: response.text("/batch/batchID"),
            accepted,
            recipients: recipients.len(),
            outcome,
        });
    }

    pub(crate) async fn change_opt_out(&mut self, token: &str) {
        let all: Vec<usize> = (0..self.opt_outs.len()).collect();
        let Some(at) = Self::pick(&mut self.random, &all) else {
            return;
        };
        let (method, adds, action) = match self.random.below(2) {
            0 => ("PUT", true, "OPT_OUT_ADDED"),
            _ => ("DELETE", false, "OPT_OUT_REMOVED"),
        };
        let (number, before) = self.opt_outs[at].clone();
        let number = number.replace('+', "%2B");
        let call = Call::new(method, format!("/sms/opt-outs/{number}"));
        let outcome = self.call(token, call).await.outcome();
        self.opt_outs[at].1.write(outcome, adds);
        self.opt_outs_changed = Instant::now();
        // A list that does not change has no audit entry.
        if !before.is_exactly(&adds) {
            let committee = self.committee.clone();
            self.record_audited(outcome, !before.allows(&adds), action, committee);
        }
    }

    /// Sends the request with the key `word` until its outcome is known, and sometimes once more: the response must be
    /// the same.
    async fn call_idempotently(
        &mut self,
        path: &str,
        token: &str,
        word: &str,
        body: Value,
    ) -> Response {
        let call = Call::new("POST", path).with(token).json(body);
        let call = call.header("Idempotency-Key", word);
        let mut response = self.client.send(&call).await;
        let was_unknown = response.outcome() == Outcome::Unknown;
        for _ in 1..TRIES {
            if response.outcome() != Outcome::Unknown {
                break;
            }
            response = self.client.send(&call).await;
        }
        self.me.record_response(token, &response);
        if !response.is_done() && was_unknown {
            // A rejected retry does not show the outcome of the first request.
            return Response::unanswered();
        }
        if response.is_done() && self.random.below(4) == 0 {
            let again = self.client.send(&call).await;
            self.replays += u64::from(again.is_done());
            let is_same = again.is_replayed && again.body == response.body;
            if again.is_done() && !is_same {
                let (first, then) = (&response.body, &again.body);
                self.violation(&format!("{path} with the same key: first {first}, then {then}"));
            }
            if again.code() == "IDEMPOTENCY_KEY_REUSED_MESSAGE" {
                self.violation(&format!("{path}: {}", again.body));
            }
        }
        response
    }

    /// A number that is certainly on the list must not be accepted, and the reverse.
    fn check_opt_out(&mut self, to: &str, was_accepted: bool, code: &str) {
        let Some((_, is_listed)) = self.opt_outs.iter().find(|(number, _)| number == to) else {
            return;
        };
        let was_listed = code == "RECIPIENT_OPTED_OUT_MESSAGE";
        if (was_accepted && is_listed.is_exactly(&true))
            || (was_listed && is_listed.is_exactly(&false))
        {
            let what = format!("{to} was accepted: {was_accepted}, on the list: {is_listed:?}");
            self.violation(&what);
        }
    }
}
