from __future__ import annotations

import base64
import binascii
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
    """True if the response to an earlier attempt was lost, so that the call may have been carried out."""

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


def _error_of(response: httpx.Response) -> ApiError:
    try:
        sent = response.json()
    except ValueError:
        sent = {}  # A proxy answered with another format.
    if not isinstance(sent, dict):
        sent = {}
    return _ERRORS.get(response.status_code, ApiError)(
        sent.get("message") or f"The server answered {response.status_code}.",
        status=response.status_code,
        code=sent.get("code") or "unknown",
        errors=sent.get("errors"),
        request_id=response.headers.get("X-Request-Id"),
        retry_after=_seconds(response.headers.get("Retry-After")),
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
        self._token = token
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
            headers["Idempotency-Key"] = idempotency_key or secrets.token_hex(16)
        if if_match is not None:
            headers["If-Match"] = if_match
        content: Dict[str, Any] = {}
        if body is not None and is_form:
            content = _form(body)
        elif body is not None:
            content = {"content": json.dumps(body).encode()}
            headers["Content-Type"] = "application/json"
        url = path if "://" in path else self._base_url + path
        parameters = _query(query or {})
        if parameters:
            url += ("&" if "?" in url else "?") + urlencode(parameters)
        response = self._send(method, url, headers, content)
        if response is None or media == "nothing":
            return None
        if media == "bytes":
            return response.content
        if media == "text":
            return response.text
        try:
            answer = response.json()
            result = answer if key is None else answer[key]
        except (KeyError, TypeError, ValueError) as cause:
            # A proxy may have replaced the response by a page of its own.
            raise ApiError(f"{method} {path}: the response is not JSON", code="malformed_response") from cause
        if isinstance(result, dict):
            result = _Record(result)
            result.etag = response.headers.get("ETag")
        return result

    def each(self, method: str, path: str, key: str, query: Mapping[str, Any]) -> Iterator[Any]:
        """The records of all pages, by cursor."""
        cursor: Optional[str] = ""
        while cursor is not None:
            page = self.call(method, path, query={"per_page": 100, **query, "cursor": cursor})
            yield from page[key]
            cursor = page["meta"].get("next_cursor")

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], content: Mapping[str, Any]
    ) -> Optional[httpx.Response]:
        """The response; none if a deleted record is already gone."""
        end = time.monotonic() + self._deadline
        is_lost = False
        attempt = 1
        while True:
            cause: Optional[Exception] = None
            timeout = max(0.001, min(self._attempt_timeout, end - time.monotonic()))
            try:
                response = self._http.request(method, url, headers=headers, timeout=timeout, **content)
                if response.is_success:
                    return response
                if is_lost and method == "DELETE" and response.status_code == 404:
                    return None
                failure = _error_of(response)
            except httpx.TransportError as error:
                cause = error
                failure = ConnectionFailedError(f"{method} {url}: no complete response", code="connection_failed")
            # The same idempotency key may still be in use by an attempt that lost its connection.
            is_transient = (
                failure.status == 0 or failure.status in _TRANSIENT or failure.code == "in_progress"
            )
            pause = max(_backoff(attempt), failure.retry_after or 0.0)
            is_lost = is_lost or (method != "GET" and is_transient and failure.status != 429)
            failure.may_have_succeeded = is_lost
            if not is_transient or attempt >= self._max_attempts or time.monotonic() + pause >= end:
                raise failure from cause
            time.sleep(pause)
            attempt += 1


def _backoff(attempt: int) -> float:
    """0.1 to 0.2 s before the second attempt, and twice as much before each further one, at most 10 s."""
    return float(min(10.0, 0.2 * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _query(values: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """The parameters. ``q_extra`` has filters that the types do not list."""
    query: List[Tuple[str, str]] = []
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            query += _filters("q" if name == "q_extra" else name, value)
        elif _is_list(value):
            is_flat = not any(isinstance(element, Mapping) for element in value)
            query.append((name, ",".join(map(_text, value)) if is_flat else json.dumps(value)))
        else:
            query.append((name, _text(value)))
    return query


def _renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> Dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}


def _filters(name: str, filters: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """A list has brackets, so that its elements may contain commas. An empty one is sent, because it matches nothing."""
    query: List[Tuple[str, str]] = []
    for key, value in filters.items():
        if _is_list(value):
            query += [(f"{name}[{key}][]", _text(element)) for element in value] or [(f"{name}[{key}]", "")]
        elif value is not None:
            query.append((f"{name}[{key}]", _text(value)))
    return query


def _form(body: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments of a request with a form."""
    data: Dict[str, str] = {}
    files: Dict[str, Any] = {}
    for name, value in body.items():
        if value is None:
            continue
        if isinstance(value, Upload):
            files[name] = (value.name, value.content, value.type)
        elif isinstance(value, Mapping) or _is_list(value):
            data[name] = json.dumps(value)
        else:
            data[name] = _text(value)
    return {"data": data, "files": files}


class WebhookVerificationError(Exception):
    """A webhook delivery without a valid signature or with a time outside the tolerance."""


def _verified(secret: str, headers: Mapping[str, str], body: bytes, tolerance: float) -> Any:
    """The JSON of a delivery whose ``webhook-signature`` is valid."""
    given = {name.lower(): value for name, value in headers.items()}
    try:
        delivery, timestamp = given["webhook-id"], given["webhook-timestamp"]
        signatures = given["webhook-signature"].split(" ")
    except KeyError as missing:
        raise WebhookVerificationError(f"The delivery has no header {missing}.") from None
    is_number = timestamp.isascii() and timestamp.isdigit()
    if not is_number or abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The time of the delivery is outside the tolerance.")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise WebhookVerificationError("The secret is not base64.") from None
    digest = hmac.new(key, f"{delivery}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    if not any(hmac.compare_digest(expected, signature.encode()) for signature in signatures):
        raise WebhookVerificationError("No signature of the delivery is valid.")
    return json.loads(body)
