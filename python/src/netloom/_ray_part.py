"""Plays the part of a lab on its machine: an actor of Ray. Ray sends this file along, as `_ray_worker`.

All of its methods return at once, but for those that fetch and pack files, so that whoever asks knows soon when a machine is lost.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import _ray_worker
from ._ray_worker import Lab

#: Removes the part's folder when its process has ended, whoever was killed: $1 is the folder, and standard input ends with the actor. It is no child
#: of the actor, because Ray kills those of an actor whose owner has gone.
KEEPER = """
exec 3<&0 </dev/null
{
    cat <&3 >/dev/null
    while [ -e "$1/pid" ] && kill -0 "$(cat "$1/pid")" 2>/dev/null; do sleep 0.1; done
    rm -rf "$1"
} &
"""
#: How much of what a part says is passed on, in bytes.
LONGEST = 10_000


class Player:
    """The part of a machine, from its files to its results."""

    def __init__(self, get: Callable[[Any], bytes] | None = None) -> None:
        self._get = get
        self._home = Path(tempfile.mkdtemp(prefix="netloom-part-"))
        keep = ["/bin/sh", "-c", KEEPER, "keeper", str(self._home)]
        self._keeper = subprocess.Popen(keep, stdin=subprocess.PIPE, start_new_session=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._parent = os.getppid()

    def here(self, first: int, count: int) -> dict[str, Any]:
        """What this machine is: its clock, and whether so many ports of UDP from `first` on are free."""
        return {"clock_ns": time.time_ns(), "host": socket.gethostname(), "is_free": _are_free(first, count)}

    def begin(self, lab: Lab, options: Sequence[str]) -> None:
        """Starts the part, which waits before its time zero."""
        get = self._get
        if get is None:
            import ray  # pyright: ignore[reportMissingImports]

            get = ray.get
        program, environment = _ray_worker.programs(lab, get)
        file = _ray_worker.lay_out(lab, self._home, get)
        file.chmod(0o600)
        gate = self._home / "gate"
        gate.mkdir()
        command = [str(program), "run", str(file), "--results", str(self._home / "results"), "--json", "--no-report"]
        command += ["--annotations", "never", "--gate", str(gate), "--parent", str(os.getpid()), *options]
        with open(self._home / "stdout", "wb") as out, open(self._home / "stderr", "wb") as said:
            # A session of its own: keys at a terminal are for whoever asks.
            self._process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=said, start_new_session=True
            )
        (self._home / "pid").write_text(str(self._process.pid))

    def look(self) -> dict[str, Any]:
        """How far the part is: `begin` and `end`, whether it has come there; `code`, if it has ended. `is_orphan`: the node of Ray has died."""
        gate = self._home / "gate"
        code = None if self._process is None else self._process.poll()
        reached = {step: (gate / f"{step}.ready").exists() for step in ("begin", "end")}
        return {**reached, "code": code, "is_orphan": os.getppid() != self._parent}

    def open(self, step: str, at_ns: int) -> None:
        """Lets the part take a step at this instant of this machine's clock."""
        new = self._home / "gate" / f".{step}"
        new.write_text(str(at_ns))
        new.rename(self._home / "gate" / step)

    def end(self, kill: bool = False) -> None:
        """Has the part end, as Ctrl-C does."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL if kill else signal.SIGINT)

    def results(self) -> dict[str, Any]:
        """How the part ended: `code`, `said`, `report`, and its folder as an `archive`, named `results` in it."""
        code = None if self._process is None else self._process.poll()
        ended: dict[str, Any] = {"code": code, "said": _tail(self._home / "stderr")}
        try:
            report = json.loads((self._home / "stdout").read_bytes())
        except (OSError, ValueError):
            return ended
        results = report.get("results")
        ended |= {"report": report, "results": Path(results).name if results else ""}
        return {**ended, "archive": _ray_worker.packed(Path(results))} if results else ended

    def clear(self) -> None:
        """Leaves nothing on this machine."""
        self.end(kill=True)
        if self._process is not None:
            self._process.wait()
        shutil.rmtree(self._home, ignore_errors=True)
        if self._keeper.stdin is not None:
            self._keeper.stdin.close()
        self._keeper.wait()


def _are_free(first: int, count: int) -> bool:
    for port in range(first, first + count):
        with socket.socket(socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True


def _tail(path: Path) -> str:
    try:
        return path.read_bytes()[-LONGEST:].decode(errors="replace")
    except OSError:
        return ""
