"""Keeps a lab up over the machines of a cluster of Ray: `netloom up --on` becomes this.

The command starts a process of its own, which stays with the lab: it has the actors of `_ray_run`, and a control socket (`_gateway`) for the whole lab,
so that all commands work with it as with a lab on one machine. Both are joined by a stream: the process says how far it is, and ends if the command
goes away before the lab is up.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import _program, _ray, _ray_run
from ._errors import NetloomError, ProgramError
from ._gateway import Gateway
from ._joined import Places
from ._parts import PartResults
from ._progress import progress_writer
from ._ray_run import Machine

#: How often logs are fetched, in turns.
LOGS_EVERY = 2
#: In the results folder: what was said of the lab after it was up.
SAID = "machines.log"
#: In the runtime folder of a lab.
STATE, LOCK, ENDING, SOCKET = "lab.json", "lock", "ending", "control.sock"


def main(order: str) -> int:
    """Brings a lab up on a cluster.

    Args:
        order: As for `_ray_run`, without `then`, and with `runtime` (the runtime folder of the lab), `lock` (the descriptor that locks it), `parent`
            (the process with which the lab ends, or null) and `json` (whether to print where it is).
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
        said = _followed(ours, tell)
    except KeyboardInterrupt:
        ours.close()
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
        print(
            f"{lab} is up: netloom shell {lab} {said['node']}, netloom stats {lab}, netloom logs {lab}, netloom down {lab}",
            file=sys.stderr,
        )
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


