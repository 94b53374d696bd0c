"""Plays the part of a lab on its machine: an actor of Ray. Ray sends this file along, as `_ray_worker`.

All of its methods return at once, but for those that fetch and pack files and those that wait for a program, so that whoever asks knows soon when a
machine is lost. Ray calls them in threads of their own.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _ray_programs, _ray_worker
from ._ray_worker import Lab

#: How much of what a part says is passed on, in bytes.
LONGEST = 10_000
#: A part that nobody has looked after for so long is ended, in seconds: whoever asked is cut off, and Ray hears of that later.
DESERTED = 20.0
#: How much of a log is passed on at once, in bytes.
LOG_AT_ONCE = 1 << 20


class Player:
    """The part of a machine, from its files to its results."""

    def __init__(self, get: Callable[[Any], bytes] | None = None) -> None:
        self._get = get
        self._home, self._keeper = _ray_worker.kept_folder("netloom-part-")
        self._process: subprocess.Popen[bytes] | None = None
        self._parent = os.getppid()
        self._programs = _ray_programs.Programs(secrets.token_hex(16))
        self._looked: float | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def here(self, first: int, count: int, is_tcp: bool = False) -> dict[str, Any]:
        """What this machine is: its clock, and whether so many ports of UDP, or of TCP, from `first` on are free."""
        return {"clock_ns": time.time_ns(), "host": socket.gethostname(), "is_free": _are_free(first, count, is_tcp)}

    def has_folder(self, path: str) -> bool:
        """Whether programs can start in this folder."""
        return os.path.isdir(path)

    def lacking(self, lab: Lab, images: Sequence[str]) -> list[str]:
        """Those of these images, by their IDs, that this machine does not have. Of the lab, its program is used."""
        return _ray_worker.lacking(_ray_worker.program_of(lab), images)

    def begin(self, lab: Lab, options: Sequence[str], key: str | None = None, folder: str | None = None) -> None:
        """Starts the part, which waits before its time zero. `key`: that of the parts of a lab in virtual time; `folder`: where it starts."""
        get = self._get
        if get is None:
            import ray  # pyright: ignore[reportMissingImports]

            get = ray.get
        program, environment = _ray_worker.programs(lab, get)
        file = _ray_worker.lay_out(lab, self._home, get)
        file.chmod(0o600)
        gate = self._home / "gate"
        gate.mkdir()
        # Only requests with this word change a part of a lab in virtual time: others come from somebody who knows of this part alone.
        place = gate / "word"
        place.touch(0o600)
        place.write_text(self._programs.word)
        command = [str(program), "run", str(file), "--results", str(self._home / "results"), "--json", "--no-report"]
        command += ["--annotations", "never", "--gate", str(gate), "--parent", str(os.getpid()), *options]
        if key is not None:
            place = self._home / "key"
            place.touch(0o600)
            place.write_text(key)
            command += ["--key", str(place)]
        with open(self._home / "stdout", "wb") as out, open(self._home / "stderr", "wb") as said:
            # A session of its own: keys at a terminal are for whoever asks.
            self._process = subprocess.Popen(
                command,
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=said,
                start_new_session=True,
            )
        (self._home / "pid").write_text(str(self._process.pid))

    def look(self) -> dict[str, Any]:
        """How far the part is: `begin` and `end`, whether it has come there; `code`, if it has ended. `is_orphan`: the node of Ray has died."""
        self._looked = time.monotonic()
        gate = self._home / "gate"
        code = None if self._process is None else self._process.poll()
        reached = {step: (gate / f"{step}.ready").exists() for step in ("begin", "end")}
        return {**reached, "code": code, "is_orphan": os.getppid() != self._parent}

    def _watch(self) -> None:
        """Ends the part if nobody looks after it any more. Its files stay for as long as the actor."""
        while self._looked is None or time.monotonic() - self._looked < DESERTED:
            time.sleep(1)
        self.end()
        time.sleep(DESERTED)
        self.end(kill=True)

    def open(self, step: str, at_ns: int) -> int:
        """Lets the part take a step at this instant of this machine's clock; that clock, in nanoseconds."""
        new = self._home / "gate" / f".{step}"
        new.write_text(str(at_ns))
        new.rename(self._home / "gate" / step)
        return time.time_ns()

    def keep(self, name: str) -> None:
        """Has this machine keep the results under this name if nobody fetches them before the actor ends (`netloom collect`)."""
        new = self._home / ".keep"
        new.write_text(str(_ray_worker.left_folder(name)))
        new.rename(self._home / "keep")

    def ask(self, request: Mapping[str, Any], may_be_gone: bool = False) -> dict[str, Any]:
        """Asks the part over its control socket; its reply. `may_be_gone`: whether a part that has ended answers nothing."""
        try:
            return _ray_programs.ask(self._socket(), self._programs.worded(request))
        except OSError:
            if may_be_gone:
                return {}
            raise

    def start(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Starts a program of a user in a node, or a capture; the reply, with its `number` for `program`."""
        folder = request.get("cwd")
        # The folder from which the user calls may be on no other machine.
        found = {**request, "cwd": folder if os.path.isdir(folder) else "/"} if folder else request
        return self._programs.start(self._socket(), found)

    def start_recorded(self, request: Mapping[str, Any], folder: str, data: bytes) -> dict[str, Any]:
        """Starts a program of a user in virtual time, in this folder of its node: all parts start it, and the one that has the node runs it."""
        return self._programs.start_recorded(self._socket(), {**request, "cwd": folder}, data)

    def subscribe(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Subscribes to events of the part; the reply, with its `number` for `program`."""
        return self._programs.subscribe(self._socket(), request)

    def program(self, step: str, number: int, *arguments: Any) -> Any:
        """Does with a program of a user what the method of `Programs` with this name does."""
        return getattr(self._programs, step)(number, *arguments)

    def commands(self) -> list[dict[str, Any]]:
        """The commands and services of the part, as they are in its results folder."""
        return json.loads((self._results() / "commands.json").read_bytes())

    def logs(self, known: Mapping[str, int]) -> dict[str, bytes]:
        """What has been added to the logs, by their names; `known` is how much of each has been read."""
        added: dict[str, bytes] = {}
        for path in sorted((self._results() / "logs").iterdir()):
            begin = known.get(path.name, 0)
            if path.is_file() and (begin == 0 or path.stat().st_size > begin):
                with open(path, "rb") as file:
                    file.seek(begin)
                    data = file.read(LOG_AT_ONCE)
                if data or path.name not in known:
                    added[path.name] = data
        return added

    def _results(self) -> Path:
        """The results folder of the part; `latest`, which is beside it, is another name."""
        [folder] = (path for path in (self._home / "results").glob("*/*") if path.is_dir() and not path.is_symlink())
        return folder

    def _socket(self) -> str:
        """The path of the part's control socket, which it has told on its way to time zero."""
        return (self._home / "gate" / "begin.ready").read_text()

    def end(self, kill: bool = False) -> None:
        """Has the part end, as Ctrl-C does. SIGINT itself is ignored by all that a job in the background of a script has started, as Ray may be."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)

    def digests(self) -> dict[str, str]:
        """The digests of the files that all parts of a lab in virtual time have in common."""
        return _ray_worker.digests(self._results()) if list((self._home / "results").glob("*/*")) else {}

    def results(self, only_own: bool = False) -> dict[str, Any]:
        """How the part ended: `code`, `said`, `report`, and its folder as an `archive`, named `results` in it. `only_own`: the archive has
        only those files that other parts of a lab in virtual time have not.
        """
        code = None if self._process is None else self._process.poll()
        ended: dict[str, Any] = {"code": code, "said": _tail(self._home / "stderr")}
        try:
            report = json.loads((self._home / "stdout").read_bytes())
        except (OSError, ValueError):
            return ended
        results = report.get("results")
        only = _ray_worker.is_own if only_own else None
        ended |= {"report": report, "results": Path(results).name if results else ""}
        return {**ended, "archive": _ray_worker.packed(Path(results), only)} if results else ended

    def clear(self) -> None:
        """Leaves nothing on this machine."""
        self.end(kill=True)
        if self._process is not None:
            self._process.wait()
        shutil.rmtree(self._home, ignore_errors=True)
        if self._keeper.stdin is not None:
            self._keeper.stdin.close()
        self._keeper.wait()


def _are_free(first: int, count: int, is_tcp: bool) -> bool:
    kind = socket.SOCK_STREAM if is_tcp else socket.SOCK_DGRAM
    for port in range(first, first + count):
        with socket.socket(socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET, kind) as probe:
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
