#!/usr/bin/env python3
"""Time and memory of an import of many rows, as CSV and as XLSX.

    CHARTER=target/release/charter benches/import.py [ROWS]

The script writes a file with ROWS products (by default 100,000), of which 500 are faulty, in each format. It starts the server in
a temporary folder, rehearses each file and prints the seconds, the greatest resident memory of the server, and whether the report
names exactly the faulty rows. It then runs the CSV file, kills the server in the middle, starts it again and waits for the end.
At last it imports the same file a second time, which must create nothing.
"""

import json
import sys
import tempfile
import time
import uuid
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

from client import Client, run, serve

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
FAULTY = 500
PORT = 8047
COLUMNS = ["name", "sku", "product_group", "weight", "replacement_charge", "description", "is_active", "tag_list"]
GROUPS = 50
ACTIVE = ("rehearsing", "running", "undoing")


def rows():
    """The cells of each row, and whether it is faulty."""
    step = max(1, ROWS // FAULTY)
    for index in range(ROWS):
        group = f"Group {index % GROUPS}"
        row = [f"Product {index}", f"SKU-{index}", group, f"{index % 90}.5", "12.50", f"The product number {index}", "true", "stage,light"]
        fault = index // step % 5 if index % step == 7 % step and index // step < FAULTY else None
        match fault:
            case 0:
                row[0] = ""
            case 1:
                row[3] = "heavy"
            case 2:
                row[2] = "No such group"
            case 3:
                row[4] = "-1"
            case 4:
                row[6] = "perhaps"
        yield row, fault is not None


def write_csv(path):
    with open(path, "w") as file:
        file.write(",".join(COLUMNS) + "\n")
        for row, _ in rows():
            file.write(",".join(f'"{cell}"' if "," in cell else cell for cell in row) + "\n")


def write_xlsx(path):
    """A workbook with shared texts, as spreadsheets write it."""
    texts = {}

    def cell(column, number, text):
        name = f"{chr(65 + column)}{number}"
        if not text:
            return ""
        if column in (3, 4) and number > 1 and text[-1].isdigit():
            return f'<c r="{name}"><v>{text}</v></c>'
        return f'<c r="{name}" t="s"><v>{texts.setdefault(text, len(texts))}</v></c>'

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"

    def relations(*targets):
        links = "".join(f'<Relationship Id="r{i}" Type="{office}/{kind}" Target="{target}"/>' for i, (kind, target) in enumerate(targets))
        return f'<Relationships xmlns="{package}/relationships">{links}</Relationships>'

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types"/>')
        archive.writestr("_rels/.rels", relations(("officeDocument", "xl/workbook.xml")))
        book = f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="Products" sheetId="1" r:id="r0"/></sheets></workbook>'
        archive.writestr("xl/workbook.xml", book)
        archive.writestr("xl/_rels/workbook.xml.rels", relations(("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")))
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(f'<worksheet xmlns="{main}"><sheetData>'.encode())
            for number, row in enumerate([COLUMNS, *(row for row, _ in rows())], 1):
                cells = "".join(cell(column, number, text) for column, text in enumerate(row))
                sheet.write(f'<row r="{number}">{cells}</row>'.encode())
            sheet.write(b"</sheetData></worksheet>")
        shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{main}">{shared}</sst>')


def upload(client, path):
    boundary = uuid.uuid4().hex
    parts = {"entity_type": "products", "match_by": "sku"}
    body = b"".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in parts.items())
    body += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"\r\n\r\n'.encode()
    body += path.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
    headers = {**client.headers, "content-type": f"multipart/form-data; boundary={boundary}"}
    client.connection.request("POST", "/api/v1/imports", body, headers)
    answer = client.connection.getresponse()
    text = answer.read()
    assert answer.status == 201, text
    return json.loads(text)["import"]["id"]


def send(client, method, path, body=None):
    status, text, _ = client.send(method, path, body)
    assert status < 300, (path, status, text)
    return json.loads(text)


def show(client, id):
    return send(client, "GET", f"/imports/{id}")["import"]


def wait(client, id, until=None):
    while True:
        shown = show(client, id)
        if shown["status"] not in ACTIVE or until and shown["rows_done"] >= until:
            return shown
        time.sleep(0.1)


def counts(shown):
    return {name: shown[f"{name}_count"] for name in ("created", "changed", "unchanged", "refused")}


def memory(server):
    """The greatest resident memory of the server in MiB."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def refused(client, id):
    numbers, page = [], 1
    while True:
        rows = send(client, "GET", f"/imports/{id}/rows?q[outcome_eq]=refused&sort=number&per_page=100&page={page}")["import_rows"]
        numbers += [row["number"] for row in rows]
        if len(rows) < 100:
            return numbers
        page += 1


def timed(name, work):
    start = time.monotonic()
    result = work()
    print(f"{name}: {time.monotonic() - start:.1f} s", end="; ")
    return result


def main():
    expected = [number for number, (_, faulty) in enumerate(rows(), 2) if faulty]
    with tempfile.TemporaryDirectory() as folder:
        files = {"CSV": Path(folder, "products.csv"), "XLSX": Path(folder, "products.xlsx")}
        write_csv(files["CSV"])
        write_xlsx(files["XLSX"])
        print(f"{ROWS} rows, {len(expected)} faulty; {', '.join(f'{name} {path.stat().st_size >> 10} KiB' for name, path in files.items())}")
        data = str(Path(folder, "data"))
        run(data, PORT, "user", "create", "--email", "a@example.com", "--name", "A", "--admin")
        token = run(data, PORT, "token", "create", "--user", "a@example.com", "--name", "T", "--ability", "*")
        for name, path in files.items():
            server = serve(data, PORT)
            client = Client(PORT, token)
            if name == "CSV":
                for group in range(GROUPS):
                    send(client, "POST", "/product_groups", {"name": f"Group {group}"})
            idle = memory(server)
            id = timed(f"{name}: upload", lambda: upload(client, path))
            send(client, "POST", f"/imports/{id}/rehearse")
            shown = timed("rehearsal", lambda: wait(client, id))
            exact = refused(client, id) == expected
            print(f"{shown['status']} {counts(shown)}; report exact: {exact}; memory {idle:.0f} MiB before, {memory(server):.0f} MiB at most")
            if name == "XLSX":
                break
            server.terminate()
            server.wait()
        id = upload(client, files["CSV"])
        send(client, "POST", f"/imports/{id}/run")
        shown = timed("run to the middle", lambda: wait(client, id, ROWS // 2))
        server.kill()
        server.wait()
        print(f"killed after {shown['rows_done']} rows")
        server = serve(data, PORT)
        client = Client(PORT, token)
        shown = timed("rest of the run", lambda: wait(client, id))
        total = send(client, "GET", "/products?per_page=1")["meta"]["total"]
        print(f"{shown['status']} {counts(shown)}; {total} products; memory {memory(server):.0f} MiB at most")
        id = upload(client, files["CSV"])
        send(client, "POST", f"/imports/{id}/run")
        shown = timed("same file again", lambda: wait(client, id))
        total = send(client, "GET", "/products?per_page=1")["meta"]["total"]
        print(f"{shown['status']} {counts(shown)}; {total} products; memory {memory(server):.0f} MiB at most")
        server.terminate()
        server.wait()


main()
