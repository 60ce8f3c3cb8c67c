//! Files that were announced and never came, and files that nobody wants any more.

use domain::{
    FileId,
    file::{FORM_LIFE, Status},
};
use runtime::Error;
use storage::key_of;
use store::DueFile;

use crate::{Dispatcher, Powers};

impl Dispatcher {
    /// Settles the file `id`, if it is time: one that is awaited has come or does not count any more; one that
    /// is not wanted goes, and goes once more when its form is over, which may have brought it back.
    pub(crate) async fn settle_file(&self, id: FileId) -> Result<(), Error> {
        let Powers {
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
                store.receive_file(id).await?;
            }
            // ApiError when the owner says at this moment that it has come.
            Status::Pending => {
                store.give_up_file(&file, now).await?;
            }
            Status::Deleted => {
                objects.delete(&key_of(id)).await?;
                let form_ends = file.created_at.after(FORM_LIFE);
                if now < form_ends {
                    store.put_off_file(&file, form_ends).await?;
                } else {
                    store.forget_file(&file).await?;
                }
            }
        }
        Ok(())
    }
}
