//! Files and the storage usage of their owners. A pending upload or a deleted file is in the index `due` until the
//! worker has completed or removed it.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use domain::{
    FileId, Instant, UserId,
    file::{File, Status, Usage},
};
use serde::Deserialize;

use crate::{
    CommitOutcome, Page, Part, Store, StoreError, Transaction,
    keys::{self, DueList, Key},
    meter::request_id,
    quotas::addition,
    table::{ListedItem, MAX_KEYS, Order, card, due},
    write::Write,
};

/// An upload that is not complete after this long is discarded.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(3600);

/// How many times their quota a user may announce a day: the bucket keeps old versions of deleted files for days, so
/// that without a limit a user who uploads and deletes again and again would fill it.
const QUOTAS_PER_DAY: u64 = 3;

/// The most files of a user.
const MAX_FILES: u64 = 1_000;

#[derive(Deserialize)]
struct DueItem {
    card: File,
    #[serde(rename = "dueAt")]
    due_at: Option<i64>,
}

impl Store {
    /// The file `id`, unless it is deleted.
    pub async fn file(&self, id: FileId) -> Result<Option<File>, StoreError> {
        let file: Option<File> = self.card(&keys::file(id)).await?;
        Ok(file.filter(|file| file.status != Status::Deleted))
    }

    /// The files of `ids` that are ready, by id; one request for each hundred.
    pub async fn ready_files(
        &self,
        ids: impl IntoIterator<Item = FileId>,
    ) -> Result<HashMap<FileId, File>, StoreError> {
        // BatchGetItem refuses a key twice.
        let keys: BTreeSet<FileId> = ids.into_iter().collect();
        let keys: Vec<Key> = keys.into_iter().map(keys::file).collect();
        let mut found = HashMap::new();
        for keys in keys.chunks(MAX_KEYS) {
            for item in self.get_all(keys).await? {
                let file: Option<File> = card(item)?;
                let file = file.filter(|file| file.status == Status::Ready);
                found.extend(file.map(|file| (file.file_id, file)));
            }
        }
        Ok(found)
    }

