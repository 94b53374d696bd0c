"""Wireless interfaces, and the classes by which scripts say what a link by radio is."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from ..mininet._clear import Explained, refuse
from ..mininet.link import Intf, TCLink
from ._signals import Channel, channel_of

#: The power of an interface in dBm, and the gain of its antenna in dBi, if a script says nothing.
POWER = 14.0
GAIN = 5.0


class Wireless(Explained):
    """The link of a wireless interface: the medium that it is at."""

    def __init__(self, intf: WirelessIntf) -> None:
        self.intf1: Any = intf
        self.exists = True

    @property
    def intf2(self) -> Any:
        """The interface that it is associated with, or itself."""
        return self.intf1.associatedTo or self.intf1

    def changed(self, _intf: Any) -> None:
        """Notes that the description has changed."""
        self.intf1.touch()

    def refresh_state(self) -> None:
        """Does nothing: a medium is not cut for a single station."""

    def delete(self) -> None:
        """Removes its interface."""
        self.exists = False
        self.intf1.touch()
        self.intf1.delete()

    def stop(self) -> None:
        """Removes its interface."""
        self.delete()

    def status(self) -> str:
        """The state of its interface."""
        return f"({self.intf1.status()})"

    def __str__(self) -> str:
        return f"{self.intf1}<->{self.intf2 if self.intf2 is not self.intf1 else 'wifi'}"


class WirelessIntf(Intf):
    """An interface that sends by radio: of a station, of an access point, or one among equals."""

    def __init__(self, name: str, node: Any, port: int, mac: str | None, settings: dict[str, Any]) -> None:
        #: `managed`, `master`, `adhoc` or `mesh`.
        self.kind = "managed"
        self.ssid: str | None = settings.get("ssid")
        self.mode = str(settings.get("mode") or "g")
        self.channel: Any = settings.get("channel") or 1
        self.band: Any = settings.get("band") or 20
        self.txpower = float(settings.get("txpower") or POWER)
        self.antennaGain = float(GAIN if settings.get("antennaGain") is None else settings["antennaGain"])
        self.antennaHeight = float(settings.get("antennaHeight") or 1.0)
        self.encrypt: str | None = settings.get("encrypt")
        self.passwd: str | None = settings.get("passwd")
        #: The frequencies in MHz that it looks for access points at, if a script says so.
        self.frequencies = [int(each) for each in re.findall(r"\d+", str(settings.get("freq_list") or ""))]
        #: The range that a script wants, instead of a power.
        self.wanted_range: float | None = None
        #: The access point that a script or a user has chosen, and whether any may be chosen.
        self.chosen: WirelessIntf | None = None
        self.is_off = False
        #: The share of packets that gets lost on the way, if a script states it instead of positions.
        self.error_prob: float | None = None
        super().__init__(name, node, port=port, link=Wireless(self), mac=mac)  # pyright: ignore[reportArgumentType]
        if settings.get("range"):
            self.wanted_range = float(settings["range"])

    def touch(self) -> None:
        """Notes that the lab is to be made again."""
        if self.node.fabric is not None:
            self.node.fabric.touch()

    # What it is

    @property
    def net(self) -> Any:
        """The network that it belongs to."""
        return self.node.wifi_net

    @property
    def wifi_channel(self) -> Channel:
        """Its channel and standard."""
        return channel_of(self.name, self.mode, self.channel, self.band)[0]

    @property
    def freq(self) -> float:
        """Its frequency in GHz."""
        return self.wifi_channel.hertz / 1e9

    @property
    def power(self) -> float:
        """The power with which it sends in dBm, which follows from its range if that is given."""
        if self.wanted_range is None:
            return self.txpower
        heights = (self.antennaHeight, self.antennaHeight)
        return self.net.propagation.power_for(self.wanted_range, 2 * self.antennaGain, self.wifi_channel.hertz, heights)

    @property
    def range(self) -> float:
        """How far it is heard in metres."""
        if self.wanted_range is not None:
            return self.wanted_range
        heights = (self.antennaHeight, self.antennaHeight)
        return self.net.propagation.range_of(self.txpower, 2 * self.antennaGain, self.wifi_channel.hertz, heights)

    @property
    def associatedTo(self) -> WirelessIntf | None:
        """The access point that it is associated with."""
        return self.net.media.access_point_of(self) if self.kind == "managed" else None

    @property
    def associatedStations(self) -> list[WirelessIntf]:
        """The interfaces that are associated with it."""
        return [intf for intf in self.net.wireless() if intf.associatedTo is self] if self.kind == "master" else []

    @property
    def apsInRange(self) -> dict[WirelessIntf, float]:
        """The access points that it hears, and their powers in dBm."""
        heard = {ap: self.power_from(ap) for ap in self.net.masters() if ap is not self}
        return {ap: power for ap, power in heard.items() if power >= self.net.propagation.noise_th}

    @property
    def rssi(self) -> float:
        """The power that arrives from its access point in dBm; 0 if there is none."""
        return round(self.power_from(self.associatedTo), 2) if self.associatedTo else 0

    def power_from(self, other: WirelessIntf) -> float:
        """The power in dBm that arrives from another interface; without positions that of a metre."""
        metres = 1.0
        if self.node.has_place and other.node.has_place:
            metres = self.node.distance_to(other.node)
        heights = (other.antennaHeight, self.antennaHeight)
        lost = self.net.propagation.loss(metres, other.wifi_channel.hertz, heights)
        return other.power + other.antennaGain + self.antennaGain - lost

    # What a script changes

    def setRange(self, range: float) -> None:
        """Sets how far it is heard; its power follows."""
        self.wanted_range = float(range)
        self.touch()

    def setTxPower(self, txpower: float) -> None:
        """Sets its power in dBm; its range follows."""
        self.txpower, self.wanted_range = float(txpower), None
        self.touch()

    def setAntennaGain(self, gain: float) -> None:
        """Sets the gain of its antenna in dBi."""
        self.antennaGain = float(gain)
        self.touch()

    def setAntennaHeight(self, height: float) -> None:
        """Sets the height of its antenna above its node."""
        self.antennaHeight = float(height)
        self.touch()

    def setChannel(self, channel: Any) -> None:
        """Sets its channel."""
        self.channel = channel
        self.touch()

    def setMode(self, mode: str) -> None:
        """Sets its standard, such as `g`."""
        self.mode = mode
        self.touch()

    def setMediumId(self, medium_id: int) -> None:
        """Notes that media follow from networks."""
        self.net.setInitialMediums([medium_id])

    def associate(self, ap: WirelessIntf | None) -> None:
        """Associates it with an access point, or with none."""
        self.chosen, self.is_off = ap, ap is None
        self.touch()

    def setManagedMode(self) -> None:
        """Makes it that of a station."""
        self.become("managed", {})

    def setMasterMode(self, ssid: str = "new-ssid", **params: Any) -> None:
        """Makes it that of an access point."""
        self.become("master", {"ssid": ssid, **params})

    def setAdhocMode(self, **params: Any) -> None:
        """Lets it send to others directly."""
        self.become("adhoc", params)

    def setMeshMode(self, **params: Any) -> None:
        """Makes it a part of a mesh."""
        self.become("mesh", params)

    def become(self, kind: str, params: dict[str, Any]) -> None:
        """Makes it another kind of interface, with what a script says of that."""
        self.kind = kind
        self.ssid = str(params["ssid"]) if params.get("ssid") else self.ssid
        self.mode = str(params.get("mode") or self.mode)
        self.channel = params.get("channel") or self.channel
        if str(params.get("ht_cap") or "").startswith("HT40"):
            self.band = 40
        if params.get("range"):
            self.wanted_range = float(params["range"])
        channel_of(self.name, self.mode, self.channel, self.band)
        self.touch()


class TCWirelessLink(Explained):
    """A link by radio, whose name scripts give to `Mininet_wifi(link=...)` and `addLink(cls=...)`."""


class WirelessLink(TCWirelessLink):
    """A link by radio."""


class wmediumd(TCWirelessLink):
    """A link by radio. Mininet-WiFi computes what arrives in a program of this name, Netloom in the medium of the lab."""


class master(TCWirelessLink):
    """The link of an access point."""


class managed(TCWirelessLink):
    """The link of a station."""


class adhoc(TCWirelessLink):
    """A link between stations without an access point."""


class mesh(TCWirelessLink):
    """A link of a mesh of IEEE 802.11s."""


class _4address(TCWirelessLink):
    """A link by radio between two access points."""


class ITSLink(TCWirelessLink):
    """A link of IEEE 802.11p, which is refused."""


class WifiDirectLink(TCWirelessLink):
    """A link of Wi-Fi Direct, which is refused."""


class PhysicalWifiDirectLink(WifiDirectLink):
    """A link of Wi-Fi Direct with a card of this machine, which is refused."""


class physicalMesh(TCWirelessLink):
    """A mesh with a card of this machine, which is refused."""


#: Why links of some classes cannot be had.
_REFUSED = {
    ITSLink: "media of a lab speak 802.11 a, b, g, n, ac and ax, not 802.11p",
    WifiDirectLink: "there is no wpa_supplicant that negotiates a group; cls=adhoc joins stations directly",
    PhysicalWifiDirectLink: "a lab has none of this machine's radio cards",
    physicalMesh: "a lab has none of this machine's radio cards",
}


def check_class(cls: type[TCWirelessLink]) -> None:
    """Refuses a class of links that cannot be had.

    Raises:
        Unsupported: It is one.
    """
    if cls in _REFUSED:
        refuse(f"cls={cls.__name__}", _REFUSED[cls])


def __getattr__(name: str) -> NoReturn:
    from ..mininet._clear import meant

    raise AttributeError(f"mn_wifi.link has no `{name}`{meant(name, globals())}")


__all__ = [
    "ITSLink", "PhysicalWifiDirectLink", "TCLink", "TCWirelessLink", "WifiDirectLink", "WirelessIntf", "WirelessLink",
    "_4address", "adhoc", "managed", "master", "mesh", "physicalMesh", "wmediumd",
]  # fmt: skip
