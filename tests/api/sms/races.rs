//! What happens to a message between a read of it and the write that follows.

use std::time::Duration;

use domain::{BatchId, Instant, SmsId, outbox::State};
use serde_json::json;
use store::{
    CommitOutcome, Due, Outbound, OutboundMessage, Part, Store, Transaction, keys::DueList,
};
use tests::{Person, World};

use super::{NUMBER, numbers, send_one, send_to, status, world_and_sender};

/// The only message of the World, and when it is due.
struct Queued {
    world: World,
    sender: Person,
    id: String,
    what: Outbound,
}

impl Queued {
    async fn new() -> Self {
        let (world, sender) = world_and_sender().await;
        let id = send_one(&sender, NUMBER).await;
        let what = Outbound::of(&format!("SMS#{id}")).unwrap();
        Self { world, sender, id, what }
    }

    fn store(&self) -> &Store {
        &self.world.setup().store
    }

    fn now(&self) -> Instant {
        self.world.clock().now()
    }

    async fn claim(&self, until: Instant) {
        self.store().claim(self.what, until, self.now()).await.unwrap().unwrap();
    }

    async fn state(&self) -> String {
        status(&self.sender, &self.id).await.0
    }

    /// When it is due, in milliseconds.
    fn due_at(&self) -> String {
        let item = self.world.items_of("SMS#").into_iter().find(|item| item["sk"]["S"] == "SMS");
        item.unwrap()["dueAt"]["N"].as_str().unwrap().to_owned()
    }
}

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn outcome_of_a_former_attempt_ends_no_later_one() {
    let queued = Queued::new().await;
    let (store, what, now) = (queued.store(), queued.what, queued.now());
    let record =
        async |attempts| store.record_outcome(what, attempts, State::Sent, None, now).await;
    let requeue = async |attempts| store.requeue(what, attempts, now.after(HOUR), now).await;
    queued.claim(now.after(HOUR)).await;
    store.requeue(what, 1, now, now).await.unwrap();
    for attempts in [1, 1] {
        record(attempts).await.unwrap();
        requeue(attempts).await.unwrap();
        assert_eq!(queued.state().await, "QUEUED");
        assert_eq!(queued.due_at(), now.unix_milliseconds().to_string());
    }
    queued.claim(now.after(HOUR)).await;
    record(1).await.unwrap();
    requeue(1).await.unwrap();
    assert_eq!(queued.state().await, "SENDING");
    record(2).await.unwrap();
    assert_eq!(queued.state().await, "SENT");
}

#[tokio::test]
async fn claim_is_taken_back_when_its_time_is_over_and_no_earlier() {
    let queued = Queued::new().await;
    let (store, what, now) = (queued.store(), queued.what, queued.now());
    let taken_back = async |now| store.expire_claim(what, now).await.unwrap();
    assert!(!taken_back(now.after(HOUR)).await, "it is not claimed");
    queued.claim(now.after(HOUR)).await;
    assert!(!taken_back(now).await);
    assert_eq!(queued.state().await, "SENDING");
    assert!(taken_back(now.after(HOUR)).await);
    assert_eq!(queued.state().await, "UNKNOWN");
}

#[tokio::test]
async fn message_that_is_claimed_or_due_is_not_left_to_sweeps_again() {
    let queued = Queued::new().await;
    let (store, what, now) = (queued.store(), queued.what, queued.now());
    let due_at = queued.due_at();
    store.leave_to_sweeps(what, now.after(HOUR)).await.unwrap();
    assert_eq!(queued.due_at(), due_at, "it is due already");
    queued.claim(now.after(HOUR)).await;
    store.leave_to_sweeps(what, now).await.unwrap();
    assert_eq!(queued.due_at(), now.after(HOUR).unix_milliseconds().to_string());
}

