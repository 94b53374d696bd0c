"""Stations and access points."""

from __future__ import annotations

import math
import re
from typing import Any

from ..mininet._clear import Explained, refuse
from ..mininet.node import CPULimitedHost, Host, OVSKernelSwitch, UserSwitch
from . import _iw
from ._motion import Leg, Place, Way, lab_position, place_of
from .link import WirelessIntf


class Node_wifi(Explained):
    """What stations and access points have in common: wireless interfaces, and a place."""

    name: str
    params: dict[str, Any]
    #: The network that it belongs to.
    wifi_net: Any = None
    #: The way that it goes.
    way: Way | None = None

    def _begin(self, settings: dict[str, Any]) -> None:
        """Notes what a script says of its radio, before it has interfaces."""
        self.wifi_net = settings.pop("wifi_net")
        self.wintfs: dict[int, WirelessIntf] = {}
        self._place: Place | None = None
        self.leg = Leg()
        self.coord: list[str] = []
        position = settings.get("position")
        if position is not None:
            self._place = place_of(position)

    def _add_wireless(self, first: int, settings: dict[str, Any]) -> None:
        """Gives it its wireless interfaces."""
        count = int(settings.get("wlans") or 1)
        for number in range(count):
            own = {
                key: _nth(settings.get(key), number, count) for key in _OF_INTERFACES if settings.get(key) is not None
            }
            mac = settings.get("mac") if number == 0 else None
            name = f"{self.name}-wlan{number + first}"
            self.wintfs[number] = WirelessIntf(name, self, number + first, mac, own)
        self.params["wlan"] = [intf.name for intf in self.wintfs.values()]

    # Where it is

    @property
    def has_place(self) -> bool:
        """Whether it has a position, now or later."""
        return self._place is not None or self.way is not None

    def place(self) -> Place:
        """Where it is now."""
        if self.way is not None:
            return self.way.at(self.wifi_net.elapsed())
        return self._place or (0.0, 0.0, 0.0)

    @property
    def position(self) -> Place:
        """Where it is now: metres to the east, to the north, and of height."""
        return self.place()

    @position.setter
    def position(self, position: Any) -> None:
        self._place = place_of(position)
        self._moved()

    def setPosition(self, pos: Any) -> None:
        """Puts it somewhere else: `'10,20,0'`."""
        self._place, self.way = place_of(pos), None
        self._moved()

    def go(self, way: Way) -> None:
        """Lets it go a way."""
        self.way = way
        self._moved()

    def getxyz(self) -> Place:
        """Where it is now."""
        return self.place()

    def _moved(self) -> None:
        fabric: Any = self.__dict__.get("fabric")
        if fabric is not None:
            fabric.touch()
        self.wifi_net.media.forget()

    def distance_to(self, other: Any) -> float:
        """How far another node is, in metres."""
        return math.dist(self.place(), other.place())

    def get_distance_to(self, dst: Any) -> float:
        """How far another node is, in metres to a hundredth."""
        return round(self.distance_to(dst), 2)

    def radio_keys(self) -> dict[str, Any]:
        """What a node of the lab has by its motion; other positions are those of stations of a medium."""
        if self.way is None or not self.wintfs:
            return {}
        path = self.way.lab_path(self.wifi_net.elapsed())
        height = self.wintfs[0].antennaHeight
        for point in path:
            x, y, z = (float(each.split()[0]) for each in point["position"])
            point["position"] = lab_position((x, y, z + height))
        return {"path": path} if len(path) > 1 else {"position": path[0]["position"]}

    # Its interfaces

    def getNameToWintf(self, intf: Any = None) -> WirelessIntf:
        """A wireless interface by name, or the first one."""
        if intf is None:
            return self.wintfs[0]
        found = [each for each in self.wintfs.values() if each is intf or each.name == str(intf)]
        if not found:
            raise KeyError(
                f"{self.name} has no wireless interface `{intf}`: there are {', '.join(map(str, self.wintfs.values()))}"
            )
        return found[0]

    def get_wlan(self, intf: Any) -> int:
        """The number of a wireless interface."""
        wanted = self.getNameToWintf(intf)
        return next(number for number, each in self.wintfs.items() if each is wanted)

    def setRange(self, range: float, intf: Any = None) -> None:
        """Sets how far an interface is heard, in metres."""
        self.getNameToWintf(intf).setRange(range)

    def setTxPower(self, txpower: float, intf: Any = None) -> None:
        """Sets the power of an interface in dBm."""
        self.getNameToWintf(intf).setTxPower(txpower)

    def get_txpower(self, intf: Any = None) -> float:
        """The power of an interface in dBm."""
        return round(self.getNameToWintf(intf).power, 2)

    def setAntennaGain(self, gain: float, intf: Any = None) -> None:
        """Sets the gain of an antenna in dBi."""
        self.getNameToWintf(intf).setAntennaGain(gain)

    def setAntennaHeight(self, height: float, intf: Any = None) -> None:
        """Sets the height of an antenna above the node, in metres."""
        self.getNameToWintf(intf).setAntennaHeight(height)

    def getAntennaHeight(self, intf: Any = None) -> float:
        """The height of an antenna above the node, in metres."""
        return self.getNameToWintf(intf).antennaHeight

    def setChannel(self, channel: Any, intf: Any = None) -> None:
        """Sets the channel of an interface."""
        self.getNameToWintf(intf).setChannel(channel)

    def setMode(self, mode: str, intf: Any = None) -> None:
        """Sets the standard of an interface."""
        self.getNameToWintf(intf).setMode(mode)

    def setMediumId(self, medium_id: int, intf: Any = None) -> None:
        """Notes that media follow from networks."""
        self.getNameToWintf(intf).setMediumId(medium_id)

    def setManagedMode(self, intf: Any = None) -> None:
        """Makes an interface that of a station."""
        self.getNameToWintf(intf).setManagedMode()

    def setMasterMode(self, intf: Any = None, **kwargs: Any) -> None:
        """Makes an interface that of an access point."""
        self.getNameToWintf(intf).setMasterMode(**kwargs)

    def setAdhocMode(self, intf: Any = None, **kwargs: Any) -> None:
        """Lets an interface send to others directly."""
        self.getNameToWintf(intf).setAdhocMode(**kwargs)

    def setMeshMode(self, intf: Any = None, **kwargs: Any) -> None:
        """Makes an interface a part of a mesh."""
        self.getNameToWintf(intf).setMeshMode(**kwargs)

    def setAssociation(self, ap: Any, intf: Any = None) -> None:
        """Associates an interface with an access point."""
        self.getNameToWintf(intf).associate(ap.wintfs[0])

    def setIP6(self, ip: str, prefixLen: int = 64, intf: Any = None, **_kwargs: Any) -> str:
        """Adds an address of IPv6 to an interface."""
        address = ip if "/" in ip else f"{ip}/{prefixLen}"
        mine: Any = self
        return str(mine.ip_command(f"addr replace {address} dev {mine.intf(intf)}"))

    def connectionsTo(self, node: Any) -> list[tuple[Any, Any]]:
        """Pairs of interfaces that lead to another node, by wire and by radio."""
        found = [pair for pair in super().connectionsTo(node) if pair[0] is not pair[1]]  # type: ignore[misc]
        backward = [
            (intf.associatedTo, intf)
            for intf in getattr(node, "wintfs", {}).values()
            if intf.associatedTo is not None and intf.associatedTo.node is self
        ]
        return [*found, *backward]

    # What scripts ask `iw` for

    def sendCmd(self, *args: Any, **kwargs: Any) -> None:
        """Starts a command, in which `iw` and `iwconfig` are answered for the node's wireless interfaces."""
        words = args[0] if len(args) == 1 and isinstance(args[0], list) else args
        super().sendCmd(_iw.answered(" ".join(map(str, words)), self), **kwargs)  # type: ignore[misc]

    def popen(self, *args: Any, **kwargs: Any) -> Any:
        """Starts a program, in which `iw` and `iwconfig` are answered for the node's wireless interfaces."""
        command = args[0] if len(args) == 1 else list(args)
        text = command if isinstance(command, str) else " ".join(map(str, command))
        answered = _iw.answered(text, self)
        if answered != text:
            return super().popen(["/bin/sh", "-c", answered], **{**kwargs, "shell": False})  # type: ignore[misc]
        return super().popen(*args, **kwargs)  # type: ignore[misc]

    def hide(self) -> None:
        """Does nothing: pictures show all nodes."""

    def show(self) -> None:
        """Does nothing: pictures show all nodes."""

    def roam(self, bssid: str, intf: Any = None) -> None:
        """Associates an interface with the access point of an address."""
        own = self.getNameToWintf(intf)
        found = [ap for ap in self.wifi_net.masters() if ap.mac == bssid]
        if not found:
            raise Exception(f"{self.name}: no access point has the address {bssid}")
        own.associate(found[0])


