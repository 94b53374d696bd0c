"""Labs: networks that are described in Python or loaded from files, and what can be done with them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _calls
from ._errors import LabError, NetloomError
from ._interfaces import Progress
from ._places import Place, caller
from ._settings import Model, Name, Placed, Time, Writer, plain, settings_of
from .jupyter import lab_html

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keys import CaptureKeys, CommandKeys, DirectionKeys, LabKeys, LinkKeys, NodeKeys
    from .aio import AsyncUp
    from .hunts import HuntResult
    from .live import Live
    from .result import Result
    from .sweeps import SweepResult


class Node:
    """A node of a lab that is described."""

    def __init__(self, lab: Lab, name: str, settings: dict[str, object], place: Place | None) -> None:
        self._lab = lab
        self._name = name
        self._place = place
        #: Its keys as in a lab file; they can be changed until the lab is run.
        self.settings = settings

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def command(self, run: str | Sequence[str], **keys: Unpack[CommandKeys]) -> Command:
        """Runs a command in this node, at a time of the lab's timeline.

        Args:
            run: Text for a shell, or a program and its arguments.
            **keys: When, under which name, and what else `docs/lab-file.md` has under *Timeline*. Words of Python's own
                end with an underscore: `as_="transfer"`.
        """
        return self._lab.timeline("command", {"on": self._name, "run": run, **settings_of(dict(keys))})

    def service(self, run: str | Sequence[str], **keys: Unpack[CommandKeys]) -> Command:
        """Runs a command that serves others: it is started before the timeline begins, and stopped at the end."""
        settings = settings_of(dict(keys))
        if "ready" not in settings:
            settings.setdefault("service", True)
        return self._lab.timeline("service", {"on": self._name, "run": run, **settings})

    def __repr__(self) -> str:
        return f"<node {self._name} of lab {self._lab.name or '(unnamed)'}>"


class Command:
    """A command on the timeline of a lab."""

    def __init__(self, settings: dict[str, object]) -> None:
        #: Its keys as in a lab file.
        self.settings = settings

    @property
    def name(self) -> str:
        """Its name, for expectations and other commands.

        Raises:
            NetloomError: It was given none.
        """
        given = self.settings.get("as")
        if not isinstance(given, str):
            raise NetloomError("this command was given no name: add as_='NAME'")
        return given


class Link:
    """A link of a lab that is described."""

    def __init__(self, lab: Lab, name: str, settings: dict[str, object], place: Place | None) -> None:
        self._lab = lab
        self._name = name
        self._place = place
        #: Its keys as in a lab file; they can be changed until the lab is run.
        self.settings = settings

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def change(self, at: Time, *, direction: str | None = None, **keys: Unpack[DirectionKeys]) -> None:
        """Changes its settings at a time of the timeline.

        Args:
            at: When, after time zero.
            direction: `forward` or `backward`; both if none is named.
            **keys: What changes.
        """
        entry = {"at": at, "link": self._name, "direction": direction, "set": settings_of(dict(keys))}
        self._lab.timeline("change", entry)

    def down(self, at: Time, for_: Time | None = None, *, carrier: bool | None = None) -> None:
        """Cuts it at a time of the timeline.

        Args:
            at: When, after time zero.
            for_: For how long; for ever if nothing is said.
            carrier: Whether its interfaces lose their carrier, too.
        """
        down: object = for_ if for_ is not None else True
        if carrier is not None:
            down = {"for": for_, "carrier": carrier}
        self._lab.timeline("cut", {"at": at, "link": self._name, "down": down})

    def up(self, at: Time) -> None:
        """Restores it at a time of the timeline."""
        self._lab.timeline("restoration", {"at": at, "link": self._name, "up": True})

    def capture(self, **keys: Unpack[CaptureKeys]) -> None:
        """Keeps its packets in a file of the results."""
        self._lab.capture(self, **keys)

    def __repr__(self) -> str:
        return f"<link {self._name} of lab {self._lab.name or '(unnamed)'}>"


class Lab:
    """A network that is described, and what happens in it.

    Args:
        name: Its name; that of the Python file if none is given.
        folder: The folder from which relative paths count; the current one if none is given.
        **keys: What a lab has beside nodes, links and its timeline: `clock="virtual"`, `seed=7`, and so on.
    """

    def __init__(
        self, name: str | None = None, *, folder: str | os.PathLike[str] | None = None, **keys: Unpack[LabKeys]
    ) -> None:
        self._place = caller()
        self._name = name
        self._folder = Path(folder) if folder is not None else Path.cwd()
        #: Keys of the lab as in a lab file.
        self.settings: dict[str, object] = settings_of(dict(keys))
        self.nodes: dict[str, Node] = {}
        self.links: dict[str, Link] = {}
        self._timeline: list[Placed] = []
        self._expectations: list[object] = []
        self._captures: list[object] = []
        self._figures: dict[str, object] = {}
        self._more: dict[str, object] = {}
        self._file: Path | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Lab:
        """A lab from a file: a lab file, or one of another tool that `netloom convert` knows.

        Nodes, links and everything else can be added and changed in Python.

        Raises:
            LabError: The file is wrong.
        """
        return cls.from_settings(_calls.settings_of_file(Path(path)), Path(path))

    @classmethod
    def parse(cls, text: str, *, folder: str | os.PathLike[str] | None = None) -> Lab:
        """A lab from the text of a lab file.

        Raises:
            LabError: The text is wrong.
        """
        lab = cls.from_settings(_calls.settings_of_text(text), None)
        lab._folder = Path(folder) if folder is not None else Path.cwd()
        return lab

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], path: Path | None = None) -> Lab:
        """A lab from what a lab file says, as JSON has it.

        Args:
            settings: Keys and values of a lab file.
            path: The file that they come from, if there is one.
        """
        rest = dict(settings)
        lab = cls(rest.pop("name", None), folder=path.parent if path else None)
        lab._file = path
        nodes = rest.pop("nodes", {})
        pairs = nodes.items() if isinstance(nodes, Mapping) else ((name, {}) for name in nodes)
        for name, keys in pairs:
            lab.nodes[str(name)] = Node(lab, str(name), dict(keys or {}), None)
        for name, keys in rest.pop("links", {}).items():
            lab.links[str(name)] = Link(lab, str(name), dict(keys or {}), None)
        lab._timeline = [Placed(entry, None) for entry in rest.pop("timeline", [])]
        lab._expectations = list(rest.pop("expect", []))
        lab._captures = list(rest.pop("capture", []))
        lab._figures = dict(rest.pop("figures", {}))
        lab.settings = rest
        return lab

    @property
    def name(self) -> str | None:
        """Its name, or none if it was given none."""
        return self._name

    @property
    def folder(self) -> Path:
        """The folder from which relative paths in it count."""
        return self._folder

    # What it is made of

    def host(self, name: str, **keys: Unpack[NodeKeys]) -> Node:
        """Adds a host, which runs programs and forwards nothing."""
        return self.node(name, None, **keys)

    def router(self, name: str, **keys: Unpack[NodeKeys]) -> Node:
        """Adds a router, which runs programs and forwards packets."""
        return self.node(name, "router", **keys)

    def transit(self, name: str, **keys: Unpack[NodeKeys]) -> Node:
        """Adds a router inside the packet engine: fast, and without programs."""
        return self.node(name, "transit", **keys)

    def switch(self, name: str, **keys: Unpack[NodeKeys]) -> Node:
        """Adds a switch."""
        return self.node(name, "switch", **keys)

    def hub(self, name: str, **keys: Unpack[NodeKeys]) -> Node:
        """Adds a hub."""
        return self.node(name, "hub", **keys)

    def openflow(self, name: str, **keys: Unpack[NodeKeys]) -> Node:
        """Adds an OpenFlow switch: Open vSwitch in a node of its own."""
        return self.node(name, "openflow", **keys)

    def internet(self, name: str = "internet", **keys: Unpack[NodeKeys]) -> Node:
        """Adds the way out into this machine's network."""
        return self.node(name, "internet", **keys)

    def external(self, name: str, **keys: Unpack[NodeKeys]) -> Node:
        """Adds the wire of an interface of this machine: `interface="eth1"`."""
        return self.node(name, "external", **keys)

    def node(self, name: str, kind: str | None = None, **keys: Unpack[NodeKeys]) -> Node:
        """Adds a node of any kind."""
        return self._add_node(name, settings_of({"kind": kind, **keys}))

    def link(
        self,
        *ends: Name | Mapping[str, object] | Sequence[Name | Mapping[str, object]],
        name: str | None = None,
        forward: DirectionKeys | None = None,
        backward: DirectionKeys | None = None,
        **keys: Unpack[LinkKeys],
    ) -> Link:
        """Adds a link between nodes; with more than two it is a switch, or a shared medium.

        Args:
            *ends: The nodes, or a dict for each with `node`, `interface`, `address` and `mac`.
            name: Its name; `A-B` after its ends if none is given, with a number if that is taken.
            forward: What differs in the direction from the first end to the second.
            backward: What differs in the other direction.
            **keys: Its settings, for both directions.
        """
        flat: list[object] = []
        for end in ends:
            flat.extend(end) if isinstance(end, (list, tuple)) else flat.append(end)
        settings: dict[str, object] = {"ends": flat, **settings_of(dict(keys))}
        for direction, more in (("forward", forward), ("backward", backward)):
            if more is not None:
                settings[direction] = settings_of(dict(more))
        name = name if name is not None else self._free_name(flat)
        if name in self.links:
            raise _twice("link", name, self.links[name]._place)
        link = Link(self, name, settings, caller())
        self.links[name] = link
        return link

    def remove(self, part: Node | Link) -> None:
        """Removes a node with its links, or a link. What names it elsewhere stays, and is an error when the lab is used."""
        if isinstance(part, Link):
            self.links.pop(part.name, None)
            return
        self.nodes.pop(part.name, None)
        for link in list(self.links.values()):
            if part.name in (_end_name(end) for end in _list(link.settings.get("ends"))):
                del self.links[link.name]

    # What happens

    def timeline(self, what: str, entry: Mapping[str, object]) -> Command:
        """Adds an entry to the timeline, with the keys of a lab file.

        Args:
            what: In words, for messages.
            entry: Its keys and values.
        """
        settings = {key: value for key, value in entry.items() if value is not None}
        self._timeline.append(Placed(settings, caller()))
        return Command(settings)

    def expect(self, *expectations: str) -> None:
        """Says what must hold after a run: `lab.expect("transfer.exit == 0")`."""
        self._expectations.extend(Placed(each, caller()) for each in expectations)

    def figure(self, name: str, figure: str) -> None:
        """Says what is measured, for results and sweeps: `lab.figure("goodput", "transfer.json.end.... in bit/s")`."""
        self._figures[name] = Placed(figure, caller())

    def capture(self, link: Name, **keys: Unpack[CaptureKeys]) -> None:
        """Keeps the packets of a link in a file of the results."""
        self._captures.append(Placed({"link": link, **settings_of(dict(keys))}, caller()))

    def set(self, **keys: object) -> None:
        """Sets any key of the lab, also one that this package does not know."""
        self._more.update({key: Placed(value, caller()) for key, value in settings_of(keys).items()})

    # What can be done with it

    def to_settings(self) -> dict[str, object]:
        """All of it as a lab file has it, as JSON has it."""
        return {key: plain(value) for key, value in self._all().items()}

    def to_text(self) -> str:
        """Its lab file: JSON, which is YAML, too."""
        writer = Writer()
        writer.write(self._all(), self._place)
        return writer.text()

    def written(self) -> _calls.Text:
        """Its lab file, and where each line comes from."""
        writer = Writer()
        try:
            writer.write(self._all(), self._place)
        except (TypeError, ValueError) as error:
            raise LabError(_with_place(str(error), writer, self._place), []) from error
        name = self._name or (self._file.stem if self._file else _script_name())
        is_named = self._name is not None or self._file is not None
        return _calls.Text(writer.text(), writer.places, self._place, self._folder, self._file, name, is_named)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes its lab file."""
        Path(path).write_text(self.to_text(), encoding="utf-8")

    def check(self) -> dict[str, Any]:
        """What would be set up: addresses, routes, links; changes nothing.

        Raises:
            LabError: The lab is wrong; the message says where.
        """
        return _calls.check(self.written())

    def svg(self) -> str:
        """Its picture.

        Raises:
            LabError: The lab is wrong.
        """
        return _calls.svg(self.written())

    def up(
        self,
        *,
        name: str | None = None,
        results: str | os.PathLike[str] = "results",
        seed: int | None = None,
        clock: str | float | None = None,
        kernel: str | os.PathLike[str] | None = None,
        progress: Progress = False,
        check: bool = False,
    ) -> Live:
        """Brings the lab up, and returns when its services are ready.

        The lab ends with the `with` block, with `Live.down`, or with this process.

        Args:
            name: The name of the lab, so that the same one can be up several times.
            results: The folder that holds the results of all labs.
            seed: The seed of all random numbers.
            clock: `real`, `virtual`, or by how much lab time is slower than wall time.
            kernel: The kernel of kernel nodes.
            progress: Whether steps are printed, or a function that gets them.
            check: Whether the end of the `with` block raises an error if the network was not as described or a service
                failed; otherwise it warns.

        Raises:
            LabError: The lab is wrong.
            ProgramError: It cannot be brought up.
        """
        from .live import bring_up

        return bring_up(self, _calls.Options(name, results, seed, clock, kernel), progress, check)

    def up_async(
        self,
        *,
        name: str | None = None,
        results: str | os.PathLike[str] = "results",
        seed: int | None = None,
        clock: str | float | None = None,
        kernel: str | os.PathLike[str] | None = None,
        check: bool = False,
    ) -> AsyncUp:
        """The same for asyncio: `async with lab.up_async() as live:`, or `live = await lab.up_async()`."""
        from .aio import AsyncUp

        return AsyncUp(self, _calls.Options(name, results, seed, clock, kernel), check)

    def run(
        self,
        *,
        name: str | None = None,
        results: str | os.PathLike[str] = "results",
        seed: int | None = None,
        clock: str | float | None = None,
        kernel: str | os.PathLike[str] | None = None,
        wall_limit: Time | None = None,
        plots: bool = False,
        progress: Progress = False,
        check: bool = False,
    ) -> Result:
        """Plays the lab's timeline to its end, and judges it.

        Args:
            name: The name of the lab, so that the same one can be up several times.
            results: The folder that holds the results of all labs.
            seed: The seed of all random numbers.
            clock: `real`, `virtual`, or by how much lab time is slower than wall time.
            kernel: The kernel of kernel nodes.
            wall_limit: After how much wall time the run ends, however far it is.
            plots: Whether pictures are drawn into `plots/`, as `netloom results plot` does later.
            progress: Whether steps are printed, or a function that gets them.
            check: Whether to raise an error unless everything is as it should be.

        Raises:
            LabError: The lab is wrong.
            ProgramError: It cannot be run.
            RunError: With `check`: the network was not as described, an expectation was not met or a command failed.
        """
        from .result import run

        options = _calls.Options(name, results, seed, clock, kernel, wall_limit, plots)
        return run(self, options, progress, check)

    async def run_async(self, **options: Any) -> Result:
        """The same as `run`, with its arguments, for asyncio."""
        from .aio import run

        return await run(self, **options)

    def sweep(self, **options: Any) -> SweepResult:
        """Plays the lab with varied values: see `netloom.sweep`, whose arguments it takes."""
        from .sweeps import sweep

        return sweep(self, **options)

    def hunt(self, *, lasts: Time | None = None, runs: int | None = None, **options: Any) -> HuntResult:
        """Plays the lab many times in virtual time, each time with other faults, until something fails that must hold.

        Args:
            lasts: For how long runs are begun, in wall time.
            runs: How many runs are played; if neither is said, what the lab has under `hunt`, or 200.
            **options: `keys`, a dict of keys of `hunt` in the lab file (`faults`, `always`, …); `out`, the folder, which is `hunts/LAB` if none is
                given; `seed`, from which faults are drawn; `jobs`, how many runs go on at once; `resume`, which goes on with the hunt in the
                folder; `corpus`, a folder of findings that are played first, and to which new ones are added; `kernel`; `wall_limit` of a
                run; `progress`, as of `run`.

        Raises:
            LabError: The lab is wrong.
            ProgramError: It cannot be hunted.
        """
        from .hunts import play

        return play(self, lasts=lasts, runs=runs, **options)

    # Inside

    def _add_node(self, name: str, settings: dict[str, object]) -> Node:
        if name in self.nodes:
            raise _twice("node", name, self.nodes[name]._place)
        node = Node(self, name, settings, caller())
        self.nodes[name] = node
        return node

    def _free_name(self, ends: Sequence[object]) -> str:
        names = [_end_name(end) for end in ends]
        base = "-".join(names) if len(names) == 2 else "lan"
        base = base if len(base) <= 28 else f"link{len(self.links) + 1}"
        return next(name for name in _numbered(base) if name not in self.links)

    def _all(self) -> dict[str, object]:
        everything: dict[str, object] = {}
        if self._name is not None:
            everything["name"] = self._name
        everything |= self.settings
        everything |= self._more
        nodes = {name: Placed(node.settings, node._place) for name, node in self.nodes.items()}
        if nodes or "generate" not in everything:
            everything["nodes"] = nodes
        if self.links:
            everything["links"] = {name: Placed(link.settings, link._place) for name, link in self.links.items()}
        parts = {
            "timeline": self._timeline,
            "expect": self._expectations,
            "capture": self._captures,
            "figures": self._figures,
        }
        everything |= {key: value for key, value in parts.items() if value}
        return everything

    def __getitem__(self, name: str) -> Node:
        """The node of this name."""
        if name not in self.nodes:
            raise KeyError(f"no node is called `{name}`: there are {', '.join(self.nodes)}")
        return self.nodes[name]

    def __repr__(self) -> str:
        return f"<lab {self._name or '(unnamed)'}: {len(self.nodes)} nodes, {len(self.links)} links>"

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except NetloomError:
            return None

    def _repr_html_(self) -> str | None:
        return lab_html(self)


def _numbered(base: str) -> Iterator[str]:
    yield base
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1


def _end_name(end: object) -> str:
    if isinstance(end, Mapping):
        return _end_name(end.get("node"))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    return str(getattr(end, "name", end))


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _twice(what: str, name: str, place: Place | None) -> LabError:
    here = caller()
    shown = here.show() if here else ""
    before = f"\nit was added here before:\n{place.show()}" if place else ""
    return LabError(
        f"the lab has a {what} `{name}` already: give this one another name\n{shown}{before}", [here] if here else []
    )


def _with_place(message: str, writer: Writer, own: Place | None) -> str:
    places = [place for place in writer.places.values() if place]
    place = places[-1] if places else own
    return f"{message}\n{place.show()}" if place else message


def _script_name() -> str:
    """What a lab is called that was given no name: as the file of the program, or `lab`."""
    stem = Path(sys.argv[0]).stem if sys.argv and sys.argv[0] else "lab"
    name = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:24].strip("-")
    return name or "lab"


__all__ = ["Command", "Lab", "Link", "Model", "Node", "Progress"]
