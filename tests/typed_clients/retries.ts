// Which failures are repeated, with a `fetch` that answers without a server.

import {
  ApiClient,
  ApiError,
  ConflictError,
  ConnectionFailedError,
  NotFoundError,
  RateLimitedError,
  UnavailableError,
  type ClientOptions,
} from "./client.js";
import { equal, failure } from "./support.js";

type Step = number | "lost" | "refused" | "hangs" | Response;

/** A client whose attempts have these results, and the keys of the attempts. */
function client(steps: Step[], options: Partial<ClientOptions> = {}): { api: ApiClient; keys: (string | null)[] } {
  const keys: (string | null)[] = [];
  const answers = async (_: unknown, init?: RequestInit): Promise<Response> => {
    keys.push(new Headers(init?.headers).get("Idempotency-Key"));
    const step = steps.shift();
    if (step === "hangs") {
      return new Promise((_, reject) => {
        // A connection keeps the process alive, the timer of the client does not.
        const open = setTimeout(() => undefined, 10_000);
        init?.signal?.addEventListener("abort", () => {
          clearTimeout(open);
          reject(init.signal?.reason);
        });
      });
    }
    if (step === "refused") {
      throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
    }
    if (step === undefined || step === "lost") {
      throw new TypeError("connection lost");
    }
    if (step instanceof Response) {
      return step;
    }
    return step === 204 ? new Response(null, { status: 204 }) : Response.json({ member: { id: 1 } }, { status: step });
  };
  return { api: new ApiClient({ baseUrl: "http://unused", fetch: answers, ...options }), keys };
}

const body = { name: "Ada" };

// All attempts of a call have one key, and each call its own.
for (const steps of [["lost", 201], [429, 502, 503, 201], [504, 201]] satisfies Step[][]) {
  const { api, keys } = client([...steps, 201]);
  equal((await api.members.create(body)).id, 1);
  equal([keys.length, new Set(keys).size, keys[0]?.length], [steps.length, 1, 32]);
  await api.members.create(body);
  equal(new Set(keys).size, 2);
}
const own = client([201]);
await own.api.members.create(body, { idempotencyKey: "order-7" });
equal(own.keys, ["order-7"]);

// An attempt that runs still has the key.
const running = () => Response.json({ code: "in_progress", message: "Wait." }, { status: 409 });
equal((await client([running(), 201]).api.members.create(body)).id, 1);

// Other refusals are final.
for (const status of [400, 401, 403, 404, 408, 409, 412, 413, 422, 500]) {
  const { api, keys } = client([status, 201]);
  equal([(await failure(ApiError, api.members.create(body))).status, keys.length], [status, 1]);
}

// So is a redirect, which would turn a POST into a GET.
for (const status of [301, 302, 303, 307, 308]) {
  const { api, keys } = client([status, 201]);
  const error = await failure(ApiError, api.members.create(body));
  equal([error.status, error.code, error.mayHaveSucceeded, keys.length], [status, "redirected", false, 1]);
}

// The last attempt decides about the error.
const many = client(["lost", 503, 503, 503]);
const unavailable = await failure(UnavailableError, many.api.members.create(body));
equal([unavailable.status, unavailable.mayHaveSucceeded, many.keys.length], [503, true, 4]);
const lost = await failure(ConnectionFailedError, client([], { maxAttempts: 2 }).api.members.list());
equal([lost.status, lost.code, lost.mayHaveSucceeded, lost.cause instanceof TypeError], [0, "connection_failed", false, true]);

// A pause beyond the deadline is not begun.
const limited = (retryAfter: string) => new Response(null, { status: 429, headers: { "Retry-After": retryAfter } });
for (const retryAfter of ["3600", new Date(Date.now() + 3_600_000).toUTCString()]) {
  const { api, keys } = client([limited(retryAfter), 201]);
  const error = await failure(RateLimitedError, api.members.create(body));
  equal([keys.length, Math.round((error.retryAfter ?? 0) / 60_000), error.mayHaveSucceeded], [1, 60, false]);
}

// An attempt that takes too long is repeated, and a caller can end the call.
equal((await client(["hangs", 201], { attemptTimeout: 50 }).api.members.create(body)).id, 1);
const controller = new AbortController();
const ended = client(["hangs", 201]);
setTimeout(() => controller.abort(new RangeError("no longer needed")), 50);
await failure(RangeError, ended.api.members.create(body, { signal: controller.signal }));
equal(ended.keys.length, 1);
const early = new AbortController();
const begun = Date.now();
const limitedOnce = async (): Promise<Response> => {
  // The caller ends the call while the answer is read, before the pause.
  early.abort(new RangeError("no longer needed"));
  return limited("30");
};
const paused = new ApiClient({ baseUrl: "http://unused", fetch: limitedOnce });
await failure(RangeError, paused.members.create(body, { signal: early.signal }));
equal(Date.now() - begun < 5_000, true);

// A record that an earlier attempt may have deleted is gone. Otherwise it never was there.
await client(["lost", 404]).api.members.delete(1);
await client(["lost", 204]).api.members.delete(1);
await failure(NotFoundError, client([404]).api.members.delete(1));
await failure(NotFoundError, client([429, 404]).api.members.delete(1));
const refused = (code: string) => Response.json({ code, message: "Wait." }, { status: 503 });
await client([refused("unavailable"), 404]).api.members.delete(1);
for (const step of ["refused", refused("overloaded")] satisfies Step[]) {
  // The server did not begin the first attempt.
  const error = await failure(NotFoundError, client([step, 404]).api.members.delete(1));
  equal(error.mayHaveSucceeded, false);
}
const unsent = client(["refused", "refused"], { maxAttempts: 2 });
equal((await failure(ConnectionFailedError, unsent.api.members.create(body))).mayHaveSucceeded, false);
const conflict = await failure(ConflictError, client(["lost", 412]).api.members.update(1, {}, { ifMatch: '"1"' }));
equal(conflict.mayHaveSucceeded, true);

// The page of a proxy, and other answers without the record. A write may have been carried out.
for (const text of ["<html>", "null", "[]", "1", "{}", '{"members":[]}']) {
  const page = () => new Response(text);
  const shown = await failure(ApiError, client([page()]).api.members.show(1));
  equal([shown.code, shown.mayHaveSucceeded], ["malformed_response", false]);
  for (const steps of [[page()], ["lost", page()]] satisfies Step[][]) {
    const created = await failure(ApiError, client(steps).api.members.create(body));
    equal([created.code, created.mayHaveSucceeded], ["malformed_response", true]);
  }
}

// An iteration does not end early because a page is not one.
for (const page of [{}, { members: {} }, { members: [{ id: 1 }] }, { members: null, meta: {} }]) {
  const records = client([Response.json(page)]).api.members.each();
  equal((await failure(ApiError, records.next())).code, "malformed_response");
}
