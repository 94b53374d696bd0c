"""Labs that are up."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _calls, _program
from ._errors import ClosedError, NetloomError, NotAsDescribedWarning, RunError
from ._interfaces import Described, Progress
from ._progress import progress_writer
from ._protocol import Connection, checked
from ._settings import Name, Time, nanoseconds, plain
from .jupyter import live_html
from .links import LiveLink
from .nodes import LiveNode
from .result import Result

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    from .models import Fault, Partition

    P = ParamSpec("P")

T = TypeVar("T")

Direction = Literal["forward", "backward"]
#: For how long a lab is waited for that was asked to end, in seconds.
_PATIENCE = 15.0


def fault_text(entry: Fault | Mapping[str, object] | str) -> str:
    """An entry as the control protocol has it."""
    return entry if isinstance(entry, str) else json.dumps(plain(entry))


@dataclass(frozen=True)
class Now:
    """What time it is in a lab."""

    #: Seconds since all services were ready.
    seconds: float
    #: The same in nanoseconds; negative before it.
    ns: int
    #: `real`, `dilated` or `virtual`.
    clock: str
    #: Whether it stands still until somebody lets it go on.
    paused: bool
    #: How many seconds of wall time one of lab time lasts.
    dilation: float
    #: Why time stands still though it is not paused.
    stalled: str | None = None


@dataclass(frozen=True)
class Event:
    """Something that happened in a lab."""

    #: For example `link changed`.
    what: str
    #: When, in seconds after time zero; `None` before it.
    seconds: float | None
    #: More of it, by key.
    details: Mapping[str, Any]


@dataclass(frozen=True)
class Output:
    """What a command or service wrote."""

    command: str
    node: str
    #: `stdout` or `stderr`.
    stream: str
    lines: Sequence[str]
    #: Whether the last line goes on in the next one.
    partial: bool


def now_of(reply: Mapping[str, Any]) -> Now:
    """The time that a reply says."""
    since = reply.get("since_zero_ns")
    ns = int(since if since is not None else 0)
    return Now(
        ns / 1e9,
        ns,
        str(reply["clock"]),
        bool(reply["paused"]),
        float(reply.get("dilation") or 1.0),
        reply.get("stalled"),
    )


def event_of(message: Mapping[str, Any]) -> Event | Output | dict[str, Any]:
    """What an event of the protocol says."""
    match message.get("event"):
        case "lab":
            since = message.get("since_zero_ns")
            return Event(message["what"], None if since is None else since / 1e9, message.get("details") or {})
        case "output":
            return Output(
                message["command"], message["node"], message["stream"], message["lines"], bool(message.get("partial"))
            )
        case _:
            return dict(message)


def bring_up(lab: Described, options: _calls.Options, progress: Progress, check: bool) -> Live:
    """See `Lab.up`."""
    text = lab.written()
    found = _calls.up(text, options, progress_writer(progress))
    return Live(found["control_socket"], Path(found["results"]), name=found["lab"], check=check, owned=True)


def report_end(name: str, result: Result, check: bool) -> None:
    """Says what is wrong with a lab that has ended, as an error or as a warning."""
    if result.ok:
        return
    message = f"lab `{name}`: {result.summary}"
    if check:
        raise RunError(message, result)
    warnings.warn(message, NotAsDescribedWarning, stacklevel=3)


def attach(name: str) -> Live:
    """A lab that somebody else has brought up, with `netloom up`. It stays up when this program ends.

    Raises:
        NetloomError: There is none of this name.
    """
    labs = {lab["name"]: lab for lab in json.loads(_program.call(["ps", "--json"]).stdout)}
    if name in labs:
        return Live(_socket_of(name), Path(labs[name]["folder"]), name=name, check=False, owned=False)
    raise NetloomError(f"no lab `{name}` is up; these are: {', '.join(labs)}" if labs else f"no lab `{name}` is up")


def _socket_of(name: str) -> str:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    uid = os.getuid()
    if runtime and os.path.isdir(runtime) and os.stat(runtime).st_uid == uid:
        base = os.path.join(runtime, "netloom")
    else:
        base = "/run/netloom" if uid == 0 else _in_tmp(uid)
    return os.path.join(base, name, "control.sock")


def _in_tmp(uid: int) -> str:
    # Another user may have taken the first name: the program then takes the next one that it can have.
    names = [f"/tmp/netloom-{uid}"] + [f"/tmp/netloom-{uid}-{number}" for number in range(1, 10)]
    for name in names:
        with contextlib.suppress(OSError):
            about = os.lstat(name)
            if stat.S_ISDIR(about.st_mode) and about.st_uid == uid and not about.st_mode & 0o077:
                return name
    return names[0]


class Live:
    """A lab that is up: a context manager, at whose end it is taken down."""

    def __init__(self, path: str, results: Path | None, *, name: str, check: bool, owned: bool) -> None:
        self._path = path
        self._name = name
        self._check = check
        self._owned = owned
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._result: Result | None = None
        self._ended = False
        #: The folder with its results.
        self.results = results
        self._control = Connection(path)
        self._capabilities = self._control.hello()
        now = self.now
        #: `real`, `dilated` or `virtual`.
        self.clock = now.clock
        #: How many seconds of wall time one of lab time lasts.
        self.dilation = now.dilation
        self._nodes: dict[str, LiveNode] = {}
        self._links: dict[str, LiveLink] = {}

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def socket_path(self) -> str:
        """Its control socket."""
        return self._path

    # Nodes and links

    def __getitem__(self, name: Name) -> LiveNode:
        """The node of this name."""
        return self.node(name)

    def node(self, name: Name) -> LiveNode:
        """The node of this name.

        Raises:
            KeyError: There is none.
        """
        nodes = self.nodes
        key = name if isinstance(name, str) else name.name
        if key not in nodes:
            raise KeyError(f"no node is called `{key}`: there are {', '.join(list(nodes)[:20])}")
        return nodes[key]

    @property
    def nodes(self) -> dict[str, LiveNode]:
        """All nodes by name."""
        self._look()
        return self._nodes

    def link(self, name: Name) -> LiveLink:
        """The link of this name.

        Raises:
            KeyError: There is none.
        """
        links = self.links
        key = name if isinstance(name, str) else name.name
        if key not in links:
            raise KeyError(f"no link is called `{key}`: there are {', '.join(list(links)[:20])}")
        return links[key]

    @property
    def links(self) -> dict[str, LiveLink]:
        """All links by name."""
        self._look()
        return self._links

    def _look(self) -> None:
        if not self._nodes:
            found = self.topology()
            self._nodes = {each["name"]: LiveNode(self, each) for each in found["nodes"]}
            self._links = {each["name"]: LiveLink(self, each) for each in found["links"]}

    # Questions

    def ask(self, request: str, descriptors: Sequence[int] = (), /, **keys: object) -> dict[str, Any]:
        """Sends any request of the control protocol, and waits for its reply.

        Raises:
            RefusedError: The lab refused it.
            ClosedError: The lab is not up any more.
        """
        with self._lock:
            self._ensure_up()
            return self._control.ask(request, descriptors, **keys)

    def info(self) -> dict[str, Any]:
        """What `netloom ps --json` says of it."""
        return self.ask("info")

    def topology(self) -> dict[str, Any]:
        """Nodes with interfaces, links with what is in force on them."""
        return self.ask("topology")

    def stats(self) -> dict[str, Any]:
        """What every pipe and every port of a switch has counted."""
        return self.ask("stats")

    def verdict(self) -> dict[str, Any]:
        """What speaks against the run so far (`verdict`), which expectations hold so far, and how late packets of each pipe are (`pipes`)."""
        return self.ask("verdict")

    def exercise(self) -> dict[str, Any]:
        """The tasks of the lab's exercise, and which of them are met (`met_ns`)."""
        return self.ask("exercise")

    def restart(self, name: str) -> None:
        """Lets a command, or the services of a node, end and start again.

        Args:
            name: Of a command or service of the timeline, or of a node.
        """
        self.ask("restart", name=name)

    def partition(self, entry: Partition) -> None:
        """Parts nodes from now on, until its time has passed or until `heal`.

        Args:
            entry: A partition as in a timeline, without the keys that say when.
        """
        self.ask("partition", entry=json.dumps(plain(entry)))

    def fault(self, entry: Fault | Mapping[str, object] | str) -> None:
        """Lets happen now what an entry of the timeline describes: a node crashes or freezes, a clock steps, packets are lost.

            live.fault(netloom.Crash(crash="n1", keep="some", for_="2 s"))
            live.fault({"on": "n1", "clock": {"step": "3 s"}})
            live.fault("{link: l1, packet: {nth: 3}, do: drop}")

        Args:
            entry: The entry as a model, as a map, or as a lab file has it, without the keys that say when.
        """
        self.ask("fault", entry=fault_text(entry))

    def heal(self) -> None:
        """Ends all partitions of `partition`."""
        self.ask("heal")

    def offers(self, capability: str) -> bool:
        """Whether the lab has this capability of the protocol."""
        return capability in self._capabilities

    @property
    def now(self) -> Now:
        """What time it is."""
        return now_of(self.ask("now"))

    # Time

    def advance(self, by: Time | float) -> Now:
        """Lets lab time go on by a step, in virtual time, and returns when it is over.

        Args:
            by: `"100 ms"`, a `timedelta`, or a number of seconds.
        """
        return now_of(self._ask_apart("advance", by_ns=nanoseconds(by)))

    def pause(self) -> Now:
        """Holds lab time, in virtual time."""
        return now_of(self.ask("pause"))

    def resume(self) -> Now:
        """Lets lab time go on by itself, in virtual time."""
        return now_of(self.ask("resume"))

    def sleep(self, span: Time | float) -> None:
        """Waits for so much lab time, on any clock; in virtual time, that lets it go on."""
        seconds = nanoseconds(span) / 1e9
        if self.clock == "virtual" and self.now.paused:
            self.advance(span)
        elif self.clock == "virtual":
            end = self.now.ns + nanoseconds(span)
            while self.now.ns < end:
                time.sleep(0.001)
        else:
            time.sleep(seconds * self.dilation)

    def _ask_apart(self, request: str, **keys: object) -> dict[str, Any]:
        """Asks what may take long, while others ask other things."""
        connection = self.connect()
        try:
            return connection.ask(request, **keys)
        finally:
            connection.close()

    # Events

    def events(self, *, from_start: bool = False, timeout: float | None = None) -> Iterator[Event]:
        """What happens, as it comes, until the lab ends.

        Args:
            from_start: Whether to begin with what has happened so far.
            timeout: How many seconds to wait for the next one, in wall time.
        """
        for message in self._subscribe(timeout, events="lab", from_start=from_start or None):
            found = event_of(message)
            if isinstance(found, Event):
                yield found

    def output(self, *commands: str, from_start: bool = True, timeout: float | None = None) -> Iterator[Output]:
        """What commands and services of the lab file write, as it comes."""
        for message in self._subscribe(
            timeout, events="output", commands=list(commands) or None, from_start=from_start or None
        ):
            found = event_of(message)
            if isinstance(found, Output):
                yield found

    def samples(self, every: Time | float, *, timeout: float | None = None) -> Iterator[dict[str, Any]]:
        """What all pipes have counted, now and after every step of so much lab time."""
        yield from self._subscribe(timeout, events="stats", every_ns=nanoseconds(every))

    def connections(self, every: Time | float, *nodes: str, timeout: float | None = None) -> Iterator[dict[str, Any]]:
        """The TCP connections of these nodes, or of all, now and after every step of so much lab time.

        Each has the key ``nodes``: a list of nodes with their ``connections``, whose ``figures`` have the names of columns of
        ``tcp.csv``.
        """
        names = list(nodes) or None
        yield from self._subscribe(timeout, events="tcp", every_ns=nanoseconds(every), nodes=names)

    def packets(self, every: Time | float, *, timeout: float | None = None) -> Iterator[dict[str, Any]]:
        """What has become of some packets of each pipe, now and after every step of so much lab time."""
        yield from self._subscribe(timeout, events="packets", every_ns=nanoseconds(every))

    def _subscribe(self, timeout: float | None, **keys: object) -> Iterator[dict[str, Any]]:
        connection = self.connect()
        try:
            connection.ask("subscribe", **keys)
            connection.set_timeout(timeout)
            while True:
                try:
                    message = connection.receive()
                except (ClosedError, TimeoutError):
                    return
                if message.get("event") == "ended":
                    raise NetloomError(f"the lab tells no more: {message.get('because')}")
                yield message
        finally:
            connection.close()

    # Its end

    def down(self) -> Result:
        """Takes the lab down, and returns what is known of it; again the same if it is down already.

        Raises:
            ClosedError: Another process has brought it up.
        """
        if self._result is not None:
            return self._result
        self._ensure_own_process()
        with contextlib.suppress(ClosedError), self._lock:
            if not self._ended:
                self._ended = True
                checked(self._end())
        self._ended = True
        self._control.close()
        self._await_gone()
        if self.results is None:
            raise NetloomError(f"lab `{self._name}` left no results")
        self._result = Result(self.results)
        return self._result

    def _end(self) -> dict[str, Any]:
        self._control.send("down")
        return self._control.receive()

    def _await_gone(self) -> None:
        """Waits until everything that the lab has made is gone: its guard removes the folder last."""
        folder = os.path.dirname(self._path)
        end = time.monotonic() + _PATIENCE
        wait = 0.001
        while os.path.exists(folder) and time.monotonic() < end:
            time.sleep(wait)
            wait = min(wait * 1.2, 0.02)
        if os.path.exists(folder):
            # It ends what does not end by itself, and removes what is left.
            _program.call(["down", self._name], expect=tuple(range(256)))

    @property
    def result(self) -> Result:
        """What is known of the lab.

        Raises:
            NetloomError: It is still up.
        """
        if self._result is None:
            raise NetloomError(f"lab `{self._name}` is still up: `down` judges it")
        return self._result

    def close(self) -> None:
        """Leaves the lab as it is; for those that were attached to."""
        self._ended = True
        self._control.close()

    def __enter__(self) -> Live:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.getpid() != self._process:
            # A child of a fork has no part in it.
            return
        if not self._owned:
            self.close()
            return
        result = self.down()
        report_end(self._name, result, self._check and kind is None)

    def connect(self) -> Connection:
        """A further connection to it.

        Raises:
            ClosedError: It is not up any more.
        """
        self._ensure_up()
        return Connection(self._path)

    def _ensure_up(self) -> None:
        self._ensure_own_process()
        if self._ended:
            raise ClosedError(f"lab `{self._name}` is not up any more: it was taken down")

    def _ensure_own_process(self) -> None:
        if os.getpid() != self._process:
            raise ClosedError(
                f"lab `{self._name}` belongs to process {self._process}, of which this one ({os.getpid()}) is a fork: "
                f"use it there, or `netloom.attach({self._name!r})` here"
            )

    def __repr__(self) -> str:
        return f"<lab {self._name}, {'down' if self._ended else 'up'}>"

    def _repr_html_(self) -> str:
        return live_html(self)


__all__ = ["Event", "Live", "LiveLink", "LiveNode", "Now", "Output", "attach", "bring_up"]
