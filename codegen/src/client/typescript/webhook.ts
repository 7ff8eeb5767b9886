/** A webhook delivery without a valid signature or with a time outside the tolerance. */
export class WebhookVerificationError extends Error {
  override name = "WebhookVerificationError";
}

/** Options of `verifyWebhook`. */
export interface VerifyOptions {
  /** The most seconds between the time of the delivery and now. Default: 300. */
  tolerance?: number;
}

/** Headers of a delivery, as `Headers` or as an object of Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The JSON of a delivery whose `webhook-signature` is valid. */
async function verified(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  options: VerifyOptions,
): Promise<unknown> {
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^[0-9]{1,15}$/.test(timestamp) || !(age <= (options.tolerance ?? 300))) {
    throw new WebhookVerificationError("The time of the delivery is outside the tolerance.");
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const start = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(start.length + bytes.length);
  signed.set(start);
  signed.set(bytes, start.length);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const raw = fromBase64(secret.replace(/^whsec_/, ""));
  // Everybody can sign with an empty key.
  if (raw === undefined || raw.length === 0) {
    throw new WebhookVerificationError("The secret is empty or not base64.");
  }
  const key = await crypto.subtle.importKey("raw", raw, hmac, false, ["verify"]);
  for (const signature of header(headers, "webhook-signature").split(" ")) {
    const given = signature.startsWith("v1,") ? fromBase64(signature.slice(3)) : undefined;
    // `verify` compares in constant time.
    if (given !== undefined && (await crypto.subtle.verify("HMAC", key, given, signed))) {
      return JSON.parse(new TextDecoder().decode(bytes));
    }
  }
  throw new WebhookVerificationError("No signature of the delivery is valid.");
}

function header(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== "string") {
    throw new WebhookVerificationError(`The delivery has no header \`${name}\`.`);
  }
  return value;
}

/** The bytes, or nothing if the text is not base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}
