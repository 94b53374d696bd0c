"""Where nodes are: positions, the ways between them, and ways that are drawn by mobility models."""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..mininet._clear import meant, refuse

Place = tuple[float, float, float]

#: How long a drawn way is, in seconds.
SPAN = 3600.0
_MODELS = ("RandomWalk", "RandomDirection", "RandomWayPoint", "GaussMarkov", "TruncatedLevyWalk")
#: Models of Mininet-WiFi in which nodes follow others.
_GROUPS = ("ReferencePoint", "TimeVariantCommunity", "CRP")


def place_of(position: Any) -> Place:
    """A position, written `'10,20,0'` or as two or three numbers.

    Raises:
        Exception: It is none.
    """
    parts = position.split(",") if isinstance(position, str) else list(position)
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if not 2 <= len(numbers) <= 3 or not all(map(math.isfinite, numbers)):
        raise Exception(f"{position!r} is no position, such as '10,20,0'")
    return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 0.0


class Way:
    """Positions at instants, in seconds, with straight lines between them."""

    def __init__(self, points: list[tuple[float, Place]]) -> None:
        self.points = sorted(points, key=lambda point: point[0])

    def at(self, seconds: float) -> Place:
        """Where it is at an instant."""
        times = [time for time, _ in self.points]
        number = bisect.bisect_right(times, seconds)
        if number == 0:
            return self.points[0][1]
        if number == len(times):
            return self.points[-1][1]
        (begin, first), (end, second) = self.points[number - 1], self.points[number]
        share = (seconds - begin) / (end - begin)
        x, y, z = (a + (b - a) * share for a, b in zip(first, second))
        return x, y, z

    def lab_path(self, since: float) -> list[dict[str, Any]]:
        """The rest of it from an instant on, as waypoints of a lab file."""
        rest = [(0.0, self.at(since))] + [(time - since, place) for time, place in self.points if time > since]
        found: list[dict[str, Any]] = []
        last = -1
        for time, place in rest:
            # Waypoints have whole microseconds, each later than the one before.
            last = max(last + 1, round(time * 1e6))
            found.append({"at": f"{last} us", "position": lab_position(place)})
        return found


def lab_position(place: Place) -> list[str]:
    """A position as a lab file has it."""
    return [f"{each:.6f} m" for each in place]


@dataclass
class Leg:
    """What `mobility` says of a node."""

    start: float | None = None
    stop: float | None = None
    first: Place | None = None
    last: Place | None = None


def way_of_leg(name: str, leg: Leg, places: list[Place], repeat: int, reverse: bool, stop: float) -> Way:
    """The way of a node that `mobility` describes: from its first place to its last, along `places` if there are any.

    Raises:
        Exception: Its start or its end is not known.
    """
    if leg.start is None or leg.stop is None or leg.stop <= leg.start:
        raise Exception(f"mobility of {name} wants a 'start' and a later 'stop', each with a time")
    stops = places if len(places) > 1 else [leg.first, leg.last]
    known = [place for place in stops if place is not None]
    if len(known) < 2:
        raise Exception(f"mobility of {name} wants a position at its 'start' and at its 'stop'")
    lengths = [math.dist(a, b) for a, b in zip(known, known[1:])]
    total = sum(lengths) or 1.0
    points: list[tuple[float, Place]] = []
    for number in range(max(repeat, 1)):
        order = known[::-1] if reverse and number % 2 else known
        steps = lengths[::-1] if reverse and number % 2 else lengths
        begin, gone = number * stop, 0.0
        points.append((begin + leg.start, order[0]))
        for step, place in zip(steps, order[1:]):
            gone += step
            points.append((begin + leg.start + (leg.stop - leg.start) * gone / total, place))
    return Way(points)


@dataclass(frozen=True)
class Area:
    """Where a node wanders, and how fast."""

    min_x: float
    min_y: float
    max_x: float
    max_y: float
    min_v: float
    max_v: float
    min_wait: float
    max_wait: float

    def place(self, draw: random.Random) -> Place:
        """A place within, all alike."""
        return draw.uniform(self.min_x, self.max_x), draw.uniform(self.min_y, self.max_y), 0.0

    def speed(self, draw: random.Random) -> float:
        """A speed, never zero."""
        return max(draw.uniform(self.min_v, self.max_v), 0.01)

    def wait(self, draw: random.Random) -> float:
        """A pause."""
        return draw.uniform(self.min_wait, self.max_wait)

    def edge(self, begin: Place, angle: float) -> Place:
        """Where a ray from a place leaves it."""
        dx, dy = math.cos(angle), math.sin(angle)
        reach: list[float] = []
        for at, step, low, high in ((begin[0], dx, self.min_x, self.max_x), (begin[1], dy, self.min_y, self.max_y)):
            if abs(step) > 1e-12:
                reach.append(((high if step > 0 else low) - at) / step)
        length = max(min(reach), 0.0)
        return self.inside((begin[0] + dx * length, begin[1] + dy * length, 0.0))

    def inside(self, place: Place) -> Place:
        """The nearest place within."""
        return min(max(place[0], self.min_x), self.max_x), min(max(place[1], self.min_y), self.max_y), 0.0