#[tokio::test]
async fn work_that_another_process_took_over_is_not_postponed() {
    let queued = Queued::new().await;
    let (store, now) = (queued.store(), queued.now());
    let due = async |now| {
        queued.world.cloud().settle();
        store.due(DueList::Single, now, 1).await.unwrap().remove(0)
    };
    let postpone =
        async |due: &Due, pause, now| store.postpone(due, "cause", pause, now).await.unwrap();
    let keep = async |due: &Due, until| {
        assert!(store.keep_from_sweeps(due, until).await.unwrap().is_some());
    };
    // A first failure, a further one, and the one after a day, which makes it a dead letter.
    let read = due(now.after(HOUR)).await;
    keep(&read, now.after(HOUR)).await;
    assert!(
        store.keep_from_sweeps(&read, now.after(HOUR * 2)).await.unwrap().is_none(),
        "it is kept from sweeps"
    );
    postpone(&read, HOUR, now).await;
    assert_eq!(queued.due_at(), now.after(HOUR).unix_milliseconds().to_string());
    postpone(&due(now.after(HOUR)).await, HOUR * 24, now).await;
    let now = now.after(HOUR * 24);
    let read = due(now).await;
    keep(&read, now.after(HOUR / 2)).await;
    postpone(&read, HOUR, now).await;
    let now = now.after(HOUR / 2);
    assert_eq!(queued.due_at(), now.unix_milliseconds().to_string());
    let read = due(now).await;
    let taken_over = async {
        keep(&due(now.after(HOUR)).await, now.after(HOUR * 3 / 2)).await;
    };
    let dead = ("UpdateItem", ":dead");
    queued.world.overtaken(dead, postpone(&read, HOUR, now), taken_over).await;
    queued.world.cloud().settle();
    assert_eq!(store.dead_letters(now.after(HOUR * 9), 9).await.unwrap().len(), 0);
    let now = now.after(HOUR * 3 / 2);
    postpone(&due(now).await, HOUR, now).await;
    queued.world.cloud().settle();
    let dead = store.dead_letters(now.after(HOUR * 9), 9).await.unwrap().remove(0);
    let now = now.after(HOUR);
    assert!(store.revive(&dead, now).await.unwrap());
    assert!(!store.revive(&dead, now).await.unwrap(), "it is no dead letter any more");
}

#[tokio::test]
async fn batch_of_a_sender_erased_meanwhile_is_not_expanded() {
    let (world, sender) = world_and_sender().await;
    send_to(&sender, &numbers(2), "Bonjour").await;
    let erase = async {
        let path = format!("/users/{}", sender.user().user_id);
        world.admin().await.delete(&path).await.expect_ok();
        world.another_process().deliver().await;
    };
    world.overtaken(("TransactWriteItems", "CHUNK#"), world.deliver(), erase).await;
    assert_eq!(world.items_of("SMS#").len(), 0);
}

#[tokio::test]
async fn erasure_of_a_sender_makes_no_item_of_what_was_deleted() {
    let (world, sender) = world_and_sender().await;
    let store = &world.setup().store;
    let batch = send_to(&sender, &numbers(1), "Bonjour").await;
    let id = send_one(&sender, NUMBER).await;
    let what = Outbound::of(&format!("SMS#{id}")).unwrap();
    let Some(OutboundMessage::Sms(mut sms)) = store.outbound(what).await.unwrap() else {
        panic!("a text message")
    };
    let batch: BatchId = serde_json::from_value(json!(batch)).unwrap();
    let mut batch = store.batch(batch).await.unwrap().unwrap();
    sms.sms_id = SmsId::NONE;
    batch.batch_id = BatchId::NONE;
    let disown: [&dyn Fn(&mut Transaction); 2] =
        [&|tx| tx.disown_sms(&sms), &|tx| tx.disown_batch(&batch)];
    for disown in disown {
        let mut tx = store.transaction();
        disown(&mut tx);
        assert_eq!(tx.commit().await.unwrap(), CommitOutcome::ConditionFailed(Part::Sms));
    }
}
