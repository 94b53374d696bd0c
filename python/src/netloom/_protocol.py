"""The control protocol: one JSON object per line over a Unix socket, with file descriptors beside (`docs/protocol.md`).

Nothing here knows what a lab is. `Connection` is for blocking callers, `AsyncConnection` for those of asyncio.
"""

from __future__ import annotations

import array
import asyncio
import json
import os
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ._errors import ClosedError, RefusedError, VersionError

#: The major version of the protocol that this package speaks.
MAJOR: Final = 1
#: What this package cannot do without.
NEEDED: Final = frozenset({"clock", "events", "exec", "set", "socket", "stats", "topology"})

Message = dict[str, Any]

_AT_ONCE = 1 << 16
_GONE = "the lab has ended"


def encode(request: str, keys: Mapping[str, object]) -> bytes:
    """A request as it is sent; keys that are `None` are left out."""
    body = {"request": request} | {key: value for key, value in keys.items() if value is not None}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"


class Lines:
    """Takes bytes apart into messages."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._messages: deque[Message] = deque()

    def feed(self, data: bytes) -> None:
        self._pending += data
        if b"\n" not in data:
            return
        *lines, rest = bytes(self._pending).split(b"\n")
        self._pending = bytearray(rest)
        self._messages.extend(json.loads(line) for line in lines if line)

    def pop(self) -> Message | None:
        return self._messages.popleft() if self._messages else None


def checked(reply: Message) -> Message:
    """The reply, unless it is a refusal.

    Raises:
        RefusedError: The lab refused the request.
    """
    if reply.get("reply") == "refused":
        raise RefusedError(str(reply.get("message")), int(reply.get("code", 2)), reply.get("key"))
    return reply


def checked_hello(reply: Message) -> frozenset[str]:
    """What a lab offers.

    Raises:
        VersionError: The lab speaks another version, or lacks what this package needs.
    """
    if reply.get("reply") == "refused":
        raise VersionError(str(reply.get("message")))
    offered = frozenset(map(str, reply.get("capabilities", [])))
    missing = NEEDED - offered
    if missing:
        theirs = f"{reply.get('version')}.{reply.get('minor')} (netloom {reply.get('program')})"
        raise VersionError(
            f"this package needs {', '.join(sorted(missing))} of the control protocol, which the lab's version {theirs} "
            "does not offer: use the program that came with the package"
        )
    return offered


class Connection:
    """A connection to a lab that is up, for one thread at a time."""

    def __init__(self, path: str, timeout: float | None = None) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self._lines = Lines()
        self._descriptors: deque[int] = deque()
        try:
            self._socket.settimeout(timeout)
            _connect(self._socket, path)
            self._socket.settimeout(None)
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        """Closes the connection, and descriptors that nobody took. The lab ends the program that it started."""
        self._socket.close()
        while self._descriptors:
            os.close(self._descriptors.popleft())

    def send(self, request: str, descriptors: Sequence[int] = (), /, **keys: object) -> None:
        """Sends a request, with descriptors.

        Raises:
            ClosedError: The lab has ended.
        """
        data = encode(request, keys)
        try:
            if descriptors:
                sent = socket.send_fds(self._socket, [data], list(descriptors))
                data = data[sent:]
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ClosedError(_GONE) from error

    def receive(self) -> Message:
        """The next reply or event.

        Raises:
            ClosedError: The lab has ended.
            TimeoutError: None came within the time of `set_timeout`.
        """
        while (message := self._lines.pop()) is None:
            self._read()
        return message

    def pending(self) -> Message | None:
        """A message that has arrived, without waiting for one."""
        while (message := self._lines.pop()) is None:
            self._socket.setblocking(False)
            try:
                self._read()
            except BlockingIOError:
                return None
            finally:
                self._socket.setblocking(True)
        return message

    def set_timeout(self, timeout: float | None) -> None:
        """For how long `receive` waits."""
        self._socket.settimeout(timeout)

    def take_descriptor(self) -> int:
        """The descriptor that came with the last reply."""
        return self._descriptors.popleft()

    def ask(self, request: str, descriptors: Sequence[int] = (), /, **keys: object) -> Message:
        """Sends a request and waits for its reply; only where no events are subscribed to.

        Raises:
            RefusedError: The lab refused it.
            ClosedError: The lab has ended.
        """
        self.send(request, descriptors, **keys)
        return checked(self.receive())

    def hello(self) -> frozenset[str]:
        """Makes sure that both sides understand each other; what the lab offers.

        Raises:
            VersionError: They do not.
        """
        self.send("hello", version=MAJOR)
        return checked_hello(self.receive())

    def _read(self) -> None:
        try:
            data, ancillary, _, _ = self._socket.recvmsg(_AT_ONCE, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError as error:
            raise ClosedError(_GONE) from error
        self._descriptors.extend(descriptors_in(ancillary))
        if not data:
            raise ClosedError(_GONE)
        self._lines.feed(data)


class AsyncConnection:
    """The same for asyncio; belongs to the event loop that is running when it is opened."""

    def __init__(self, stream: socket.socket) -> None:
        self._socket = stream
        self._loop = asyncio.get_running_loop()
        self._lines = Lines()
        self._descriptors: deque[int] = deque()

    @classmethod
    async def open(cls, path: str) -> AsyncConnection:
        """Connects to a lab.

        Raises:
            ClosedError: There is none.
        """
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            _connect(stream, path)
            stream.setblocking(False)
        except BaseException:
            stream.close()
            raise
        return cls(stream)

    def close(self) -> None:
        """Closes the connection. The lab ends the program that it started."""
        if self._socket.fileno() >= 0:
            # Before its number belongs to something else.
            self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        while self._descriptors:
            os.close(self._descriptors.popleft())

    async def send(self, request: str, descriptors: Sequence[int] = (), /, **keys: object) -> None:
        """Sends a request, with descriptors.

        Raises:
            ClosedError: The lab has ended.
        """
        data = encode(request, keys)
        try:
            if descriptors:
                # The first request of a connection has room for so little.
                sent = socket.send_fds(self._socket, [data], list(descriptors))
                data = data[sent:]
            await self._loop.sock_sendall(self._socket, data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ClosedError(_GONE) from error

    async def receive(self) -> Message:
        """The next reply or event.

        Raises:
            ClosedError: The lab has ended.
        """
        while (message := self._lines.pop()) is None:
            await self._readable()
            self._read()
        return message

    async def ask(self, request: str, descriptors: Sequence[int] = (), /, **keys: object) -> Message:
        """Sends a request and waits for its reply; only where no events are subscribed to.

        Raises:
            RefusedError: The lab refused it.
            ClosedError: The lab has ended.
        """
        await self.send(request, descriptors, **keys)
        return checked(await self.receive())

    async def hello(self) -> frozenset[str]:
        """As `Connection.hello`."""
        await self.send("hello", version=MAJOR)
        return checked_hello(await self.receive())

    def take_descriptor(self) -> int:
        """The descriptor that came with the last reply."""
        return self._descriptors.popleft()

    async def _readable(self) -> None:
        ready: asyncio.Future[None] = self._loop.create_future()
        number = self._socket.fileno()
        self._loop.add_reader(number, lambda: ready.done() or ready.set_result(None))
        try:
            await ready
        finally:
            if self._socket.fileno() == number:
                self._loop.remove_reader(number)

    def _read(self) -> None:
        try:
            data, ancillary, _, _ = self._socket.recvmsg(_AT_ONCE, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except ConnectionResetError as error:
            raise ClosedError(_GONE) from error
        self._descriptors.extend(descriptors_in(ancillary))
        if not data:
            raise ClosedError(_GONE)
        self._lines.feed(data)


def _connect(stream: socket.socket, path: str) -> None:
    try:
        stream.connect(path)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise ClosedError(f"no lab answers at {path}: it has ended") from error


def descriptors_in(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    """The descriptors that have come along with bytes."""
    found: list[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers = array.array("i")
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
            found.extend(numbers)
    return found
