"""What the requests contain, and calls that send none, with a transport that answers without a server."""

from __future__ import annotations

import traceback
from typing import List, Optional, Tuple

import httpx

from charter_client import ApiClient, ConnectionFailedError
from support import equal, failure


def client(token: Optional[str] = None) -> Tuple[ApiClient, List[httpx.Request]]:
    """A client and its requests."""
    requests: List[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json={"members": [], "member": {"id": 1}, "meta": {}})

    return ApiClient("http://unused", token, http=httpx.Client(transport=httpx.MockTransport(answer))), requests


# Spaces and line ends around a token are not a part of it. An error does not contain the token.
api, sent = client(" chr_secret\r\n")
api.members.list()
equal(sent[0].headers["Authorization"], "Bearer chr_secret")
for token in ("", "\n", "chr_\nsecret", "chr_secr\u00e9t", "chr_\u2026secret"):
    refused = failure(ValueError, lambda: client(token))
    equal("secr" in "".join(traceback.format_exception_only(type(refused), refused)), False)
failure(ValueError, lambda: api.members.create({"name": "Ada"}, idempotency_key="a\nb"))
failure(ValueError, lambda: api.members.update(1, {}, if_match="\u201c1\u201d"))

# No field, no element, and values that would lead to another path.
api, sent = client()
api.members.list(fields=[])
api.members.list(q={"id_in": []})
equal([request.url.query for request in sent], [b"fields=%2C", b"q%5Bid_in%5D="])
for part in (".", ".."):
    failure(ValueError, lambda: api.service.read_file(part, "file", expires=1, signature="s"))
equal(len(sent), 2)


# A request that httpx refuses is not sent again. An error does not contain the query of a signed link.
def lost(request: httpx.Request) -> httpx.Response:
    sent.append(request)
    if request.url.host == "files":
        raise httpx.ReadError("connection lost", request=request)
    raise httpx.LocalProtocolError("Illegal header value b'secret'", request=request)


sent = []
api = ApiClient("http://unused", max_attempts=2, http=httpx.Client(transport=httpx.MockTransport(lost)))
failed = failure(ConnectionFailedError, lambda: api.members.create({"name": "Ada"}))
equal(("secret" in "".join(traceback.format_exception(failed)), failed.may_have_succeeded), (False, False))
equal(len(sent), 1)
failed = failure(ConnectionFailedError, lambda: api.download("http://files/contract.txt?signature=secret"))
equal(failed.message, "GET http://files/contract.txt: no complete response")
equal(len(sent), 3)
