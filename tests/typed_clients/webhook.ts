// Verifies a delivery and the test vectors, and refuses changed ones.

import { WebhookVerificationError, verifyWebhook } from "./client.js";
import { argument, equal, failure } from "./support.js";

const sent: { secret: string; headers: Record<string, string>; body: string } = JSON.parse(argument(2));

const event = await verifyWebhook(sent.secret, new Headers(sent.headers), sent.body);
equal(event.event, "webhook.test");
if (event.event === "webhook.test") {
  // The type of the data depends on the event.
  equal(event.data.webhook.id > 0, true);
}

const vectors = {
  "webhook-id": "msg_vector",
  "webhook-timestamp": "1795255200",
  "webhook-signature":
    "v1,uSamSNPWXmq+EkeS+O6CZ6yBpG3dQJe8zFGaDMZe+Tc= v1,nCFLCy50SlkebbS25rPO99Y3n8fGLnJNjfocQORHWxE=",
};
const body = new TextEncoder().encode(
  '{"event":"user.created","timestamp":"2026-11-21T10:00:00.000Z","data":{"user":{"id":7,"name":"Zoë","email":"zoe@example.com"}}}',
);
const tolerance = Infinity;
const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const previous = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
for (const key of [secret, previous]) {
  equal((await verifyWebhook(key, vectors, body, { tolerance })).event, "user.created");
}
// Node names headers in lowercase, other servers do not.
await verifyWebhook(secret, Object.fromEntries(Object.entries(vectors).map(([name, value]) => [name.toUpperCase(), value])), body, { tolerance });

const changed = body.slice();
changed[10] = 65;
const refused: [string, Record<string, string>, Uint8Array, number][] = [
  ["whsec_AAAA", vectors, body, tolerance],
  ["whsec_%", vectors, body, tolerance],
  [secret, vectors, changed, tolerance],
  [secret, vectors, body, 300],
  [secret, { ...vectors, "webhook-id": "msg_other" }, body, tolerance],
  [secret, { ...vectors, "webhook-timestamp": "1795255201" }, body, tolerance],
  [secret, { ...vectors, "webhook-timestamp": "soon" }, body, tolerance],
  [secret, { ...vectors, "webhook-signature": "v1,AAAA v2,AAAA" }, body, tolerance],
  [secret, { ...vectors, "webhook-signature": "" }, body, tolerance],
  [secret, { "webhook-id": "msg_vector" }, body, tolerance],
];
for (const [key, headers, bytes, seconds] of refused) {
  await failure(WebhookVerificationError, verifyWebhook(key, headers, bytes, { tolerance: seconds }));
}
