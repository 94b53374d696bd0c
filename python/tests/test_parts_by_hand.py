"""Parts of a lab that is up in virtual time: what would change one of them alone is refused there, and what is asked of all is done."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netloom import _program
from netloom._ray_programs import Programs, ask

LAB = """
name: halves
clock: virtual
machines: {a: {}, b: {}}
nodes: {client: {machine: a}, server: {machine: b}}
links: {line: {ends: [client, server], delay: 10 ms}}
timeline:
  - {on: server, run: sleep 100000, as: sink}
"""
WORD = "a word that users of one part do not know"


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The control sockets of both parts, which are up."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "lab.yaml").write_text(LAB)
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_text("7" * 64)
    started: dict[str, subprocess.Popen[bytes]] = {}
    at = [word for name in "ab" for word in ("--at", f"{name}={tmp_path}/at-{name}")]
    for name in "ab":
        gate = tmp_path / f"gate-{name}"
        gate.mkdir()
        (gate / "word").write_text(WORD)
        command = [_program.program(), "run", "lab.yaml", "--part", name, *at, "--key", "key", "--gate", str(gate)]
        said = (tmp_path / f"said-{name}").open("wb")
        started[name] = subprocess.Popen([*command, "--stay", "--quiet"], stdout=said, stderr=said, cwd=tmp_path)
        said.close()
    sockets: dict[str, str] = {}
    deadline = time.monotonic() + 300
    for name, process in started.items():
        ready = tmp_path / f"gate-{name}" / "begin.ready"
        while not (ready.exists() and ready.read_text()):
            assert process.poll() is None and time.monotonic() < deadline, (tmp_path / f"said-{name}").read_text()
            time.sleep(0.02)
        sockets[name] = ready.read_text()
    yield sockets
    for process in started.values():
        process.terminate()
    for process in started.values():
        process.wait(60)


def by_hand(*words: str) -> tuple[int, str]:
    done = subprocess.run(
        [_program.program(), *words], capture_output=True, text=True, check=False, timeout=100, env=dict(os.environ)
    )
    return done.returncode, done.stderr


def delay(path: str) -> list[int]:
    return [pipe["delay_ns"] for pipe in ask(path, {"request": "stats"})["pipes"]]


def test_a_part_alone_is_looked_at_and_not_changed(parts: dict[str, str]) -> None:
    for words in (
        ("set", "halves-a", "line", "delay=30ms"),
        ("exec", "halves-a", "client", "--", "true"),
        ("advance", "halves-b", "1s"),
        ("resume", "halves-b"),
        ("fault", "halves-b", "{crash: server, for: 1 s}"),
    ):
        code, said = by_hand(*words)
        assert code == 2, (words, said)
        own = f"`{words[1]}` is a part of the lab `halves`"
        assert own in said and f"use `netloom {words[0]} halves`" in said, (words, said)
    # A word of another lab is none.
    change: dict[str, Any] = {"request": "set", "link": "line", "changes": [["delay", "30 ms"]]}
    assert ask(parts["a"], {**change, "of_all": "another"})["reply"] == "refused"
    assert delay(parts["a"]) == delay(parts["b"]) == [10_000_000, 10_000_000]
    assert by_hand("stats", "halves-a", "--once")[0] == 0
    # Whoever keeps all of them asks all of them.
    keeper = Programs(WORD)
    for path in parts.values():
        assert ask(path, keeper.worded(change)) == {"reply": "done"}
    assert delay(parts["a"]) == delay(parts["b"]) == [30_000_000, 30_000_000]
    assert ask(parts["a"], {"request": "info"})["name"] == "halves-a"
