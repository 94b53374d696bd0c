"""Runs over two machines at whose random moments something breaks: who asked is told, and nothing is left anywhere.

`NETLOOM_RAY_FAULTS` says how many there are, in real time and in virtual time: `NETLOOM_RAY_FAULTS=200 scripts/python-tests --ray` takes two hours. With a folder in
`NETLOOM_RAY_FOLDER`, what was interrupted goes on where it was.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netloom import _program

if not os.environ.get("NETLOOM_TEST_RAY"):
    pytest.skip("only with NETLOOM_TEST_RAY=1, which `make python-ray` sets: Ray has 80 MB", allow_module_level=True)

COUNT = int(os.environ.get("NETLOOM_RAY_FAULTS", "8"))
#: How long after the start of a run its fault comes at the latest, in seconds: where others keep the machine busy, runs take longer.
WITHIN = float(os.environ.get("NETLOOM_RAY_WITHIN", "11"))
SCRIPT = Path(__file__).with_name("ray_faults.sh")

LAB = """
name: far
duration: 4 s
machines: {a: {}, b: {}}
nodes: {web: {machine: a}, db: {machine: b}}
links: {line: {ends: [web, db], delay: 20 ms}}
timeline:
  - {on: db, run: "sh -c 'echo hello; sleep 100'", as: server, ready: {pause: 1 s}}
  - {on: web, run: ping -c 30 -i 0.2 db, as: ping, may_fail: true}
  - {on: db, run: ping -c 30 -i 0.2 web, as: pong, may_fail: true}
capture: [line]
journal: all
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
"""

#: The same in virtual time, which takes about as long.
VIRTUAL = """
name: far
clock: virtual
machines: {a: {}, b: {}}
nodes: {web: {machine: a}, db: {machine: b}}
links: {line: {ends: [web, db], delay: 20 ms}}
timeline:
  - {on: db, run: "sh -c 'echo hello; sleep 1000000'", as: server, ready: {pause: 1 s}}
  - {on: web, run: ping -q -c 4000 -i 0.01 db, as: ping, may_fail: true}
capture: [line]
journal: all
"""

#: The exit codes that a run may end with after a fault; it may have come before there was anything to break, or when all was over. Ray may list a
#: machine that the fault before has taken away.
CODES = {
    "agent": {0, 5, 8},
    "stopped": {0, 5, 8},
    "suspended": {0, 5, 8},
    "node": {0, 5, 8},
    "head": {0, 5, 8},
    "cut": {0, 5, 8},
    "asker": {0, 8, 137},
    "interrupt": {0, 8, 130},
    "disk": {0, 4, 5, 6, 8},
}
#: How long a run may take to say that a machine is lost, in seconds: two on an idle machine, and longer where others keep it from its processors.
TOLD = 15.0


@pytest.mark.parametrize("lab, more", [(LAB, ""), (VIRTUAL, "--clock virtual")], ids=["real time", "virtual time"])
def test_faults_at_random_moments_are_told_and_leave_nothing(tmp_path: Path, lab: str, more: str) -> None:
    if kept := os.environ.get("NETLOOM_RAY_FOLDER"):
        tmp_path = Path(kept) / ("virtual" if more else "real")
        tmp_path.mkdir(parents=True, exist_ok=True)
    chance = random.Random(int(os.environ.get("NETLOOM_RAY_SEED", "1")))
    kinds = [list(CODES)[number % len(CODES)] for number in range(COUNT)]
    (tmp_path / "faults").write_text("".join(f"{kind} {chance.uniform(0, WITHIN):.2f}\n" for kind in kinds))
    (tmp_path / "far.yaml").write_text(lab)
    for name in ("tmp", "xdg"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        (tmp_path / name).mkdir(mode=0o700)
    ray = shutil.which("ray", path=os.path.dirname(sys.executable))
    assert ray is not None
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    environment |= {"MORE": more, "RAY": ray, "PROGRAM": _program.program(), "NETLOOM_PYTHON": sys.executable}
    environment |= {"TMPDIR": str(tmp_path / "tmp"), "XDG_RUNTIME_DIR": str(tmp_path / "xdg")}
    alone = [
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "bash",
    ]
    done = subprocess.run(
        [*alone, str(SCRIPT)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120 + 90 * COUNT,
    )
    fates = (tmp_path / "fates").read_text().splitlines()
    wrong: list[str] = []
    for number, fate in enumerate(fates, 1):
        kind, _, began, code, took, told, left, results = fate.split()
        said = (tmp_path / f"said-{number}").read_text()
        is_right = [
            int(code) in CODES[kind],
            float(took) < 45,
            told == "-" or float(told) < TOLD,
            left == "0",
            "Traceback" not in said,
            # Who asked is told at once which machine it was, and has what there is.
            code != "5"
            or kind == "disk"
            or (kind == "head" and "the cluster is lost" in said)
            or (told != "-" and "machine b (10.99.0.2; nodes db)" in said),
            began == "0" or kind == "asker" or results == "1",
        ]
        if not all(is_right):
            wrong.append(f"{fate}: {is_right}\n{said}")
    assert not wrong, "\n".join(wrong)
    assert done.returncode == 0 and len(fates) == COUNT, done.stderr
