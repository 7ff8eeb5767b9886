"""Verifies a delivery and the test vectors, and refuses changed ones."""

from __future__ import annotations

import json
import math
import sys

from charter_client import WebhookVerificationError, verify_webhook
from support import equal, failure

sent = json.loads(sys.argv[3])
event = verify_webhook(sent["secret"], sent["headers"], sent["body"].encode())
equal(event["event"], "webhook.test")
if event["event"] == "webhook.test":
    # The type of the data depends on the event.
    equal(event["data"]["webhook"]["id"] > 0, True)

vectors = {
    "webhook-id": "msg_vector",
    "webhook-timestamp": "1795255200",
    "webhook-signature": "v1,uSamSNPWXmq+EkeS+O6CZ6yBpG3dQJe8zFGaDMZe+Tc= v1,nCFLCy50SlkebbS25rPO99Y3n8fGLnJNjfocQORHWxE=",
}
body = (
    '{"event":"user.created","timestamp":"2026-11-21T10:00:00.000Z",'
    '"data":{"user":{"id":7,"name":"Zoë","email":"zoe@example.com"}}}'
).encode()
secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
previous = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
for key in (secret, previous):
    equal(verify_webhook(key, vectors, body, tolerance=math.inf)["event"], "user.created")
verify_webhook(secret, {name.upper(): value for name, value in vectors.items()}, body, tolerance=math.inf)

for key, headers, content, seconds in (
    ("whsec_AAAA", vectors, body, math.inf),
    ("whsec_%", vectors, body, math.inf),
    (secret, vectors, body.replace(b"event", b"Event"), math.inf),
    (secret, vectors, body, 300.0),
    (secret, {**vectors, "webhook-id": "msg_other"}, body, math.inf),
    (secret, {**vectors, "webhook-timestamp": "1795255201"}, body, math.inf),
    (secret, {**vectors, "webhook-timestamp": "soon"}, body, math.inf),
    (secret, {**vectors, "webhook-signature": "v1,AAAA v2,AAAA"}, body, math.inf),
    (secret, {**vectors, "webhook-signature": ""}, body, math.inf),
    (secret, {"webhook-id": "msg_vector"}, body, math.inf),
):
    failure(WebhookVerificationError, lambda: verify_webhook(key, headers, content, tolerance=seconds))