class Up(_ray_run.Run):
    """A lab that is up on several machines."""

    def __init__(self, ray: Any, asked: Mapping[str, Any], command: socket.socket) -> None:
        super().__init__(ray, {**asked, "options": ["--stay", *asked["options"]]}, self._say)
        self._command: socket.socket | None = command
        self._runtime = Path(asked["runtime"])
        self._parent = _Process(asked["parent"]) if asked["parent"] is not None else None
        self._is_over = threading.Event()
        self._gateway: Gateway | None = None
        #: How much of each log has been fetched, by machine.
        self._fetched: dict[str, dict[str, int]] = {}
        self._turns = 0
        self.lab: str = asked["lab"]
        self.places = Places([])
        self._write_state(None)

    def join(self, ray: Any) -> None:
        """Has the lab use this cluster."""
        self._ray = ray

    def _say(self, text: str) -> None:
        """Tells the command, and whoever looks into the results later."""
        if self._command is not None:
            self._send({"tell": text})
        if self._folder is not None:
            with open(self._folder / SAID, "a", encoding="utf-8") as said:
                said.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n")

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            if self._command is not None:
                self._command.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self._is_over.set()

    def _come_up(self) -> None:
        folder = self._made_folder()
        found = self._ask(lambda machine: machine.player.commands.remote(), _ray_run.PATIENCE)
        rows = [{**row, "machine": machine} for machine, each in found.items() for row in each]
        (folder / "commands.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
        (folder / "logs").mkdir()
        self.places = Places([(machine.part, reply) for machine, reply in self.ask_all({"request": "topology"})])
        self._fetch_logs()
        self._gateway = Gateway(self._runtime / SOCKET, self)
        self._write_state(folder)
        self._send(
            {
                "up": {"control_socket": str(self._runtime / SOCKET), "results": str(folder)},
                "node": self._machines[0].part.nodes[0],
            }
        )
        if self._command is not None:
            self._command.close()
            self._command = None

    def _write_state(self, results: Path | None) -> None:
        """What other commands may know of the lab."""
        state = {
            "lab_pid": None,
            "guard_pid": os.getpid(),
            "started_unix_s": int(time.time()),
            "lab_file": os.path.abspath(self._asked["file"]),
            "cgroups": [],
            "results": None if results is None else str(results),
            "stays_up": True,
        }
        new = self._runtime / f".{STATE}"
        new.write_text(json.dumps(state), encoding="utf-8")
        new.rename(self._runtime / STATE)

    def _ends(self) -> bool:
        self._turns += 1
        if self._command is not None:
            return self._is_over.is_set() or _has_hung_up(self._command)
        if self._turns % LOGS_EVERY == 0:
            self._fetch_logs()
        return self._is_over.is_set() or (self._parent is not None and self._parent.is_gone())

    def _fetch_logs(self) -> None:
        """Brings what programs have written since into the results folder, where `netloom logs` reads it."""
        known = self._fetched
        added = self._ask(
            lambda machine: machine.player.logs.remote(known.get(machine.part.machine, {})), _ray_run.SILENCE
        )
        for machine, logs in added.items():
            for name, data in logs.items():
                with open(self._made_folder() / "logs" / name, "ab") as log:
                    log.write(data)
                lengths = known.setdefault(machine, {})
                lengths[name] = lengths.get(name, 0) + len(data)

    def _collect(self) -> Path:
        self._note_ending()
        for machine in self._machines:
            if machine.part.lost is None:
                for name in self._fetched.get(machine.part.machine, {}):
                    (self._made_folder() / "logs" / name).unlink(missing_ok=True)
        folder = super()._collect()
        shown = ["run", self._asked["file"], "--played", str(folder), "--quiet"]
        subprocess.run([_program.program(), *shown], capture_output=True, check=False)
        return folder

    def end(self) -> None:
        """Has the lab end, as `netloom down` does."""
        self._note_ending()
        self._is_over.set()

    def _note_ending(self) -> None:
        """Whoever asks the lab gets this answer from now on."""
        if self._runtime.exists():
            (self._runtime / ENDING).touch()

    def about(self) -> dict[str, Any]:
        """What the lab is as a whole, for `info`."""
        file, folder = os.path.abspath(self._asked["file"]), str(self._made_folder())
        return {
            "name": self.lab,
            "mode": "up",
            "file": file,
            "pid": os.getpid(),
            "folder": folder,
            "links": len(self.places.links),
        }

    def lost(self) -> list[PartResults]:
        """The machines that are lost."""
        return [machine.part for machine in self._machines if machine.part.lost is not None]

    def machine(self, name: str) -> Machine:
        """The machine of this name."""
        return next(machine for machine in self._machines if machine.part.machine == name)

    def call(self, machine: Machine, method: str, *arguments: Any) -> Any:
        """Calls a method of a machine's actor.

        Raises:
            NetloomError: The machine is lost.
        """
        reference = getattr(machine.player, method).remote(*arguments)
        while machine.part.lost is None:
            ready, _ = self._ray.wait([reference], timeout=_ray_run.TURN)
            if ready:
                try:
                    return self._ray.get(reference)
                except self._ray.exceptions.RayTaskError as error:
                    raise NetloomError(f"{machine.part.told()}: {_ray.reason_of(error)}") from None
                except self._ray.exceptions.RayError:
                    # Whoever looks after the machine tells why, at the next turn.
                    time.sleep(_ray_run.TURN)
        raise NetloomError(f"{machine.part.told()} is lost: {machine.part.lost}")

    def ask_all(self, request: Mapping[str, Any]) -> list[tuple[Machine, dict[str, Any]]]:
        """Asks all parts that are there.

        Raises:
            NetloomError: One refuses, or none is there.
        """
        answers: list[tuple[Machine, dict[str, Any]]] = []
        for machine in [machine for machine in self._machines if machine.is_active]:
            reply = self.call(machine, "ask", request)
            if reply["reply"] == "refused":
                raise NetloomError(f"{machine.part.machine}: {reply['message']}")
            answers.append((machine, reply))
        if not answers:
            raise NetloomError("no machine of the lab is left")
        return answers

    def close(self) -> None:
        """Removes what tells others of the lab; its lock goes last."""
        if self._gateway is not None:
            self._gateway.close()
        for path in self._runtime.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        (self._runtime / LOCK).unlink(missing_ok=True)
        self._runtime.rmdir()

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
        import select

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
        over = up
        signal.signal(signal.SIGTERM, lambda *_: over.end())
        signal.signal(signal.SIGINT, lambda *_: over.end())
        ray = _ray.ray_itself()
        _ray.connect(ray, None if asked["on"] == "ray" else asked["on"])
        up.join(ray)
        folder = up.play()
        if not up.has_come_up():
            report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
            up.fail(report["exit_code"] or 8, report.get("error") or "the lab has ended before it was up")
    except ProgramError as error:
        _fail(up, error.code or 1, str(error))
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
