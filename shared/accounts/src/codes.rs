//! Codes that are sent: who may ask for one how often, how it is kept, what it looks like on its way
//! out, and how it is proved. An address that nobody has costs the same reads and writes.

use std::{collections::BTreeMap, time::Duration};

use domain::{
    CommitteeId, Email, Instant, UserId,
    code::{self, Code, CodeKind, SendMethod},
    outbox::{News, Recipient},
    user::User,
};
use futures_util::future::join_all;
pub use identity::code::{place_of, place_of_phone, place_of_wish};
use identity::{
    chance,
    code::{Issued, issue},
    outbox::Post,
    sealing::Sealer,
};
use store::{Counter, Reservation, Store, Transaction};
use uuid::Uuid;

use common::{ApiError, Client};
use runtime::{ConfigError, Key};
use store::Setup;

use crate::attempts;

/// Issues codes and proves them.
#[derive(Clone)]
pub struct Codes {
    store: Store,
    sealer: Sealer,
    post: Post,
    interval: Duration,
}

impl Codes {
    /// The power to do so. Of the settings it reads `MESSAGE_INTERVAL_SECONDS` (60): how long an account gets
    /// no second code of a kind.
    ///
    /// # Errors
    /// When a key or the setting is missing or malformed.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        Ok(Self {
            store: setup.store.clone(),
            sealer: setup.keys.parse(Key::Sealing)?,
            post: setup.keys.parse(Key::Outbox)?,
            interval: setup.settings.seconds("MESSAGE_INTERVAL_SECONDS", 60)?,
        })
    }

    /// The places of one code of `kind` for `account`, if it may be sent one now: 1 per
    /// `MESSAGE_INTERVAL_SECONDS`, 3 in 15 minutes, 10 a day.
    ///
    /// # Errors
    /// When the counters cannot be asked.
    pub async fn may_send(
        &self,
        kind: CodeKind,
        account: &str,
        now: Instant,
    ) -> Result<Option<Reservation>, ApiError> {
        let counter = |name, most, length| Counter {
            name,
            key: format!("{} {account}", kind.word()),
            most,
            length,
        };
        let counters = [
            counter("messages-interval", 1, self.interval),
            counter("messages-quarter", 3, Duration::from_secs(15 * 60)),
            counter("messages-day", 10, Duration::from_secs(86_400)),
        ];
        Ok(self.store.reserve(&counters, now).await?.ok())
    }

    /// What came of sending a code for which `places` were taken: they are given back when it was not sent,
    /// so that whoever tries again is not told that it was.
    ///
    /// # Errors
    /// That of `sent`.
    pub async fn settle(
        &self,
        places: Reservation,
        sent: Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        if sent.is_err() {
            // What cannot be given back stays taken until its window ends.
            let _ = self.store.give_back(places).await;
        }
        sent
    }

    /// Sends a code of `kind`, kept at `place`, to `user` by `method`, or does as much for nobody.
    /// Text messages go to a number that was proved, five codes a day; beyond that nothing is sent.
    ///
    /// # Errors
    /// When the store is out of reach: then an earlier code is still good.
    pub async fn send(
        &self,
        kind: CodeKind,
        place: Uuid,
        user: Option<&User>,
        method: SendMethod,
        now: Instant,
    ) -> Result<(), ApiError> {
        let to = match (user, method) {
            (None, _) => Recipient::Nobody,
            (Some(user), SendMethod::Email) => Recipient::Mail(user.email.clone()),
            (Some(user), SendMethod::Sms) => user.text_recipient(),
        };
        let places = match method {
            SendMethod::Email => None,
            SendMethod::Sms => match self.may_text(&to, place, now).await? {
                Some(places) => Some(places),
                None => return Ok(()),
            },
        };
        let sent = self.issue_alone(kind, place, user, to, now).await;
        match places {
            Some(places) => self.settle(places, sent).await,
            None => sent,
        }
    }

    /// Sends a code that proves the number of `user`, unless it had its five today.
    ///
    /// # Errors
    /// When the store is out of reach: then an earlier code is still good.
    pub async fn send_to_phone(&self, user: &User, now: Instant) -> Result<(), ApiError> {
        let (to, place) = (
            Recipient::Sms(user.phone.clone()),
            place_of_phone(user.user_id, &user.phone),
        );
        let Some(places) = self.may_text(&to, place, now).await? else {
            return Ok(());
        };
        let sent = self
            .issue_alone(CodeKind::Phone, place, Some(user), to, now)
            .await;
        self.settle(places, sent).await
    }

    /// Sends a code that proves `email`, an address of `user` or one that he asked for.
    ///
    /// # Errors
    /// When the store is out of reach: then an earlier code is still good.
    pub async fn send_to_mailbox(
        &self,
        user: &User,
        email: &Email,
        now: Instant,
    ) -> Result<(), ApiError> {
        let place = if *email == user.email {
            place_of(email)
        } else {
            place_of_wish(email)
        };
        self.issue_alone(
            CodeKind::Email,
            place,
            Some(user),
            Recipient::Mail(email.clone()),
            now,
        )
        .await
    }

    async fn issue_alone(
        &self,
        kind: CodeKind,
        place: Uuid,
        user: Option<&User>,
        to: Recipient,
        now: Instant,
    ) -> Result<(), ApiError> {
        let mut issue = self.store.transaction();
        self.issue(&mut issue, kind, place, user, to, now)?;
        let _ = issue.commit().await?;
        Ok(())
    }

    /// A place among the five codes that a number gets a day. Who has no number gets mails, which this does
    /// not bound, and costs as much.
    async fn may_text(
        &self,
        to: &Recipient,
        place: Uuid,
        now: Instant,
    ) -> Result<Option<Reservation>, ApiError> {
        let (key, most) = match to {
            Recipient::Sms(phone) => (format!("+{}{}", phone.code, phone.number), 5),
            Recipient::Mail(_) | Recipient::Nobody => (place.to_string(), u64::MAX),
        };
        let counter = Counter {
            name: "text-messages",
            key,
            most,
            length: Duration::from_secs(86_400),
        };
        Ok(self.store.reserve(&[counter], now).await?.ok())
    }

    /// Has `transaction` keep a new code of `kind` at `place` and send it to `to`.
    pub fn issue(
        &self,
        transaction: &mut Transaction,
        kind: CodeKind,
        place: Uuid,
        user: Option<&User>,
        to: Recipient,
        now: Instant,
    ) -> Result<(), ApiError> {
        let Issued { digits, link } = issue(place);
        let mac = |text: &str| self.sealer.mac(PURPOSE, &bound(kind, place, text));
        let nobody = || UserId::new(chance::id(now));
        let kept = Code {
            user_id: user.map_or_else(nobody, |user| user.user_id),
            committee_id: user.map_or_else(
                || CommitteeId::new(chance::id(now)),
                |user| user.committee_id,
            ),
            digits: mac(&digits),
            link: mac(&link),
            by_mail: !matches!(to, Recipient::Sms(_)),
            expires_at: now.after(code::LIFE),
            tries: 0,
            networks: BTreeMap::new(),
        };
        transaction.keep_code(kind, place, &kept);
        let name = user.map_or("", |user| user.name.as_str());
        transaction.send(&self.post.letter(
            to,
            kept.user_id,
            name,
            News::Code { kind, digits, link },
            now,
        )?);
        Ok(())
    }

    /// Has `user` ask for the address `email`: it is pending until a code that goes to it comes back, and
    /// the one in force is told. The address in force itself takes an earlier wish back.
    pub fn ask_for_email(
        &self,
        transaction: &mut Transaction,
        user: &mut User,
        email: &Email,
        now: Instant,
    ) -> Result<(), ApiError> {
        if *email == user.email {
            user.pending_email = None;
            return Ok(());
        }
        user.pending_email = Some(email.clone());
        if !user.is_active {
            // A closed account gets no message; whoever opens it again may ask for the code.
            return Ok(());
        }
        self.issue(
            transaction,
            CodeKind::Email,
            place_of_wish(email),
            Some(user),
            Recipient::Mail(email.clone()),
            now,
        )?;
        transaction.send(
            &self
                .post
                .tell(user, News::EmailChangeRequested { at: now }, now)?,
        );
        Ok(())
    }

    /// The power to write other letters.
    pub const fn post(&self) -> &Post {
        &self.post
    }

    /// The code of `kind` at one of `places`, if `text` is its digits or its link and it is alive for
    /// `client`, with the place that was taken for a failure; using it up is the caller's. Otherwise the
    /// try is counted at each.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE`, or a error, when nobody may try.
    pub async fn prove(
        &self,
        kind: CodeKind,
        places: &[Uuid],
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<Proved>, ApiError> {
        let counters = attempts::of_code(client);
        let read = join_all(places.iter().map(|place| self.store.code(kind, *place)));
        let (reserved, read) = tokio::join!(attempts::reserve(&self.store, &counters, now), read);
        let reserved = reserved?;
        let codes: Vec<Option<Code>> = match read.into_iter().collect() {
            Ok(codes) => codes,
            Err(error) => {
                // What cannot be given back stays taken until its window ends.
                let _ = self.store.give_back(reserved).await;
                return Err(ApiError::from(error));
            }
        };
        let is_it = |place: Uuid, code: &Code| {
            let data = bound(kind, place, text);
            let (digits, link) = (
                self.sealer.is_mac(&code.digits, PURPOSE, &data),
                self.sealer.is_mac(&code.link, PURPOSE, &data),
            );
            (digits | link) && code.is_alive(&client.network, now)
        };
        let mut found = places
            .iter()
            .zip(codes)
            .filter_map(|(place, code)| Some((*place, code?)));
        if let Some((place, code)) = found.find(|(place, code)| is_it(*place, code)) {
            return Ok(Some(Proved {
                code,
                place,
                reserved,
            }));
        }
        let counted = join_all(
            places
                .iter()
                .map(|place| self.store.count_try(kind, *place, &client.network, now)),
        );
        counted.await.into_iter().collect::<Result<(), _>>()?;
        Ok(None)
    }
}

/// A code that somebody knew.
#[derive(Debug)]
pub struct Proved {
    /// The code.
    pub code: Code,
    /// Where it is kept.
    pub place: Uuid,
    /// The place that was taken for a failure, to be given back.
    pub reserved: Reservation,
}

const PURPOSE: &str = "code";

/// A code proves nothing for another kind or at another place.
fn bound(kind: CodeKind, place: Uuid, text: &str) -> Vec<u8> {
    format!("{} {place} {text}", kind.word()).into_bytes()
}
