"""The examples in Python, as a user would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

RAFT = Path(__file__).parents[2] / "examples/python/raft"


def seeds(number: int, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", f"--netloom-seeds={number}"]
    environment = {**os.environ, **more}
    return subprocess.run(command, cwd=RAFT, env=environment, capture_output=True, text=True, check=False)


def test_a_mistake_in_raft_is_found_by_its_seeds() -> None:
    right = seeds(6)
    assert "6 passed" in right.stdout, right.stdout
    wrong = seeds(24, RAFT_BUG="1")
    found = re.findall(r"repeat it with --netloom-seeds (\d+)-\1", wrong.stdout)
    assert found and "nodes have applied different commands" in wrong.stdout, wrong.stdout[-2000:]


def test_repeated_requests_get_through() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--netloom-seeds=3"]
    done = subprocess.run(command, cwd=RAFT.parent / "http", capture_output=True, text=True, check=False)
    assert "6 passed" in done.stdout, done.stdout[-3000:]


@pytest.mark.parametrize("name", ["quic", "redis"])
def test_examples_pass(name: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=RAFT.parent / name, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout, done.stdout[-3000:]
