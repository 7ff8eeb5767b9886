// Calls that must not compile: `tsc` fails if one of them does. Nothing runs them.

import { ApiClient, verifyWebhook } from "./client.js";

export async function refused(api: ApiClient): Promise<void> {
  // @ts-expect-error: a filter of no field
  await api.products.list({ q: { nmae_cont: "lamp" } });
  // @ts-expect-error: the list of a filter is a list
  await api.products.list({ q: { id_in: "1,2" } });
  // @ts-expect-error: an id is a number
  await api.products.list({ q: { id_eq: "1" } });
  // @ts-expect-error: a value of no enum
  await api.products.list({ q: { product_type_eq: "rent" } });
  // @ts-expect-error: an order by no field
  await api.products.list({ sort: "nmae" });
  // @ts-expect-error: an unknown include
  await api.products.list({ include: ["productGroups"] });
  // @ts-expect-error: an unknown field
  await api.products.list({ fields: ["nmae"] });
  // @ts-expect-error: an iteration has no page
  api.products.each({ page: 2 });
  // @ts-expect-error: a required field is missing
  await api.products.create({ sku: "L-1" });
  // @ts-expect-error: an unknown field
  await api.products.create({ name: "Lamp", colour: "red" });
  // @ts-expect-error: a decimal is a text
  await api.products.create({ name: "Lamp", weight: 1.5 });
  // @ts-expect-error: a field that is only read
  await api.products.update(1, { created_at: "2026-01-01T00:00:00Z" });
  // @ts-expect-error: records with selected fields may lack a name
  const name: string = (await api.products.show(1, { fields: ["id"] })).name;
  // @ts-expect-error: currencies are only read
  await api.currencies.create({ code: "XXX" });
  // @ts-expect-error: a create has no version
  await api.products.create({ name }, { ifMatch: "1" });
  const event = await verifyWebhook("", {}, "");
  // @ts-expect-error: the type of the data depends on the event
  event.data.product;
}
