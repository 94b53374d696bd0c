"""Histories are what the program reads, and what became of an operation is what it says."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from netloom.history import History

NETLOOM = os.environ.get("NETLOOM", "netloom")


def events(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def check(path: Path, model: str) -> int:
    return subprocess.run([NETLOOM, "history", "check", path, "--model", model], stdout=subprocess.DEVNULL).returncode


def test_operations_have_their_ends(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history = History(path, process="c1")
    with history.operation("write", 5, key="x"):
        pass
    with history.operation("read", key="x") as read:
        read.result = 5
    with history.operation("write", 6, key="x") as write:
        write.fail()
    with pytest.raises(TimeoutError), history.operation("write", 7, key="x"):
        raise TimeoutError("no answer")
    found = events(path)
    assert [event["type"] for event in found] == ["invoke", "ok", "invoke", "ok", "invoke", "fail", "invoke", "info"]
    assert [event["value"] for event in found if event["type"] == "ok"] == [5, 5]
    assert found[-1]["error"] == "TimeoutError('no answer')"
    times = [event["time"] for event in found]
    assert times == sorted(times)  # type: ignore[type-var]
    assert check(path, "register") == 0
    with history.operation("read", key="x") as read:
        read.result = 6
    assert check(path, "register") == 1


def test_the_environment_names_the_file_and_the_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.jsonl"
    monkeypatch.setenv("NETLOOM_HISTORY", str(path))
    monkeypatch.setenv("NETLOOM_NODE", "n1")
    one, other = History(), History()
    one.record("invoke", "read")
    other.record("invoke", "read")
    processes = [event["process"] for event in events(path)]
    assert len(set(processes)) == 2 and all(str(process).startswith(f"n1/{os.getpid()}/") for process in processes)
