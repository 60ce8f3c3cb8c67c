//! Text messages that people send. One that is alone is written as it is; a batch is written as a head and
//! chunks, each of which the dispatcher makes messages of, in one transaction.

use std::time::Duration;

use domain::{
    BatchId, CommitteeId, Instant, SmsId, UserId,
    batch::{Batch, Chunk, Progress},
    outbox::State,
    sms::{Sms, Text},
};
use serde::{Deserialize, Serialize};

use crate::{
    CommitOutcome, Page, Part, Store, StoreError, Transaction,
    keys::{self, BULK_DUE, CHUNK_PREFIX, CHUNKS_DUE, IndexKey, Key, OUTBOX_DUE, SWEEP_DELAY},
    table::{ListedItem, Order, due, ttl},
    write::Write,
};

/// How long it is known that a message was sent.
const KEPT: Duration = Duration::from_secs(400 * 86_400);
/// How long it is known what it said.
const TEXT_KEPT: Duration = Duration::from_secs(90 * 86_400);
/// Messages of a batch are counted so many at a time.
const COUNTED: u16 = 1000;

/// How many messages may be accepted in a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmsQuota {
    /// From one person.
    pub per_user: u64,
    /// From all of one committee.
    pub per_committee: u64,
}

#[derive(Serialize, Deserialize)]
struct Said {
    text: Text,
}

#[derive(Deserialize)]
struct Stage {
    status: State,
}

/// Whether `pk` is the partition key of a chunk.
pub fn is_chunk(pk: &str) -> bool {
    pk.starts_with(CHUNK_PREFIX)
}

impl Transaction {
    /// `sms`, which says `text`, is on its way.
    pub fn accept_sms(&mut self, sms: &Sms, text: &Text) {
        self.say(&keys::sms_text(sms.sms_id), text, sms.sending.created_at);
        self.put_sms(sms, OUTBOX_DUE, sms.sending.created_at.after(SWEEP_DELAY))
    }

    /// `batch`, whose messages say `text` where they say nothing of their own, is on its way in `chunks`.
    pub fn accept_batch(&mut self, batch: &Batch, text: Option<&Text>, chunks: &[Chunk]) {
        let (key, now) = (keys::batch(batch.batch_id), batch.sending.created_at);
        let put = key
            .holding(&ListedItem { card: batch })
            .with(keys::batch_index_key(batch.sending.user_id, batch.batch_id).attributes())
            .with([ttl(now.after(KEPT))]);
        self.put_new(Part::New, put);
        if let Some(text) = text {
            self.say(&keys::batch_text(batch.batch_id), text, now);
        }
        for chunk in chunks {
            let key = keys::chunk(chunk.batch_id, chunk.number);
            let put = key
                .holding(&ListedItem { card: chunk })
                .with(due(CHUNKS_DUE, now.after(SWEEP_DELAY)));
            self.put_new(Part::New, put);
        }
    }

    /// The messages of `chunk` wait to be sent from `now` on, and the chunk is no more; refused when it was
    /// none any more. What they say is `common` where it is nothing of their own.
    fn expand(&mut self, chunk: Chunk, common: Option<&Text>, now: Instant) {
        let key = keys::chunk(chunk.batch_id, chunk.number);
        let delete = Write::at(&key);
        self.delete(Part::Chunk, delete.when("attribute_exists(pk)"));
        for (sms, own) in chunk.messages(common) {
            self.put_sms(&sms, BULK_DUE, now);
            if let Some(text) = own {
                self.say(&keys::sms_text(sms.sms_id), &text, sms.sending.created_at);
            }
        }
    }

    fn put_sms(&mut self, sms: &Sms, partition: &str, at: Instant) {
        let key = keys::sms(sms.sms_id);
        let of_batch = sms
            .batch_id
            .map(|batch| keys::sms_of_batch_index_key(batch, sms.sms_id));
        let put = key
            .holding(&ListedItem { card: sms })
            .with(keys::sms_index_key(sms.sending.user_id, sms.sms_id).attributes())
            .with(of_batch.into_iter().flat_map(IndexKey::attributes))
            .with(due(partition, at))
            .with([ttl(sms.sending.created_at.after(KEPT))]);
        self.put_new(Part::New, put);
    }

    fn say(&mut self, key: &Key, text: &Text, now: Instant) {
        let put = key
            .holding(&Said { text: text.clone() })
            .with([ttl(now.after(TEXT_KEPT))]);
        self.put_new(Part::New, put);
    }

    /// `count` messages more today of `user` and of `committee`; refused as [`Part::Quota`] beyond `quota`.
    pub fn count_sms(
        &mut self,
        user: UserId,
        committee: CommitteeId,
        count: u64,
        quota: SmsQuota,
        now: Instant,
    ) {
        let both = [
            (keys::sms_quota_of_user(user, now), quota.per_user),
            (
                keys::sms_quota_of_committee(committee, now),
                quota.per_committee,
            ),
        ];
        for (key, most) in both {
            // Without room for the first, what is there already is never few enough.
            let room = i128::from(most) - i128::from(count);
            let (_, until) = ttl(now.end_of_day().after(SWEEP_DELAY));
            let condition = if room < 0 {
                "n <= :room"
            } else {
                "attribute_not_exists(n) OR n <= :room"
            };
            let update = Write::at(&key)
                .when(condition)
                .expression("ADD n :count SET #ttl = :ttl")
                .name("#ttl", "ttl")
                .number(":room", room)
                .number(":count", count)
                .attribute(":ttl", until);
            self.update(Part::Quota, update);
        }
    }

