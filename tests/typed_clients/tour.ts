// Calls every operation of the records service, and prints their number.

import {
  ApiClient,
  ConflictError,
  NotFoundError,
  UnauthorizedError,
  ValidationError,
  etagOf,
  type ListSummary,
  type Meta,
} from "./client.js";
import { Recorder, answered, argument, equal, failure } from "./support.js";

const recorder = new Recorder();
const baseUrl = argument(0);
const api = new ApiClient({ baseUrl, token: argument(1), fetch: recorder.fetch });

/** The operations of a list. */
interface Lists {
  list(params?: { per_page?: number }): Promise<{ meta: Meta }>;
  each(params?: { per_page?: number }): AsyncGenerator<{ id: number }, void, undefined>;
  summary(): Promise<ListSummary>;
}

/** The operations of a resource that is read and written. */
interface Resource<R, C, U> extends Lists {
  show(id: number): Promise<NoInfer<R>>;
  create(body: C): Promise<NoInfer<R>>;
  update(id: number, body: U, options?: { ifMatch?: string }): Promise<R>;
  patch(id: number, body: U): Promise<R>;
  delete(id: number): Promise<void>;
  bulk(body: { operations: readonly { method: "delete"; id: number }[] }): Promise<readonly { status: number }[]>;
}

async function lists(resource: Lists): Promise<number> {
  const page = await resource.list({ per_page: 1 });
  equal(page.meta.per_page, 1);
  let count = 0;
  for await (const record of resource.each({ per_page: 1 })) {
    equal(typeof record.id, "number");
    count += 1;
  }
  equal(count, page.meta.total);
  equal((await resource.summary()).summary[0]?.count, count);
  return count;
}

/** Calls the operations of a resource and returns a record that stays. */
async function writes<R extends { id: number }, C, U>(
  resource: Resource<R, C, U>,
  body: (number: number) => C,
  [change, other]: [U, U],
): Promise<R> {
  const created = await resource.create(body(1));
  const shown = await resource.show(created.id);
  equal(shown.id, created.id);
  equal(etagOf(shown), etagOf(created));
  const changed = await resource.update(created.id, change, { ifMatch: etagOf(shown) });
  const error = await failure(ConflictError, resource.update(created.id, other, { ifMatch: etagOf(shown) }));
  equal([error.status, error.code, error.mayHaveSucceeded], [412, "precondition_failed", false]);
  await resource.patch(created.id, other);
  equal(changed.id, created.id);
  const [second, third] = [await resource.create(body(2)), await resource.create(body(3))];
  const results = await resource.bulk({ operations: [{ method: "delete", id: second.id }] });
  equal(results.map((result) => result.status), [204]);
  await resource.delete(third.id);
  equal((await failure(NotFoundError, resource.delete(third.id))).code, "not_found");
  equal((await lists(resource)) > 0, true);
  return resource.show(created.id);
}

const group = await writes(api.productGroups, (n) => ({ name: `Lights ${n}` }), [{ description: "On" }, { description: "Off" }]);
const tax = await writes(api.taxClasses, (n) => ({ name: `Tax ${n}` }), [{ percentage: "20" }, { percentage: "17.5" }]);
const member = await writes(api.members, (n) => ({ name: `Ada ${n}` }), [{ is_active: false }, { is_active: true }]);
await writes(
  api.customFields,
  (n) => ({ entity_type: "products", name: `colour${n}`, field_type: "string" }),
  [{ label: "Colour" }, { label: "Color" }],
);
const product = await writes(
  api.products,
  (n) => ({ name: `Lamp, ${n}`, sku: `L-${n}`, product_group_id: group.id, tax_class_id: tax.id, weight: "1.5", custom_fields: { colour1: "red" } }),
  [{ name: "Stand, 1" }, { name: "Lamp, 1" }],
);
equal(product.weight, "1.5000");
await api.stockLevels.create({ product_id: product.id });
await writes(api.stockLevels, (n) => ({ product_id: product.id, location: `Shelf ${n}` }), [{ quantity_held: "2" }, { quantity_held: "3" }]);

