#!/usr/bin/env python3
"""Draws the medians of a comparison's results as bars: requests a second on a logarithmic scale, one group a request.

    benches/peers/plot.py results.json > docs/performance/peers.svg
"""

import json
import math
import statistics
import sys
from html import escape

WIDTH, LEFT, BAR, GAP, TOP = 860, 250, 11, 14, 54
COLOURS = ["#0b6e4f", "#8d99ae", "#adb5bd", "#d08c60", "#7a6c9d", "#b56576", "#4d7ea8", "#c9ada7"]


def main():
    data = json.load(open(sys.argv[1]))
    servers = sorted(data["servers"], key=lambda name: (name != "charter", not name.startswith("limit"), name))
    requests = [name for name in data["titles"] if any(run["request"] == name for run in data["runs"])]

    def rate(server, request):
        runs = [run for run in data["runs"] if (run["server"], run["request"]) == (server, request)]
        rates = [run["rps"] for run in runs if run["errors"] <= run["requests"] / 100]
        return statistics.median(rates) if rates else None

    rates = {(s, r): rate(s, r) for s in servers for r in requests}
    most = max(value for value in rates.values() if value)
    scale = (WIDTH - LEFT - 70) / math.log10(most * 1.3)
    height = TOP + sum(GAP + BAR * sum(rates[s, r] is not None for s in servers) for r in requests) + 10
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="10" y="18" font-size="13" font-weight="bold">Requests a second, a million products (logarithmic)</text>',
    ]
    for index, name in enumerate(servers):
        x = 10 + index * 118
        out.append(f'<rect x="{x}" y="28" width="10" height="10" fill="{COLOURS[index % len(COLOURS)]}"/>')
        out.append(f'<text x="{x + 14}" y="37">{escape(name)}</text>')
    y = TOP
    for request in requests:
        out.append(f'<text x="10" y="{y + BAR}">{escape(request)} {escape(data["titles"][request])}</text>')
        for index, name in enumerate(servers):
            value = rates[name, request]
            if value is None:
                continue
            width = max(1.0, scale * math.log10(max(value, 1.0)))
            out.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR - 2}" fill="{COLOURS[index % len(COLOURS)]}"/>')
            figure = f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
            out.append(f'<text x="{LEFT + width + 4:.1f}" y="{y + BAR - 3}" font-size="9">{figure}</text>')
            y += BAR
        y += GAP
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
