"""Calls that must not pass the check: ``mypy --strict`` reports an ignored line without an error. Nothing runs them."""

from __future__ import annotations

from charter_client import ApiClient, verify_webhook


def refused(api: ApiClient) -> None:
    # A filter of no field, and values of other types.
    api.products.list(q={"nmae_cont": "lamp"})  # type: ignore[call-overload]
    api.products.list(q={"id_in": 1})  # type: ignore[call-overload]
    api.products.list(q={"id_eq": "1"})  # type: ignore[call-overload]
    api.products.list(q={"product_type_eq": "rent"})  # type: ignore[call-overload]
    # An order, an include and a field that do not exist.
    api.products.list(sort="nmae")  # type: ignore[call-overload]
    api.products.list(include=["productGroups"])  # type: ignore[list-item]
    api.products.list(fields=["nmae"])  # type: ignore[list-item]
    # An iteration has no page.
    api.products.each(page=2)  # type: ignore[call-overload]
    # A field is missing, unknown, of another type, or only read.
    api.products.create({"sku": "L-1"})  # type: ignore[typeddict-item]
    api.products.create({"name": "Lamp", "colour": "red"})  # type: ignore[typeddict-unknown-key]
    api.products.create({"name": "Lamp", "weight": 1.5})  # type: ignore[typeddict-item]
    api.products.update(1, {"created_at": "2026-01-01T00:00:00Z"})  # type: ignore[arg-type]
    # Currencies are only read.
    api.currencies.create({"code": "XXX"})  # type: ignore[attr-defined]
    # A create has no version.
    api.products.create({"name": "Lamp"}, if_match="1")  # type: ignore[call-arg]
    event = verify_webhook("", {}, b"")
    # The type of the data depends on the event.
    event["data"]["product"]  # type: ignore[typeddict-item]
