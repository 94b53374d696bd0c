"""The interfaces, addresses and routes of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._clear import Explained
from .log import debug, warn

if TYPE_CHECKING:
    from .link import Intf


class Addressed(Explained):
    """What has interfaces."""

    portBase = 0
    name: str
    params: dict[str, Any]
    intfs: dict[int, Intf]
    ports: dict[Intf, int]
    nameToIntf: dict[str, Intf]

    def ip_command(self, arguments: str) -> str:
        """Calls `ip` in the node, or notes that it is to be called."""
        raise NotImplementedError

    # Its interfaces

    def newPort(self) -> int:
        """The next free port."""
        return max(self.ports.values()) + 1 if self.ports else self.portBase

    def addIntf(self, intf: Intf, port: int | None = None, moveIntfFn: Any = None) -> None:
        """Adds an interface."""
        port = self.newPort() if port is None else port
        self.intfs[port] = intf
        self.ports[intf] = port
        self.nameToIntf[intf.name] = intf
        debug(f"\nadded intf {intf} ({port}) to node {self.name}\n")

    def delIntf(self, intf: Intf) -> None:
        """Removes an interface."""
        port = self.ports.pop(intf, None)
        if port is not None:
            self.intfs.pop(port, None)
            self.nameToIntf.pop(intf.name, None)

    def defaultIntf(self) -> Intf | None:
        """The interface at the lowest port."""
        if self.intfs:
            return self.intfs[min(self.intfs)]
        warn(f"*** defaultIntf: warning: {self.name} has no interfaces\n")
        return None

    def intf(self, intf: Any = None) -> Any:
        """An interface by name or port, or the default one."""
        if not intf and intf != 0:
            return self.defaultIntf()
        if isinstance(intf, str):
            return self.nameToIntf[intf]
        return self.intfs[intf] if isinstance(intf, int) else intf

    def connectionsTo(self, node: Any) -> list[tuple[Intf, Intf]]:
        """Pairs of interfaces that lead to another node."""
        found: list[tuple[Intf, Intf]] = []
        for intf in self.intfList():
            link = intf.link
            if link:
                ends = (link.intf1, link.intf2)
                if {end.node for end in ends} == {self, node}:
                    found.append(ends if ends[0] == intf else (ends[1], ends[0]))
        return found

    def deleteIntfs(self, checkName: bool = True) -> None:
        """Removes interfaces, and with them links."""
        for intf in list(self.intfs.values()):
            if intf.link:
                intf.link.delete()

    def intfList(self) -> list[Intf]:
        """Interfaces by port."""
        return [self.intfs[port] for port in sorted(self.intfs)]

    def intfNames(self) -> list[str]:
        """Their names."""
        return [str(intf) for intf in self.intfList()]

    # Addresses and routes

    def setARP(self, ip: str, mac: str) -> str:
        """Notes the hardware address of a neighbour."""
        intf = self.defaultIntf()
        return self.ip_command(f"neigh replace {ip} lladdr {mac} nud permanent dev {intf}") if intf else ""

    def setHostRoute(self, ip: str, intf: Any) -> str:
        """Adds a route to a host."""
        return self.ip_command(f"route replace {ip} dev {intf}")

    def setDefaultRoute(self, intf: Any = None) -> None:
        """Sets the default route: by an interface, or as `ip route` has it (`via 10.0.0.1`)."""
        params = intf if isinstance(intf, str) else f"dev {intf}"
        self.ip_command(f"route replace default {params}")

    def setIP(self, ip: str, prefixLen: int = 8, intf: Any = None, **kwargs: Any) -> Any:
        """Sets an interface's address."""
        return self.intf(intf).setIP(ip, prefixLen, **kwargs)

    def setMAC(self, mac: str, intf: Any = None) -> Any:
        """Sets an interface's hardware address."""
        return self.intf(intf).setMAC(mac)

    def IP(self, intf: Any = None) -> Any:
        """An interface's address."""
        found = self.intf(intf)
        return found.IP() if found else None

    def MAC(self, intf: Any = None) -> Any:
        """An interface's hardware address."""
        found = self.intf(intf)
        return found.MAC() if found else None

    def intfIsUp(self, intf: Any = None) -> Any:
        """Whether an interface is up."""
        found = self.intf(intf)
        return found.isUp() if found else False

    # Its settings

    def setParam(self, results: dict[str, Any], method: str, **param: Any) -> Any:
        """Calls a method with a parameter, if it is set; lists and dicts are taken apart."""
        name, value = next(iter(param.items()))
        if value is None:
            return None
        function = getattr(self, method, None)
        if function is None:
            return None
        if isinstance(value, list):
            result = function(*value)
        elif isinstance(value, dict):
            result = function(**value)
        else:
            result = function(value)
        results[name] = result
        return result

    def config(
        self, mac: Any = None, ip: Any = None, defaultRoute: Any = None, lo: str = "up", **_params: Any
    ) -> dict[str, Any]:
        """Sets what its parameters say."""
        results: dict[str, Any] = {}
        self.setParam(results, "setMAC", mac=mac)
        self.setParam(results, "setIP", ip=ip)
        self.setParam(results, "setDefaultRoute", defaultRoute=defaultRoute)
        if lo != "up":
            self.ip_command(f"link set lo {lo}")
        return results

    def configDefault(self, **moreParams: Any) -> None:
        """The same with the parameters that it was made with."""
        self.params.update(moreParams)
        self.config(**self.params)

    def linkTo(self, node: Any, link: Any = None) -> Any:
        """Links it with another one."""
        from .link import Link

        return (link or Link)(self, node)
