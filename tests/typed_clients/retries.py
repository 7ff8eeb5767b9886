"""Which failures are repeated, with a transport that answers without a server."""

from __future__ import annotations

import email.utils
import time
from typing import Any, Dict, List, Optional, Tuple, Union

import httpx

from charter_client import (
    ApiClient,
    ApiError,
    ConflictError,
    ConnectionFailedError,
    MemberCreate,
    NotFoundError,
    RateLimitedError,
    UnavailableError,
)
from support import equal, failure

Step = Union[int, str, httpx.Response]
BODY: MemberCreate = {"name": "Ada"}


def client(*steps: Step, **options: Any) -> Tuple[ApiClient, List[Optional[str]]]:
    """A client whose attempts have these results, and the keys of the attempts."""
    left, keys = list(steps), []

    def answer(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers.get("Idempotency-Key"))
        step = left.pop(0) if left else "lost"
        if step == "hangs":
            raise httpx.ReadTimeout("too long", request=request)
        if step == "refused":
            raise httpx.ConnectError("connection refused", request=request)
        if isinstance(step, str):
            raise httpx.RemoteProtocolError("connection lost", request=request)
        if isinstance(step, httpx.Response):
            return step
        return httpx.Response(step) if step == 204 else httpx.Response(step, json={"member": {"id": 1}})

    return ApiClient("http://unused", http=httpx.Client(transport=httpx.MockTransport(answer)), **options), keys


# All attempts of a call have one key, and each call its own.
for steps in (["lost", 201], [429, 502, 503, 201], [504, 201], ["hangs", 201]):
    api, keys = client(*steps, 201)
    equal(api.members.create(BODY)["id"], 1)
    equal((len(keys), len(set(keys)), len(keys[0] or "")), (len(steps), 1, 32))
    api.members.create(BODY)
    equal(len(set(keys)), 2)
api, keys = client(201)
api.members.create(BODY, idempotency_key="order-7")
equal(keys, ["order-7"])

# An attempt that runs still has the key.
running: Dict[str, str] = {"code": "in_progress", "message": "Wait."}
api, _ = client(httpx.Response(409, json=running), 201)
equal(api.members.create(BODY)["id"], 1)

# Other refusals are final.
for status in (400, 401, 403, 404, 408, 409, 412, 413, 422, 500):
    api, keys = client(status, 201)
    equal((failure(ApiError, lambda: api.members.create(BODY)).status, len(keys)), (status, 1))

# So is a redirect, which would turn a POST into a GET.
for status in (301, 302, 303, 307, 308):
    api, keys = client(httpx.Response(status, headers={"Location": "/elsewhere"}), 201)
    moved = failure(ApiError, lambda: api.members.create(BODY))
    equal((moved.status, moved.code, moved.may_have_succeeded, len(keys)), (status, "redirected", False, 1))

# The last attempt decides about the error.
api, keys = client("lost", 503, 503, 503)
unavailable = failure(UnavailableError, lambda: api.members.create(BODY))
equal((unavailable.status, unavailable.may_have_succeeded, len(keys)), (503, True, 4))
api, keys = client(max_attempts=2)
lost = failure(ConnectionFailedError, lambda: api.members.list())
equal((lost.status, lost.code, lost.may_have_succeeded, len(keys)), (0, "connection_failed", False, 2))
equal(isinstance(lost.__cause__, httpx.RemoteProtocolError), True)

# A pause beyond the deadline is not begun.
for retry_after in ("3600", email.utils.formatdate(time.time() + 3600, usegmt=True)):
    api, keys = client(httpx.Response(429, headers={"Retry-After": retry_after}), 201)
    limited = failure(RateLimitedError, lambda: api.members.create(BODY))
    equal((len(keys), round((limited.retry_after or 0) / 60), limited.may_have_succeeded), (1, 60, False))

# A record that an earlier attempt may have deleted is gone. Otherwise it never was there.
client("lost", 404)[0].members.delete(1)
client("lost", 204)[0].members.delete(1)
failure(NotFoundError, lambda: client(404)[0].members.delete(1))
failure(NotFoundError, lambda: client(429, 404)[0].members.delete(1))


def refused(code: str) -> httpx.Response:
    return httpx.Response(503, json={"code": code, "message": "Wait."})


client(refused("unavailable"), 404)[0].members.delete(1)
for first in ("refused", refused("overloaded")):
    # The server did not begin the first attempt.
    gone = failure(NotFoundError, lambda: client(first, 404)[0].members.delete(1))
    equal(gone.may_have_succeeded, False)
api, keys = client("refused", "refused", max_attempts=2)
equal(failure(ConnectionFailedError, lambda: api.members.create(BODY)).may_have_succeeded, False)
conflict = failure(ConflictError, lambda: client("lost", 412)[0].members.update(1, {}, if_match='"1"'))
equal(conflict.may_have_succeeded, True)

# The page of a proxy, and other answers without the record. A write may have been carried out.
for text in ("<html>", "null", "[]", "1", "{}", '{"members":[]}'):
    shown = failure(ApiError, lambda: client(httpx.Response(200, text=text))[0].members.show(1))
    equal((shown.code, shown.may_have_succeeded), ("malformed_response", False))
    attempts: List[List[Step]] = [[httpx.Response(200, text=text)], ["lost", httpx.Response(200, text=text)]]
    for answers in attempts:
        created = failure(ApiError, lambda: client(*answers)[0].members.create(BODY))
        equal((created.code, created.may_have_succeeded), ("malformed_response", True))

# An iteration does not end early because a page is not one.
pages: List[Dict[str, Any]] = [{}, {"members": {}}, {"members": [{"id": 1}]}, {"members": None, "meta": {}}]
for page in pages:
    records = client(httpx.Response(200, json=page))[0].members.each()
    equal(failure(ApiError, lambda: next(records)).code, "malformed_response")
