"""What becomes of a lab over several machines, without Ray: the part of one machine, and how results are joined."""

from __future__ import annotations

import csv
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from netloom import NetloomError, _clocks, _left, _parts, _probes, _ray_run, _ray_worker
from netloom._parts import PartResults
from netloom._ray_part import Player
from netloom._ray_run import Machine
from netloom._ray_worker import Lab, Part, digest_of

#: In the place of the program: comes to time zero and to its end as a part does, and has results.
PROGRAM = f"""#!{sys.executable}
import json, os, signal, sys, time
signal.signal(signal.SIGTERM, signal.default_int_handler)
signal.signal(signal.SIGINT, signal.SIG_IGN)
def option(name):
    return sys.argv[sys.argv.index(name) + 1]
def step(name):
    open(os.path.join(option("--gate"), name + ".ready"), "w").close()
    while not os.path.exists(os.path.join(option("--gate"), name)):
        time.sleep(0.01)
    return int(open(os.path.join(option("--gate"), name)).read())
began = step("begin")
ended = step("end")
results = os.path.join(option("--results"), "far-a", "one")
os.makedirs(results)
json.dump({{"lab": open(sys.argv[2]).read()}}, open(os.path.join(results, "lab.json"), "w"))
print(json.dumps({{"results": results, "began": began, "ended": ended}}))
"""


def waited(player: Player, name: str) -> Any:
    """What the part has come to, as soon as it has: an exit code may be 0."""
    deadline = time.monotonic() + 30
    while True:
        found = player.look()[name]
        if (found is not None and found is not False) or time.monotonic() > deadline:
            return found
        time.sleep(0.02)


@pytest.fixture
def player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = PROGRAM.encode()
    made = Player(lambda _: data)
    made.begin(Lab("far-a.yaml", "text", Part(digest_of(data), "program")), [])
    yield made
    made.clear()
    assert not list(tmp_path.glob("netloom-part-*"))


def test_a_part_begins_and_ends_at_the_instants_of_all(player: Player, tmp_path: Path) -> None:
    assert waited(player, "begin") is True
    assert player.look()["end"] is False and player.look()["code"] is None
    player.open("begin", 12)
    assert waited(player, "end") is True
    player.open("end", 34)
    assert waited(player, "code") == 0
    ended = player.results()
    assert (ended["report"]["began"], ended["report"]["ended"], ended["results"]) == (12, 34, "one")
    _left.unpack(ended["archive"], tmp_path, "a")
    assert json.loads((tmp_path / "a" / "lab.json").read_text()) == {"lab": "text"}


def test_a_part_that_is_ended_says_how(player: Player) -> None:
    assert waited(player, "begin") is True
    player.end()
    assert waited(player, "code") not in (None, 0)
    assert "KeyboardInterrupt" in player.results()["said"]


