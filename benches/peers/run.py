#!/usr/bin/env python3
"""Asks Charter what the runner of a comparison asks its servers, in one run with them.

    benches/peers/run.py BENCH [options of BENCH/run.py] charter limit-sqlx fastapi ...
    benches/peers/run.py BENCH --after-write charter limit-sqlx fastapi ...

BENCH is the folder of the comparison, whose PostgreSQL is up and whose data are loaded (its README says how). Charter gets a
database of its own in the same PostgreSQL, `charter_bench`, made on the first call: its migrations, the same rows as every
other server, custom fields for what those rows have in JSON. CHARTER is the server to measure, `target/release/charter`
otherwise. Authentication is on, the limit of requests off.

`--after-write` measures what load does not: each of R3, R4 and R9 asked right after a write, and then asked again, one
request at a time. It prints medians in milliseconds.
"""

import contextlib
import http.client
import importlib.util
import itertools
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "charter_bench"
PORT = 8020
BINARY = os.environ.get("CHARTER", str(ROOT / "target/release/charter"))

# What the comparison's rows have in a JSON column is custom fields here.
CUSTOM_FIELDS = [("bay", "string"), ("colour", "string"), ("warranty_months", "integer"), ("fragile", "boolean")]
# Each has one for either order, and a text one for what it is exactly.
INDEXES = sum(3 if kind == "string" else 2 for _, kind in CUSTOM_FIELDS)

GROUPS = "id, name, description, created_at, updated_at"
PRODUCTS = (
    "id, name, description, product_type, product_group_id, sku, barcode, is_active, stock_method, weight,"
    " replacement_charge, custom_fields, created_at, updated_at, deleted_at"
)

# Charter's spelling of what the comparison asks.
REQUESTS = """
[server.charter.R]
R1 = "GET /api/v1/products/{id}"
R2 = "GET /api/v1/products"
R2n = "GET /api/v1/products?count=none"
R3 = "GET /api/v1/products?q%5Bname_cont%5D=lamp&q%5Bproduct_type_eq%5D=rental&sort=-name"
R4 = "GET /api/v1/products?q%5Bproduct_group_id_eq%5D=17&q%5Bis_active_eq%5D=true&page=5"
R5 = "GET /api/v1/products?page=20000"
R6 = "GET /api/v1/products?q%5Bid_gteq%5D=500001&q%5Bid_lteq%5D=501000&include=productGroup"
R7 = "POST /api/v1/products"
R8 = ["PATCH /api/v1/products/{id}", '{"replacement_charge":"{n}.25"}']
R9 = "GET /api/v1/products?q%5Bcf.bay_eq%5D=B91"
"""