#: What an interface has of the parameters of its node; with several interfaces a list by commas.
_OF_INTERFACES = (
    "ssid", "mode", "channel", "band", "txpower", "antennaGain", "antennaHeight", "encrypt", "passwd", "range",
    "freq_list",
)  # fmt: skip


def _nth(value: Any, number: int, count: int) -> Any:
    """What the parameter of a node means for one of its interfaces."""
    if count > 1 and isinstance(value, str) and "," in value:
        parts = [part.strip() for part in value.split(",")]
        return parts[min(number, len(parts) - 1)]
    return value


class Station(Node_wifi, Host):
    """A station: a host with wireless interfaces."""

    def __init__(self, name: str, **params: Any) -> None:
        self._begin(params)
        super().__init__(name, **params)
        self._add_wireless(0, self.params)

    def lab_keys(self) -> dict[str, Any]:
        """See `Node`."""
        return {**super().lab_keys(), **self.radio_keys()}


class Car(Station):
    """A station of a vehicle."""


class CPULimitedStation(Station, CPULimitedHost):
    """A station whose programs may use a part of the processors."""


class AP(Node_wifi):
    """An access point."""

    #: What a number is told apart by from that of a switch.
    _OFFSET = 0x1000000000000000

    def _numbered(self, name: str, dpid: str | None) -> str | None:
        found = re.findall(r"\d+", name)
        return dpid or (f"{self._OFFSET + int(found[0]):016x}" if found else None)

    def _serve(self, settings: dict[str, Any]) -> None:
        """Makes its interfaces those of an access point."""
        self._add_wireless(1, settings)
        for intf in self.wintfs.values():
            intf.kind = "master"
            intf.ssid = intf.ssid or "new-ssid"


