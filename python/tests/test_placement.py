"""Labs are divided among machines with cuts that are no worse than those of METIS."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pymetis

# Rates in Mbit/s by pairs of nodes.
Graph = dict[tuple[int, int], int]

RATES = [1, 2, 5, 10]


def random_graph(count: int, chance: random.Random) -> Graph:
    graph = {(chance.randrange(node), node): chance.choice(RATES) for node in range(1, count)}
    while len(graph) < 3 * count:
        one, other = sorted(chance.sample(range(count), 2))
        graph.setdefault((one, other), chance.choice(RATES))
    return graph


def geometric_graph(count: int, chance: random.Random) -> Graph:
    """Each node is joined to the next, and to all that are near."""
    points = [(chance.random(), chance.random()) for _ in range(count)]
    points.sort()
    near = math.sqrt(6 / (math.pi * count))
    return {
        (one, other): chance.choice(RATES)
        for one in range(count)
        for other in range(one + 1, count)
        if other == one + 1 or math.dist(points[one], points[other]) < near
    }


def preferential_graph(count: int, chance: random.Random) -> Graph:
    """Each node joins two ends of links that are there (A.-L. Barabási, R. Albert: Emergence of scaling in random networks, 1999)."""
    graph: Graph = {(0, 1): 5}
    ends = [0, 1]
    for node in range(2, count):
        for to in {chance.choice(ends) for _ in range(2)}:
            graph[to, node] = chance.choice(RATES)
            ends += [to, node]
    return graph


def grid(width: int, height: int) -> Graph:
    right = {(y * width + x, y * width + x + 1): 1 for y in range(height) for x in range(width - 1)}
    down = {(y * width + x, (y + 1) * width + x): 1 for y in range(height - 1) for x in range(width)}
    return right | down


def graphs() -> Iterator[tuple[str, int, Graph]]:
    chance = random.Random(1)
    for count in (40, 100):
        yield f"random {count}", count, random_graph(count, chance)
        yield f"geometric {count}", count, geometric_graph(count, chance)
        yield f"preferential {count}", count, preferential_graph(count, chance)
    yield "grid", 96, grid(12, 8)


def ours(file: Path, parts: int) -> tuple[int, int]:
    """Returns the rate of what crosses, in Mbit/s, and the nodes of the largest part."""
    told = subprocess.run(
        [os.environ["NETLOOM"], "check", str(file), "--machines", str(parts), "--json"],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    placement = json.loads(told.stdout)["placement"]
    assert len(placement["machines"]) == parts
    cut = sum(link["forward_bits_per_second"] for link in placement["crossing"])
    return cut // 1_000_000, max(len(machine["nodes"]) for machine in placement["machines"])


def of_metis(count: int, graph: Graph, parts: int, most: int) -> float:
    """The least of some seeds, with parts no larger than the largest of ours; infinite if it finds none."""
    around: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for (one, other), rate in graph.items():
        around[one].append((other, rate))
        around[other].append((one, rate))
    starts = [0]
    for links in around:
        starts.append(starts[-1] + len(links))
    adjacency = pymetis.CSRAdjacency(starts, [other for links in around for other, _ in links])
    rates = [rate for links in around for _, rate in links]
    larger = max(1, round((most * parts / count - 1) * 1000))
    options = (
        pymetis.Options(seed=seed, ufactor=factor) for factor in (1, 1 + larger // 2, larger) for seed in range(8)
    )
    found = [pymetis.part_graph(parts, adjacency, eweights=rates, options=one) for one in options]
    # It does not always keep to what it was asked for.
    return min((cut for cut, places in found if max(map(places.count, range(parts))) <= most), default=math.inf)


def test_cuts_are_those_of_metis_or_better(tmp_path: Path) -> None:
    ratios: list[float] = []
    for name, count, graph in graphs():
        file = tmp_path / "lab.yaml"
        nodes = "".join(f"  n{node}: {{kind: router}}\n" for node in range(count))
        links = "".join(
            f"  l{number}: {{ends: [n{one}, n{other}], rate: {rate} Mbit/s, delay: 5 ms}}\n"
            for number, ((one, other), rate) in enumerate(graph.items())
        )
        file.write_text(f"nodes:\n{nodes}links:\n{links}", encoding="utf-8")
        for parts in (2, 4):
            cut, most = ours(file, parts)
            fair = count / parts
            assert most <= max(1.1 * fair, fair + 1), (name, parts, most)
            theirs = of_metis(count, graph, parts, most)
            if theirs < math.inf:
                ratios.append(cut / theirs)
                assert ratios[-1] <= 1.15, (name, parts, cut, theirs)
    assert len(ratios) > 10
    assert math.exp(sum(map(math.log, ratios)) / len(ratios)) <= 1.0, ratios
