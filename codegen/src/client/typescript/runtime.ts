/** The value of a filter. */
export type FilterValue = string | number | boolean | readonly (string | number)[];

/** Conditions that one record of a relation meets together (`accessories.some`), or that none meets (`accessories.none`). */
export type FilterGroup = { readonly [condition: string]: FilterValue | undefined };

/** Settings of a client. Times are in milliseconds. */
export interface ClientOptions {
  /** The address of the server without a path, such as `https://api.example.com`. */
  baseUrl: string;
  /** An API token. */
  token?: string;
  /** The attempts of a call, the first included. Default: 4. */
  maxAttempts?: number;
  /** The time for one attempt. Default: 60,000. */
  attemptTimeout?: number;
  /** The time for a call with all its attempts and the pauses between them. Default: 120,000. */
  deadline?: number;
  /** Another implementation of `fetch`, for proxies and tests. */
  fetch?: typeof globalThis.fetch;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call; its error is the reason of the signal. */
  signal?: AbortSignal;
}

/** Options of a call that can depend on the version of a record. */
export interface IfMatchOption {
  /** Writes only if the record still has this version, by `etagOf`. Otherwise the call throws `ConflictError`. */
  ifMatch?: string;
}

/** Options of a call that the server carries out once for each key. */
export interface IdempotencyOption {
  /** A key of your own, to repeat the call after a restart. By default each call has a new one. */
  idempotencyKey?: string;
}

/** A file to upload. */
export interface Upload {
  name: string;
  content: Blob | Uint8Array<ArrayBuffer> | string;
  /** The media type. */
  type?: string;
}

/** The parameters of a call without those that select fields. */
export type Unselected<P> = Omit<P, "fields" | "view_id">;

/** An error of the API, or of the connection to it. */
export class ApiError extends Error {
  override name = "ApiError";
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** The stable code of the error, such as `not_found`. */
  readonly code: string;
  /** Problems by the name of the field or parameter. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** The id of the request in the log of the server. */
  readonly requestId: string | undefined;
  /** True if the response to an attempt was lost or is unreadable, so that the call may have been carried out. */
  mayHaveSucceeded = false;
  /** The pause that the server asked for, in milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(message: string, details: Partial<ErrorDetails> = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.status = details.status ?? 0;
    this.code = details.code ?? "unknown";
    this.errors = details.errors ?? {};
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
  }
}

interface ErrorDetails {
  status: number;
  code: string;
  errors: Record<string, string[]>;
  requestId: string | undefined;
  retryAfter: number | undefined;
  cause: unknown;
}

/** 401: the token is missing, invalid or expired. */
export class UnauthorizedError extends ApiError {
  override name = "UnauthorizedError";
}
/** 403: the token or the user lacks a right. */
export class ForbiddenError extends ApiError {
  override name = "ForbiddenError";
}
/** 404. */
export class NotFoundError extends ApiError {
  override name = "NotFoundError";
}
/** 409 or 412: the record was changed or is in use. */
export class ConflictError extends ApiError {
  override name = "ConflictError";
}
/** 422: `errors` has the problems. */
export class ValidationError extends ApiError {
  override name = "ValidationError";
}
/** 429, after the last attempt. */
export class RateLimitedError extends ApiError {
  override name = "RateLimitedError";
}
/** 502, 503 or 504, after the last attempt. */
export class UnavailableError extends ApiError {
  override name = "UnavailableError";
}
/** No attempt got a complete response. */
export class ConnectionFailedError extends ApiError {
  override name = "ConnectionFailedError";
}

const ERRORS: Readonly<Record<number, typeof ApiError>> = {
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
};

/** Statuses after which the same request is sent again. */
const TRANSIENT: readonly number[] = [429, 502, 503, 504];

function errorOf(response: Response, body: string): ApiError {
  let sent: { message?: string; code?: string; errors?: Record<string, string[]> } = {};
  try {
    sent = JSON.parse(body) ?? {};
  } catch {
    // A proxy answered with another format.
  }
  const seconds = response.headers.get("Retry-After");
  const pause = seconds === null ? NaN : Number(seconds) * 1000;
  const until = seconds === null ? NaN : Date.parse(seconds) - Date.now();
  const retryAfter = Number.isNaN(pause) ? until : pause;
  const type = ERRORS[response.status] ?? ApiError;
  // A browser hides the status and the headers of a redirect.
  const isRedirect = response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
  const message = isRedirect
    ? "The server answered with a redirect, which the client does not follow: check `baseUrl`."
    : `The server answered ${response.status}.`;
  return new type(sent.message ?? message, {
    status: response.status,
    code: sent.code ?? (isRedirect ? "redirected" : "unknown"),
    errors: sent.errors ?? {},
    requestId: response.headers.get("X-Request-Id") ?? undefined,
    retryAfter: Number.isNaN(retryAfter) ? undefined : Math.max(0, retryAfter),
  });
}

/** The version of each record that a call returned. */
const etags = new WeakMap<object, string>();

/**
 * The version of a record that `show`, `create`, `update` or an action returned, for `ifMatch`.
 * Throws an error for another object, because a write without a version would be unconditional.
 */
export function etagOf(record: object): string {
  const etag = etags.get(record);
  if (etag === undefined) {
    throw new TypeError("The object has no ETag: it is not a record that a call for a single record returned.");
  }
  return etag;
}

interface Call {
  method: string;
  path: string;
  query?: object | undefined;
  body?: object | undefined;
  isForm?: boolean;
  /** The key of the response that holds the result. */
  key?: string;
  media?: "json" | "text" | "bytes" | "nothing";
  hasKey?: boolean;
  isPublic?: boolean;
  options?: (CallOptions & IfMatchOption & IdempotencyOption) | undefined;
}

/** Sends requests, and sends them again after a failure of the network or of the server. */
export class Transport {
  readonly #settings: Required<Omit<ClientOptions, "token">> & { token: string | undefined };

