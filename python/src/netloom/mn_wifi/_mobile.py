"""The motion of a network's nodes, as scripts describe it."""

from __future__ import annotations

from typing import Any

from ..mininet._clear import Explained, refuse
from ._motion import Area, drawn, place_of, way_of_leg


class Mobile(Explained):
    """What a network has for nodes that move."""

    stations: list[Any]

    def _begin_motion(self) -> None:
        self._model: dict[str, Any] | None = None
        self.mob_rep = 1
        self.reverse = False
        self.mob_stop_time = 0.0
        #: Whether a script replays positions.
        self.isReplaying = False

    def startMobility(self, time: float = 0, **params: Any) -> None:
        """Begins to say how nodes move; how often they do (`mob_rep`), and whether there and back (`reverse`)."""
        self.mob_rep = int(params.pop("mob_rep", 1))
        self.reverse = bool(params.pop("reverse", False))
        if params.get("model") or params.get("mob_model"):
            self.setMobilityModel(time=time, model=params.pop("model", params.pop("mob_model", None)), **params)

    def mobility(self, node: Any, stage: str, time: float = 0, position: Any = None, **_params: Any) -> None:
        """Says where a node is when it starts (`'start'`), or stops (`'stop'`).

        Raises:
            Exception: It is another stage.
        """
        leg, place = node.leg, None if position is None else place_of(position)
        if stage == "start":
            leg.start, leg.first = float(time), place
        elif stage == "stop":
            leg.stop, leg.last = float(time), place
        else:
            raise Exception(f"mobility of {node}: a stage is 'start' or 'stop', not {stage!r}")

    def stopMobility(self, time: float = 0, **_params: Any) -> None:
        """Ends saying how nodes move; when one repetition ends."""
        self.mob_stop_time = float(time)

    def setMobilityModel(self, **params: Any) -> None:
        """Lets a model draw the ways of all stations that have no position, and of those with bounds of their own."""
        self._model = dict(params)

    def useExternalProgram(self, program: Any, **_params: Any) -> None:
        """Refused: no simulator of traffic takes part."""
        refuse(
            f"useExternalProgram({getattr(program, '__name__', program)})",
            "SUMO does not run beside a lab; a lab file reads what it writes by --fcd-output (path: {file: ...})",
        )

    @staticmethod
    def stop_simulation() -> None:
        """Refused: ways are described before they begin."""
        refuse("stop_simulation()", "nodes go their ways in the lab's time, which does not stop")

    @staticmethod
    def start_simulation() -> None:
        """Refused, see `stop_simulation`."""
        refuse("start_simulation()", "nodes go their ways in the lab's time, which does not stop")

    def _plan_motion(self) -> None:
        """Turns what was said into ways."""
        network: Any = self
        for node in network.get_mn_wifi_nodes():
            leg = node.leg
            if leg.start is not None or leg.stop is not None:
                places = [place_of(each) for each in node.coord]
                last = max(self.mob_stop_time, leg.stop or 0.0)
                node.go(way_of_leg(node.name, leg, places, self.mob_rep, self.reverse, last))
        if self._model is None:
            return
        for node in self.stations:
            if node.way is None and not node.has_place:
                own = {**self._model, **node.params}
                model, seed = str(self._model.get("model", "RandomWalk")), int(self._model.get("seed", 1))
                node.go(drawn(model, node.name, seed, _area(own), float(self._model.get("time", 0)), None, self._model))


def _area(params: dict[str, Any]) -> Area:
    """Where a node wanders, with Mininet-WiFi's bounds if a script says nothing."""

    def number(key: str, usual: float) -> float:
        return float(params.get(key, usual))

    return Area(
        number("min_x", 0), number("min_y", 0), number("max_x", 100), number("max_y", 100),
        number("min_v", 1), number("max_v", 10), number("min_wt", 1), number("max_wt", 5),
    )  # fmt: skip


__all__ = ["Mobile"]
