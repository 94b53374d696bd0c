"""A map of a network: where nodes are, how far they are heard, and the ways that they go."""

from __future__ import annotations

import os
import re
import sys
from html import escape
from pathlib import Path
from typing import Any

from ..mininet._fabric import RESULTS

#: The width of a map in pixels.
_WIDTH = 800


def picture(net: Any, bounds: dict[str, Any]) -> str:
    """Draws a map of a network as SVG; the path of its file.

    Args:
        net: The network.
        bounds: `min_x`, `max_x`, `min_y` and `max_y` in metres.
    """
    low_x, low_y = float(bounds.get("min_x", 0)), float(bounds.get("min_y", 0))
    wide, high = float(bounds.get("max_x", 100)) - low_x, float(bounds.get("max_y", 100)) - low_y
    scale = _WIDTH / max(wide, 1.0)
    size = f'width="{_WIDTH}" height="{high * scale:.0f}" viewBox="0 0 {_WIDTH} {high * scale:.0f}"'

    def at(place: Any) -> tuple[float, float]:
        return (place[0] - low_x) * scale, (high - place[1] + low_y) * scale

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">']
    parts.append('<rect width="100%" height="100%" fill="white" stroke="#888"/>')
    for node in net.get_mn_wifi_nodes():
        if not node.has_place:
            continue
        (x, y), is_ap = at(node.place()), node in net.aps
        colour = "#1f5fa8" if is_ap else "#2e7d32"
        for intf in node.wintfs.values():
            dash = "" if is_ap else ' stroke-dasharray="4 4"'
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{intf.range * scale:.1f}" fill="{colour}" fill-opacity="0.06" stroke="{colour}"{dash}/>'
            )
        if node.way is not None:
            points = " ".join("{:.1f},{:.1f}".format(*at(place)) for _, place in node.way.points[:200])
            parts.append(
                f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-opacity="0.5" stroke-dasharray="2 3"/>'
            )
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{x + 6:.1f}" y="{y - 6:.1f}">{escape(node.name)}</text>')
    parts.append("</svg>")
    folder = Path(os.environ.get(RESULTS) or "results")
    folder.mkdir(parents=True, exist_ok=True)
    script = re.sub(r"[^a-z0-9]+", "-", Path(sys.argv[0] or "map").stem.lower()).strip("-") or "map"
    path = folder / f"{script}-map.svg"
    path.write_text("\n".join(parts) + "\n")
    return str(path)


__all__ = ["picture"]
