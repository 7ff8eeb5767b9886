"""Verifies a delivery and the test vectors, and refuses changed ones."""

from __future__ import annotations

import base64
import hashlib
import hmac
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

# A signature that is not base64 does not refuse the others.
mixed = {**vectors, "webhook-signature": f"v1,% v1,A v2,? {vectors['webhook-signature']}"}
equal(verify_webhook(secret, mixed, body, tolerance=math.inf)["event"], "user.created")

# Somebody without the secret signed it with an empty key.
digest = hmac.new(b"", b"msg_vector.1795255200." + body, hashlib.sha256).digest()
forged = {**vectors, "webhook-signature": f"v1,{base64.b64encode(digest).decode()}"}

for key, headers, content, seconds in (
    ("whsec_AAAA", vectors, body, math.inf),
    ("", forged, body, math.inf),
    ("whsec_", forged, body, math.inf),
    ("whsec_%", vectors, body, math.inf),
    (secret, vectors, body.replace(b"event", b"Event"), math.inf),
    (secret, vectors, body, 300.0),
    (secret, {**vectors, "webhook-id": "msg_other"}, body, math.inf),
    (secret, {**vectors, "webhook-timestamp": "1795255201"}, body, math.inf),
    (secret, {**vectors, "webhook-timestamp": "soon"}, body, math.inf),
    (secret, {**vectors, "webhook-timestamp": "9" * 400}, body, math.inf),
    (secret, {**vectors, "webhook-timestamp": "9" * 5000}, body, math.inf),
    (secret, vectors, body, math.nan),
    (secret, {**vectors, "webhook-signature": "v1,AAAA v2,AAAA"}, body, math.inf),
    (secret, {**vectors, "webhook-signature": "v1,\udc80"}, body, math.inf),
    (secret, {**vectors, "webhook-signature": ""}, body, math.inf),
    (secret, {"webhook-id": "msg_vector"}, body, math.inf),
):
    failure(WebhookVerificationError, lambda: verify_webhook(key, headers, content, tolerance=seconds))
