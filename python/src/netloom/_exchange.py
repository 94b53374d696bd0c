"""Writes to and reads from a program's pipes while it runs, without a thread for each."""

from __future__ import annotations

import contextlib
import io
import os
import selectors
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .process import Popen

_AT_ONCE: Final = 1 << 16
_CONNECTION: Final = 3


class Exchange:
    """What goes on between a program in a node and this process until the program has ended."""

    def __init__(self, process: Popen, input: str | bytes | None, *, pipes: bool) -> None:
        self._process = process
        self._selector = selectors.DefaultSelector()
        self._chunks: dict[int, list[bytes]] = {1: [], 2: []}
        self._input = memoryview(_bytes(input))
        # What has come already is in the connection's memory, where no selector sees it.
        if not process.has_ended and not process.take_in():
            self._selector.register(process.fileno(), selectors.EVENT_READ, _CONNECTION)
        if pipes:
            self._open_input()
            for number, stream in ((1, process.stdout), (2, process.stderr)):
                if stream is not None and not stream.closed:
                    self._selector.register(stream.fileno(), selectors.EVENT_READ, number)

    def _open_input(self) -> None:
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            if self._input:
                raise ValueError("this program's standard input is no open pipe: start it with stdin=PIPE")
        elif self._input:
            os.set_blocking(stdin.fileno(), False)
            self._selector.register(stdin.fileno(), selectors.EVENT_WRITE, 0)
        else:
            _close(stdin)

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    @property
    def is_done(self) -> bool:
        """Whether the program has ended, and its pipes are at their ends."""
        return not self._selector.get_map()

    def turn(self, timeout: float | None) -> None:
        """Does what can be done, after waiting for it."""
        for key, _ in self._selector.select(timeout):
            if key.data == _CONNECTION:
                if self._process.take_in():
                    self._selector.unregister(key.fd)
            elif key.data == 0:
                self._write(key.fd)
            else:
                self._read(key.fd, key.data)

    def drain(self) -> None:
        """Reads what is there, and waits for nothing."""
        while any(key.data in (1, 2) for key, _ in self._selector.select(0)):
            self.turn(0)

    def read(self) -> tuple[Any, Any]:
        """What the program has written to standard output and standard error so far."""
        return self._joined(1, self._process.stdout), self._joined(2, self._process.stderr)

    def _write(self, descriptor: int) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            written = os.write(descriptor, self._input[:_AT_ONCE])
            self._input = self._input[written:]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._input = self._input[:0]
        if not self._input:
            self._selector.unregister(descriptor)
            _close(stdin)

    def _read(self, descriptor: int, number: int) -> None:
        data = os.read(descriptor, _AT_ONCE)
        if data:
            self._chunks[number].append(data)
            return
        self._selector.unregister(descriptor)
        stream = self._process.stdout if number == 1 else self._process.stderr
        if stream is not None:
            _close(stream)

    def _joined(self, number: int, stream: IO[Any] | None) -> Any:
        if stream is None:
            return None
        data = b"".join(self._chunks[number])
        if isinstance(stream, io.TextIOBase):
            text = data.decode(stream.encoding or "utf-8", stream.errors or "strict")
            return text.replace("\r\n", "\n")
        return data


def _close(stream: IO[Any]) -> None:
    with contextlib.suppress(OSError, ValueError):
        stream.close()


def _bytes(value: str | bytes | None) -> bytes:
    return value.encode() if isinstance(value, str) else value or b""
