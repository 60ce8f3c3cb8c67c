//! One-time codes by mail and text message: limits, storage as HMACs, sending and verification. An address without an
//! account costs the same reads and writes.

use std::{collections::BTreeMap, time::Duration};

use common::{ApiError, Client, ErrorCode};
use domain::{
    CommitteeId, CountryCodes, E164, Email, Instant, Recipient, UserId,
    code::{self, Code, CodeId, CodeKind, SendMethod},
    limits,
    outbox::Notification,
    user::User,
};
pub use identity::code::{email_challenge, pending_email_challenge, phone_challenge};
use identity::{
    code::{NewCode, issue, removal_code, removal_hash},
    outbox::OutboxSealer,
    random,
    sealing::Sealer,
};
use runtime::{ConfigError, Key};
use store::{Counter, Reservation, Setup, Store, Transaction};

use crate::message_limits;

/// Issues and verifies one-time codes.
#[derive(Clone)]
pub struct Codes {
    pub(crate) store: Store,
    pub(crate) sealer: Sealer,
    outbox: OutboxSealer,
    pub(crate) interval: Duration,
    countries: CountryCodes,
    texts_per_day: u64,
}

impl Codes {
    /// Reads the sealing and outbox keys, and the settings `MESSAGE_INTERVAL_SECONDS` (default 60), the shortest time
    /// between two codes of one kind for one account, `SMS_COUNTRY_CODES` (default 216) and `SMS_CODES_PER_DAY` (default
    /// 2,000), the number of text messages a day to numbers that are not verified.
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
            texts_per_day: setup.settings.number("SMS_CODES_PER_DAY", limits::TEXTS_IN_ALL.max)?,
        })
    }

    /// Reserves one of the codes of `kind` that `user` may request in their session: 1 per `MESSAGE_INTERVAL_SECONDS`, 3 in
    /// 15 minutes, 10 a day.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when a limit is reached.
    pub async fn require_send(
        &self,
        kind: CodeKind,
        user: &User,
        now: Instant,
    ) -> Result<Reservation, ApiError> {
        let counters = message_limits::of_code(kind, user.email.as_str(), self.interval);
        Ok(message_limits::require(&self.store, &counters, now).await?)
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
            self.release(Some(reservation)).await;
        }
        sent
    }

    /// Releases the `reservation` of a mail that was not sent.
    pub async fn release(&self, reservation: Option<Reservation>) {
        if let Some(reservation) = reservation {
            // A count that cannot be released remains until its window ends.
            let _ = self.store.release(reservation).await;
        }
    }

    /// Sends a code of `kind` to the active account that has `email`, by `method`: 1 per `MESSAGE_INTERVAL_SECONDS`, 3 in 15
    /// minutes, 10 a day. Strangers do not use up the codes of the mailbox's owner: once somebody has verified it, as many
    /// again for each network from which the account signed in within 180 days, but 30 a day for all of them. Makes the
    /// same reads and writes, of as many units, whether an account has the address or not.
    pub async fn send_to_owner(
        &self,
        kind: CodeKind,
        email: &Email,
        method: SendMethod,
        client: &Client,
        now: Instant,
    ) -> Result<(), ApiError> {
        let owner =
            self.store.email_owner(email).await?.map_or(UserId::NONE, |owner| owner.user_id);
        let (user, devices) = self.store.user_with_devices(owner).await?;
        let is_owner = user.as_ref().is_some_and(|user| user.is_mailbox_verified)
            && devices.include_network(client.ip, now);
        let network = is_owner.then_some(client.network.as_str());
        let counters = message_limits::of_request(kind, email, network, self.interval);
        let Some(reserved) = message_limits::reserve(&self.store, &counters, now).await? else {
            return Ok(());
        };
        let user = user.filter(|user| user.is_active && user.email == *email);
        let sent = self
            .send(CodeId { kind, challenge: email_challenge(email) }, user.as_ref(), method, now)
            .await;
        self.release_unless_sent(reserved, sent).await
    }

    /// Sends the new code `id` to `user` by `method`. For `None` it makes the same writes without a
    /// recipient. Text messages go to verified numbers only, at most five codes a day per account and number; otherwise
    /// the code goes by mail. On an error an earlier code stays valid.
    async fn send(
        &self,
        id: CodeId,
        user: Option<&User>,
        method: SendMethod,
        now: Instant,
    ) -> Result<(), ApiError> {
        let to = match (user, method) {
            (None, _) => Recipient::NoAccount,
            (Some(user), SendMethod::Email) => Recipient::Mail(user.email.clone()),
            (Some(user), SendMethod::Sms) => user.text_recipient(&self.countries),
        };
        if method == SendMethod::Email {
            return self.issue_and_commit(id, user, to, now).await;
        }
        // Counted for every recipient, so that the cost does not reveal whether the account exists.
        let counter = message_limits::of_texts(user, &to, id.challenge);
        let (reservation, count) = self.store.count_one(&counter, now).await?;
        let to = match (user, to) {
            (Some(user), Recipient::Sms(_)) if count > counter.max => {
                message_limits::report(counter.name);
                Recipient::Mail(user.email.clone())
            }
            (_, to) => to,
        };
        let sent = self.issue_and_commit(id, user, to, now).await;
        self.release_unless_sent(reservation, sent).await
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

    /// Sends a text message with a code that verifies the phone number of `user`, within the limits of
    /// [`message_limits::of_unverified_number`].
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when a limit is reached.
    pub async fn send_to_phone(
        &self,
        user: &User,
        client: &Client,
        now: Instant,
    ) -> Result<(), ApiError> {
        let challenge = phone_challenge(user.user_id, &user.phone);
        let counters = message_limits::of_unverified_number(user, client, self.texts_per_day);
        let to = Recipient::Sms(user.phone.clone());
        self.issue_within(&counters, CodeId { kind: CodeKind::Phone, challenge }, user, to, now)
            .await
    }

    /// Sends a mail with a code that verifies `email`: the address of `user`, or their pending address.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when the pending address has had its codes of the day.
    pub async fn send_to_mailbox(
        &self,
        user: &User,
        email: &Email,
        now: Instant,
    ) -> Result<(), ApiError> {
        let (challenge, counters) = if *email == user.email {
            (email_challenge(email), Vec::new())
        } else {
            (
                pending_email_challenge(email, user.user_id),
                vec![Counter::of(limits::CODES_TO_ADDRESS, email)],
            )
        };
        let to = Recipient::Mail(email.clone());
        self.issue_within(&counters, CodeId { kind: CodeKind::Email, challenge }, user, to, now)
            .await
    }

    /// As `issue_and_commit`, within the limits of `counters`.
    async fn issue_within(
        &self,
        counters: &[Counter],
        id: CodeId,
        user: &User,
        to: Recipient,
        now: Instant,
    ) -> Result<(), ApiError> {
        let reservation = message_limits::require(&self.store, counters, now).await?;
        let sent = self.issue_and_commit(id, Some(user), to, now);
        self.release_unless_sent(reservation, sent.await).await
    }

    async fn issue_and_commit(
        &self,
        id: CodeId,
        user: Option<&User>,
        to: Recipient,
        now: Instant,
    ) -> Result<(), ApiError> {
        let mut tx = self.store.transaction();
        self.issue(&mut tx, id, user, to, now)?;
        let _ = tx.commit().await?;
        Ok(())
    }

    /// Adds to `transaction` the new code `id`, valid for ten minutes, which replaces an earlier
    /// one, and the message that sends it to `to`. A mail to an address that nobody has verified also has the link with
    /// which its owner removes the account if they did not register it.
    pub fn issue(
        &self,
        transaction: &mut Transaction,
        id: CodeId,
        user: Option<&User>,
        to: Recipient,
        now: Instant,
    ) -> Result<(), ApiError> {
        let NewCode { digits, link } = issue(id.challenge);
        let mac = |text: &str| self.sealer.mac(PURPOSE, &mac_input(id, text));
        let number = match (user, &to) {
            (Some(user), Recipient::Sms(phone)) if id.kind != CodeKind::Phone => {
                Some(phone_challenge(user.user_id, phone).0)
            }
            _ => None,
        };
        let stored = Code {
            user_id: user.map_or_else(|| UserId::new(random::id(now)), |user| user.user_id),
            committee_id: user
                .map_or_else(|| CommitteeId::new(random::id(now)), |user| user.committee_id),
            epoch: user.map_or(1, |user| user.epoch),
            digits: mac(&digits),
            link: mac(&link),
            by_mail: !matches!(to, Recipient::Sms(_)),
            number,
            expires_at: now.after(code::LIFE),
            networks: BTreeMap::new(),
        };
        transaction.put_code(id, &stored);
        let of_mailbox = user.filter(|user| to == Recipient::Mail(user.email.clone()));
        // Text that a person chose goes only to a mailbox that is known to be theirs.
        let is_theirs = |user: &&User| user.is_mailbox_verified;
        let name = of_mailbox.filter(is_theirs).map_or("", |user| user.name.as_str());
        let removal = of_mailbox.and_then(|user| self.removal_code(user));
        let notification = Notification::Code { kind: id.kind, digits, link, removal };
        let message = self.outbox.message(to.clone(), stored.user_id, name, notification, now)?;
        transaction.send(&message);
        Ok(())
    }

    /// The code that removes the account `user`, whose mailbox nobody has verified. `None` also if the key was replaced since
    /// they registered: then the code of an earlier mail still works.
    fn removal_code(&self, user: &User) -> Option<String> {
        let code = removal_code(&self.sealer, user.user_id);
        (user.removal_code == Some(removal_hash(&code))).then_some(code)
    }

    /// Lets the owner of the mailbox of the new account `user` remove it by the codes that are sent there.
    pub fn make_removable(&self, user: &mut User) {
        user.removal_code = Some(removal_hash(&removal_code(&self.sealer, user.user_id)));
    }

    /// The sealer of outbox messages, for notifications other than codes.
    pub const fn outbox(&self) -> &OutboxSealer {
        &self.outbox
    }
}

/// Whether `user` may use `code`: the account is active, and neither its epoch nor the verified number to which the code
/// was texted has changed since it was sent.
pub fn may_use(user: &User, code: &Code) -> bool {
    let is_number =
        |number| user.is_phone_verified && number == phone_challenge(user.user_id, &user.phone).0;
    code.user_id == user.user_id
        && user.is_active
        && code.epoch == user.epoch
        && code.number.is_none_or(is_number)
}

/// The purpose of the HMACs of codes.
pub(crate) const PURPOSE: &str = "code";

/// The input of the HMAC, which binds a code to its id.
pub(crate) fn mac_input(CodeId { kind, challenge }: CodeId, text: &str) -> Vec<u8> {
    format!("{} {challenge} {text}", kind.code()).into_bytes()
}
