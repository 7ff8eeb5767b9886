#!/usr/bin/env python3
"""Time and exactness of summaries of many products, compared with SQL of the database.

    benches/summary.py                                            # SQLite, in a temporary folder
    CHARTER_DATABASE_URL=postgres://user@host/empty benches/summary.py

The script starts the server (CHARTER, by default `target/release/charter`) and adds PRODUCTS products (by default 1,000,000),
created in the course of four years, in 20 groups. It requests each summary twice: the second response comes from the
response cache. It compares the first one with SQL of its own (Python's `sqlite3` module, or `psql` for PostgreSQL), in which
months are those of Europe/Berlin. It prints milliseconds, groups, the index that the plan uses, and differences.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

from client import Client, run, serve

PRODUCTS = int(os.environ.get("PRODUCTS", "1000000"))
PORT = 8044
URL = os.environ.get("CHARTER_DATABASE_URL", "")
ZONE = ZoneInfo("Europe/Berlin")
GROUPS = 20
# Seconds between two products, which fill four years.
STEP = max(1, 126230400 // PRODUCTS)

# Every 20th product is in no group, and every 50th is deleted. SQLite stores decimals as integers.
SQLITE_ROWS = """
WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {count})
INSERT INTO products (name, product_group_id, product_type, replacement_charge, weight, deleted_at, created_at, updated_at)
SELECT 'Product ' || n, NULLIF(n % {groups}, 0), CASE n % 3 WHEN 0 THEN 'sale' ELSE 'rental' END, n * 7919 % 99999999,
    n % 1000000, CASE n % 50 WHEN 0 THEN '2026-01-01T00:00:00+00:00' END,
    strftime('%Y-%m-%dT%H:%M:%S+00:00', 1640995200 + n * {step} % 126230400, 'unixepoch'), '2026-01-01T00:00:00+00:00' FROM s"""
POSTGRES_ROWS = """
INSERT INTO products (name, product_group_id, product_type, replacement_charge, weight, deleted_at, created_at, updated_at)
SELECT 'Product ' || n, NULLIF(n % {groups}, 0), CASE n % 3 WHEN 0 THEN 'sale' ELSE 'rental' END,
    (n * 7919 % 99999999)::numeric / 100, (n % 1000000)::numeric / 10000, CASE n % 50 WHEN 0 THEN timestamptz '2026-01-01Z' END,
    to_timestamp(1640995200 + n * {step} % 126230400), timestamptz '2026-01-01Z' FROM generate_series(1::bigint, {count}) AS n"""

SUMMARIES = {
    "count": "",
    "sum": "sum=replacement_charge",
    "all functions": "sum=weight&min=weight,created_at&max=weight,created_at&avg=weight",
    "by group": "group=product_group_id",
    "by group, sum": "group=product_group_id&sum=replacement_charge",
    "by month, group, sum": "group=created_at.month,product_group_id&sum=replacement_charge",
    "by month": "group=created_at.month",
    "by day": "group=created_at.day&q[created_at_gteq]=2024-01-01T00:00:00Z",
    "one group, sum": "q[product_group_id_eq]=7&sum=replacement_charge",
    "search, sum": "q[name_cont]=99999&sum=replacement_charge",
}


def send(client, method, path, body=None):
    """The JSON of a successful response, and its milliseconds."""
    status, text, millis = client.send(method, path, body)
    if status not in (200, 201):
        sys.exit(f"{method} {path}: {status} {text.decode()}")
    return json.loads(text), millis


def psql(statement):
    command = ["psql", URL, "--quiet", "--tuples-only", "--no-align", "--field-separator", "\t", "--command", statement]
    return [line.split("\t") for line in subprocess.check_output(command, text=True).splitlines() if line]


def month(text):
    return datetime.fromisoformat(text).astimezone(ZONE).strftime("%Y-%m")


def by_sql(database):
    """The summary by month and group, by SQL of the database: {(month, group): (count, sum)}."""
    if URL:
        local = "to_char(created_at AT TIME ZONE 'Europe/Berlin', 'YYYY-MM')"
        rows = psql(
            f"SELECT {local}, product_group_id, count(*), sum(replacement_charge) FROM products WHERE deleted_at IS NULL GROUP BY 1, 2"
        )
        return {(label, int(group) if group else None): (int(count), Decimal(total)) for label, group, count, total in rows}
    connection = sqlite3.connect(database)
    connection.create_function("month", 1, month, deterministic=True)
    rows = connection.execute(
        "SELECT month(created_at), product_group_id, count(*), sum(replacement_charge) FROM products WHERE deleted_at IS NULL GROUP BY 1, 2"
    )
    return {(label, group): (count, Decimal(total) / 100) for label, group, count, total in rows}


def fill(database, client):
    send(client, "PUT", "/settings", {"timezone": str(ZONE)})
    for number in range(1, GROUPS):
        send(client, "POST", "/product_groups", {"name": f"Group {number}"})
    if URL:
        psql(POSTGRES_ROWS.format(count=PRODUCTS, groups=GROUPS, step=STEP))
        psql("VACUUM ANALYZE products")
        return
    connection = sqlite3.connect(database, isolation_level=None)
    connection.create_function("charter_fold", 1, lambda text: text and text.lower(), deterministic=True)
    connection.execute(SQLITE_ROWS.format(count=PRODUCTS, groups=GROUPS, step=STEP))
    connection.execute("ANALYZE")


def compare(client, database):
    answer, _ = send(client, "GET", "/products/summary?" + SUMMARIES["by month, group, sum"])
    found = {
        (one["group"]["created_at.month"], one["group"]["product_group_id"]): (one["count"], Decimal(one["sum"]["replacement_charge"]))
        for one in answer["summary"]
    }
    expected = by_sql(database)
    differences = [key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key)]
    print(f"{len(found)} groups, {len(differences)} of which differ from SQL {differences[:3]}")
    return not differences


def with_server(folder, token, work):
    server = serve(folder, PORT)
    try:
        return work(Client(PORT, token))
    finally:
        server.terminate()
        server.wait()


def measure(client, database):
    for name, query in SUMMARIES.items():
        path = "/products/summary?" + query
        answer, first = send(client, "GET", path)
        _, second = send(client, "GET", path)
        plan, _ = send(client, "GET", path + "&explain=1")
        indexes = ", ".join(plan["plan"]["statements"][0]["indexes"]) or "no index"
        print(f"{name:22} {first:9.1f} ms  cached {second:6.1f} ms  groups {len(answer['summary']):5}  {indexes}")
    return compare(client, database)


def main():
    # A statement on a debug build takes longer than a client may wait by default.
    os.environ["CHARTER_REQUEST_TIMEOUT"] = "120"
    with tempfile.TemporaryDirectory() as folder:
        command = lambda *arguments: run(folder, PORT, *arguments)
        command("migrate")
        command("user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin")
        token = command("token", "create", "--user", "bench@example.com", "--name", "bench", "--ability", "*")
        database = Path(folder) / "charter.db"
        with_server(folder, token, lambda client: fill(database, client))
        # A new server reads the statistics of the full table.
        is_equal = with_server(folder, token, lambda client: measure(client, database))
    sys.exit(0 if is_equal else 1)


main()
