"""What the tests of the package share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from netloom import Lab

pytest_plugins = ["pytester"]

# Runs of pytest inside of tests have another home, and the same kernels of nodes.
os.environ.setdefault("XDG_CACHE_HOME", str(Path("~/.cache").expanduser()))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


def two_nodes(**link: object) -> Lab:
    """The smallest lab, with a name that no other process uses."""
    two_nodes.count += 1  # type: ignore[attr-defined]
    lab = Lab(f"py-{os.getpid()}-{two_nodes.count}")  # type: ignore[attr-defined]
    a, b = lab.host("a"), lab.host("b")
    lab.link(a, b, name="l", **link)  # type: ignore[arg-type]
    return lab


two_nodes.count = 0  # type: ignore[attr-defined]


def open_files() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))