    /// At most `limit` files of `user` after `position`, newest first.
    pub async fn files(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<File>, StoreError> {
        self.cards(&keys::files_of(user), position, limit, Order::Descending).await
    }

    /// The storage usage of `user`.
    pub async fn usage(&self, user: UserId) -> Result<Usage, StoreError> {
        Ok(self.get(&keys::usage(user)).await?.unwrap_or_default())
    }

    /// Changes the status of the file `id` from `PENDING` to `READY` and returns the file; `None` when it was not
    /// pending. After an error the change may have taken effect.
    pub async fn complete_file(&self, id: FileId) -> Result<Option<File>, StoreError> {
        let key = keys::file(id);
        let update = Write::at(&key)
            .when("card.#status = :pending")
            .expression("SET card.#status = :ready REMOVE duePk, dueAt")
            .name("#status", "status")
            .value(":pending", &Status::Pending)
            .value(":ready", &Status::Ready);
        Ok(self.update_item::<ListedItem<File>>(update).await?.map(|item| item.card))
    }

    /// Commits [`Transaction::discard_file`]. Returns whether the condition held.
    pub async fn discard_file(&self, file: &File, now: Instant) -> Result<bool, StoreError> {
        let mut tx = self.transaction();
        tx.discard_file(file, now);
        Ok(tx.commit().await? == CommitOutcome::Committed)
    }

    /// The file `id`, if it is in the index `due`, as a pending upload or a deleted file, and due at `now`.
    pub async fn due_file(&self, id: FileId, now: Instant) -> Result<Option<File>, StoreError> {
        let found: Option<DueItem> = self.get(&keys::file(id)).await?;
        let is_due = |item: &DueItem| {
            item.due_at.is_some_and(|at| Instant::from_unix_milliseconds(at) <= now)
        };
        Ok(found.filter(is_due).map(|item| item.card))
    }

    /// Sets the due time of the deleted `file` to `at`.
    pub async fn postpone_file(&self, file: &File, at: Instant) -> Result<(), StoreError> {
        let update =
            file_update(file).expression("SET dueAt = :at").number(":at", at.unix_milliseconds());
        self.apply(update).await.map(drop)
    }

    /// Removes the item of the deleted `file` and its size from the bucket usage of its owner. The objects must be
    /// deleted before.
    pub async fn delete_file(&self, file: &File) -> Result<(), StoreError> {
        let key = keys::file(file.file_id);
        let mut tx = self.transaction();
        let delete = Write::at(&key);
        tx.delete(Part::File, delete.when("attribute_exists(pk)"));
        let update = usage_update(file, -1, UsageKind::Bucket);
        tx.update(Part::Usage, update);
        // The condition fails when the item is already removed.
        let _ = tx.commit().await?;
        Ok(())
    }
}

impl Transaction {
    /// Creates `file` and reserves its size in its owner's quota of `quota` bytes. The condition fails ([`Part::Usage`])
    /// when the quota would be exceeded or the owner has a thousand files, or ([`Part::Quota`]) three times the quota by all files of the UTC day.
    pub fn new_file(&mut self, file: &File, quota: u64) {
        let key = keys::file(file.file_id);
        let put = key
            .holding(&ListedItem { card: file })
            .with(keys::files_of(file.user_id).at(file.file_id).attributes())
            .with(due(DueList::Files, &key, file.created_at.after(UPLOAD_TIMEOUT)));
        // A discarded file can still be uploaded while its presigned form is valid, so the bucket may hold up to
        // twice the quota, not counting old versions.
        let room = i128::from(quota) - i128::from(file.size);
        // A file that alone exceeds the quota is too large for a missing item, too.
        let empty = if room < 0 { "" } else { "attribute_not_exists(bytes) OR " };
        let update = usage_update(file, 1, UsageKind::Both)
            .when(format!(
                "{empty}(bytes <= :room AND taken <= :roomWithGivenUp AND files < :most)"
            ))
            .number(":most", MAX_FILES)
            .number(":room", room)
            .number(":roomWithGivenUp", room + i128::from(quota));
        self.update(Part::Usage, update);
        let of_day = keys::file_quota(file.user_id, file.created_at);
        let most = quota.saturating_mul(QUOTAS_PER_DAY);
        self.update(Part::Quota, addition(&of_day, file.size, most, file.created_at));
        self.put_new(Part::File, put);
    }

    /// Marks `file` as deleted: removes it from the lists, frees its quota and makes the removal of its objects due
    /// at `now`. The condition fails (`Part::File`) when its status has changed since it was read.
    pub fn discard_file(&mut self, file: &File, now: Instant) {
        let update = file_update(file)
            .expression(
                "SET card.#status = :deleted, card.deletedAt = :at, duePk = :due, dueAt = :now, requestId = :request \
                 REMOVE listPk, listSk",
            )
            .value(":deleted", &Status::Deleted)
            .value(":at", &now)
            .text(":due", DueList::Files.code())
            .text(":request", &request_id())
            .number(":now", now.unix_milliseconds());
        self.update(Part::File, update);
        let update = usage_update(file, -1, UsageKind::Quota);
        self.update(Part::Usage, update);
    }
}

/// An update of `file` on condition that its status is unchanged.
fn file_update(file: &File) -> Write {
    Write::at(&keys::file(file.file_id))
        .when("card.#status = :status")
        .name("#status", "status")
        .value(":status", &file.status)
}

/// Adds `files` times the size of `file` to the usage of its owner.
fn usage_update(file: &File, files: i64, of: UsageKind) -> Write {
    let bytes = i128::from(file.size) * i128::from(files);
    let update = Write::at(&keys::usage(file.user_id)).number(":bytes", bytes);
    let update = match of {
        UsageKind::Both => update.expression("ADD files :files, bytes :bytes, taken :bytes"),
        UsageKind::Quota => update.expression("ADD files :files, bytes :bytes"),
        UsageKind::Bucket => return update.expression("ADD taken :bytes"),
    };
    update.number(":files", files)
}

/// The usage that a file counts towards: `bytes`, which the owner sees, or `taken`, which also includes discarded
/// files that may still be in the bucket.
#[derive(Clone, Copy)]
enum UsageKind {
    Quota,
    Bucket,
    Both,
}
