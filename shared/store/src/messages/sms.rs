//! Text messages of users. A single message is one item. A batch is stored as one batch item and several chunks;
//! the worker expands each chunk into messages in one transaction.

use std::time::Duration;

use domain::{
    BatchId, Instant, SmsId, UserId,
    batch::{Batch, Chunk, Progress},
    sms::{RETENTION, Sms, Text},
    times::{SWEEP_DELAY, TEXT_RETENTION},
};
use serde::{Deserialize, Serialize};

use crate::{
    CommitOutcome, Page, Part, Store, StoreError, Transaction,
    keys::{self, DueList, IndexKey, Key},
    outbox::Status,
    table::{ListedItem, Order, due, ttl},
    write::Write,
};

/// Messages of a batch that one query reads to count them.
const COUNT_PAGE: u16 = 1000;

#[derive(Serialize, Deserialize)]
struct StoredText {
    text: Text,
}

/// The partition key of chunk `number` of `batch`, for [`Store::expand_chunk`].
pub fn chunk_pk(batch: BatchId, number: u16) -> String {
    keys::chunk(batch, number).pk
}

impl Transaction {
    /// Queues `sms` with the text `text`.
    pub fn accept_sms(&mut self, sms: &Sms, text: &Text) {
        self.put_text(&keys::sms_text(sms.sms_id), text, sms.sending.created_at);
        self.put_sms(sms, DueList::Single, sms.sending.created_at.after(SWEEP_DELAY))
    }

    /// Queues `batch` as `chunks`. `text` is the text of all messages that have none of their own.
    pub fn accept_batch(&mut self, batch: &Batch, text: Option<&Text>, chunks: &[Chunk]) {
        let (key, now) = (keys::batch(batch.batch_id), batch.sending.created_at);
        let put = key
            .holding(&ListedItem { card: batch })
            .with(keys::batches_by(batch.sending.user_id).at(batch.batch_id).attributes())
            .with(keys::batches_in(batch.sending.committee_id).at(batch.batch_id).attributes())
            .with([ttl(now.after(RETENTION))]);
        self.put_new(Part::Other, put);
        if let Some(text) = text {
            self.put_text(&keys::batch_text(batch.batch_id), text, now);
        }
        for chunk in chunks {
            let key = keys::chunk(chunk.batch_id, chunk.number);
            let put = key.holding(&ListedItem { card: chunk }).with(due(
                DueList::Chunks,
                &key,
                now.after(SWEEP_DELAY),
            ));
            self.put_new(Part::Other, put);
        }
    }

    /// Replaces `chunk` by its messages, which get consecutive turns from `first`. `common` is the text of all messages
    /// that have none of their own. The condition fails (`Part::Chunk`) when the chunk was expanded before.
    fn expand(&mut self, chunk: Chunk, common: Option<&Text>, first: Instant) {
        let key = keys::chunk(chunk.batch_id, chunk.number);
        let delete = Write::at(&key);
        self.delete(Part::Chunk, delete.when("attribute_exists(pk)"));
        for (number, (sms, own)) in (0..).zip(chunk.messages(common)) {
            self.put_sms(&sms, DueList::Bulk, first.after(Duration::from_millis(number)));
            if let Some(text) = own {
                self.put_text(&keys::sms_text(sms.sms_id), &text, sms.sending.created_at);
            }
        }
    }

    fn put_sms(&mut self, sms: &Sms, list: DueList, at: Instant) {
        let key = keys::sms(sms.sms_id);
        let of_batch = sms.batch_id.map(|batch| keys::sms_of(batch).at(sms.sms_id));
        let put = key
            .holding(&ListedItem { card: sms })
            .with(keys::sms_by(sms.sending.user_id).at(sms.sms_id).attributes())
            .with(keys::sms_in(sms.sending.committee_id).at(sms.sms_id).attributes())
            .with(of_batch.into_iter().flat_map(IndexKey::attributes))
            .with(due(list, &key, at))
            .with([ttl(sms.sending.created_at.after(RETENTION))]);
        self.put_new(Part::Other, put);
    }

    fn put_text(&mut self, key: &Key, text: &Text, now: Instant) {
        let put =
            key.holding(&StoredText { text: text.clone() }).with([ttl(now.after(TEXT_RETENTION))]);
        self.put_new(Part::Other, put);
    }

    /// Deletes the text of `sms` and takes it off the list of its sender, whose account is erased. The committee keeps the
    /// record. The condition fails (`Part::Sms`) when there is none.
    pub fn disown_sms(&mut self, sms: &Sms) {
        let list = keys::sms_by(sms.sending.user_id).at(sms.sms_id);
        self.disown(&keys::sms(sms.sms_id), list);
        self.remove(Part::Other, &keys::sms_text(sms.sms_id))
    }

    /// As [`disown_sms`](Self::disown_sms), for `batch` and the chunks that are not expanded into messages yet.
    pub fn disown_batch(&mut self, batch: &Batch) {
        for number in 0..batch.chunks() {
            self.remove(Part::Chunk, &keys::chunk(batch.batch_id, number));
        }
        let list = keys::batches_by(batch.sending.user_id).at(batch.batch_id);
        self.disown(&keys::batch(batch.batch_id), list);
        self.remove(Part::Other, &keys::batch_text(batch.batch_id));
    }

