#!/usr/bin/env python3
"""What a request takes while a table grows: the same list of ten thousand, a hundred thousand, a million, ten million products.

    CHARTER_DATABASE_URL=postgres://user@host/postgres benches/growth.py [10000 100000 1000000 10000000]

A database of each size, `charter_growth_<size>`, is made beside the one of the address when it is not there: `charter seed demo`
fills it to ten thousand, the rest are copies of those rows under other names, made in SQL with the indexes away meanwhile.
Then a server for each runs, and all are asked in turn over one connection each, so that what disturbs one disturbs all: each
list right after a write to its table, which is not counted, and again. It prints medians in milliseconds, and the export of the largest as CSV with the memory that it took (PSS), and writes
`docs/performance/growth.svg`. CHARTER is the server, `target/release/charter` otherwise.
EXPORT=0 leaves the export out. Ten million take some 10 GB.
"""

import contextlib
import http.client
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

ROOT = Path(__file__).resolve().parents[1]
BINARY = os.environ.get("CHARTER", str(ROOT / "target/release/charter"))
PORT, SEEDED, ROUNDS = 8041, 10_000, 200
OTHERS = ("members", "stock_levels", "accessories", "activities", "activity_participants", "custom_fields")
REQUESTS = {
    "R1": ("one by id", "/api/v1/products/{id}"),
    "R2": ("page 1, exact total", "/api/v1/products"),
    "R4": ("group, active, page 5", "/api/v1/products?q%5Bproduct_group_id_eq%5D=7&q%5Bis_active_eq%5D=true&page=5"),
    "R5": ("the page in the middle, exact total", "/api/v1/products?page={middle}"),
}
# When a request is asked.
ONCE, AGAIN, WRITTEN = "", "; again", "; after a write"
# So many rows are added by one statement.
STEP = 500_000


def address(database):
    return urlunsplit(urlsplit(os.environ["CHARTER_DATABASE_URL"])._replace(path="/" + database))


def psql(database, sql):
    command = ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", address(database), "-c", sql]
    return subprocess.check_output(command, text=True).strip()


def environment(database, port):
    return {
        **os.environ,
        "CHARTER_DATABASE_URL": address(database),
        "CHARTER_DATA_DIR": tempfile.gettempdir() + "/" + database,
        "CHARTER_LISTEN": f"127.0.0.1:{port}",
        "CHARTER_LOG": "warn",
        "CHARTER_RATE_LIMIT": "0",
    }


def charter(database, *arguments):
    return subprocess.check_output([BINARY, *arguments], env=environment(database, 0), text=True).strip()


def load(size):
    """Makes the database of this size, and answers its name."""
    database = f"charter_growth_{size}"
    postgres = urlsplit(os.environ["CHARTER_DATABASE_URL"]).path[1:]
    if psql(postgres, f"SELECT count(*) FROM pg_database WHERE datname = '{database}'") == "0":
        print(f"loading {database}", file=sys.stderr)
        psql(postgres, f"CREATE DATABASE {database}")
        charter(database, "migrate")
        few = [part for name in OTHERS for part in (f"--{name}", "10" if name == "members" else "0")]
        charter(database, "seed", "demo", "--products", str(min(size, SEEDED)), *few)
        charter(database, "user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin")
        grow(database, size)
        psql(database, "VACUUM (ANALYZE)")
    return database


def grow(database, size):
    where = "FROM pg_indexes WHERE tablename = 'products' AND indexname <> 'products_pkey'"
    indexes = psql(database, f"SELECT indexdef {where}").splitlines()
    for name in psql(database, f"SELECT indexname {where}").splitlines():
        psql(database, f'DROP INDEX "{name}"')
    listed = psql(database, "SELECT string_agg(attname, ',') FROM pg_attribute WHERE attrelid = 'products'::regclass"
                  " AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('id', 'name', 'sku')")
    for first in range(SEEDED, size, STEP):
        times = (min(STEP, size - first) + SEEDED - 1) // SEEDED
        psql(database, f"INSERT INTO products (name, sku, {listed})"
             f" SELECT p.name || ' ' || ({first} + n), p.sku || '-' || ({first} + n), {listed}"
             f" FROM generate_series(1, {times}) AS n, products AS p WHERE p.id <= {SEEDED} ORDER BY n, p.id")
    for index in indexes:
        psql(database, f"SET maintenance_work_mem = '512MB'; {index}")


