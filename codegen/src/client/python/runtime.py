from __future__ import annotations

import base64
import email.utils
import hashlib
import hmac
import json
import random
import secrets
import time
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterator,
    List,
    Literal,
    Mapping,
    NamedTuple,
    NewType,
    Optional,
    Sequence,
    Tuple,
    TypeAlias,
    TypedDict,
    Union,
    cast,
    overload,
)
from urllib.parse import quote, urlencode

import httpx

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Unpack

FilterValue = Union[str, int, float, bool, Sequence[Union[str, int, float]]]
"""The value of a filter."""

FilterGroup = Mapping[str, FilterValue]
"""Conditions that one record of a relation meets together (``accessories.some``), or that none meets (``accessories.none``)."""

CustomFieldName = NewType("CustomFieldName", str)
"""The name of a custom field to sort by: ``CustomFieldName("-cf.colour")``."""


class Upload(NamedTuple):
    """A file to upload, with its name and its media type."""

    name: str
    content: bytes
    type: str = "application/octet-stream"


class ApiError(Exception):
    """An error of the API, or of the connection to it."""

    status: int
    """The HTTP status; 0 without a response."""
    code: str
    """The stable code of the error, such as ``not_found``."""
    message: str
    errors: Dict[str, List[str]]
    """Problems by the name of the field or parameter."""
    request_id: Optional[str]
    """The id of the request in the log of the server."""
    retry_after: Optional[float]
    """The pause that the server asked for, in seconds."""
    may_have_succeeded: bool
    """True if the response to an attempt was lost or is unreadable, so that the call may have been carried out."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "unknown",
        errors: Optional[Dict[str, List[str]]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.errors = errors or {}
        self.request_id = request_id
        self.retry_after = retry_after
        self.may_have_succeeded = False


class UnauthorizedError(ApiError):
    """401: the token is missing, invalid or expired."""


class ForbiddenError(ApiError):
    """403: the token or the user lacks a right."""


class NotFoundError(ApiError):
    """404."""


class ConflictError(ApiError):
    """409 or 412: the record was changed or is in use."""


class ValidationError(ApiError):
    """422: ``errors`` has the problems."""


class RateLimitedError(ApiError):
    """429, after the last attempt."""


class UnavailableError(ApiError):
    """502, 503 or 504, after the last attempt."""


class ConnectionFailedError(ApiError):
    """No attempt got a complete response."""


_ERRORS = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    412: ConflictError,
    422: ValidationError,
    429: RateLimitedError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}

_TRANSIENT = (429, 502, 503, 504)
"""Statuses after which the same request is sent again."""


class _Answer(NamedTuple):
    """A complete response."""

    status: int
    headers: httpx.Headers
    content: bytes


def _error_of(answer: _Answer) -> ApiError:
    try:
        sent = json.loads(answer.content)
    except ValueError:
        sent = {}  # A proxy answered with another format.
    if not isinstance(sent, dict):
        sent = {}
    code, message = "unknown", f"The server answered {answer.status}."
    if 300 <= answer.status < 400:
        code, message = "redirected", "The server answered with a redirect, which the client does not follow: check base_url."
    return _ERRORS.get(answer.status, ApiError)(
        sent.get("message") or message,
        status=answer.status,
        code=sent.get("code") or code,
        errors=sent.get("errors"),
        request_id=answer.headers.get("X-Request-Id"),
        retry_after=_seconds(answer.headers.get("Retry-After")),
    )


def _seconds(retry_after: Optional[str]) -> Optional[float]:
    """The seconds of a header ``Retry-After``, which is a number or a date."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None


class _Record(Dict[str, Any]):
    """A record with its version."""

    etag: Optional[str] = None


def etag_of(record: Mapping[str, object]) -> str:
    """The version of a record that ``show``, ``create``, ``update`` or an action returned, for ``if_match``.

    Raises ``ValueError`` for another object, because a write without a version would be unconditional.
    """
    etag = record.etag if isinstance(record, _Record) else None
    if etag is None:
        raise ValueError("The object has no ETag: it is not a record that a call for a single record returned.")
    return etag


