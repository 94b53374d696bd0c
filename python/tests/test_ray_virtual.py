"""Labs in virtual time on Ray: the results folder has the bytes of the lab in one piece."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

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
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    yield made
    made.shutdown()


def command(cluster: Any, *more: str) -> tuple[list[str], dict[str, str]]:
    environment = {**os.environ, "NETLOOM_PYTHON": sys.executable, "RAY_ADDRESS": cluster.address}
    return [_program.program(), "run", "lab.yaml", "--json", *more], environment


def run(cluster: Any, *more: str) -> tuple[int, dict[str, Any], str]:
    words, environment = command(cluster, *more)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=200)
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


def test_a_machine_that_is_lost_is_named(cluster: Any, tmp_path: Path) -> None:
    endless = LAB.replace("timeline:", "duration: 100000 s\ntimeline:\n  - {on: client, run: ping -i 0.001 -q server}")
    (tmp_path / "lab.yaml").write_text(endless)
    words, environment = command(cluster, "--on", "ray")
    begun = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("results/sites/*/machines.log")) and time.monotonic() < deadline:
        time.sleep(0.05)
        assert begun.poll() is None, begun.communicate()
    time.sleep(1)
    players = subprocess.run(["pgrep", "-f", "ray::Player"], capture_output=True, text=True, check=False).stdout.split()
    assert len(players) == 2
    os.kill(int(players[-1]), signal.SIGKILL)
    out, said = begun.communicate(timeout=60)
    report = json.loads(out)
    assert begun.returncode == 5, said
    findings = report["verdict"]["findings"]
    assert findings[0]["subject"] in ("machine a", "machine b") and "lost, with the nodes" in findings[0]["text"]
    assert Path(report["results"], "captures", "line.pcapng").exists()


def test_in_virtual_time_no_machine_goes_on_alone(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(LAB)
    words, environment = command(cluster, "--on", "ray", "--on-loss", "continue")
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "no machine goes on" in done.stderr
