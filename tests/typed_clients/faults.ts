// Creates records at the same time through a proxy that fails, and deletes others.

import { ApiClient, ConflictError, etagOf } from "./client.js";
import { argument, equal, failure } from "./support.js";

const api = new ApiClient({ baseUrl: argument(0), token: argument(1) });
const count = Number(argument(2));
const numbers = Array.from({ length: count }, (_, index) => index);

async function worker(): Promise<void> {
  for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
    const group = await api.productGroups.create({ name: `Group ${number}` });
    equal(group.name, `Group ${number}`);
  }
}
await Promise.all(Array.from({ length: 10 }, worker));

const members = await Promise.all(["Ada", "Grace", "Mary"].map((name) => api.members.create({ name })));
for (const member of members) {
  // The first attempt changes the record, so the second one has an old version.
  const error = await failure(
    ConflictError,
    api.members.update(member.id, { name: `${member.name} L.` }, { ifMatch: etagOf(member) }),
  );
  equal([error.status, error.mayHaveSucceeded], [412, true]);
  equal((await api.members.show(member.id)).name, `${member.name} L.`);
  await api.members.delete(member.id);
}
