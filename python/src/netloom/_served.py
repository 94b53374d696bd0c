"""A lab over several machines that has a control socket, on the machine of whoever asked for it: the commands of the program work with it.

`netloom run --on` becomes this, and this the program again, which shows the report as after any run.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import _ray, _ray_run
from ._errors import NetloomError, ProgramError
from ._gateway import Gateway
from ._joined import Places
from ._parts import PartResults
from ._progress import progress_writer
from ._ray_run import Machine
from ._steps import Steps

#: How often logs are fetched, in turns.
LOGS_EVERY = 2
#: In the results folder: what was said of the lab, from the start of the command on.
SAID = "machines.log"
#: In the runtime folder of a lab.
STATE, LOCK, ENDING, SOCKET = "lab.json", "lock", "ending", "control.sock"


class Served(_ray_run.Run):
    """A lab that runs on several machines and has a control socket. `runtime` of what is asked is its runtime folder, which this process has locked."""

    #: What `info` says of it.
    mode = "run"

    def __init__(self, ray: Any, asked: Mapping[str, Any], tell: Callable[[str], None]) -> None:
        super().__init__(ray, asked, self.say)
        self._show = tell
        #: What was said and is not in the results folder yet. Whoever watches the machines says something, too.
        self._said: list[str] = []
        self._saying = threading.Lock()
        self._runtime = Path(asked["runtime"])
        self._is_over = threading.Event()
        self._gateway: Gateway | None = None
        #: How much of each log has been fetched, by machine.
        self._fetched: dict[str, dict[str, int]] = {}
        self._turns = 0
        self.lab: str = asked["lab"]
        self.places = Places([])
        self.is_virtual = self._is_virtual
        #: The time of a lab that is up in virtual time.
        self.steps = Steps(self._ask_parts) if self._is_virtual and self.mode == "up" else None
        self._write_state(None)

    def join(self, ray: Any) -> None:
        """Has the lab use this cluster."""
        self._ray = ray

    def say(self, text: str) -> None:
        """Tells who waits, and whoever looks into the results later."""
        self._show(text)
        with self._saying:
            self._said.append(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n")
            if self._folder is not None:
                self._write_said(self._folder)

    def _write_said(self, folder: Path) -> None:
        with open(folder / SAID, "a", encoding="utf-8") as said:
            said.writelines(self._said)
        self._said.clear()

    def _made_folder(self) -> Path:
        folder = super()._made_folder()
        # What was said before there was a folder is a part of it as soon as there is one.
        with self._saying:
            if self._said:
                self._write_said(folder)
        return folder

    def _come_up(self) -> None:
        super()._come_up()
        folder = self._made_folder()
        found = self._ask(lambda machine: machine.player.commands.remote(), _ray_run.PATIENCE)
        # In virtual time all parts have the same.
        found = dict(list(found.items())[:1]) if self._is_virtual else found
        rows = [{**row, "machine": machine} for machine, each in found.items() for row in each]
        (folder / "commands.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
        (folder / "logs").mkdir()
        asked = {"request": "topology"}
        topologies = self._ask(lambda machine: machine.player.ask.remote(asked, True), _ray_run.PATIENCE)
        # A part that has just ended or is lost is dealt with at the next turn.
        known = [(machine.part, topologies.get(machine.part.machine, {})) for machine in self._machines]
        self.places = Places([(part, found) for part, found in known if found.get("reply") == "topology"])
        self._fetch_logs()
        self._gateway = Gateway(self._runtime / SOCKET, self)
        self._write_state(folder)

    def _write_state(self, results: Path | None) -> None:
        """What other commands may know of the lab."""
        state = {
            "lab_pid": None,
            "guard_pid": os.getpid(),
            "started_unix_s": int(time.time()),
            "lab_file": os.path.abspath(self._asked["file"]),
            "cgroups": [],
            "results": None if results is None else str(results),
            "stays_up": self.mode == "up",
        }
        new = self._runtime / f".{STATE}"
        new.write_text(json.dumps(state), encoding="utf-8")
        new.rename(self._runtime / STATE)

    def _ends(self) -> bool:
        self._turns += 1
        if self._gateway is not None and self._turns % LOGS_EVERY == 0:
            self._fetch_logs()
        return self._is_over.is_set()

    def _fetch_logs(self) -> None:
        """Brings what programs have written since into the results folder, where `netloom logs` reads it."""
        known = self._fetched
        # In virtual time all parts write the same.
        of = [machine for machine in self._machines if machine.part.lost is None][:1] if self._is_virtual else None

        def name_of(machine: str) -> str:
            return "" if self._is_virtual else machine

        added = self._ask(
            lambda machine: machine.player.logs.remote(known.get(name_of(machine.part.machine), {})),
            _ray_run.SILENCE,
            of,
        )
        for machine, logs in added.items():
            for name, data in logs.items():
                with open(self._made_folder() / "logs" / name, "ab") as log:
                    log.write(data)
                lengths = known.setdefault(name_of(machine), {})
                lengths[name] = lengths.get(name, 0) + len(data)

    def _collect(self) -> Path:
        self._note_ending()
        lost = {machine.part.machine for machine in self._machines if machine.part.lost is not None}
        for machine, logs in self._fetched.items():
            for name in logs if machine not in lost else ():
                (self._made_folder() / "logs" / name).unlink(missing_ok=True)
        return super()._collect()

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
            "mode": self.mode,
            "file": file,
            "pid": os.getpid(),
            "folder": folder,
            "links": len(self.places.links),
        }

    def _abandon(self, why: str) -> None:
        print(f"error: {why}", file=sys.stderr, flush=True)
        self.close()
        super()._abandon(why)

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
        return self._answer_of(machine, getattr(machine.player, method).remote(*arguments))

    def call_all(self, method: str, *arguments: Any) -> list[tuple[Machine, Any]]:
        """The same of all machines at once.

        Raises:
            NetloomError: A machine is lost.
        """
        asked = [(machine, getattr(machine.player, method).remote(*arguments)) for machine in self._machines]
        return [(machine, self._answer_of(machine, reference)) for machine, reference in asked]

    def _ask_parts(self, request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return [reply for _, reply in self.call_all("ask", request)]

    def _answer_of(self, machine: Machine, reference: Any) -> Any:
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


class Whole(Served):
    """A run of a lab, which `netloom down` interrupts."""

    def _ends(self) -> bool:
        if super()._ends():
            raise KeyboardInterrupt
        return False

    def progress(self) -> str:
        """How far the run has come, for whoever interrupts it outside its turns."""
        if self._has_begun and self._folder is not None:
            return f"while the results were collected: what has come is in {self._folder}"
        return "before the lab was there"


def main(order: str) -> int:
    """Runs a lab on a cluster.

    Args:
        order: An object in JSON: `file`, `text` (the path of its text), `lab` (its name), `files` (those that it names), `on` (`ray`, or the
            address of a cluster), `machines` (how many, or null), `path_ns`, `port`, `is_plain`, `continues` (when a machine is lost), `results`,
            `kernel`, `options` (those of each part), `quiet`, `runtime` (the runtime folder of the lab), `lock` (the descriptor that locks it),
            `then` (the arguments of the program that shows the report).
    """
    asked = json.loads(order)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tell = progress_writer(not asked["quiet"])
    whole = Whole(None, asked, tell)
    _ray.keep_stdout()
    try:
        _ray.take_signals()
        ray = _ray.ray_itself()
        _ray.connect(ray, None if asked["on"] == "ray" else asked["on"], tell)
        whole.join(ray)
        folder = whole.play()
    except ProgramError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.code or 1
    except (NetloomError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 8
    except KeyboardInterrupt:
        print(f"interrupted {whole.progress()}", file=sys.stderr)
        return 130
    finally:
        whole.close()
    _ray.become(ray, [*asked["then"], "--played", str(folder)], whole.is_without_head())


if __name__ == "__main__":
    # Ray's own threads would keep a process that has nothing more to do.
    code = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(code)
