//! One-time codes by mail and text message: limits, storage as HMACs, sending and verification. An address without an
//! account costs the same reads and writes.

use std::{collections::BTreeMap, time::Duration};

use common::{ApiError, Client, ErrorCode};
use domain::{
    CommitteeId, CountryCodes, E164, Email, Instant, Phone, UserId,
    code::{self, Code, CodeKind, SendMethod},
    outbox::{Notification, Recipient},
    user::User,
};
use futures_util::future::join_all;
pub use identity::code::{email_challenge, pending_email_challenge, phone_challenge};
use identity::{
    code::{NewCode, issue},
    outbox::OutboxSealer,
    random,
    sealing::Sealer,
};
use runtime::{ConfigError, Key};
use store::{Counter, Reservation, Setup, Store, Transaction};
use uuid::Uuid;

use crate::attempts;

/// Issues and verifies one-time codes.
#[derive(Clone)]
pub struct Codes {
    store: Store,
    sealer: Sealer,
    outbox: OutboxSealer,
    interval: Duration,
    countries: CountryCodes,
}

impl Codes {
    /// Reads the sealing and outbox keys, and the settings `MESSAGE_INTERVAL_SECONDS` (default 60), the shortest time
    /// between two codes of one kind for one account, and `SMS_COUNTRY_CODES` (default 216).
    ///
    /// # Errors
    /// When a key is missing or malformed, or the setting is invalid.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        Ok(Self {
            store: setup.store.clone(),
            sealer: setup.keys.parse(Key::Sealing)?,
            outbox: setup.keys.parse(Key::Outbox)?,
            interval: setup.settings.seconds("MESSAGE_INTERVAL_SECONDS", 60)?,
            countries: setup.settings.parse("SMS_COUNTRY_CODES", "216")?,
        })
    }

    /// Reserves one of the codes of `kind` that may be sent to `account`: 1 per `MESSAGE_INTERVAL_SECONDS`, 3 in 15
    /// minutes, 10 a day. `None` when a limit is reached.
    pub async fn reserve_send(
        &self,
        kind: CodeKind,
        account: &str,
        now: Instant,
    ) -> Result<Option<Reservation>, ApiError> {
        let counter = |name, max, window| Counter {
            name,
            key: format!("{} {account}", kind.as_str()),
            max,
            window,
        };
        let counters = [
            counter("messages-interval", 1, self.interval),
            counter("messages-quarter", 3, Duration::from_secs(15 * 60)),
            counter("messages-day", 10, Duration::from_secs(86_400)),
        ];
        Ok(self.store.reserve(&counters, now).await?.ok())
    }

    /// Releases `reservation` when `sent` is an error, so that the next request sends a code instead of only reporting
    /// one. Returns `sent`.
    ///
    /// # Errors
    /// That of `sent`.
    pub async fn release_unless_sent(
        &self,
        reservation: Reservation,
        sent: Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        if sent.is_err() {
            let _ = self.store.release(reservation).await;
        }
        sent
    }

    /// Sends a new code of `kind` for `challenge` to `user` by `method`. For `None` it makes the same writes without a
    /// recipient. Text messages go to verified numbers only (otherwise mail), at most five codes a day per number;
    /// beyond that nothing is sent. On an error an earlier code stays valid.
    pub async fn send(
        &self,
        kind: CodeKind,
        challenge: Uuid,
        user: Option<&User>,
        method: SendMethod,
        now: Instant,
    ) -> Result<(), ApiError> {
        let to = match (user, method) {
            (None, _) => Recipient::NoAccount,
            (Some(user), SendMethod::Email) => Recipient::Mail(user.email.clone()),
            (Some(user), SendMethod::Sms) => user.text_recipient(&self.countries),
        };
        let reservation = match method {
            SendMethod::Email => None,
            SendMethod::Sms => match self.reserve_text_message(&to, challenge, now).await? {
                Some(reservation) => Some(reservation),
                None => return Ok(()),
            },
        };
        let sent = self.issue_and_commit(kind, challenge, user, to, now).await;
        match reservation {
            Some(reservation) => self.release_unless_sent(reservation, sent).await,
            None => sent,
        }
    }

    /// Checks that the phone number of `user` can receive a code: a mobile number of one of `SMS_COUNTRY_CODES`. Texts
    /// to other numbers can cost many times more, which the owner of such a number could share in.
    ///
    /// # Errors
    /// `PHONE_NOT_REACHABLE_MESSAGE` on `phone`.
    pub fn require_reachable(&self, user: &User) -> Result<(), ApiError> {
        let number = E164::from(&user.phone);
        match self.countries.mobile(number.as_str()) {
            Ok(_) => Ok(()),
            Err(_) => Err(ApiError::field("phone", ErrorCode::PhoneNotReachable)),
        }
    }

    /// Sends a text message with a code that verifies the phone number of `user`, at most five codes a day per number;
    /// beyond that nothing is sent.
    pub async fn send_to_phone(&self, user: &User, now: Instant) -> Result<(), ApiError> {
        let (to, challenge) = (
            Recipient::Sms(user.phone.clone()),
            phone_challenge(user.user_id, &user.phone),
        );
        let Some(reservation) = self.reserve_text_message(&to, challenge, now).await? else {
            return Ok(());
        };
        let sent = self
            .issue_and_commit(CodeKind::Phone, challenge, Some(user), to, now)
            .await;
        self.release_unless_sent(reservation, sent).await
    }

    /// Sends a mail with a code that verifies `email`: the address of `user`, or their pending address.
    pub async fn send_to_mailbox(
        &self,
        user: &User,
        email: &Email,
        now: Instant,
    ) -> Result<(), ApiError> {
        let challenge = if *email == user.email {
            email_challenge(email)
        } else {
            pending_email_challenge(email)
        };
        self.issue_and_commit(
            CodeKind::Email,
            challenge,
            Some(user),
            Recipient::Mail(email.clone()),
            now,
        )
        .await
    }

    async fn issue_and_commit(
        &self,
        kind: CodeKind,
        challenge: Uuid,
        user: Option<&User>,
        to: Recipient,
        now: Instant,
    ) -> Result<(), ApiError> {
        let mut tx = self.store.transaction();
        self.issue(&mut tx, kind, challenge, user, to, now)?;
        let _ = tx.commit().await?;
        Ok(())
    }

    /// Reserves one of the five codes per day and number. Mail is not limited here, but makes the same write, so that
    /// the cost does not reveal whether the account exists.
    async fn reserve_text_message(
        &self,
        to: &Recipient,
        challenge: Uuid,
        now: Instant,
    ) -> Result<Option<Reservation>, ApiError> {
        let (key, max) = match to {
            Recipient::Sms(phone) => (format!("+{}{}", phone.code, phone.number), 5),
            Recipient::Mail(_) | Recipient::NoAccount => (challenge.to_string(), u64::MAX),
        };
        let counter = Counter {
            name: "text-messages",
            key,
            max,
            window: Duration::from_secs(86_400),
        };
        Ok(self.store.reserve(&[counter], now).await?.ok())
    }

    /// Adds to `transaction` a new code of `kind` for `challenge`, valid for ten minutes, which replaces an earlier
    /// one, and the message that sends it to `to`.
    pub fn issue(
        &self,
        transaction: &mut Transaction,
        kind: CodeKind,
        challenge: Uuid,
        user: Option<&User>,
        to: Recipient,
        now: Instant,
    ) -> Result<(), ApiError> {
        let NewCode { digits, link } = issue(challenge);
        let mac = |text: &str| self.sealer.mac(PURPOSE, &mac_input(kind, challenge, text));
        let unused_id = || UserId::new(random::id(now));
        let stored = Code {
            user_id: user.map_or_else(unused_id, |user| user.user_id),
            committee_id: user.map_or_else(
                || CommitteeId::new(random::id(now)),
                |user| user.committee_id,
            ),
            digits: mac(&digits),
            link: mac(&link),
            by_mail: !matches!(to, Recipient::Sms(_)),
            expires_at: now.after(code::LIFE),
            tries: 0,
            networks: BTreeMap::new(),
        };
        transaction.put_code(kind, challenge, &stored);
        let name = user.map_or("", |user| user.name.as_str());
        transaction.send(&self.outbox.message(
            to,
            stored.user_id,
            name,
            Notification::Code { kind, digits, link },
            now,
        )?);
        Ok(())
    }

    /// Makes `email` the pending address of `user`, and adds to `transaction` a code to it and a notification to the
    /// current address. The change takes effect when the code is verified. The current address cancels a pending
    /// change. An inactive account gets no message.
    pub fn request_email_change(
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
            // The code can be requested when the account is active again.
            return Ok(());
        }
        self.issue(
            transaction,
            CodeKind::Email,
            pending_email_challenge(email),
            Some(user),
            Recipient::Mail(email.clone()),
            now,
        )?;
        transaction.send(&self.outbox.notify(
            user,
            Notification::EmailChangeRequested { at: now },
            now,
        )?);
        Ok(())
    }

    /// Adds to `tx` the notification of the owner of `before` that their number becomes `phone`, if it is another one.
    pub fn notify_phone_change(
        &self,
        tx: &mut Transaction,
        before: &User,
        phone: &Phone,
        now: Instant,
    ) -> Result<(), ApiError> {
        if *phone != before.phone && before.is_active {
            let notification = Notification::PhoneChanged { at: now };
            tx.send(&self.outbox.notify(before, notification, now)?);
        }
        Ok(())
    }

    /// The sealer of outbox messages, for notifications other than codes.
    pub const fn outbox(&self) -> &OutboxSealer {
        &self.outbox
    }

    /// Finds the code of `kind` for one of `challenges` whose digits or link code is `text` and which is valid for the
    /// network of `client`. The caller marks it as used and releases its reservation. `None` when there is none; then
    /// the failed attempt is counted for every challenge.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when the network has had too many wrong attempts.
    pub async fn verify(
        &self,
        kind: CodeKind,
        challenges: &[Uuid],
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<VerifiedCode>, ApiError> {
        let counters = attempts::of_code(client);
        let read = join_all(
            challenges
                .iter()
                .map(|challenge| self.store.code(kind, *challenge)),
        );
        let (reserved, read) = tokio::join!(attempts::reserve(&self.store, &counters, now), read);
        let reserved = reserved?;
        let codes: Vec<Option<Code>> = match read.into_iter().collect() {
            Ok(codes) => codes,
            Err(error) => {
                let _ = self.store.release(reserved).await;
                return Err(ApiError::from(error));
            }
        };
        let matches = |challenge: Uuid, code: &Code| {
            let data = mac_input(kind, challenge, text);
            let (digits, link) = (
                self.sealer.is_mac(&code.digits, PURPOSE, &data),
                self.sealer.is_mac(&code.link, PURPOSE, &data),
            );
            (digits | link) && code.is_valid(&client.network, now)
        };
        let mut found = challenges
            .iter()
            .zip(codes)
            .filter_map(|(challenge, code)| Some((*challenge, code?)));
        if let Some((challenge, code)) = found.find(|(challenge, code)| matches(*challenge, code)) {
            return Ok(Some(VerifiedCode {
                code,
                challenge,
                reserved,
            }));
        }
        let counted = join_all(challenges.iter().map(|challenge| {
            self.store
                .count_failed_attempt(kind, *challenge, &client.network, now)
        }));
        counted.await.into_iter().collect::<Result<(), _>>()?;
        Ok(None)
    }
}

/// A code that [`Codes::verify`] found.
#[derive(Debug)]
pub struct VerifiedCode {
    /// The stored code.
    pub code: Code,
    /// The challenge under which it is stored.
    pub challenge: Uuid,
    /// The reserved attempt, for the caller to release.
    pub reserved: Reservation,
}

const PURPOSE: &str = "code";

/// The input of the HMAC, which binds a code to its kind and challenge.
fn mac_input(kind: CodeKind, challenge: Uuid, text: &str) -> Vec<u8> {
    format!("{} {challenge} {text}", kind.as_str()).into_bytes()
}