// Filters, orders, selected fields and includes.
const filtered = await api.products.list({
  q: { name_in: ["Lamp, 1", "none"], weight_gteq: "1.5", is_active_true: true, "cf.colour1_eq": "red", "product_group.name_cont": "light", sku_or_name_cont: "lamp" },
  filters: [{ field: "id", predicate: "eq", value: product.id }],
  sort: "-cf.colour1",
  include: ["productGroup", "stockLevels"],
});
equal([filtered.products[0]?.product_group?.name, filtered.products[0]?.stock_levels?.length], [group.name, 2]);
equal((await api.products.list({ q: { id_in: [product.id, 0] }, fields: ["id", "name"] })).products, [{ id: product.id, name: product.name }]);
equal((await api.products.show(product.id, { fields: ["sku"] })).sku, "L-1");
equal((await api.products.list({ q: { id_eq: product.id }, fields: [] })).products, [{}]);
const problems = await failure(ValidationError, api.products.list({ q: { id_in: [] } }));
equal(Object.keys(problems.errors), ["q[id_in]"]);
// Conditions on the records of a relation.
const stocked = { "stockLevels.some": { quantity_held_gteq: "0", location_in: ["Shelf 1", "Shelf 2"] }, name_eq: product.name };
equal((await api.products.list({ q: stocked, fields: ["id"] })).products, [{ id: product.id }]);
equal((await api.products.list({ q: { ...stocked, "stockLevels.none": { id_not_null: true } } })).products, []);
const empty = await failure(ValidationError, api.products.list({ q: { "stockLevels.some": {} } }));
equal(Object.keys(empty.errors), ["q[stockLevels.some]"]);

await api.products.delete(product.id);
equal((await api.products.list({ deleted: "only", sort: "-id" })).products.some((one) => one.id === product.id), true);
equal((await api.products.restore(product.id)).name, product.name);

const part = await api.products.create({ name: "Bulb" });
const parts = [part.id, part.id + 1, part.id + 2];
await api.products.bulk({ operations: [1, 2].map((n) => ({ method: "create" as const, product: { name: `Bulb ${n}` } })) });
await writes(
  {
    list: (params) => api.accessories.list(product.id, params),
    each: (params) => api.accessories.each(product.id, params),
    summary: () => api.accessories.summary(product.id),
    show: (id) => api.accessories.show(product.id, id),
    create: (body: Parameters<typeof api.accessories.create>[1]) => api.accessories.create(product.id, body),
    update: (id, body: Parameters<typeof api.accessories.update>[2], options) => api.accessories.update(product.id, id, body, options),
    patch: (id, body) => api.accessories.patch(product.id, id, body),
    delete: (id) => api.accessories.delete(product.id, id),
    bulk: (body) => api.accessories.bulk(product.id, body),
  },
  (n) => ({ accessory_product_id: parts[n - 1] ?? 0 }),
  [{ quantity: "2" }, { quantity: "3" }],
);

const activity = await writes(
  api.activities,
  (n) => ({ subject: `Call ${n}`, regarding_type: "Member" as const, regarding_id: member.id, participants: [{ member_id: member.id }] }),
  [{ priority: 2 }, { priority: 1 }],
);
equal((await api.activities.complete(activity.id)).completed, true);

await lists(api.currencies);
const [euro] = (await api.currencies.list({ q: { code_eq: "EUR" } })).currencies;
equal((await api.currencies.show(euro?.id ?? 0)).code, "EUR");
await writes(
  api.exchangeRates,
  (n) => ({ source_currency_code: "GBP", target_currency_code: "EUR", rate: "1.25", effective_at: `2026-01-0${n}T00:00:00Z` }),
  [{ rate: "1.5" }, { rate: "1.25" }],
);
equal((await api.exchangeRates.convert({ from: "GBP", to: "EUR", amount: "2", at: "2026-01-02T00:00:00Z" })).result, "2.50");
const settings = await api.settings.show();
await api.settings.update({ company_name: "Lights" }, { ifMatch: etagOf(settings) });
equal((await api.settings.patch({ company_name: "Lamps" })).company_name, "Lamps");

const role = await writes(api.roles, (n) => ({ name: `Role ${n}`, abilities: ["products:read"] }), [{ description: "Reads" }, { description: "Looks" }]);
const user = await writes(
  api.users,
  (n) => ({ name: `User ${n}`, email: `user${n}@example.com`, role_ids: [role.id] }),
  [{ name: "Grace" }, { name: "Mary" }],
);
await answered(api.users.invite(user.id));
await answered(api.users.removeSecondFactor(user.id));
await answered(api.users.unlinkIdentity(user.id));
equal((await api.users.deactivate(user.id)).is_active, false);
await api.users.erase(user.id);
await writes(api.tokens, (n) => ({ name: `Token ${n}`, abilities: ["products:read"] }), [{ name: "Reader" }, { name: "Looker" }]);
const token = await api.tokens.create({ name: "Reader", abilities: ["products:read"] });
equal((await new ApiClient({ baseUrl, token: token.value }).products.list({ per_page: 1 })).meta.per_page, 1);
const denied = await failure(UnauthorizedError, new ApiClient({ baseUrl, token: "chr_none" }).products.list());
equal([denied.code, typeof denied.requestId], ["invalid_token", "string"]);