class Transport:
    """Sends requests, and sends them again after a failure of the network or of the server."""

    def __init__(
        self,
        base_url: str,
        token: Optional[str],
        max_attempts: int,
        attempt_timeout: float,
        deadline: float,
        http: httpx.Client,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._token = None if token is None else _header("token", token.strip())
        self._max_attempts = max_attempts
        self._attempt_timeout = attempt_timeout
        self._deadline = deadline
        self._http = http

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        is_form: bool = False,
        key: Optional[str] = None,
        media: Literal["json", "text", "bytes", "nothing"] = "json",
        has_key: bool = False,
        is_public: bool = False,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        """Sends a request and returns its result."""
        headers = {"Accept": {"text": "text/plain", "bytes": "*/*"}.get(media, "application/json")}
        if self._token is not None and not is_public:
            headers["Authorization"] = f"Bearer {self._token}"
        if has_key:
            headers["Idempotency-Key"] = _header("idempotency_key", idempotency_key or secrets.token_hex(16))
        if if_match is not None:
            headers["If-Match"] = _header("if_match", if_match)
        content: Dict[str, Any] = {}
        if body is not None and is_form:
            content = _form(body)
        elif body is not None:
            content = {"content": json.dumps(body).encode()}
            headers["Content-Type"] = "application/json"
        url = _address(path, self._base_url)
        parameters = _query(query or {})
        if parameters:
            url += ("&" if "?" in url else "?") + urlencode(parameters)
        name = f"{method} {path.partition('?')[0]}"
        answer = self._send(method, name, url, headers, content)
        if answer is None or media == "nothing":
            return None
        if media == "bytes":
            return answer.content
        if media == "text":
            return answer.content.decode(errors="replace")
        result = _result(name, answer, key)
        if isinstance(result, dict):
            result = _Record(result)
            result.etag = answer.headers.get("ETag")
        return result

    def each(self, method: str, path: str, key: str, query: Mapping[str, Any]) -> Iterator[Any]:
        """The records of all pages, by cursor."""
        cursor: Optional[str] = ""
        while cursor is not None:
            page = self.call(method, path, query={"per_page": 100, **query, "cursor": cursor})
            if not isinstance(page.get(key), list) or not isinstance(page.get("meta"), dict):
                raise _malformed(f"{method} {path}")
            yield from page[key]
            cursor = page["meta"].get("next_cursor")

    def _send(
        self, method: str, name: str, url: str, headers: Mapping[str, str], content: Mapping[str, Any]
    ) -> Optional[_Answer]:
        """The response; none if a deleted record is already gone.

        ``name`` stands for the call in messages. It has no query, which may have personal data or the signature of a link.
        """
        end = time.monotonic() + self._deadline
        is_lost = False
        """True after an attempt that the server may have carried out."""
        attempt = 1
        while True:
            cause: Optional[Exception] = None
            is_unsent = False
            try:
                answer = self._attempt(method, url, headers, content, end)
                if 200 <= answer.status < 300:
                    return answer
                if is_lost and method == "DELETE" and answer.status == 404:
                    return None
                failure = _error_of(answer)
            except (httpx.LocalProtocolError, httpx.UnsupportedProtocol):
                # Each attempt would fail. The error of httpx may contain a header.
                raise ConnectionFailedError(f"{name}: the request cannot be sent", code="invalid_request") from None
            except httpx.RequestError as error:
                cause = error
                is_unsent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
                failure = ConnectionFailedError(f"{name}: no complete response", code="connection_failed")
            # The same idempotency key may still be in use by an attempt that lost its connection.
            is_transient = (
                failure.status == 0 or failure.status in _TRANSIENT or failure.code == "in_progress"
            )
            pause = max(_backoff(attempt), failure.retry_after or 0.0)
            # The server answers 429 and `overloaded` before it begins a call.
            is_unsent = is_unsent or failure.status == 429 or failure.code == "overloaded"
            is_lost = is_lost or (method != "GET" and is_transient and not is_unsent)
            failure.may_have_succeeded = is_lost
            if not is_transient or attempt >= self._max_attempts or time.monotonic() + pause >= end:
                raise failure from cause
            time.sleep(pause)
            attempt += 1

    def _attempt(
        self, method: str, url: str, headers: Mapping[str, str], content: Mapping[str, Any], end: float
    ) -> _Answer:
        """One attempt, without redirects: they may turn a POST into a GET."""
        timeout = max(0.001, min(self._attempt_timeout, end - time.monotonic()))
        until = time.monotonic() + timeout
        with self._http.stream(
            method, url, headers=headers, timeout=timeout, follow_redirects=False, **content
        ) as response:
            chunks: List[bytes] = []
            for chunk in response.iter_bytes():
                # The timeout of httpx is for each chunk, so a slow server could hold the call for any time.
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("The response is too slow.", request=response.request)
                chunks.append(chunk)
            return _Answer(response.status_code, response.headers, b"".join(chunks))


def _result(name: str, answer: _Answer, key: Optional[str]) -> Any:
    """The result in a response, which a proxy may have replaced by a page of its own."""
    try:
        sent = json.loads(answer.content)
    except ValueError as cause:
        raise _malformed(name) from cause
    if not isinstance(sent, dict) or (key is not None and key not in sent):
        raise _malformed(name)
    return sent if key is None else sent[key]


def _malformed(name: str) -> ApiError:
    """The error for a successful response without the result. A write was probably carried out."""
    error = ApiError(f"{name}: the response is not the expected JSON", code="malformed_response")
    error.may_have_succeeded = not name.startswith("GET ")
    return error


def _backoff(attempt: int) -> float:
    """0.1 to 0.2 s before the second attempt, and twice as much before each further one, at most 10 s."""
    return float(min(10.0, 0.2 * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0))
