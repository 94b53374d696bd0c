"""Who shares a medium, and the links of the lab that media become."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..mininet._clear import Unsupported
from ..mininet.log import warn
from . import _roaming
from ._motion import Place, lab_position

if TYPE_CHECKING:
    from ..lab import Lab
    from .link import WirelessIntf


class Media:
    """The media of a network."""

    def __init__(self, net: Any) -> None:
        self._net = net
        self._said: set[str] = set()
        #: Access points that were chosen when the lab was made, so that they stay the same while it is up.
        self._kept: dict[WirelessIntf, WirelessIntf | None] = {}

    # Association

    def access_point_of(self, intf: WirelessIntf) -> WirelessIntf | None:
        """The access point of a station's interface: the chosen one, or the one with the strongest signal."""
        if intf.is_off:
            return None
        if intf.chosen is not None:
            return intf.chosen if intf.chosen.kind == "master" else None
        if _roaming.roams(intf):
            for aps in _roaming.networks(self._net):
                if self.is_for(intf, aps[0]):
                    return _roaming.place_in(self._net, intf, aps)
        if intf not in self._kept:
            self._kept[intf] = self._best(intf)
        return self._kept[intf]

    def forget(self) -> None:
        """Lets stations choose again, since nodes or positions have changed."""
        self._kept = {}

    def _best(self, intf: WirelessIntf) -> WirelessIntf | None:
        candidates = [ap for ap in self._net.masters() if self.is_for(intf, ap)] if self._net.autoAssociation else []
        # Without positions Mininet-WiFi associates nobody by itself.
        candidates = [ap for ap in candidates if ap.node.has_place and intf.node.has_place]
        # A node is at a medium once.
        taken = [self._kept.get(other) or other.chosen for other in intf.node.wintfs.values() if other is not intf]
        candidates = [ap for ap in candidates if ap not in taken]
        if not candidates:
            return None
        heard = [ap for ap in candidates if intf.power_from(ap) >= self._net.propagation.noise_th]
        if self._net.ac_method == "llf" and heard:
            return min(heard, key=lambda ap: sum(other is ap for other in self._kept.values()))
        return max(candidates, key=intf.power_from)

    @staticmethod
    def is_for(intf: WirelessIntf, ap: WirelessIntf) -> bool:
        """Whether a station can be a client: the same network and password, if it names them."""
        if ap.node is intf.node or (intf.passwd and intf.passwd != ap.passwd):
            return False
        if intf.frequencies and round(ap.wifi_channel.hertz / 1e6) not in intf.frequencies:
            return False
        return intf.ssid in (None, ap.ssid)

    # In the lab

    def describe(self, lab: Lab, end_of: Callable[[Any], Any]) -> None:
        """Adds the media to a lab."""
        self.forget()
        done: set[WirelessIntf] = set()
        for aps in _roaming.networks(self._net):
            walkers = [intf for intf in self._net.wireless() if _roaming.roams(intf) and self.is_for(intf, aps[0])]
            others = [intf for ap in aps for intf in ap.associatedStations if intf not in walkers]
            if len({intf.node for intf in [*aps, *walkers, *others]}) == len([*aps, *walkers, *others]):
                done.update([*aps, *walkers, *others])
                self._add_network(lab, aps, (walkers, others), end_of)
        for ap in self._net.masters():
            if ap in done:
                continue
            members = [ap, *ap.associatedStations]
            done.update(members)
            self._add(lab, members, ap, end_of)
        groups: dict[tuple[Any, ...], list[WirelessIntf]] = {}
        for intf in self._net.wireless():
            if intf.kind in ("adhoc", "mesh"):
                groups.setdefault((intf.kind, intf.ssid, intf.wifi_channel.number), []).append(intf)
        for members in groups.values():
            done.update(members)
            self._check_mesh(members)
            self._add(lab, members, None, end_of)
        for intf in self._net.wireless():
            if intf not in done:
                self._add(lab, [intf], None, end_of)

    def _add(
        self, lab: Lab, members: list[WirelessIntf], ap: WirelessIntf | None, end_of: Callable[[Any], Any]
    ) -> None:
        ends = [end_of(intf) for intf in members]
        name = f"air-{_plain(members[0].name)}"
        if len(members) == 1:
            # A medium has two ends. The interface is there, and nobody hears it.
            if not isinstance(ends[0], str):
                lab.link(ends[0], lab.hub(f"nobody-{_plain(members[0].name)}"[:31]), name=name)
            return
        names = [end if isinstance(end, str) else end["node"] for end in ends]
        if len(set(names)) != len(names):
            twice = next(intf for intf, end in zip(members, names) if names.count(end) > 1)
            raise Unsupported(
                f"netloom: {twice.node.name} cannot be at the same medium with two interfaces: give it wlans=1, or another access point"
            )
        medium: Any = {"kind": "wifi", "standard": members[0].wifi_channel.standard}
        channel = members[0].wifi_channel
        medium.update(channel=channel.number, width=f"{channel.width} MHz")
        if ap is not None:
            medium["access_point"] = names[members.index(ap)]
        if self._has_signals(members):
            medium.update(access="radio", **self._net.propagation.lab_keys(channel.hertz))
            medium["stations"] = {name: self._signals(intf, members) for name, intf in zip(names, members)}
        else:
            lost = {name: intf.error_prob for name, intf in zip(names, members) if intf.error_prob}
            if lost:
                medium["stations"] = {name: {"errors": f"{100 * share:g} %"} for name, share in lost.items()}
        lab.link(*ends, name=name, medium=medium)

    def _add_network(
        self, lab: Lab, aps: list[WirelessIntf], clients: tuple[list[WirelessIntf], list[WirelessIntf]],
        end_of: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        """Adds access points between which some stations choose; the others stay with theirs."""
        walkers, others = clients
        members = [*aps, *walkers, *others]
        ends = [end_of(intf) for intf in members]
        names = [end if isinstance(end, str) else end["node"] for end in ends]
        name_of = dict(zip(members, names))
        channel = aps[0].wifi_channel
        stations = {name: self._signals(intf, members) for intf, name in name_of.items()}
        for ap in aps:
            stations[name_of[ap]]["channel"] = ap.wifi_channel.number
        for intf in others:
            stations[name_of[intf]]["access_point"] = name_of[intf.associatedTo]  # pyright: ignore[reportArgumentType]
        medium: Any = {
            "kind": "wifi", "standard": channel.standard, "channel": channel.number, "width": f"{channel.width} MHz",
            "access": "radio", **self._net.propagation.lab_keys(channel.hertz), "access_points": [name_of[ap] for ap in aps],
            "roaming": _roaming.keys(self._net, walkers), "stations": stations,
        }  # fmt: skip
        lab.link(*ends, name=f"air-{_plain(members[0].name)}", medium=medium)

    def _has_signals(self, members: list[WirelessIntf]) -> bool:
        """Whether positions decide who hears whom: all have one, or all of a medium with an access point that has."""
        if any(intf.error_prob is not None for intf in members):
            return False
        placed = [intf for intf in members if intf.node.has_place]
        return len(placed) == len(members) or (len(placed) > 1 and members[0] in placed)

    def _signals(self, intf: WirelessIntf, members: list[WirelessIntf]) -> dict[str, Any]:
        """What a station of a medium with signals has: power, antenna, and its position unless it moves."""
        keys: dict[str, Any] = {
            "power": f"{intf.power:.4f} dBm",
            "antenna": {"gain": f"{max(intf.antennaGain, 0):g} dB"},
        }
        place: Place
        if not intf.node.has_place:
            x, y, z = members[0].node.place()
            place = (x + 1, y, z + intf.antennaHeight)
            self.say(f"{intf.node.name} has no position: it stands one metre beside {members[0].node.name}")
        elif intf.node.way is not None and intf.node.lab_kind() in ("switch", "host"):
            return keys
        else:
            x, y, z = intf.node.place()
            place = (x, y, z + intf.antennaHeight)
            if intf.node.way is not None:
                self.say(f"{intf.node.name} stands still, since its switch is Open vSwitch")
        return {**keys, "position": lab_position(place)}

    def _check_mesh(self, members: list[WirelessIntf]) -> None:
        """Refuses a mesh in which frames would go over several hops.

        Raises:
            Unsupported: Two of its members do not hear each other, or may come to.
        """
        if members[0].kind != "mesh" or not self._has_signals(members):
            return
        least = self._net.propagation.noise_th
        for number, first in enumerate(members):
            for second in members[number + 1 :]:
                if first.node.way is not None or min(first.power_from(second), second.power_from(first)) < least:
                    raise Unsupported(
                        f"netloom: the mesh `{members[0].ssid}` cannot work here: {first.node.name} and {second.node.name} do not hear each other at "
                        "all times, and frames go to neighbours alone, not over several hops; a greater range= helps"
                    )

    def say(self, text: str) -> None:
        """Says what is otherwise than a script may expect, once."""
        if text not in self._said:
            self._said.add(text)
            warn(f"*** netloom: {text}\n")


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", name)


__all__ = ["Media"]
