"""Topologies with stations and access points."""

from __future__ import annotations

from typing import Any

from ..mininet.topo import Topo as Wired
from ..mininet.util import irange


class Topo(Wired):
    """Nodes and links. Subclasses add theirs in `build`."""

    def addStation(self, name: str, **opts: Any) -> str:
        """Adds a station; its name."""
        return self.addNode(name, isStation=True, **(opts or self.hopts))

    def addAccessPoint(self, name: str, **opts: Any) -> str:
        """Adds an access point; its name."""
        return self.addNode(name, isAP=True, **(opts or self.sopts))

    def isSwitch(self, n: str) -> bool:
        """Whether ports of a node count from 1, as those of switches and access points do."""
        return super().isSwitch(n) or bool(self.g.node.get(n, {}).get("isAP", False))


class SingleAPTopo(Topo):
    """One access point with k stations."""

    def build(self, k: int = 2, **_opts: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Adds them."""
        ap = self.addAccessPoint("ap1")
        for number in irange(1, k):
            self.addLink(self.addStation(f"sta{number}"), ap)


class MinimalWirelessTopo(SingleAPTopo):
    """One access point with two stations."""

    def build(self) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Adds them."""
        super().build(k=2)


__all__ = ["MinimalWirelessTopo", "SingleAPTopo", "Topo"]
