"""Reads every list with the Python client of openapi-generator. Ids of parents are 1."""

import inspect
import sys

import openapi_client

client = openapi_client.ApiClient(openapi_client.Configuration(host=sys.argv[1], access_token=sys.argv[2]))
count = 0
for api in [kind(client) for name, kind in vars(openapi_client).items() if name.endswith("Api")]:
    for name in dir(api):
        if name.startswith("list_") and not name.endswith(("_with_http_info", "_without_preload_content")):
            method = getattr(api, name)
            parameters = inspect.signature(method).parameters.values()
            ids = {one.name: 1 for one in parameters if one.default is inspect.Parameter.empty}
            page = method(**ids)
            assert page.meta.per_page == 20, f"{name}: {page.meta}"
            count += 1
assert count >= 20, f"only {count} lists"
print(f"Python: {count} lists")
