"""Labs in virtual time on Ray: the results folder has the bytes of the lab in one piece."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import ray_cluster

from netloom import _program, _ray_worker

if not os.environ.get("NETLOOM_TEST_RAY"):
    pytest.skip("only with NETLOOM_TEST_RAY=1, which `make python-ray` sets: Ray has 80 MB", allow_module_level=True)

LAB = """
name: sites
clock: virtual
seed: 7
machines: {a: {}, b: {}}
nodes: {client: {machine: a}, server: {machine: b}}
links:
  line: {ends: [client, server], rate: 20 Mbit/s, delay: 10 ms, loss: 1 %, queue: 50 packets}
capture: [line]
journal: [line]
timeline:
  - {on: server, run: "sh -c 'echo ready; sleep 100'", as: sink, ready: {pause: 100 ms}}
  - {on: client, run: ping -c 40 -i 0.05 server, as: pings, may_fail: true, save: pings.txt}
  - {on: server, run: 'date +%s.%N; cat /proc/uptime; head -c 16 /dev/urandom | od -x; echo $$ $RANDOM', as: chance}
  - {at: 1 s, link: line, set: {delay: 20 ms}}
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    made = ray_cluster()
    yield made
    made.shutdown()


def command(cluster: Any, *more: str) -> tuple[list[str], dict[str, str]]:
    environment = {**os.environ, "NETLOOM_PYTHON": sys.executable, "RAY_ADDRESS": cluster.address}
    return [_program.program(), "run", "lab.yaml", "--json", *more], environment


def run(cluster: Any, *more: str) -> tuple[int, dict[str, Any], str]:
    words, environment = command(cluster, *more)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=600)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def same(one: Path, other: Path) -> list[str]:
    """The files of two results folders that are not the same, but for those that say how each run was."""
    skipped = {"machines.json", "commands.json", "pipes.json", "expectations.json", "machines.log"}
    found = [_ray_worker.digests(folder) for folder in (one, other)]
    names = {name for each in found for name in each if not name.startswith("parts/")} - skipped
    return sorted(name for name in names if found[0].get(name) != found[1].get(name))


@pytest.mark.parametrize("more", [(), ("--machines", "2")], ids=["machines of the file", "two others"])
def test_two_machines_give_the_bytes_of_one(cluster: Any, tmp_path: Path, more: Sequence[str]) -> None:
    (tmp_path / "lab.yaml").write_text(LAB)
    code, report, said = run(cluster, "--results", "whole")
    assert code == 0, said
    code, spread, said = run(cluster, "--results", "spread", "--on", "ray", *more)
    assert code == 0, said
    assert spread["verdict"]["as_described"] is True and spread["verdict"]["findings"] == []
    folders = [Path(one["results"]) for one in (report, spread)]
    assert same(*folders) == []
    for name in ("captures/line.pcapng", "journal.arrows", "logs/01-pings.stdout", "events.jsonl", "samples.csv"):
        assert (folders[0] / name).exists() == (folders[1] / name).exists(), name
    assert (folders[1] / "journal.arrows").exists()
    machines = json.loads((folders[1] / "machines.json").read_text())
    assert [machine["exit_code"] for machine in machines] == [0, 0]
    consoles = sorted(path.name for path in (folders[1] / "logs").glob("console-*"))
    assert consoles == ["console-client.log", "console-server.log"]
    assert {row["machine"] for row in spread["pipes"]} == {machine["machine"] for machine in machines}
    assert "client" in (folders[1] / "report.html").read_text()


def players() -> list[int]:
    """The actors of the cluster of this test, and of no other one on this machine."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    parent = {int(pid): int(of) for pid, of, *_ in rows}

    def is_ours(pid: int) -> bool:
        while pid in parent and pid != os.getpid():
            pid = parent[pid]
        return pid == os.getpid()

    return [int(row[0]) for row in rows if row[2:] and row[2].startswith("ray::Player") and is_ours(int(row[0]))]


@pytest.mark.parametrize("count", [1, 2], ids=["one of two", "all of them"])
def test_a_machine_that_is_lost_is_named(cluster: Any, tmp_path: Path, count: int) -> None:
    endless = LAB.replace("timeline:", "duration: 100000 s\ntimeline:\n  - {on: client, run: ping -i 0.001 -q server}")
    (tmp_path / "lab.yaml").write_text(endless)
    words, environment = command(cluster, "--on", "ray")
    begun = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("results/sites/*/machines.log")):
        time.sleep(0.05)
        assert begun.poll() is None and time.monotonic() < deadline, begun.communicate()
    time.sleep(1)
    killed = players()
    assert len(killed) == 2
    for player in killed[-count:]:
        os.kill(player, signal.SIGKILL)
    out, said = begun.communicate(timeout=300)
    report = json.loads(out)
    assert begun.returncode == 5, said
    findings = report["verdict"]["findings"]
    assert findings[0]["subject"] in ("machine a", "machine b") and "lost, with the nodes" in findings[0]["text"]
    assert "error" not in report, report["error"]
    log = Path(report["results"], "machines.log").read_text()
    assert "time zero" in log and "is lost" in log
    # What was recorded is in all parts, and gone if all of them are.
    assert Path(report["results"], "captures", "line.pcapng").exists() == (count == 1)


def test_in_virtual_time_no_machine_goes_on_alone(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(LAB)
    words, environment = command(cluster, "--on", "ray", "--on-loss", "continue")
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "no machine goes on" in done.stderr


UP = """
name: sites
clock: virtual
seed: 7
machines: {a: {}, b: {}}
nodes: {client: {machine: a}, server: {machine: b}}
links: {line: {ends: [client, server], rate: 20 Mbit/s, delay: 10 ms, loss: 1 %}}
capture: [line]
journal: [line]
timeline:
  - {on: server, run: "sh -c 'echo ready; sleep 100000'", as: sink, ready: {pause: 100 ms}}
