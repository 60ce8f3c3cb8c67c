//! Codes that are sent: who may ask for one how often, how it is kept, what it looks like on its way
//! out, and how it is proved. An address that nobody has costs the same reads and writes.

use std::{collections::BTreeMap, time::Duration};

use domain::{
    CommitteeId, Email, Instant, UserId,
    code::{self, Code, CodeKind, SendMethod},
    outbox::{Letter, News, Outgoing, Recipient, State},
    user::User,
};
pub use identity::code::{place_of, place_of_phone};
use identity::{
    chance,
    code::{Issued, issue},
    sealing::Sealer,
};
use store::{Counter, Reservation, Store, Transaction};
use uuid::Uuid;

use crate::{BadSetting, Client, Failure, Setup, attempts};

/// Writes letters for the dispatcher: sealed, and all of one size, so that nobody sees from outside
/// what they are about or whether they are for anybody.
#[derive(Clone)]
pub struct Post(Sealer);

/// Longer than any letter.
const LETTER_BYTES: usize = 1024;
/// News are told for a day.
const NEWS_LIFE: Duration = Duration::from_secs(86_400);

impl Post {
    /// The power to write letters, from the keys of `setup`.
    ///
    /// # Errors
    /// When a key is missing or malformed.
    pub fn new(setup: &Setup) -> Result<Self, BadSetting> {
        Ok(Self(setup.keys.outbox()?))
    }

    /// The letter that tells `news` to `to`, whose first name is `name`.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn letter(&self, to: Recipient, name: &str, news: News, now: Instant) -> Result<Outgoing, Failure> {
        let outbox_id = chance::id(now);
        let life = if matches!(news, News::Code { .. }) { code::LIFE } else { NEWS_LIFE };
        let mut plain = serde_json::to_vec(&Letter { to, name: name.to_owned(), news })?;
        plain.resize(plain.len().max(LETTER_BYTES), b' ');
        Ok(Outgoing {
            outbox_id,
            sealed: self.0.seal(&plain, &place(outbox_id))?,
            state: State::Queued,
            created_at: now,
            useless_at: now.after(life),
            attempts: 0,
        })
    }

    /// The letter that tells `news` to the address in force of `user`.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn tell(&self, user: &User, news: News, now: Instant) -> Result<Outgoing, Failure> {
        self.letter(Recipient::Mail(user.email.clone()), user.name.as_str(), news, now)
    }

    /// What `message` says, and to whom.
    ///
    /// # Errors
    /// When it was not sealed here.
    pub fn open(&self, message: &Outgoing) -> Result<Letter, Failure> {
        Ok(serde_json::from_slice(&self.0.open(&message.sealed, &place(message.outbox_id))?)?)
    }
}

/// Table, key and field: what is sealed there opens nowhere else.
fn place(outbox_id: Uuid) -> String {
    format!("records OUTBOX#{outbox_id} sealed")
}

/// Issues codes and proves them.
#[derive(Clone)]
pub struct Codes {
    store: Store,
    sealer: Sealer,
    post: Post,
    interval: Duration,
}

impl Codes {
    /// The power to do so, from the keys of `setup`.
    ///
    /// # Errors
    /// When a key is missing or malformed.
    pub fn new(setup: &Setup) -> Result<Self, BadSetting> {
        let interval = setup.settings.message_interval;
        Ok(Self { store: setup.store.clone(), sealer: setup.keys.sealer()?, post: Post::new(setup)?, interval })
    }

    /// Whether `account` may be sent a code of `kind` now, and that it was: 1 per `MESSAGE_INTERVAL_SECONDS`,
    /// 3 in 15 minutes, 10 a day.
    ///
    /// # Errors
    /// When the counters cannot be asked.
    pub async fn may_send(&self, kind: CodeKind, account: &str, now: Instant) -> Result<bool, Failure> {
        let counter = |name, most, length| Counter { name, key: format!("{} {account}", kind.word()), most, length };
        let counters = [
            counter("messages-interval", 1, self.interval),
            counter("messages-quarter", 3, Duration::from_secs(15 * 60)),
            counter("messages-day", 10, Duration::from_secs(86_400)),
        ];
        Ok(self.store.reserve(&counters, now).await?.is_ok())
    }

    /// Sends a code of `kind`, kept at `place`, to `user` by `method`, or does as much for nobody.
    /// Text messages go to a number that was proved, five codes a day; beyond that nothing is sent.
    ///
    /// # Errors
    /// When the store is out of reach: then an earlier code is still good.
    pub async fn send(&self, kind: CodeKind, place: Uuid, user: Option<&User>, method: SendMethod, now: Instant) -> Result<(), Failure> {
        let to = match (user, method) {
            (None, _) => Recipient::Nobody,
            (Some(user), SendMethod::Email) => Recipient::Mail(user.email.clone()),
            (Some(user), SendMethod::Sms) => user.text_recipient(),
        };
        if method == SendMethod::Sms && !self.may_text(&to, place, now).await? {
            return Ok(());
        }
        let mut issue = self.store.transaction();
        self.issue(&mut issue, kind, place, user, to, now)?;
        let _ = issue.commit().await?;
        Ok(())
    }

