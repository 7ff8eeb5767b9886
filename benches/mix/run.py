#!/usr/bin/env python3
"""The mixed load on a million products: builds of Charter and other servers, loaded in turn with `wrk`.

    benches/mix/run.py BENCH charter=target/release/charter before=old/charter limit-sqlx fastapi

BENCH is the folder of the comparison, as for benches/peers/run.py: its PostgreSQL runs and its data are loaded. NAME=BINARY is
a build of Charter; the other names are servers of the comparison. Each build gets a copy of Charter's database, which is
dropped at the end. `requests.toml` has the requests and their shares.

The script prints medians over the rounds and writes a plot. CPU is in milliseconds a request, from /proc.
"""

import argparse
import contextlib
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "peers"))

import comparison
import plot

MIX = tomllib.loads((HERE / "requests.toml").read_text())
PORT = 8030
MEASURES = [("requests/s", "rps", 0), ("p99 ms", "p99", 0), ("CPU", "cpu", 2), ("PostgreSQL's CPU", "pgcpu", 2)]


def delete_created(peers):
    """Deletes the records that earlier runs created."""
    peers.psql(f"DELETE FROM products WHERE id > {peers.ENV['ROWS']}")
    peers.psql("VACUUM (ANALYZE) products")


@contextlib.contextmanager
def build(peers, conf, name, binary, port):
    """A build of Charter as a server of the comparison, on a database of its own."""
    database = f"charter_mix_{name}"
    with tempfile.TemporaryDirectory() as folder:
        peers.psql(f'DROP DATABASE IF EXISTS "{database}"')
        peers.psql(f'CREATE DATABASE "{database}" TEMPLATE "{comparison.DATABASE}"')
        try:
            settings = comparison.settings(peers, database, port) | {"CHARTER_DATA_DIR": folder}
            with comparison.database(peers, database):
                delete_created(peers)
            comparison.run(binary, settings, "migrate")
            token = comparison.create_token(binary, settings)
            yield peers.Server(name, {
                "start": comparison.start_script(Path(folder) / "start.sh", binary, settings),
                "port": port,
                "headers": f"Authorization: Bearer {token}",
                "R": {"R1": "GET /api/v1/products/{id}"},
            }, conf)
        finally:
            peers.psql(f'DROP DATABASE "{database}" WITH (FORCE)')


def check(servers):
    """Exits unless all servers find the same number of records for the same lists."""
    values = {"id": "500001", "last": "501001", "group": "17", "page": "5", "bay": "91", "text": "A123"}
    for request in MIX["shares"]:
        totals = {}
        for server in servers:
            server.R["check"] = "GET " + re.sub(r"{(\w+)}", lambda name: values[name[1]], server.mix[request])
            answer = server.call("check")
            totals[server.name] = answer["meta"]["total"] if request != "record" else None
        if len(set(totals.values())) > 1:
            raise SystemExit(f"{request}: the totals differ: {totals}")


def load(peers, server, writes, conns, seconds, gzip, seed):
    """Figures of one server, from one run of `wrk`."""
    reads = [((100 - writes) * share / 100, "GET", server.mix[name], "") for name, share in MIX["shares"].items()]
    base = server.mix["base"]
    write = [(writes / 2, "POST", base, MIX["create"]), (writes / 2, "PATCH", base + "/{id}", MIX["update"])]
    headers = {"Content-Type": "application/json", **server.headers, **({"Accept-Encoding": "gzip"} if gzip else {})}
    env = {
        **os.environ,
        "REQUESTS": "\n".join("\t".join(map(str, request)) for request in reads + write),
        "HEADERS": "\n".join(f"{name}: {value}" for name, value in headers.items()),
        "ROWS": peers.ENV["ROWS"],
        "SEED": str(seed),
    }
    postmaster = peers.postmaster()
    before = peers.cpu(server.pid), peers.cpu(postmaster)
    command = ["wrk", "-t1", f"-c{conns}", f"-d{seconds}", "--timeout", "30s", "-s", str(HERE / "load.lua"), server.base]
    out = subprocess.check_output(command, env=env, text=True)
    peers.drain()
    after = peers.cpu(server.pid), peers.cpu(postmaster)
    figures = json.loads(re.search(r"RESULT (.*)", out)[1])
    if figures["errors"] > figures["requests"] / 100:
        print(f"{server.name}: {figures['errors']} errors in {figures['requests']} requests", file=sys.stderr)
    # The requests in progress when `wrk` stops run to their end.
    cpu, pgcpu = ((end - begin) / (figures["requests"] + conns) * 1e3 for begin, end in zip(before, after))
    return {"rps": figures["requests"] / figures["us"] * 1e6, "p99": figures["p99"], "cpu": cpu, "pgcpu": pgcpu}


def print_table(medians, servers):
    heads = [name if index else f"{title}: {name}" for title, *_ in MEASURES for index, name in enumerate(servers)]
    print("| writes | connections | " + " | ".join(heads) + " |\n" + "|--:" * (len(heads) + 2) + "|")
    for writes, conns in dict.fromkeys(key[:2] for key in medians):
        cells = [f"{medians[writes, conns, name][key]:,.{places}f}" for _, key, places in MEASURES for name in servers]
        print(f"| {writes} % | {conns} | " + " | ".join(cells) + " |")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bench", type=Path)
    options.add_argument("servers", nargs="+")
    options.add_argument("--writes", type=int, nargs="+", default=[10, 1], help="percent")
    options.add_argument("--conns", type=int, nargs="+", default=[1, 8, 32])
    options.add_argument("--seconds", type=int, default=4)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--gzip", action="store_true")
    options.add_argument("--plot", type=Path, default=HERE.parents[1] / "docs/performance/mix.svg")
    a = options.parse_args()
    peers = comparison.runner(a.bench.resolve())
    conf = tomllib.loads((a.bench / "peers.toml").read_text())
    builds = dict(word.split("=", 1) for word in a.servers if "=" in word)
    if builds:
        comparison.load(peers, next(iter(builds.values())))
    delete_created(peers)
    runs = {}
    with contextlib.ExitStack() as stack:
        servers = []
        for port, name in enumerate((word.split("=")[0] for word in a.servers), PORT):
            if name in builds:
                server = stack.enter_context(build(peers, conf, name, str(Path(builds[name]).resolve()), port))
            else:
                server = peers.Server(name, conf["server"][name], conf)
            server.mix = MIX["charter" if name in builds else name]
            stack.callback(server.stop)
            server.start()
            servers.append(server)
        check(servers)
        for number, writes, conns in itertools.product(range(a.rounds), a.writes, a.conns):
            for server in random.sample(servers, len(servers)):
                figures = load(peers, server, writes, conns, a.seconds, a.gzip, 1000 * number + conns)
                runs.setdefault((writes, conns, server.name), []).append(figures)
    median = lambda figures: {measure: statistics.median(run[measure] for run in figures) for measure in figures[0]}
    names = [server.name for server in servers]
    medians = {key: median(runs[key]) for key in itertools.product(a.writes, a.conns, names)}
    print_table(medians, names)
    a.plot.write_text(plot.draw({key: figures["rps"] for key, figures in medians.items()}))


if __name__ == "__main__":
    main()
