"""A tour of the MCP endpoint with the public client: finds a product, rehearses a change, makes it, and is refused.

Arguments: the URL of the endpoint, the token of an editor of products, one that may only read products, and one with
every ability.
"""

import asyncio
import json
import sys

from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def connect(url, token):
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    return Client(streamable_http_client(url, http_client=http))


async def tools_of(client):
    """All tools by name, from every page."""
    tools, cursor = {}, None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools.update({tool.name: tool for tool in page.tools})
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def call(client, tool, **arguments):
    """The JSON of a call that succeeds."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def refused(client, tool, **arguments):
    """The JSON of a call that is refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return result.structured_content


async def edit(url, token):
    async with connect(url, token) as client:
        assert client.protocol_version == "2025-06-18", client.protocol_version
        assert "dry_run" in client.instructions and client.server_info.name == "charter"
        tools = await tools_of(client)
        assert {"list_products", "show_product", "update_product"} <= tools.keys(), tools.keys()
        assert not {"create_product", "list_members"} & tools.keys(), tools.keys()
        assert tools["list_products"].annotations.read_only_hint
        schema = tools["update_product"].input_schema
        assert schema["required"] == ["id", "dry_run"], schema

        found = await call(client, "list_products", q={"name_cont": "lamp"}, fields=["id", "name"])
        assert [product["name"] for product in found["products"]] == ["Lamp"], found
        product_id = found["products"][0]["id"]
        etag = (await call(client, "show_product", id=product_id))["etag"]

        change = {"id": product_id, "weight": "2.5", "if_match": etag}
        rehearsed = await call(client, "update_product", dry_run=True, **change)
        assert rehearsed["dry_run"] and rehearsed["product"]["weight"] == "2.5000", rehearsed
        assert rehearsed["changes"]["weight"] == {"before": "0.0000", "after": "2.5000"}, rehearsed
        shown = await call(client, "show_product", id=product_id)
        assert shown["product"]["weight"] == "0.0000" and shown["etag"] == etag, "a rehearsal changes nothing"

        changed = await call(client, "update_product", dry_run=False, **change)
        assert changed["product"]["weight"] == "2.5000" and changed["etag"] != etag, changed
        stale = await refused(client, "update_product", dry_run=False, **change)
        assert stale["code"] == "precondition_failed", stale
        invalid = await refused(client, "update_product", dry_run=True, id=product_id, weight="heavy")
        assert invalid["code"] == "validation_failed" and "weight" in invalid["errors"], invalid
        undecided = await refused(client, "update_product", id=product_id, weight="3")
        assert "dry_run" in undecided["errors"], undecided
        denied = await refused(client, "create_product", dry_run=False, name="Spot")
        assert denied["code"] == "ability_missing", denied


async def read(url, token):
    async with connect(url, token) as client:
        tools = await tools_of(client)
        assert tools and all(tool.annotations.read_only_hint for tool in tools.values()), tools.keys()
        found = await call(client, "list_products", search="lamp")
        product = found["products"][0]
        assert product["weight"] == "2.5000", product
        denied = await refused(client, "update_product", id=product["id"], weight="3", dry_run=False)
        assert denied["code"] == "ability_missing", denied


async def check_schemas(url, token):
    async with connect(url, token) as client:
        tools = await tools_of(client)
        for tool in tools.values():
            Draft202012Validator.check_schema(tool.input_schema)
        fits = lambda tool, arguments: Draft202012Validator(tools[tool].input_schema).is_valid(arguments)
        assert fits("update_product", {"id": 1, "tax_class_id": "", "weight": 2.5, "dry_run": True})
        assert not fits("update_product", {"id": 1, "weight": 2.5})
        assert not fits("update_product", {"id": 1, "stock_method": "Bulk", "dry_run": True})


async def tour(url, editor, reader, everyone):
    await edit(url, editor)
    await read(url, reader)
    await check_schemas(url, everyone)


asyncio.run(tour(*sys.argv[1:]))
print("The tour is complete.")
