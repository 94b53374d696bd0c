"""What the tests of the package share."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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


def ray_cluster(caches: Sequence[str] = ("", "")) -> Any:
    """A cluster of Ray with two nodes on this machine, each with a cache folder of its own if `caches` says so. Ray itself waits 30 s for a node, and a busy machine may take longer."""
    from ray.cluster_utils import Cluster

    head: dict[str, Any]
    other: dict[str, Any]
    head, other = ({"env_vars": {"XDG_CACHE_HOME": cache}} if cache else {} for cache in caches)
    for attempt in range(5):
        try:
            made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **head})
            made.add_node(num_cpus=1, **other)
            return made
        except Exception as error:
            if "timed out during startup" not in str(error) or attempt == 4:
                raise
    raise AssertionError
