"""Looks whether something listens at addresses, without a word to it: nodes of Ray."""

from __future__ import annotations

import errno
import select
import socket
import time
from collections.abc import Sequence

#: A node of Ray that has ended refuses.
REFUSES, IS_SILENT = "refuses", "is silent"


def unreached(nodes: Sequence[tuple[str, int]], within: float) -> dict[tuple[str, int], str]:
    """Which of these nodes do not answer, and how; all are asked at once."""
    found: dict[tuple[str, int], str] = {}
    asked: dict[socket.socket, tuple[str, int]] = {}
    try:
        for node in dict.fromkeys(nodes):
            probe = socket.socket(socket.AF_INET6 if ":" in node[0] else socket.AF_INET)
            asked[probe] = node
            probe.setblocking(False)
            if (code := probe.connect_ex(node)) not in (0, errno.EINPROGRESS):
                found[node] = REFUSES if code == errno.ECONNREFUSED else IS_SILENT
        until = time.monotonic() + within
        waiting = {probe for probe, node in asked.items() if node not in found}
        while waiting:
            ready = select.select([], list(waiting), [], max(until - time.monotonic(), 0))[1]
            for probe in ready:
                waiting.discard(probe)
                if (code := probe.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)) != 0:
                    found[asked[probe]] = REFUSES if code == errno.ECONNREFUSED else IS_SILENT
            if not ready:
                break
        found |= {asked[probe]: IS_SILENT for probe in waiting}
    finally:
        for probe in asked:
            probe.close()
    return found
