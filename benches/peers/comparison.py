"""The comparison's own runner as a module, and Charter's database in the comparison's PostgreSQL."""

import contextlib
import http.client
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

DATABASE = "charter_bench"
PORT = 8020

# Custom fields for the JSON column of the comparison's rows.
CUSTOM_FIELDS = [("bay", "string"), ("colour", "string"), ("warranty_months", "integer"), ("fragile", "boolean")]
# A custom field has an index for each order, and a text field one for equality.
INDEXES = sum(3 if kind == "string" else 2 for _, kind in CUSTOM_FIELDS)

GROUPS = "id, name, description, created_at, updated_at"
PRODUCTS = (
    "id, name, description, product_type, product_group_id, sku, barcode, is_active, stock_method, weight,"
    " replacement_charge, custom_fields, created_at, updated_at, deleted_at"
)


def runner(folder):
    """The comparison's own runner, as a module."""
    spec = importlib.util.spec_from_file_location("peers", folder / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settings(peers, database=DATABASE, port=PORT):
    """Charter's settings. Authentication is on, the rate limit is off."""
    env = peers.ENV
    return {
        "CHARTER_DATABASE_URL": f"postgres://{env['PGUSER']}@{env['PGHOST']}:{env['PGPORT']}/{database}",
        "CHARTER_DATA_DIR": str(Path(env["PEERS_HOME"]) / "charter-data"),
        "CHARTER_DATABASE_POOL": env["POOL"],
        "CHARTER_LISTEN": f"127.0.0.1:{port}",
        "CHARTER_LOG": "warn",
        "CHARTER_RATE_LIMIT": "0",
    }


def run(binary, settings, *arguments):
    """Runs a command of a build to its end and returns its output."""
    return subprocess.check_output([binary, *arguments], env={**os.environ, **settings}, text=True).strip()


def create_token(binary, settings):
    return run(binary, settings, "token", "create", "--user", "bench@example.com", "--name", "bench", "--ability", "*")


def start_script(path, binary, settings):
    """Writes the script with which the comparison's runner starts a build."""
    exports = "".join(f"export {key}='{value}'\n" for key, value in settings.items())
    path.write_text(f"#!/usr/bin/env bash\n{exports}exec '{binary}' serve\n")
    path.chmod(0o755)
    return str(path)


@contextlib.contextmanager
def database(peers, name):
    """Sends the runner's SQL to another database."""
    before, peers.ENV["PGDATABASE"] = peers.ENV["PGDATABASE"], name
    try:
        yield
    finally:
        peers.ENV["PGDATABASE"] = before


@contextlib.contextmanager
def serving(peers, binary):
    log = open(Path(peers.ENV["PEERS_HOME"]) / "charter.log", "w")
    server = subprocess.Popen([binary, "serve"], env={**os.environ, **settings(peers)}, stdout=log, stderr=log)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), contextlib.closing(http.client.HTTPConnection("127.0.0.1", PORT)) as to:
                to.request("GET", "/health/ready")
                if to.getresponse().status == 200:
                    break
            time.sleep(0.1)
        else:
            raise SystemExit("charter does not answer; see its log")
        yield
    finally:
        server.terminate()
        server.wait(30)


def load(peers, binary):
    """Creates and fills Charter's database unless it exists."""
    if peers.psql(f"SELECT count(*) FROM pg_database WHERE datname = '{DATABASE}'") != "0":
        return
    print(f"loading {DATABASE}", file=sys.stderr)
    peers.psql(f'CREATE DATABASE "{DATABASE}"')
    run(binary, settings(peers), "migrate")
    run(binary, settings(peers), "user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin")
    copy(peers, "product_groups", GROUPS)
    copy(peers, "products", PRODUCTS)
    token = create_token(binary, settings(peers))
    with serving(peers, binary):
        for name, kind in CUSTOM_FIELDS:
            define(token, name, kind)
    with database(peers, DATABASE):
        # The first server may have stopped before all indexes were complete.
        with serving(peers, binary):
            while indexes(peers) < INDEXES:
                time.sleep(1)
        peers.psql("VACUUM (ANALYZE, FREEZE)")


def indexes(peers):
    return int(peers.psql("SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relname LIKE 'cf\\_%' AND indisvalid"))


def copy(peers, table, columns):
    """Copies the rows of the other servers' table, through the triggers that maintain totals."""
    psql = [f"{peers.ENV['PG_BIN']}/psql", *peers.DB, "-v", "ON_ERROR_STOP=1"]
    read = subprocess.Popen(
        [*psql, "-d", peers.ENV["PGDATABASE"], "-c", f"COPY (SELECT {columns} FROM {table} ORDER BY id) TO STDOUT"],
        stdout=subprocess.PIPE,
    )
    subprocess.run([*psql, "-d", DATABASE, "-c", f"COPY {table} ({columns}) FROM STDIN"], stdin=read.stdout, check=True)
    with database(peers, DATABASE):
        peers.psql(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")


def define(token, name, kind):
    body = {"entity_type": "products", "name": name, "label": name, "field_type": kind}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", PORT)) as to:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        to.request("POST", "/api/v1/custom_fields", json.dumps(body), headers)
        answer = to.getresponse()
        if answer.status != 201:
            raise SystemExit(f"custom field {name}: {answer.read().decode()}")
