#!/usr/bin/env python3
"""How long it takes from an edit of YAML to the answer of a server that has it, under `cargo charter dev`.

    benches/served.py [10 100]

Writes an application of so many resources of 15 fields into a temporary folder, as `cargo charter new` and
`cargo charter migration new` make it, lets `cargo charter dev` serve it on SQLite, and edits it three times each: a filter
is narrowed, a field comes with its migration, a resource comes with its migration. A time ends with the first answer that
shows the edit. It is a debug build; the first one, which is not counted, compiles Charter. TARGET is a folder for what is
compiled that stays.
"""

import contextlib
import http.client
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHARTER = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/cargo-charter"
FIELDS = (
    "name:string! note:text kind:enum(rental|sale|service)=rental status:code(1=Open|2=Closed)=1 code:string(64)"
    " barcode:string(64) is_active:boolean=true weight:decimal(12,4) price:decimal(2) owner:ref(user)"
    " starts_at:timestamp ends_at:timestamp day:date size:integer more:json"
).split()


class Application:
    def __init__(self, folder, count, target):
        self.folder = folder / f"app{count}"
        self.folder.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.environment = {
            **os.environ,
            "CARGO_TARGET_DIR": str(target),
            "CHARTER_LISTEN": f"127.0.0.1:{self.port}",
            "CHARTER_DATA_DIR": str(self.folder / "data"),
            "CHARTER_RATE_LIMIT": "0",
            "CHARTER_LOG": "warn",
        }
        for number in range(count):
            self.new(number)
        self.charter("migration", "new", "start")

    def charter(self, *arguments):
        command = [CHARTER, "charter", *arguments]
        subprocess.run(command, cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def new(self, number):
        self.charter("new", f"thing{number}", *FIELDS)

    def edit(self, number, before, after):
        path = self.folder / f"resources/thing{number}.yaml"
        text, count = re.subn(before, after, path.read_text(), count=1, flags=re.M)
        if count != 1:
            raise SystemExit(f"{before} is not in {path}")
        path.write_text(text)

    def status(self, path):
        with contextlib.suppress(OSError, http.client.HTTPException):
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)) as to:
                to.request("GET", f"/api/v1/{path}", headers={"Authorization": f"Bearer {self.token}"})
                return to.getresponse().status

    def wait(self, path, good):
        begun = time.monotonic()
        while not good(self.status(path)):
            if time.monotonic() - begun > 900:
                raise SystemExit(f"{path} is not served as it should be")
            time.sleep(0.02)

    def measure(self):
        log = open(self.folder / "log", "w+")
        server = subprocess.Popen(
            [CHARTER, "charter", "dev"], cwd=self.folder, env=self.environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            while not (found := re.search(r"chr_\w+", (self.folder / "log").read_text())):
                if server.poll() is not None:
                    raise SystemExit((self.folder / "log").read_text())
                time.sleep(0.2)
            self.token = found[0]
            self.wait("thing0s", lambda status: status == 200)
            figures = {"a filter": [], "a field": [], "a resource": []}
            for turn in range(3):
                begun = time.monotonic()
                self.edit(turn, "^fields:$", "filters: { name: [eq] }\n\nfields:")
                self.wait(f"thing{turn}s?q[name_cont]=x", lambda status: status is not None and 400 <= status < 500)
                figures["a filter"].append(time.monotonic() - begun)
                begun = time.monotonic()
                self.edit(turn, "^fields:$", "fields:\n  added: { type: integer, nullable: true }")
                self.charter("migration", "new", f"added_{turn}")
                self.wait(f"thing{turn}s?fields=added", lambda status: status == 200)
                figures["a field"].append(time.monotonic() - begun)
                begun = time.monotonic()
                self.new(1000 + turn)
                self.charter("migration", "new", f"thing_{1000 + turn}")
                self.wait(f"thing{1000 + turn}s", lambda status: status == 200)
                figures["a resource"].append(time.monotonic() - begun)
            return figures
        finally:
            os.killpg(server.pid, 15)
            server.wait(60)


def main():
    subprocess.run(["cargo", "build", "--quiet", "--workspace", "--bin", "cargo-charter"], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        target = Path(os.environ.get("TARGET", folder / "target"))
        for count in [int(count) for count in sys.argv[1:]] or [10, 100]:
            for what, seconds in Application(folder, count, target).measure().items():
                seconds.sort()
                print(f"{count:>4} resources, {what:<10} {seconds[1]:.1f} s ({seconds[0]:.1f} to {seconds[2]:.1f})", flush=True)


if __name__ == "__main__":
    main()
