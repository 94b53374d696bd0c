"""The control socket of a lab over several machines: asks the parts and joins their answers, and relays programs of users."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
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

from . import _joined
from ._errors import NetloomError
from ._joined import Places
from ._parts import PartResults
from ._protocol import Lines, Message, descriptors_in

#: How long a call waits for output of a program, in seconds.
WAIT = 0.5
#: How much of a program's input is sent at once, in bytes.
AT_ONCE = 1 << 16
#: How many programs of users there may be.
MOST_PROGRAMS = 64
NO_SUCH, DIED, USAGE = 7, 8, 2


class Whole(Protocol):
    """The lab over several machines."""

    lab: str
    places: Places

    def about(self) -> dict[str, Any]: ...
    def lost(self) -> list[PartResults]: ...
    def machine(self, name: str) -> Any: ...
    def call(self, machine: Any, method: str, *arguments: Any) -> Any: ...
    def ask_all(self, request: Mapping[str, Any]) -> list[tuple[Any, dict[str, Any]]]: ...
    def end(self) -> None: ...


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
            threading.Thread(target=Connection(stream, self._whole, self.programs).serve, daemon=True).start()


class Connection:
    """A client, from its first request to its last."""

    def __init__(self, stream: socket.socket, whole: Whole, programs: threading.BoundedSemaphore) -> None:
        self._stream, self._whole, self._programs = stream, whole, programs
        self._passed: deque[int] = deque()
        self._relay: Relay | None = None
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
            self._stream.close()
            while self._passed:
                os.close(self._passed.popleft())

    def send(self, reply: Mapping[str, Any], asked: Message) -> None:
        """Answers a request."""
        reply = reply if asked.get("id") is None else {"id": asked["id"], **reply}
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

    def _reply(self, name: str, asked: Message, request: Message) -> Mapping[str, Any] | None:
        whole = self._whole
        match name:
            case "hello":
                return _joined.greeting(whole.lab, whole.ask_all(asked)[0][1])
            case "info":
                return _joined.info(whole.about(), self._answers(asked))
            case "topology":
                return _joined.topology(self._answers(asked))
            case "stats":
                return _joined.stats(self._answers(asked), whole.places)
            case "verdict":
                return _joined.verdict(self._answers(asked), whole.lost(), whole.places)
            case "now":
                return whole.ask_all(asked)[0][1]
            case "start" | "stop":
                return whole.call(self._machine_of(str(asked.get("node"))), "ask", asked)
            case "set":
                return self._set(asked)
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
        if len(self._passed) < count:
            raise Refusal(USAGE, f"`{asked['request']}` comes with {count} file descriptors")
        if self._relay is not None:
            raise Refusal(USAGE, "a connection has one program: open another one")
        passed = [self._passed.popleft() for _ in range(count)]
        try:
            if not self._programs.acquire(blocking=False):
                raise Refusal(USAGE, f"users have {MOST_PROGRAMS} programs in the lab, which are all that it takes")
            reply = dict(self._whole.call(machine, "start", asked))
        except BaseException:
            for descriptor in passed:
                os.close(descriptor)
            raise
        number = reply.pop("number", None)
        if number is None:
            self._programs.release()
            for descriptor in passed:
                os.close(descriptor)
            return reply
        is_terminal = bool(asked.get("terminal"))
        if is_terminal:
            # What is typed is read by the terminal of the program; nothing is typed before the reply.
            with contextlib.suppress(termios.error):
                tty.setraw(passed[0], termios.TCSANOW)
        self.send(reply, request)
        self._relay = Relay(self, self._whole, machine, number, passed, is_terminal, request)
        threading.Thread(target=self._relay.run, args=(self._programs,), daemon=True).start()
        return None


class Relay:
    """Joins the streams of a user to those of a program on its machine."""

    def __init__(
        self,
        connection: Connection,
        whole: Whole,
        machine: Any,
        number: int,
        passed: Sequence[int],
        is_terminal: bool,
        request: Message,
    ) -> None:
        self._connection, self._whole, self._machine, self._number = connection, whole, machine, number
        self._passed, self._is_terminal, self._request = passed, is_terminal, request
        self._is_over = threading.Event()
        #: Closed when all is over, for the thread that waits for input.
        self._wakes, self._woken = socket.socketpair()
        self._size = b""

    def run(self, programs: threading.BoundedSemaphore) -> None:
        """Relays until the program has ended, or the user has gone."""
        reader: threading.Thread | None = None
        try:
            if len(self._passed) == 3:
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
        with contextlib.suppress(NetloomError):
            self._program("end")
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
        with contextlib.suppress(NetloomError):
            self._program("signal", signal)

    def _program(self, step: str, *arguments: Any) -> Any:
        return self._whole.call(self._machine, "program", step, self._number, *arguments)

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


def _write(descriptor: int, data: bytes) -> None:
    """Writes all of it, whether or not the descriptor waits for room."""
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            select.select([], [descriptor], [], WAIT)
