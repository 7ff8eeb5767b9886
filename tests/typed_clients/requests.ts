// What the requests contain, and calls that send none, with a `fetch` that answers without a server.

import { ApiClient, ConnectionFailedError } from "./client.js";
import { equal, failure } from "./support.js";

/** The addresses and headers of the requests of a client. */
function client(token?: string): { api: ApiClient; urls: URL[]; headers: Headers[] } {
  const urls: URL[] = [];
  const headers: Headers[] = [];
  const answer = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    urls.push(new URL(input instanceof Request ? input.url : input));
    headers.push(new Headers(init?.headers));
    return Response.json({ members: [], member: { id: 1 }, meta: {} });
  };
  const options = { baseUrl: "http://unused", fetch: answer };
  return { api: new ApiClient(token === undefined ? options : { ...options, token }), urls, headers };
}

// Spaces and line ends around a token are not a part of it. An error does not contain the token.
const padded = client(" chr_secret\r\n");
await padded.api.members.list();
equal(padded.headers[0]?.get("Authorization"), "Bearer chr_secret");
for (const token of ["", "\n", "chr_\nsecret", "chr_secr\u00e9t", "chr_\u2026secret"]) {
  const error = await failure(TypeError, (async () => client(token))());
  equal(error.message.includes("secr"), false);
}

// No field, no element, and values that would lead to another path.
const sent = client();
await sent.api.members.list({ fields: [] });
await sent.api.members.list({ q: { id_in: [] } });
equal(
  sent.urls.map((url) => url.search),
  ["?fields=%2C", "?q%5Bid_in%5D="],
);
for (const part of [".", ".."]) {
  await failure(TypeError, sent.api.service.readFile(part, "file", { expires: 1, signature: "s" }));
}
equal(sent.urls.length, 2);

// An error does not contain the query of a signed link.
const lost = new ApiClient({
  baseUrl: "http://unused",
  maxAttempts: 1,
  fetch: () => Promise.reject(new TypeError("connection lost")),
});
const failed = await failure(ConnectionFailedError, lost.download("http://files/contract.txt?signature=secret"));
equal(failed.message, "GET http://files/contract.txt: no complete response");
