//! `DELETE /users/{userId}`: a person erases his account, or a super admin somebody's.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, Path, SignedIn, input,
    secret, success,
};
use domain::{
    Instant, Profile, UserId,
    audit::{Action, AuditEntry},
    user::User,
};
use identity::chance;
use secrecy::SecretString;
use store::{Part, StoreError, Transaction};

use crate::Users;

input! {
    pub(crate) struct DeleteUserRequest {
        password: Option<SecretString> = nullable("password", secret),
    }
}

/// What is left is anonymous, the address is free, and every session is over with the answer; the
/// dispatcher removes what else there is of the person.
pub(crate) async fn erase(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    person: SignedIn,
    Path(id): Path<UserId>,
    Input(request): Input<DeleteUserRequest>,
) -> ApiResult<Empty> {
    let actor = person.user.user_id;
    if id == actor {
        let password = request
            .password
            .ok_or_else(|| ApiError::field("password", ErrorCode::FieldRequired))?;
        let (_, reserved) = attempts::verify_password(
            &users.store,
            &users.hasher,
            &person.user,
            &password,
            &client,
            now,
        )
        .await?;
        // Places that cannot be given back are free when their windows end.
        let (erased, _) =
            tokio::join!(users.erase(id, actor, now), users.store.give_back(reserved));
        erased?;
    } else if person.user.profile == Profile::SuperAdmin {
        person.must_be_verified()?;
        users.erase(id, actor, now).await?;
    } else {
        users.must_be_oneself(&person, id).await?;
    }
    success(Message::UserDeleted, Empty {})
}

impl Users {
    async fn erase(&self, id: UserId, actor: UserId, now: Instant) -> Result<User, ApiError> {
        let user = self.store.user(id).await?.ok_or(ErrorCode::UserNotFound)?;
        let erase = |before: &User, change: &mut Transaction| {
            let after = before
                .clone()
                .erased(now)
                .map_err(|_| StoreError::Unexpected("an erased account is malformed".to_owned()))?;
            change.free_email(&before.email);
            change.remove_credentials(id);
            change.remove_otp(id, None);
            change.follow_admins(before, &after);
            if id != actor {
                let (audit, action) = (chance::id(now), Action::UserDeleted);
                change.note(&AuditEntry::of_user(
                    audit, actor, action, before, &after, now,
                ));
            }
            Ok(after)
        };
        let refused = |part| match part {
            Part::User => ErrorCode::UserNotFound.into(),
            Part::Admins => ErrorCode::LastAdmin.into(),
            _ => ErrorCode::Conflict.into(),
        };
        self.store.update_user(user, erase, refused).await
    }
}
