//! Text messages: one, many, and to whom nobody writes. What is not known to be accepted is asked for again under
//! its key.

use serde_json::{Value, json};

use crate::{
    actor::Actor,
    client::{Ask, Heard},
    known::Outcome,
};

/// How often somebody asks again under the same key.
const TRIES: usize = 4;

/// A single message.
pub(crate) struct KnownText {
    pub(crate) word: String,
    pub(crate) to: String,
    pub(crate) sms_id: String,
    pub(crate) outcome: Outcome,
}

/// Messages to many.
pub(crate) struct KnownBatch {
    pub(crate) word: String,
    pub(crate) batch_id: String,
    /// Number and identifier of each that was accepted.
    pub(crate) accepted: Vec<(String, String)>,
    pub(crate) recipients: usize,
    pub(crate) outcome: Outcome,
}

impl Actor {
    pub(crate) async fn send_one(&mut self, token: &str) {
        let word = self.word();
        // One of ten numbers may be on the list.
        let at = self.chance.below(40);
        let to = match usize::try_from(at)
            .ok()
            .and_then(|at| self.opt_outs.get(at))
        {
            Some((number, _)) => number.clone(),
            None => format!("+21620{:02}{:04}", self.number, at),
        };
        let body = json!({ "to": to, "message": format!("Bonjour {word}") });
        let heard = self.ask_once("/sms/single", token, &word, body).await;
        let outcome = self.tried(&word, &heard);
        self.hold_against_list(
            &to,
            heard.is_done(),
            heard.code() == "RECIPIENT_OPTED_OUT_MESSAGE",
        );
        self.texts.push(KnownText {
            word,
            to,
            sms_id: heard.text("/sms/smsID"),
            outcome,
        });
    }

    pub(crate) async fn send_many(&mut self, token: &str) {
        let word = self.word();
        let count = 5 + self.chance.below(60);
        // The first ten may be on the list; one comes twice, and one is no number.
        let mut recipients: Vec<String> = (0..count)
            .map(|at| format!("+21620{:02}{at:04}", self.number))
            .collect();
        recipients.extend([recipients[0].clone(), "+216".to_owned()]);
        let body = json!({ "recipients": recipients, "message": format!("Bonjour {word}") });
        let heard = self.ask_once("/sms/bulk", token, &word, body).await;
        let outcome = self.tried(&word, &heard);
        let mut accepted = Vec::new();
        for (result, to) in heard.body["results"]
            .as_array()
            .into_iter()
            .flatten()
            .zip(&recipients)
        {
            let is_queued = result["status"] == "QUEUED";
            if is_queued {
                accepted.push((
                    to.clone(),
                    result["smsID"].as_str().unwrap_or_default().to_owned(),
                ));
            }
            self.hold_against_list(
                to,
                is_queued,
                result["RESPONSE_CODE"] == "RECIPIENT_OPTED_OUT_MESSAGE",
            );
        }
        if heard.is_done() && heard.body["batch"]["accepted"] != accepted.len() {
            self.wrong(format!("a batch does not add up: {}", heard.body));
        }
        let (batch_id, recipients) = (heard.text("/batch/batchID"), recipients.len());
        self.batches.push(KnownBatch {
            word,
            batch_id,
            accepted,
            recipients,
            outcome,
        });
    }

    pub(crate) async fn change_opt_out(&mut self, token: &str) {
        let Some(at) = Self::any(&mut self.chance, &self.opt_outs) else {
            return;
        };
        let adds = self.chance.below(2) == 0;
        let (number, is_listed) = &mut self.opt_outs[at];
        let ask = Ask::new(
            if adds { "PUT" } else { "DELETE" },
            format!("/sms/opt-outs/{}", number.replace('+', "%2B")),
        );
        let heard = self.client.send(&ask.with(token)).await;
        is_listed.write(heard.outcome(), adds);
        self.me.heard_with(token, &heard);
    }

    /// Asks until it is known what became of it, under the key `word`; now and then once more than that, to hear
    /// the same again.
    async fn ask_once(&mut self, path: &str, token: &str, word: &str, body: Value) -> Heard {
        let ask = Ask::new("POST", path)
            .with(token)
            .json(body)
            .header("Idempotency-Key", word);
        let mut heard = self.client.send(&ask).await;
        // Who was not told does not take a refusal of another try for an answer to the first.
        let mut is_open = heard.outcome() == Outcome::Unknown;
        for _ in 1..TRIES {
            if heard.outcome() != Outcome::Unknown {
                break;
            }
            heard = self.client.send(&ask).await;
        }
        is_open &= !heard.is_done();
        self.me.heard_with(token, &heard);
        if heard.is_done() && self.chance.below(4) == 0 {
            let again = self.client.send(&ask).await;
            if again.is_done() {
                self.replays += 1;
                if !again.is_replayed || again.body != heard.body {
                    self.wrong(format!(
                        "{path} under the same key: first {}, then {}",
                        heard.body, again.body
                    ));
                }
            } else if again.code() == "IDEMPOTENCY_KEY_REUSED_MESSAGE" {
                self.wrong(format!("{path}: {}", again.body));
            }
        }
        if is_open {
            Heard {
                was_sent: true,
                ..Heard::default()
            }
        } else {
            heard
        }
    }

    fn hold_against_list(&mut self, to: &str, was_accepted: bool, was_listed: bool) {
        let Some((_, is_listed)) = self.opt_outs.iter().find(|(number, _)| number == to) else {
            return;
        };
        if (was_accepted && is_listed.is_surely(&true))
            || (was_listed && is_listed.is_surely(&false))
        {
            let what = format!("{to} was accepted: {was_accepted}, and on the list: {is_listed:?}");
            self.wrong(what);
        }
    }
}