  constructor(options: ClientOptions) {
    this.#settings = {
      baseUrl: options.baseUrl.replace(/\/+$/, ""),
      token: options.token === undefined ? undefined : headerToken(options.token),
      maxAttempts: options.maxAttempts ?? 4,
      attemptTimeout: options.attemptTimeout ?? 60_000,
      deadline: options.deadline ?? 120_000,
      fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    };
  }

  /** Sends a request and returns its result. */
  async call<T>(call: Call): Promise<T> {
    const answer = await this.#send(call);
    if (answer === undefined || call.media === "nothing") {
      return undefined as T;
    }
    if (call.media === "bytes") {
      return new Uint8Array(answer.bytes) as T;
    }
    const text = new TextDecoder().decode(answer.bytes);
    if (call.media === "text") {
      return text as T;
    }
    const result = resultOf(text, call);
    const etag = answer.headers.get("ETag");
    if (etag !== null && typeof result === "object" && result !== null) {
      etags.set(result, etag);
    }
    return result as T;
  }

  /** The records of all pages, by cursor. */
  async *each<T>(call: Call, key: string): AsyncGenerator<T, void, undefined> {
    let cursor: string | null | undefined = "";
    while (typeof cursor === "string") {
      const query: object = { per_page: 100, ...call.query, cursor };
      const page: Record<string, unknown> = await this.call({ ...call, query });
      const { [key]: records, meta } = page;
      // Without the cursor, the iteration would end early as if there were no further records.
      if (!Array.isArray(records) || typeof meta !== "object" || meta === null) {
        throw malformed(call);
      }
      yield* records as T[];
      cursor = (meta as { next_cursor?: string | null }).next_cursor;
    }
  }

