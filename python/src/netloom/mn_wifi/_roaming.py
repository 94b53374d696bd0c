"""Stations on their way between access points: which of these are one network of the lab, and where stations are in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .link import WirelessIntf

#: By how much another access point has to be stronger for `ac_method='ssf'`, in dB (Mininet-WiFi's).
_STRONGER = 0.1


def networks(net: Any) -> list[list[WirelessIntf]]:
    """Access points between which stations choose that move and may be at each of them: one medium of the lab for each list."""
    walkers = [intf for intf in net.wireless() if roams(intf)]
    groups: dict[tuple[Any, ...], list[WirelessIntf]] = {}
    for ap in net.masters():
        channel = ap.wifi_channel
        is_plain = ap.node.has_place and ap.node.lab_kind() == "switch" and ap.error_prob is None
        if is_plain and any(net.media.is_for(intf, ap) for intf in walkers):
            groups.setdefault((channel.standard, channel.width, channel.number < 15), []).append(ap)
    found: list[list[WirelessIntf]] = []
    for aps in groups.values():
        own = [intf for intf in walkers if any(net.media.is_for(intf, ap) for ap in aps)]
        # A network of the lab has no names within: whoever may be at one may be at all.
        is_one = all(net.media.is_for(intf, ap) for intf in own for ap in aps)
        if len(aps) > 1 and is_one and len({ap.node for ap in aps}) == len(aps):
            found.append(aps)
    return found


def roams(intf: WirelessIntf) -> bool:
    """Whether a station chooses access points while it moves."""
    is_free = intf.kind == "managed" and intf.chosen is None and not intf.is_off and intf.error_prob is None
    return bool(is_free and intf.net.autoAssociation and intf.node.way is not None and intf.node.lab_kind() == "host")


def keys(net: Any, walkers: list[WirelessIntf]) -> dict[str, Any]:
    """When stations go to another access point: to a stronger one by Mininet-WiFi's `ssf` or its scans in the background, else when they lose their own."""
    thresholds = [intf.node.params.get("bgscan_threshold") for intf in walkers]
    known = [float(each) for each in thresholds if each is not None]
    if known:
        return {"below": f"{max(known):g} dBm"}
    if net.ac_method == "ssf":
        return {"below": "0 dBm", "hysteresis": f"{_STRONGER} dB", "time": 0}
    return {"below": f"{net.propagation.noise_th:.4f} dBm", "lost_after": 1}


def place_in(net: Any, intf: WirelessIntf, aps: list[WirelessIntf]) -> WirelessIntf | None:
    """The access point with which a station is now, as the lab that is up has noted it; before that the strongest one that it hears."""
    live = net.fabric.live
    results: Path | None = live.results if live is not None else None
    events = results / "events.jsonl" if results is not None else None
    if events is not None and events.exists():
        nodes = {ap.node.name: ap for ap in aps}
        noted = [json.loads(line) for line in events.read_text().splitlines() if '"association"' in line]
        own = [each for each in noted if each.get("station") == intf.node.name]
        if own:
            return nodes.get(own[-1].get("access_point"))
    heard = [ap for ap in aps if intf.power_from(ap) >= net.propagation.noise_th]
    return max(heard, key=intf.power_from, default=None)


__all__ = ["keys", "networks", "place_in", "roams"]
