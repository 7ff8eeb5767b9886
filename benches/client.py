"""A server in a temporary folder, and a client that keeps its connection: what the scripts of this folder share."""

import http.client
import json
import os
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
BINARY = os.environ.get("CHARTER", str(ROOT / "target/release/charter"))


def environment(folder, port):
    return {
        **os.environ,
        "CHARTER_DATA_DIR": folder,
        "CHARTER_LISTEN": f"127.0.0.1:{port}",
        "CHARTER_LOG": "error",
        "CHARTER_RATE_LIMIT": "0",
    }


def run(folder, port, *arguments):
    """The output of a command of the server."""
    return subprocess.check_output([BINARY, *arguments], env=environment(folder, port), text=True).strip()


def serve(folder, port):
    server = subprocess.Popen([BINARY, "serve"], env=environment(folder, port), stdout=subprocess.DEVNULL)
    time.sleep(3)
    return server


class Client:
    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=150)
        self.headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}

    def send(self, method, path, body=None):
        """The status, the body and the milliseconds of a request."""
        start = time.monotonic()
        self.connection.request(method, "/api/v1" + quote(path, safe="/?&=,[]%:"), body and json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, text, (time.monotonic() - start) * 1000
