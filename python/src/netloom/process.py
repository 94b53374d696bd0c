"""Programs in nodes, as `subprocess` has them."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, Literal, NoReturn, Union

from ._errors import CalledProcessError, ClosedError, TimeoutExpired
from ._exchange import Exchange

if TYPE_CHECKING:
    from .live import LiveNode

#: What a program is: text for a shell, or a program and its arguments.
Command = Union[str, Sequence[Union[str, "os.PathLike[str]"]]]
#: What goes to or comes from a program: `PIPE`, `STDOUT`, `DEVNULL`, a descriptor or an open file.
Stream = Union[int, IO[Any], None]

PIPE: Final = subprocess.PIPE
STDOUT: Final = subprocess.STDOUT
DEVNULL: Final = subprocess.DEVNULL

#: As long as a lab in virtual time may need to end a program; nobody waits for more.
FOREVER_NS: Final = (1 << 63) - 1
#: How far time goes at once in a lab that cannot stop it at the end of a program.
STEP_NS: Final = 10_000_000


def argv_of(command: Command) -> list[str]:
    """The program and its arguments; text goes to a shell.

    Raises:
        TypeError: It is neither text nor a list of texts.
        ValueError: It is empty.
    """
    if isinstance(command, str):
        return ["/bin/sh", "-c", command]
    if isinstance(command, (bytes, Mapping)) or not isinstance(command, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a command is text for a shell, or a list with a program and its arguments, not {command!r}")
    if not command:
        raise ValueError("a command is a program and its arguments: this list is empty")
    return [os.fspath(part) for part in command]


@dataclass
class CompletedProcess:
    """A program in a node that has ended."""

    argv: list[str]
    #: The node that it ran in.
    node: str
    #: Its exit code; 128 and the number of the signal if one has ended it.
    returncode: int
    stdout: Any = None
    stderr: Any = None

    def check_returncode(self) -> None:
        """Raises an error if it has failed.

        Raises:
            CalledProcessError: Its exit code is not 0.
        """
        if self.returncode:
            raise CalledProcessError(self.argv, self.node, self.returncode, self.stdout, self.stderr)


class Popen:
    """A program that runs in a node.

    Its streams, `poll`, `wait`, `communicate`, `send_signal`, `terminate` and `kill` are those of `subprocess.Popen`. In
    virtual time it runs only while lab time goes on: see `Live.advance`.
    """

    def __init__(
        self,
        node: LiveNode,
        command: Command,
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        text: bool = True,
        encoding: str | None = None,
        errors: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        user: str | int | None = None,
        terminal: bool = False,
    ) -> None:
        self.args = argv_of(command)
        self.node = node
        self.returncode: int | None = None
        self.stdin: IO[Any] | None = None
        self.stdout: IO[Any] | None = None
        self.stderr: IO[Any] | None = None
        self._lock = threading.RLock()
        #: Whether lab time goes on because of this program, and for how much longer it may.
        self._advances = False
        self._left_ns = 0
        self._connection = node.lab.connect()
        streams = Streams(stdin, stdout, stderr)
        try:
            self._connection.ask("exec", streams.theirs, **exec_keys(node.name, self.args, env, cwd, user, terminal))
        except BaseException:
            streams.close()
            self._connection.close()
            raise
        opened = streams.open(text, encoding, errors)
        self.stdin, self.stdout, self.stderr = opened

    def poll(self) -> int | None:
        """Its exit code, or none while it runs."""
        with self._lock:
            while self.returncode is None and (message := self._pending()) is not None:
                self._take(message)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end; its exit code. In virtual time, lab time goes on meanwhile if it is paused.

        Raises:
            TimeoutExpired: It has not ended within so many seconds of lab time.
        """
        with self._lock:
            if self.returncode is None:
                with Exchange(self, None, pipes=False) as exchange:
                    self._run_to_end(exchange, timeout)
            assert self.returncode is not None
            return self.returncode

    def communicate(self, input: str | bytes | None = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Writes to it, reads all that it writes, and waits for its end.

        Raises:
            TimeoutExpired: It has not ended within so many seconds of lab time.
        """
        with self._lock, Exchange(self, input, pipes=True) as exchange:
            self._run_to_end(exchange, timeout)
            return exchange.read()

    def send_signal(self, signal_: int) -> None:
        """Sends a signal to it, unless it has ended."""
        if self.poll() is not None:
            return
        with self._lock, contextlib.suppress(ClosedError):
            self._connection.send("signal", signal=int(signal_))

    def terminate(self) -> None:
        """Asks it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it."""
        self.send_signal(signal.SIGKILL)

    def fileno(self) -> int:
        """The connection to the lab, to be waited for."""
        return self._connection.fileno()

    def close(self) -> None:
        """Closes its streams; a program that still runs is asked to end."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()
        self._connection.close()

    def _run_to_end(self, exchange: Exchange, timeout: float | None) -> None:
        """Until it has ended, and its pipes are read to their ends."""
        lab = self.node.lab
        clock = lab.clock
        if clock == "virtual" and self.returncode is None and lab.now.paused:
            self._advance(timeout)
        goes_on = self._advances
        end = None if timeout is None or clock == "virtual" else time.monotonic() + timeout * lab.dilation
        while not exchange.is_done:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                self._expired(timeout, exchange)
            exchange.turn(left)
            if goes_on and not self._advances:
                # Time is paused again: nothing more comes.
                exchange.drain()
                break
        if self.returncode is None:
            self._expired(timeout, exchange)

    def _expired(self, timeout: float | None, exchange: Exchange) -> NoReturn:
        raise TimeoutExpired(self.args, self.node.name, timeout or 0.0, *exchange.read())

    def _advance(self, timeout: float | None) -> None:
        """Lets lab time go on until it has ended."""
        self._left_ns = FOREVER_NS if timeout is None else round(timeout * 1e9)
        self._advances = True
        self._step()

    def _step(self) -> None:
        if self.node.lab.offers("until_exit"):
            length, self._left_ns = self._left_ns, 0
            self._connection.send("advance", by_ns=length, until_exit=True)
        else:
            length = min(STEP_NS, self._left_ns)
            self._left_ns -= length
            self._connection.send("advance", by_ns=length)

    def _pending(self) -> dict[str, Any] | None:
        try:
            return self._connection.pending()
        except ClosedError:
            # The lab has ended, and with it every program.
            self._advances = False
            return {"reply": "exited", "code": 128 + int(signal.SIGKILL)}

    def _take(self, message: dict[str, Any]) -> None:
        match message.get("reply"):
            case "exited":
                self.returncode = int(message["code"])
            case "now" if self.returncode is None and self._left_ns > 0:
                self._step()
            case "now":
                self._advances = False
            case "refused" if self._advances and self.returncode is None:
                # Somebody else lets time go on just now.
                time.sleep(0.005)
                self._left_ns = max(self._left_ns, FOREVER_NS)
                self._step()
            case "refused":
                self._advances = False
            case _:
                pass

    @property
    def has_ended(self) -> bool:
        """Whether nothing more is to come from it."""
        return self.returncode is not None and not self._advances

    def take_in(self) -> bool:
        """Takes in what the lab has said; whether nothing more is to come."""
        while (message := self._pending()) is not None:
            self._take(message)
            if self.has_ended:
                return True
        return False

    def __enter__(self) -> Popen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()
        try:
            if kind is None:
                self.wait()
        finally:
            self._connection.close()

    def __repr__(self) -> str:
        state = "runs" if self.returncode is None else f"ended with {self.returncode}"
        return f"<{shlex.join(self.args)[:60]!r} in {self.node.name}: {state}>"


def exec_keys(
    node: str,
    argv: list[str],
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
    user: str | int | None,
    terminal: bool,
) -> dict[str, object]:
    """The keys of a request that starts a program."""
    return {
        "node": node,
        "argv": argv,
        "env": [[str(key), str(value)] for key, value in (env or {}).items()],
        "cwd": os.fspath(cwd) if cwd is not None else os.getcwd(),
        "user": None if user is None else str(user),
        "terminal": terminal or None,
    }


class Streams:
    """The three streams of a program that is about to start: its ends, and ours."""

    def __init__(self, stdin: Stream, stdout: Stream, stderr: Stream) -> None:
        self._close: list[int] = []
        self._ours: list[int | None] = []
        self.theirs: list[int] = []
        try:
            self._add(stdin, 0)
            self._add(stdout, 1)
            if stderr == STDOUT and isinstance(stderr, int):
                self.theirs.append(self.theirs[1])
                self._ours.append(None)
            else:
                self._add(stderr, 2)
        except BaseException:
            self.close()
            raise

    def _add(self, wanted: Stream, number: int) -> None:
        ours = None
        if wanted is None:
            theirs = _own(number, self._close)
        elif isinstance(wanted, int) and wanted == PIPE:
            read, write = os.pipe()
            theirs, ours = (read, write) if number == 0 else (write, read)
            self._close.append(theirs)
        elif isinstance(wanted, int) and wanted == DEVNULL:
            theirs = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            self._close.append(theirs)
        elif isinstance(wanted, int):
            theirs = wanted
        else:
            theirs = wanted.fileno()
        self._ours.append(ours)
        self.theirs.append(theirs)

    def take(self) -> list[int | None]:
        """Our ends, when the program has its own."""
        for number in self._close:
            os.close(number)
        self._close = []
        return self._ours

    def open(
        self, text: bool, encoding: str | None, errors: str | None
    ) -> tuple[IO[Any] | None, IO[Any] | None, IO[Any] | None]:
        """Our ends as files."""
        found: list[IO[Any] | None] = []
        modes: tuple[Literal["wb", "rb"], ...] = ("wb", "rb", "rb")
        for number, mode in zip(self.take(), modes):
            if number is None:
                found.append(None)
                continue
            file = open(number, mode, buffering=-1 if mode == "rb" else 0)
            if text or encoding or errors:
                wrapped = io.TextIOWrapper(
                    file, encoding=encoding or "utf-8", errors=errors or "replace", write_through=True
                )  # pyright: ignore[reportArgumentType]
                found.append(wrapped)
            else:
                found.append(file)
        return found[0], found[1], found[2]

    def close(self) -> None:
        """Closes everything."""
        for number in [*self._close, *(ours for ours in self._ours if ours is not None)]:
            with contextlib.suppress(OSError):
                os.close(number)
        self._close, self._ours = [], []


def _own(number: int, close: list[int]) -> int:
    """This process's own stream, or nothing if it has none."""
    try:
        os.fstat(number)
    except OSError:
        number = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        close.append(number)
    return number


__all__ = ["DEVNULL", "PIPE", "STDOUT", "Command", "CompletedProcess", "Popen", "Stream", "argv_of"]
