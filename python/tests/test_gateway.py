"""The control socket of a lab over several machines, without Ray: two labs on this machine are its parts."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import two_nodes

from netloom import NetloomError, ProgramError, RefusedError, _joined, _ray_programs
from netloom._gateway import Gateway
from netloom._joined import Places
from netloom._parts import PartResults
from netloom._protocol import Connection
from netloom._steps import Steps

pytestmark = pytest.mark.filterwarnings("ignore::netloom.NotAsDescribedWarning")


class Machine:
    """A part that is a lab of its own on this machine."""

    def __init__(self, name: str, nodes: list[str], path: str) -> None:
        self.part = PartResults(name, "192.0.2.1", nodes)
        self._path, self._programs = path, _ray_programs.Programs()

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return _ray_programs.ask(self._path, request)

    def start(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return self._programs.start(self._path, request)

    def subscribe(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return self._programs.subscribe(self._path, request)

    def program(self, step: str, number: int, *arguments: Any) -> Any:
        return getattr(self._programs, step)(number, *arguments)


class Two:
    """Both parts."""

    lab = "far"

    def __init__(self, machines: list[Machine]) -> None:
        self._machines = machines
        self.is_over = threading.Event()
        #: Lab time goes on by itself.
        self.steps: Steps | None = None
        self.is_virtual = False
        self.said: list[str] = []
        self.places = Places([(machine.part, reply) for machine, reply in self.ask_all({"request": "topology"})])

    def about(self) -> dict[str, Any]:
        return {"name": "far", "mode": "up", "file": "/far.yaml", "pid": 1, "folder": "/far", "links": 2}

    def lost(self) -> list[PartResults]:
        return [machine.part for machine in self._machines if machine.part.lost]

    def machine(self, name: str) -> Machine:
        return next(machine for machine in self._machines if machine.part.machine == name)

    def call(self, machine: Machine, method: str, *arguments: Any) -> Any:
        if machine.part.lost:
            raise NetloomError(f"{machine.part.told()} is lost: {machine.part.lost}")
        return getattr(machine, method)(*arguments)

    def call_all(self, method: str, *arguments: Any) -> list[tuple[Machine, Any]]:
        return [(machine, self.call(machine, method, *arguments)) for machine in self._machines]

    def ask_all(self, request: Mapping[str, Any]) -> list[tuple[Machine, dict[str, Any]]]:
        return [(machine, machine.ask(request)) for machine in self._machines if not machine.part.lost]

    def end(self) -> None:
        self.is_over.set()

    def say(self, text: str) -> None:
        self.said.append(text)

    def divided_partition(self, entry: str, number: int) -> dict[str, str]:
        if "nobody" in entry:
            raise ProgramError("partition: there is no node `nobody`", 2)
        # Only the first of them has these nodes.
        other = "{partition: [[x], [b]]}" if "half" in entry else entry
        return {"one": entry.replace("half, ", ""), "other": other}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Machine]]:
    """Two labs, each with nodes of its own that the other does not have."""
    made: list[Machine] = []
    results = tmp_path_factory.mktemp("results")
    first, second = two_nodes(delay="2 ms"), two_nodes(delay="2 ms")
    with first.up(results=results) as one, second.up(results=results) as other:
        # Each part is asked about one of its nodes only, so that both can have nodes of the same names.
        made = [Machine("one", ["a"], one.socket_path), Machine("other", ["b"], other.socket_path)]
        yield made


@pytest.fixture
def far(parts: list[Machine]) -> Iterator[tuple[Two, str]]:
    two = Two(parts)
    # Longer paths than this one belong to no socket.
    folder = Path(f"/tmp/netloom-gateway-{os.getpid()}")
    folder.mkdir()
    gateway = Gateway(folder / "control.sock", two)
    yield two, str(folder / "control.sock")
    gateway.close()
    (folder / "control.sock").unlink()
    folder.rmdir()
    for machine in parts:
        machine.part.lost = None


def run(path: str, node: str, argv: list[str], typed: bytes = b"", **more: Any) -> tuple[int, bytes, bytes]:
    """Runs a program in a node; its exit code and what it has written."""
    connection = Connection(path)
    reads, writes = [], []
    for _ in range(3):
        read, write = os.pipe()
        reads.append(read)
        writes.append(write)
    try:
        passed = [reads[0], writes[1], writes[2]]
        assert connection.ask("exec", passed, node=node, argv=argv, cwd="/", **more)["reply"] == "started"
        for descriptor in passed:
            os.close(descriptor)
        os.write(writes[0], typed)
        os.close(writes[0])
        # Who ends a program of its user's writes less than a pipe holds.
        code = connection.receive()["code"]
        return code, os.read(reads[1], 1 << 16), os.read(reads[2], 1 << 16)
    finally:
        connection.close()
        for descriptor in (reads[1], reads[2]):
            os.close(descriptor)


def test_a_program_runs_where_its_node_is(far: tuple[Two, str]) -> None:
    _, path = far
    for node in ("a", "b"):
        code, out, error = run(path, node, ["sh", "-c", "cat; hostname; echo no >&2; exit 7"], b"typed\n")
        assert (code, out, error) == (7, f"typed\n{node}\n".encode(), b"no\n")
    with pytest.raises(RefusedError, match="the lab has no node `c`: a, b"):
        run(path, "c", ["true"])
    with pytest.raises(RefusedError, match="nothing-of-this-name"):
        run(path, "a", ["/nothing-of-this-name"])


def test_much_goes_both_ways(far: tuple[Two, str]) -> None:
    _, path = far
    connection = Connection(path)
    (read, write), (back, out) = os.pipe(), os.pipe()
    connection.ask("exec", [read, out, out], node="b", argv=["cat"], cwd="/")
    os.close(read)
    os.close(out)
    data = os.urandom(3_000_000)

    def feed() -> None:
        with open(write, "wb") as stream:
            stream.write(data)

    feeder = threading.Thread(target=feed)
    feeder.start()
    with open(back, "rb") as stream:
        assert stream.read() == data
    feeder.join()
    assert connection.receive()["code"] == 0
    connection.close()


def test_a_terminal_is_of_the_program(far: tuple[Two, str]) -> None:
    _, path = far
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (33, 77)) if hasattr(termios, "tcsetwinsize") else None
    connection = Connection(path)
    script = "test -t 0 && echo tty; read x; echo got-$x; exec sleep 100"
    connection.ask("exec", [theirs] * 3, node="b", argv=["sh", "-c", script], cwd="/", terminal=True)
    os.close(theirs)
    os.write(ours, b"word\n")
    shown = b""
    while b"got-word" not in shown:
        shown += os.read(ours, 1000)
    assert shown.startswith(b"tty") or b"tty" in shown
    os.write(ours, b"\x03")
    assert connection.receive()["code"] == 130
    connection.close()
    os.close(ours)


def test_a_signal_and_the_end_of_a_client_end_a_program(far: tuple[Two, str]) -> None:
    _, path = far
    mark = f"7{os.getpid()}"
    with open(os.devnull, "r+b") as nothing:
        connection = Connection(path)
        connection.ask("exec", [nothing.fileno()] * 3, node="a", argv=["sleep", mark], cwd="/")
        connection.send("signal", signal=15)
        replies = [connection.receive(), connection.receive()]
        assert {reply["reply"]: reply.get("code") for reply in replies} == {"done": None, "exited": 143}
        connection.close()
        other = Connection(path)
        other.ask("exec", [nothing.fileno()] * 3, node="a", argv=["sleep", mark], cwd="/")
        other.close()
    deadline = time.monotonic() + 10
    while subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True).returncode == 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_asked_is_joined(far: tuple[Two, str]) -> None:
    two, path = far
    connection = Connection(path)
    hello = connection.ask("hello", version=1)
    assert hello["lab"] == "far" and "exec" in hello["capabilities"] and "socket" not in hello["capabilities"]
    info = connection.ask("info", id=5)
    assert info["id"] == 5 and [node["name"] for node in info["nodes"]] == ["a", "b"]
    assert connection.ask("verdict")["verdict"]["findings"] == []
    assert connection.ask("now")["clock"] == "real"
    with pytest.raises(RefusedError, match="does not have `advance` yet"):
        connection.ask("advance", by_ns=1)
    two.machine("other").part.lost = "it is off"
    assert [node["name"] for node in connection.ask("info")["nodes"]] == ["a"]
    verdict = connection.ask("verdict")["verdict"]
    assert verdict["as_described"] is False and "nodes b: it is off" in verdict["findings"][0]["text"]
    with pytest.raises(RefusedError, match=r"machine other \(192.0.2.1; nodes b\) is lost: it is off"):
        run(path, "b", ["true"])
    assert connection.ask("down")["reply"] == "done" and two.is_over.is_set()
    connection.close()


def test_events_of_all_parts_come_on_one_connection(far: tuple[Two, str]) -> None:
    two, path = far
    connection = Connection(path)
    for wrong in (
        {"events": "news"},
        {"events": "packets"},
        {"events": "stats"},
        {"events": "tcp", "every_ns": 1, "nodes": ["c"]},
        {"events": "output", "commands": ["nobody"]},
    ):
        with pytest.raises(RefusedError):
            connection.ask("subscribe", **wrong)
    assert connection.ask("subscribe", events="stats", every_ns=1)["reply"] == "done"
    connection.send("subscribe", events="lab", from_start=True)
    found: dict[str, list[dict[str, Any]]] = {"lab": [], "stats": []}
    while len({event["machine"] for event in found["lab"]}) < 2 or len(found["stats"]) < 2:
        event = connection.receive()
        if "reply" in event:
            assert event["reply"] == "done"
        else:
            found[event["event"]].append(event)
    assert {"one", "other"} == {event["machine"] for event in found["lab"]}
    assert found["stats"][1]["at_ns"] > found["stats"][0]["at_ns"] and found["stats"][0]["pipes"]
    # Engines of parts start one after the other: what they have in common is time zero.
    assert all(event["at_ns"] == event["since_zero_ns"] for event in found["stats"])
    connection.close()
    # Whoever has gone gets nothing more, and the parts stay as they are.
    assert two.ask_all({"request": "now"})


def test_connections_and_packets_of_all_parts_come_in_one_event(far: tuple[Two, str]) -> None:
    two, path = far
    connection = Connection(path)
    assert {"packets", "tcp"} <= set(connection.ask("hello", version=1)["capabilities"])
    assert connection.ask("subscribe", events="tcp", every_ns=50_000_000, nodes=["b", "a"])["reply"] == "done"
    connection.send("subscribe", events="packets", every_ns=50_000_000)
    pings = [
        threading.Thread(target=run, args=(path, node, ["ping", "-c", "20", "-i", "0.1", "-q", peer]))
        for node, peer in (("a", "b"), ("b", "a"))
    ]
    for ping in pings:
        ping.start()
    nodes: set[tuple[str, ...]] = set()
    records: list[dict[str, Any]] = []
    deadline = time.monotonic() + 30
    while not nodes or len({record["pipe"] for record in records}) < 2:
        assert time.monotonic() < deadline, (nodes, records)
        event = connection.receive()
        if "reply" not in event:
            # A machine that is busy loses records of packets, and says so.
            assert event["at_ns"] == event["since_zero_ns"] and event["lost"] >= 0
        if event.get("event") == "tcp":
            nodes.add(tuple(sorted(node["node"] for node in event["nodes"])))
        for record in event.get("packets", ()):
            assert record["entered_ns"] <= record["due_ns"] and record["entered_ns"] <= event["at_ns"]
            records.append(record)
    # Each part has both directions, and describes the one that begins at its node.
    pipes = connection_stats(path)
    ways = {(pipes[record["pipe"]]["from"], record["flow"]["protocol"]) for record in records}
    assert nodes == {("a", "b")} and {way for way, _ in ways} == {"a", "b"}
    connection.close()
    for ping in pings:
        ping.join()
    # Who knows pipes by their places finds them there when a machine is lost.
    two.machine("one").part.lost = "it is off"
    assert [(pipe["link"], pipe["direction"]) for pipe in connection_stats(path)] == [
        (pipe["link"], pipe["direction"]) for pipe in pipes
    ]


def connection_stats(path: str) -> list[dict[str, Any]]:
    """The counters of all pipes."""
    connection = Connection(path)
    try:
        return connection.ask("stats")["pipes"]
    finally:
        connection.close()


def test_a_program_on_a_machine_that_is_lost_says_so(far: tuple[Two, str]) -> None:
    two, path = far
    threading.Timer(0.5, lambda: setattr(two.machine("other").part, "lost", "it is off")).start()
    code, _, error = run(path, "b", ["sleep", "50"])
    assert code == 255 and error == b"netloom: machine other (192.0.2.1; nodes b) is lost: it is off\n"


def link(name: str, ends: list[str], settings: str) -> dict[str, Any]:
    ways = [{"direction": way, "pipe": None, "settings": {"of": settings}} for way in ("forward", "backward")]
    return {"name": name, "ends": [{"node": node, "interface": f"{node}0"} for node in ends], "pipes": ways}


def test_a_partition_is_made_and_healed_in_all_parts(far: tuple[Two, str]) -> None:
    _, path = far
    connection = Connection(path)

    def reached() -> list[bool]:
        ping = ["ping", "-c", "1", "-W", "1"]
        return [run(path, node, [*ping, other])[0] == 0 for node, other in (("a", "b"), ("b", "a"))]

    assert reached() == [True, True]
    for request in ("partition", "fault"):
        assert connection.ask(request, entry="{partition: [[a], [b]]}") == {"reply": "done"}
        assert reached() == [False, False], request
        healing = {"request": "heal"} if request == "partition" else {"request": "fault", "entry": "{heal: true}"}
        assert connection.ask(healing.pop("request"), **healing) == {"reply": "done"}
        assert reached() == [True, True], request
    with pytest.raises(RefusedError, match="there is no node `nobody`"):
        connection.ask("partition", entry="{partition: [[a], [nobody]]}")
    # What one part refuses is undone in those before it.
    with pytest.raises(RefusedError, match="`x`"):
        connection.ask("partition", entry="{partition: [[half, a], [b]]}")
    assert reached() == [True, True]
    connection.close()


def test_a_link_that_is_cut_is_there_once() -> None:
    a, b = PartResults("m1", "10.0.0.1", ["x"]), PartResults("m2", "10.0.0.2", ["y", "z"])
    there = {"nodes": [{"name": "x"}, {"name": "to-m2-1"}], "links": [link("l", ["x", "to-m2-1"], "m1")]}
    here = {"nodes": [{"name": "to-m1-1"}, {"name": "y"}, {"name": "z"}], "services": [{"name": "s"}], "exposed": []}
    here["links"] = [link("l", ["to-m1-1", "y"], "m2"), link("k", ["y", "z"], "m2")]
    answers = [(a, {**there, "services": [], "exposed": []}), (b, here)]
    found = _joined.topology(answers)
    assert [node["name"] for node in found["nodes"]] == ["x", "y", "z"] and found["services"] == [{"name": "s"}]
    assert [end["node"] for end in found["links"][0]["ends"]] == ["x", "y"]
    assert [pipe["settings"]["of"] for pipe in found["links"][0]["pipes"]] == ["m1", "m2"]
    places = Places(answers)
    assert places.of_link("l", None) == [("m1", "forward"), ("m2", "backward")]
    assert places.of_link("l", "backward") == [("m2", "backward")]
    assert places.of_link("k", None) == [("m2", None)]
    rows = [{"link": link, "direction": way, "pipe": None} for link in "lk" for way in ("forward", "backward")]
    both = [(a, {"at_ns": 5, "pipes": rows[:2]}), (b, {"at_ns": 7, "pipes": rows})]
    stats = _joined.stats(both, places)
    assert stats["at_ns"] == 7 and stats["pipes"] == [rows[0], rows[1], rows[2], rows[3]]


def test_nothing_is_left_open(far: tuple[Two, str]) -> None:
    _, path = far
    run(path, "a", ["true"])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run(path, "a", ["true"])
    deadline = time.monotonic() + 5
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(os.listdir("/proc/self/fd")) <= before
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(path)
