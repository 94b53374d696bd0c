"""Makes one answer of those of the parts of a lab over several machines, as its control socket gives it.

A node, a service and a direction of a link are in one part each; beside them, parts have the far ends of their tunnels, which are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ._parts import PartResults, direction, joined_verdict

#: The answer of a part.
Answer = tuple[PartResults, Mapping[str, Any]]

#: What a lab over several machines offers its clients, and what it offers beside that if it is up in virtual time, and in real time.
IN_VIRTUAL_TIME = ("time",)
IN_REAL_TIME = ("packets", "tcp")
CAPABILITIES = (
    "capture",
    "clock",
    "events",
    "exec",
    "fault",
    "partition",
    "restart",
    "set",
    "stats",
    "stop",
    "topology",
    "verdict",
)


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
    """The answer to `stats`: each pipe from the part in which packets enter it. The instants of all answers count from time zero."""
    merged = dict(answers[0][1])
    merged["at_ns"] = max(answer["at_ns"] for _, answer in answers)
    merged["pipes"] = list(_pipes(answers, places))
    merged["switches"] = [switch for _, answer in answers for switch in answer.get("switches", [])]
    return merged


def connections(samples: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The event `tcp` of those of the parts, by machine, each of which has its own nodes."""
    all_of = samples.values()
    rows = [[{**node, "at_ns": _from_zero(one, node["at_ns"])} for node in one["nodes"]] for one in all_of]
    return {**_newest(all_of), "nodes": [node for own in rows for node in own]}


#: The instants of a packet's record.
INSTANTS = ("entered_ns", "start_ns", "sent_ns", "due_ns")


def packets(samples: Mapping[str, Mapping[str, Any]], ranks: Mapping[str, Mapping[int, int]]) -> dict[str, Any]:
    """The event `packets` of those of the parts, by machine. `ranks`: see `ranks_of_pipes`."""
    records: list[dict[str, Any]] = []
    for machine, one in samples.items():
        for record in one["packets"]:
            if (rank := ranks.get(machine, {}).get(record["pipe"])) is None:
                continue  # A direction that another part describes.
            instants = {key: None if record[key] is None else _from_zero(one, record[key]) for key in INSTANTS}
            if (dropped := record["dropped"]) is not None:
                dropped = {**dropped, "at_ns": _from_zero(one, dropped["at_ns"])}
            records.append({**record, **instants, "dropped": dropped, "pipe": rank})
    return {**_newest(samples.values()), "packets": records}


def _newest(samples: Collection[Mapping[str, Any]]) -> dict[str, Any]:
    """What is said of the lab as a whole."""
    return {**from_zero(max(samples, key=_since_zero)), "lost": sum(one["lost"] for one in samples)}


def from_zero(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer with its instant since time zero, which all parts have in common: their engines start one after the other."""
    return {**answer, "at_ns": _from_zero(answer, answer["at_ns"])}


def _from_zero(answer: Mapping[str, Any], at_ns: int) -> int:
    return max(0, at_ns - answer["at_ns"] + _since_zero(answer))


def _since_zero(answer: Mapping[str, Any]) -> int:
    """Parts learn of time zero a moment before it."""
    return answer["since_zero_ns"] or 0


def verdict(
    answers: Sequence[Answer], lost: Sequence[PartResults], places: Places, counted: Sequence[Answer]
) -> dict[str, Any]:
    """The answer to `verdict`, with the machines that are lost. `counted`: with the last answers of these."""
    judged = [(part, answer["verdict"]) for part, answer in answers]
    return {
        **from_zero(answers[0][1]),
        "verdict": joined_verdict(lost, judged),
        "expectations": [row for _, answer in answers for row in answer["expectations"]],
        "pipes": list(_pipes(counted, places)),
    }


def ranks_of_pipes(answers: Sequence[Answer], places: Places) -> dict[str, dict[int, int]]:
    """The places of pipes in the answer to `stats`, by machine and their places in the answer of its part."""
    ranks: dict[str, dict[int, int]] = {}
    for rank, (part, place, _) in enumerate(_entered(answers, places)):
        ranks.setdefault(part.machine, {})[place] = rank
    return ranks


def _pipes(answers: Sequence[Answer], places: Places) -> Iterable[dict[str, Any]]:
    for _, _, row in _entered(answers, places):
        link, way, _ = direction(row)
        # A direction that is cut leads to a tunnel there.
        leaves = places.ends[link][0 if way == "backward" else -1]
        leads_elsewhere = "to" in row and len(set(places.links[link])) > 1
        yield {**row, "to": leaves} if leads_elsewhere else {**row}


def _entered(answers: Sequence[Answer], places: Places) -> Iterable[tuple[PartResults, int, Mapping[str, Any]]]:
    """The pipes of each part that packets enter there, with their places in its answer."""
    for part, answer in answers:
        for place, row in enumerate(answer["pipes"]):
            link, way, _ = direction(row)
            machines = places.links.get(link, [])
            if machines and part.machine == machines[-1 if way == "backward" else 0]:
                yield part, place, row


def _enters(link: Mapping[str, Any], way: str) -> str:
    """The node from which packets of a direction come."""
    return link["ends"][-1 if way == "backward" else 0]["node"]


def _own(answers: Sequence[Answer], rows: str, key: str) -> Iterable[Any]:
    for part, answer in answers:
        yield from (row for row in answer[rows] if row[key] in part.nodes)


def _services(answers: Sequence[Answer]) -> list[Any]:
    return [service for _, answer in answers for service in answer["services"]]
