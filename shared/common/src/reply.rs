//! What a handler gives back: something told, or a failure.

use std::{error::Error, fmt};

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use store::Fault;

use crate::{FieldError, Message, Refusal, Refused, headers};

/// What a handler returns: a body of `T` in the envelope, or a [`Failure`].
pub type Reply<T> = Result<Told<T>, Failure>;

/// A success.
#[derive(Debug)]
pub struct Told<T> {
    message: Option<Message>,
    data: T,
    header: Option<(HeaderName, HeaderValue)>,
}

/// A write's success: the message's status and text, and `data` beside it.
///
/// # Errors
/// None; it is a `Reply` so that a handler can end in it.
pub const fn told<T>(message: Message, data: T) -> Reply<T> {
    Ok(Told {
        message: Some(message),
        data,
        header: None,
    })
}

/// A read's success: 200 and `data`.
///
/// # Errors
/// None; it is a `Reply` so that a handler can end in it.
pub const fn shown<T>(data: T) -> Reply<T> {
    Ok(Told {
        message: None,
        data,
        header: None,
    })
}

impl<T> Told<T> {
    /// The same with `Authorization: <token>`, which reads `Bearer …`.
    #[must_use]
    pub fn authorized(self, token: &str) -> Self {
        Self {
            header: HeaderValue::try_from(token)
                .ok()
                .map(|token| (header::AUTHORIZATION, token)),
            ..self
        }
    }

    /// The same with `Idempotent-Replayed: true`: it was told before.
    #[must_use]
    pub fn replayed(self) -> Self {
        let header = (
            HeaderName::from_static("idempotent-replayed"),
            HeaderValue::from_static("true"),
        );
        Self {
            header: Some(header),
            ..self
        }
    }
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    code: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
    #[serde(flatten)]
    data: T,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [FieldError],
}

#[derive(Serialize)]
struct Text {
    #[serde(rename = "RESPONSE_TEXT")]
    text: &'static str,
    #[serde(rename = "RESPONSE_CODE")]
    code: &'static str,
}

/// A body without data of its own.
#[derive(Debug, Serialize)]
pub struct Nothing {}

fn envelope<T: Serialize>(
    status: StatusCode,
    message: Option<Text>,
    data: T,
    errors: &[FieldError],
) -> Response {
    let envelope = Envelope {
        code: status.as_u16(),
        message,
        data,
        errors,
    };
    match serde_json::to_vec(&envelope) {
        Ok(body) => {
            let json = HeaderValue::from_static("application/json; charset=utf-8");
            (status, [(header::CONTENT_TYPE, json)], body).into_response()
        }
        Err(error) => Failure::from(error).into_response(),
    }
}

/// The entity tag of a read's success with `data`: what `If-Match` holds of it.
///
/// # Errors
/// None for data that can be shown.
pub fn etag_of<T: Serialize>(data: T) -> Result<String, Failure> {
    let envelope = Envelope {
        code: StatusCode::OK.as_u16(),
        message: None,
        data,
        errors: &[],
    };
    Ok(headers::etag(&serde_json::to_vec(&envelope)?))
}

impl<T: Serialize> IntoResponse for Told<T> {
    fn into_response(self) -> Response {
        let status = self.message.map_or(StatusCode::OK, Message::status);
        let message = self.message.map(|message| Text {
            text: message.text(),
            code: message.code(),
        });
        let mut response = envelope(status, message, self.data, &[]);
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// An image as it is shown to any page for ever: its key changes when it does.
#[derive(Debug)]
pub struct Image {
    /// Such as `image/png`.
    pub content_type: &'static str,
    /// The file.
    pub bytes: Bytes,
}

impl IntoResponse for Image {
    fn into_response(self) -> Response {
        let headers = [
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static(self.content_type),
            ),
            (
                header::CACHE_CONTROL,
                HeaderValue::from_static("public, max-age=31536000, immutable"),
            ),
            (
                header::HeaderName::from_static("cross-origin-resource-policy"),
                HeaderValue::from_static("cross-origin"),
            ),
        ];
        (headers, self.bytes).into_response()
    }
}

/// The way to what lies elsewhere for a short while: 302.
#[derive(Debug)]
pub struct Elsewhere {
    /// Where it lies.
    pub url: String,
}

impl IntoResponse for Elsewhere {
    fn into_response(self) -> Response {
        let Ok(location) = HeaderValue::try_from(self.url) else {
            return Failure::from(Refusal::Internal).into_response();
        };
        (
            [(header::LOCATION, location)],
            envelope(StatusCode::FOUND, None, Nothing {}, &[]),
        )
            .into_response()
    }
}

/// Why a handler gave nothing: a refusal, which is told, or a fault, which is logged once and told
/// without detail. `?` makes a fault of every library's error and a refusal of a [`Refusal`]; the
/// two cannot be confused, for a refusal is no `std::error::Error`.
#[derive(Debug)]
pub enum Failure {
    /// The client is told why.
    Refused(Refused),
    /// The client is told that it was us.
    Fault(Box<dyn Error + Send + Sync>),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.into())
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(fault: E) -> Self {
        Self::Fault(Box::new(fault))
    }
}

/// What went wrong, on its way to the one place that logs it.
#[derive(Clone)]
pub(crate) struct Wrong(pub(crate) String);

impl fmt::Debug for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (refused, wrong) = match self {
            Self::Refused(refused) => (refused, None),
            Self::Fault(fault) if matches!(fault.downcast_ref(), Some(Fault::Outpaced)) => {
                (Refusal::Conflict.into(), None)
            }
            Self::Fault(fault) => {
                let is_passing = fault
                    .downcast_ref::<Fault>()
                    .is_some_and(|fault| !matches!(fault, Fault::Broken(_)))
                    || fault
                        .source()
                        .is_some_and(|source| source.is::<runtime::Unavailable>());
                let refusal = if is_passing {
                    Refusal::Unavailable
                } else {
                    Refusal::Internal
                };
                (refusal.into(), Some(Wrong(fault.to_string())))
            }
        };
        let Refused {
            refusal,
            errors,
            data,
            header,
        } = refused;
        let text = Text {
            text: refusal.text(),
            code: refusal.code(),
        };
        let mut response = envelope(refusal.status(), Some(text), data, &errors);
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        if let Some(wrong) = wrong {
            response.extensions_mut().insert(wrong);
        }
        response
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        Failure::from(self).into_response()
    }
}
