"""Calls every operation of the records service, and prints their number."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Dict

import httpx

from charter_client import (
    ApiClient,
    ConflictError,
    CustomFieldName,
    NotFoundError,
    UnauthorizedError,
    Upload,
    ValidationError,
    etag_of,
)
from support import Recorder, answered, equal, failure

base_url, api_token, receiver = sys.argv[1:]
recorder = Recorder()
api = ApiClient(base_url, api_token, http=httpx.Client(transport=recorder))


class Under:
    """The operations of records below a parent."""

    def __init__(self, resource: Any, parent: int, end: str = "") -> None:
        self._resource = resource
        self._parent = parent
        self._end = end

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._resource, name + self._end)
        return lambda *values, **named: method(self._parent, *values, **named)


def lists(resource: Any) -> int:
    page = resource.list(per_page=1)
    equal(page["meta"]["per_page"], 1)
    count = sum(1 for _ in resource.each(per_page=1))
    equal(count, page["meta"]["total"])
    equal(resource.summary()["summary"][0]["count"], count)
    return count


def writes(resource: Any, body: Callable[[int], Any], change: Any, other: Any) -> Any:
    """Calls the operations of a resource and returns a record that stays."""
    created = resource.create(body(1))
    shown = resource.show(created["id"])
    equal(etag_of(shown), etag_of(created))
    resource.update(created["id"], change, if_match=etag_of(shown))
    error = failure(ConflictError, lambda: resource.update(created["id"], other, if_match=etag_of(shown)))
    equal((error.status, error.code, error.may_have_succeeded), (412, "precondition_failed", False))
    resource.patch(created["id"], other)
    second, third = resource.create(body(2)), resource.create(body(3))
    results = resource.bulk({"operations": [{"method": "delete", "id": second["id"]}]})
    equal([result["status"] for result in results], [204])
    resource.delete(third["id"])
    equal(failure(NotFoundError, lambda: resource.delete(third["id"])).code, "not_found")
    equal(lists(resource) > 0, True)
    return resource.show(created["id"])


group = writes(api.product_groups, lambda n: {"name": f"Lights {n}"}, {"description": "On"}, {"description": "Off"})
tax = writes(api.tax_classes, lambda n: {"name": f"Tax {n}"}, {"percentage": "20"}, {"percentage": "17.5"})
member = writes(api.members, lambda n: {"name": f"Ada {n}"}, {"is_active": False}, {"is_active": True})
writes(
    api.custom_fields,
    lambda n: {"entity_type": "products", "name": f"colour{n}", "field_type": "string"},
    {"label": "Colour"},
    {"label": "Color"},
)


def lamp(number: int) -> Dict[str, Any]:
    return {
        "name": f"Lamp, {number}",
        "sku": f"L-{number}",
        "product_group_id": group["id"],
        "tax_class_id": tax["id"],
        "weight": "1.5",
        "custom_fields": {"colour1": "red"},
    }


product = writes(api.products, lamp, {"name": "Stand, 1"}, {"name": "Lamp, 1"})
equal(product["weight"], "1.5000")
api.stock_levels.create({"product_id": product["id"]})
writes(
    api.stock_levels,
    lambda n: {"product_id": product["id"], "location": f"Shelf {n}"},
    {"quantity_held": "2"},
    {"quantity_held": "3"},
)

# Filters, orders, selected fields and includes.
filtered = api.products.list(
    q={"name_in": ["Lamp, 1", "none"], "weight_gteq": "1.5", "is_active_true": True},
    q_extra={"cf.colour1_eq": "red", "product_group.name_cont": "light", "sku_or_name_cont": "lamp"},
    filters=[{"field": "id", "predicate": "eq", "value": product["id"]}],
    sort=CustomFieldName("-cf.colour1"),
    include=["productGroup", "stockLevels"],
)
found = filtered["products"][0]
owner = found["product_group"]
equal(owner and owner["name"], group["name"])
equal(len(found["stock_levels"]), 2)
selected = api.products.list(q={"id_in": [product["id"], 0]}, fields=["id", "name"])
equal(selected["products"], [{"id": product["id"], "name": product["name"]}])
equal(api.products.show(product["id"], fields=["sku"])["sku"], "L-1")
equal(api.products.list(q={"id_eq": product["id"]}, fields=[])["products"], [{}])
problems = failure(ValidationError, lambda: api.products.list(q={"id_in": []}))
equal(list(problems.errors), ["q[id_in]"])
# Conditions on the records of a relation.
shelves = {"quantity_held_gteq": "0", "location_in": ["Shelf 1", "Shelf 2"]}
stocked = api.products.list(q={"name_eq": product["name"]}, q_extra={"stockLevels.some": shelves}, fields=["id"])
equal(stocked["products"], [{"id": product["id"]}])
unstocked = api.products.list(q_extra={"stockLevels.some": shelves, "stockLevels.none": {"id_not_null": True}})
equal(unstocked["products"], [])
problems = failure(ValidationError, lambda: api.products.list(q_extra={"stockLevels.some": {}}))
equal(list(problems.errors), ["q[stockLevels.some]"])

api.products.delete(product["id"])
equal(product["id"] in [one["id"] for one in api.products.list(deleted="only", sort="-id")["products"]], True)
equal(api.products.restore(product["id"])["name"], product["name"])

parts = [api.products.create({"name": f"Bulb {n}"})["id"] for n in range(3)]
accessories = Under(api.accessories, product["id"])
writes(accessories, lambda n: {"accessory_product_id": parts[n - 1]}, {"quantity": "2"}, {"quantity": "3"})

activity = writes(
    api.activities,
    lambda n: {
        "subject": f"Call {n}",
        "regarding_type": "Member",
        "regarding_id": member["id"],
        "participants": [{"member_id": member["id"]}],
    },
    {"priority": 2},
    {"priority": 1},
)
equal(api.activities.complete(activity["id"])["completed"], True)

lists(api.currencies)
euro = api.currencies.list(q={"code_eq": "EUR"})["currencies"][0]
equal(api.currencies.show(euro["id"])["code"], "EUR")
writes(
    api.exchange_rates,
    lambda n: {
        "source_currency_code": "GBP",
        "target_currency_code": "EUR",
        "rate": "1.25",
        "effective_at": f"2026-01-0{n}T00:00:00Z",
    },
    {"rate": "1.5"},
    {"rate": "1.25"},
)
conversion = api.exchange_rates.convert(from_="GBP", to="EUR", amount="2", at="2026-01-02T00:00:00Z")
equal((conversion["from"], conversion["result"]), ("GBP", "2.50"))
settings = api.settings.show()
api.settings.update({"company_name": "Lights"}, if_match=etag_of(settings))
equal(api.settings.patch({"company_name": "Lamps"})["company_name"], "Lamps")

role = writes(
    api.roles,
    lambda n: {"name": f"Role {n}", "abilities": ["products:read"]},
    {"description": "Reads"},
    {"description": "Looks"},
)
user = writes(
    api.users,
    lambda n: {"name": f"User {n}", "email": f"user{n}@example.com", "role_ids": [role["id"]]},
    {"name": "Grace"},
    {"name": "Mary"},
)
answered(lambda: api.users.invite(user["id"]))
answered(lambda: api.users.remove_second_factor(user["id"]))
answered(lambda: api.users.unlink_identity(user["id"]))
equal(api.users.deactivate(user["id"])["is_active"], False)
api.users.erase(user["id"])
writes(
    api.tokens,
    lambda n: {"name": f"Token {n}", "abilities": ["products:read"]},
    {"name": "Reader"},
    {"name": "Looker"},
)
token = api.tokens.create({"name": "Reader", "abilities": ["products:read"]})
with ApiClient(base_url, token["value"]) as reader:
    equal(reader.products.list(per_page=1)["meta"]["per_page"], 1)
with ApiClient(base_url, "chr_none") as stranger:
    denied = failure(UnauthorizedError, lambda: stranger.products.list())
equal((denied.code, bool(denied.request_id)), ("invalid_token", True))

view = writes(
    api.custom_views,
    lambda n: {"name": f"View {n}", "entity_type": "products", "columns": ["name"]},
    {"columns": ["sku"]},
    {"columns": ["name", "sku"]},
)
equal(api.custom_views.clone(view["id"])["columns"], ["name", "sku"])
equal(sorted(api.products.list(view_id=view["id"])["products"][0]), ["id", "name", "sku"])

hook = writes(
    api.webhooks,
    lambda n: {"url": f"{receiver}/{n}", "events": ["product.created"], "when": "weight >= 0"},
    {"events": ["*"], "when": ""},
    {"is_active": True},
)
equal(api.webhooks.test(hook["id"])["delivered"], True)
equal(api.webhooks.rotate_secret(hook["id"])["secret"].startswith("whsec_"), True)
api.webhooks.recover(hook["id"], {"since": hook["created_at"]})
equal(lists(Under(api.logs, hook["id"])) > 0, True)
log = api.logs.list(hook["id"], q={"event_eq": "webhook.test"})["logs"][0]
equal(api.logs.show(hook["id"], log["id"])["id"], log["id"])
equal(api.logs.request(hook["id"], log["id"])["method"], "POST")
equal(api.logs.resend(hook["id"], log["id"])["delivered"], True)

attachment = api.attachments.create(
    {
        "file": Upload("a, b.txt", "Zoë".encode(), "text/plain"),
        "attachable_type": "Member",
        "attachable_id": member["id"],
        "category": "note",
    }
)
equal((attachment["original_name"], attachment["file_size"]), ("a, b.txt", 4))
equal(api.download(api.attachments.show(attachment["id"])["url"]).decode(), "Zoë")
equal(lists(Under(api.attachments, member["id"], "_of_members")), 1)
api.attachments.delete(attachment["id"])

upload = api.imports.create(
    {
        "file": Upload("products.csv", b"Article,sku\r\nTable,T-1\r\nChair,T-2\r\n"),
        "entity_type": "products",
        "mapping": {"Article": "name", "sku": "sku"},
    }
)


def wait_for(status: str) -> None:
    while api.imports.show(upload["id"])["status"] != status:
        time.sleep(0.05)


api.imports.update(upload["id"], {"match_by": "sku"})
api.imports.patch(upload["id"], {"mapping": {"Article": "name", "sku": "sku"}})
api.imports.rehearse(upload["id"])
wait_for("rehearsed")
api.imports.run(upload["id"])
wait_for("done")
equal(api.imports.show(upload["id"])["created_count"], 2)
equal(lists(Under(api.import_rows, upload["id"])), 2)
row = api.import_rows.list(upload["id"])["import_rows"][0]
equal(api.import_rows.show(upload["id"], row["id"])["id"], row["id"])
api.imports.undo(upload["id"])
wait_for("undone")
answered(lambda: api.imports.cancel(upload["id"]))
lists(api.imports)
answered(lambda: api.imports.delete(upload["id"]))

equal(lists(api.audit_entries) > 50, True)
entry = api.audit_entries.list(per_page=1, sort="-id")["audit_entries"][0]
equal(api.audit_entries.show(entry["id"])["id"], entry["id"])

api.service.health_live()
api.service.health_ready()
equal("charter_" in api.service.health_metrics(), True)
equal(len(api.service.search(q="Lamp", resources=["products"])["data"]) > 0, True)

missing, count = recorder.missing(api.service.describe_api())
equal(missing, [])
print(count)