def drawn(
    model: str, name: str, seed: int, area: Area, start: float, place: Place | None, options: dict[str, Any]
) -> Way:
    """A way that a model draws from a seed and the name of a node.

    Raises:
        Unsupported: There is no such model here.
    """
    if model in _GROUPS:
        refuse(f"the mobility model {model}", f"nodes do not follow others here; there are {', '.join(_MODELS)}")
    if model not in _MODELS:
        raise Exception(f"there is no mobility model `{model}`{meant(model, (*_MODELS, *_GROUPS))}")
    draw = random.Random(f"{seed} {model} {name}")
    begin = area.inside(place) if place is not None else area.place(draw)
    points = [(start, begin)]
    for seconds, target in _STEPS[model](area, begin, draw, options):
        if seconds > 0:
            points.append((points[-1][0] + seconds, target))
        if points[-1][0] - start > SPAN:
            break
    return Way(points)


def _straight(area: Area, begin: Place, target: Place, draw: random.Random) -> tuple[float, Place]:
    return math.dist(begin, target) / area.speed(draw), target


def _waypoints(area: Area, begin: Place, draw: random.Random, options: dict[str, Any]) -> Iterator[tuple[float, Place]]:
    """Straight to a place that is drawn, and a pause there."""
    while True:
        seconds, begin = _straight(area, begin, area.place(draw), draw)
        yield seconds, begin
        yield area.wait(draw), begin


def _direction(area: Area, begin: Place, draw: random.Random, options: dict[str, Any]) -> Iterator[tuple[float, Place]]:
    """Straight on to the edge, a pause, and on in another direction."""
    while True:
        target = area.edge(begin, draw.uniform(0, 2 * math.pi))
        if math.dist(begin, target) < 1e-6:
            continue
        seconds, begin = _straight(area, begin, target, draw)
        yield seconds, begin
        yield area.wait(draw), begin


def _walk(area: Area, begin: Place, draw: random.Random, options: dict[str, Any]) -> Iterator[tuple[float, Place]]:
    """A step in a direction that is drawn, each second."""
    while True:
        speed, angle = area.speed(draw), draw.uniform(0, 2 * math.pi)
        begin = area.inside((begin[0] + speed * math.cos(angle), begin[1] + speed * math.sin(angle), 0.0))
        yield 1.0, begin


def _levy(area: Area, begin: Place, draw: random.Random, options: dict[str, Any]) -> Iterator[tuple[float, Place]]:
    """Flights and pauses whose lengths have truncated power laws (Rhee and others 2008)."""
    while True:
        length, angle = _power(draw, 2.6, 1.0, 50.0), draw.uniform(0, 2 * math.pi)
        target = area.inside((begin[0] + length * math.cos(angle), begin[1] + length * math.sin(angle), 0.0))
        if math.dist(begin, target) > 1e-6:
            seconds, begin = _straight(area, begin, target, draw)
            yield seconds, begin
        yield _power(draw, 1.8, 1.0, 100.0), begin


def _power(draw: random.Random, exponent: float, least: float, most: float) -> float:
    """A draw whose density falls with a power of the value."""
    power = 1 - exponent
    return (least**power + draw.random() * (most**power - least**power)) ** (1 / power)


def _gauss_markov(
    area: Area, begin: Place, draw: random.Random, options: dict[str, Any]
) -> Iterator[tuple[float, Place]]:
    """A velocity that keeps a share of itself each second, and is turned round at the edges."""
    mean, memory = float(options.get("velocity_mean", 1.0)), float(options.get("alpha", 0.99))
    deviation = math.sqrt(float(options.get("variance", 1.0)))
    speed, angle, heading = mean, 0.0, draw.uniform(0, 2 * math.pi)
    angle = heading
    rest = math.sqrt(max(1 - memory * memory, 0.0))
    while True:
        target = (begin[0] + speed * math.cos(angle), begin[1] + speed * math.sin(angle), 0.0)
        inside = area.inside(target)
        if inside != target:
            # As a ball at a wall.
            dx, dy = math.cos(heading), math.sin(heading)
            dx, dy = (dx if inside[0] == target[0] else -dx), (dy if inside[1] == target[1] else -dy)
            turned = math.atan2(dy, dx)
            angle, heading = angle + turned - heading, turned
        begin = inside
        yield 1.0, begin
        speed = memory * speed + (1 - memory) * mean + rest * draw.gauss(0, deviation)
        angle = memory * angle + (1 - memory) * heading + rest * draw.gauss(0, deviation)


_STEPS = {
    "RandomWayPoint": _waypoints, "RandomDirection": _direction, "RandomWalk": _walk, "TruncatedLevyWalk": _levy,
    "GaussMarkov": _gauss_markov,
}  # fmt: skip
