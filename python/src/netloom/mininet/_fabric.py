"""What keeps nodes and links together: from them a lab is made when it is needed, and made again when they have changed."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import LabError, NetloomError
from ..lab import Lab
from ..live import Live
from ..models import Bounds
from . import _carry, _sysctls, _tc
from ._clear import Unsupported
from ._openvswitch import SWITCHES, OpenVSwitch, is_installed, missing
from .log import debug

if TYPE_CHECKING:
    from ..process import Popen
    from ..result import Result
    from .link import Intf, Link
    from .node import Node

#: Where results go; `results` in the current folder if nothing is said.
RESULTS = "NETLOOM_MININET_RESULTS"
#: Whose network stack hosts have: this machine's `namespace`, or a `kernel` of their own.
STACK = "NETLOOM_MININET_STACK"
_fabrics: weakref.WeakSet[Fabric] = weakref.WeakSet()
_count = 0
_names_of_nodes = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,30}")


#: Where an error about a lab file shows the place.
_IN_FILE = re.compile(r"^ *--> .*\n(?: *\d* *\|.*\n?)*", re.MULTILINE)


class Fabric:
    """Nodes and links that belong together, and the lab that is made of them."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self.nodes: dict[str, Node] = {}
        self.links: list[Link] = []
        #: Interfaces of this machine that belong to nodes, without a link.
        self.externals: list[Intf] = []
        #: What adds further links to the lab: media of radio.
        self.further: list[Callable[[Lab, Callable[[Intf], Any]], None]] = []
        #: When the lab was first up, by the monotonic clock.
        self.began: float | None = None
        self.live: Live | None = None
        #: Whether nodes or links have changed since the lab was made.
        self.dirty = True
        self.results: list[Result] = []
        #: Whether its switches are bridges of Open vSwitch, and whether somebody asked for that.
        self.has_flows = False
        self._flows_asked = False
        self._openvswitch: OpenVSwitch | None = None
        self._names: dict[str, str] = {}
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        _fabrics.add(self)

    # What belongs to it

    def adopt(self, node: Node) -> None:
        """Takes in a node.

        Raises:
            Exception: There is another one of this name.
        """
        other = self.nodes.get(node.name)
        if other is node:
            return
        if other is not None:
            raise Exception(f"there is a node `{node.name}` already: give this one another name")
        self.nodes[node.name] = node
        node.fabric = self
        self.dirty = True

    def release(self, node: Node) -> None:
        """Lets a node go, with its links."""
        if self.nodes.get(node.name) is node:
            del self.nodes[node.name]
            self.links = [link for link in self.links if node not in (link.intf1.node, link.intf2.node)]
            self.dirty = True

    def merge(self, other: Fabric) -> None:
        """Takes in all of another one, whose lab ends."""
        if other is self:
            return
        other.halt()
        for node in list(other.nodes.values()):
            self.adopt(node)
        self.links += other.links
        self.externals += other.externals
        self.further += other.further
        other.nodes, other.links, other.externals, other.further = {}, [], [], []

    def touch(self) -> None:
        """Notes that the description has changed."""
        self.dirty = True

    @property
    def is_current(self) -> bool:
        """Whether the lab is up, as the nodes and links say."""
        return self.live is not None and not self.dirty

    def lab_name(self, node: Node) -> str:
        """What a node is called in the lab, whose names are stricter. All ways out are this machine, and so one node."""
        if node.lab_kind() == "internet":
            node = self._way_out() or node
        if node.name not in self._names:
            name = (
                node.name
                if _names_of_nodes.fullmatch(node.name)
                else "n-" + re.sub(r"[^A-Za-z0-9]", "-", node.name)[:20]
            )
            taken, number = set(self._names.values()), 2
            base = name
            while name in taken:
                name, number = f"{base}-{number}", number + 1
            self._names[node.name] = name
        return self._names[node.name]

    def _way_out(self) -> Node | None:
        """The first of the nodes that lead out of the lab."""
        return next((node for node in self.nodes.values() if node.lab_kind() == "internet"), None)

    # The lab

    def ensure(self) -> Live:
        """The lab, which is made if it is not up, and made again if nodes or links have changed.

        Raises:
            Unsupported: It cannot be made again, because programs run in nodes.
            NetloomError: It cannot be made.
        """
        if self.live is not None and not self.dirty:
            return self.live
        kept = self.halt()
        self._choose_switches()
        taken = {node: node.take_addresses() for node in self.machines() if node.lab_kind() == "host"}
        lab = self._describe(taken)
        debug(f"*** netloom: the lab is\n{json.dumps(lab.to_settings(), indent=2)}\n")
        began = time.monotonic()
        try:
            self.live = lab.up(results=self._results())
        except LabError:
            # A lab file is stricter with addresses than Mininet; then `ip` sets them.
            for node, found in taken.items():
                node.give_back_addresses(found)
            try:
                self.live = self._describe({}).up(results=self._results())
            except LabError as error:
                # Its places are those of a file that nobody has written.
                raise Unsupported(f"netloom: {_IN_FILE.sub('', str(error)).strip()}") from None
        self.dirty = False
        self.began = time.monotonic() if self.began is None else self.began
        debug(f"*** netloom: lab {self.live.name} is up after {time.monotonic() - began:.3f} s\n")
        if self.has_flows:
            self._openvswitch = OpenVSwitch(self.live, self.flows_node)
            self._openvswitch.add(self._bridges())
        for node in self.machines():
            node.attached(kept.get(node.name))
        self._configure()
        _tc.note(_fabrics)
        return self.live

    # Open vSwitch

    def _bridges(self) -> list[Any]:
        from ._switches import bridge_type

        return [node for node in self.nodes.values() if isinstance(node, bridge_type)]

    def _choose_switches(self) -> None:
        before = self.has_flows
        bridges = self._bridges()
        wanted = self._flows_asked or any(each.wants_flows() for each in bridges)
        if wanted and bridges and not is_installed():
            missing(bridges[0].name)
            wanted = False
        self.has_flows = wanted and bool(bridges)
        if self.has_flows != before:
            for each in bridges:
                each.cleanup()

    @property
    def flows_node(self) -> str:
        """The node of the lab that Open vSwitch runs in."""
        return "openvswitch" if "openvswitch" not in self.nodes else "netloom-openvswitch"

    def ask_for_flows(self, why: str) -> None:
        """Makes bridges of Open vSwitch of all switches, since somebody looks at them.

        Raises:
            Unsupported: Programs run in nodes.
        """
        if self.has_flows:
            return
        self._flows_asked = True
        self.touch()
        if self.live is None:
            self._choose_switches()
            return
        try:
            self.ensure()
        except Unsupported as error:
            self._flows_asked = self.dirty = False
            raise Unsupported(
                f"{error}. This is needed for {why}; with {SWITCHES}=openflow switches are Open vSwitch from the beginning"
            ) from None

    def reconsider(self, switch: Any) -> None:
        """A switch has got its controllers."""
        if self.live is None:
            return
        if self.has_flows and self._openvswitch is not None and not self.dirty:
            self._openvswitch.connect(switch)
        elif switch.wants_flows() and not self.has_flows and is_installed():
            self.touch()

    def machines(self) -> list[Node]:
        """Nodes in which programs can run."""
        return [node for node in self.nodes.values() if node.lab_kind() in ("host", "flows", "internet")]

    def _configure(self) -> None:
        """Gives nodes their addresses and what else was said before, all at once."""
        running: list[tuple[Node, Popen]] = []
        shells: list[Node] = []
        for node in self.machines():
            started = node.configure_quickly()
            if started is not None:
                running.append((node, started))
            elif node.pending:
                shells.append(node)
        for node, process in running:
            said = str(process.communicate()[0])
            process.close()
            node.configured(said)
        for node in shells:
            node.configure_in_shell()
        for link in self.links:
            link.bring_down()

    def halt(self) -> dict[str, _carry.State]:
        """Takes the lab down that is made again at once; what its nodes were like.

        Raises:
            Unsupported: Programs run in nodes, which would be lost.
        """
        live = self.live
        if live is None:
            return {}
        used = [node for node in self.machines() if node.is_attached and node.is_used and node.lab_kind() == "host"]
        asked = [(node, _carry.ask(node, live)) for node in used]
        kept = {node.name: _carry.take(node, live, process) for node, process in asked}
        self._end()
        return kept

    def down(self) -> Result | None:
        """Takes the lab down for good; what is known of it."""
        if self.live is None:
            return self.results[-1] if self.results else None
        result = self._end()
        # A lab of the same nodes is another one.
        self.dirty = True
        return result

    def _end(self) -> Result | None:
        live, self.live = self.live, None
        for node in self.nodes.values():
            node.detached()
        if self._openvswitch is not None:
            self._openvswitch.close()
            self._openvswitch = None
        if live is None:
            return None
        _tc.note(_fabrics)
        result = None
        with contextlib.suppress(NetloomError):
            result = live.down()
            self.results.append(result)
        return result

    def abandon(self) -> None:
        """Ends what is left when the script ends without having stopped its network; not in a fork of it."""
        if os.getpid() != self._process:
            return
        with contextlib.suppress(NetloomError, OSError):
            self._end()

    @property
    def keeps_results(self) -> bool:
        """Whether the results are still there when the script has ended."""
        return self._scratch is None

    def _results(self) -> str:
        named = os.environ.get(RESULTS)
        if named:
            return named
        if os.access(os.getcwd(), os.W_OK):
            return "results"
        self._scratch = self._scratch or tempfile.TemporaryDirectory(prefix="netloom-mininet-")
        return self._scratch.name

    # Its description

    def _describe(self, addresses: Mapping[Node, dict[str, str]]) -> Lab:
        global _count
        _count += 1
        script = re.sub(r"[^a-z0-9]+", "-", Path(sys.argv[0] or "mn").stem.lower()).strip("-")[:12].strip("-") or "mn"
        lab = Lab(
            f"mn-{script}-{os.getpid()}-{_count}",
            addresses="none",
            routes="none",
            arp=True,
            bounds=Bounds(changes=True),
        )
        for node in self.nodes.values():
            kind = node.lab_kind()
            if kind in ("machine", "aside", "flows") or (kind == "internet" and node is not self._way_out()):
                continue
            own: dict[str, Any] = (
                {**stack_keys(), **_congestion(), **_sysctls.keys_of_hosts(), **node.lab_keys()}
                if kind == "host"
                else node.lab_keys()
            )
            lab.node(self.lab_name(node), None if kind == "host" else kind, **own)
        if self.has_flows:
            # Controllers get frames of it, and may send them back.
            lab.host(self.flows_node, offload=False)
        for number, link in enumerate(self.links):
            link.number = number
            self._describe_link(lab, link, addresses)
        for intf in self.externals:
            name = lab.external(f"wire-{len(lab.nodes)}", interface=intf.name, mode="pass")
            lab.link(self._end_of(intf, addresses), name, name=intf.lab_link())
        for describe in self.further:
            describe(lab, lambda intf: self._end_of(intf, addresses))
        return lab

    def _describe_link(self, lab: Lab, link: Link, addresses: Mapping[Node, dict[str, str]]) -> None:
        keys = link.lab_keys()
        for intf in (link.intf1, link.intf2):
            if intf.node.lab_kind() == "machine":
                intf.node.make_wire(intf)
                lab.external(self._wire(intf), interface=intf.wire, mode="pass", force=True)
        if link.is_inside:
            # Both bridges are in one node, which cannot be linked with itself.
            middle = lab.hub(f"between-{link.number + 1}")
            name, far = link.lab_name(), link.far_name()
            lab.link(self._end_of(link.intf1, addresses), middle, name=name, forward=keys.get("forward"))
            lab.link(middle, self._end_of(link.intf2, addresses), name=far, backward=keys.get("backward"))
            return
        lab.link(self._end_of(link.intf1, addresses), self._end_of(link.intf2, addresses), name=link.lab_name(), **keys)

    def _end_of(self, intf: Intf, addresses: Mapping[Node, dict[str, str]]) -> Any:
        node = intf.node
        kind = node.lab_kind()
        if kind == "machine":
            return self._wire(intf)
        if kind == "aside":
            raise Unsupported(f"netloom: {node.name} has no links: it runs on this machine")
        name = node.lab_node
        if kind in ("switch", "hub"):
            return name
        end = {"node": name, "interface": intf.name, "mac": intf.mac}
        if kind == "internet" and intf.ip:
            end["address"] = f"{intf.ip}/{intf.prefixLen}"
        elif intf.name in addresses.get(node, {}):
            end["address"] = addresses[node][intf.name]
        return end

    def _wire(self, intf: Intf) -> str:
        return f"wire-{intf.node.name}-{intf.node.ports.get(intf, 0)}"


def stack_keys() -> dict[str, str]:
    """The keys of hosts that follow from the environment.

    Raises:
        Unsupported: It names a stack that there is not.
    """
    wanted = os.environ.get(STACK, "namespace")
    if wanted not in ("namespace", "kernel"):
        raise Unsupported(f"netloom: ${STACK} is `namespace` or `kernel`, not `{wanted}`")
    return {} if wanted == "namespace" else {"stack": wanted}


def _congestion() -> dict[str, str]:
    """The congestion control of this machine, which hosts of Mininet have, too."""
    with contextlib.suppress(OSError):
        found = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
        if found != "cubic":
            return {"congestion": found}
    return {}


@atexit.register
def _at_exit() -> None:
    for fabric in list(_fabrics):
        fabric.abandon()


def all_fabrics() -> list[Fabric]:
    """All that there are."""
    return list(_fabrics)
