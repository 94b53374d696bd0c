"""Sweeps and hunts on Ray, with several nodes of Ray on this machine; `make python-ray` installs Ray and runs this."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import two_nodes

import netloom
from netloom import Lab, _program

if not os.environ.get("NETLOOM_TEST_RAY"):
    pytest.skip("only with NETLOOM_TEST_RAY=1, which `make python-ray` sets: Ray has 80 MB", allow_module_level=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def described() -> Lab:
    lab = two_nodes(rate="1 Mbit/s", delay="10 ms", loss="10 %")
    lab.set(clock="virtual")
    lab["a"].command("ping -i 0.05 -c 20 b", as_="ping")
    lab.figure("drops", "l.forward.drops")
    return lab


VARY = {"loss": {"path": "links.l.loss", "values": ["5 %", "20 %"]}}


def test_a_sweep_on_ray_is_the_same_as_here(cluster: Any) -> None:
    lab = described()
    there = netloom.sweep(lab, vary=VARY, repeat=2, out="there", on="ray")
    here = netloom.sweep(lab, vary=VARY, repeat=2, out="here")
    assert there.complete and here.complete
    assert [run["figures"] for run in _records(there)] == [run["figures"] for run in _records(here)]
    assert len(list(there.results())) == 4 and all(result.report for result in there.results())


def test_a_lost_worker_is_replaced(cluster: Any) -> None:
    lab = described()
    lab["a"].command("ping -i 0.01 -c 3000 b", as_="longer")
    lost: list[int] = []

    def lose() -> None:
        deadline = time.monotonic() + 60
        while not lost and time.monotonic() < deadline:
            found = subprocess.run(["pgrep", "-f", "ray::play"], capture_output=True, text=True, check=False)
            for pid in found.stdout.split()[:1]:
                time.sleep(0.5)
                os.kill(int(pid), signal.SIGKILL)
                lost.append(int(pid))
            time.sleep(0.05)

    loser = threading.Thread(target=lose)
    loser.start()
    found = netloom.sweep(lab, vary=VARY, repeat=2, out="lost", on="ray")
    loser.join()
    assert lost and found.complete and len(list(found.results())) == 4


def test_the_command_line_has_the_same_word(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "told.txt").write_text("told\n")
    lab = "name: far\nclock: virtual\nvary: {word: [one, two]}\nnodes: {a: {files: {/etc/told: told.txt}}, b: {}}\n"
    lab += "links: {l: {ends: [a, b]}}\ntimeline: [{on: a, run: \"sh -c 'cat /etc/told; echo ${word}; ping -c 2 b'\", as: said}]\n"
    (tmp_path / "far.yaml").write_text(lab + "figures: {drops: l.forward.drops}\n")
    environment = {**os.environ, "NETLOOM_PYTHON": sys.executable, "RAY_ADDRESS": cluster.address}
    command = [_program.program(), "sweep", "far.yaml", "-o", "out", "--on", "ray", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["as_described"] == 2
    again = subprocess.run(
        [*command, "--resume"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr


def _records(found: netloom.SweepResult) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((found.folder / "runs").glob("*/run.json"))]


def test_a_hunt_on_ray_finds_what_it_finds_here(cluster: Any, tmp_path: Path) -> None:
    lab = tmp_path / "lab.yaml"
    lab.write_text("""
clock: virtual
nodes: {a: {}, b: {}}
links: {l: {ends: [a, b], delay: 5 ms}}
duration: 8 s
timeline: [{on: a, run: ping -c 40 -i 0.1 -W 1 b, as: ping, may_fail: true}]
hunt: {runs: 6, faults: {partition: [halves]}, quiet: 1 s, always: ['no log ping matches " [1-9][0-9]*% packet loss"']}
""")
    found = []
    for where, more in (("there", ["--on", cluster.address]), ("here", [])):
        command = [
            _program.program(),
            "hunt",
            str(lab),
            "-o",
            str(tmp_path / where),
            "--json",
            "--moment",
            "0s",
            "--jobs",
            "1",
        ]
        environment = {**os.environ, "NETLOOM_PYTHON": sys.executable}
        done = subprocess.run(
            [*command, *more], env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 1, done.stderr
        found.append(json.loads(done.stdout))
    there, here = ([(one["run"], one["minimal"], one["is_repeated"]) for one in each["findings"]] for each in found)
    assert there == here and there
    assert (tmp_path / "there" / "findings" / "0001" / "minimal.yaml").exists()
