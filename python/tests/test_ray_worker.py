"""What a worker of Ray does with a run of a sweep, without Ray: whatever a machine needs comes along."""

from __future__ import annotations

import io
import json
import os
import tarfile
import threading
from pathlib import Path
from typing import Any

import pytest

from netloom import _program, _ray_hunt, _ray_player
from netloom._ray_worker import Lab, Part, Work, digest_of, play_lab_with, play_with

LAB = """
name: far
vary: {word: [one, two]}
nodes: {a: {files: {/etc/told: ../../told.txt}}, b: {}}
links: {l: {ends: [a, b]}}
timeline: [{on: a, run: "sh -c 'cat /etc/told; echo ${word}'", as: said}]
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
"""


class Store:
    """In the place of Ray's object store: counts what is fetched."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}
        self.fetched: list[str] = []

    def put(self, data: bytes) -> Part:
        digest = digest_of(data)
        self.data[digest] = data
        return Part(digest, digest)

    def get(self, reference: str) -> bytes:
        self.fetched.append(reference)
        return self.data[reference]


def test_a_run_needs_nothing_of_the_machine_that_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    store = Store()
    program = store.put(Path(_program.program()).read_bytes())
    work = Work(Lab("far.yaml", LAB, program, None, {"../../told.txt": store.put(b"told\n")}), ["--no-report"])
    for number in (1, 2):
        archive = tarfile.open(fileobj=io.BytesIO(play_with(work, number, store.get)))
        names = archive.getnames()
        log = next(name for name in names if name.endswith("-said.stdout"))
        said = archive.extractfile(log)
        assert said and said.read().decode().split() == ["told", ["one", "two"][number - 1]]
        assert f"runs/far-000{number}/run.json" in names
    assert store.fetched.count(program.digest) == 1, "the program is fetched once per machine"
    assert os.listdir(tmp_path / "netloom" / "machines") == [program.digest]


def test_an_absolute_path_is_that_of_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = Store()
    there = tmp_path / "told.txt"
    program = store.put(Path(_program.program()).read_bytes())
    text = LAB.replace("../../told.txt", str(there))
    work = Work(Lab("far.yaml", text, program, None, {str(there): store.put(b"told\n")}), [])
    with pytest.raises(RuntimeError, match="cannot read"):
        play_with(work, 1, store.get)
    there.write_text("other\n")
    with pytest.raises(RuntimeError, match="another file on this machine"):
        play_with(work, 1, store.get)


def test_what_arrives_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = Store()
    program = store.put(b"#!/bin/false\n")
    store.data[program.digest] = b"#!/bin/true\n"
    with pytest.raises(RuntimeError, match="did not arrive as it was sent"):
        play_with(Work(Lab("far.yaml", LAB, program), []), 1, store.get)
    assert not list((tmp_path / "netloom" / "machines").glob("*"))


HUNTED = LAB.replace("vary: {word: [one, two]}\n", "").replace("${word}", "WORD")


def test_a_run_of_a_hunt_is_played_elsewhere_and_its_results_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = Store()
    program = store.put(Path(_program.program()).read_bytes())
    lab = Lab("far.yaml", HUNTED, program, None, {"../../told.txt": store.put(b"told\n")})
    asked: list[Any] = []

    def play(run: Any, gone: Any) -> dict[str, Any]:
        asked.append((run["options"], gone()))
        return play_lab_with(lab, run["text"], run["options"], store.get)

    broker = _ray_hunt.Broker(tmp_path / "broker", play)
    threading.Thread(target=broker.serve, daemon=True).start()
    played = tmp_path / "slot" / "lab.yaml"
    played.parent.mkdir()
    played.write_text(HUNTED.replace("WORD", "three"))
    words = ["run", "far.yaml", "--as-played", str(played), "--results", str(played.parent), "--quiet", "--json"]
    words += ["--annotations", "never", "--kernel", "/somewhere", "--no-report", "--parent", "1"]
    assert _ray_player.main([str(tmp_path / "broker"), *words]) == 0
    assert asked == [(["--quiet", "--json", "--annotations", "never", "--no-report"], False)]
    report = json.loads(capfd.readouterr().out)
    results = Path(report["results"])
    assert results.is_relative_to(played.parent) and (results / "verdict.json").exists()
    assert next((results / "logs").glob("*-said.stdout")).read_text().split() == ["told", "three"]
    # One that is wrong has no results, and says what is wrong.
    played.write_text("nodes: [a, a]\n")
    assert _ray_player.main([str(tmp_path / "broker"), *words]) == 3
    assert "far.yaml:1" in capfd.readouterr().err
    broker.close()
