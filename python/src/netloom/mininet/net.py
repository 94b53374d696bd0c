"""A network: nodes, links and controllers, and the tests that scripts make with them."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterator
from typing import Any

from ._clear import Unsupported
from ._controllers import DefaultController, wait_until
from ._fabric import Fabric
from ._measured import Measured
from ._names import other
from ._verdict import tell
from .link import Intf, Link
from .log import debug, error, info, warn
from .node import Controller, Host, Node, OVSKernelSwitch
from .nodelib import NAT
from .util import ipAdd, macColonHex, netParse

VERSION = "2.3.0"


class Mininet(Measured):
    """A network, made from a topology or added to bit by bit."""

    def __init__(
        self,
        topo: Any = None, switch: Any = OVSKernelSwitch, host: Any = Host, controller: Any = DefaultController,
        link: Any = Link, intf: Any = Intf, build: bool = True, xterms: bool = False, cleanup: bool = False,
        ipBase: str = "10.0.0.0/8", inNamespace: bool = False, autoSetMacs: bool = False, autoStaticArp: bool = False,
        autoPinCpus: bool = False, listenPort: int | None = None, waitConnected: Any = False,
    ) -> None:  # fmt: skip
        self.topo = topo
        self.switch = switch
        self.host = host
        self.controller = controller
        self.link = link
        self.intf = intf
        self.cleanup = cleanup
        self.ipBase = ipBase
        self.ipBaseNum, self.prefixLen = netParse(ipBase)
        self.nextIP = (0xFFFFFFFF >> self.prefixLen) & self.ipBaseNum or 1
        self.inNamespace = inNamespace
        self.xterms = xterms
        self.autoSetMacs = autoSetMacs
        self.autoStaticArp = autoStaticArp
        self.autoPinCpus = autoPinCpus
        self.listenPort = listenPort
        self.waitConn = waitConnected
        self.hosts: list[Any] = []
        self.switches: list[Any] = []
        self.controllers: list[Any] = []
        self.links: list[Any] = []
        self.nameToNode: dict[str, Any] = {}
        self.terms: list[Any] = []
        self.fabric = Fabric()
        self.built = False
        self._started = False
        if xterms:
            from .term import makeTerms

            makeTerms([])
        Mininet.init()
        if topo and build:
            self.build()

    # What it is made of

    def waitConnected(self, timeout: float | None = None, delay: float = 0.5) -> bool:
        """Waits until all switches have found a controller; whether they did in time."""
        info("*** Waiting for switches to connect\n")
        if not wait_until(lambda: all(switch.connected() for switch in self.switches), timeout):
            warn(f"Timed out after {timeout} seconds\n")
            for switch in self.switches:
                if not switch.connected():
                    warn(f"Warning: {switch.name} is not connected to a controller\n")
            return False
        info(" ".join(switch.name for switch in self.switches) + " \n")
        return True

    def getNextIp(self) -> str:
        """The next address of the network, with the length of its prefix."""
        found = ipAdd(self.nextIP, ipBaseNum=self.ipBaseNum, prefixLen=self.prefixLen) + f"/{self.prefixLen}"
        self.nextIP += 1
        return found

    def addHost(self, name: str, cls: Any = None, **params: Any) -> Any:
        """Adds a host."""
        defaults: dict[str, Any] = {
            "ip": ipAdd(self.nextIP, ipBaseNum=self.ipBaseNum, prefixLen=self.prefixLen) + f"/{self.prefixLen}"
        }
        if self.autoSetMacs:
            defaults["mac"] = macColonHex(self.nextIP)
        if self.autoPinCpus:
            raise Unsupported("netloom: autoPinCpus cannot work here; with CPULimitedHost, cores=N pins one host")
        if self.inNamespace:
            defaults["inNamespace"] = True
        self.nextIP += 1
        defaults.update(params)
        self._free(name)
        host = (cls or self.host)(name, **defaults)
        self.hosts.append(host)
        return self._added(name, host)

    def addSwitch(self, name: str, cls: Any = None, **params: Any) -> Any:
        """Adds a switch."""
        defaults: dict[str, Any] = {"listenPort": self.listenPort, "inNamespace": self.inNamespace}
        defaults.update(params)
        self._free(name)
        switch = (cls or self.switch)(name, **defaults)
        switch.net = self
        if not self.inNamespace and self.listenPort:
            self.listenPort += 1
        self.switches.append(switch)
        return self._added(name, switch)

    def addController(self, name: Any = "c0", controller: Any = None, **params: Any) -> Any:
        """Adds a controller, or several, or one that there is."""
        controller = controller or self.controller
        if isinstance(name, Controller):
            found: Any = name
            name = found.name
            if found.fabric is not None:
                self.controllers.append(found)
                self.nameToNode[name] = found
                return found
        else:
            found = controller(name, **params)
        if found is None:
            return None
        self.controllers.append(found)
        return self._added(name, found)

    def addNAT(self, name: str = "nat0", connect: Any = True, inNamespace: bool = False, **params: Any) -> Any:
        """Adds a way out; hosts that have no default route yet get one that leads there."""
        nat = self.addHost(name, cls=NAT, inNamespace=inNamespace, subnet=self.ipBase, **params)
        if connect:
            if isinstance(connect, str):
                connect = self[connect]
            self.addLink(nat, connect if isinstance(connect, Node) else self.switches[0])
            route = f"via {nat.params['ip'].split('/')[0]}"
            for host in self.hosts:
                # Others could not reach it: their way out, if they have one, is another.
                if host is not nat and host.inNamespace and _share_subnet(host, nat):
                    if self.built:
                        host.setDefaultRoute(route)
                    else:
                        host.params["defaultRoute"] = route
        return nat

    def addLink(
        self, node1: Any, node2: Any, port1: int | None = None, port2: int | None = None, cls: Any = None, **params: Any
    ) -> Any:
        """Adds a link between nodes, or nodes of these names."""
        node1 = node1 if not isinstance(node1, str) else self[node1]
        node2 = node2 if not isinstance(node2, str) else self[node2]
        options = dict(params)
        if port1 is not None:
            options.setdefault("port1", port1)
        if port2 is not None:
            options.setdefault("port2", port2)
        if self.intf is not Intf:
            options.setdefault("intf", self.intf)
        for node in (node1, node2):
            if node.fabric is None:
                self.fabric.adopt(node)
        link = (cls or self.link)(node1, node2, **options)
        self.links.append(link)
        return link

    def delLink(self, link: Any) -> None:
        """Removes a link."""
        link.delete()
        if link in self.links:
            self.links.remove(link)

    def delLinkBetween(self, node1: Any, node2: Any, index: int = 0, allLinks: bool = False) -> Any:
        """Removes a link between two nodes, or all."""
        found = self.linksBetween(node1, node2)
        found = found if allLinks else [found[index]]
        for link in found:
            self.delLink(link)
        return found

    def linksBetween(self, node1: Any, node2: Any) -> list[Any]:
        """Links between two nodes."""
        return [link for link in self.links if {link.intf1.node, link.intf2.node} == {node1, node2}]

    def delNode(self, node: Any, nodes: list[Any] | None = None) -> None:
        """Removes a node, with its links."""
        if nodes is None:
            nodes = self.hosts if node in self.hosts else self.switches if node in self.switches else self.controllers
        node.deleteIntfs()
        self.links = [link for link in self.links if link.exists]
        if node.fabric is not None:
            node.fabric.release(node)
        node.terminate()
        nodes.remove(node)
        del self.nameToNode[node.name]

    def delHost(self, host: Any) -> None:
        """Removes a host."""
        self.delNode(host, self.hosts)

    def delSwitch(self, switch: Any) -> None:
        """Removes a switch."""
        self.delNode(switch, self.switches)

    def delController(self, controller: Any) -> None:
        """Removes a controller."""
        self.controllers.remove(controller)
        self.nameToNode.pop(controller.name, None)
        controller.stop()

    def delNAT(self, nat: Any) -> None:
        """Removes a way out."""
        self.delNode(nat, self.hosts)

    def _free(self, name: str) -> None:
        if name in self.nameToNode:
            raise Exception(f"there is a node `{name}` already: give this one another name")

    def _added(self, name: str, node: Any) -> Any:
        self.nameToNode[name] = node
        if node.fabric is None:
            self.fabric.adopt(node)
        elif node.fabric is not self.fabric:
            self.fabric.merge(node.fabric)
        return node

    # Finding nodes

    def getNodeByName(self, *args: Any) -> Any:
        """A node by name, or a list of nodes."""
        return self[args[0]] if len(args) == 1 else [self[name] for name in args]

    def get(self, *args: Any) -> Any:
        """The same."""
        return self.getNodeByName(*args)

    def __getitem__(self, key: str) -> Any:
        if key not in self.nameToNode:
            raise KeyError(f"no node is called `{key}`: there are {', '.join(list(self.nameToNode)[:20])}")
        return self.nameToNode[key]

    def __delitem__(self, key: str) -> None:
        self.delNode(self[key])

    def __iter__(self) -> Iterator[str]:
        for node in [*self.hosts, *self.switches, *self.controllers]:
            yield node.name

    def __len__(self) -> int:
        return len(self.hosts) + len(self.switches) + len(self.controllers)

    def __contains__(self, item: object) -> bool:
        return item in self.nameToNode

    def keys(self) -> list[str]:
        """Names of nodes."""
        return list(self)

    def values(self) -> list[Any]:
        """Nodes."""
        return [self[name] for name in self]

    def items(self) -> Any:
        """Names and nodes."""
        return zip(self.keys(), self.values())

    # Its life

    @staticmethod
    def randMac() -> str:
        """A hardware address by chance."""
        return macColonHex((0x02 << 40) | random.randint(1, 2**40 - 1))

    def configHosts(self) -> None:
        """Gives hosts what their parameters say."""
        for host in self.hosts:
            info(host.name + " ")
            intf = host.defaultIntf()
            if intf:
                host.configDefault()
            else:
                # Without an interface there is nothing to give an address.
                host.configDefault(ip=None, mac=None)
        info("\n")

    def buildFromTopo(self, topo: Any = None) -> None:
        """Adds the nodes and links of a topology."""
        topo = topo or self.topo
        info("*** Creating network\n")
        if not self.controllers and self.controller:
            info("*** Adding controller\n")
            classes = self.controller if isinstance(self.controller, list) else [self.controller]
            for number, each in enumerate(classes):
                if isinstance(each, Controller):
                    self.addController(each)
                else:
                    self.addController(f"c{number}", each)
        info("*** Adding hosts:\n")
        for name in topo.hosts():
            self.addHost(name, **topo.nodeInfo(name))
            info(name + " ")
        info("\n*** Adding switches:\n")
        for name in topo.switches():
            params = dict(topo.nodeInfo(name))
            params.pop("isSwitch", None)
            cls = params.pop("cls", None)
            self.addSwitch(name, cls=cls, **params)
            info(name + " ")
        info("\n*** Adding links:\n")
        for source, target, params in topo.links(sort=True, withInfo=True):
            options = {key: value for key, value in params.items() if key not in ("node1", "node2")}
            self.addLink(source, target, **options)
            info(f"({source}, {target}) ")
        info("\n")

    def configureControlNetwork(self) -> None:
        """Nothing: switches reach their controllers without one."""
        debug("*** a control network is not needed\n")

    def build(self) -> None:
        """Makes what the topology says, and gives hosts their addresses."""
        if self.topo:
            self.buildFromTopo(self.topo)
        if self.inNamespace:
            self.configureControlNetwork()
        info("*** Configuring hosts\n")
        self.configHosts()
        if self.autoStaticArp:
            self.staticArp()
        self.built = True

    def startTerms(self) -> None:
        """Refused, see `mininet.term`."""
        from .term import makeTerms

        makeTerms(self.hosts)

    def stopXterms(self) -> None:
        """Nothing: there are none."""

    def staticArp(self) -> None:
        """Notes the hardware addresses of all hosts at all others."""
        for source in self.hosts:
            for target in self.hosts:
                if source != target and target.IP():
                    source.setARP(ip=target.IP(), mac=target.MAC())

    def start(self) -> None:
        """Starts controllers and switches; then the network is there."""
        if not self.built:
            self.build()
        info("*** Starting controller\n")
        for controller in self.controllers:
            info(controller.name + " ")
            controller.start()
        info(f"\n*** Starting {len(self.switches)} switches\n")
        for switch in self.switches:
            info(switch.name + " ")
            switch.start(self.controllers)
        if self.nameToNode:
            self.fabric.ensure()
        self._started = True
        info("\n")
        if self.waitConn:
            self.waitConnected(
                self.waitConn if isinstance(self.waitConn, (int, float)) and self.waitConn is not True else None
            )

    def stop(self) -> None:
        """Stops everything, and says how far the network was as described."""
        info(f"*** Stopping {len(self.controllers)} controllers\n")
        for controller in self.controllers:
            info(controller.name + " ")
            controller.stop()
        info(f"\n*** Stopping {len(self.links)} links\n")
        for _ in self.links:
            info(".")
        info(f"\n*** Stopping {len(self.switches)} switches\n")
        for switch in self.switches:
            info(switch.name + " ")
            switch.stop(deleteIntfs=False)
        info(f"\n*** Stopping {len(self.hosts)} hosts\n")
        for host in self.hosts:
            info(host.name + " ")
            host.terminate()
        result = self.fabric.down()
        for intf in [intf for link in self.links for intf in (link.intf1, link.intf2)]:
            if intf.wire:
                from ._early import remove_wire

                remove_wire(intf)
        info("\n*** Done\n")
        tell(result, self.fabric.keeps_results)

    def run(self, test: Any, *args: Any, **kwargs: Any) -> Any:
        """Starts, calls a test, and stops."""
        try:
            self.start()
            info("*** Running test\n")
            return test(*args, **kwargs)
        finally:
            self.stop()

    def configLinkStatus(self, src: str, dst: str, status: str) -> None:
        """Brings links between two nodes `up` or `down`."""
        if src not in self.nameToNode:
            error(f"src not in network: {src}\n")
        elif dst not in self.nameToNode:
            error(f"dst not in network: {dst}\n")
        elif status not in ("up", "down"):
            error(f"a link is brought up or down, not {status}\n")
        else:
            connections = self[src].connectionsTo(self[dst])
            if not connections:
                error(f"src and dst not connected: {src} {dst}\n")
            for first, second in connections:
                for intf in (first, second):
                    said = intf.ifconfig(status)
                    if said:
                        error(f"link {intf} set to {status}: {said}\n")

    def interact(self) -> None:
        """Starts, asks for commands, and stops."""
        from .cli import CLI

        self.start()
        CLI(self)
        self.stop()

    inited = False

    @classmethod
    def init(cls) -> None:
        """Nothing is to be prepared on this machine."""
        cls.inited = True


def _share_subnet(host: Any, nat: Any) -> bool:
    """Whether a host reaches the first address of a way out directly; if the host has none, that is not known, and assumed."""
    try:
        own = ipaddress.ip_interface(host.params.get("ip") or host.IP())
        return ipaddress.ip_address(nat.params["ip"].split("/")[0]) in own.network
    except ValueError:
        return True


def __getattr__(name: str) -> Any:
    return other("net", name, globals())


class MininetWithControlNet(Mininet):
    """The same: switches reach their controllers without a network of their own."""


__all__ = ["VERSION", "Mininet", "MininetWithControlNet"]
