"""Joins what the parts of a lab over several machines found out: one results folder, one report, one verdict.

Each part has its results in `parts/MACHINE`. Nodes, links and commands of a lab are in one part each, so most of what is joined is put side by side;
tables and events are merged by lab time, which begins for all parts at one instant.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The folders whose files are about nodes or commands of one part. Captures are put together by the program, which shows the report.
FOLDERS = ("logs", "nodes", "cores", "files")
#: The tables whose rows begin with the lab time in seconds.
TABLES = ("samples.csv", "tcp.csv", "nodes.csv", "disks.csv")
#: The members of reports that are lists with one item for each thing of the lab.
LISTS = [
    "pipes",
    "losses",
    "routers",
    "switches",
    "stations",
    "tunnels",
    "commands",
    "expectations",
    "figures",
    "interventions",
    "advanced",
    "warnings",
]
#: The exit codes of parts that came to their end.
ENDED = (0, 1, 5, 9)
INTERRUPTED, WALL_LIMIT, DIED, NOT_AS_DESCRIBED, NOT_JUDGED = 130, 124, 8, 5, 9


@dataclass
class PartResults:
    """What came of the part of one machine."""

    machine: str
    address: str
    #: The nodes of the lab that it had.
    nodes: Sequence[str]
    code: int | None = None
    said: str = ""
    report: dict[str, Any] | None = None
    #: Why the machine was lost, if it was.
    lost: str | None = None
    #: Whether it was asked to end before its time, because of another part.
    is_cut_short: bool = False
    #: Whether the lab had come to its time zero.
    has_begun: bool = False

    def told(self) -> str:
        """The machine with its address and its nodes, for people."""
        more = "" if len(self.nodes) <= 12 else f" and {len(self.nodes) - 12} more"
        return f"machine {self.machine} ({self.address}; nodes {', '.join(self.nodes[:12])}{more})"


def join(
    folder: Path, lab: str, parts: Sequence[PartResults], is_interrupted: bool, cluster_lost: str | None = None
) -> dict[str, Any]:
    """Joins the results in `parts/MACHINE` of this folder; the report, which is written, too. `cluster_lost`: why the cluster went on no longer."""
    report = _report(folder, lab, parts, is_interrupted, cluster_lost)
    kept = {(row["machine"], *direction(row)) for row in report["pipes"]}
    for part in parts:
        _link_files(folder, part)
    for name in TABLES:
        _merge_table(folder, parts, name, kept)
    _merge_events(folder, parts)
    _merge_delays(folder, parts, kept)
    _write(folder / "report.json", report)
    _write(folder / "verdict.json", report["verdict"])
    for name in ("commands", "expectations", "pipes", "tunnels"):
        if name in report:
            _write(folder / f"{name}.json", report[name])
    machines = [
        {
            "machine": part.machine,
            "address": part.address,
            "nodes": list(part.nodes),
            "exit_code": part.code,
            "lost": part.lost,
        }
        for part in parts
    ]
    _write(folder / "machines.json", machines)
    return report


def rejoin(folder: Path) -> dict[str, Any]:
    """Joins the results once more, with those that have come since; the report, which is written, too."""
    before = json.loads((folder / "report.json").read_bytes())
    parts: list[PartResults] = []
    for row in json.loads((folder / "machines.json").read_bytes()):
        part = PartResults(row["machine"], row["address"], row["nodes"], row["exit_code"], lost=row["lost"])
        # Machines keep something from time zero on.
        part.has_begun = True
        path = folder / "parts" / part.machine / "report.json"
        if path.exists():
            part.report = json.loads(path.read_bytes())
        parts.append(part)
    lost = [row["text"] for row in before["verdict"]["findings"] if row["subject"] == "cluster"]
    # The program puts these together anew.
    shutil.rmtree(folder / "captures", ignore_errors=True)
    (folder / "journal.arrows").unlink(missing_ok=True)
    return join(folder, before["lab"], parts, before["interrupted"], lost[0].removeprefix("lost: ") if lost else None)


def _report(
    folder: Path, lab: str, parts: Sequence[PartResults], is_interrupted: bool, cluster_lost: str | None
) -> dict[str, Any]:
    reports = [(part, part.report) for part in parts if part.report is not None]
    merged: dict[str, Any] = {"lab": lab, "results": str(folder), "interrupted": is_interrupted}
    merged["wall_limit_reached"] = any(report.get("wall_limit_reached") for _, report in reports)
    merged["duration_ns"] = max((report["duration_ns"] for _, report in reports), default=0)
    leaves = {
        direction(row): row["to"]
        for part, report in reports
        for row in report["pipes"]
        if row["to"] in part.nodes and row["from"] not in part.nodes
    }
    for name in LISTS:
        rows = [row for part, report in reports for row in _rows(part, name, report.get(name, []), leaves)]
        if rows or name in ("pipes", "losses", "switches", "commands", "expectations", "warnings"):
            merged[name] = rows
    merged["commands"].sort(key=lambda row: (row["start_ns"] is None, row["start_ns"]))
    if journals := [report["journal"] for _, report in reports if report.get("journal")]:
        numbers = ("packets", "bytes", "left_out_packets", "lost_packets")
        merged["journal"] = {
            "file": journals[0]["file"],
            **{name: sum(one.get(name, 0) for one in journals) for name in numbers},
        }
    merged["events"] = _events(report["events"] for _, report in reports)
    lost = [part for part in parts if part.lost is not None]
    merged["verdict"] = joined_verdict(lost, [(part, report["verdict"]) for part, report in reports], cluster_lost)
    if error := _error(parts):
        merged["error"] = error
    merged["exit_code"] = exit_code(parts, merged["verdict"]["as_described"], is_interrupted)
    return merged


def _rows(
    part: PartResults, name: str, rows: Iterable[Any], leaves: Mapping[tuple[str, str, str], str]
) -> Iterator[Any]:
    """The rows of a part that are about the lab, and say which machine they are of. `leaves`: where packets leave the directions that are cut."""
    for row in rows:
        if name in ("warnings", "interventions"):
            yield f"{part.machine}: {row}"
        elif name != "pipes":
            yield {**row, "machine": part.machine}
        # A direction that is cut is described in the part in which its packets enter it, and nothing of it in the other.
        elif row["from"] in part.nodes:
            key = direction(row)
            yield {**row, "to": leaves.get(key, row["to"]), "machine": part.machine}


def direction(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """What tells a pipe from others."""
    return row["link"], row["direction"], row["pipe"] or ""


def _events(all_of: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """How late events were, of all parts."""
    kinds = ("link_changes", "measurements", "program_starts", "signals")
    merged: dict[str, Any] = {kind: {"count": 0, "late_count": 0, "worst_ns": None, "worst": None} for kind in kinds}
    for events in all_of:
        for kind, found in merged.items():
            of = events[kind]
            found["count"] += of["count"]
            found["late_count"] += of["late_count"]
            if of["worst_ns"] is not None and (found["worst_ns"] is None or of["worst_ns"] > found["worst_ns"]):
                found["worst_ns"], found["worst"] = of["worst_ns"], of["worst"]
    return merged


def joined_verdict(
    lost: Sequence[PartResults],
    verdicts: Sequence[tuple[PartResults, Mapping[str, Any]]],
    cluster_lost: str | None = None,
) -> dict[str, Any]:
    """One verdict: the lab was as described if each part was, and neither a machine nor the cluster was lost."""
    findings: list[Any] = []
    if cluster_lost is not None:
        findings.append({"subject": "cluster", "text": f"lost: {cluster_lost}", "slowing": None})
    findings += [
        {
            "subject": f"machine {part.machine}",
            "text": f"lost, with the nodes {', '.join(part.nodes)}: {part.lost}",
            "slowing": None,
        }
        for part in lost
    ]
    findings += [
        {**finding, "subject": f"{finding['subject']} on {part.machine}"}
        for part, verdict in verdicts
        for finding in verdict["findings"]
    ]
    judged = [verdict["as_described"] for _, verdict in verdicts if verdict["as_described"] is not None]
    is_as_described = False if findings else (all(judged) if judged else None)
    words = {True: "as described", False: "NOT as described", None: "not judged"}
    proposed = [verdict["dilation"] for _, verdict in verdicts if verdict["dilation"] is not None]

    bounds = [verdict["one_way_bound_ns"] for _, verdict in verdicts if verdict.get("one_way_bound_ns") is not None]

    def told(name: str) -> list[str]:
        return [f"{part.machine}: {text}" for part, verdict in verdicts for text in verdict[name]]

    return {
        "as_described": is_as_described,
        "verdict": words[is_as_described],
        "findings": findings,
        "causes": told("causes"),
        "dilation": max(proposed, default=None),
        "machine": "; ".join(
            f"{part.machine}: {verdict['machine']}" for part, verdict in verdicts if verdict["machine"]
        )
        or None,
        "notes": told("notes"),
        "one_way_bound_ns": max(bounds, default=None),
    }


def _error(parts: Sequence[PartResults]) -> str | None:
    """Why the run failed: what the first part says that did, before others were ended because of it."""
    for part in parts:
        if _has_failed(part):
            said = (part.report or {}).get("error") or part.said.strip().removeprefix("error: ")
            return f"{part.told()}: {said or f'netloom ended with {part.code}'}"
    lost = [part for part in parts if part.lost is not None]
    return f"{lost[0].told()} was lost before time zero: {lost[0].lost}" if lost and not have_begun(parts) else None


def have_begun(parts: Sequence[PartResults]) -> bool:
    """Whether the lab came to its time zero, also if no machine is left that says so."""
    return any(part.has_begun or (part.report or {}).get("duration_ns") for part in parts)


def _has_failed(part: PartResults) -> bool:
    return not part.is_cut_short and part.lost is None and part.code not in (*ENDED, INTERRUPTED, WALL_LIMIT)


def exit_code(parts: Sequence[PartResults], is_as_described: bool | None, is_interrupted: bool) -> int:
    """The exit code of the whole: as on one machine, where the lab failed, then whether it came to its end, then what was judged."""
    failed = [part.code for part in parts if _has_failed(part)]
    if failed:
        return failed[0] if failed[0] is not None and failed[0] > 0 else DIED
    if is_interrupted:
        return INTERRUPTED
    if any(part.code == WALL_LIMIT for part in parts):
        return WALL_LIMIT
    if any(part.lost for part in parts) and not have_begun(parts):
        return DIED
    if is_as_described is False:
        return NOT_AS_DESCRIBED
    if any(part.code == 1 for part in parts):
        return 1
    return NOT_JUDGED if any(part.code == NOT_JUDGED for part in parts) and is_as_described is None else 0


def _link_files(folder: Path, part: PartResults) -> None:
    """Puts the files of a part where they are in a run on one machine; of a name that another part has, too, with the machine in it."""
    home = folder / "parts" / part.machine
    for top in FOLDERS:
        for path in sorted((home / top).rglob("*")):
            if path.is_dir() or path.is_symlink():
                continue
            target = folder / path.relative_to(home)
            other = target.with_name(f"{target.stem}-{part.machine}{target.suffix}")
            if any(place.exists() and place.samefile(path) for place in (target, other)):
                continue  # It was put there before.
            if target.exists():
                target = other
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            try:
                os.link(path, target)
            except OSError:
                shutil.copy2(path, target)


def _merge_table(folder: Path, parts: Sequence[PartResults], name: str, kept: set[tuple[str, ...]]) -> None:
    """Merges tables by their first column, the lab time; those about links without the directions that another part describes."""
    header: list[str] | None = None
    rows: list[list[str]] = []
    for part in parts:
        try:
            file = open(folder / "parts" / part.machine / name, newline="", encoding="utf-8")
        except FileNotFoundError:
            continue
        with file:
            table = csv.reader(file)
            first = next(table, None)
            if first is None:
                continue
            if header is not None and header != first:
                raise ValueError(f"the tables {name} of the parts have different columns")
            header = first
            is_of_links = header[1:4] == ["link", "direction", "pipe"]
            rows += [row for row in table if not is_of_links or (part.machine, *row[1:4]) in kept]
    if header is None:
        return
    rows.sort(key=lambda row: float(row[0]))
    with open(folder / name, "w", newline="", encoding="utf-8") as merged:
        writer = csv.writer(merged, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _merge_events(folder: Path, parts: Sequence[PartResults]) -> None:
    """Merges what happened by lab time; what was before time zero comes first."""
    events: list[tuple[tuple[bool, int], str]] = []
    for part in parts:
        path = folder / "parts" / part.machine / "events.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                # The last line of a part that was killed.
                continue
            at = event.get("time_ns")
            key = (at is not None, event.get("since_start_ns", 0) if at is None else at)
            events.append((key, json.dumps({**event, "machine": part.machine}, separators=(",", ":"))))
    events.sort(key=lambda event: event[0])
    (folder / "events.jsonl").write_text("".join(f"{line}\n" for _, line in events), encoding="utf-8")


def _merge_delays(folder: Path, parts: Sequence[PartResults], kept: set[tuple[str, ...]]) -> None:
    """Puts the delays of all directions side by side, each from the part that describes it."""
    rows: list[Any] = []
    for part in parts:
        path = folder / "parts" / part.machine / "delays.json"
        if path.exists():
            found = json.loads(path.read_bytes())
            rows += [row for row in found if (part.machine, *direction(row)) in kept]
    if rows:
        _write(folder / "delays.json", rows)


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
