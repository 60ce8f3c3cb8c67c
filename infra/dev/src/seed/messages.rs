//! The opt-outs and text messages of the demonstration data. Requests to the API create them; then the store brings
//! each message to its state, through the writes by which messages are sent. Those that stay `QUEUED` are sent when the
//! dispatcher and the worker run.

use std::time::Duration;

use background::MessageSender;
use domain::{
    BatchId, SmsId,
    outbox::State,
    sms::{Cause, Receipt},
};
use http::Method;
use serde_json::Value;
use store::{Outbound, OutboundMessage, Setup, chunk_pk};

use super::{Seed, at, client::Client, text};
use cloud::LocalError;

/// How long a message that is `SENDING` stays so; then it is `UNKNOWN`.
const DAY: Duration = Duration::from_secs(86_400);
/// Maximum time until the slot in which a message is sent.
const MAX_SLOT_WAIT: Duration = Duration::from_secs(2);

/// Creates the opt-outs of `seed`: some time before its messages, because a batch may read an older list.
pub(super) async fn create_opt_outs(seed: &Seed, people: &[Client]) -> Result<(), LocalError> {
    for opt_out in &seed.opt_outs {
        let path = format!("/sms/opt-outs/{}", text(&opt_out["number"]));
        let editor = at(people, &opt_out["by"])?;
        editor.send(Method::PUT, &path, Value::Null).await?;
    }
    Ok(())
}

/// Creates the messages and batches of `seed`, whose senders are `people`.
pub(super) async fn create(
    seed: &Seed,
    people: &[Client],
    setup: &Setup,
) -> Result<(), LocalError> {
    let carrier = Carrier { sender: MessageSender::new(setup)?, setup };
    for message in &seed.messages {
        let from = at(people, &message["from"])?;
        let sent = from.send(Method::POST, "/sms/single", message.clone()).await?;
        let id = &sent["sms"]["smsID"];
        carrier.bring(id, &message["status"]).await?;
    }
    for batch in &seed.batches {
        let from = at(people, &batch["from"])?;
        let sent = from.send(Method::POST, "/sms/bulk", batch.clone()).await?;
        carrier.bring_batch(batch, &sent).await?;
    }
    Ok(())
}

/// Does what dispatcher, worker and carrier do with messages.
struct Carrier<'a> {
    setup: &'a Setup,
    sender: MessageSender,
}

impl Carrier<'_> {
    /// Expands the batch of the response `sent` to the request `batch`, and brings its messages to their states.
    async fn bring_batch(&self, batch: &Value, sent: &Value) -> Result<(), LocalError> {
        let id: BatchId = text(&sent["batch"]["batchID"]).parse().map_err(malformed)?;
        let Setup { store, clock, .. } = self.setup;
        store.expand_chunk(&chunk_pk(id, 0), clock.now()).await?;
        let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
        for (recipient, result) in all(&batch["recipients"]).iter().zip(&all(&sent["results"])) {
            if result["status"] == "QUEUED" {
                self.bring(&result["smsID"], &recipient["status"]).await?;
            }
        }
        Ok(())
    }

    /// Brings the queued message `id` to `state`.
    async fn bring(&self, id: &Value, state: &Value) -> Result<(), LocalError> {
        let id: SmsId = text(id).parse().map_err(malformed)?;
        let state: State = serde_json::from_value(state.clone()).map_err(malformed)?;
        let what = Outbound::Sms(id);
        let Setup { store, clock, .. } = self.setup;
        let now = clock.now();
        match state {
            State::Queued => return Ok(()),
            State::Sent | State::Delivered | State::Undelivered => {
                return self.send(what, state).await;
            }
            State::Sending | State::Failed | State::Unknown => {}
        }
        let Some(claimed) = store.claim(what, now.after(DAY), now).await? else {
            return Ok(());
        };
        if state != State::Sending {
            let cause = (state == State::Failed).then_some(Cause::CarrierRefused);
            store.record_outcome(what, claimed.attempts, state, cause, now).await?;
        }
        Ok(())
    }

    /// Sends the message `what` and, unless `state` is `SENT`, records a receipt.
    async fn send(&self, what: Outbound, state: State) -> Result<(), LocalError> {
        let Some(OutboundMessage::Sms(sms)) = self.sender.queued(what).await? else {
            return Ok(());
        };
        let (to, id) = (sms.to.clone(), format!("demonstration-{}", sms.sms_id));
        let sent = self.sender.send_sms(sms, MAX_SLOT_WAIT, &mut None).await;
        sent.map_err(|error| {
            LocalError::new(format!("A demonstration message was not sent: {error}."))
        })?;
        let reason = match state {
            State::Delivered => "Message has been accepted by phone",
            State::Undelivered => "Phone is currently unreachable/unavailable",
            _ => return Ok(()),
        };
        let receipt = Receipt { status: state, reason: reason.to_owned() };
        let Setup { store, clock, .. } = self.setup;
        let now = clock.now();
        store.link_receipt(&id, what, now).await?;
        store.record_receipt(&id, &to, now, &receipt, now).await?;
        Ok(())
    }
}

fn malformed<E>(_: E) -> LocalError {
    LocalError::new("The demonstration data has a message without id or state.")
}
