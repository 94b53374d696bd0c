"""Names that modules of Mininet 2.3 have of one another and of Python, which scripts import from there."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ._clear import meant

#: For each module: the modules of this package, or of Python (with a leading `=`), and what is found there.
_FOUND: dict[str, dict[str, str]] = {
    "net": {
        "_containers": "Containernet", "cli": "CLI", "node": "Node Host OVSKernelSwitch DefaultController Controller",
        "link": "Link Intf TCIntf TCLink", "log": "info error debug output warn", "nodelib": "NAT",
        "term": "cleanUpScreens makeTerms",
        "util": "quietRun fixLimits numCores ensureRoot macColonHex ipStr ipParse ipAdd netParse waitListening BaseString encode",
        "=time": "sleep", "=itertools": "chain groupby", "=math": "ceil", "=": "os re select signal random copy",
    },
    "node": {
        "_containers": "Docker", "_switches": "LinuxBridge", "link": "Link Intf TCIntf OVSIntf", "nodelib": "NAT",
        "log": "info error warn debug", "moduledeps": "moduleDeps pathCheck TUN",
        "util": "quietRun errRun errFail moveIntf isShellBuiltin numCores retry mountCgroups BaseString decode encode Python3 which",
        "=subprocess": "Popen PIPE", "=time": "sleep", "=": "os re signal select pty",
    },
    "nodelib": {"node": "Node Switch", "log": "info warn", "moduledeps": "pathCheck", "util": "quietRun"},
    "link": {"log": "info error debug", "util": "makeIntfPair", "=": "re"},
    "cli": {
        "log": "info output error", "term": "makeTerms runX11", "util": "quietRun dumpNodeConnections dumpPorts",
        "=subprocess": "call", "=cmd": "Cmd", "=select": "poll POLLIN", "=": "sys time os atexit",
    },
    "topo": {"util": "irange natural naturalSeq"},
    "topolib": {"topo": "Topo", "net": "Mininet", "util": "irange"},
    "util": {
        "log": "output info error warn debug", "=time": "sleep", "=subprocess": "call check_call Popen PIPE STDOUT",
        "=functools": "partial", "=": "os sys re codecs",
    },
    "log": {"=logging": "Logger StreamHandler", "=types": "", "=": "logging"},
    "clean": {"log": "info", "term": "cleanUpScreens", "util": "decode"},
    "term": {"log": "error", "util": "quietRun errRun"},
    "moduledeps": {"util": "quietRun BaseString", "log": "info error debug", "=os": "environ"},
}  # fmt: skip


def other(module: str, name: str, own: Mapping[str, Any]) -> Any:
    """Finds what a module of Mininet has of others.

    Args:
        module: The module, without `mininet.`.
        name: What is asked for.
        own: What the module has itself, for a hint.

    Raises:
        AttributeError: It has no such name.
    """
    if module == "util" and name == "StrictVersion":
        return Version
    known = _FOUND.get(module, {})
    for place, names in known.items():
        if name in names.split():
            if place == "=":
                return importlib.import_module(name)
            home = place[1:] if place.startswith("=") else f"{__package__}.{place}"
            return getattr(importlib.import_module(home), name)
    names = [*own, *(each for found in known.values() for each in found.split())]
    raise AttributeError(f"mininet.{module} has no `{name}`{meant(name, names)}")


class Version:
    """A version such as `2.17.1`, to compare, as distutils had it."""

    def __init__(self, text: str) -> None:
        self.version = tuple(int(part) for part in text.strip().split("."))

    def _of(self, other: Version | str) -> tuple[int, ...]:
        return (other if isinstance(other, Version) else Version(other)).version

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Version, str)) and self.version == self._of(other)

    def __lt__(self, other: Version | str) -> bool:
        return self.version < self._of(other)

    def __le__(self, other: Version | str) -> bool:
        return self.version <= self._of(other)

    def __gt__(self, other: Version | str) -> bool:
        return self.version > self._of(other)

    def __ge__(self, other: Version | str) -> bool:
        return self.version >= self._of(other)

    def __hash__(self) -> int:
        return hash(self.version)

    def __str__(self) -> str:
        return ".".join(map(str, self.version))


__all__ = ["Version", "other"]
