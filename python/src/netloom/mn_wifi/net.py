"""A network with stations and access points."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ..mininet._clear import refuse
from ..mininet.link import Link, TCLink
from ..mininet.log import info, output, warn
from ..mininet.net import Mininet
from ._media import Media
from ._mobile import Mobile
from ._picture import picture
from ._signals import Propagation, channel_of
from .link import TCWirelessLink, WirelessIntf, _4address, adhoc, check_class, mesh
from .node import Car, OVSKernelAP, Station
from .wmediumdConnector import error_prob, snr


class Mininet_wifi(Mobile, Mininet):
    """A network with stations and access points, besides what Mininet has."""

    def __init__(
        self,
        accessPoint: Any = OVSKernelAP, station: Any = Station, car: Any = Car, link: Any = None, ssid: str = "new-ssid",
        mode: str = "g", channel: Any = 1, band: int = 20, encrypt: str | None = None, passwd: str | None = None,
        wmediumd_mode: Any = snr, autoAssociation: bool = True, allAutoAssociation: bool = True, noise_th: float = -91,
        ac_method: str | None = None, fading_cof: float = 0, config4addr: bool = False, client_isolation: bool = False,
        plot: bool = False, topo: Any = None, build: bool = True, **params: Any,
    ) -> None:  # fmt: skip
        self.accessPoint, self.station, self.car = accessPoint, station, car
        #: What access points have if a script says nothing.
        self.of_aps = {
            "ssid": ssid, "mode": mode, "channel": channel, "band": band, "encrypt": encrypt, "passwd": passwd,
        }  # fmt: skip
        self.wmediumd_mode = wmediumd_mode
        self.autoAssociation = autoAssociation and allAutoAssociation
        self.ac_method = ac_method
        self.stations: list[Any] = []
        self.cars: list[Any] = []
        self.aps: list[Any] = []
        self.propagation = Propagation(noise_th=float(noise_th))
        self.media = Media(self)
        self._drawn: dict[str, Any] | None = {} if plot else None
        self._begin_motion()
        is_wireless = link is None or (isinstance(link, type) and issubclass(link, TCWirelessLink))
        super().__init__(topo=None, link=TCLink if is_wireless else link, build=False, **_known(params))
        self.fabric.further.append(self.media.describe)
        for wrong, why in (
            (fading_cof, f"fading_cof={fading_cof}: there is no such fading; signals follow from positions alone"),
            (client_isolation, "client_isolation: access points send on what stations send to one another"),
        ):
            if wrong:
                self.media.say(why)
        self.topo = topo
        if topo and build:
            self.build()

    # Its nodes

    def addStation(self, name: str, cls: Any = None, **params: Any) -> Any:
        """Adds a station: `position`, `wlans`, `range`, `mode`, `txpower`, `antennaGain` and so on, and what hosts have."""
        return self._move(
            self.addHost(name, cls=cls or self.station, wifi_net=self, **params), self.hosts, self.stations
        )

    def addCar(self, name: str, cls: Any = None, **params: Any) -> Any:
        """Adds a station of a vehicle."""
        car = self._move(self.addHost(name, cls=cls or self.car, wifi_net=self, **params), self.hosts, self.stations)
        self.cars.append(car)
        return car

    def addAccessPoint(self, name: str, cls: Any = None, **params: Any) -> Any:
        """Adds an access point: `ssid`, `mode`, `channel`, `position`, `range` and so on, and what switches have."""
        given = {key: value for key, value in self.of_aps.items() if value is not None}
        own = {**given, "wifi_net": self, **params}
        for note in {channel_of(name, own["mode"], own["channel"], own["band"])[1]} - {""}:
            self.media.say(note)
        return self._move(self.addSwitch(name, cls=cls or self.accessPoint, **own), self.switches, self.aps)

    @staticmethod
    def _move(node: Any, before: list[Any], after: list[Any]) -> Any:
        before.remove(node)
        after.append(node)
        return node

    def delNode(self, node: Any, nodes: list[Any] | None = None) -> None:
        """Removes a node, with its links."""
        for own in (self.cars, self.stations, self.aps):
            if nodes is None and node in own:
                nodes = own
        if nodes is self.stations and node in self.cars:
            self.cars.remove(node)
        super().delNode(node, nodes)
        self.media.forget()

    def __iter__(self) -> Iterator[str]:
        for node in [*self.hosts, *self.stations, *self.switches, *self.aps, *self.controllers]:
            yield node.name

    def __len__(self) -> int:
        return len(list(iter(self)))

    def get_mn_wifi_nodes(self) -> list[Any]:
        """Stations and access points."""
        return [*self.stations, *self.aps]

    def wireless(self) -> list[WirelessIntf]:
        """All wireless interfaces."""
        return [intf for node in self.get_mn_wifi_nodes() for intf in node.wintfs.values()]

    def masters(self) -> list[WirelessIntf]:
        """The interfaces of access points."""
        return [intf for intf in self.wireless() if intf.kind == "master"]

    def elapsed(self) -> float:
        """How long the lab has been up, from when it was first made, in seconds."""
        began = self.fabric.began
        return 0.0 if began is None else time.monotonic() - began

    # Its links

    def addLink(
        self, node1: Any, node2: Any = None, port1: int | None = None, port2: int | None = None, cls: Any = None,
        **params: Any,
    ) -> Any:  # fmt: skip
        """Adds a link: by radio between a station and an access point, or of the class `adhoc`, `mesh` or `_4address`; else by wire."""
        first = self[node1] if isinstance(node1, str) else node1
        second = self[node2] if isinstance(node2, str) else node2
        if isinstance(cls, type) and issubclass(cls, TCWirelessLink):
            check_class(cls)
            if cls in (adhoc, mesh):
                return self._join(first, cls, params)
            if cls is _4address:
                return self._bridge(first, second)
            cls = None
        kinds = {id(node): node in self.aps for node in (first, second) if node in self.stations or node in self.aps}
        if cls is None and len(kinds) == 2 and sorted(kinds.values()) == [False, True]:
            station, ap = (first, second) if first in self.stations else (second, first)
            return self._associate(station, ap, params)
        if second is None:
            refuse(f"addLink({first})", "a link has two nodes, or cls=adhoc or cls=mesh")
        return super().addLink(first, second, port1, port2, cls, **params)

    def _associate(self, station: Any, ap: Any, params: dict[str, Any]) -> None:
        """Associates a station with an access point."""
        used = [intf for intf in station.wintfs.values() if intf.kind == "managed" and intf.chosen is None]
        wanted = params.get("intf") or params.get("intfName1")
        own = station.getNameToWintf(wanted) if wanted in station.nameToIntf else (used or [station.wintfs[0]])[0]
        own.associate(ap.wintfs[0])
        if self.wmediumd_mode is error_prob and "error_prob" in params:
            own.error_prob = float(params["error_prob"])
        elif params.get("loss"):
            own.error_prob = float(params["loss"]) / 100
        ignored = [key for key in ("bw", "delay", "jitter", "max_queue_size") if params.get(key) is not None]
        if ignored:
            self.media.say(
                f"{', '.join(ignored)} of the link of {station.name} and {ap.name}: rates and delays follow from the medium"
            )

    def _join(self, node: Any, cls: type[TCWirelessLink], params: dict[str, Any]) -> Any:
        """Makes an interface one of a network without an access point."""
        if params.get("proto"):
            refuse(
                f"proto={params['proto']!r} of {node.name}",
                "Netloom starts no routing daemon; `node.cmd` starts one that is installed on this machine",
            )
        intf = node.getNameToWintf(params.get("intf"))
        intf.become(cls.__name__, {key: value for key, value in params.items() if key != "intf"})
        if cls is mesh and node in self.aps and node.lab_kind() != "switch":
            refuse(f"cls=mesh at {node.name}", "with Open vSwitch")
        return intf.link

    def _bridge(self, first: Any, second: Any) -> Any:
        """Makes the second access point a client of the first, whose frames have four addresses."""
        name = f"{second.name}-wlan{max(second.ports.values()) + 1}"
        given = {"ssid": first.wintfs[0].ssid, "mode": first.wintfs[0].mode, "channel": first.wintfs[0].channel}
        intf = WirelessIntf(name, second, second.newPort(), None, given)
        second.wintfs[len(second.wintfs)] = intf
        intf.associate(first.wintfs[0])
        return intf.link

    # Its radio

    def setPropagationModel(self, **params: Any) -> None:
        """Sets the path loss: `model` and its parameters."""
        self.propagation = Propagation.of(self.propagation.noise_th, params)
        self.fabric.touch()

    def setInitialMediums(self, mediums: Any) -> None:
        """Notes that media follow from networks."""
        self.media.say(
            "mediums are not looked at: each access point and each network of stations is a medium of its own"
        )

    def configureNodes(self) -> None:
        """Does nothing: interfaces are there as soon as their node is."""

    configureWifiNodes = configureNodes

    def setModule(self, _moduleDir: Any) -> None:
        """Does nothing: no module of the kernel is loaded."""

    def get_distance(self, src: str, dst: str) -> None:
        """Says how far two nodes are apart."""
        first, second = self[src], self[dst]
        output(f"The distance between {first} and {second} is {first.get_distance_to(second):.2f} meters\n")

    def auto_association(self) -> None:
        """Lets stations choose their access points again."""
        self.media.forget()
        self.fabric.touch()

    def configNodesStatus(self, src: str, dst: str, status: str) -> None:
        """Associates a station with an access point (`up`), or ends that (`down`)."""
        ends = [self[src], self[dst]]
        station, ap = ends if ends[0] in self.stations else ends[::-1]
        for intf in station.wintfs.values():
            if status == "up" or (intf.associatedTo and intf.associatedTo.node is ap):
                intf.associate(ap.wintfs[0] if status == "up" else None)

    def configLinkStatus(self, src: str, dst: str, status: str) -> None:
        """Brings links between two nodes `up` or `down`."""
        named = [self.nameToNode.get(name) for name in (src, dst)]
        if any(node in self.stations for node in named) and any(node in self.aps for node in named):
            self.configNodesStatus(src, dst, status)
        else:
            super().configLinkStatus(src, dst, status)

    # Its life

    def _everyone(self, call: Any) -> Any:
        """Calls something that goes through hosts and switches, with stations and access points among them."""
        hosts, switches = self.hosts, self.switches
        self.hosts, self.switches = [*hosts, *self.stations], [*switches, *self.aps]
        try:
            return call()
        finally:
            self.hosts, self.switches = hosts, switches

    def buildFromTopo(self, topo: Any = None) -> None:
        """Adds the nodes and links of a topology, stations and access points by their marks."""
        topo = topo or self.topo
        if not self.controllers and self.controller:
            self.addController("c0")
        adders = (("isStation", self.addStation), ("isAP", self.addAccessPoint), ("isSwitch", self.addSwitch))
        for name in topo.nodes():
            own = dict(topo.nodeInfo(name))
            kinds = [add for mark, add in adders if own.get(mark)]
            own = {key: value for key, value in own.items() if key not in ("isStation", "isAP", "isSwitch", "isHost")}
            (kinds or [self.addHost])[0](name, **own)
        for source, target, given in topo.links(sort=True, withInfo=True):
            # Ports of stations and access points begin with those of their radio.
            is_free = self[source] in self.hosts + self.switches
            left_out = ("node1", "node2") if is_free and self[target] in self.hosts + self.switches else _OF_ENDS
            self.addLink(source, target, **{key: value for key, value in given.items() if key not in left_out})

    def build(self) -> None:
        """Makes what the topology says, and gives nodes their addresses."""
        if self.topo and not self.aps and not self.stations:
            self.buildFromTopo(self.topo)
            self.topo = None
        self._plan_motion()
        super().build()
        if self._drawn is not None:
            self.media.forget()
            info(f"*** netloom: the map is in {picture(self, self._drawn)}\n")

    def start(self) -> None:
        """Starts controllers, switches and access points; then the network is there."""
        if not self.built:
            self.build()
        self._everyone(super().start)

    def stop(self) -> None:
        """Stops everything, and says how far the network was as described."""
        self._everyone(super().stop)

    def staticArp(self) -> None:
        """Notes the hardware addresses of all hosts and stations at all others."""
        self._everyone(super().staticArp)

    def configHosts(self) -> None:
        """Gives hosts and stations what their parameters say."""
        self._everyone(super().configHosts)

    def ping(self, hosts: Any = None, timeout: Any = None, manualdestip: str | None = None) -> float:
        """Pings between all hosts and stations; the share that was lost, in percent."""
        return super().ping(hosts or [*self.hosts, *self.stations], timeout, manualdestip)

    def pingFull(self, hosts: Any = None, timeout: Any = None, manualdestip: str | None = None) -> list[Any]:
        """Pings between all hosts and stations; for each pair what was sent, received, and how long it took in ms."""
        return super().pingFull(hosts or [*self.hosts, *self.stations], timeout, manualdestip)

    def pingPair(self) -> float:
        """Pings between the first two."""
        return self.ping(hosts=[*self.hosts, *self.stations][:2])

    def iperf(self, hosts: Any = None, *args: Any, **kwargs: Any) -> list[str]:
        """Measures the rate between two hosts or stations, the first and the last if none are given."""
        everyone = [*self.hosts, *self.stations]
        return super().iperf(hosts or [everyone[0], everyone[-1]], *args, **kwargs)

    # Its picture

    def plotGraph(self, **params: Any) -> None:
        """Draws a map of the network into a file when it is built; no window is opened."""
        self._drawn = dict(params)
        if self.built:
            info(f"*** netloom: the map is in {picture(self, self._drawn)}\n")

    def telemetry(self, **_params: Any) -> None:
        """Notes that nothing is drawn while a script runs."""
        warn("*** netloom: telemetry opens no window; `netloom ui` shows what happens in a lab\n")

    def _no_such_nodes(self, name: str) -> Any:
        refuse(
            name, "a lab has 802.11 radio alone: no sensors of 802.15.4, modems, satellites or aircraft of Mininet-WiFi"
        )

    def addSensor(self, name: str, **_params: Any) -> Any:
        """Refused: there is no 802.15.4."""
        self._no_such_nodes(f"addSensor({name!r})")

    def addAPSensor(self, name: str, **_params: Any) -> Any:
        """Refused: there is no 802.15.4."""
        self._no_such_nodes(f"addAPSensor({name!r})")

    def addModem(self, name: str, **_params: Any) -> Any:
        """Refused: there are no modems of mobile networks."""
        self._no_such_nodes(f"addModem({name!r})")

    def addBTDevice(self, name: str, **_params: Any) -> Any:
        """Refused: there is no Bluetooth."""
        self._no_such_nodes(f"addBTDevice({name!r})")

    def addSatellite(self, name: str, **_params: Any) -> Any:
        """Refused: `generate: constellation` of a lab file has satellites."""
        self._no_such_nodes(f"addSatellite({name!r})")

    def addAircraft(self, name: str, **_params: Any) -> Any:
        """Refused: positions are not fetched from the internet."""
        self._no_such_nodes(f"addAircraft({name!r})")

    def socketServer(self, **_params: Any) -> None:
        """Refused: a script has the positions of its nodes itself."""
        refuse("socketServer(...)", "nodes are asked and moved by the script itself")

    def plotEnergyMonitor(self, **_params: Any) -> None:
        """Refused: nothing is known of batteries."""
        refuse("plotEnergyMonitor(...)", "batteries are not modelled")


#: What a topology notes of the ends of a link.
_OF_ENDS = ("node1", "node2", "port1", "port2")
#: Arguments of Mininet-WiFi that mean nothing here: modules of the kernel, windows, other radios.
_WITHOUT_EFFECT = (
    "satellite", "aircraft", "sensor", "apsensor", "modem", "btdevice", "freq", "ieee80211w", "wmediumd_802154_mode", "roads",
    "autoSetPositions", "configWiFiDirect", "cca_th", "disable_tcp_checksum", "ifb", "plot3d", "docker", "container", "ssh_user",
    "rec_rssi", "wwan_module", "json_file",
)  # fmt: skip


def _known(params: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in params.items() if key not in _WITHOUT_EFFECT}


__all__ = ["Link", "Mininet_wifi"]