  /** The answer; none if a deleted record is already gone. */
  async #send(call: Call): Promise<{ bytes: ArrayBuffer; headers: Headers } | undefined> {
    const { maxAttempts, attemptTimeout, deadline, baseUrl, fetch } = this.#settings;
    const url = new URL(addressOf(call.path, baseUrl));
    appendQuery(url.searchParams, call.query ?? {});
    const headers = this.#headers(call);
    const body = call.body === undefined ? null : call.isForm ? toForm(call.body) : JSON.stringify(call.body);
    const signal = call.options?.signal;
    const end = Date.now() + deadline;
    // True after an attempt that the server may have carried out.
    let isLost = false;
    for (let attempt = 1; ; attempt += 1) {
      let failure: ApiError;
      let isUnsent = false;
      // Node exits while a call waits if only `AbortSignal.timeout` is left, because that timer keeps no process alive.
      const timeout = new AbortController();
      const limit = Math.max(1, Math.min(attemptTimeout, end - Date.now()));
      const timer = setTimeout(() => timeout.abort(new DOMException("The attempt took too long.", "TimeoutError")), limit);
      try {
        const both = signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, signal]);
        // A redirect may turn a POST into a GET.
        const response = await fetch(url, { method: call.method, headers, body, signal: both, redirect: "manual" });
        const bytes = await response.arrayBuffer();
        if (response.ok || (isLost && call.method === "DELETE" && response.status === 404)) {
          return response.ok ? { bytes, headers: response.headers } : undefined;
        }
        failure = errorOf(response, new TextDecoder().decode(bytes));
      } catch (cause) {
        signal?.throwIfAborted();
        isUnsent = isRefusedConnection(cause);
        failure = new ConnectionFailedError(`${nameOf(call)}: no complete response`, { code: "connection_failed", cause });
      } finally {
        clearTimeout(timer);
      }
      // The same idempotency key may still be in use by an attempt that lost its connection.
      const isTransient =
        failure instanceof ConnectionFailedError || TRANSIENT.includes(failure.status) || failure.code === "in_progress";
      const pause = Math.max(backoff(attempt), failure.retryAfter ?? 0);
      // The server answers 429 and `overloaded` before it begins a call.
      isUnsent ||= failure.status === 429 || failure.code === "overloaded";
      isLost ||= call.method !== "GET" && isTransient && !isUnsent;
      failure.mayHaveSucceeded = isLost;
      if (!isTransient || attempt >= maxAttempts || Date.now() + pause >= end) {
        throw failure;
      }
      await sleep(pause, signal);
    }
  }

  #headers(call: Call): Headers {
    const headers = new Headers({ Accept: call.media === "bytes" ? "*/*" : "application/json" });
    if (call.media === "text") {
      headers.set("Accept", "text/plain");
    }
    if (this.#settings.token !== undefined && !call.isPublic) {
      headers.set("Authorization", `Bearer ${this.#settings.token}`);
    }
    if (call.body !== undefined && !call.isForm) {
      headers.set("Content-Type", "application/json");
    }
    if (call.hasKey) {
      headers.set("Idempotency-Key", call.options?.idempotencyKey ?? newKey());
    }
    if (call.options?.ifMatch !== undefined) {
      headers.set("If-Match", call.options.ifMatch);
    }
    return headers;
  }
}

/** The result in a response, which a proxy may have replaced by a page of its own. */
function resultOf(text: string, call: Call): unknown {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw malformed(call, cause);
  }
  const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
  if (!isObject || (call.key !== undefined && !Object.hasOwn(json as object, call.key))) {
    throw malformed(call);
  }
  return call.key === undefined ? json : (json as Record<string, unknown>)[call.key];
}

/** The error for a successful response without the result. A write was probably carried out. */
function malformed(call: Call, cause?: unknown): ApiError {
  const error = new ApiError(`${nameOf(call)}: the response is not the expected JSON`, { code: "malformed_response", cause });
  error.mayHaveSucceeded = call.method !== "GET";
  return error;
}

/** The call in messages, without the query: it may have filters by personal data or the signature of a link. */
function nameOf(call: Call): string {
  return `${call.method} ${call.path.split("?")[0]}`;
}

/** Codes of Node for a connection that was not made. Browsers do not name the reason. */
const REFUSED: readonly unknown[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];

function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === "object" && cause !== null && "code" in cause && REFUSED.includes(cause.code);
}

/** 0.1 to 0.2 s before the second attempt, and twice as much before each further one, at most 10 s. */
function backoff(attempt: number): number {
  return Math.min(10_000, 200 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
