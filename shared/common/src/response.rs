//! Successful responses.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::{
    ApiError, ErrorCode, Message,
    envelope::{Empty, Text, body, envelope},
    headers,
};

/// What a handler returns.
pub type ApiResult<T> = Result<ApiResponse<T>, ApiError>;

/// A success with the fields of `T` in the envelope.
#[derive(Debug)]
pub struct ApiResponse<T> {
    message: Option<Message>,
    data: T,
    header: Option<(HeaderName, HeaderValue)>,
}

/// The success of a write: the status and text of `message`, and the fields of `data`. Always `Ok`.
pub const fn success<T>(message: Message, data: T) -> ApiResult<T> {
    Ok(ApiResponse { message: Some(message), data, header: None })
}

/// The success of a read: 200 and the fields of `data`. Always `Ok`.
pub const fn ok<T>(data: T) -> ApiResult<T> {
    Ok(ApiResponse { message: None, data, header: None })
}

impl<T> ApiResponse<T> {
    /// The same response with `Authorization: {token}`; `token` begins with `Bearer `.
    #[must_use]
    pub fn authorized(self, token: &str) -> Self {
        Self {
            header: HeaderValue::try_from(token).ok().map(|token| (header::AUTHORIZATION, token)),
            ..self
        }
    }

    /// The same response with the data that `change` makes of its data.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> ApiResponse<U> {
        ApiResponse { message: self.message, data: change(self.data), header: self.header }
    }

    /// The same response with `Cache-Control: {control}`.
    #[must_use]
    pub fn cached(self, control: &'static str) -> Self {
        let header = Some((header::CACHE_CONTROL, HeaderValue::from_static(control)));
        Self { header, ..self }
    }

    /// The same response with `Idempotent-Replayed: true`.
    #[must_use]
    pub fn replayed(self) -> Self {
        let header =
            (HeaderName::from_static("idempotent-replayed"), HeaderValue::from_static("true"));
        Self { header: Some(header), ..self }
    }
}

/// The entity tag of the response [`ok`]`(data)`, to compare `If-Match` with.
///
/// # Errors
/// 500 when `data` cannot be serialised.
pub fn etag_of<T: Serialize>(data: T) -> Result<String, ApiError> {
    Ok(headers::etag(&body(StatusCode::OK, None, data, &[])?))
}

impl<T: Serialize> IntoResponse for ApiResponse<T> {
    fn into_response(self) -> Response {
        let status = self.message.map_or(StatusCode::OK, Message::status);
        let mut response = envelope(status, self.message.map(Text::from), self.data, &[]);
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// An image for pages of any origin.
#[derive(Debug)]
pub struct Image {
    /// How long it may be cached: for a year if its URL changes when the image does.
    pub cache_control: &'static str,
    /// The media type, such as `image/png`.
    pub content_type: &'static str,
    /// The content of the file.
    pub bytes: Bytes,
}

impl IntoResponse for Image {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static(self.content_type)),
            (header::CACHE_CONTROL, HeaderValue::from_static(self.cache_control)),
            (
                header::HeaderName::from_static("cross-origin-resource-policy"),
                HeaderValue::from_static("cross-origin"),
            ),
        ];
        (headers, self.bytes).into_response()
    }
}

/// 302 to `url`; the body is the envelope without data.
#[derive(Debug)]
pub struct Redirect {
    /// An absolute URL.
    pub url: String,
}

impl IntoResponse for Redirect {
    fn into_response(self) -> Response {
        let Ok(location) = HeaderValue::try_from(self.url) else {
            return ApiError::from(ErrorCode::Internal).into_response();
        };
        ([(header::LOCATION, location)], envelope(StatusCode::FOUND, None, Empty {}, &[]))
            .into_response()
    }
}
