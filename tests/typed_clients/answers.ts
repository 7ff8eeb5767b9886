// Redirects, slow bodies, broken compression and closed ports, over a socket.

import { ApiClient, ApiError, ConnectionFailedError, type ClientOptions } from "./client.js";
import { argument, equal, failure } from "./support.js";

const client = (part: string, options: Partial<ClientOptions> = {}): ApiClient =>
  new ApiClient({ baseUrl: `${argument(0)}/${part}`, ...options });
const body = { name: "Ada" };

const moved = await failure(ApiError, client("moved").members.create(body));
equal([moved.status, moved.code, moved.mayHaveSucceeded], [301, "redirected", false]);

// A body that arrives byte by byte does not prolong an attempt or the call.
const begun = Date.now();
await failure(ConnectionFailedError, client("slow", { deadline: 500 }).members.list());
await failure(ConnectionFailedError, client("slow", { attemptTimeout: 300, maxAttempts: 2 }).members.list());
equal(Date.now() - begun < 5_000, true);

const compressed = await failure(ConnectionFailedError, client("compressed", { maxAttempts: 2 }).members.create(body));
equal(compressed.mayHaveSucceeded, true);

// Nothing listens on this port.
const closed = new ApiClient({ baseUrl: argument(2), maxAttempts: 2 });
const refused = await failure(ConnectionFailedError, closed.members.delete(1));
equal(refused.mayHaveSucceeded, false);
