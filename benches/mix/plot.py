"""Plot of the mixed load: requests a second over connections, a panel for each share of writes, a line for each server."""

import math
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 330, 60, 20, 70, 50
COLOURS = ["#0b6e4f", "#d08c60", "#7a6c9d", "#4d7ea8", "#b56576", "#8d99ae"]


def round_step(most, ticks=5):
    """The smallest of 1, 2, 5, 10, 20, ... that divides an axis up to `most` into at most `ticks` parts."""
    power = 10 ** math.floor(math.log10(most / ticks))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power * ticks >= most)


def draw(rates):
    """SVG text of `rates`: requests a second by (percent of writes, connections, server)."""
    shares, connections, servers = (list(dict.fromkeys(key[part] for key in rates)) for part in range(3))
    width, step = WIDTH * len(shares), round_step(max(rates.values()))
    top = step * math.ceil(max(rates.values()) / step)
    y = lambda rate: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * rate / top
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>',
        '<text x="10" y="20" font-size="13" font-weight="bold">Mixed load on a million products</text>',
    ]
    for index, server in enumerate(servers):
        x = LEFT + index * min(110, (width - LEFT) // len(servers))
        out.append(f'<rect x="{x}" y="30" width="10" height="10" fill="{COLOURS[index % len(COLOURS)]}"/>')
        out.append(f'<text x="{x + 14}" y="39">{escape(server)}</text>')
    for panel, share in enumerate(shares):
        begin, end = panel * WIDTH + LEFT, (panel + 1) * WIDTH - RIGHT
        # Connections stand at equal distances: 1, 8, 32 would crowd a linear axis.
        x = {count: begin + (end - begin) * (i + 0.5) / len(connections) for i, count in enumerate(connections)}
        middle = (begin + end) / 2
        out.append(f'<text x="{middle:.1f}" y="{TOP - 10}" text-anchor="middle">{share} % writes</text>')
        for tick in range(round(top / step) + 1):
            at = y(tick * step)
            out.append(f'<line x1="{begin}" x2="{end}" y1="{at:.1f}" y2="{at:.1f}" stroke="{"#dee2e6" if tick else "#212529"}"/>')
            out.append(f'<text x="{begin - 6}" y="{at + 4:.1f}" text-anchor="end">{tick * step:,g}</text>')
        out.append(f'<line x1="{begin}" x2="{begin}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#212529"/>')
        for count in connections:
            out.append(f'<line x1="{x[count]:.1f}" x2="{x[count]:.1f}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM + 4}" stroke="#212529"/>')
            out.append(f'<text x="{x[count]:.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{count}</text>')
        out.append(f'<text x="{middle:.1f}" y="{HEIGHT - 12}" text-anchor="middle">connections</text>')
        for server, colour in zip(servers, COLOURS * len(servers)):
            points = [(x[count], y(rates[share, count, server])) for count in connections]
            line = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
            out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
            out += [f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3" fill="{colour}"/>' for across, up in points]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(f'<text transform="translate(14 {middle:.1f}) rotate(-90)" text-anchor="middle">requests a second</text>')
    return "\n".join([*out, "</svg>", ""])
