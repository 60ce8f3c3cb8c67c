"""What the generated functions cannot do: wait, renew the token, read a list page by page, upload a file."""

import base64
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, Protocol, TypeVar
from uuid import UUID

import httpx

from .api.files import complete_file, create_file
from .client import AuthenticatedClient
from .models import ContentType, FileCreated, FileCreation, FileReady, StoredFile, Visibility

# The codes and texts of responses that the gateway gives without an envelope.
GATEWAY = {
    413: ("PAYLOAD_TOO_LARGE_MESSAGE", "L’envoi est trop volumineux."),
    429: ("TOO_MANY_REQUESTS_MESSAGE", "Trop de requêtes : réessayez plus tard."),
    503: ("SERVICE_UNAVAILABLE_MESSAGE", "Le service est momentanément indisponible. Veuillez réessayer."),
    504: ("SERVICE_UNAVAILABLE_MESSAGE", "Le service est momentanément indisponible. Veuillez réessayer."),
}
UNKNOWN = ("INTERNAL_ERROR_MESSAGE", "Une erreur interne est survenue. Veuillez réessayer.")


class HalqaError(Exception):
    """A call that did not succeed. `error` is the body, a model of the operation's errors, or None."""

    def __init__(self, error: object) -> None:
        message = getattr(error, "message", None)
        super().__init__(str(getattr(message, "response_code", error)))
        self.error = error


def connect(
    base_url: str,
    token: str | None = None,
    *,
    on_token: Callable[[str], None] | None = None,
    patience: float = 60,
    timeout: float = 30,
    transport: httpx.BaseTransport | None = None,
) -> AuthenticatedClient:
    """A client of the service at `base_url`, such as `https://api.example.org/api/v1`, for the functions without `asyncio`.

    `token` is that of a sign-in; without one, calls are anonymous. It is renewed by `GET /auth/check` once half of its life
    is over, and `on_token` gets the new one, to store it. A call waits until refusals (429, and 503 of a read) are over, for
    at most `patience` seconds in all.
    """
    check = httpx.URL(base_url.rstrip("/") + "/auth/check")
    sending = _Transport(transport or httpx.HTTPTransport(), check, token, on_token, patience)
    return AuthenticatedClient(
        base_url, token=token or "", prefix="", timeout=httpx.Timeout(timeout), httpx_args={"transport": sending}
    )


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


P = ParamSpec("P")
Page = TypeVar("Page", bound=_Page)


def paginate(of: type[Page], fetch: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> Iterator[Page]:
    """The pages of a list, such as those of `paginate(CourseList, search_courses.sync, client=client, q="secours")`.

    Raises HalqaError.
    """
    while True:
        page = fetch(*args, **kwargs)
        if not isinstance(page, of):
            raise HalqaError(page)
        yield page
        if page.next_cursor is None:
            return
        kwargs["cursor"] = page.next_cursor


def upload(
    client: AuthenticatedClient,
    content: bytes,
    *,
    name: str,
    content_type: ContentType,
    visibility: Visibility = Visibility.PRIVATE,
) -> StoredFile:
    """Creates a file, sends its content, and completes it. Raises HalqaError, and the errors of httpx."""
    creation = FileCreation(name=name, content_type=content_type, size=len(content), visibility=visibility)
    created = create_file.sync(client=client, body=creation)
    if not isinstance(created, FileCreated):
        raise HalqaError(created)
    form = created.upload
    httpx.post(form.url, data=form.fields.to_dict(), files={"file": (name, content)}, timeout=300).raise_for_status()
    ready = complete_file.sync(UUID(created.file.file_id), client=client)
    if not isinstance(ready, FileReady):
        raise HalqaError(ready)
    return ready.file


class _Transport(httpx.BaseTransport):
    def __init__(
        self,
        inner: httpx.BaseTransport,
        check: httpx.URL,
        token: str | None,
        on_token: Callable[[str], None] | None,
        patience: float,
    ) -> None:
        self._inner, self._check, self._token, self._on_token = inner, check, token, on_token
        self._patience, self._lock = patience, threading.Lock()
        self._next = _half_life(token)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        if self._token is None:
            request.headers.pop("Authorization", None)
        else:
            request.headers["Authorization"] = self._renewed()
        left, pause = self._patience, 1.0
        while True:
            response = self._inner.handle_request(request)
            response.request = request
            wait = _wait(request, response, pause)
            if wait is None or wait > left:
                return _enveloped(response)
            response.close()
            time.sleep(wait)
            left, pause = left - max(wait, 1), pause * 2

    def close(self) -> None:
        self._inner.close()

    def _renewed(self) -> str:
        with self._lock:
            if time.time() > self._next:
                # Also after a failure the next attempt is a minute later.
                self._next = time.time() + 60
                try:
                    headers = {"Authorization": str(self._token)}
                    response = self._inner.handle_request(httpx.Request("GET", self._check, headers=headers))
                    response.read()
                except httpx.HTTPError:
                    return str(self._token)
                if response.is_success:
                    self._token = str(response.json()["user"]["token"])
                    self._next = _half_life(self._token)
                    if self._on_token:
                        self._on_token(self._token)
            return str(self._token)


def _half_life(token: str | None) -> float:
    """When half of the life of the JWT `token` is over; never for one that cannot be read."""
    try:
        payload = str(token).split(".")[1]
        times = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return float(times["iat"] + times["exp"]) / 2
    except (IndexError, KeyError, TypeError, ValueError):
        return math.inf


def _wait(request: httpx.Request, response: httpx.Response, pause: float) -> float | None:
    """How long to wait before the request is repeated. A 429 has done nothing, a 503 may have made the change."""
    is_repeatable = request.method in ("GET", "HEAD") or "Idempotency-Key" in request.headers
    if response.status_code != 429 and not (response.status_code == 503 and is_repeatable):
        return None
    try:
        return math.ceil(float(response.headers.get("Retry-After", pause)))
    except ValueError:
        return None


def _enveloped(response: httpx.Response) -> httpx.Response:
    """An error without an envelope, which the gateway gave, in one."""
    if response.status_code < 400:
        return response
    response.read()
    try:
        response.json()["message"]["RESPONSE_CODE"]
        return response
    except (ValueError, KeyError, TypeError):
        code, text = GATEWAY.get(response.status_code, UNKNOWN)
    body: dict[str, Any] = {"code": response.status_code, "message": {"RESPONSE_TEXT": text, "RESPONSE_CODE": code}}
    of_body = ("content-length", "content-encoding", "transfer-encoding", "content-type")
    headers = {name: value for name, value in response.headers.items() if name.lower() not in of_body}
    return httpx.Response(response.status_code, headers=headers, json=body, request=response.request)