def test_nothing_is_left_when_an_actor_is_killed(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        os.environ["TMPDIR"] = str(tmp_path)
        import tempfile

        tempfile.tempdir = None
        Player()
        (tmp_path / "there").touch()
        time.sleep(60)
        os._exit(1)
    deadline = time.monotonic() + 30
    while not (tmp_path / "there").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(list(tmp_path.glob("netloom-part-*"))) == 1
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while list(tmp_path.glob("netloom-part-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not list(tmp_path.glob("netloom-part-*"))


LATE = {"count": 1, "late_count": 0, "worst_ns": 5, "worst": "one"}


def report(pipes: list[dict[str, Any]], *, as_described: bool | None = True, **more: Any) -> dict[str, Any]:
    verdict: dict[str, Any] = {"as_described": as_described, "findings": [], "causes": [], "dilation": None}
    if as_described is False:
        verdict["findings"] = [{"subject": "l.forward", "text": "late", "slowing": None}]
    return {
        "duration_ns": 2_000_000_000,
        "pipes": pipes,
        "commands": [],
        "events": dict.fromkeys(("link_changes", "measurements", "program_starts", "signals"), LATE),
        "verdict": {**verdict, "machine": None, "notes": ["said"]},
        "warnings": ["look"],
        **more,
    }


def pipe(direction: str, begins: str, ends: str) -> dict[str, Any]:
    return {"link": "l", "direction": direction, "pipe": None, "from": begins, "to": ends}


def parts(**more: Any) -> list[PartResults]:
    a = report([pipe("forward", "x", "to-b-1"), pipe("backward", "to-b-1", "x")])
    b = report([pipe("forward", "to-a-1", "y"), pipe("backward", "y", "to-a-1")], **more)
    return [PartResults("a", "10.0.0.1", ["x"], 0, report=a), PartResults("b", "10.0.0.2", ["y"], 0, report=b)]


def test_each_direction_is_there_once_with_its_nodes(tmp_path: Path) -> None:
    for machine, direction, rows in (("a", "forward", ["0.2", "0.3"]), ("b", "backward", ["0.1", "0.25"])):
        home = tmp_path / "parts" / machine
        (home / "logs").mkdir(parents=True)
        (home / "logs" / f"01-{machine}.stdout").write_text(machine)
        (home / "logs" / "same.stdout").write_text(machine)
        other = "backward" if direction == "forward" else "forward"
        lines = [f"{at},l,{way},,1" for at in rows for way in (direction, other)]
        (home / "samples.csv").write_text("\n".join(["time_s,link,direction,pipe,n", *lines, ""]))
        events = [{"time_ns": None, "since_start_ns": 5}, {"time_ns": int(float(rows[0]) * 10), "since_start_ns": 9}]
        (home / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    found = _parts.join(tmp_path, "far", parts(), False)
    shown = [(row["direction"], row["from"], row["to"], row["machine"]) for row in found["pipes"]]
    assert shown == [("forward", "x", "y", "a"), ("backward", "y", "x", "b")]
    assert found["exit_code"] == 0 and found["verdict"]["as_described"] is True
    assert found["events"]["signals"]["count"] == 2
    assert found["warnings"] == ["a: look", "b: look"] and found["verdict"]["notes"] == ["a: said", "b: said"]
    with open(tmp_path / "samples.csv", newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [(row[0], row[2]) for row in rows] == [
        ("0.1", "backward"),
        ("0.2", "forward"),
        ("0.25", "backward"),
        ("0.3", "forward"),
    ]
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [(event["machine"], event["time_ns"]) for event in events] == [("a", None), ("b", None), ("b", 1), ("a", 2)]
    logs = {path.name: path.read_text() for path in (tmp_path / "logs").iterdir()}
    assert logs == {"01-a.stdout": "a", "01-b.stdout": "b", "same.stdout": "a", "same-b.stdout": "b"}
    assert json.loads((tmp_path / "report.json").read_text()) == found


def test_a_lab_is_as_described_if_all_parts_are(tmp_path: Path) -> None:
    wrong = parts(as_described=False)
    wrong[1].code = 5
    found = _parts.join(tmp_path, "far", wrong, False)
    assert found["exit_code"] == 5 and found["verdict"]["verdict"] == "NOT as described"
    assert found["verdict"]["findings"][0]["subject"] == "l.forward on b"
    # A part in which nothing was judged does not speak against the others.
    idle = parts(as_described=None)
    idle[1].code = 9
    assert _parts.join(tmp_path, "far", idle, False)["exit_code"] == 0


def test_a_lost_machine_is_named_with_its_nodes(tmp_path: Path) -> None:
    lost = parts()
    lost[1].lost, lost[1].report, lost[1].code = "it has not answered for 1.5 s", None, None
    lost[0].code, lost[0].is_cut_short = 130, True
    found = _parts.join(tmp_path, "far", lost, False)
    assert found["exit_code"] == 5 and "error" not in found
    first = found["verdict"]["findings"][0]
    assert first["subject"] == "machine b" and "nodes y" in first["text"]
    # Before time zero there is nothing to judge.
    assert lost[0].report is not None
    lost[0].report["duration_ns"] = 0
    found = _parts.join(tmp_path, "far", lost, False)
    assert found["exit_code"] == 8 and "machine b (10.0.0.2; nodes y) was lost" in found["error"]


def test_a_lab_whose_machines_are_all_lost_was_not_as_described(tmp_path: Path) -> None:
    lost = parts()
    for part in lost:
        part.lost, part.report, part.code, part.has_begun = "it has not answered for 1.5 s", None, None, True
    found = _parts.join(tmp_path, "far", lost, False)
    assert found["exit_code"] == 5 and "error" not in found
    assert [finding["subject"] for finding in found["verdict"]["findings"]] == ["machine a", "machine b"]
    # Nor if what has come since knows no lab time.
    assert _parts.rejoin(tmp_path)["exit_code"] == 5


def test_the_part_that_failed_says_why(tmp_path: Path) -> None:
    failed = parts(error="the service s was not ready")
    failed[1].code = 4
    failed[0].code, failed[0].is_cut_short = 130, True
    found = _parts.join(tmp_path, "far", failed, False)
    assert found["exit_code"] == 4
    assert found["error"] == "machine b (10.0.0.2; nodes y): the service s was not ready"
    assert _parts.join(tmp_path, "far", parts(), True)["exit_code"] == 130


def test_a_machine_of_a_cluster_is_what_the_program_reads() -> None:
    node = {"NodeID": "n1", "NodeManagerAddress": "192.0.2.1", "Resources": {"CPU": 2.0, "memory": 5e9}}
    found = _ray_run.as_host(node)
    assert found == {"id": "n1", "address": "192.0.2.1", "processor_thousandths": 2000, "memory_bytes": 5_000_000_000}
    assert _ray_run.as_host({**node, "Resources": {"CPU": 1}})["memory_bytes"] is None


def test_what_is_left_is_joined_with_what_has_come(tmp_path: Path) -> None:
    lost = parts()
    late = lost[1].report
    lost[1].lost, lost[1].report, lost[1].code = "it has not answered for 1.5 s", None, None
    for machine, report in (("a", lost[0].report), ("b", late)):
        home = tmp_path / ("parts" if machine == "a" else "left/far-b") / machine
        (home / "logs").mkdir(parents=True)
        (home / "logs" / f"01-{machine}.stdout").write_text(machine)
        (home / "logs" / "same.stdout").write_text(machine)
        (home / "report.json").write_text(json.dumps(report))
    first = _parts.join(tmp_path, "far", lost, False)
    assert [row["machine"] for row in first["pipes"]] == ["a"]
    _left.unpack(_ray_worker.packed(tmp_path / "left" / "far-b" / "b"), tmp_path / "parts", "b")
    found = _parts.rejoin(tmp_path)
    assert [row["machine"] for row in found["pipes"]] == ["a", "b"]
    assert found["exit_code"] == 5 and found["verdict"]["findings"][0]["subject"] == "machine b"
    logs = {path.name: path.read_text() for path in (tmp_path / "logs").iterdir()}
    assert logs == {"01-a.stdout": "a", "01-b.stdout": "b", "same.stdout": "a", "same-b.stdout": "b"}


def test_a_lost_cluster_is_named(tmp_path: Path) -> None:
    found = _parts.join(tmp_path, "far", parts(), False, "the head cannot be reached")
    assert found["exit_code"] == 5
    assert found["verdict"]["findings"][0] == {
        "subject": "cluster",
        "text": "lost: the head cannot be reached",
        "slowing": None,
    }


def test_a_lost_machine_keeps_its_results(player: Player, tmp_path: Path) -> None:
    player.keep("run-a")
    assert waited(player, "begin") is True
    player.open("begin", 1)
    assert waited(player, "end") is True
    player.open("end", 2)
    assert waited(player, "code") == 0
    # As if the actor had been killed: nobody has fetched anything.
    assert player._keeper.stdin is not None
    player._keeper.stdin.close()
    player._keeper.wait()
    deadline = time.monotonic() + 30
    while (archive := _ray_worker.left("run-a")) is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert archive is not None
    _left.unpack(archive, tmp_path / "parts", "a")
    assert json.loads((tmp_path / "parts" / "a" / "lab.json").read_text()) == {"lab": "text"}
    _ray_worker.forget("run-a")
    assert _ray_worker.left("run-a") is None


class Run(_ray_run.Run):
    """A run whose machines are these, and that says what it would tell."""

    def __init__(self, ray: Any, *machines: Machine) -> None:
        self.told: list[str] = []
        self.abandoned = threading.Event()
        super().__init__(ray, {"is_virtual": False, "machines": None, "continues": False}, self.told.append)
        self._machines = list(machines)

    def _abandon(self, why: str) -> None:
        del why
        self.abandoned.set()
        self._is_cleared.set()

    def watch(self) -> threading.Thread:
        watcher = threading.Thread(target=self._watch_machines, daemon=True)
        watcher.start()
        return watcher

    def look(self) -> None:
        self._look(_ray_run.SILENCE)


class Silent:
    """A cluster of Ray whose actors never answer, and whose calls take lab time alone."""

    def __init__(self) -> None:
        self.now = 100.0
        self.player = self
        self.look = self.remote = self

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        return "reference"

    def wait(self, references: list[Any], num_returns: int, timeout: float) -> tuple[list[Any], list[Any]]:
        del num_returns
        self.now += timeout
        return [], references

    def monotonic(self) -> float:
        return self.now


def test_a_machine_that_does_not_answer_is_lost_within_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = Silent()
    machine = Machine(PartResults("b", "10.0.0.2", ["y"]), ray)
    run = Run(ray, machine)
    monkeypatch.setattr(_ray_run.time, "monotonic", ray.monotonic)
    run.look()
    assert run.told == ["machine b (10.0.0.2; nodes y) is lost: it has not answered for 1.5 s"]
    assert ray.now - 100.0 + _ray_run.TURN < 2


def test_a_node_of_ray_that_ends_is_told_whatever_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as node:
        where = node.getsockname()
        assert _probes.unreached([where], 5.0) == {}
        machine = Machine(PartResults("b", "127.0.0.1", ["y"]), None, where)
        run = Run(None, machine)
        watcher = run.watch()
        time.sleep(2 * _ray_run.PROBED_EVERY)
        assert run.told == [] and not run.abandoned.is_set()
    # Nobody waits in `run`: so it would be in a call of Ray that does not come back.
    assert run.abandoned.wait(60)
    watcher.join(60)
    assert run.told == ["machine b (127.0.0.1; nodes y) is lost: its node of Ray cannot be reached"]
    assert machine.part.lost == "its node of Ray cannot be reached"


def test_a_node_of_ray_that_does_not_answer_is_silent() -> None:
    with socket.socket() as full:
        # Its queue takes one connection, and none after that.
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        with socket.create_connection(full.getsockname()), socket.socket() as second:
            second.setblocking(False)
            second.connect_ex(full.getsockname())
            assert _probes.unreached([full.getsockname()], 0.1) == {full.getsockname(): _probes.IS_SILENT}
    assert 2 * (_ray_run.PROBED_EVERY + _ray_run.PROBED_FOR) < 2


class Answering:
    """A cluster of Ray whose actors answer at once."""

    def wait(self, references: list[Any], num_returns: int, timeout: float) -> tuple[list[Any], list[Any]]:
        del num_returns, timeout
        return references, []

    def get(self, reference: Answer) -> Any:
        return reference.value


class Answer:
    """What an actor answered."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Method:
    """A method of an actor."""

    def __init__(self, call: Any) -> None:
        self.remote = lambda *arguments: Answer(call(*arguments))


class Clocked:
    """An actor on a machine whose clock is so far ahead of the one here, in nanoseconds; it may move when parts are to take a step."""

    def __init__(self, ahead: int, moves_at_open: int = 0) -> None:
        self.ahead, self.opened = ahead, dict[str, int]()

        def opened(step: str, at: int) -> int:
            self.ahead += moves_at_open
            # The step comes at that instant of the clock as it is now.
            self.opened[step] = at - self.ahead
            return time.time_ns() + self.ahead

        self.here = Method(lambda *_: {"clock_ns": time.time_ns() + self.ahead})
        self.open = Method(opened)


SECOND = 1_000_000_000


def clocked(*players: Clocked) -> Run:
    machines = [Machine(PartResults(f"m{number}", "10.0.0.1", ["x"]), player) for number, player in enumerate(players)]
    return Run(Answering(), *machines)


def test_a_clock_that_is_set_before_time_zero_moves_it_on_no_machine() -> None:
    players = Clocked(0), Clocked(5 * SECOND), Clocked(-3 * SECOND)
    run = clocked(*players)
    run._learn_clocks(5, _ray_run.PATIENCE)
    assert run.told == []
    players[1].ahead += SECOND
    players[2].ahead -= SECOND
    for step in ("begin", "end"):
        run._open(step)
        instants = [player.opened[step] for player in players]
        assert max(instants) - min(instants) < 20_000_000, instants
    assert run.told == [
        "machine m1 (10.0.0.1; nodes x): its clock has moved 1.00 s forward beside the one here",
        "machine m2 (10.0.0.1; nodes x): its clock has moved 1.00 s back beside the one here",
    ]


def test_a_clock_that_is_set_while_time_zero_is_agreed_on_ends_the_run() -> None:
    run = clocked(Clocked(0), Clocked(0, moves_at_open=SECOND))
    with pytest.raises(NetloomError, match="m1 .* clock moved 1.00 s forward while time zero was agreed on"):
        run._open("begin")
    # Clocks that only drift do not.
    clocked(Clocked(0), Clocked(0, moves_at_open=1_000_000))._open("begin")


def test_the_quickest_answer_tells_a_clock_best() -> None:
    took = iter([0, 9_000_000, 20_000_000, 22_000_000, 40_000_000, 50_000_000])
    reading = _clocks.read(lambda: 1_700, 3, wall=lambda: 500, steady=lambda: next(took))
    assert reading is not None and reading == _clocks.Reading(1_700 - 500 - 1_000_000, 2_000_000)
    assert _clocks.read(lambda: None, 3) is None
    assert reading.moved_to(_clocks.Reading(reading.ahead_ns + 21_500_000, 2_000_000)) is None
    assert reading.moved_to(_clocks.Reading(reading.ahead_ns - 22_500_000, 2_000_000)) == -22_500_000
