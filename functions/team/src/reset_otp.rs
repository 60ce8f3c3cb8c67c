//! `DELETE /team/{userId}/otp`: an administrator helps somebody who has lost his authenticator.

use axum::extract::State;
use common::{Administrator, Message, Nothing, Now, Path, Refusal, Reply, told};
use domain::{
    UserId,
    audit::{Action, AuditEntry},
    outbox::News,
};
use identity::chance;
use store::Outcome;

use crate::Team;

/// The secret goes, every session of the person ends, and he is told, unless he is closed out. Where
/// there is none, nothing happens.
pub(crate) async fn reset(
    State(team): State<Team>,
    Now(now): Now,
    admin: Administrator,
    Path(id): Path<UserId>,
) -> Reply<Nothing> {
    for _ in 0..crate::TRIES {
        let before = admin.edits(&team.store, id).await?;
        let mut reset = team.store.transaction();
        if before.is_otp_enabled {
            let after = before.changed(|user| {
                user.is_otp_enabled = false;
                user.is_otp_verified = false;
                user.epoch += 1;
            });
            reset.change_user(&before, &after);
            reset.remove_otp(id, None);
            if before.is_active {
                reset.send(&team.codes.post().tell(
                    &before,
                    News::OtpDisabled {
                        at: now,
                        by_administrator: true,
                    },
                    now,
                )?);
            }
            let actor = admin.0.user.user_id;
            reset.note(&AuditEntry::of_user(
                chance::id(now),
                actor,
                Action::OtpReset,
                &before,
                &after,
                now,
            ));
        }
        if reset.commit().await? == Outcome::Done {
            return told(Message::OtpReset, Nothing {});
        }
    }
    Err(Refusal::Conflict.into())
}
