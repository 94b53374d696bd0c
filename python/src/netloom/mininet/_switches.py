"""Switches: those of the packet engine, Open vSwitch where flows matter, and programs of a script's own."""

from __future__ import annotations

import os
import re
from typing import Any

from . import _openvswitch
from ._clear import Unsupported
from ._node import Node
from ._openvswitch import SWITCHES


class Switch(Node):
    """A switch that a script's own program makes: it runs in a namespace that has the interfaces."""

    portBase = 1
    dpidLen = 16

    def __init__(
        self, name: str, dpid: str | None = None, opts: str = "", listenPort: int | None = None, **params: Any
    ) -> None:
        params.setdefault("inNamespace", False)
        self.dpid = ""
        self.controlIntf: Any = None
        super().__init__(name, **params)
        self.dpid = self.defaultDpid(dpid)
        self.opts = opts
        self.listenPort = listenPort
        if not self.inNamespace:
            from .link import Intf

            self.controlIntf = Intf("lo", self, port=0)

    def lab_kind(self) -> str:
        """See `Node`."""
        return "host"

    def defaultDpid(self, dpid: str | None = None) -> str:
        """The number of its datapath: what is given, or the number in its name.

        Raises:
            Exception: There is none.
        """
        if dpid:
            dpid = str(dpid).replace(":", "")
            if not re.fullmatch(r"[0-9a-fA-F]+", dpid) or len(dpid) > self.dpidLen:
                raise Exception(f"{self.name}: dpid={dpid!r} has up to {self.dpidLen} hexadecimal digits")
        else:
            numbers = re.findall(r"\d+", self.name)
            if not numbers:
                raise Exception(
                    f"{self.name}: Unable to derive default datapath ID - please either specify a dpid or use a canonical switch name such as s23."
                )
            dpid = f"{int(numbers[0]):x}"
        return dpid.zfill(self.dpidLen)

    def defaultIntf(self) -> Any:
        """The interface that leads to its controllers, or the first one."""
        return self.controlIntf or super().defaultIntf()

    def connected(self) -> bool:
        """Whether it has found a controller."""
        return True

    def start(self, controllers: list[Any]) -> None:
        """Starts it; for subclasses."""

    def stop(self, deleteIntfs: bool = True) -> None:
        """Ends it, and removes its interfaces if asked for."""
        super().stop(deleteIntfs)


class _Bridge(Switch):
    """A switch of the packet engine, whose shell is one of this machine; or a bridge of Open vSwitch, as soon as somebody looks at it."""

    #: What Open vSwitch does without a controller.
    failMode = "standalone"
    protocols: str | None = None
    reconnectms = 1000

    def __init__(self, name: str, stp: Any = False, prio: int | None = None, **params: Any) -> None:
        self.stp = stp in (True, 1, "1", "True", "true")
        self.prio = prio
        #: Its controllers, once it has been started.
        self.controllers: list[Any] | None = None
        super().__init__(name, **params)

    def lab_kind(self) -> str:
        """See `Node`."""
        return "flows" if self.fabric is not None and self.fabric.has_flows else "switch"

    @property
    def lab_node(self) -> str:
        """See `Node`: all bridges of Open vSwitch are in one node."""
        home = self._home()
        return home.flows_node if self.lab_kind() == "flows" else super().lab_node

    def lab_keys(self) -> dict[str, Any]:
        """See `Node`."""
        if not self.stp:
            return {}
        priority = 32768 if self.prio is None else min(int(self.prio), 61440) // 4096 * 4096
        return {"stp": {"priority": priority, "forward_delay": "4 s", "hello": "1 s", "max_age": "6 s"}}

    def wants_flows(self) -> bool:
        """Whether it has to be Open vSwitch."""
        return os.environ.get(SWITCHES) == "openflow"

    def start(self, controllers: list[Any]) -> None:
        """Notes its controllers."""
        self.controllers = list(controllers)
        if self.fabric is not None:
            self.fabric.reconsider(self)

    def _look(self, command: str) -> None:
        """Becomes Open vSwitch for a command that asks for it, or for its interfaces."""
        home = self._home()
        if home.has_flows or (home.live is None and self.controllers is None):
            return
        # What `tc` says of a port is for the pipe that begins there, whichever kind of switch it is.
        command = ";".join(part for part in re.split(r"[;&|\n]+", command) if not re.match(r"\s*(sudo\s+)?tc\s", part))
        names = "|".join(re.escape(intf.name) for intf in self.intfList() if intf.link) or r"\0"
        if (
            _openvswitch.LOOKS.search(command) or re.search(rf"\b({names})\b", command)
        ) and _openvswitch.is_installed():
            home.ask_for_flows(f"`{command.strip()}` on {self.name}")

    def sendCmd(self, *args: Any, **kwargs: Any) -> None:
        """See `Node`."""
        self._look(" ".join(str(each) for each in args))
        super().sendCmd(*args, **kwargs)

    def dpctl(self, *args: Any) -> str:
        """Calls `ovs-ofctl` for its bridge.

        Raises:
            Unsupported: Open vSwitch is not installed.
        """
        return self.vsctl_like("ovs-ofctl", args[0], self, *args[1:])

    def vsctl_like(self, program: str, *args: Any) -> str:
        """Calls a tool of Open vSwitch.

        Raises:
            Unsupported: It is not installed.
        """
        if not _openvswitch.is_installed():
            raise Unsupported(
                f"netloom: {self.name} has no flows: install Open vSwitch (apt install --no-install-recommends openvswitch-switch)"
            )
        self._look(program)
        return self.cmd(program, *args)

    def attach(self, intf: Any) -> None:
        """Adds a port of Open vSwitch."""
        self.vsctl_like("ovs-vsctl", "add-port", self, intf)

    def detach(self, intf: Any) -> None:
        """Removes a port of Open vSwitch."""
        self.vsctl_like("ovs-vsctl", "del-port", self, intf)

    @classmethod
    def batchStartup(cls, switches: list[Any], run: Any = None) -> list[Any]:
        """All of them start with the lab."""
        return switches

    @classmethod
    def batchShutdown(cls, switches: list[Any], run: Any = None) -> list[Any]:
        """All of them end with the lab."""
        return switches