"""
TYPED = (
    "read line; echo got $line; ping -q -c 20 -i 0.02 client | grep -c '20 packets transmitted'; echo over >&2; exit 3"
)


def begun(path: str, folder: Path) -> tuple[socket.socket, list[Path]]:
    """A program of a user that has started, and its output files; in one piece, too, nobody has to read along."""
    (folder / "typed").write_text("a word\n")
    control = socket.socket(socket.AF_UNIX)
    control.connect(path)
    outputs = [folder / "out", folder / "err"]
    request = {
        "request": "exec",
        "node": "server",
        "argv": ["sh", "-c", TYPED],
        "env": [],
        "cwd": "/",
        "terminal": False,
    }
    with open(folder / "typed", "rb") as typed, open(outputs[0], "wb") as out, open(outputs[1], "wb") as err:
        passed = [typed.fileno(), out.fileno(), err.fileno()]
        socket.send_fds(control, [json.dumps(request).encode() + b"\n"], passed)
        reply = json.loads(control.recv(1 << 16))
    assert reply == {"reply": "started"}, reply
    return control, outputs


def worked_with(cluster: Any, folder: Path, *more: str) -> dict[str, Any]:
    """What becomes of a lab that is brought up, advanced, changed and taken down."""
    folder.mkdir()
    (folder / "lab.yaml").write_text(UP)
    environment = {**os.environ, "NETLOOM_PYTHON": sys.executable, "RAY_ADDRESS": cluster.address}

    def netloom(*words: str, code: int = 0) -> str:
        command = [_program.program(), *words]
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    up = json.loads(netloom("up", "lab.yaml", "--json", "--results", "results", *more))
    found: dict[str, Any] = {}
    try:
        found["at"] = netloom("advance", "sites", "300ms")
        control, outputs = begun(up["control_socket"], folder)
        with control:
            netloom("set", "sites", "line", "delay=30ms")
            found["then"] = netloom("advance", "sites", "2s")
            found["ended"] = json.loads(control.recv(1 << 16))
        found["typed"] = [path.read_text() for path in outputs]
        found["delays"] = [
            pipe["delay_ns"] for pipe in json.loads(netloom("stats", "sites", "--once", "--json"))["pipes"]
        ]
        if more:
            # One part alone takes no change.
            netloom("set", "sites-a", "line", "delay=50ms", code=2)
        found["wrong"] = netloom("set", "sites", "nothing", "delay=30ms", code=7)
        found["ps"] = next(lab for lab in json.loads(netloom("ps", "--json")) if lab["name"] == "sites")["paused"]
        netloom("resume", "sites")
        time.sleep(1)
        found["paused"] = netloom("pause", "sites")
        # What was by hand ends here for both at one instant.
        found["logs"] = netloom("logs", "sites")
    finally:
        found["down"] = netloom("down", "sites")
    [results] = (folder / "results" / "sites").glob("2*")
    return {**found, "results": results}


def test_a_lab_that_is_up_is_worked_with_as_in_one_piece(cluster: Any, tmp_path: Path) -> None:
    whole, spread = (
        worked_with(cluster, tmp_path / name, *more) for name, more in (("one", ()), ("two", ("--on", "ray")))
    )
    for name in ("at", "then", "ended", "typed", "delays", "ps", "logs"):
        assert whole[name] == spread[name], name
    assert spread["ended"] == {"reply": "exited", "code": 3} and spread["typed"] == ["got a word\n1\n", "over\n"]
    assert spread["delays"] == [30_000_000, 30_000_000] and "ready" in spread["logs"] and spread["ps"] is True
    # Time went on by itself.
    assert spread["paused"] not in (spread["then"], whole["then"]), spread["paused"]
    report = json.loads((spread["results"] / "report.json").read_text())
    assert report["exit_code"] == 0 and report["verdict"]["as_described"] is True, report["verdict"]
    assert [machine["exit_code"] for machine in json.loads((spread["results"] / "machines.json").read_text())] == [0, 0]
    # Until time went on by itself, which is over at another instant each time, packets are the same.
    first, other = ((each["results"] / "captures" / "line.pcapng").read_bytes() for each in (whole, spread))
    assert first[:10_000] == other[:10_000] and len(first) > 10_000