class Server:
    def __init__(self, size, port):
        self.size, self.port, self.database = size, port, load(size)
        self.token = charter(self.database, "token", "create", "--user", "bench@example.com", "--name", "bench", "--ability", "*")

    def start(self):
        begun = time.perf_counter()
        self.process = subprocess.Popen([BINARY, "serve"], env=environment(self.database, self.port))
        for _ in range(600):
            with contextlib.suppress(OSError), contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as to:
                to.request("GET", "/health/ready")
                if to.getresponse().status == 200:
                    break
            time.sleep(0.005)
        self.ready = time.perf_counter() - begun
        self.to = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def ask(self, path, accept="application/json"):
        """The milliseconds until the whole answer is there, and its bytes."""
        begun = time.perf_counter()
        self.to.request("GET", path, headers={"Authorization": f"Bearer {self.token}", "Accept": accept})
        answer, read = self.to.getresponse(), 0
        if answer.status != 200:
            raise SystemExit(f"{path} was answered {answer.status}")
        while part := answer.read(1 << 20):
            read += len(part)
        return (time.perf_counter() - begun) * 1e3, read

    def write(self, id):
        """Changes a record: to another value each time, or nothing would be written."""
        body = f'{{"replacement_charge":"{time.time_ns() // 1000 % 1_000_000}.25"}}'
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.to.request("PATCH", f"/api/v1/products/{id}", body, headers)
        answer = self.to.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"a write was answered {answer.status}")

    def pss(self):
        lines = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


def export(server):
    """Reads the list of the largest table as CSV; its memory is looked at meanwhile."""
    import threading

    before, most, done = server.pss(), [0.0], threading.Event()

    def watch():
        while not done.wait(0.05):
            most[0] = max(most[0], server.pss())

    watcher = threading.Thread(target=watch)
    watcher.start()
    took, read = server.ask("/api/v1/products", "text/csv")
    done.set()
    watcher.join()
    print(f"\nexport of {server.size:,} as CSV: {took / 1e3:.1f} s, {read / 1e6:,.0f} MB; PSS {before:.1f} MiB before, at most {most[0]:.1f}")


def plot(sizes, medians):
    width, height, left, top = 640, 330, 60, 50
    colours = ["#0b6e4f", "#d08c60", "#7a6c9d", "#4d7ea8"]
    most = max(medians.values()) * 1.2
    x = lambda size: left + (width - left - 150) * (math.log10(size) - math.log10(sizes[0])) / max(1e-9, math.log10(sizes[-1] / sizes[0]))
    y = lambda value: height - 40 - (height - 40 - top) * value / most
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        '<text x="10" y="20" font-size="13" font-weight="bold">Milliseconds of a request, of a list right after a write, while the table grows</text>',
    ]
    for step in range(5):
        value = most * step / 4
        out.append(f'<line x1="{left}" x2="{width - 150}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#dee2e6"/>')
        out.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.1f}</text>')
    for size in sizes:
        out.append(f'<text x="{x(size):.1f}" y="{height - 18}" text-anchor="middle">{size:,}</text>')
    for (request, (title, _)), colour in zip(REQUESTS.items(), colours):
        when = ONCE if request == "R1" else WRITTEN
        points = " ".join(f"{x(size):.1f},{y(medians[request, when, size]):.1f}" for size in sizes)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        last = y(medians[request, when, sizes[-1]])
        out.append(f'<text x="{x(sizes[-1]) + 8:.1f}" y="{last + 4:.1f}" fill="{colour}">{request} {title.split(",")[0]}</text>')
    out.append("</svg>")
    (ROOT / "docs/performance/growth.svg").write_text("\n".join(out) + "\n")


def main():
    if "CHARTER_DATABASE_URL" not in os.environ:
        raise SystemExit(__doc__)
    sizes = [int(argument) for argument in sys.argv[1:]] or [10_000, 100_000, 1_000_000, 10_000_000]
    servers = [Server(size, PORT + number) for number, size in enumerate(sizes)]
    times, first = {}, {}
    try:
        for server in servers:
            server.start()
        for number in range(ROUNDS):
            for request, (_, path) in REQUESTS.items():
                for server in servers:
                    path_of = path.replace("{id}", str(1 + number * 37 % server.size)).replace("{middle}", str(server.size // 40))
                    if request == "R1":
                        tooks = {ONCE: server.ask(path_of)[0]}
                    else:
                        server.write(1 + number * 37 % server.size)
                        tooks = {WRITTEN: server.ask(path_of)[0], AGAIN: server.ask(path_of)[0]}
                    for when, took in tooks.items():
                        first.setdefault((request, server.size), took)
                        # The first times a filter is counted, and then read.
                        if number >= 10:
                            times.setdefault((request, when, server.size), []).append(took)
        medians = {key: statistics.median(values) for key, values in times.items()}
        print("| milliseconds | " + " | ".join(f"{size:,}" for size in sizes) + " | growth | asked first |")
        print("|---|" + "--:|" * (len(sizes) + 2))
        for request, (title, _) in REQUESTS.items():
            for when in (ONCE,) if request == "R1" else (WRITTEN, AGAIN):
                row = [medians[request, when, size] for size in sizes]
                cells = " | ".join(f"{value:.2f}" for value in row)
                print(f"| {request} {title}{when} | {cells} | {row[-1] / row[0]:.2f} | {first[request, sizes[-1]]:.0f} |")
        print("| ready after | " + " | ".join(f"{server.ready * 1e3:.0f}" for server in servers) + " | | |")
        plot(sizes, medians)
        if os.environ.get("EXPORT", "1") == "1":
            export(servers[-1])
    finally:
        for server in servers:
            with contextlib.suppress(AttributeError):
                server.process.terminate()


if __name__ == "__main__":
    main()
