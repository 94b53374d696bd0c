"""What users do with the part of a lab on its machine, by its control socket. Ray sends this file along, as `_ray_worker`."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import select
import socket
import struct
import termios
import time
from collections.abc import Mapping
from typing import Any

#: How long a part may take to answer, in seconds: one that is busy, a second.
PATIENCE = 10.0
#: How long lab time may take to go on by one span, in seconds of wall time.
ADVANCES = 86_400.0
#: How much is read at once, in bytes.
AT_ONCE = 1 << 18
#: How often it is looked for what a program in virtual time has written, in seconds.
LOOK = 0.05
#: How long a program's descendants that keep its output open are listened to, when it has ended, in seconds.
LINGER = 0.3


class Programs:
    """The programs and captures of users, by their numbers."""

    def __init__(self, word: str = "") -> None:
        #: What a part of a lab in virtual time wants to hear of whoever changes it.
        self.word = word
        self._numbers = itertools.count()
        self._running: dict[int, Any] = {}

    def worded(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The request as one that is made of all parts."""
        return {**request, "of_all": self.word}

    def start(self, path: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Starts a program or a capture; the lab's reply, and the `number` of what has started."""
        program = Program(path, self.worded(request))
        if program.reply.get("reply") != "started":
            program.close()
            return program.reply
        number = next(self._numbers)
        self._running[number] = program
        return {**program.reply, "number": number}

    def start_recorded(self, path: str, request: Mapping[str, Any], data: bytes) -> dict[str, Any]:
        """The same of a program in virtual time, which reads `data` and nothing else: see `Recorded`."""
        program = Recorded(path, self.worded(request), data)
        if program.reply.get("reply") != "started":
            program.close()
            return program.reply
        number = next(self._numbers)
        self._running[number] = program
        return {**program.reply, "number": number}

    def subscribe(self, path: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Subscribes to events; the reply, and the `number` of the subscription for `drain` and `end`."""
        subscription = Subscription(path, request)
        if subscription.reply.get("reply") != "done":
            subscription.close()
            return subscription.reply
        number = next(self._numbers)
        self._running[number] = subscription
        return {**subscription.reply, "number": number}

    def feed(self, number: int, data: bytes) -> int:
        """Has a program read this, nothing being its end; how much has been taken."""
        return self._running[number].feed(data)

    def drain(self, number: int, wait: float) -> dict[str, Any]:
        """What has been written since: `out`, `err`, and the exit `code` at the end. Waits for it."""
        return self._running[number].drain(wait)

    def resize(self, number: int, rows: int, columns: int) -> None:
        """Gives a program's terminal another size."""
        self._running[number].resize(rows, columns)

    def signal(self, number: int, signal: int) -> None:
        """Sends a signal to a program."""
        self._running[number].say(self.worded({"request": "signal", "signal": signal}))

    def end(self, number: int) -> None:
        """Lets go of a program, which the lab ends if it has not ended."""
        if (program := self._running.pop(number, None)) is not None:
            program.close()


class Program:
    """A program in a node, whose standard streams are pipes or a terminal; or a capture, which has an output alone."""

    def __init__(self, path: str, request: Mapping[str, Any]) -> None:
        self._control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self._said = b""
        self._code: int | None = None
        self._ended_at = 0.0
        self._input, self._output, self._error = -1, -1, -1
        self._is_terminal = bool(request.get("terminal"))
        passed = self._open(str(request["request"]))
        try:
            self._control.connect(path)
            self._control.settimeout(PATIENCE)
            socket.send_fds(self._control, [_line(request)], passed)
            self.reply = self._next_line()
        except OSError as error:
            self.reply = {"reply": "refused", "code": 8, "message": f"the part of the lab does not answer: {error}"}
        finally:
            for descriptor in set(passed):
                os.close(descriptor)

    def _open(self, kind: str) -> list[int]:
        """Makes the streams; the ends of the program."""
        if kind == "capture":
            self._output, theirs = os.pipe()
            return [theirs]
        if self._is_terminal:
            self._output, theirs = os.openpty()
            self._input = os.dup(self._output)
            os.set_blocking(self._input, False)
            return [theirs] * 3
        read, self._input = os.pipe()
        os.set_blocking(self._input, False)
        self._output, out = os.pipe()
        self._error, error = os.pipe()
        return [read, out, error]

    def say(self, request: Mapping[str, Any]) -> None:
        """Sends a request, whose answer is only looked through for an exit code."""
        with contextlib.suppress(OSError):
            self._control.sendall(_line(request))

    def feed(self, data: bytes) -> int:
        """Takes as much of this as there is room for, and waits a little for it."""
        if self._input < 0:
            return len(data)
        if not data:
            if not self._is_terminal:
                self._close("_input")
            return 0
        if not select.select([], [self._input], [], 0.2)[1]:
            return 0
        try:
            return os.write(self._input, data)
        except BlockingIOError:
            return 0
        except OSError:
            self._close("_input")
            return len(data)

    def drain(self, wait: float) -> dict[str, Any]:
        """What has come, or comes within so many seconds."""
        found: dict[str, Any] = {"out": b"", "err": b"", "code": None}
        sources = [self._output, self._error]
        control = [] if self._code is not None else [self._control.fileno()]
        patience = wait if self._code is None else min(wait, LINGER)
        if self._said:
            # A program that ends at once does so in the same breath in which it starts.
            patience = 0.0
        ready, _, _ = select.select([source for source in sources if source >= 0] + control, [], [], patience)
        if self._output in ready:
            found["out"] = self._read("_output")
        if self._error in ready:
            found["err"] = self._read("_error")
        if control and (self._said or control[0] in ready):
            self._hear()
        is_silent = self._output < 0 and self._error < 0
        lingers = time.monotonic() - self._ended_at < LINGER
        if self._code is not None and (is_silent or not (ready or lingers)):
            found["code"] = self._code
        return found

    def resize(self, rows: int, columns: int) -> None:
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._input, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> None:
        self._control.close()
        for name in ("_input", "_output", "_error"):
            self._close(name)

    def _read(self, name: str) -> bytes:
        try:
            data = os.read(getattr(self, name), AT_ONCE)
        except OSError:
            # So ends a terminal that nobody has open any more.
            data = b""
        if not data:
            self._close(name)
        return data

    def _hear(self) -> None:
        """Looks through what the lab says for the exit code. When the lab is gone, so is the program."""
        try:
            line = self._next_line()
        except OSError:
            line = {"reply": "exited", "code": 137}
        if line.get("reply") == "exited":
            self._code, self._ended_at = int(line["code"]), time.monotonic()

    def _next_line(self) -> dict[str, Any]:
        while b"\n" not in self._said:
            data = self._control.recv(1 << 16)
            if not data:
                raise ConnectionResetError("the lab has ended")
            self._said += data
        line, self._said = self._said.split(b"\n", 1)
        return json.loads(line)

    def _close(self, name: str) -> None:
        if (descriptor := getattr(self, name)) >= 0:
            setattr(self, name, -1)
            os.close(descriptor)


class Subscription:
    """Events of a part."""

    def __init__(self, path: str, request: Mapping[str, Any]) -> None:
        self._control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self._control.settimeout(PATIENCE)
        self._said = b""
        self._is_over = False
        try:
            self._control.connect(path)
            self._control.sendall(_line(request))
            while b"\n" not in self._said:
                self._read()
            line, self._said = self._said.split(b"\n", 1)
            self.reply = json.loads(line)
        except OSError as error:
            self.reply = {"reply": "refused", "code": 8, "message": f"the part of the lab does not answer: {error}"}

    def drain(self, wait: float) -> dict[str, Any]:
        """The events that have come, or come within so many seconds, as lines; `is_over`: there are no more."""
        lines = self._lines()
        if not lines and not self._is_over and select.select([self._control], [], [], wait)[0]:
            try:
                self._read()
            except OSError:
                self._is_over = True
            lines = self._lines()
        return {"lines": lines, "is_over": self._is_over}

    def _lines(self) -> list[bytes]:
        *lines, self._said = self._said.split(b"\n")
        return lines

    def _read(self) -> None:
        data = self._control.recv(AT_ONCE)
        if not data:
            raise ConnectionResetError("the lab has ended")
        self._said += data

    def close(self) -> None:
        """Wants no more events."""
        self._control.close()


class Recorded(Program):
    """A program in virtual time, in each part of a lab. Its streams are files: they take and give all at once, so that in all parts the same is
    read and written at the same instants, whoever reads along.
    """

    def __init__(self, path: str, request: Mapping[str, Any], data: bytes) -> None:
        self._data = data
        super().__init__(path, request)

    def _open(self, kind: str) -> list[int]:
        if kind == "capture":
            return super()._open(kind)
        passed = [os.open(os.devnull, os.O_RDONLY)] if not self._data else [_file(self._data)]
        passed += [_file(), _file()]
        # The reader has places of its own in them.
        self._output, self._error = (os.open(f"/proc/self/fd/{number}", os.O_RDONLY) for number in passed[1:])
        return passed

    def drain(self, wait: float) -> dict[str, Any]:
        until = time.monotonic() + wait
        while True:
            found = {"out": os.read(self._output, AT_ONCE), "err": os.read(self._error, AT_ONCE), "code": None}
            if found["out"] or found["err"]:
                return found
            if self._code is not None:
                # All that it wrote was in the files before its end was told.
                return {**found, "code": self._code}
            if self._said or select.select([self._control], [], [], LOOK)[0]:
                self._hear()
            if time.monotonic() >= until and self._code is None:
                return found


def _file(data: bytes = b"") -> int:
    number = os.memfd_create("netloom", os.MFD_CLOEXEC)
    os.write(number, data)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def ask(path: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Asks a part of a lab; its reply."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as control:
        control.settimeout(ADVANCES if request["request"] == "advance" else PATIENCE)
        try:
            control.connect(path)
            control.sendall(_line(request))
            reply = b""
            while not reply.endswith(b"\n"):
                data = control.recv(1 << 20)
                if not data:
                    raise ConnectionResetError("it has ended")
                reply += data
        except OSError as error:
            return {"reply": "refused", "code": 8, "message": f"the part of the lab does not answer: {error}"}
    return json.loads(reply)


def _line(request: Mapping[str, Any]) -> bytes:
    return json.dumps(request).encode() + b"\n"
