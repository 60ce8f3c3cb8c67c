//! Handles pending uploads that time out, and deletes the objects of deleted files.

use domain::{
    FileId,
    file::{FORM_LIFE, Status},
};
use runtime::Error;
use storage::key_of;
use store::DueFile;

use crate::{Dispatcher, Services};

impl Dispatcher {
    /// Handles the file `id` if it is due. A pending file becomes ready if its object exists with the right size,
    /// otherwise it is discarded. The object of a deleted file is deleted, and deleted again when the presigned form
    /// has expired, because the form may have been used in between.
    pub(crate) async fn settle_file(&self, id: FileId) -> Result<(), Error> {
        let Services {
            store,
            objects,
            clock,
            ..
        } = &*self.0;
        let now = clock.now();
        let Some(DueFile { file, .. }) = store.due_file(id).await?.filter(|due| due.due_at <= now)
        else {
            return Ok(());
        };
        match file.status {
            Status::Ready => {}
            Status::Pending if objects.size(&key_of(id)).await? == Some(file.size) => {
                store.complete_file(id).await?;
            }
            // Does nothing if the owner completes the upload concurrently.
            Status::Pending => {
                store.discard_file(&file, now).await?;
            }
            Status::Deleted => {
                objects.delete(&key_of(id)).await?;
                let form_ends = file.created_at.after(FORM_LIFE);
                if now < form_ends {
                    store.postpone_file(&file, form_ends).await?;
                } else {
                    store.delete_file(&file).await?;
                }
            }
        }
        Ok(())
    }
}
