//! `POST /auth/login`: address and password open a session.

use accounts::{Arrival, attempts};
use axum::extract::State;
use common::{ApiError, ApiResult, Client, Input, Now, input, secret, text};
use domain::{CommitteeId, Email, Instant, UserId, session::Method};
use identity::password::Match;
use secrecy::SecretString;
use store::{Credentials, EmailOwner};

use crate::{
    Auth,
    sign_in::{SignIn, sign_in},
};

input! {
    pub(crate) struct LoginRequest {
        email: Email = required("email", text),
        password: SecretString = required("password", secret),
    }
}

/// One Argon2id run and the same reads, whether the address is known or not: neither bytes nor
/// time tell who has an account.
pub(crate) async fn login(
    State(auth): State<Auth>,
    Now(now): Now,
    client: Client,
    Input(login): Input<LoginRequest>,
) -> ApiResult<SignIn> {
    let counters = attempts::of_password(&login.email, &client);
    let (reserved, found) = tokio::join!(
        attempts::reserve(&auth.store, &counters, now),
        find(&auth, &login.email, now)
    );
    let (reserved, proof) = (reserved?, async {
        prove(&auth, found?, &login.password).await
    });
    let (arrival, reserved) = attempts::settle(&auth.store, reserved, proof.await).await?;
    let signed_in = sign_in(
        &auth,
        arrival,
        Method::Pwd,
        &client,
        now,
        auth.store.transaction(),
    );
    // Places that cannot be given back are free when their windows end.
    let (signed_in, _) = tokio::join!(signed_in, auth.store.give_back(reserved));
    signed_in
}

/// Whoever knows his password.
async fn prove(
    auth: &Auth,
    found: Found,
    password: &SecretString,
) -> Result<Option<Arrival>, ApiError> {
    let hash = found
        .credentials
        .as_ref()
        .map(|credentials| credentials.password_hash.as_str());
    let matched = auth.hasher.matches(password, hash).await?;
    let (Some(arrival), Some(hash)) =
        (found.arrival.filter(|arrival| arrival.user.is_active), hash)
    else {
        return Ok(None);
    };
    match matched {
        Match::No => return Ok(None),
        Match::Yes => {}
        Match::YesOutdated => {
            auth.store
                .rehash(
                    arrival.user.user_id,
                    hash,
                    &auth.hasher.hash(password).await?,
                )
                .await?
        }
    }
    Ok(Some(arrival))
}

struct Found {
    arrival: Option<Arrival>,
    credentials: Option<Credentials>,
}

/// Whoever has `email`; for nobody, the same reads of what is not there.
async fn find(auth: &Auth, email: &Email, now: Instant) -> Result<Found, ApiError> {
    let nobody = EmailOwner {
        user_id: UserId::in_path(""),
        committee_id: CommitteeId::in_path(""),
    };
    let owner = auth.store.email_owner(email).await?.unwrap_or(nobody);
    let (arrival, credentials) = tokio::join!(
        auth.sessions.find(owner.user_id, owner.committee_id, now),
        auth.store.credentials(owner.user_id)
    );
    // An address is freed and taken again in one transaction with its user: one that points at a
    // user with another address has just been given up.
    Ok(Found {
        arrival: arrival?.filter(|arrival| arrival.user.email == *email),
        credentials: credentials?,
    })
}
