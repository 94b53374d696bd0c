"""Keeps a lab up over the machines of a cluster of Ray: `netloom up --on` becomes this.

The command starts a process of its own, which stays with the lab: it has the actors of `_ray_run`, and a control socket (`_gateway`) for the whole lab,
so that all commands work with it as with a lab on one machine. Both are joined by a stream: the process says how far it is, and ends if the command
goes away before the lab is up.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import _program, _ray
from ._errors import NetloomError, ProgramError
from ._progress import progress_writer
from ._served import SOCKET, Served

#: How long lab time may go on when a lab in virtual time is to end, in seconds.
STANDS_WITHIN = 5.0


def main(order: str) -> int:
    """Brings a lab up on a cluster.

    Args:
        order: As for `_served`, without `then`, and with `parent` (the process with which the lab ends, or null) and `json` (whether to print where
            it is).
    """
    asked = json.loads(order)
    tell = progress_writer(not asked["quiet"])
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ours, theirs = socket.socketpair()
    with open(os.devnull, "r+b") as nothing:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "netloom._ray_up", order, str(theirs.fileno())],
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            pass_fds=[asked["lock"], theirs.fileno()],
            start_new_session=True,
        )
    theirs.close()
    os.close(asked["lock"])
    try:
        _ray.take_signals()
        said = _followed(ours, tell)
    except KeyboardInterrupt:
        ours.close()
        keeper.terminate()
        keeper.wait()
        print("interrupted before the lab was there", file=sys.stderr)
        return 130
    if "up" not in said:
        print(f"error: {said.get('error', 'the process that keeps the lab has died')}", file=sys.stderr)
        return said.get("code", 8)
    lab = asked["lab"]
    if asked["json"]:
        print(json.dumps({"lab": lab, **said["up"]}, indent=2))
    elif not asked["quiet"]:
        ways = [f"exec {lab} {said['node']} -- ip route" if asked["is_virtual"] else f"shell {lab} {said['node']}"]
        ways += [f"stats {lab}", f"logs {lab}", f"down {lab}"]
        print(f"{lab} is up: {', '.join(f'netloom {way}' for way in ways)}", file=sys.stderr)
        if asked["is_virtual"]:
            print(f"its time stands still: netloom advance {lab} 1s, netloom resume {lab}", file=sys.stderr)
    return 0


def _followed(stream: socket.socket, tell: Callable[[str], None]) -> dict[str, Any]:
    """Shows how far the lab is; the last that is said."""
    said: dict[str, Any] = {}
    with stream.makefile("r", encoding="utf-8") as lines:
        for line in lines:
            said = json.loads(line)
            if "tell" not in said:
                return said
            tell(said["tell"])
    return said


class Up(Served):
    """A lab that is up on several machines."""

    mode = "up"

    def __init__(self, ray: Any, asked: Mapping[str, Any], command: socket.socket) -> None:
        super().__init__(ray, {**asked, "options": ["--stay", *asked["options"]]}, self._tell_command)
        self._command: socket.socket | None = command
        self._parent = _Process(asked["parent"]) if asked["parent"] is not None else None

    def _tell_command(self, text: str) -> None:
        """Tells the command, while it is there."""
        if self._command is not None:
            self._send({"tell": text})

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            if self._command is not None:
                self._command.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self._is_over.set()

    def _come_up(self) -> None:
        super()._come_up()
        self._send(
            {
                "up": {"control_socket": str(self._runtime / SOCKET), "results": str(self._made_folder())},
                "node": self._machines[0].part.nodes[0],
            }
        )
        if self._command is not None:
            self._command.close()
            self._command = None

    def _ends(self) -> bool:
        is_over = super()._ends()
        if self._command is not None:
            return is_over or _has_hung_up(self._command)
        return is_over or (self._parent is not None and self._parent.is_gone())

    def _collect(self) -> Path:
        folder = super()._collect()
        shown = ["run", self._asked["file"], "--played", str(folder), "--quiet"]
        shown += ["--clock", "virtual"] if self._is_virtual else []
        subprocess.run([_program.program(), *shown], capture_output=True, check=False)
        return folder

    def _ask_to_end(self) -> None:
        """Has all parts end: in virtual time at one instant, as each does what all do."""
        if (
            self.steps is None
            or self._cluster_lost is not None
            or any(not machine.is_active for machine in self._machines)
        ):
            super()._ask_to_end()
            return
        self.steps.hold()
        try:
            self.steps.same({"request": "down"}, STANDS_WITHIN)
        except NetloomError:
            # Programs compute, or a machine is lost.
            super()._ask_to_end()

    def fail(self, code: int, why: str) -> None:
        """Tells the command why there is no lab."""
        self._send({"error": why, "code": code})

    def has_come_up(self) -> bool:
        """Whether the lab was up."""
        return self._gateway is not None


class _Process:
    """A process, which may end."""

    def __init__(self, pid: int) -> None:
        self._descriptor = os.pidfd_open(pid)

    def is_gone(self) -> bool:
        return bool(select.select([self._descriptor], [], [], 0)[0])


def _has_hung_up(stream: socket.socket) -> bool:
    try:
        return stream.recv(1, socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def keep(order: str, descriptor: int) -> int:
    """Stays with a lab from its start to its end."""
    asked = json.loads(order)
    ray = None
    up: Up | None = None
    try:
        up = Up(None, asked, socket.socket(fileno=descriptor))
        # A cluster that is made now takes minutes, and its keeper takes it down.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _ray.take_signals()
        ray = _ray.ray_itself()
        _ray.connect(ray, None if asked["on"] == "ray" else asked["on"], up.say)
        over = up
        signal.signal(signal.SIGTERM, lambda *_: over.end())
        signal.signal(signal.SIGINT, lambda *_: over.end())
        up.join(ray)
        folder = up.play()
        if not up.has_come_up():
            report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
            up.fail(report["exit_code"] or 8, report.get("error") or "the lab has ended before it was up")
    except ProgramError as error:
        _fail(up, error.code or 1, str(error))
    except KeyboardInterrupt:
        _fail(up, 130, "interrupted before the lab was there")
    except Exception as error:  # Whoever waits has to hear of it.
        _fail(up, 8, str(error) if isinstance(error, NetloomError) else repr(error))
    finally:
        if up is not None:
            up.close()
    return 0


def _fail(up: Up | None, code: int, why: str) -> None:
    if up is not None:
        up.fail(code, why)


if __name__ == "__main__":
    ended = main(sys.argv[1]) if len(sys.argv) == 2 else keep(sys.argv[1], int(sys.argv[2]))
    sys.stdout.flush()
    os._exit(ended)
