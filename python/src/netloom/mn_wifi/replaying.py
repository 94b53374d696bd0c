"""Ways that scripts have read from files of their own."""

from __future__ import annotations

from typing import Any

from ..mininet._clear import refuse
from ._motion import Way, place_of


class ReplayingMobility:
    """Lets nodes go through the positions `node.p`, at the instants `node.time`, or `speed` of them each second."""

    def __init__(self, net: Any, nodes: Any = None) -> None:
        now = net.elapsed()
        for node in nodes or net.get_mn_wifi_nodes():
            places = node.__dict__.get("p")
            if not places:
                continue
            times = node.__dict__.get("time")
            rate = float(node.params.get("speed") or 1.0)
            instants = (
                [float(each) for each in times] if times else [(number + 1) / rate for number in range(len(places))]
            )
            node.go(Way([(now + instant, place_of(place)) for instant, place in zip(instants, places)]))


class ReplayingBandwidth:
    """Refused: the rate of a station follows from its signal."""

    def __init__(self, net: Any) -> None:
        refuse(
            "ReplayingBandwidth",
            "the rate of a station follows from its signal; a lab file has delivery traces for links",
        )


class ReplayingNetworkConditions:
    """Refused: rate, loss and delay of a station follow from its signal."""

    def __init__(self, net: Any) -> None:
        refuse(
            "ReplayingNetworkConditions",
            "rate, loss and delay of a station follow from its signal; `schedule` of a lab file replays them on a link",
        )


class ReplayingRSSI:
    """Refused: signals follow from positions."""

    def __init__(self, net: Any, **_params: Any) -> None:
        refuse("ReplayingRSSI", "signals follow from positions; ReplayingMobility moves nodes")


__all__ = ["ReplayingBandwidth", "ReplayingMobility", "ReplayingNetworkConditions", "ReplayingRSSI"]
