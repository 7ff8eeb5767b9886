#!/usr/bin/env python3
"""Times single requests over one kept connection, plain and with gzip, as browsers and most HTTP clients ask.

    TOKEN=chr_... benches/kept.py [http://127.0.0.1:8000] [PATH ...]

The server runs already. Prints the median of 60 requests in milliseconds, with the client's own part, and the bytes of the
body. An answer that goes out in several small writes shows as 40 ms more: the client delays its acknowledgement.
"""

import os
import re
import socket
import statistics
import sys
import time
from urllib.parse import urlsplit

REQUESTS = 60
PATHS = ["/products?per_page=100", "/currencies?per_page=100", "/products", "/products/1"]


def ask(connection, host, path, gzip):
    """Milliseconds until the answer is there, and the bytes of its body."""
    encoding = "Accept-Encoding: gzip\r\n" if gzip else ""
    head = f"GET /api/v1{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {os.environ['TOKEN']}\r\n{encoding}\r\n"
    begun = time.perf_counter()
    connection.sendall(head.encode())
    received = b""
    while b"\r\n\r\n" not in received:
        received += receive(connection)
    head, body = received.split(b"\r\n\r\n", 1)
    status = int(head.split(b" ", 2)[1])
    if status != 200:
        sys.exit(f"{path}: {status} {body.decode(errors='replace')}")
    length = int(re.search(rb"\r\ncontent-length: (\d+)", head, re.IGNORECASE)[1])
    while len(body) < length:
        body += receive(connection)
    return (time.perf_counter() - begun) * 1000, length


def receive(connection):
    return connection.recv(1 << 20) or sys.exit("the server closed the connection")


def main():
    arguments = sys.argv[1:]
    url = urlsplit(arguments.pop(0) if arguments and "://" in arguments[0] else "http://127.0.0.1:8000")
    print("| request | plain, ms | gzip, ms | bytes | with gzip |\n|---|--:|--:|--:|--:|")
    for path in arguments or PATHS:
        figures = []
        for gzip in (False, True):
            with socket.create_connection((url.hostname, url.port or 80)) as connection:
                asked = [ask(connection, url.netloc, path, gzip) for _ in range(REQUESTS)]
            figures.append((statistics.median(time for time, _ in asked), asked[-1][1]))
        (plain, bytes), (packed, fewer) = figures
        print(f"| `{path}` | {plain:.2f} | {packed:.2f} | {bytes} | {fewer} |")


main()
