//! Files and what they take of their owner's quota. A file that was announced, or is not wanted any more,
//! stands in the index `due` until it is settled.

use std::time::Duration;

use domain::{
    FileId, Instant, UserId,
    file::{File, Status, Usage},
};
use serde::Deserialize;

use crate::{
    CommitOutcome, Page, Part, Store, StoreError, Transaction,
    keys::{self, FILE_PREFIX, FILES_DUE},
    table::{Carded, Order, due},
    write::Write,
};

/// What has not come after this long does not come.
const AWAITED: Duration = Duration::from_secs(3600);

/// A file that is to be settled.
#[derive(Debug, Clone)]
pub struct DueFile {
    /// The file.
    pub file: File,
    /// When it is to be settled.
    pub due_at: Instant,
}

#[derive(Deserialize)]
struct Awaited {
    card: File,
    #[serde(rename = "dueAt")]
    due_at: Option<i64>,
}

/// The file whose partition key is `pk`, if it is one.
pub fn file_id(pk: &str) -> Option<FileId> {
    pk.strip_prefix(FILE_PREFIX).map(FileId::in_path)
}

impl Store {
    /// The file `id`, unless its owner does not want it any more.
    pub async fn file(&self, id: FileId) -> Result<Option<File>, StoreError> {
        let file = self
            .get::<Carded<File>>(&keys::file(id))
            .await?
            .map(|item| item.card);
        Ok(file.filter(|file| file.status != Status::Deleted))
    }

    /// At most `limit` files of `user` after `position`, newest first.
    pub async fn files(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<File>, StoreError> {
        self.cards(
            &keys::LISTING,
            &keys::files_of(user),
            position,
            limit,
            Order::Descending,
        )
        .await
    }

    /// What the files of `user` take.
    pub async fn usage(&self, user: UserId) -> Result<Usage, StoreError> {
        Ok(self.get(&keys::usage(user)).await?.unwrap_or_default())
    }

    /// Announces `file`, whose owner may keep `quota` bytes: whether there was room for it. Exact, however
    /// many are announced at once.
    pub async fn announce_file(&self, file: &File, quota: u64) -> Result<bool, StoreError> {
        let Some(room) = quota.checked_sub(file.size) else {
            return Ok(false);
        };
        let mut announce = self.transaction();
        let put = keys::file(file.file_id)
            .holding(&Carded { card: file })
            .with(keys::file_place(file.user_id, file.file_id).attributes())
            .with(due(FILES_DUE, file.created_at.after(AWAITED)));
        // What was given up may come back as long as its form is good: twice the quota is all that may lie there.
        let room_with_given_up = room.saturating_add(quota);
        let update = usage_update(file, 1, Room::Both)
            .when("attribute_not_exists(bytes) OR (bytes <= :room AND taken <= :roomWithGivenUp)")
            .number(":room", room)
            .number(":roomWithGivenUp", room_with_given_up);
        announce.update(Part::Usage, update);
        announce.put_new(Part::File, put);
        match announce.commit().await? {
            CommitOutcome::Committed => Ok(true),
            CommitOutcome::ConditionFailed(Part::Usage) => Ok(false),
            CommitOutcome::ConditionFailed(_) => Err(StoreError::Unexpected(
                "a new identifier was taken".to_owned(),
            )),
        }
    }

    /// The file `id` has come, if it was awaited: the file then.
    ///
    /// # Errors
    /// When the store is out of reach: then it may have been noted.
    pub async fn receive_file(&self, id: FileId) -> Result<Option<File>, StoreError> {
        let key = keys::file(id);
        let update = Write::at(&key)
            .when("card.#status = :pending")
            .expression("SET card.#status = :ready REMOVE duePk, dueAt")
            .name("#status", "status")
            .value(":pending", &Status::Pending)
            .value(":ready", &Status::Ready);
        Ok(self
            .update_item::<Carded<File>>(update)
            .await?
            .map(|item| item.card))
    }

    /// Commits [`Transaction::give_up_file`]: whether `file` was as it was read.
    pub async fn give_up_file(&self, file: &File, now: Instant) -> Result<bool, StoreError> {
        let mut give_up = self.transaction();
        give_up.give_up_file(file, now);
        Ok(give_up.commit().await? == CommitOutcome::Committed)
    }

    /// The file `id`, if it is to be settled sometime.
    pub async fn due_file(&self, id: FileId) -> Result<Option<DueFile>, StoreError> {
        let found: Option<Awaited> = self.get(&keys::file(id)).await?;
        Ok(found.and_then(|found| {
            Some(DueFile {
                due_at: Instant::from_unix_milliseconds(found.due_at?),
                file: found.card,
            })
        }))
    }

    /// The deleted `file` is to be looked at again at `at`.
    pub async fn put_off_file(&self, file: &File, at: Instant) -> Result<(), StoreError> {
        let update = file_update(file).expression("SET dueAt = :at");
        let update = update.number(":at", at.unix_milliseconds());
        self.apply(update).await?;
        Ok(())
    }

    /// Nothing is left of the deleted `file`, in the bucket neither.
    pub async fn forget_file(&self, file: &File) -> Result<(), StoreError> {
        let key = keys::file(file.file_id);
        let mut forget = self.transaction();
        let delete = Write::at(&key);
        forget.delete(Part::File, delete.when("attribute_exists(pk)"));
        let update = usage_update(file, -1, Room::Taken);
        forget.update(Part::Usage, update);
        // ApiError when it was forgotten already.
        let _ = forget.commit().await?;
        Ok(())
    }
}

impl Transaction {
    /// The owner of `file` does not want it any more: from `now` on it is listed nowhere, and its room is free.
    /// ApiError when its status has changed since it was read.
    pub fn give_up_file(&mut self, file: &File, now: Instant) {
        let update = file_update(file)
            .expression(
                "SET card.#status = :deleted, duePk = :due, dueAt = :now REMOVE listPk, listSk",
            )
            .value(":deleted", &Status::Deleted)
            .text(":due", FILES_DUE)
            .number(":now", now.unix_milliseconds());
        self.update(Part::File, update);
        let update = usage_update(file, -1, Room::Kept);
        self.update(Part::Usage, update);
    }
}

/// An update of `file`, if its status is what it was when it was read.
fn file_update(file: &File) -> Write {
    Write::at(&keys::file(file.file_id))
        .when("card.#status = :status")
        .name("#status", "status")
        .value(":status", &file.status)
}

/// Adds `files` files like `file` to what its owner keeps, to what may lie in the bucket, or to both.
fn usage_update(file: &File, files: i64, of: Room) -> Write {
    let bytes = i128::from(file.size) * i128::from(files);
    let update = Write::at(&keys::usage(file.user_id)).number(":bytes", bytes);
    let update = match of {
        Room::Both => update.expression("ADD files :files, bytes :bytes, taken :bytes"),
        Room::Kept => update.expression("ADD files :files, bytes :bytes"),
        Room::Taken => return update.expression("ADD taken :bytes"),
    };
    update.number(":files", files)
}

/// What a file counts in: `bytes`, which its owner is shown, and `taken`, which also holds what he gave up and
/// the bucket may still have.
#[derive(Clone, Copy)]
enum Room {
    Kept,
    Taken,
    Both,
}
