//! `POST /auth/login`: address and password open a session.

use axum::extract::State;
use common::{Client, Failure, Fields, FromFields, Input, Message, Now, Refusal, Reply, attempts, secret, text, told};
use domain::{
    CommitteeId, Email, Instant, UserId,
    committee::Committee,
    login_activity::LoginActivity,
    session::Method,
    user::{SelfView, User},
};
use identity::password::Match;
use secrecy::SecretString;
use serde::Serialize;
use store::{Credentials, EmailOwner};

use crate::Auth;

pub(crate) struct Login {
    email: Email,
    password: SecretString,
}

impl<S> FromFields<S> for Login {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let email = fields.required("email", text);
        let password = fields.required("password", secret);
        Some(Self { email: email?, password: password? })
    }
}

/// A session, or the token that opens the step which is still missing.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum SignIn {
    Complete { user: Box<SelfView> },
    OtpStep { token: String },
}

/// One Argon2id run and the same reads, whether the address is known or not: neither bytes nor
/// time tell who has an account.
pub(crate) async fn login(State(auth): State<Auth>, Now(now): Now, client: Client, Input(login): Input<Login>) -> Reply<SignIn> {
    let counters = attempts::of_password(&login.email, &client);
    let (reserved, found) = tokio::join!(attempts::reserve(&auth.store, &counters, now), find(&auth, &login.email, now));
    let (reserved, found) = (reserved?, found?);

    let hash = found.credentials.as_ref().map(|credentials| credentials.password_hash.as_str());
    let matched = auth.hasher.matches(&login.password, hash).await?;
    let (Some(user), Some(committee), Some(hash)) = (found.user.filter(|user| user.is_active), found.committee, hash) else {
        return Err(Refusal::BadAuthCombination.into());
    };
    match matched {
        Match::No => return Err(Refusal::BadAuthCombination.into()),
        Match::Yes => {}
        Match::YesOutdated => auth.store.rehash(user.user_id, hash, &auth.hasher.hash(&login.password).await?).await?,
    }

    let amr = vec![Method::Pwd];
    if user.is_otp_enabled {
        auth.store.give_back(reserved).await?;
        return told(Message::OtpRequired, SignIn::OtpStep { token: auth.sessions.otp_step(&user, amr, now)? });
    }
    let begin = auth.sessions.begin(user, committee, found.activity, amr, &client, now);
    let (user, given_back) = tokio::join!(begin, auth.store.give_back(reserved));
    // Places that could not be given back are free when their windows end.
    let _ = given_back;
    let user = Box::new(user?);
    let token = user.token().to_owned();
    told(Message::LoginSuccess, SignIn::Complete { user }).map(|told| told.authorized(&token))
}

struct Found {
    user: Option<User>,
    credentials: Option<Credentials>,
    committee: Option<Committee>,
    activity: Vec<LoginActivity>,
}

/// Whoever has `email`; for nobody, the same reads of what is not there.
async fn find(auth: &Auth, email: &Email, now: Instant) -> Result<Found, Failure> {
    let nobody = EmailOwner { user_id: UserId::in_path(""), committee_id: CommitteeId::in_path("") };
    let owner = auth.store.email_owner(email).await?.unwrap_or(nobody);
    let (user, credentials, committee, activity) = tokio::join!(
        auth.store.user(owner.user_id),
        auth.store.credentials(owner.user_id),
        auth.store.committee(owner.committee_id),
        auth.store.login_activity(owner.user_id, SelfView::ACTIVITY, now),
    );
    // An address is freed and taken again in one transaction with its user: one that points at a
    // user with another address has just been given up.
    let user = user?.filter(|user| user.email == *email);
    let moved = user.as_ref().map(|user| user.committee_id).filter(|id| *id != owner.committee_id);
    let committee = match moved {
        Some(id) => auth.store.committee(id).await?,
        None => committee?,
    };
    Ok(Found { user, credentials: credentials?, committee, activity: activity? })
}
