"""Trees and tori."""

from __future__ import annotations

from typing import Any

from .net import Mininet
from .topo import Topo


class TreeTopo(Topo):
    """A tree of switches whose leaves are hosts."""

    def build(self, depth: int = 1, fanout: int = 2) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Adds it."""
        self.hostNum = 1
        self.switchNum = 1
        self.addTree(depth, fanout)

    def addTree(self, depth: int, fanout: int) -> str:
        """Adds a tree; the name of its root."""
        if depth == 0:
            self.hostNum += 1
            return self.addHost(f"h{self.hostNum - 1}")
        node = self.addSwitch(f"s{self.switchNum}")
        self.switchNum += 1
        for _ in range(fanout):
            self.addLink(node, self.addTree(depth - 1, fanout))
        return node


def TreeNet(depth: int = 1, fanout: int = 2, **kwargs: Any) -> Mininet:
    """A network with a tree."""
    return Mininet(TreeTopo(depth, fanout), **kwargs)


class TorusTopo(Topo):
    """A torus of switches, with n hosts at each; needs switches with a spanning tree."""

    def build(self, x: int, y: int, n: int = 1) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Adds it.

        Raises:
            Exception: It is too small.
        """
        if x < 3 or y < 3:
            raise Exception("Please use 3x3 or greater for compatibility with OVS and other switches")
        switches: dict[tuple[int, int], str] = {}
        number = 1
        for i in range(x):
            for j in range(y):
                place = f"{i + 1}x{j + 1}"
                # The datapath's number would not follow from such a name.
                switches[i, j] = self.addSwitch(f"s{place}", dpid=f"{number:x}")
                number += 1
                for k in range(n):
                    name = f"h{place}" if n == 1 else f"h{place}x{k + 1}"
                    self.addLink(self.addHost(name), switches[i, j])
        for i in range(x):
            for j in range(y):
                self.addLink(switches[i, j], switches[i, (j + 1) % y])
                self.addLink(switches[i, j], switches[(i + 1) % x, j])


def __getattr__(name: str) -> Any:
    from ._names import other

    return other("topolib", name, globals())


__all__ = ["TorusTopo", "TreeNet", "TreeTopo"]
