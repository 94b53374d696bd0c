"""Links and their interfaces, plain ones and those with a rate, a delay, losses and a queue."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from ._clear import Explained, Unsupported
from ._fabric import Fabric
from ._shaping import direction_keys
from .log import info
from .util import ipAdd, ipParse

if TYPE_CHECKING:
    from ._node import Node

_macs = itertools.count(1)


class Intf(Explained):
    """An interface of a node, the end of a link."""

    def __init__(
        self,
        name: str,
        node: Node | None = None,
        port: int | None = None,
        link: Link | None = None,
        mac: str | None = None,
        **params: Any,
    ) -> None:
        if len(name) > 15:
            raise Exception(
                f"`{name}` is too long for an interface, which has up to 15 characters: give intfName1 or intfName2"
            )
        self.node: Any = node
        self.name = name
        self.link: Any = link
        self.mac: str | None = mac or _next_mac()
        self.ip: str | None = None
        self.prefixLen: int | None = None
        #: The other end of a pair of this machine, where the node is this machine itself.
        self.wire = ""
        self._is_up = True
        if self.name == "lo":
            self.ip, self.prefixLen = "127.0.0.1", 8
        params.pop("moveIntfFn", None)
        if node is not None:
            node.addIntf(self, port=port)
            if link is None and name != "lo":
                _external(self, node)
        self.params: dict[str, Any] = params
        self.config(**params)

    def cmd(self, *args: Any, **kwargs: Any) -> Any:
        """Runs a command in its node."""
        return self.node.cmd(*args, **kwargs)

    def ifconfig(self, *args: Any) -> str:
        """Brings it up or down, or calls `ifconfig` with other arguments."""
        words = [str(arg) for arg in args]
        if words in (["up"], ["down"]):
            self._set_state(words[0] == "up")
            return ""
        if not words:
            return self.node.ip_command(f"addr show dev {self.name}")
        return self.cmd("ifconfig", self.name, *words)

    def _set_state(self, up: bool) -> None:
        changed, self._is_up = self._is_up != up, up
        if self.node.lab_kind() == "switch":
            if changed and self.link:
                self.link.refresh_state()
            return
        self.node.ip_command(f"link set dev {self.name} {'up' if up else 'down'}")

    def setIP(self, ipstr: str, prefixLen: int | None = None) -> str:
        """Sets its address: `10.0.0.1/8`, or the length of its prefix apart.

        Raises:
            Exception: It has no prefix length.
        """
        ipstr = str(ipstr)
        had = self.ip
        if "/" in ipstr:
            self.ip, length = ipstr.split("/")
            self.prefixLen = int(length)
        else:
            if prefixLen is None:
                raise Exception(f"No prefix length set for IP address {ipstr}")
            self.ip, self.prefixLen = ipstr, int(prefixLen)
        ipParse(self.ip)
        said = ""
        if had:
            said += self.node.ip_command(f"addr flush dev {self.name} scope global to 0.0.0.0/0")
        if self.ip not in ("0.0.0.0", "0"):
            said += self.node.ip_command(f"addr replace {self.ip}/{self.prefixLen} brd + dev {self.name}")
        return said

    def setMAC(self, macstr: str) -> str:
        """Sets its hardware address.

        Raises:
            Exception: It is none.
        """
        if not re.fullmatch(r"(?i)([0-9a-f]{1,2}:){5}[0-9a-f]{1,2}", str(macstr)):
            raise Exception(f"`{macstr}` is no hardware address, such as 00:00:00:00:00:01")
        self.mac = str(macstr)
        home = self.node.fabric
        if home is None or not home.is_current:
            # The lab that is to be made has it.
            return ""
        return self.node.ip_command(f"link set dev {self.name} address {self.mac}")

    _ipMatchRegex = re.compile(r"inet (\d+\.\d+\.\d+\.\d+)")
    _macMatchRegex = re.compile(r"(?:ether|HWaddr) ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})")

    def updateIP(self) -> str | None:
        """Asks the node for its address."""
        found = self._ipMatchRegex.findall(self._shown())
        self.ip = found[0] if found else None
        return self.ip

    def updateMAC(self) -> str | None:
        """Asks the node for its hardware address."""
        found = self._macMatchRegex.findall(self._shown())
        self.mac = found[0] if found else self.mac
        return self.mac

    def updateAddr(self) -> tuple[str | None, str | None]:
        """Asks the node for both."""
        return self.updateIP(), self.updateMAC()

    def _shown(self) -> str:
        home = self.node.fabric
        if not self.node.runs_in_lab or home is None or not home.is_current:
            return f"inet {self.ip} ether {self.mac}" if self.ip else f"ether {self.mac}"
        return self.node.cmd(f"ip addr show dev {self.name}")

    def IP(self) -> str | None:
        """Its address."""
        return self.ip

    def MAC(self) -> str | None:
        """Its hardware address."""
        return self.mac

    def isUp(self, setUp: bool = False) -> bool:
        """Whether it is up; brings it up if asked to."""
        if setUp:
            self.ifconfig("up")
        home = self.node.fabric
        if not self.node.runs_in_lab or home is None or not home.is_current:
            return self._is_up
        shown = self.node.ip_command(f"link show dev {self.name}")
        return self._is_up if not shown else bool(re.search(r"<[^>]*\bUP\b", shown))

    def rename(self, newname: str) -> str:
        """Gives it another name, before the network is there.

        Raises:
            Unsupported: It is there.
        """
        home = self.node.fabric
        if home is not None and home.live is not None:
            raise Unsupported(f"netloom: {self.name} cannot be renamed while the network is up")
        self.node.nameToIntf.pop(self.name, None)
        self.name = newname
        self.node.nameToIntf[newname] = self
        return newname

    def setParam(self, results: dict[str, Any], method: str, **param: Any) -> Any:
        """Calls a method with a parameter, if it is set."""
        return self.node.__class__.setParam(self, results, method, **param)  # pyright: ignore[reportArgumentType]

    def config(
        self, mac: Any = None, ip: Any = None, ifconfig: Any = None, up: bool = True, **_params: Any
    ) -> dict[str, Any]:
        """Sets what its parameters say."""
        results: dict[str, Any] = {}
        self.setParam(results, "setMAC", mac=mac)
        self.setParam(results, "setIP", ip=ip)
        if ifconfig is not None:
            self.ifconfig(*([ifconfig] if isinstance(ifconfig, str) else ifconfig))
        if not up:
            self.ifconfig("down")
        return results

    def lab_keys(self) -> dict[str, Any]:
        """The keys of the direction that begins here."""
        return {}

    def lab_link(self) -> str:
        """The name of its link in the lab, if it has none of a script."""
        return f"wire-{re.sub(r'[^A-Za-z0-9-]', '-', self.name)}"

    def delete(self) -> None:
        """Removes it."""
        self.node.delIntf(self)
        self.link = None

    def status(self) -> str:
        """`OK`, or that its link is gone."""
        return "OK" if self.link is not None and self.link.exists else "MISSING"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __str__(self) -> str:
        return self.name


class TCIntf(Intf):
    """An interface that sends with a rate, a delay, losses and a queue: pipes of Netloom's, not `tc`."""

    #: Any rate is possible; the name is Mininet's.
    bwParamMax = float("inf")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._shape: dict[str, Any] = {}
        super().__init__(*args, **kwargs)

    def config(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        bw: Any = None, delay: Any = None, jitter: Any = None, loss: Any = None,
        gro: bool = False, txo: bool = True, rxo: bool = True,
        speedup: float = 0, use_hfsc: bool = False, use_tbf: bool = False, use_htb: bool = False,
        latency_ms: float | None = None, enable_ecn: bool = False, enable_red: bool = False,
        max_queue_size: Any = None, **params: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Sets how it sends; what is not given is without limit.

        Args:
            bw: The rate in Mbit/s, any above 0.
            delay: How long packets travel: `10ms`, `0.5s`, `300us`, or a number of microseconds.
            jitter: By how much that differs at most.
            loss: The share of packets that is lost, in percent.
            gro: No effect: interfaces of a lab have no such hardware.
            txo: See `gro`.
            rxo: See `gro`.
            speedup: At a switch, the rate in place of `bw`.
            use_hfsc: No effect: any shaper of `tc` is the same pipe here.
            use_tbf: The queue is limited in time by `latency_ms`.
            use_htb: See `use_hfsc`.
            latency_ms: How long packets may wait beside a burst of 15 kB, with `use_tbf`; as long as such a burst takes if nothing is said.
            enable_ecn: RED that marks packets.
            enable_red: RED that drops packets.
            max_queue_size: How many packets may wait.
            **params: What other interfaces have.
        """
        result = super().config(**params)
        self._shape = direction_keys(
            self.name, bw=bw, delay=delay, jitter=jitter, loss=loss, speedup=speedup if _is_switch(self.node) else 0,
            tbf=use_tbf, latency_ms=latency_ms, ecn=enable_ecn, red=enable_red, queue=max_queue_size,
        )  # fmt: skip
        if bw is not None:
            info(
                f"({float(bw):.2f}Mbit{f' {delay} delay' if delay is not None else ''}{f' {loss:.5f}% loss' if loss else ''}) "
            )
        elif delay is not None or loss:
            info(f"({f'{delay} delay ' if delay is not None else ''}{f'{float(loss):.5f}% loss' if loss else ''}) ")
        if self.link is not None:
            self.link.changed(self)
        return result

    def lab_keys(self) -> dict[str, Any]:
        """See `Intf`."""
        return dict(self._shape)

    def bwCmds(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: there are no commands of `tc`."""
        raise Unsupported(
            "netloom: TCIntf.bwCmds cannot work here: a link is a pipe of Netloom's, not a qdisc; use config(bw=...)"
        )

    delayCmds = bwCmds
    tc = bwCmds


class Link(Explained):
    """A link between two nodes; its interfaces are made with it."""

    def __init__(
        self,
        node1: Any, node2: Any, port1: int | None = None, port2: int | None = None,
        intfName1: str | None = None, intfName2: str | None = None,
        addr1: str | None = None, addr2: str | None = None,
        intf: Any = Intf, cls1: Any = None, cls2: Any = None,
        params1: dict[str, Any] | None = None, params2: dict[str, Any] | None = None,
        fast: bool = True, **params: Any,
    ) -> None:  # fmt: skip
        first: dict[str, Any] = {**(params1 or {}), **params}
        second: dict[str, Any] = {**(params2 or {}), **params}
        if port1 is not None:
            first["port"] = port1
        if port2 is not None:
            second["port"] = port2
        if node1 is node2:
            raise Exception(f"{node1} cannot be linked with itself")
        first.setdefault("port", node1.newPort())
        second.setdefault("port", node2.newPort())
        for node, chosen in ((node1, first), (node2, second)):
            if chosen["port"] in node.intfs:
                raise Exception(f"port {chosen['port']} of {node} is taken by {node.intfs[chosen['port']]}")
        intfName1 = intfName1 or self.intfName(node1, first["port"])
        intfName2 = intfName2 or self.intfName(node2, second["port"])
        self.number = 0
        self.exists = True
        # Commands that the interfaces give while they are made find both ends.
        self.intf1: Any = _Planned(intfName1, node1, addr1)
        self.intf2: Any = _Planned(intfName2, node2, addr2)
        self.fabric = _together(node1, node2)
        self.fabric.links.append(self)
        self.fabric.touch()
        first["mac"], second["mac"] = self.intf1.mac, self.intf2.mac
        try:
            self.intf1 = (cls1 or intf)(name=intfName1, node=node1, link=self, **first)
            self.intf2 = (cls2 or intf)(name=intfName2, node=node2, link=self, **second)
        except BaseException:
            # Half a link is none.
            self.fabric.links.remove(self)
            for node, chosen in ((node1, first), (node2, second)):
                made = node.intfs.get(chosen["port"])
                if made is not None and made.link is self:
                    node.delIntf(made)
            raise
        for end in (self.intf1, self.intf2):
            if end.node.lab_kind() == "machine":
                # It is there at once, for programs of this machine.
                end.node.make_wire(end)

    def intfName(self, node: Any, n: int) -> str:
        """The name of an interface: `h1-eth0`."""
        return f"{node.name}-eth{n}"

    # In the lab

    def lab_name(self) -> str:
        """What it is called there."""
        first, second = (re.sub(r"[^A-Za-z0-9-]", "-", each.node.name) for each in (self.intf1, self.intf2))
        base = f"{first}-{second}"
        same = [
            link for link in self.fabric.links[: self.number] if {link.intf1.node, link.intf2.node} == {self.intf1.node, self.intf2.node}
        ]  # fmt: skip
        if len(base) > 26 or not base[0].isalpha():
            return f"link{self.number + 1}"
        return f"{base}-{len(same) + 1}" if same else base

    @property
    def is_inside(self) -> bool:
        """Whether it joins two bridges of Open vSwitch, and so is two links with a hub between them."""
        return self.intf1.node.lab_kind() == self.intf2.node.lab_kind() == "flows"

    def far_name(self) -> str:
        """What the half of it at its second interface is called then."""
        return f"{self.lab_name()}-far"

    def lab_keys(self) -> dict[str, Any]:
        """The keys that it has there."""
        forward, backward = self.intf1.lab_keys(), self.intf2.lab_keys()
        if _may_loop(self.intf1.node) and _may_loop(self.intf2.node):
            # A loop needs a rate, until the spanning tree stands.
            forward.setdefault("rate", "10 Gbit/s")
            backward.setdefault("rate", "10 Gbit/s")
        keys: dict[str, Any] = {key: value for key, value in (("forward", forward), ("backward", backward)) if value}
        return keys

    @property
    def _is_up(self) -> bool:
        # Other interfaces are brought down themselves.
        return all(intf._is_up for intf in (self.intf1, self.intf2) if intf.node.lab_kind() == "switch")

    def changed(self, intf: Intf) -> None:
        """An interface sends in another way now."""
        home = self.fabric
        if not home.is_current or isinstance(self.intf2, _Planned):
            home.touch()
            return
        from ..links import _text  # pyright: ignore[reportPrivateUsage]

        given = {"rate": "unlimited", "delay": "0", "loss": "0", "queue": "1000 packets", **intf.lab_keys()}
        live = home.ensure()
        first = intf is self.intf1
        live.ask(
            "set", link=self.far_name() if self.is_inside and not first else self.lab_name(),
            direction="forward" if first else "backward",
            changes=[[key, _text(value)] for key, value in given.items()],
        )  # fmt: skip

    def bring_down(self) -> None:
        """Makes a lab that is new as its interfaces were."""
        if not self._is_up:
            self.refresh_state()
        for intf in (self.intf1, self.intf2):
            if not intf._is_up and intf.node.runs_in_lab:
                intf.node.ip_command(f"link set dev {intf.name} down")

    def refresh_state(self) -> None:
        """Cuts it in the lab, or restores it, as its interfaces say."""
        if self.fabric.is_current:
            change = ["up", "true"] if self._is_up else ["down", "true"]
            self.fabric.ensure().ask("set", link=self.lab_name(), changes=[change])

    # Its end

    def delete(self) -> None:
        """Removes it."""
        if self in self.fabric.links:
            self.fabric.links.remove(self)
            self.fabric.touch()
        self.exists = False
        self.intf1.delete()
        self.intf2.delete()

    def stop(self) -> None:
        """Removes it."""
        self.delete()

    def status(self) -> str:
        """The states of its interfaces."""
        return f"({self.intf1.status()} {self.intf2.status()})"

    def __str__(self) -> str:
        return f"{self.intf1}<->{self.intf2}"


class _Planned:
    """An interface that is about to be made."""

    def __init__(self, name: str, node: Any, mac: str | None) -> None:
        self.name = name
        self.node = node
        self.mac = mac or _next_mac()
        self.ip: str | None = None
        self.prefixLen: int | None = None
        self.wire = ""
        self._is_up = True

    def lab_keys(self) -> dict[str, Any]:
        """It has none yet."""
        return {}


class OVSIntf(Intf):
    """An interface of a switch."""


class OVSLink(Link):
    """A link between switches."""


class TCLink(Link):
    """A link whose both ends have a rate, a delay, losses and a queue."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("cls1", TCIntf)
        kwargs.setdefault("cls2", TCIntf)
        super().__init__(*args, **kwargs)


class TCULink(TCLink):
    """The same; there are no offloads to be switched off."""


def _next_mac() -> str:
    return "02:4e:4c:" + ":".join(f"{byte:02x}" for byte in next(_macs).to_bytes(3, "big"))


def _is_switch(node: Any) -> bool:
    from ._switches import Switch

    return isinstance(node, Switch)


def _may_loop(node: Any) -> bool:
    return bool(_is_switch(node) and node.lab_keys().get("stp"))


def _together(node1: Any, node2: Any) -> Fabric:
    """Sees to it that two nodes belong to the same lab."""
    for node, other in ((node1, node2), (node2, node1)):
        if node.fabric is None and other.fabric is not None:
            other.fabric.adopt(node)
    if node1.fabric is None:
        home = Fabric()
        home.adopt(node1)
        home.adopt(node2)
    elif node1.fabric is not node2.fabric:
        node1.fabric.merge(node2.fabric)
    home = node1.fabric
    assert isinstance(home, Fabric)
    return home


def _external(intf: Intf, node: Any) -> None:
    """An interface of this machine becomes one of a node."""
    if node.lab_kind() == "machine":
        return
    home = node.fabric or Fabric()
    home.adopt(node)
    home.externals.append(intf)
    home.touch()


def __getattr__(name: str) -> Any:
    from ._names import other

    return other("link", name, globals())


__all__ = ["Intf", "Link", "OVSIntf", "OVSLink", "TCIntf", "TCLink", "TCULink", "ipAdd"]
