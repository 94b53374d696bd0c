"""The control socket of a lab over several machines: asks the parts and joins their answers, and relays programs of users."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import select
import socket
import struct
import termios
import threading
import tty
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from . import _events, _joined
from ._errors import NetloomError, ProgramError
from ._joined import Places
from ._parts import PartResults
from ._protocol import Lines, Message, descriptors_in
from ._steps import Steps

#: How long a call waits for output of a program, in seconds.
WAIT = 0.5
#: How much of a program's input is sent at once, in bytes.
AT_ONCE = 1 << 16
#: How many programs of users there may be.
MOST_PROGRAMS = 64
NO_SUCH, DIED, USAGE = 7, 8, 2
#: What a program in virtual time may read, in bytes: it is taken before the program starts.
MOST_INPUT = 16 << 20
#: A fault of an entry of the timeline that is one of all parts: a partition, or its end.
IN_ALL_PARTS = re.compile(r"""^\s*\{\s*["']?(partition|heal)["']?\s*:""")
#: What is done in all parts of a lab in virtual time, at one instant.
OF_ALL = ("fault", "heal", "partition", "restart", "set", "start", "stop")


class Whole(Protocol):
    """The lab over several machines."""

    lab: str
    places: Places
    is_virtual: bool
    steps: Steps | None

    def about(self) -> dict[str, Any]: ...
    def lost(self) -> list[PartResults]: ...
    def machine(self, name: str) -> Any: ...
    def call(self, machine: Any, method: str, *arguments: Any) -> Any: ...
    def call_all(self, method: str, *arguments: Any) -> list[tuple[Any, Any]]: ...
    def ask_all(self, request: Mapping[str, Any]) -> list[tuple[Any, dict[str, Any]]]: ...
    def end(self) -> None: ...
    def say(self, text: str) -> None: ...
    def divided_partition(self, entry: str, number: int) -> Mapping[str, str]: ...


class Refusal(Exception):
    """Why a request is refused."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Gateway:
    """The socket, with a thread for each of its connections."""

    def __init__(self, path: Path, whole: Whole) -> None:
        self._whole = whole
        self.programs = threading.BoundedSemaphore(MOST_PROGRAMS)
        #: See `Connection`.
        self.zeros: dict[str, int] = {}
        #: How many partitions were made by hand.
        self.partitions = 0
        #: Is held while one is made or healed: parts make them in the same order.
        self.parting = threading.Lock()
        #: What parts have counted, for clients that know pipes by their places: those of a machine that is lost stay as they were.
        self.counted: dict[str, dict[str, tuple[PartResults, Mapping[str, Any]]]] = {"stats": {}, "verdict": {}}
        new = path.with_suffix(".new")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self._listener.bind(str(new))
        self._listener.listen(64)
        new.rename(path)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Takes no more connections."""
        with contextlib.suppress(OSError):
            # A thread that waits for one hears of nothing else.
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=Connection(stream, self._whole, self).serve, daemon=True).start()


class Connection:
    """A client, from its first request to its last."""

    def __init__(self, stream: socket.socket, whole: Whole, gateway: Gateway) -> None:
        self._stream, self._whole, self._gateway, self._programs = stream, whole, gateway, gateway.programs
        self._passed: deque[int] = deque()
        self._relay: Relay | None = None
        #: Its subscriptions, by their kinds.
        self._events: dict[str, _events.Events] = {}
        self._sending = threading.Lock()

    def serve(self) -> None:
        lines = Lines()
        try:
            while True:
                data, ancillary, _, _ = self._stream.recvmsg(1 << 16, socket.CMSG_SPACE(64), socket.MSG_CMSG_CLOEXEC)
                self._passed.extend(descriptors_in(ancillary))
                if not data:
                    return
                lines.feed(data)
                while (request := lines.pop()) is not None:
                    self._answer(request)
        except (OSError, ValueError):
            return
        finally:
            if self._relay is not None:
                self._relay.end()
            for events in self._events.values():
                events.end()
            self._stream.close()
            while self._passed:
                os.close(self._passed.popleft())

    def send(self, reply: Mapping[str, Any], asked: Message) -> None:
        """Answers a request."""
        self._write(reply if asked.get("id") is None else {"id": asked["id"], **reply})

    def _write(self, reply: Mapping[str, Any]) -> None:
        with self._sending, contextlib.suppress(OSError):
            self._stream.sendall(json.dumps(reply).encode() + b"\n")

    def _answer(self, request: Message) -> None:
        asked = {key: value for key, value in request.items() if key != "id"}
        try:
            reply = self._reply(str(asked.get("request")), asked, request)
        except Refusal as error:
            reply = {"reply": "refused", "code": error.code, "message": str(error)}
        except NetloomError as error:
            reply = {"reply": "refused", "code": DIED, "message": str(error)}
        if reply is not None:
            self.send(reply, request)
        for events in self._events.values():
            events.begin()

    def _reply(self, name: str, asked: Message, request: Message) -> Mapping[str, Any] | None:
        whole = self._whole
        if whole.steps is not None and (reply := self._in_virtual_time(name, asked, request, whole.steps)) is not None:
            return reply if reply else None
        match name:
            case "hello":
                return _joined.greeting(
                    whole.lab, whole.ask_all(asked)[0][1], () if whole.is_virtual else _joined.IN_REAL_TIME
                )
            case "info":
                return _joined.info(whole.about(), self._answers(asked))
            case "topology":
                return _joined.topology(self._answers(asked))
            case "stats":
                return {key: value for key, value in self._stats().items() if key != "since_zero_ns"}
            case "subscribe":
                return self._subscribe(asked, request)
            case "unsubscribe":
                return self._unsubscribe(str(asked.get("events")))
            case "verdict":
                answers = self._answers(asked)
                return _joined.verdict(answers, whole.lost(), whole.places, self._all(name, answers))
            case "now":
                return _joined.from_zero(whole.ask_all(asked)[0][1])
            case "start" | "stop":
                return whole.call(self._machine_of(str(asked.get("node"))), "ask", asked)
            case "set":
                return self._set(asked)
            case "partition":
                return self._partition(str(asked.get("entry")))
            case "heal":
                return self._heal()
            case "fault" if kind := IN_ALL_PARTS.match(str(asked.get("entry"))):
                return self._partition(str(asked["entry"])) if kind[1] == "partition" else self._heal()
            case "restart" | "fault":
                return self._anywhere(asked)
            case "exec":
                return self._begin(self._machine_of(str(asked.get("node"))), asked, request, 3)
            case "capture":
                machine, way = self._of_link(asked)[0]
                return self._begin(machine, asked if way is None else {**asked, "direction": way}, request, 1)
            case "signal":
                if self._relay is not None:
                    self._relay.signal(int(asked["signal"]))
                return {"reply": "done"}
            case "down":
                whole.end()
                return {"reply": "done"}
            case _:
                raise Refusal(USAGE, f"a lab over several machines does not have `{name}` yet")

    def _in_virtual_time(self, name: str, asked: Message, request: Message, steps: Steps) -> Mapping[str, Any] | None:
        """The reply of a lab that is up in virtual time, where it is another one than in real time: none if it is not, and nothing if it comes later."""
        whole = self._whole
        match name:
            case "hello":
                return _joined.greeting(whole.lab, whole.ask_all(asked)[0][1], _joined.IN_VIRTUAL_TIME)
            case "info":
                return _joined.whole_info(whole.about(), whole.ask_all(asked)[0][1], not steps.is_going)
            case "topology":
                return {**whole.ask_all(asked)[0][1]}
            case "now":
                return steps.now(whole.ask_all(asked)[0][1])
            case "verdict":
                return steps.same(asked)
            case "advance":
                if asked.get("until_exit"):
                    raise Refusal(
                        USAGE, "a lab over several machines advances by a time only, not until a program ends"
                    )
                return steps.advance(int(asked["by_ns"]))
            case "pause":
                return steps.pause()
            case "resume":
                return steps.resume(whole.say)
            case "exec":
                return self._begin_recorded(asked, request, steps) or {}
            case _ if name in OF_ALL:
                return steps.same(asked)
            case _:
                return None

    def _begin_recorded(self, asked: Message, request: Message, steps: Steps) -> Mapping[str, Any] | None:
        """Starts a program in virtual time, which all parts do."""
        machine, passed = self._machine_of(str(asked.get("node"))), self._take(3, asked)
        try:
            if asked.get("terminal"):
                raise Refusal(
                    USAGE,
                    "in virtual time over several machines programs have no terminal: `netloom exec LAB NODE -- PROGRAM | cat` has none",
                )
            data = _all_of(passed[0])
            self._take_room()
        except BaseException:
            _close(passed)
            raise
        with steps.standing():
            folder = str(asked.get("cwd") or "/")
            has_folder = self._whole.call(machine, "has_folder", folder)
            replies = self._whole.call_all("start_recorded", asked, folder if has_folder else "/", data)
        return self._relayed([(each, dict(reply)) for each, reply in replies], machine, passed, request, steps)

    def _stats(self) -> dict[str, Any]:
        """The counters of the whole lab. In real time, lab time is that since time zero, which all parts have in common."""
        asked, whole = {"request": "stats"}, self._whole
        zeros, answers = self._zeros(), self._answers(asked)
        if whole.is_virtual:
            return {**answers[0][1], "since_zero_ns": answers[0][1]["at_ns"] - next(iter(zeros.values()), 0)}
        since = [
            (part, {**answer, "at_ns": max(0, answer["at_ns"] - zeros.get(part.machine, answer["at_ns"]))})
            for part, answer in answers
        ]
        found = _joined.stats(self._all("stats", since), whole.places)
        return {**found, "since_zero_ns": found["at_ns"]}

    def _zeros(self) -> Mapping[str, int]:
        """At which instants of their engines parts have time zero, by machine: engines start one after the other."""
        zeros = self._gateway.zeros
        if len(zeros) < len(set(self._whole.places.nodes.values())):
            for part, now in self._answers({"request": "now"}):
                # A part learns of time zero a moment before it.
                if now["since_zero_ns"] is not None:
                    zeros[part.machine] = now["at_ns"] - now["since_zero_ns"]
        return zeros

    def _all(
        self, kind: str, answers: Sequence[tuple[PartResults, Mapping[str, Any]]]
    ) -> list[tuple[PartResults, Mapping[str, Any]]]:
        """These answers, with the last ones of machines that are lost."""
        counted = self._gateway.counted[kind]
        counted.update((part.machine, (part, answer)) for part, answer in answers)
        return [counted[machine] for machine in dict.fromkeys(self._whole.places.nodes.values()) if machine in counted]

    def _subscribe(self, asked: Message, request: Message) -> Mapping[str, Any]:
        """Begins to send events of all parts. Of a lab in virtual time each part has all, and no part waits at an instant at which others do not."""
        kind, whole = str(asked.get("events")), self._whole
        kinds = _events.KINDS if whole.is_virtual else _events.IN_REAL_TIME
        if kind not in kinds:
            raise Refusal(USAGE, f"a lab over several machines has these events: {', '.join(kinds)}")
        if kind in self._events:
            raise Refusal(USAGE, f"this connection has subscribed to `{kind}` already")
        events = _events.Events(self._write, {} if request.get("id") is None else {"id": request["id"]})
        machines = [whole.machine(name) for name in dict.fromkeys(whole.places.nodes.values())]
        reply: Mapping[str, Any] = {"reply": "done"}
        if kind == "stats":
            every_ns = asked.get("every_ns")
            if not isinstance(every_ns, int) or every_ns <= 0:
                raise Refusal(USAGE, "`stats` needs `every_ns`, above 0")
            events.sample(every_ns, self._stats)
        elif kind == "tcp":
            reply = events.join(whole, self._of_nodes(asked), _joined.connections)
        elif kind == "packets":
            self._stats()
            ranks = _joined.ranks_of_pipes(self._all("stats", ()), whole.places)
            there = [machine for machine, _ in whole.ask_all({"request": "now"})]
            reply = events.join(whole, [(each, asked) for each in there], lambda found: _joined.packets(found, ranks))
        else:
            reply = events.follow(whole, [(each, asked) for each in (machines[:1] if whole.is_virtual else machines)])
        if reply["reply"] != "refused":
            self._events[kind] = events
        return reply

    def _of_nodes(self, asked: Message) -> list[tuple[Any, Message]]:
        """What machines that are there are asked that is about some nodes, or about all that run programs."""
        nodes, whole = asked.get("nodes"), self._whole
        there = dict.fromkeys(machine.part.machine for machine, _ in whole.ask_all({"request": "now"}))
        if not isinstance(nodes, list):
            # A part says what is wrong with what is no list.
            return [(whole.machine(name), asked) for name in there]
        of: dict[str, list[str]] = {}
        for node in nodes:
            of.setdefault(self._machine_of(str(node)).part.machine, []).append(node)
        return [(whole.machine(name), {**asked, "nodes": own}) for name, own in of.items() if name in there]

    def _unsubscribe(self, kind: str) -> Mapping[str, Any]:
        if (events := self._events.pop(kind, None)) is None:
            raise Refusal(USAGE, f"this connection has not subscribed to `{kind}`")
        events.end()
        return {"reply": "done"}

    def _answers(self, asked: Message) -> list[tuple[PartResults, Mapping[str, Any]]]:
        return [(machine.part, reply) for machine, reply in self._whole.ask_all(asked)]

    def _machine_of(self, node: str) -> Any:
        nodes = self._whole.places.nodes
        if node not in nodes:
            raise Refusal(NO_SUCH, f"the lab has no node `{node}`: {', '.join(list(nodes)[:20])}")
        return self._whole.machine(nodes[node])

    def _of_link(self, asked: Message) -> list[tuple[Any, str | None]]:
        links, name = self._whole.places.links, str(asked.get("link"))
        if name not in links:
            raise Refusal(NO_SUCH, f"the lab has no link `{name}`: {', '.join(list(links)[:20])}")
        found = self._whole.places.of_link(name, asked.get("direction"))
        return [(self._whole.machine(machine), way) for machine, way in found]

    def _set(self, asked: Message) -> Mapping[str, Any]:
        """Changes a link where its packets enter it: of one that is cut, each direction on its machine."""
        reply: Mapping[str, Any] = {"reply": "done"}
        for machine, way in self._of_link(asked):
            reply = self._whole.call(machine, "ask", asked if way is None else {**asked, "direction": way})
            if reply["reply"] == "refused":
                break
        return reply

    def _partition(self, entry: str) -> Mapping[str, Any]:
        """Makes a partition in all parts, each of which judges the packets that enter its links."""
        whole, gateway = self._whole, self._gateway
        with gateway.parting:
            try:
                divided = whole.divided_partition(entry, gateway.partitions + 1)
            except ProgramError as error:
                raise Refusal(error.code or USAGE, str(error)) from error
            there = [machine for machine, _ in whole.ask_all({"request": "now"})]
            for place, machine in enumerate(there):
                own = {"request": "partition", "entry": divided[machine.part.machine]}
                reply: Mapping[str, Any] = whole.call(machine, "ask", own)
                if reply["reply"] == "refused":
                    for made in there[:place]:
                        whole.call(made, "ask", {"request": "heal"})
                    return reply
            gateway.partitions += 1
        return {"reply": "done"}

    def _heal(self) -> Mapping[str, Any]:
        """Ends the partitions that were made by hand."""
        with self._gateway.parting:
            self._whole.ask_all({"request": "heal"})
        return {"reply": "done"}

    def _anywhere(self, asked: Message) -> Mapping[str, Any]:
        """Asks one part after the other, until one has what the request names."""
        reply: Mapping[str, Any] = {}
        for name in dict.fromkeys(self._whole.places.nodes.values()):
            reply = self._whole.call(self._whole.machine(name), "ask", asked)
            if reply["reply"] != "refused":
                break
        return reply

    def _begin(self, machine: Any, asked: Message, request: Message, count: int) -> Mapping[str, Any] | None:
        """Starts a program or a capture on its machine."""
        passed = self._take(count, asked)
        try:
            self._take_room()
            reply = dict(self._whole.call(machine, "start", asked))
        except BaseException:
            _close(passed)
            raise
        return self._relayed([(machine, reply)], machine, passed, request, None)

    def _take(self, count: int, asked: Message) -> list[int]:
        """The descriptors that came with a request."""
        if len(self._passed) < count:
            raise Refusal(USAGE, f"`{asked['request']}` comes with {count} file descriptors")
        if self._relay is not None:
            raise Refusal(USAGE, "a connection has one program: open another one")
        return [self._passed.popleft() for _ in range(count)]

    def _take_room(self) -> None:
        if not self._programs.acquire(blocking=False):
            raise Refusal(USAGE, f"users have {MOST_PROGRAMS} programs in the lab, which are all that it takes")

    def _relayed(
        self,
        started: Sequence[tuple[Any, dict[str, Any]]],
        machine: Any,
        passed: Sequence[int],
        request: Message,
        steps: Steps | None,
    ) -> Mapping[str, Any] | None:
        """Relays what has started from now on; the reply if it was refused. `machine`: the one on which it runs, of those that have started it."""
        numbers = [(each, reply.pop("number", None)) for each, reply in started]
        first = next((reply for (_, number), (_, reply) in zip(numbers, started, strict=True) if number is None), None)
        if first is not None:
            self._programs.release()
            _close(passed)
            return first
        is_terminal = bool(request.get("terminal"))
        if is_terminal:
            # What is typed is read by the terminal of the program; nothing is typed before the reply.
            with contextlib.suppress(termios.error):
                tty.setraw(passed[0], termios.TCSANOW)
        self.send(started[0][1], request)
        numbers.sort(key=lambda one: one[0] is not machine)
        self._relay = Relay(self, self._whole, numbers, passed, is_terminal, request, steps)
        threading.Thread(target=self._relay.run, args=(self._programs,), daemon=True).start()
        return None


class Relay:
    """Joins the streams of a user to those of a program on its machine."""

    def __init__(
        self,
        connection: Connection,
        whole: Whole,
        numbers: Sequence[tuple[Any, int]],
        passed: Sequence[int],
        is_terminal: bool,
        request: Message,
        steps: Steps | None,
    ) -> None:
        self._connection, self._whole, self._steps = connection, whole, steps
        #: The machine on which it runs with its number there, and in virtual time those of all others.
        self._numbers = numbers
        self._passed, self._is_terminal, self._request = passed, is_terminal, request
        self._is_over = threading.Event()
        #: Closed when all is over, for the thread that waits for input.
        self._wakes, self._woken = socket.socketpair()
        self._size = b""

    def run(self, programs: threading.BoundedSemaphore) -> None:
        """Relays until the program has ended, or the user has gone."""
        reader: threading.Thread | None = None
        try:
            # In virtual time, it has had all of its input.
            if len(self._passed) == 3 and self._steps is None:
                reader = threading.Thread(target=self._feed, daemon=True)
                reader.start()
            code = self._drain()
        except NetloomError as error:
            code = 255
            _write(self._passed[-1], f"netloom: {error}\n".encode())
        except OSError:
            # The user reads no more.
            code = None
        self.end()
        if reader is not None:
            reader.join()
        self._woken.close()
        self._everywhere("end")
        for descriptor in self._passed:
            os.close(descriptor)
        programs.release()
        if code is not None:
            self._connection.send({"reply": "exited", "code": code}, self._request)

    def end(self) -> None:
        """Relays nothing more: the user has gone, or the program has ended."""
        self._is_over.set()
        self._wakes.close()

    def signal(self, signal: int) -> None:
        """Sends a signal to the program."""
        self._everywhere("signal", signal)

    def _program(self, step: str, *arguments: Any) -> Any:
        machine, number = self._numbers[0]
        return self._whole.call(machine, "program", step, number, *arguments)

    def _everywhere(self, step: str, *arguments: Any) -> None:
        """Does something with the program in all parts that have started it: in virtual time at one instant."""
        with contextlib.nullcontext() if self._steps is None else self._steps.standing():
            for machine, number in self._numbers:
                with contextlib.suppress(NetloomError):
                    self._whole.call(machine, "program", step, number, *arguments)

    def _drain(self) -> int | None:
        out, error = self._passed[min(1, len(self._passed) - 1)], self._passed[-1]
        while not self._is_over.is_set():
            if self._is_terminal:
                self._resize()
            found = self._program("drain", WAIT)
            _write(out, found["out"])
            _write(error, found["err"])
            if found["code"] is not None:
                return found["code"]
        return None

    def _feed(self) -> None:
        """Sends the program what the user gives it."""
        with contextlib.suppress(OSError, NetloomError):
            while not self._is_over.is_set():
                if self._woken in select.select([self._passed[0], self._woken], [], [])[0]:
                    return
                data = os.read(self._passed[0], AT_ONCE)
                rest = data
                while rest and not self._is_over.is_set():
                    rest = rest[self._program("feed", rest) :]
                if not data:
                    self._program("feed", b"")
                    return

    def _resize(self) -> None:
        size = fcntl.ioctl(self._passed[0], termios.TIOCGWINSZ, bytes(8))
        if size != self._size:
            self._size = size
            rows, columns, _, _ = struct.unpack("HHHH", size)
            self._program("resize", rows, columns)


def _all_of(descriptor: int) -> bytes:
    """All that a program is to read; nothing of a terminal.

    Raises:
        Refusal: It is too much.
    """
    if os.isatty(descriptor):
        return b""
    data = b""
    while block := os.read(descriptor, AT_ONCE):
        data += block
        if len(data) > MOST_INPUT:
            raise Refusal(
                USAGE, f"in virtual time over several machines a program reads {MOST_INPUT >> 20} MiB at most"
            )
    return data


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    """Writes all of it, whether or not the descriptor waits for room."""
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            select.select([], [descriptor], [], WAIT)
