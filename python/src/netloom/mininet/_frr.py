"""Routing daemons of FRR in hosts: they run as root, and want that user in the group that may talk to them."""

from __future__ import annotations

import grp
import os
import re
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..live import Live

_GROUP = "frrvty"
_DAEMONS = re.compile(
    r"\b(zebra|staticd|bgpd|ospfd|ospf6d|ripd|ripngd|isisd|fabricd|ldpd|pimd|eigrpd|babeld|bfdd|nhrpd|pathd|pbrd|vrrpd|vtysh|frrinit\.sh)\b"
)


def wants_group(command: str) -> bool:
    """Whether a command starts such a daemon, on a machine where root is not of the group."""
    if not _DAEMONS.search(command):
        return False
    try:
        return "root" not in grp.getgrnam(_GROUP).gr_mem
    except KeyError:
        # FRR is not installed, or was built without the group.
        return False


def give_group(live: Live, node: str) -> str:
    """Shows a node this machine's groups with root in that one; what the node complained of."""
    with open("/etc/group") as file:
        lines = file.read().splitlines()
    text = "".join(f"{_with_root(line)}\n" for line in lines)
    with tempfile.NamedTemporaryFile("w", prefix="nlmn-", delete=False) as shown:
        shown.write(text)
    try:
        os.chmod(shown.name, 0o644)
        return str(live.node(node).run(["mount", "--bind", shown.name, "/etc/group"], cwd="/").stderr)
    finally:
        # What is mounted stays, without a name.
        os.unlink(shown.name)


def _with_root(line: str) -> str:
    if not line.startswith(f"{_GROUP}:"):
        return line
    return line + ("root" if line.endswith(":") else ",root")