    /// Sends a code that proves the number of `user`, unless it had its five today.
    ///
    /// # Errors
    /// When the store is out of reach: then an earlier code is still good.
    pub async fn send_to_phone(&self, user: &User, now: Instant) -> Result<(), Failure> {
        let (to, place) = (Recipient::Sms(user.phone.clone()), place_of_phone(user.user_id, &user.phone));
        if self.may_text(&to, place, now).await? {
            let mut issue = self.store.transaction();
            self.issue(&mut issue, CodeKind::Phone, place, Some(user), to, now)?;
            let _ = issue.commit().await?;
        }
        Ok(())
    }

    /// Who has no number costs a counter of his own.
    async fn may_text(&self, to: &Recipient, place: Uuid, now: Instant) -> Result<bool, Failure> {
        let key = match to {
            Recipient::Sms(phone) => format!("+{}{}", phone.code, phone.number),
            Recipient::Mail(_) | Recipient::Nobody => place.to_string(),
        };
        let counter = Counter { name: "text-messages", key, most: 5, length: Duration::from_secs(86_400) };
        Ok(self.store.reserve(&[counter], now).await?.is_ok())
    }

    /// Has `transaction` keep a new code of `kind` at `place` and send it to `to`.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn issue(
        &self,
        transaction: &mut Transaction,
        kind: CodeKind,
        place: Uuid,
        user: Option<&User>,
        to: Recipient,
        now: Instant,
    ) -> Result<(), Failure> {
        let Issued { digits, link } = issue(place);
        let mac = |text: &str| self.sealer.mac(PURPOSE, &bound(kind, place, text));
        let nobody = || UserId::new(chance::id(now));
        let kept = Code {
            user_id: user.map_or_else(nobody, |user| user.user_id),
            committee_id: user.map_or_else(|| CommitteeId::new(chance::id(now)), |user| user.committee_id),
            digits: mac(&digits),
            link: mac(&link),
            by_mail: !matches!(to, Recipient::Sms(_)),
            expires_at: now.after(code::LIFE),
            tries: 0,
            networks: BTreeMap::new(),
        };
        transaction.keep_code(kind, place, &kept)?;
        let name = user.map_or("", |user| user.name.as_str());
        transaction.send(&self.post.letter(to, name, News::Code { kind, digits, link }, now)?)?;
        Ok(())
    }

    /// Has `user` ask for the address `email`: it is pending until a code that goes to it comes back, and
    /// the one in force is told. The address in force itself takes an earlier wish back.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn ask_for_email(&self, transaction: &mut Transaction, user: &mut User, email: &Email, now: Instant) -> Result<(), Failure> {
        if *email == user.email {
            user.pending_email = None;
            return Ok(());
        }
        user.pending_email = Some(email.clone());
        if !user.is_active {
            // A closed account gets no message; whoever opens it again may ask for the code.
            return Ok(());
        }
        self.issue(transaction, CodeKind::Email, place_of(email), Some(user), Recipient::Mail(email.clone()), now)?;
        transaction.send(&self.post.tell(user, News::EmailChangeRequested { at: now }, now)?)?;
        Ok(())
    }

    /// The power to write other letters.
    pub const fn post(&self) -> &Post {
        &self.post
    }

    /// The code of `kind` at `place`, if `text` is its digits or its link and it is alive for `client`,
    /// with the place that was taken for a failure; using it up is the caller's. Otherwise the try is
    /// counted.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE`, or a fault, when nobody may try.
    pub async fn prove(
        &self,
        kind: CodeKind,
        place: Uuid,
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<(Code, Reservation)>, Failure> {
        let counters = attempts::of_code(client);
        let (reserved, code) = tokio::join!(attempts::reserve(&self.store, &counters, now), self.store.code(kind, place));
        let reserved = reserved?;
        let data = bound(kind, place, text);
        let is_it = |code: &Code| {
            let (digits, link) = (self.sealer.is_mac(&code.digits, PURPOSE, &data), self.sealer.is_mac(&code.link, PURPOSE, &data));
            (digits | link) && code.is_alive(&client.network, now)
        };
        match code {
            Ok(code) => match code.filter(is_it) {
                Some(code) => Ok(Some((code, reserved))),
                None => {
                    self.store.count_try(kind, place, &client.network, now).await?;
                    Ok(None)
                }
            },
            Err(fault) => {
                // What cannot be given back stays taken until its window ends.
                let _ = self.store.give_back(reserved).await;
                Err(fault.into())
            }
        }
    }
}

const PURPOSE: &str = "code";

/// A code proves nothing for another kind or at another place.
fn bound(kind: CodeKind, place: Uuid, text: &str) -> Vec<u8> {
    format!("{} {place} {text}", kind.word()).into_bytes()
}
