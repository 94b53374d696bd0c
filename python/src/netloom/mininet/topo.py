"""Topologies: who is linked with whom, before there is a network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ._clear import Explained
from .util import irange, natural, naturalSeq


class MultiGraph:
    """A graph with any number of edges between two nodes, which may have keys."""

    def __init__(self) -> None:
        self.node: dict[str, dict[str, Any]] = {}
        self.edge: dict[str, dict[str, dict[Any, dict[str, Any]]]] = {}

    def add_node(self, node: str, attr_dict: dict[str, Any] | None = None, **attrs: Any) -> None:
        """Adds a node with attributes."""
        self.node[node] = {**(attr_dict or {}), **attrs}

    def add_edge(
        self, src: str, dst: str, key: Any = None, attr_dict: dict[str, Any] | None = None, **attrs: Any
    ) -> Any:
        """Adds an edge with attributes; its key."""
        attributes = attr_dict if attr_dict is not None else {}
        attributes.update(attrs)
        self.node.setdefault(src, {})
        self.node.setdefault(dst, {})
        there, back = self.edge.setdefault(src, {}), self.edge.setdefault(dst, {})
        entry = there.setdefault(dst, {})
        back[src] = entry
        key = len(entry) if key is None else key
        entry[key] = attributes
        return key

    def nodes(self, data: bool = False) -> Iterable[Any]:
        """Names of nodes, with their attributes if asked for."""
        return self.node.items() if data else self.node.keys()

    def edges_iter(self, data: bool = False, keys: bool = False) -> Iterator[Any]:
        """Each edge once."""
        for source, others in self.edge.items():
            for target, entry in others.items():
                for key, attributes in entry.items():
                    # An edge is noted at both ends; it is told at the one that it was added from.
                    if (attributes.get("node1", source)) == source:
                        yield (source, target, *((key,) if keys else ()), *((attributes,) if data else ()))

    def edges(self, data: bool = False, keys: bool = False) -> list[Any]:
        """The same as a list."""
        return list(self.edges_iter(data, keys))

    def __getitem__(self, node: str) -> dict[str, dict[Any, dict[str, Any]]]:
        """Neighbours of a node."""
        return self.edge[node]

    def __len__(self) -> int:
        """How many nodes there are."""
        return len(self.node)

    def convertTo(self, cls: Callable[[], Any], data: bool = False, keys: bool = False) -> Any:
        """The same as a graph of another class."""
        graph = cls()
        graph.add_nodes_from(self.nodes(data=data))
        graph.add_edges_from(self.edges(data=(data or keys), keys=keys))
        return graph


class Topo(Explained):
    """Nodes and links. Subclasses add theirs in `build`."""

    def __init__(self, *args: Any, **params: Any) -> None:
        self.g = MultiGraph()
        self.hopts: dict[str, Any] = params.pop("hopts", {})
        self.sopts: dict[str, Any] = params.pop("sopts", {})
        self.lopts: dict[str, Any] = params.pop("lopts", {})
        self.ports: dict[str, dict[int, tuple[str, int]]] = {}
        self.build(*args, **params)

    def build(self, *args: Any, **params: Any) -> None:
        """Adds nodes and links; for subclasses."""

    def addNode(self, name: str, **opts: Any) -> str:
        """Adds a node with parameters; its name."""
        self.g.add_node(name, **opts)
        return name

    def addHost(self, name: str, **opts: Any) -> str:
        """Adds a host; its name."""
        if not opts and self.hopts:
            opts = self.hopts
        return self.addNode(name, **opts)

    def addSwitch(self, name: str, **opts: Any) -> str:
        """Adds a switch; its name."""
        if not opts and self.sopts:
            opts = self.sopts
        return self.addNode(name, isSwitch=True, **opts)

    def addLink(
        self, node1: str, node2: str, port1: int | None = None, port2: int | None = None, key: Any = None, **opts: Any
    ) -> Any:
        """Adds a link; its key among those of the two nodes."""
        if not opts and self.lopts:
            opts = self.lopts
        port1, port2 = self.addPort(node1, node2, port1, port2)
        opts = dict(opts)
        opts.update(node1=node1, node2=node2, port1=port1, port2=port2)
        return self.g.add_edge(node1, node2, key, opts)

    def addPort(self, src: str, dst: str, sport: int | None = None, dport: int | None = None) -> tuple[int, int]:
        """Notes the ports of a link; free ones if none are given."""
        self.ports.setdefault(src, {})
        self.ports.setdefault(dst, {})
        if sport is None:
            sport = self._free(src)
        if dport is None:
            dport = self._free(dst) if src != dst else sport + 1
        self.ports[src][sport] = (dst, dport)
        self.ports[dst][dport] = (src, sport)
        return sport, dport

    def _free(self, node: str) -> int:
        base = 1 if self.isSwitch(node) else 0
        return len(self.ports[node]) + base

    def nodes(self, sort: bool = True) -> list[str]:
        """Names of all nodes."""
        return self.sorted(self.g.nodes()) if sort else list(self.g.nodes())

    def isSwitch(self, n: str) -> bool:
        """Whether a node is a switch."""
        return bool(self.g.node[n].get("isSwitch", False)) if n in self.g.node else False

    def switches(self, sort: bool = True) -> list[str]:
        """Names of switches."""
        return [n for n in self.nodes(sort) if self.isSwitch(n)]

    def hosts(self, sort: bool = True) -> list[str]:
        """Names of hosts."""
        return [n for n in self.nodes(sort) if not self.isSwitch(n)]

    def iterLinks(self, withKeys: bool = False, withInfo: bool = False) -> Iterator[Any]:
        """All links."""
        for _source, _target, key, attributes in self.g.edges_iter(data=True, keys=True):
            pair: tuple[Any, ...] = (attributes["node1"], attributes["node2"])
            yield pair + ((key,) if withKeys else ()) + ((attributes,) if withInfo else ())

    def links(self, sort: bool = False, withKeys: bool = False, withInfo: bool = False) -> list[Any]:
        """All links, in the order of their names if asked for."""
        found = list(self.iterLinks(withKeys, withInfo))
        return sorted(found, key=lambda link: naturalSeq(tuple(map(str, link[:2])))) if sort else found

    def port(self, src: str, dst: str) -> Any:
        """The ports of a link between two nodes."""
        for attributes in self.g[src][dst].values():
            if (attributes["node1"], attributes["node2"]) == (src, dst):
                return attributes["port1"], attributes["port2"]
            return attributes["port2"], attributes["port1"]
        raise KeyError(f"there is no link between {src} and {dst}")

    def _linkEntry(self, src: str, dst: str, key: Any = None) -> tuple[dict[str, Any], Any]:
        entry = self.g[src][dst]
        if key is None:
            key = min(entry)
        return entry, key

    def linkInfo(self, src: str, dst: str, key: Any = None) -> dict[str, Any]:
        """What is known of a link."""
        entry, found = self._linkEntry(src, dst, key)
        return entry[found]

    def setlinkInfo(self, src: str, dst: str, info: dict[str, Any], key: Any = None) -> None:
        """Says what a link is like."""
        entry, found = self._linkEntry(src, dst, key)
        entry[found] = info

    def nodeInfo(self, name: str) -> dict[str, Any]:
        """The parameters of a node."""
        return self.g.node[name]

    def setNodeInfo(self, name: str, info: dict[str, Any]) -> None:
        """Sets the parameters of a node."""
        self.g.node[name] = info

    def convertTo(self, cls: Callable[[], Any], data: bool = True, keys: bool = True) -> Any:
        """The same as a graph of another class."""
        return self.g.convertTo(cls, data=data, keys=keys)

    @staticmethod
    def sorted(items: Iterable[str]) -> list[str]:
        """Names in natural order."""
        return sorted(items, key=natural)


class SingleSwitchTopo(Topo):
    """One switch with k hosts."""

    def build(self, k: int = 2, **_opts: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Adds them."""
        self.k = k
        switch = self.addSwitch("s1")
        for h in irange(1, k):
            self.addLink(self.addHost(f"h{h}"), switch)


class SingleSwitchReversedTopo(Topo):
    """The same; the last host is at the first port."""

    def build(self, k: int = 2) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Adds them."""
        self.k = k
        switch = self.addSwitch("s1")
        for h in irange(1, k):
            self.addLink(self.addHost(f"h{h}"), switch, port1=0, port2=k - h + 1)


class MinimalTopo(SingleSwitchTopo):
    """One switch with two hosts."""

    def build(self) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Adds them."""
        super().build(k=2)


class LinearTopo(Topo):
    """A row of k switches with n hosts each."""

    def build(self, k: int = 2, n: int = 1, **_opts: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Adds them."""
        self.k, self.n = k, n
        last = None
        for i in irange(1, k):
            switch = self.addSwitch(f"s{i}")
            for j in irange(1, n):
                host = self.addHost(f"h{i}" if n == 1 else f"h{j}s{i}")
                self.addLink(host, switch)
            if last:
                self.addLink(switch, last)
            last = switch


def __getattr__(name: str) -> Any:
    from ._names import other

    return other("topo", name, globals())


__all__ = ["LinearTopo", "MinimalTopo", "MultiGraph", "SingleSwitchReversedTopo", "SingleSwitchTopo", "Topo"]
