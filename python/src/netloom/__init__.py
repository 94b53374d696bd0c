"""Netloom: real programs over the network that you describe, judged after every run.

    from netloom import Lab

    lab = Lab()
    a, b = lab.host("a"), lab.host("b")
    lab.link(a, b, rate="10 Mbit/s", delay="20 ms")
    with lab.up() as live:
        print(live["a"].run("ping -c 3 b").stdout)

The manual is in `docs/python.md` of the project.

The package calls the program for what the program decides (check, up, run, sweep, hunt, convert, graph), and speaks the control protocol with labs
that are up. It writes a lab as JSON, each part on lines of its own, so that a line of an error leads back to a line of Python
(`_settings.Writer`, `_calls.explained`). `scripts/python-models` generates `models` and `_keys` from the program's schema. `process` has the
programs in nodes, `_exchange` their pipes, `aio` the same for asyncio, `_ray` the runs of a sweep as tasks. `up --parent` ties a lab to
its process: the guard watches a descriptor of that process.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._errors import (
    CalledProcessError,
    ClosedError,
    LabError,
    NetloomError,
    NotAsDescribedWarning,
    ProgramError,
    RefusedError,
    RunError,
    TimeoutExpired,
    VersionError,
)
from ._version import __version__
from .lab import Lab, Link, Node

if TYPE_CHECKING:
    from . import models
    from .hunts import Finding, HuntResult, hunt
    from .live import Event, Live, LiveLink, LiveNode, Now, Output, attach
    from .models import *  # noqa: F403
    from .process import CompletedProcess, Popen
    from .result import Result
    from .sweeps import SweepResult, sweep

#: Where the rest is, which is loaded when it is used: most programs need little of it.
_ELSEWHERE = {
    "Event": "live",
    "Finding": "hunts",
    "HuntResult": "hunts",
    "hunt": "hunts",
    "Live": "live",
    "LiveLink": "live",
    "LiveNode": "live",
    "Now": "live",
    "Output": "live",
    "attach": "live",
    "CompletedProcess": "process",
    "Popen": "process",
    "Result": "result",
    "SweepResult": "sweeps",
    "sweep": "sweeps",
}


def __getattr__(name: str) -> object:
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f".{_ELSEWHERE[name]}", __name__), name)
    if not name.startswith("_"):
        models = importlib.import_module(".models", __name__)
        if hasattr(models, name):
            return getattr(models, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CalledProcessError",
    "ClosedError",
    "CompletedProcess",
    "Event",
    "Finding",
    "HuntResult",
    "Lab",
    "LabError",
    "Link",
    "Live",
    "LiveLink",
    "LiveNode",
    "NetloomError",
    "Node",
    "NotAsDescribedWarning",
    "Now",
    "Output",
    "Popen",
    "ProgramError",
    "RefusedError",
    "Result",
    "RunError",
    "SweepResult",
    "TimeoutExpired",
    "VersionError",
    "__version__",
    "attach",
    "hunt",
    "models",
    "sweep",
]
