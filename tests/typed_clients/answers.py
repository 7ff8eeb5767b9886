"""Redirects, slow bodies, broken compression and closed ports, over a socket."""

from __future__ import annotations

import sys
import time
from typing import Any

import httpx

from charter_client import ApiClient, ApiError, ConnectionFailedError, MemberCreate
from support import equal, failure

BODY: MemberCreate = {"name": "Ada"}


def client(part: str, **options: Any) -> ApiClient:
    return ApiClient(f"{sys.argv[1]}/{part}", **options)


# Also with a client of httpx that follows redirects.
moved = failure(ApiError, lambda: client("moved", http=httpx.Client(follow_redirects=True)).members.create(BODY))
equal((moved.status, moved.code, moved.may_have_succeeded), (301, "redirected", False))

# A body that arrives byte by byte does not prolong an attempt or the call.
begun = time.monotonic()
failure(ConnectionFailedError, lambda: client("slow", deadline=0.5).members.list())
failure(ConnectionFailedError, lambda: client("slow", attempt_timeout=0.3, max_attempts=2).members.list())
equal(time.monotonic() - begun < 5, True)

compressed = failure(ConnectionFailedError, lambda: client("compressed", max_attempts=2).members.create(BODY))
equal(compressed.may_have_succeeded, True)

# Nothing listens on this port.
closed = ApiClient(sys.argv[3], max_attempts=2)
equal(failure(ConnectionFailedError, lambda: closed.members.delete(1)).may_have_succeeded, False)
