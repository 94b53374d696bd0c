"""Puts together what the parts of a lab in virtual time found out.

Each part has the results of the whole lab, byte for byte. So the results folder is that of one part, to which comes what each machine knows alone: the
consoles of its kernels, and tables with the rows of its nodes. That all parts have the same is compared by digests.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._parts import DIED, PartResults, exit_code, have_begun, joined_verdict
from ._ray_worker import OWN_TABLES, is_own

__all__ = ["differences", "is_own", "join", "keep_own", "move_in"]

#: The members of reports whose rows are about a node or a pipe.
ROWS = ("pipes", "losses", "commands", "expectations")


def differences(found: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The files that are not the same in all parts. `found`: the digests of each part, by machine."""
    names = sorted({name for digests in found.values() for name in digests})
    return [name for name in names if len({digests.get(name) for digests in found.values()}) > 1]


def join(
    folder: Path,
    parts: Sequence[PartResults],
    base: PartResults,
    differing: Sequence[str],
    interrupted: bool,
    cluster_lost: str | None = None,
) -> dict[str, Any]:
    """Completes the results folder of a part, `base`, which is in `folder`, by what is in `parts/MACHINE`: the files of each machine alone. The report."""
    for part in parts:
        home = folder / "parts" / part.machine
        for path in sorted(home.glob("logs/console-*.log")):
            shutil.copy2(path, folder / path.relative_to(home))
    for name in OWN_TABLES:
        _merge(folder, parts, name)
    report = _report(folder, parts, base, differing, interrupted, cluster_lost)
    _write(folder / "report.json", report)
    _write(folder / "verdict.json", report["verdict"])
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


def _report(
    folder: Path,
    parts: Sequence[PartResults],
    base: PartResults,
    differing: Sequence[str],
    interrupted: bool,
    cluster_lost: str | None,
) -> dict[str, Any]:
    merged: dict[str, Any] = {**(base.report or {}), "results": str(folder), "interrupted": interrupted}
    of_node = {node: part.machine for part in parts for node in part.nodes}
    for name in ROWS:
        merged[name] = [_placed(row, of_node) for row in merged.get(name, [])]
    reports = [(part, part.report) for part in parts if part.report is not None]
    merged["warnings"] = _told([(part, report.get("warnings", [])) for part, report in reports])
    lost = [part for part in parts if part.lost is not None]
    merged["verdict"] = _verdict(lost, reports, differing, cluster_lost)
    merged.pop("error", None)
    if error := _error(parts, lost):
        merged["error"] = error
    merged["wall_limit_reached"] = any(report.get("wall_limit_reached") for _, report in reports)
    merged["exit_code"] = exit_code(parts, merged["verdict"]["as_described"], interrupted)
    return merged


def _placed(row: Mapping[str, Any], of_node: Mapping[str, str]) -> dict[str, Any]:
    """A row with the machine of its node, or of that from which packets of its pipe come."""
    node = str(row.get("node") or row.get("from"))
    return {**row, "machine": of_node[node]} if node in of_node else dict(row)


def _verdict(
    lost: Sequence[PartResults],
    reports: Sequence[tuple[PartResults, Mapping[str, Any]]],
    differing: Sequence[str],
    cluster_lost: str | None,
) -> dict[str, Any]:
    """One verdict: what all parts find is said once, and what some find with their machines."""
    every = [report["verdict"]["findings"] for _, report in reports]
    common = [finding for finding in (every[0] if every else []) if all(finding in one for one in every)]

    def alone(verdict: Mapping[str, Any]) -> dict[str, Any]:
        return {**verdict, "findings": [finding for finding in verdict["findings"] if finding not in common]}

    verdict = joined_verdict(lost, [(part, alone(report["verdict"])) for part, report in reports], cluster_lost)
    findings = [*verdict["findings"], *common]
    if differing:
        shown = ", ".join(differing[:5]) + (f" and {len(differing) - 5} more" if len(differing) > 5 else "")
        findings.insert(0, {"subject": "parts", "text": f"they have not the same results: {shown}", "slowing": None})
        verdict |= {"as_described": False, "verdict": "NOT as described"}
    told = {name: _told([(part, report["verdict"][name]) for part, report in reports]) for name in ("causes", "notes")}
    return {**verdict, "findings": findings, **told}


def _told(said: Sequence[tuple[PartResults, Sequence[str]]]) -> list[str]:
    """What parts say: once what all of them do, and with their machine what only some do."""
    counts: dict[str, list[str]] = {}
    for part, texts in said:
        for text in dict.fromkeys(texts):
            counts.setdefault(text, []).append(part.machine)
    return [text if len(of) == len(said) else f"{', '.join(of)}: {text}" for text, of in counts.items()]


def _error(parts: Sequence[PartResults], lost: Sequence[PartResults]) -> str | None:
    """Why the run failed: parts that end because another one has gone say so, and that one knows more."""
    if lost:
        return None if have_begun(parts) else f"{lost[0].told()} was lost before time zero: {lost[0].lost}"
    failed = [part for part in parts if not part.is_cut_short and part.code not in (0, 1, 5, 9, 124, 130)]
    said = [(part, (part.report or {}).get("error") or part.said.strip().removeprefix("error: ")) for part in failed]
    # That another part is lost is the consequence of what that one says; a part that was killed says nothing.
    said.sort(key=lambda one: (one[0].code == DIED and " of the lab is lost: " in one[1], not one[1]))
    for part, text in said:
        return f"{part.told()}: {text or f'netloom ended with {part.code}'}"
    return None


def _merge(folder: Path, parts: Sequence[PartResults], name: str) -> None:
    """Merges a table by lab time, with the rows of each machine's own nodes; those of one instant in the order of machines and rows."""
    header: list[str] | None = None
    rows: list[list[str]] = []
    for part in parts:
        path = folder / "parts" / part.machine / name
        if not path.exists():
            continue
        with open(path, newline="", encoding="utf-8") as file:
            table = csv.reader(file)
            header = next(table, header)
            rows += [row for row in table if row[1] in part.nodes]
    if header is None:
        return
    rows.sort(key=lambda row: float(row[0]))
    with open(folder / name, "w", newline="", encoding="utf-8") as merged:
        writer = csv.writer(merged, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def move_in(source: Path, folder: Path) -> None:
    """Moves the files of a part's results folder to where those of the whole lab belong."""
    for path in sorted(source.rglob("*")):
        target = folder / path.relative_to(source)
        if path.is_dir() and not path.is_symlink():
            target.mkdir(exist_ok=True)
        else:
            os.replace(path, target)
    shutil.rmtree(source)


def keep_own(folder: Path, machine: str, names: Iterable[str]) -> None:
    """Copies the files that are of one machine alone to its folder in `parts`."""
    for name in names:
        target = folder / "parts" / machine / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / name, target)


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