const view = await writes(
  api.customViews,
  (n) => ({ name: `View ${n}`, entity_type: "products", columns: ["name"] }),
  [{ columns: ["sku"] }, { columns: ["name", "sku"] }],
);
equal((await api.customViews.clone(view.id)).columns, ["name", "sku"]);
equal(Object.keys((await api.products.list({ view_id: view.id })).products[0] ?? {}).sort(), ["id", "name", "sku"]);

const receiver = argument(2);
const hook = await writes(api.webhooks, (n) => ({ url: `${receiver}/${n}`, events: ["product.created"], when: "weight >= 0" }), [{ events: ["*"], when: "" }, { is_active: true }]);
equal((await api.webhooks.test(hook.id)).delivered, true);
equal((await api.webhooks.rotateSecret(hook.id)).secret.startsWith("whsec_"), true);
await api.webhooks.recover(hook.id, { since: hook.created_at });
const logs = {
  list: (params?: { per_page?: number }) => api.logs.list(hook.id, params),
  each: (params?: { per_page?: number }) => api.logs.each(hook.id, params),
  summary: () => api.logs.summary(hook.id),
};
equal((await lists(logs)) > 0, true);
const [log] = (await api.logs.list(hook.id, { q: { event_eq: "webhook.test" } })).logs;
equal((await api.logs.show(hook.id, log?.id ?? 0)).id, log?.id);
equal((await api.logs.request(hook.id, log?.id ?? 0)).method, "POST");
equal((await api.logs.resend(hook.id, log?.id ?? 0)).delivered, true);

const file = { name: "a, b.txt", content: new TextEncoder().encode("Zoë"), type: "text/plain" };
const attachment = await api.attachments.create({ file, attachable_type: "Member", attachable_id: member.id, category: "note" });
equal([attachment.original_name, attachment.file_size], ["a, b.txt", 4]);
equal(new TextDecoder().decode(await api.download((await api.attachments.show(attachment.id)).url)), "Zoë");
const attached = {
  list: (params?: { per_page?: number }) => api.attachments.listOfMembers(member.id, params),
  each: (params?: { per_page?: number }) => api.attachments.eachOfMembers(member.id, params),
  summary: () => api.attachments.summaryOfMembers(member.id),
};
equal(await lists(attached), 1);
await api.attachments.delete(attachment.id);

const csv = { name: "products.csv", content: "Article,sku\r\nTable,T-1\r\nChair,T-2\r\n" };
const upload = await api.imports.create({ file: csv, entity_type: "products", mapping: { Article: "name", sku: "sku" } });
const state = async (...expected: string[]) => {
  for (let status = ""; !expected.includes(status); ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    status = (await api.imports.show(upload.id)).status;
  }
};
await api.imports.update(upload.id, { match_by: "sku" });
await api.imports.patch(upload.id, { mapping: { Article: "name", sku: "sku" } });
await api.imports.rehearse(upload.id);
await state("rehearsed");
await api.imports.run(upload.id);
await state("done");
equal((await api.imports.show(upload.id)).created_count, 2);
const rows = {
  list: (params?: { per_page?: number }) => api.importRows.list(upload.id, params),
  each: (params?: { per_page?: number }) => api.importRows.each(upload.id, params),
  summary: () => api.importRows.summary(upload.id),
};
equal(await lists(rows), 2);
const [row] = (await api.importRows.list(upload.id)).import_rows;
equal((await api.importRows.show(upload.id, row?.id ?? 0)).id, row?.id);
await api.imports.undo(upload.id);
await state("undone");
await answered(api.imports.cancel(upload.id));
await lists(api.imports);
await answered(api.imports.delete(upload.id));

equal((await lists(api.auditEntries)) > 50, true);
const [entry] = (await api.auditEntries.list({ per_page: 1, sort: "-id" })).audit_entries;
equal((await api.auditEntries.show(entry?.id ?? 0)).id, entry?.id);

await api.service.healthLive();
await api.service.healthReady();
equal((await api.service.healthMetrics()).includes("charter_"), true);
equal((await api.service.search({ q: "Lamp", resources: ["products"] })).data.length > 0, true);

const { missing, count } = recorder.missing((await api.service.describeApi()) as Parameters<Recorder["missing"]>[0]);
equal(missing, []);
console.log(count);
