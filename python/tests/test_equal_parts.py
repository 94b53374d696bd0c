"""How one results folder is made of those of parts in virtual time, which all have the results of the whole lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from netloom import _left, _ray_virtual, _ray_worker
from netloom._parts import PartResults


def report(**more: Any) -> dict[str, Any]:
    verdict = {"as_described": True, "findings": [], "causes": [], "dilation": None, "machine": None, "notes": ["both"]}
    rows = [{"link": "l", "direction": "forward", "pipe": None, "from": "x", "to": "y"}]
    return {"duration_ns": 5, "pipes": rows, "commands": [{"node": "y"}], "warnings": [], "verdict": verdict, **more}


def folder_of(home: Path, machine: str, node: str, capture: str) -> Path:
    for name, text in {
        "logs/01-ping.stdout": "64 bytes",
        f"logs/console-{node}.log": node,
        "captures/l.pcapng": capture,
        "tcp.csv": f"time_s,node,n\n0.1,{node},1\n0.2,{node},2\n",
        "report.json": "{}",
    }.items():
        path = home / machine / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return home / machine


def joined(tmp_path: Path, capture: str, **more: Any) -> tuple[dict[str, Any], Path]:
    folders = [folder_of(tmp_path / "parts", "a", "x", "packets"), folder_of(tmp_path / "far", "b", "y", capture)]
    digests = {path.name: _ray_worker.digests(path) for path in folders}
    parts = [
        PartResults("a", "10.0.0.1", ["x"], 0, report=report()),
        PartResults("b", "10.0.0.2", ["y"], 0, report=report(**more)),
    ]
    base = _ray_virtual.best(parts, digests)
    assert base is parts[0]
    # Of the others comes what is theirs alone.
    archive = _ray_worker.packed(folders[1], _ray_worker.is_own)
    _left.unpack(archive, tmp_path / "parts", "b")
    return _ray_virtual.joined(tmp_path, parts, base, digests, False), tmp_path


def test_the_folder_is_that_of_one_part_with_what_others_know_alone(tmp_path: Path) -> None:
    found, folder = joined(tmp_path, "packets")
    assert found["exit_code"] == 0 and found["verdict"]["notes"] == ["both"]
    assert found["pipes"][0]["machine"] == "a" and found["commands"][0]["machine"] == "b"
    assert (folder / "captures" / "l.pcapng").read_text() == "packets"
    assert not (folder / "parts" / "b" / "captures" / "l.pcapng").exists()
    assert {path.name: path.read_text() for path in (folder / "logs").glob("console-*")} == {
        "console-x.log": "x",
        "console-y.log": "y",
    }
    assert (folder / "tcp.csv").read_text() == "time_s,node,n\n0.1,x,1\n0.1,y,1\n0.2,x,2\n0.2,y,2\n"
    assert json.loads((folder / "verdict.json").read_text()) == found["verdict"]


def test_parts_with_other_results_are_not_as_described(tmp_path: Path) -> None:
    found, _ = joined(tmp_path, "others")
    assert found["exit_code"] == 5
    assert found["verdict"]["findings"][0]["text"].endswith("the same results: captures/l.pcapng")


def test_what_one_part_finds_says_its_machine(tmp_path: Path) -> None:
    verdict = {**report()["verdict"], "as_described": False, "notes": ["both", "alone"]}
    verdict["findings"] = [{"subject": "the engine", "text": "lost 3", "slowing": None}]
    found, _ = joined(tmp_path, "packets", verdict=verdict)
    assert found["verdict"]["notes"] == ["both", "b: alone"]
    assert found["verdict"]["findings"][0]["subject"] == "the engine on b" and found["exit_code"] == 5


def test_a_part_that_ends_because_of_another_one_is_no_cause() -> None:
    lost = PartResults("a", "10.0.0.1", ["x"], lost="its node of Ray has died", report=None)
    after = PartResults("b", "10.0.0.2", ["y"], 8, report=report(error="part `a` of the lab is lost: its process"))
    _ray_virtual.note_consequences([lost, after])
    assert after.is_cut_short
    alone = PartResults("b", "10.0.0.2", ["y"], 8, report=report(error="its disk is full"))
    _ray_virtual.note_consequences([alone, PartResults("a", "", ["x"], 0)])
    assert not alone.is_cut_short
