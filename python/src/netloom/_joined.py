"""Makes one answer of those of the parts of a lab over several machines, as its control socket gives it.

A node, a service and a direction of a link are in one part each; beside them, parts have the far ends of their tunnels, which are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._parts import PartResults, direction, joined_verdict

#: The answer of a part.
Answer = tuple[PartResults, Mapping[str, Any]]

#: What a lab over several machines offers its clients, and what it offers beside that if it is up in virtual time.
IN_VIRTUAL_TIME = ("partition", "time")
CAPABILITIES = ("capture", "clock", "events", "exec", "fault", "restart", "set", "stats", "stop", "topology", "verdict")


class Places:
    """Where nodes and links of a lab are."""

    def __init__(self, topologies: Sequence[Answer]) -> None:
        #: By node.
        self.nodes: dict[str, str] = {}
        #: By link: the machines of its ends, in their order. Those of a link that is cut differ.
        self.links: dict[str, list[str]] = {}
        #: The nodes at the ends of each link, in their order.
        self.ends: dict[str, list[str]] = {}
        ends: dict[str, dict[int, tuple[str, str]]] = {}
        for part, topology in topologies:
            self.nodes.update(dict.fromkeys(part.nodes, part.machine))
            for link in topology["links"]:
                for place, end in enumerate(link["ends"]):
                    if end["node"] in part.nodes:
                        ends.setdefault(link["name"], {})[place] = (part.machine, end["node"])
        for name, found in ends.items():
            self.links[name] = [found[place][0] for place in sorted(found)]
            self.ends[name] = [found[place][1] for place in sorted(found)]

    def of_link(self, name: str, way: str | None) -> list[tuple[str, str | None]]:
        """The machines that have to do with a direction of a link, or with both, each with its direction."""
        machines = self.links[name]
        if len(set(machines)) == 1:
            return [(machines[0], way)]
        ways = ("forward", "backward") if way is None else (way,)
        return [(machines[0] if each == "forward" else machines[-1], each) for each in ways]


def greeting(lab: str, one: Mapping[str, Any], more: Sequence[str] = ()) -> dict[str, Any]:
    """The answer to `hello`; `more`: what this lab offers beside what all do."""
    offered = {*CAPABILITIES, *more}
    return {**one, "lab": lab, "capabilities": sorted(offered & set(one["capabilities"]))}


def info(lab: Mapping[str, Any], answers: Sequence[Answer]) -> dict[str, Any]:
    """The answer to `info`. `lab` has the members that are about the whole: `name`, `file`, `pid`, `folder`, `links`."""
    first = answers[0][1]
    merged = {**first, **lab, "nodes": list(_own(answers, "nodes", "name")), "services": _services(answers)}
    merged["age_ns"] = max(answer["age_ns"] for _, answer in answers)
    # The results have to come from everywhere.
    merged["longest_stop_ns"] = max(answer["longest_stop_ns"] for _, answer in answers) + 60_000_000_000
    merged["exposed"] = [text for _, answer in answers for text in answer.get("exposed", [])]
    return merged


def whole_info(lab: Mapping[str, Any], one: Mapping[str, Any], is_paused: bool) -> dict[str, Any]:
    """The answer to `info` of a lab in virtual time, of which each part knows all."""
    return {**one, **lab, "longest_stop_ns": one["longest_stop_ns"] + 60_000_000_000, "paused": is_paused}


def topology(answers: Sequence[Answer]) -> dict[str, Any]:
    """The answer to `topology`."""
    links: dict[str, dict[str, Any]] = {}
    for part, answer in answers:
        for link in answer["links"]:
            if (known := links.get(link["name"])) is None:
                known = links[link["name"]] = {**link, "ends": list(link["ends"]), "pipes": list(link["pipes"])}
            for place, end in enumerate(link["ends"]):
                if end["node"] in part.nodes:
                    known["ends"][place] = end
            for place, pipe in enumerate(link["pipes"]):
                if _enters(link, pipe["direction"]) in part.nodes:
                    known["pipes"][place] = pipe
    return {
        **answers[0][1],
        "nodes": list(_own(answers, "nodes", "name")),
        "links": list(links.values()),
        "exposed": [port for _, answer in answers for port in answer["exposed"]],
        "services": _services(answers),
    }


def stats(answers: Sequence[Answer], places: Places) -> dict[str, Any]:
    """The answer to `stats`: each pipe from the part in which packets enter it."""
    merged = dict(answers[0][1])
    merged["at_ns"] = max(answer["at_ns"] for _, answer in answers)
    merged["pipes"] = list(_pipes(answers, places))
    merged["switches"] = [switch for _, answer in answers for switch in answer.get("switches", [])]
    return merged


def verdict(answers: Sequence[Answer], lost: Sequence[PartResults], places: Places) -> dict[str, Any]:
    """The answer to `verdict`, with the machines that are lost."""
    judged = [(part, answer["verdict"]) for part, answer in answers]
    return {
        **answers[0][1],
        "verdict": joined_verdict(lost, judged),
        "expectations": [row for _, answer in answers for row in answer["expectations"]],
        "pipes": list(_pipes(answers, places)),
    }


def _pipes(answers: Sequence[Answer], places: Places) -> Iterable[dict[str, Any]]:
    for part, answer in answers:
        for row in answer["pipes"]:
            link, way, _ = direction(row)
            machines = places.links.get(link, [])
            enters = machines[-1] if way == "backward" else machines[0] if machines else None
            if enters == part.machine:
                # A direction that is cut leads to a tunnel there.
                leaves = places.ends[link][0 if way == "backward" else -1]
                yield {**row, "to": leaves} if "to" in row and len(set(machines)) > 1 else row


def _enters(link: Mapping[str, Any], way: str) -> str:
    """The node from which packets of a direction come."""
    return link["ends"][-1 if way == "backward" else 0]["node"]


def _own(answers: Sequence[Answer], rows: str, key: str) -> Iterable[Any]:
    for part, answer in answers:
        yield from (row for row in answer[rows] if row[key] in part.nodes)


def _services(answers: Sequence[Answer]) -> list[Any]:
    return [service for _, answer in answers for service in answer["services"]]
