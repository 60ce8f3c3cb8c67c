//! Registrations for a course that is cancelled, or that has started while they waited, end.

use domain::{
    UserId,
    registration::{
        Ending, Party, RegistrationEvent, RegistrationState,
        RegistrationState::{Cancelled, Expired, Pending, Waitlisted},
    },
};
use runtime::Error;
use store::{RegistrationOrder, SeatRule, StoreError};
use tokio::time::Instant as Monotonic;

use super::{Course, Left, MOVES, Move, PAGE};
use crate::{Services, Worker};

impl Worker {
    /// Ends registrations because of `ending`, until none is listed or the run ends.
    ///
    /// # Errors
    /// [`StoreError::TransactionConflict`] if the index lists none of them yet: the work is retried later.
    pub(super) async fn end(&self, course: &Course, ending: Ending) -> Result<Left, Error> {
        let Services { store, clock, .. } = &*self.0;
        let Course { terms, seats, ends, .. } = course;
        let id = terms.course.summary.course_id;
        let (states, event): (&[RegistrationState], _) = match ending {
            Ending::Cancelled => (&RegistrationState::ACTIVE, RegistrationEvent::CourseCancelled),
            Ending::Started => (&[Pending, Waitlisted], RegistrationEvent::Expired),
        };
        let rule = SeatRule::Ending { revision: seats.revision };
        let (order, mut position, mut has_ended) = (RegistrationOrder::Number, None, false);
        loop {
            let page = store.registrations(id, states, &order, position.as_deref(), PAGE).await?;
            let users: Vec<UserId> = page.items.iter().map(|card| card.user_id).collect();
            let mut registrants = store.registrants(id, &users).await?;
            registrants.retain(|(one, _)| states.contains(&one.card.state));
            for some in registrants.chunks(MOVES) {
                let now = clock.now();
                let ended = some.iter().map(|(before, user)| {
                    let named = before.named(user);
                    let after = match ending {
                        Ending::Cancelled => {
                            let reason = terms.settings.cancel_reason.clone();
                            named.moved(Cancelled, Party::Committee, reason, now)
                        }
                        Ending::Started => named.moved(Expired, Party::System, None, now),
                    };
                    Move { before, after, user }
                });
                let moves: Vec<Move<'_>> = ended.collect();
                if !self.commit_moves(terms, &moves, rule, event).await? {
                    // Something has changed since it was read.
                    return Ok(Left::ReadAgain);
                }
                has_ended = true;
            }
            position = page.last;
            if position.is_none() || Monotonic::now() >= *ends {
                break;
            }
        }
        if has_ended { Ok(Left::ReadAgain) } else { Err(StoreError::TransactionConflict.into()) }
    }
}