    fn disown(&mut self, key: &Key, list: IndexKey) {
        let update = Write::at(key).when("attribute_exists(pk)");
        let names = list.attributes().into_iter().map(|(name, _)| name);
        let update = names.fold(update, |update, name| update.unset(&[&name]));
        self.update(Part::Sms, update);
    }
}

impl Store {
    /// The message `id`, without its text. A message of a chunk that is not expanded yet is not found.
    pub async fn sms(&self, id: SmsId) -> Result<Option<Sms>, StoreError> {
        self.card(&keys::sms(id)).await
    }

    /// The text of `sms`: its own, or that of its batch; `None` after 90 days.
    pub async fn text_of(&self, sms: &Sms, now: Instant) -> Result<Option<Text>, StoreError> {
        let own = self.text_at(keys::sms_text(sms.sms_id), now);
        let Some(batch) = sms.batch_id else {
            return own.await;
        };
        let (own, common) = tokio::join!(own, self.batch_text(batch, now));
        Ok(own?.or(common?))
    }

    /// The message `id` and its text, if it belongs to a chunk that is not expanded yet.
    pub async fn sms_in_chunk(
        &self,
        id: SmsId,
        now: Instant,
    ) -> Result<Option<(Sms, Option<Text>)>, StoreError> {
        let Some((batch, place)) = BatchId::of_message(id) else {
            return Ok(None);
        };
        let key = keys::chunk(batch, Chunk::number_of(place));
        let (chunk, common) = tokio::join!(self.card::<Chunk>(&key), self.batch_text(batch, now));
        let (Some(chunk), common) = (chunk?, common?) else {
            return Ok(None);
        };
        let found = chunk.messages(common.as_ref()).find(|(sms, _)| sms.sms_id == id);
        Ok(found.map(|(sms, own)| (sms, own.or(common))))
    }

    /// The common text of the messages of `batch`; `None` when there is none, or after 90 days.
    pub async fn batch_text(
        &self,
        batch: BatchId,
        now: Instant,
    ) -> Result<Option<Text>, StoreError> {
        self.text_at(keys::batch_text(batch), now).await
    }

    async fn text_at(&self, key: Key, now: Instant) -> Result<Option<Text>, StoreError> {
        #[derive(Deserialize)]
        struct Expiring {
            #[serde(flatten)]
            stored: StoredText,
            ttl: i64,
        }
        let item: Option<Expiring> = self.get(&key).await?;
        Ok(item.filter(|item| now.unix_seconds() < item.ttl).map(|item| item.stored.text))
    }

    /// The batch `id`, whether its chunks are expanded or not.
    pub async fn batch(&self, id: BatchId) -> Result<Option<Batch>, StoreError> {
        self.card(&keys::batch(id)).await
    }

    /// At most `limit` messages sent by `user`, after `position`, newest first, also those that are no longer kept and
    /// not deleted yet.
    pub async fn sms_of(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Sms>, StoreError> {
        self.cards(&keys::sms_by(user), position, limit, Order::Descending).await
    }

    /// At most `limit` messages of `batch`, after `position`, in the order of the recipients in the request.
    pub async fn sms_of_batch(
        &self,
        batch: BatchId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Sms>, StoreError> {
        self.cards(&keys::sms_of(batch), position, limit, Order::Ascending).await
    }

    /// At most `limit` batches sent by `user`, after `position`, newest first.
    pub async fn batches_of(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Batch>, StoreError> {
        self.cards(&keys::batches_by(user), position, limit, Order::Descending).await
    }

    /// The number of messages of `batch` in each state. Counts the messages themselves: the numbers always add up,
    /// and no counter becomes a hot item.
    pub async fn progress(&self, batch: &Batch) -> Result<Progress, StoreError> {
        let (mut states, mut position) = (Vec::new(), None);
        loop {
            let list = keys::sms_of(batch.batch_id);
            let page: Page<ListedItem<Status>> =
                self.list(&list, position.as_deref(), COUNT_PAGE, Order::Ascending).await?;
            states.extend(page.items.into_iter().map(|item| item.card.status));
            position = page.last;
            if position.is_none() {
                return Ok(Progress::of(batch.accepted, states));
            }
        }
    }

    /// Expands the chunk with the partition key `pk` into messages. Does nothing if that was done before; repeated
    /// and concurrent calls create each message once.
    pub async fn expand_chunk(&self, pk: &str, now: Instant) -> Result<(), StoreError> {
        let Some(chunk) = self.card::<Chunk>(&keys::chunk_at(pk)).await? else {
            return Ok(());
        };
        let (common, first) = tokio::try_join!(
            self.batch_text(chunk.batch_id, now),
            self.take_turns(chunk.sending.committee_id, chunk.entries.len(), now)
        )?;
        let mut tx = self.transaction();
        tx.expand(chunk, common.as_ref(), first);
        match tx.commit().await? {
            CommitOutcome::Committed | CommitOutcome::ConditionFailed(Part::Chunk) => Ok(()),
            CommitOutcome::ConditionFailed(_) => {
                Err(StoreError::Unexpected("a message of a chunk already exists".to_owned()))
            }
        }
    }
}