class OVSAP(AP, OVSKernelSwitch):
    """An access point whose ports are those of a switch: Open vSwitch where flows matter, else the packet engine's."""

    def __init__(self, name: str, dpid: str | None = None, **params: Any) -> None:
        if params.get("vssids"):
            refuse(f"vssids of {name}", "an interface has one network here; wlans=2 gives it two")
        self._begin(params)
        params.pop("inNamespace", None)
        super().__init__(name, dpid=self._numbered(name, dpid), **params)
        self._serve(self.params)

    def lab_keys(self) -> dict[str, Any]:
        """See `Node`."""
        return {**super().lab_keys(), **self.radio_keys()}

    def start(self, controllers: list[Any]) -> None:
        """Notes its controllers; `failMode='standalone'` needs none."""
        super().start(controllers)


class OVSBridgeAP(OVSAP):
    """An access point that learns addresses without a controller."""

    def __init__(self, name: str, **params: Any) -> None:
        params["failMode"] = "standalone"
        super().__init__(name, **params)


class UserAP(AP, UserSwitch):
    """Mininet-WiFi's access point in user space: here the packet engine's switch."""

    def __init__(self, name: str, dpid: str | None = None, **params: Any) -> None:
        if params.get("vssids"):
            refuse(f"vssids of {name}", "an interface has one network here; wlans=2 gives it two")
        self._begin(params)
        number = self._numbered(name, dpid)
        super().__init__(name, dpid=number[-12:] if number else None, **params)
        self._serve(self.params)

    def lab_keys(self) -> dict[str, Any]:
        """See `Node`."""
        return {**super().lab_keys(), **self.radio_keys()}


OVSKernelAP = OVSAP


def __getattr__(name: str) -> Any:
    from ..mininet import node

    return getattr(node, name)


__all__ = ["AP", "CPULimitedStation", "Car", "Node_wifi", "OVSAP", "OVSBridgeAP", "OVSKernelAP", "Station", "UserAP"]
