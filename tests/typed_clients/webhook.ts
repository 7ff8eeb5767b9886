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

// A signature that is not base64 does not refuse the others.
const mixed = { ...vectors, "webhook-signature": `v1,% v1,A v2,? ${vectors["webhook-signature"]}` };
equal((await verifyWebhook(secret, mixed, body, { tolerance })).event, "user.created");

/** A delivery that somebody without the secret signed with an empty key. */
async function forged(): Promise<Record<string, string>> {
  // Web Crypto has no empty keys, but a block of zeros gives the same HMAC (RFC 2104).
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new Uint8Array(64), hmac, false, ["sign"]);
  const signed = new TextEncoder().encode(`msg_vector.1795255200.${new TextDecoder().decode(body)}`);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  return { ...vectors, "webhook-signature": `v1,${btoa(String.fromCharCode(...signature))}` };
}

const changed = body.slice();
changed[10] = 65;
const refused: [string, Record<string, string>, Uint8Array, number][] = [
  ["whsec_AAAA", vectors, body, tolerance],
  ["", await forged(), body, tolerance],
  ["whsec_", await forged(), body, tolerance],
  ["whsec_%", vectors, body, tolerance],
  [secret, vectors, changed, tolerance],
  [secret, vectors, body, 300],
  [secret, { ...vectors, "webhook-id": "msg_other" }, body, tolerance],
  [secret, { ...vectors, "webhook-timestamp": "1795255201" }, body, tolerance],
  [secret, { ...vectors, "webhook-timestamp": "soon" }, body, tolerance],
  [secret, { ...vectors, "webhook-timestamp": "9".repeat(400) }, body, tolerance],
  [secret, { ...vectors, "webhook-timestamp": "9".repeat(5000) }, body, tolerance],
  [secret, vectors, body, NaN],
  [secret, { ...vectors, "webhook-signature": "v1,AAAA v2,AAAA" }, body, tolerance],
  [secret, { ...vectors, "webhook-signature": "" }, body, tolerance],
  [secret, { "webhook-id": "msg_vector" }, body, tolerance],
];
for (const [key, headers, bytes, seconds] of refused) {
  await failure(WebhookVerificationError, verifyWebhook(key, headers, bytes, { tolerance: seconds }));
}
