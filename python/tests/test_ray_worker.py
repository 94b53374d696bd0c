"""What a worker of Ray does with a run of a sweep, without Ray: whatever a machine needs comes along."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from netloom import _program
from netloom._ray_worker import Part, Work, digest_of, play_with

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
    work = Work("far.yaml", LAB, ["--no-report"], program, None, {"../../told.txt": store.put(b"told\n")})
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
    work = Work(
        "far.yaml", LAB.replace("../../told.txt", str(there)), [], program, None, {str(there): store.put(b"told\n")}
    )
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
        play_with(Work("far.yaml", LAB, [], program), 1, store.get)
    assert not list((tmp_path / "netloom" / "machines").glob("*"))
