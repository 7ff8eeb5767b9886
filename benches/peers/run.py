#!/usr/bin/env python3
"""Comparison of Charter with other servers, request by request, in one run.

    benches/peers/run.py BENCH [options of BENCH/run.py] charter limit-sqlx fastapi ...
    benches/peers/run.py BENCH --after-write charter limit-sqlx fastapi ...

BENCH is the folder of the comparison, whose PostgreSQL runs and whose data are loaded (its README says how). The first call
creates Charter's database in the same PostgreSQL, `charter_bench`, with the rows of the other servers and custom fields for
their JSON column. CHARTER is the build to measure, by default `target/release/charter`.

`--after-write` measures R2, R3, R4 and R9 right after a write and once more, one request at a time. It prints medians in
milliseconds.
"""

import itertools
import os
import re
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from comparison import DATABASE, PORT, create_token, database, load, runner, settings, start_script

BINARY = os.environ.get("CHARTER", str(Path(__file__).resolve().parents[2] / "target/release/charter"))

# Charter's spelling of the comparison's requests.
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


def entry(peers, token):
    """Charter's entry in the runner's list of servers: a TOML file and the start script that it names."""
    folder = Path(tempfile.mkdtemp())
    start = start_script(folder / "start-charter.sh", BINARY, settings(peers))
    file = folder / "charter.toml"
    file.write_text(
        f'[server.charter]\nstart = "{start}"\nport = {PORT}\nheaders = "Authorization: Bearer {token}"\n{REQUESTS}'
    )
    return file


def adapt(peers):
    """Has the runner check Charter's answers against Charter's database, and delete and vacuum in both databases."""
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
    """Client with one connection to a server, and the runner's spelling of the requests.

    It parses only the length of a response: Python's own client takes 0.1 ms for each, which would count as the server's.
    """

    def __init__(self, server):
        self.server = server
        to = urlsplit(server.base)
        self.host = to.netloc
        self.to = socket.create_connection((to.hostname, to.port))
        self.to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, request, id=7, n=5):
        """Seconds until the response is complete."""
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
        """The bytes of the next response."""
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.more()
        head, body = answer.split(b"\r\n\r\n", 1)
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        # A response has a length, or chunks of which the last is empty.
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
        # A server may skip an update that changes nothing.
        values = itertools.count(int(time.time()) % 1_000_000)
        for request in ("R2", "R3", "R4", "R9"):
            for number in range(rounds + 3):
                for client in clients:
                    if request not in client.server.R:
                        continue
                    # The id of a live row, a different one each time.
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
    load(peers, BINARY)
    file = entry(peers, create_token(BINARY, settings(peers)))
    if arguments[:1] == ["--after-write"]:
        import tomllib

        conf = tomllib.loads((folder / "peers.toml").read_text())
        conf["server"].update(tomllib.loads(file.read_text())["server"])
        return after_write(peers, [peers.Server(name, conf["server"][name], conf) for name in arguments[1:]])
    sys.argv = ["run.py", "--peers", str(folder / "peers.toml"), "--peers", str(file), *arguments]
    peers.main()


if __name__ == "__main__":
    main()
