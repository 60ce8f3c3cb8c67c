//! Handles pending uploads that time out, and deletes the objects of deleted files.

use domain::{FileId, file::Status};
use runtime::Error;

use crate::{Services, Worker};

impl Worker {
    /// Handles the file `id` if it is due. A pending file becomes ready if it was uploaded with the right size,
    /// otherwise it is discarded. The objects of a deleted file are deleted, and deleted again at
    /// [`File::writes_end`](domain::file::File::writes_end), because they may have been written in between.
    pub(crate) async fn settle_file(&self, id: FileId) -> Result<(), Error> {
        let Services { store, bucket, clock, .. } = &*self.0;
        let now = clock.now();
        let Some(file) = store.due_file(id, now).await? else {
            return Ok(());
        };
        match file.status {
            Status::Ready => {}
            Status::Pending if bucket.move_upload(id, file.size).await? => {
                store.complete_file(id).await?;
            }
            // Does nothing if the owner completes the upload concurrently.
            Status::Pending => {
                store.discard_file(&file, now).await?;
            }
            Status::Deleted => {
                bucket.delete_file(id).await?;
                let writes_end = file.writes_end();
                if now < writes_end {
                    store.postpone_file(&file, writes_end).await?;
                } else {
                    store.delete_file(&file).await?;
                }
            }
        }
        Ok(())
    }
}
