//! `POST /auth/login`: address and password open a session.

use axum::extract::State;
use common::{Client, Failure, Fields, FromFields, Input, Message, Now, Reply, attempts, secret, text, told};
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
    let (reserved, proof) = (reserved?, async { prove(&auth, found?, &login.password).await });
    let (Proved { user, committee, activity }, reserved) = attempts::settle(&auth.store, reserved, proof.await).await?;

    let amr = vec![Method::Pwd];
    let begin = async {
        if user.is_otp_enabled {
            return told(Message::OtpRequired, SignIn::OtpStep { token: auth.sessions.otp_step(&user, amr, now)? });
        }
        let user = Box::new(auth.sessions.begin(user, committee, activity, amr, &client, now).await?);
        let token = user.token().to_owned();
        told(Message::LoginSuccess, SignIn::Complete { user }).map(|told| told.authorized(&token))
    };
    // Places that cannot be given back are free when their windows end.
    let (begun, _) = tokio::join!(begin, auth.store.give_back(reserved));
    begun
}

/// A person who knows his password.
struct Proved {
    user: User,
    committee: Committee,
    activity: Vec<LoginActivity>,
}

async fn prove(auth: &Auth, found: Found, password: &SecretString) -> Result<Option<Proved>, Failure> {
    let hash = found.credentials.as_ref().map(|credentials| credentials.password_hash.as_str());
    let matched = auth.hasher.matches(password, hash).await?;
    let (Some(user), Some(committee), Some(hash)) = (found.user.filter(|user| user.is_active), found.committee, hash) else {
        return Ok(None);
    };
    match matched {
        Match::No => return Ok(None),
        Match::Yes => {}
        Match::YesOutdated => auth.store.rehash(user.user_id, hash, &auth.hasher.hash(password).await?).await?,
    }
    Ok(Some(Proved { user, committee, activity: found.activity }))
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
