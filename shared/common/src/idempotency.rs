//! Idempotency keys: a POST that is repeated with its `Idempotency-Key` takes effect once, and gets the same response
//! (<https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header>).

use axum::{
    body::Body,
    extract::{FromRequest, MatchedPath, Request},
};
use domain::{Instant, Line, ValueError};
use http::{HeaderMap, HeaderValue, request::Parts};
use identity::sealing::Sealer;
use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use store::{CommitOutcome, Earlier, Idempotent, Part, Store, Transaction};

use crate::{
    ApiError, ApiResponse, ApiResult, Client, ErrorCode, FromFields, InvalidValue, Message,
    caller::Caller,
    fields::Fields,
    input::{json_object, read},
    response::success,
};

const HEADER: &str = "Idempotency-Key";

/// Fields that are compared only by [`Idempotency::with_secret`]: a digest without a key of a body with a password would
/// be faster to guess than the stored hash.
const NOT_COMPARED: [&str; 2] = ["password", "confirmPassword"];

/// Extracts what [`Input`](crate::Input) extracts from the body of a POST, and its idempotency key.
///
/// The extractor rejects as [`Input`](crate::Input) does, then with a field error of the header: `FIELD_REQUIRED_MESSAGE`
/// when it is empty, `FIELD_LENGTH_MESSAGE` beyond 255 bytes, `FIELD_FORMAT_MESSAGE` when it is repeated or has other
/// characters than visible ASCII.
#[derive(Debug)]
pub struct Once<T>(pub T, pub Idempotency);

/// The idempotency key of a request, or that it has none. A key is that of a user, or without a session of a network, for
/// one route, for a day. Bodies are the same when they are equal as JSON, whatever the order of members.
#[derive(Debug)]
pub struct Idempotency(Option<Idempotent>);

impl<T: FromFields<S>, S: Send + Sync> FromRequest<S> for Once<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let (object, body) = json_object(&parts.headers, body, T::MAX_BYTES).await?;
        let key =
            key_of(&parts.headers).map(|key| key.map(|key| idempotent(&parts, &key, &object)));
        let input = read(Fields::new(object, body), state)?;
        let key =
            key.map_err(|error| ApiError::field(HEADER, InvalidValue::of::<Line<255>>(error)))?;
        Ok(Self(input, Idempotency(key.transpose()?)))
    }
}

fn key_of(headers: &HeaderMap) -> Result<Option<String>, ValueError> {
    let values: Vec<_> = headers.get_all(HEADER).iter().map(HeaderValue::as_bytes).collect();
    match values.as_slice() {
        [] => Ok(None),
        [b""] => Err(ValueError::Required),
        [value] if value.len() > 255 => Err(ValueError::Length),
        [value] if value.iter().all(u8::is_ascii_graphic) => {
            Ok(Some(String::from_utf8_lossy(value).into_owned()))
        }
        _ => Err(ValueError::Format),
    }
}

/// The request with `key` and `body`, whose members serde_json has sorted.
fn idempotent(parts: &Parts, key: &str, body: &Map<String, Value>) -> Result<Idempotent, ApiError> {
    let compared = body.iter().filter(|(name, _)| !NOT_COMPARED.contains(&name.as_str()));
    let compared = serde_json::to_vec(&compared.collect::<Vec<_>>())?;
    let caller = match parts.extensions.get() {
        Some(Caller::SignedIn(person)) => person.user.user_id.to_string(),
        _ => parts
            .extensions
            .get()
            .map_or_else(String::new, |client: &Client| client.network.clone()),
    };
    let path = parts.extensions.get().map_or("", MatchedPath::as_str);
    Ok(Idempotent::new(&caller, &format!("{} {path}", parts.method), key, &compared))
}

impl Idempotency {
    /// Compares `secret` too, which is not compared with the body. What is stored of it is an HMAC under the key of
    /// `sealer`, bound to `account`, so that equal secrets of two people differ.
    pub fn with_secret(self, sealer: &Sealer, account: &str, secret: &SecretString) -> Self {
        let data = format!("{account} {}", secret.expose_secret());
        let digest = || sealer.mac("idempotency", data.as_bytes());
        Self(self.0.map(|request| request.and(&digest())))
    }

    /// Whether the request has a key.
    pub const fn is_given(&self) -> bool {
        self.0.is_some()
    }

    /// The response to an earlier request with the same key: `message`, and the data that was stored.
    ///
    /// # Errors
    /// `IDEMPOTENCY_KEY_REUSED_MESSAGE` when the earlier request had a different body.
    pub async fn earlier<T: DeserializeOwned>(
        &self,
        store: &Store,
        message: Message,
        now: Instant,
    ) -> Result<Option<ApiResponse<T>>, ApiError> {
        let Some(key) = &self.0 else {
            return Ok(None);
        };
        let earlier = store.earlier(key, now).await?;
        earlier.map(|earlier| replay(message, earlier)).transpose()
    }

    /// Adds the `data` of the response to `tx`, to be stored under the key. The condition fails ([`Part::Idempotency`])
    /// when another request was answered under it.
    ///
    /// # Errors
    /// 500 when `data` cannot be serialised.
    pub fn store_in<T: Serialize>(
        &self,
        tx: &mut Transaction,
        data: &T,
        now: Instant,
    ) -> Result<(), ApiError> {
        if let Some(key) = &self.0 {
            tx.put_idempotent_response(key, &serde_json::to_string(data)?, now);
        }
        Ok(())
    }

    /// Commits `tx` together with the `data` of the response, and returns the response with `message`, or that of an
    /// earlier request with the same key.
    ///
    /// # Errors
    /// As [`earlier`](Self::earlier), and `refused` of the part whose condition failed.
    pub async fn commit<T: Serialize + DeserializeOwned>(
        &self,
        store: &Store,
        mut tx: Transaction,
        message: Message,
        data: T,
        now: Instant,
        refused: impl FnOnce(Part) -> ApiError,
    ) -> ApiResult<T> {
        self.store_in(&mut tx, &data, now)?;
        match tx.commit().await? {
            CommitOutcome::Committed => success(message, data),
            CommitOutcome::ConditionFailed(part) => {
                self.earlier(store, message, now).await?.ok_or_else(|| refused(part))
            }
        }
    }
}

fn replay<T: DeserializeOwned>(message: Message, earlier: Earlier) -> ApiResult<T> {
    match earlier {
        Earlier::Same(data) => {
            success(message, serde_json::from_str(&data)?).map(ApiResponse::replayed)
        }
        Earlier::Other => Err(ErrorCode::IdempotencyKeyReused.into()),
    }
}
