#!/usr/bin/env python3
"""Latency of one token while another sends all that it can: bulk writes, lists with 49 conditions, and writes to a locked record.

    benches/fairness.py                                            # SQLite, in a temporary folder
    CHARTER_DATABASE_URL=postgres://user@host/empty benches/fairness.py

The script starts the server (CHARTER, by default `target/release/charter`), adds PRODUCTS sample records (by default 200,000),
and runs each load by eight threads for SECONDS (by default 15). Meanwhile another token lists, reads and creates products
over one connection for each. The output has the median, the 99th percentile and the maximum in milliseconds, and failures.
"""

import os
import subprocess
import tempfile
import threading
import time

from client import Client, run, serve

PRODUCTS, SECONDS = os.environ.get("PRODUCTS", "200000"), float(os.environ.get("SECONDS", "15"))
PORT, THREADS = 8043, 8
URL = os.environ.get("CHARTER_DATABASE_URL", "")


def until(end, work):
    def run():
        while time.monotonic() < end:
            work()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def bulk(token):
    client, lamp = Client(PORT, token), {"method": "create", "product": {"name": "Lamp"}}
    return lambda: client.send("POST", "/products/bulk", {"operations": [lamp] * 1000})


def conditions(token):
    client, number = Client(PORT, token), [0]

    def run():
        # Each request is another statement, because identical ones share one execution.
        number[0] += 1
        parts = [f"q[name_not_cont]={threading.get_ident() % 1000}x{number[0]}y{part}" for part in range(49)]
        client.send("GET", "/products?" + "&".join(parts))

    return run


def locked(token):
    client = Client(PORT, token)
    return lambda: client.send("PATCH", "/products/1", {"description": str(time.monotonic())})


def measure(name, load, noisy, quiet):
    end = time.monotonic() + SECONDS
    threads = [until(end, load(noisy)) for _ in range(THREADS)] if load else []
    counter, results = iter(range(10**9)), {}
    kinds = {
        "list": lambda client: client.send("GET", f"/products?q[id_gt]={next(counter)}&sort=-id"),
        "record": lambda client: client.send("GET", f"/products/{next(counter) % 1000 + 1}"),
        "write": lambda client: client.send("POST", "/products", {"name": "Quiet"}),
    }
    for kind, request in kinds.items():
        found, client = results.setdefault(kind, []), Client(PORT, quiet)

        def once(found=found, client=client, request=request):
            found.append(request(client))
            time.sleep(0.01)

        threads.append(until(end, once))
    for thread in threads:
        thread.join()
    for kind, found in results.items():
        times = sorted(millis for *_, millis in found)
        failed = sum(status >= 400 for status, *_ in found)
        share = lambda part: times[min(len(times) - 1, int(len(times) * part))]
        print(f"{name:12} {kind:7} n {len(found):5}  p50 {share(0.5):7.1f}  p99 {share(0.99):7.1f}  max {times[-1]:7.1f}  failed {failed}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        command = lambda *arguments: run(folder, PORT, *arguments)
        command("migrate")
        command("user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin")
        few = [part for name in ("members", "stock_levels", "accessories", "activities", "activity_participants") for part in (f"--{name}", "10" if name == "members" else "0")]
        command("seed", "demo", "--products", PRODUCTS, *few)
        noisy, quiet = (command("token", "create", "--user", "bench@example.com", "--name", name, "--ability", "*") for name in ("noisy", "quiet"))
        server = serve(folder, PORT)
        try:
            for token in (noisy, quiet):
                Client(PORT, token).send("GET", "/products/1")
            measure("idle", None, noisy, quiet)
            measure("bulk", bulk, noisy, quiet)
            measure("conditions", conditions, noisy, quiet)
            if URL:
                lock = f"BEGIN; SELECT id FROM products WHERE id = 1 FOR UPDATE; SELECT pg_sleep({SECONDS + 5}); COMMIT"
                other = subprocess.Popen(["psql", "-qAtX", "-d", URL, "-c", lock], stdout=subprocess.DEVNULL)
                time.sleep(1)
                measure("locked", locked, noisy, quiet)
                other.wait()
        finally:
            server.terminate()
            server.wait()


main()