    /// Nothing is left of `sms`, unless it is on its way at this moment, when this is refused.
    pub fn delete_sms(&mut self, sms: SmsId) {
        let key = keys::sms(sms);
        let delete = Write::at(&key)
            .when("attribute_not_exists(pk) OR card.#status <> :sending")
            .name("#status", "status")
            .value(":sending", &State::Sending);
        self.delete(Part::Sms, delete);
        self.remove(Part::New, &keys::sms_text(sms))
    }

    /// Nothing is left of `batch` but the messages that it became already.
    pub fn delete_batch(&mut self, batch: &Batch) {
        for number in 0..batch.chunks() {
            self.remove(Part::Chunk, &keys::chunk(batch.batch_id, number));
        }
        self.remove(Part::New, &keys::batch_text(batch.batch_id));
        self.remove(Part::New, &keys::batch(batch.batch_id))
    }
}

impl Store {
    /// The message `id`.
    pub async fn sms(&self, id: SmsId) -> Result<Option<Sms>, StoreError> {
        self.card(&keys::sms(id)).await
    }

    /// What `sms` says: what it says itself, else what its batch says; nothing when that was too long ago.
    pub async fn text_of(&self, sms: &Sms, now: Instant) -> Result<Option<Text>, StoreError> {
        let own = self.said(keys::sms_text(sms.sms_id), now);
        let Some(batch) = sms.batch_id else {
            return own.await;
        };
        let (own, common) = tokio::join!(own, self.batch_text(batch, now));
        Ok(own?.or(common?))
    }

    /// The message `id` and what it says, if it is one of a chunk that has not become messages yet.
    pub async fn sms_in_chunk(
        &self,
        id: SmsId,
        now: Instant,
    ) -> Result<Option<(Sms, Option<Text>)>, StoreError> {
        let Some((batch, place)) = BatchId::of_message(id) else {
            return Ok(None);
        };
        let key = keys::chunk(batch, Chunk::with(place));
        let (chunk, common) = tokio::join!(
            self.get::<ListedItem<Chunk>>(&key),
            self.batch_text(batch, now)
        );
        let (Some(ListedItem { card: chunk }), common) = (chunk?, common?) else {
            return Ok(None);
        };
        let found = chunk
            .messages(common.as_ref())
            .find(|(sms, _)| sms.sms_id == id);
        Ok(found.map(|(sms, own)| (sms, own.or(common))))
    }

    /// What the messages of `batch` have in common; nothing when there is nothing, or it was too long ago.
    pub async fn batch_text(
        &self,
        batch: BatchId,
        now: Instant,
    ) -> Result<Option<Text>, StoreError> {
        self.said(keys::batch_text(batch), now).await
    }

    async fn said(&self, key: Key, now: Instant) -> Result<Option<Text>, StoreError> {
        #[derive(Deserialize)]
        struct Kept {
            #[serde(flatten)]
            said: Said,
            ttl: i64,
        }
        let kept: Option<Kept> = self.get(&key).await?;
        Ok(kept
            .filter(|kept| now.unix_seconds() < kept.ttl)
            .map(|kept| kept.said.text))
    }

    /// The batch `id`.
    pub async fn batch(&self, id: BatchId) -> Result<Option<Batch>, StoreError> {
        self.card(&keys::batch(id)).await
    }

    /// At most `limit` messages that `user` sent, after `position`, newest first.
    pub async fn sms_of(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Sms>, StoreError> {
        self.cards(
            &keys::AUTHORED,
            &keys::sms_by(user),
            position,
            limit,
            Order::Descending,
        )
        .await
    }

    /// At most `limit` messages of `batch`, after `position`, in the order of its recipients.
    pub async fn sms_of_batch(
        &self,
        batch: BatchId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Sms>, StoreError> {
        self.cards(
            &keys::LISTING,
            &keys::sms_of_batch(batch),
            position,
            limit,
            Order::Ascending,
        )
        .await
    }

    /// At most `limit` batches that `user` sent, after `position`, newest first.
    pub async fn batches_of(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Batch>, StoreError> {
        self.cards(
            &keys::AUTHORED,
            &keys::batches_by(user),
            position,
            limit,
            Order::Descending,
        )
        .await
    }

    /// How far the messages of `batch` have come. They are counted themselves, each once, so the figures add
    /// up whatever happens meanwhile, and no message waits for a counter.
    pub async fn progress(&self, batch: &Batch) -> Result<Progress, StoreError> {
        let (mut states, mut position) = (Vec::new(), None);
        loop {
            let list = keys::sms_of_batch(batch.batch_id);
            let page: Page<ListedItem<Stage>> = self
                .list(
                    &keys::LISTING,
                    &list,
                    position.as_deref(),
                    COUNTED,
                    Order::Ascending,
                )
                .await?;
            states.extend(page.items.into_iter().map(|item| item.card.status));
            position = page.last;
            if position.is_none() {
                return Ok(Progress::of(batch.accepted, states));
            }
        }
    }

    /// Makes messages of the chunk whose partition key is `pk`, unless that was done. Whoever else does so at
    /// the same time, or died in the middle of it: each message comes to be once.
    ///
    /// # Errors
    /// When the store is out of reach: then it was done or not, and may be tried again.
    pub async fn expand_chunk(&self, pk: &str, now: Instant) -> Result<(), StoreError> {
        let Some(ListedItem { card: chunk }) =
            self.get::<ListedItem<Chunk>>(&keys::chunk_of(pk)).await?
        else {
            return Ok(());
        };
        let common = self.batch_text(chunk.batch_id, now).await?;
        let mut expand = self.transaction();
        expand.expand(chunk, common.as_ref(), now);
        match expand.commit().await? {
            CommitOutcome::Committed | CommitOutcome::ConditionFailed(Part::Chunk) => Ok(()),
            CommitOutcome::ConditionFailed(_) => Err(StoreError::Unexpected(
                "a message of a chunk was there already".to_owned(),
            )),
        }
    }
}
