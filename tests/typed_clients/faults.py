"""Creates records at the same time through a proxy that fails, and deletes others."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from charter_client import ApiClient, ConflictError, etag_of
from support import equal, failure

url, token, count = sys.argv[1:]
api = ApiClient(url, token)


def create(number: int) -> None:
    group = api.product_groups.create({"name": f"Group {number}"})
    equal(group["name"], f"Group {number}")


with ThreadPoolExecutor(10) as pool:
    list(pool.map(create, range(int(count))))

for member in [api.members.create({"name": name}) for name in ("Ada", "Grace", "Mary")]:
    # The first attempt changes the record, so the second one has an old version.
    name = f"{member['name']} L."
    error = failure(
        ConflictError, lambda: api.members.update(member["id"], {"name": name}, if_match=etag_of(member))
    )
    equal((error.status, error.may_have_succeeded), (412, True))
    equal(api.members.show(member["id"])["name"], name)
    api.members.delete(member["id"])
