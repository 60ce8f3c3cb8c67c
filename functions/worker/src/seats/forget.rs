//! Answers and personal data of registrations are deleted when their retention is over.

use background::AT_ONCE;
use domain::{
    Instant,
    registration::{Cleanup, Registration, RegistrationCard, RegistrationState, Retention},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use runtime::Error;
use store::RegistrationOrder;
use tokio::time::Instant as Monotonic;

use super::{Course, Left, PAGE};
use crate::Worker;

impl Worker {
    /// Deletes the answers, and later the personal data, of registrations whose retention is over: it begins as that of the
    /// course, but not before the registration. Every step can be repeated. If the run ends before the last registration, the
    /// next one goes on from there.
    pub(super) async fn forget(&self, course: &Course) -> Result<Left, Error> {
        let Retention { answers, cards } = self.0.retention;
        let Course { terms, seats, now, ends } = course;
        let (summary, now) = (&terms.course.summary, *now);
        let course_begin = Retention::begin(summary);
        let begin = |card: &RegistrationCard| course_begin.max(card.created_at);
        let (store, id) = (&self.0.store, summary.course_id);
        let order = RegistrationOrder::Number;
        let earlier = seats.cleanup.clone();
        let mut next = earlier.as_ref().and_then(|cleanup| cleanup.next);
        let mut position = earlier.map(|cleanup| cleanup.after);
        loop {
            let states = &RegistrationState::ALL;
            let page = store.registrations(id, states, &order, position.as_deref(), PAGE).await?;
            let is_old = |card: &RegistrationCard| {
                begin(card).after(answers) <= now && !card.answered.is_empty()
                    || begin(card).after(cards) <= now && !card.is_anonymous
            };
            let times = page.items.iter();
            let times = times.flat_map(|card| [answers, cards].map(|time| begin(card).after(time)));
            next = times.filter(|time| *time > now).chain(next).min();
            let old = page.items.into_iter().filter(is_old);
            let cleared = stream::iter(old).map(|card| async move {
                let Some(before) = store.registration(id, card.user_id).await? else {
                    return Ok(());
                };
                self.clear(&before, begin(&card).after(cards) <= now, now).await
            });
            cleared.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            match page.last {
                Some(after) if Monotonic::now() >= *ends => {
                    return Ok(Left::Deletion(Cleanup { after, next }));
                }
                None => return Ok(Left::Until(next)),
                last => position = last,
            }
        }
    }

    /// Deletes the answers of the registration `before`, and its other personal data if it is to become anonymous.
    pub(crate) async fn clear(
        &self,
        before: &Registration,
        is_anonymous: bool,
        now: Instant,
    ) -> Result<(), Error> {
        let is_cleared = before.card.answered.is_empty();
        if is_cleared && (before.card.is_anonymous || !is_anonymous) {
            return Ok(());
        }
        let after = if is_anonymous {
            before.anonymised(now).map_err(|_| "the names of an erased account are malformed")?
        } else {
            before.changed(now, |after| after.card.answered.clear())
        };
        let mut tx = self.0.store.transaction();
        tx.clear_registration(before, &after, is_anonymous);
        Ok(tx.commit().await?.or_conflict()?)
    }
}
