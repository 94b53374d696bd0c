"""Plays a lab over the machines of a cluster of Ray.

The program divides the lab (`netloom split`), an actor of `_ray_part` plays each part on its machine, and `_parts` joins their results. Then
the program shows the report as after any run.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _clocks, _left, _parts, _probes, _program, _ray, _ray_part, _ray_programs, _ray_virtual, _ray_worker
from ._errors import NetloomError, ProgramError
from ._parts import PartResults
from ._ray_images import Images
from ._ray_worker import Image, Lab, Part

#: How often machines are asked, in seconds.
TURN = 0.2
#: A machine that is silent for so long is lost, in seconds: while the lab runs, and while it comes up or is packed.
SILENCE = 1.5
PATIENCE = 15.0
#: How long it may take to start an actor, and to fetch the files of a part or to pack its results, in seconds.
STARTING = 60.0
TRANSFER = 600.0
#: Nodes of Ray are looked for so often, in seconds, and do not answer if they have not for so long. A machine is lost whose node refuses, or does not
#: answer twice: together that is less than two seconds.
PROBED_EVERY, PROBED_FOR = 0.4, 0.5
#: How often whoever waits for machines looks whether they are lost, in seconds.
LOOKS_EVERY = 0.2
#: The head of the cluster is looked for so often, in seconds; without it, Ray ends the actors and this process after a minute.
HEAD_EVERY = 0.4
#: How long a call of Ray may go on before time zero when the head or a machine is lost, in seconds: nothing interrupts it.
HEADLESS = 5.0
#: How much ahead parts learn of the instant at which they take a step together, in seconds.
AHEAD = 0.3
#: How many calls of an actor may wait at once: programs of users, and whoever looks after the part.
CALLS = 200
#: How long parts may take to end when they are asked to, in seconds; then they are killed.
ENDING = 30.0


@dataclass
class Machine:
    """A machine of the lab, and the actor on it."""

    part: PartResults
    player: Any
    #: Where its node of Ray listens; none if this is a client of Ray, which need not reach it.
    node: tuple[str, int] | None = None
    #: Its clock, beside the one here.
    clock: _clocks.Reading | None = None
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def is_active(self) -> bool:
        return self.part.lost is None and self.state.get("code") is None


class Run:
    """A lab that runs on several machines."""

    def __init__(self, ray: Any, asked: Mapping[str, Any], tell: Callable[[str], None]) -> None:
        self._ray, self._asked, self._tell = ray, asked, tell
        self._machines: list[Machine] = []
        self._has_begun = self._is_interrupted = False
        self._folder: Path | None = None
        self._is_virtual = bool(asked["is_virtual"])
        #: Among how many machines the lab is divided, if not those of its file.
        self._count: int | None = asked["machines"]
        #: The lab file as it was divided.
        self._text = b""
        #: Why the cluster goes on no longer, if it does not.
        self._cluster_lost: str | None = None
        self._is_cleared = threading.Event()
        #: When this process last did something else than waiting in a call of Ray.
        self._alive = time.monotonic()
        self._losing = threading.Lock()

    def play(self) -> Path:
        """Plays the lab to its end; the results folder.

        Raises:
            NetloomError: The cluster cannot play it.
            ProgramError: The lab cannot be divided.
        """
        self._watch_head()
        threading.Thread(target=self._watch_machines, daemon=True).start()
        placement = self._placement()
        try:
            self._start(placement)
            self._begin()
            self._follow()
            return self._collect()
        except self._ray.exceptions.RayError as error:
            raise NetloomError(f"the cluster of Ray does not go on: {_why(error)}") from None
        finally:
            self._clear()

    def _watch_head(self) -> None:
        """Notes from now on if the head of the cluster is lost. A client of Ray need not reach it."""
        if self._ray.util.client.ray.is_connected():
            return
        host, _, port = str(self._ray.get_runtime_context().gcs_address).rpartition(":")
        head = (host.strip("[]"), int(port))

        def watch() -> None:
            missed = 0
            while missed < 2 and not self._is_cleared.wait(HEAD_EVERY):
                missed = missed + 1 if _probes.unreached([head], PROBED_FOR) else 0
            if missed == 2:
                self._cluster_lost = f"the head of the cluster of Ray ({host}:{port}) cannot be reached"
                self._tell(f"the cluster is lost: {self._cluster_lost}")
                self._see_to_it(f"the cluster is lost: {self._cluster_lost}")

        threading.Thread(target=watch, daemon=True).start()

    def _watch_machines(self) -> None:
        """Notes from the start to the end if the node of Ray of a machine cannot be reached, whatever this process waits for meanwhile."""
        silent: dict[str, int] = {}
        while not self._is_cleared.wait(PROBED_EVERY):
            watched = [machine for machine in self._machines if machine.part.lost is None and machine.node is not None]
            unreached = _probes.unreached([machine.node for machine in watched if machine.node is not None], PROBED_FOR)
            for machine in watched:
                name, found = machine.part.machine, unreached.get(machine.node or ("", 0))
                silent[name] = silent.get(name, 0) + 1 if found is not None else 0
                if (
                    (found == _probes.REFUSES or silent[name] > 1)
                    and self._cluster_lost is None
                    and not self._is_cleared.is_set()
                ):
                    self._lose(machine, "its node of Ray cannot be reached")
                    self._see_to_it(f"{machine.part.told()} is lost: {machine.part.lost}")

    def _see_to_it(self, why: str) -> None:
        """Sees to it that the run ends soon, before time zero, although calls of Ray may wait for what is lost."""
        if not self._has_begun:
            threading.Thread(target=self._end_if_stuck, args=(why,), daemon=True).start()

    def _end_if_stuck(self, why: str) -> None:
        while not self._has_begun and not self._is_cleared.wait(PROBED_EVERY):
            if time.monotonic() - self._alive > HEADLESS:
                self._abandon(why)

    def _abandon(self, why: str) -> None:
        """Ends this process, which waits for what is gone. Parts end by themselves, as nobody looks after them."""
        del why
        os._exit(8)

    def is_without_head(self) -> bool:
        """Whether the cluster has lost its head, so that it takes no leave of anybody."""
        return self._cluster_lost is not None

    def _placement(self) -> Mapping[str, Any]:
        """What goes where."""
        asked = self._asked
        check = ["check", *self._lab(), "--json", "--path", f"{asked['path_ns']}ns"]
        check += ["--clock", "virtual"] if self._is_virtual else []
        nodes = nodes_of(self._ray)
        check += ["--hosts", json.dumps([as_host(node) for node in nodes])]
        check += [] if self._count is None else ["--machines", str(self._count)]
        told = _program.call(check, expect=(0, 4))
        if not told.stdout:
            raise ProgramError(_program.said(told.stderr), told.returncode)
        found = json.loads(told.stdout)["placement"]
        if found["does_not_fit"]:
            raise NetloomError("; ".join(str(why) for why in found["does_not_fit"]))
        if self._count is None and not found["are_of_the_file"]:
            self._count = len(nodes)
        return found

    def _lab(self) -> list[str]:
        asked = self._asked
        return [asked["file"]] if asked["text"] == asked["file"] else [asked["file"], "--as-played", asked["text"]]

    def _start(self, placement: Mapping[str, Any]) -> None:
        """Starts all parts; each waits before its time zero."""
        ray = self._ray
        for module in (_ray_worker, _ray_programs, _ray_part):
            ray.cloudpickle.register_pickle_by_value(module)
        ports = {node["NodeID"]: int(node["NodeManagerPort"]) for node in nodes_of(ray)}
        for machine in [machine for machine in placement["machines"] if machine["nodes"]]:
            node, address = machine["host"]["id"], machine["host"]["address"]
            if node not in ports:
                raise NetloomError(f"machine {machine['name']} ({address}) has left the cluster")
            part = PartResults(machine["name"], address, machine["nodes"])
            where = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
            actor = ray.remote(num_cpus=1, max_restarts=0, max_concurrency=CALLS, scheduling_strategy=where)(
                _ray_part.Player
            )
            listens = (address, ports[node])
            is_client = ray.util.client.ray.is_connected()
            self._machines.append(Machine(part, actor.remote(), None if is_client else listens))
        orders = (
            self._virtual_orders()
            if self._is_virtual
            else self._orders(len({frozenset(link["machines"]) for link in placement["crossing"]}))
        )
        self._tell("; ".join(f"{machine.part.machine} is {machine.part.address}" for machine in self._machines))
        self._ask(lambda machine: machine.player.begin.remote(*orders[machine.part.machine]), TRANSFER)

    def _orders(self, pairs: int) -> dict[str, tuple[Any, ...]]:
        """What each machine is to begin: a lab file of its own. `pairs`: how many pairs of machines links join, each by a port."""
        port = self._meet(max(pairs, 1))
        # Whatever ends this process: parts have keys, and whoever uses the runtime folder next removes what is there.
        with tempfile.TemporaryDirectory(prefix="parts-", dir=self._asked["runtime"]) as home:
            texts = self._divided(Path(home), port)
        texts = {machine: (f"{self._asked['lab']}-{machine}.yaml", text) for machine, text in texts.items()}
        options = list(self._asked["options"])
        return {machine: (lab, options) for machine, lab in self._handed(texts).items()}

    def _virtual_orders(self) -> dict[str, tuple[Any, ...]]:
        """The same in virtual time, where all machines begin the same lab file."""
        asked, parts = self._asked, [machine.part for machine in self._machines]
        options = _ray_virtual.options(parts, self._meet(len(parts), is_tcp=True), self._count)
        text = Path(asked["text"]).read_text(encoding="utf-8")
        labs = self._handed({part.machine: (f"{asked['lab']}.yaml", text) for part in parts})
        # Programs start where the user is, if that is everywhere.
        here = os.getcwd()
        have = self._ask_whole(lambda machine: machine.player.has_folder.remote(here), PATIENCE)
        key, folder = _ray_virtual.new_key(), here if all(have.values()) else "/"
        return {name: (lab, [*asked["options"], *options[name]], key, folder) for name, lab in labs.items()}

    def _meet(self, count: int, is_tcp: bool = False) -> int:
        """Learns the machines' clocks, and finds ports that are free on all of them; the first."""
        self._ask_whole(lambda machine: machine.player.here.remote(0, 0), STARTING)
        self._learn_clocks(5, PATIENCE)
        port = self._asked["port"]
        for first in range(port, min(port + 100 * count, 65_536 - count), count):
            heres = self._ask_whole(
                lambda machine, first=first: machine.player.here.remote(first, count, is_tcp), PATIENCE
            )
            if all(here["is_free"] for here in heres.values()):
                return first
        raise NetloomError(
            f"no {count} ports of {'TCP' if is_tcp else 'UDP'} from {port} on are free on all machines: write another --port"
        )

    def _learn_clocks(self, rounds: int, patience: float) -> None:
        """Learns by how much the clocks of machines are ahead of the one here, and tells which have moved since."""
        for machine in [machine for machine in self._machines if machine.is_active]:

            def ask(machine: Machine = machine) -> int | None:
                answers = self._ask(lambda machine: machine.player.here.remote(0, 0), patience, [machine])
                return answers[machine.part.machine]["clock_ns"] if answers else None

            reading = _clocks.read(ask, rounds)
            if reading is None:
                continue  # It is lost, and whoever looks after the machines sees to it.
            moved = None if machine.clock is None else machine.clock.moved_to(reading)
            if moved is not None:
                self._tell(f"{machine.part.told()}: its clock has moved {_clocks.told(moved)} beside the one here")
            machine.clock = reading

    def _divided(self, home: Path, port: int) -> dict[str, str]:
        """The texts of the parts, by machine."""
        asked = self._asked
        self._text = Path(asked["text"]).read_bytes()
        command = ["split", *self._lab(), "--path", f"{asked['path_ns']}ns", "--port", str(port), "-o", str(home)]
        for machine in self._machines:
            command += ["--address", f"{machine.part.machine}={machine.part.address}"]
        if self._count is not None:
            command += ["--machines", str(self._count)]
        command += ["--plain"] if asked["is_plain"] else []
        _program.call(command)
        return {
            machine.part.machine: (home / f"{asked['lab']}-{machine.part.machine}.yaml").read_text(encoding="utf-8")
            for machine in self._machines
        }

    def divided_partition(self, entry: str, number: int) -> dict[str, str]:
        """A partition by hand, the `number`th, as each machine has it.

        Raises:
            ProgramError: Something is wrong with the entry.
        """
        asked = self._asked
        # Its user may have gone on with the file since.
        with tempfile.NamedTemporaryFile() as text:
            text.write(self._text)
            text.flush()
            command = ["split-partition", asked["file"], "--as-played", text.name, "--path", f"{asked['path_ns']}ns"]
            command += ["--entry", entry, "--number", str(number)]
            command += ["--machines", str(self._count)] if self._count is not None else []
            divided: dict[str, str] = json.loads(_program.call(command).stdout)
        return divided

    def _handed(self, texts: Mapping[str, tuple[str, str]]) -> dict[str, Lab]:
        """What machines need, handed to Ray: what several need, once. `texts`: the names and texts of their lab files."""
        handed: dict[str, Part] = {}

        def part(path: Path) -> Part:
            data = path.read_bytes()
            digest = _ray_worker.digest_of(data)
            if digest not in handed:
                handed[digest] = Part(digest, self._ray.put(data))
            return handed[digest]

        asked = self._asked
        kernel = _ray.kernel_of(["--kernel", asked["kernel"]] if asked["kernel"] else [])
        folder = Path(asked["file"]).parent
        program = part(Path(_program.program()))
        files = {name: part(folder / name) for name in asked["files"]}
        given = None if kernel is None else part(kernel)
        clock = ["--clock", "virtual"] if self._is_virtual else []
        images = Images(self._ray, [*self._lab(), *clock], self._tell)
        lacked = self._lacked(images, Lab("", "", program))
        return {
            machine: Lab(name, text, program, given, files, lacked.get(machine, []), images.origins)
            for machine, (name, text) in texts.items()
        }

    def _lacked(self, images: Images, lab: Lab) -> dict[str, list[Image]]:
        """The images that machines lack, by machine, handed to Ray once each. `lab` has the program alone."""

        def wanted(machine: Machine) -> list[str]:
            # In virtual time each machine looks at all images.
            return images.of(list(images.origins) if self._is_virtual else machine.part.nodes)

        if not images.origins:
            return {}
        lacking = self._ask_whole(lambda machine: machine.player.lacking.remote(lab, wanted(machine)), TRANSFER)
        return {machine: images.packed(each) for machine, each in lacking.items()}

    def _ask_whole(
        self, question: Callable[[Machine], Any], patience: float, machines: Sequence[Machine] | None = None
    ) -> dict[str, Any]:
        """Asks machines, of which none may be missing yet.

        Raises:
            NetloomError: One is lost, or could not answer.
        """
        asked = self._machines if machines is None else machines
        answers = self._ask(question, patience, asked)
        for machine in asked:
            if machine.part.machine not in answers:
                why = machine.part.said if machine.part.lost is None else f"is lost: {machine.part.lost}"
                raise NetloomError(f"{machine.part.told()} {why}")
        return answers

    def _wait(self, asked: Mapping[Any, Machine], patience: float) -> dict[Any, str]:
        """Waits for the answers of machines; why those are lost that have not answered."""
        waiting, lost = dict(asked), dict[Any, str]()
        until = time.monotonic() + patience
        at_once = min(patience, LOOKS_EVERY)
        while waiting:
            self._alive = time.monotonic()
            ready, _ = self._ray.wait(list(waiting), num_returns=len(waiting), timeout=at_once)
            for reference in ready:
                del waiting[reference]
            if self._cluster_lost is not None and not self._has_begun:
                raise NetloomError(f"the cluster is lost: {self._cluster_lost}")
            if time.monotonic() >= until:
                return lost | dict.fromkeys(waiting, f"it has not answered for {patience:g} s")
            for reference, machine in list(waiting.items()):
                # Whoever watches the machines has told it.
                if machine.part.lost is not None:
                    del waiting[reference]
                    lost[reference] = machine.part.lost
        return lost

    def _ask(
        self, question: Callable[[Machine], Any], patience: float, machines: Sequence[Machine] | None = None
    ) -> dict[str, Any]:
        """Asks all machines that are there, at once; the answers by machine. Who does not answer is lost."""
        of = self._machines if machines is None else machines
        asked = {question(machine): machine for machine in of if machine.part.lost is None}
        lost = self._wait(asked, patience)
        answers: dict[str, Any] = {}
        for reference, machine in asked.items():
            if reference in lost:
                self._lose(machine, lost[reference])
                continue
            try:
                answers[machine.part.machine] = self._ray.get(reference)
            except self._ray.exceptions.RayTaskError as error:
                self._fail(machine, _ray.reason_of(error))
            except self._ray.exceptions.RayError as error:
                self._lose(machine, _why(error))
        return answers

    def _lose(self, machine: Machine, why: str) -> None:
        with self._losing:
            if machine.part.lost is not None:
                return
            machine.part.lost = why
        self._tell(f"{machine.part.told()} is lost: {why}")

    def _fail(self, machine: Machine, why: str) -> None:
        """A machine that is there could not do what it was asked for."""
        machine.part.said, machine.part.code = why, 4
        machine.state["code"] = 4

    def _look(self, patience: float) -> None:
        answers = self._ask(lambda machine: machine.player.look.remote(), patience)
        for machine in self._machines:
            if machine.part.code is None:
                machine.state = answers.get(machine.part.machine, machine.state)
            # Its actor lives a little longer, and Ray does not know yet.
            if machine.state.get("is_orphan") and machine.part.lost is None:
                self._lose(machine, "its node of Ray has died")

    def _begin(self) -> None:
        """Waits until all parts are ready, and lets them begin at one instant."""
        try:
            while all(machine.is_active or self._is_through(machine) for machine in self._machines):
                self._look(PATIENCE)
                if self._ends():
                    raise KeyboardInterrupt
                if all(machine.state.get("begin") for machine in self._machines):
                    self._open("begin")
                    self._has_begun = True
                    for machine in self._machines:
                        machine.part.has_begun = True
                    self._tell(f"all {len(self._machines)} parts are ready: time zero")
                    self._come_up()
                    return
                time.sleep(TURN)
        except KeyboardInterrupt:
            self._is_interrupted = True
        self._end(is_cut_short=True)

    def _is_through(self, machine: Machine) -> bool:
        """Whether it has come to its end while others may still be before their time zero, as in virtual time."""
        return self._is_virtual and machine.part.lost is None and bool(machine.state.get("begin"))

    def _come_up(self) -> None:
        """Does what is due when the lab is up: machines that are lost from now on keep what they have."""
        if self._is_virtual:
            return  # All machines have everything.
        run = secrets.token_hex(8)
        places = [
            _left.Place(machine.part.machine, machine.part.address, f"{run}-{machine.part.machine}")
            for machine in self._machines
        ]
        on = self._asked["on"]
        on = str(self._ray.get_runtime_context().gcs_address) if on == "ray" else on
        _left.note(self._made_folder(), on, places)
        names = {place.machine: place.name for place in places}
        self._ask(lambda machine: machine.player.keep.remote(names[machine.part.machine]), PATIENCE)

    def _ends(self) -> bool:
        """Whether somebody has asked the lab to end; called at every turn."""
        return False

    def _open(self, step: str) -> None:
        """Has all parts take a step at one instant.

        Raises:
            NetloomError: A clock was set just then, so that time zero would not be one instant.
        """
        if not self._is_virtual:  # Its parts take all steps at instants of lab time.
            self._learn_clocks(3, SILENCE if self._has_begun else PATIENCE)
        active = [machine for machine in self._machines if machine.is_active]
        begun = time.time_ns()
        ahead = {machine.part.machine: 0 if machine.clock is None else machine.clock.ahead_ns for machine in active}
        at = begun + int(AHEAD * 1e9)
        clocks = self._ask(
            lambda machine: machine.player.open.remote(step, at + ahead[machine.part.machine]), SILENCE, active
        )
        took = time.time_ns() - begun
        for machine in active:
            known, clock = machine.clock, clocks.get(machine.part.machine)
            if known is None or clock is None or self._is_virtual:
                continue
            moved = known.moved_to(_clocks.Reading(clock - begun - took // 2, abs(took)))
            if moved is not None and step == "begin":
                why = f"its clock moved {_clocks.told(moved)} while time zero was agreed on: run the lab again"
                raise NetloomError(f"{machine.part.told()}: {why}")

    def _follow(self) -> None:
        """Looks after the parts until all have ended."""
        has_ended = False
        try:
            while any(machine.is_active for machine in self._machines):
                self._look(SILENCE if self._has_begun else PATIENCE)
                is_lost = any(machine.part.lost is not None for machine in self._machines)
                failed = any(machine.state.get("code", 0) not in (None, *_parts.ENDED) for machine in self._machines)
                if self._cluster_lost is not None:
                    self._end(is_cut_short=True)
                    return
                if failed or (is_lost and not (self._asked["continues"] and self._has_begun)):
                    if self._is_virtual:
                        self._settle()
                    self._end(is_cut_short=True)
                    return
                if self._ends():
                    self._end(is_cut_short=False)
                    return
                active = [machine for machine in self._machines if machine.is_active]
                if not has_ended and active and all(machine.state.get("end") for machine in active):
                    has_ended = True
                    self._open("end")
                time.sleep(TURN)
        except KeyboardInterrupt:
            self._is_interrupted = True
            self._end(is_cut_short=True)

    def _settle(self) -> None:
        """Waits for parts that end by themselves since one of them has failed, and whose machines may be known as lost only later."""
        until = time.monotonic() + _ray_virtual.SETTLING
        while any(machine.is_active for machine in self._machines) and time.monotonic() < until:
            self._look(SILENCE)
            time.sleep(TURN)

    def _end(self, is_cut_short: bool) -> None:
        """Ends the parts that go on, and waits for them."""
        for machine in self._machines:
            machine.part.is_cut_short |= is_cut_short and machine.is_active
        if is_cut_short:
            self._interrupt()
        else:
            self._ask_to_end()
        until = time.monotonic() + ENDING
        while any(machine.is_active for machine in self._machines):
            self._look(PATIENCE)
            if time.monotonic() > until:
                self._ask(lambda machine: machine.player.end.remote(kill=True), PATIENCE)
                until += ENDING
            time.sleep(TURN)

    def _ask_to_end(self) -> None:
        """Has all parts come to their end."""
        self._interrupt()

    def _interrupt(self) -> None:
        self._ask(lambda machine: machine.player.end.remote(), PATIENCE)

    def _collect(self) -> Path:
        """Brings the results of all parts into one folder."""
        self._tell("collecting the results")
        asked = self._asked
        digests: dict[str, Any] = {}
        base: PartResults | None = None
        if self._is_virtual:
            for machine in self._machines:
                machine.part.code = machine.state.get("code") if machine.part.code is None else machine.part.code
            digests = self._ask(lambda machine: machine.player.digests.remote(), TRANSFER)
            base = _ray_virtual.best([machine.part for machine in self._machines], digests)
        answers = self._ask(
            lambda machine: machine.player.results.remote(base is not None and machine.part is not base), TRANSFER
        )
        if base is not None and base.lost is not None:
            return self._collect()
        folder = self._made_folder()
        for machine in self._machines:
            part, answer = machine.part, answers.get(machine.part.machine)
            if answer is None:
                continue
            part.said = part.said or answer["said"]
            part.code = answer["code"] if part.code is None else part.code
            part.report = answer.get("report")
            if archive := answer.get("archive"):
                _left.unpack(archive, folder / "parts", part.machine)
        parts = [machine.part for machine in self._machines]
        if base is not None and (folder / "parts" / base.machine).is_dir():
            _ray_virtual.joined(folder, parts, base, digests, self._is_interrupted, self._cluster_lost)
        else:
            _parts.join(folder, asked["lab"], parts, self._is_interrupted, self._cluster_lost)
        _left.forget_all_but(folder, {part.machine for part in parts if part.lost is not None})
        if self._has_begun:
            latest = folder.parent / f".latest-{folder.name}"
            latest.symlink_to(folder.name)
            latest.replace(folder.parent / "latest")
        return folder

    def _made_folder(self) -> Path:
        """The results folder, which is made when it is needed first."""
        if self._folder is not None:
            return self._folder
        name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
        folder = Path(self._asked["results"]).absolute() / self._asked["lab"] / name
        (folder / "parts").mkdir(parents=True)
        shutil.copyfile(self._asked["text"], folder / "lab.yaml")
        self._folder = folder
        return folder

    def _clear(self) -> None:
        """Leaves nothing on the machines."""
        self._is_cleared.set()
        references = [machine.player.clear.remote() for machine in self._machines if machine.part.lost is None]
        if references:
            # Without its head, a cluster may never answer.
            patience = ENDING if self._cluster_lost is None else HEADLESS
            self._ray.wait(references, num_returns=len(references), timeout=patience)
        for machine in self._machines:
            if self._cluster_lost is None:
                self._ray.kill(machine.player)
            elif machine.part.lost is None:
                # Nobody else is there who would end it.
                machine.player.__ray_terminate__.remote()


def nodes_of(ray: Any) -> list[dict[str, Any]]:
    """The machines of the cluster that take work, this one first."""
    own = ray.get_runtime_context().get_node_id()
    alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    return sorted(alive, key=lambda node: (node["NodeID"] != own, node["NodeManagerAddress"], node["NodeID"]))


def as_host(node: Mapping[str, Any]) -> dict[str, Any]:
    """A machine of the cluster, as the program reads it (`netloom check --hosts`)."""
    memory = node["Resources"].get("memory")
    return {
        "id": node["NodeID"],
        "address": node["NodeManagerAddress"],
        "processor_thousandths": int(node["Resources"]["CPU"] * 1000),
        "memory_bytes": None if memory is None else int(memory),
    }


def _why(error: Exception) -> str:
    """Why an actor is gone, in few words."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__