class UserSwitch(_Bridge):
    """Mininet's reference switch in user space: here the packet engine's."""

    dpidLen = 12

    def __init__(self, name: str, dpopts: str = "--no-slicing", **kwargs: Any) -> None:
        self.dpopts = dpopts
        super().__init__(name, **kwargs)


class OVSSwitch(_Bridge):
    """Open vSwitch where a controller of a script's own or flows matter, else the packet engine's switch, which learns addresses as well."""

    def __init__(
        self, name: str, failMode: str = "secure", datapath: str = "kernel", inband: bool = False,
        protocols: str | None = None, reconnectms: int = 1000, stp: Any = False, batch: bool = False, **params: Any,
    ) -> None:  # fmt: skip
        if failMode not in ("secure", "standalone"):
            raise Exception(f"{name}: failMode={failMode!r} is neither 'secure' nor 'standalone'")
        self.failMode = failMode
        self.datapath = datapath
        self.inband = inband
        self.protocols = protocols
        self.reconnectms = reconnectms
        self.batch = batch
        super().__init__(name, stp=stp, **params)

    def wants_flows(self) -> bool:
        """See `_Bridge`."""
        if super().wants_flows():
            return True
        network = getattr(self, "net", None) if "net" in self.__dict__ else None
        found = self.controllers
        if found is None:
            found = list(network.controllers) if network is not None else []
            if not found and not (network is not None and network.built):
                return False
        return any(not each.only_learns for each in found) or (not found and self.failMode == "secure")

    def connected(self) -> bool:
        """Whether it has found a controller."""
        if self.lab_kind() != "flows" or not self.controllers:
            return True
        shown = self.cmd("ovs-vsctl show")
        own = re.search(rf'Bridge "?{re.escape(self.name)}"?\r?\n(.*?)(?=\n    Bridge|\Z)', shown, re.DOTALL)
        return own is not None and "is_connected: true" in own[1]

    def controllerUUIDs(self, update: bool = False) -> list[str]:
        """What Open vSwitch calls its controllers."""
        if self.lab_kind() != "flows":
            return []
        return self.cmd(f"ovs-vsctl get bridge {self} controller").strip().strip("[]").replace(",", " ").split()

    def vsctl(self, *args: Any, **kwargs: Any) -> str:
        """Calls `ovs-vsctl`."""
        return self.vsctl_like("ovs-vsctl", *args)

    @staticmethod
    def TCReapply(intf: Any) -> None:
        """Nothing: what links do is not done by `tc`."""

    @classmethod
    def isOldOVS(cls) -> bool:
        """Whether it is older than 1.10; it is not."""
        return False


class OVSBridge(OVSSwitch):
    """Open vSwitch without a controller, which learns addresses: here the packet engine's switch."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.update(failMode="standalone")
        super().__init__(*args, **kwargs)

    def start(self, controllers: list[Any]) -> None:
        """Starts it without controllers."""
        super().start([])

    def wants_flows(self) -> bool:
        """See `_Bridge`: it has no controller."""
        return _Bridge.wants_flows(self)


class IVSSwitch(_Bridge):
    """Indigo Virtual Switch: here the packet engine's."""

    def __init__(self, name: str, verbose: bool = False, **kwargs: Any) -> None:
        self.verbose = verbose
        super().__init__(name, **kwargs)


class LinuxBridge(_Bridge):
    """A bridge of Linux, with a spanning tree if asked for: here the packet engine's."""

    nextPrio = 100

    def __init__(self, name: str, stp: Any = False, prio: int | None = None, **kwargs: Any) -> None:
        if stp and prio is None:
            prio = LinuxBridge.nextPrio
            LinuxBridge.nextPrio += 4096
        super().__init__(name, stp=stp, prio=prio, **kwargs)


OVSKernelSwitch = OVSSwitch
OVSLegacyKernelSwitch = OVSSwitch
KernelSwitch = OVSSwitch
bridge_type = _Bridge

__all__ = [
    "IVSSwitch", "KernelSwitch", "LinuxBridge", "OVSBridge", "OVSKernelSwitch", "OVSLegacyKernelSwitch", "OVSSwitch", "Switch",
    "UserSwitch", "bridge_type",
]  # fmt: skip