def runner(folder):
    """The comparison's own runner, as a module."""
    spec = importlib.util.spec_from_file_location("peers", folder / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def environment(peers):
    env = peers.ENV
    return {
        **os.environ,
        "CHARTER_DATABASE_URL": f"postgres://{env['PGUSER']}@{env['PGHOST']}:{env['PGPORT']}/{DATABASE}",
        "CHARTER_DATA_DIR": str(Path(env["PEERS_HOME"]) / "charter-data"),
        "CHARTER_DATABASE_POOL": env["POOL"],
        "CHARTER_LISTEN": f"127.0.0.1:{PORT}",
        "CHARTER_LOG": "warn",
        "CHARTER_RATE_LIMIT": "0",
    }


def charter(peers, *arguments):
    return subprocess.check_output([BINARY, *arguments], env=environment(peers), text=True).strip()


@contextlib.contextmanager
def database(peers, name):
    """Lets the runner's SQL go to another database."""
    before, peers.ENV["PGDATABASE"] = peers.ENV["PGDATABASE"], name
    try:
        yield
    finally:
        peers.ENV["PGDATABASE"] = before


@contextlib.contextmanager
def serving(peers):
    log = open(Path(peers.ENV["PEERS_HOME"]) / "charter.log", "w")
    server = subprocess.Popen([BINARY, "serve"], env=environment(peers), stdout=log, stderr=log)
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


def load(peers):
    """Makes the database where it is not there yet, and answers a new token."""
    rows = f"SELECT count(*) FROM pg_database WHERE datname = '{DATABASE}'"
    new = peers.psql(rows) == "0"
    if new:
        print(f"loading {DATABASE}", file=sys.stderr)
        peers.psql(f'CREATE DATABASE "{DATABASE}"')
        charter(peers, "migrate")
        charter(peers, "user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin")
    token = charter(peers, "token", "create", "--user", "bench@example.com", "--name", "bench", "--ability", "*")
    if new:
        copy(peers, "product_groups", GROUPS)
        copy(peers, "products", PRODUCTS)
        with serving(peers):
            for name, kind in CUSTOM_FIELDS:
                define(token, name, kind)
        with database(peers, DATABASE):
            # Where the server did not stay to the end of it.
            with serving(peers):
                while indexes(peers) < INDEXES:
                    time.sleep(1)
            peers.psql("VACUUM (ANALYZE, FREEZE)")
    return token


def indexes(peers):
    return int(peers.psql("SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relname LIKE 'cf\\_%' AND indisvalid"))


def copy(peers, table, columns):
    """The rows of every other server's table, through the triggers that count them."""
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


def entry(peers, token):
    """Charter's entry in the runner's list: a file, and the program that it starts."""
    folder = Path(tempfile.mkdtemp())
    start = folder / "start-charter.sh"
    settings = {k: v for k, v in environment(peers).items() if k.startswith("CHARTER_")}
    exports = "".join(f"export {key}='{value}'\n" for key, value in settings.items())
    start.write_text(f"#!/usr/bin/env bash\n{exports}exec '{BINARY}' serve\n")
    start.chmod(0o755)
    file = folder / "charter.toml"
    file.write_text(
        f'[server.charter]\nstart = "{start}"\nport = {PORT}\nheaders = "Authorization: Bearer {token}"\n{REQUESTS}'
    )
    return file


def adapt(peers):
    """Charter's answers are held against its own database, and what the runner deletes goes from both."""
    ask, check = peers.psql, peers.Server.check

    def psql(sql):
        if peers.ENV["PGDATABASE"] != DATABASE and sql.startswith(("delete from", "vacuum")):
            with database(peers, DATABASE):
                # The comparison turns autovacuum off, and Charter writes to more tables than one.
                ask("VACUUM (ANALYZE)" if sql.startswith("vacuum") else sql)
        return ask(sql)

    def checked(server):
        if server.name != "charter":
            return check(server)
        with database(peers, DATABASE):
            return check(server)

    peers.psql, peers.Server.check = psql, checked


class Client:
    """One connection to a server, with the runner's spelling.

    It reads no more of an answer than where it ends: Python's own client takes a tenth of a millisecond for each, which
    would count as the server's.
    """

    def __init__(self, server):
        self.server = server
        to = urlsplit(server.base)
        self.host = to.netloc
        self.to = socket.create_connection((to.hostname, to.port))
        self.to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, request, id=7, n=5):
        """Seconds until the whole answer is there."""
        method, target, body = self.server.spell(request)
        fill = lambda text: text.replace("{id}", str(id)).replace("{n}", str(n))
        content = fill(body).encode()
        headers = {"Host": self.host, "Content-Type": "application/json", **self.server.headers}
        if content:
            headers["Content-Length"] = len(content)
        lines = [f"{method} {fill(target)} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        message = "\r\n".join([*lines, "", ""]).encode() + content
        begun = time.perf_counter()
        self.to.sendall(message)
        answer = self.read()
        took = time.perf_counter() - begun
        if not answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201", b"HTTP/1.1 204")):
            raise SystemExit(f"{self.server.name}: {request} was answered {answer[:200].decode(errors='replace')}")
        return took

    def read(self):
        """The whole answer, as it came."""
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.more()
        head, body = answer.split(b"\r\n\r\n", 1)
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        # Of known length, or in chunks of which the last is empty.
        while len(body) < int(length[1]) if length else not body.endswith(b"0\r\n\r\n"):
            body += self.more()
        return head + b"\r\n\r\n" + body

    def more(self):
        piece = self.to.recv(65536)
        if not piece:
            raise SystemExit(f"{self.server.name} closed the connection")
        return piece


def after_write(peers, servers, rounds=20):
    figures = {}
    try:
        for server in servers:
            server.start()
            server.check()
        clients = [Client(server) for server in servers]
        # A value that is there already is no write to a server that looks.
        values = itertools.count(int(time.time()) % 1_000_000)
        for request in ("R2", "R3", "R4", "R9"):
            for number in range(rounds + 3):
                for client in clients:
                    if request not in client.server.R:
                        continue
                    # A live row, another each time; both orders are asked of each server in turn.
                    client.call("R8", id=50 * number + 1 + number % 49, n=next(values))
                    first, again = client.call(request), client.call(request)
                    if number >= 3:
                        figures.setdefault((client.server.name, request), []).append((first * 1e3, again * 1e3))
    finally:
        for server in servers:
            server.stop()
    print("| request | server | first after a write, ms | asked again, ms |\n|---|---|---:|---:|")
    for (name, request), pairs in sorted(figures.items(), key=lambda item: item[0][1]):
        first, again = (statistics.median(side) for side in zip(*pairs))
        print(f"| {request} | {name} | {first:.2f} | {again:.2f} |")


def main():
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "run.py").exists():
        raise SystemExit(__doc__)
    folder, arguments = Path(sys.argv[1]).resolve(), sys.argv[2:]
    peers = runner(folder)
    adapt(peers)
    if any(argument == "--report" for argument in arguments):
        sys.argv = ["run.py", *arguments]
        return peers.main()
    file = entry(peers, load(peers))
    if arguments[:1] == ["--after-write"]:
        import tomllib

        conf = tomllib.loads((folder / "peers.toml").read_text())
        conf["server"].update(tomllib.loads(file.read_text())["server"])
        return after_write(peers, [peers.Server(name, conf["server"][name], conf) for name in arguments[1:]])
    sys.argv = ["run.py", "--peers", str(folder / "peers.toml"), "--peers", str(file), *arguments]
    peers.main()


if __name__ == "__main__":
    main()
