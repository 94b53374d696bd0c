"""A bash on a terminal of its own, in a node or on this machine, which takes one command after another."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shlex
import subprocess
import tempfile
import termios
import time
from typing import TYPE_CHECKING

from .._errors import ClosedError, NetloomError

if TYPE_CHECKING:
    from .._protocol import Connection
    from ..live import Live

#: What a prompt looks like: two of a character that no program writes, and between them the last background program.
PROMPT = re.compile(r"\x7f(\d*)\x7f$")
_ANY_PROMPT = re.compile(r"\x7f\d*\x7f")
_PS1 = "\x7f$!\x7f"
#: A terminal takes no longer lines.
_LONGEST = 2000
_ARGV = ["bash", "--norc", "--noediting", "-is"]


class Shell:
    """A bash, and what it has written that nobody has read yet."""

    def __init__(
        self, name: str, live: Live | None, node: str | None, cwd: str | None = None, has_kernel: bool = False
    ) -> None:
        self.name = name
        self._connection: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._files: list[str] = []
        self.master, slave = pty.openpty()
        self.slave = slave
        os.set_inheritable(self.master, False)
        try:
            _without_echo(slave)
            env = {**os.environ, "PATH": search_path(), "PS1": _PS1, "PS2": "", "HISTFILE": "", "TERM": "dumb"}
            argv = [*_ARGV, f"mininet:{name}"]
            if live is not None and node is not None:
                self._connection = live.connect()
                self._connection.ask(
                    "exec", [slave] * 3, node=node, argv=argv, env=[[key, value] for key, value in env.items()],
                    cwd=cwd or os.getcwd(), terminal=True,
                )  # fmt: skip
            else:
                self._process = subprocess.Popen(
                    ["setsid", "-c", *argv], stdin=slave, stdout=slave, stderr=slave, env=env, cwd=cwd, close_fds=True
                )
        except BaseException:
            os.close(self.master)
            if self._connection is not None:
                self._connection.close()
            raise
        finally:
            os.close(slave)
        self.buffer = ""
        self._decode = _Decoder()
        # A kernel of its own has terminals of its own.
        self.write("set +m; stty -echo\n" if has_kernel else "set +m\n")
        self._greeted = False
        #: Whether Ctrl-C was typed since the last command, and how many marks there were.
        self._is_interrupted = False
        self._marks = 0

    def greet(self) -> None:
        """Waits until the shell is there."""
        if self._greeted:
            return
        self._greeted = True
        while len(_ANY_PROMPT.findall(self.buffer)) < 2:
            self.read(None)
        self.buffer = ""

    @property
    def pid(self) -> int | None:
        """Its process on this machine, if it is one of this machine's."""
        return self._process.pid if self._process else None

    def fileno(self) -> int:
        """What can be waited for."""
        return self.master

    def interrupt(self, key: str = "\x03") -> None:
        """Types Ctrl-C, which gives a prompt more if nothing runs (any more)."""
        self._is_interrupted = True
        self.write(key)

    def _await_prompts(self) -> None:
        """Reads all prompts that an interrupt has given, up to the one behind a mark; a shell that is interrupted may forget what was typed."""
        self._is_interrupted = False
        is_there = False
        while not is_there:
            self._marks += 1
            mark = f"\x7e{self._marks}\x7e"
            self.write(f"printf '\\x7e%d\\x7e' {self._marks}\n")
            end = time.monotonic() + 0.5
            while not is_there and (rest := end - time.monotonic()) > 0:
                self.read(rest)
                is_there = mark in self.buffer and bool(PROMPT.search(self.buffer.rpartition(mark)[2]))
        self.buffer = ""

    def write(self, text: str) -> None:
        """Types text."""
        data = text.encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(self.master, data) :]

    def send(self, command: str) -> None:
        """Types a command."""
        self.greet()
        if self._is_interrupted:
            self._await_prompts()
        if len(command) > _LONGEST:
            with tempfile.NamedTemporaryFile("w", prefix="nlmn-", suffix=".sh", delete=False) as file:
                file.write(command + "\n")
            os.chmod(file.name, 0o644)
            self._files.append(file.name)
            command = f". {shlex.quote(file.name)}"
        elif "\n" in command.strip():
            command = f"eval {shlex.quote(command)}"
        self.write(command.rstrip("\n") + "\n")

    def readable(self, timeout: float | None) -> bool:
        """Whether there is something to read within so many seconds; for ever if none are given."""
        poll = select.poll()
        poll.register(self.master, select.POLLIN)
        return bool(poll.poll(None if timeout is None else timeout * 1000))

    def read(self, timeout: float | None) -> str:
        """Reads what has come, waiting for it if need be.

        Raises:
            NetloomError: The shell has ended.
        """
        if not self.readable(timeout):
            return ""
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        if not data:
            raise NetloomError(f"the shell of {self.name} has ended")
        text = self._decode(data)
        self.buffer += text
        return text

    def run(self, command: str) -> str:
        """Runs a command to its end; what it writes, and what it writes to standard error."""
        self.send(command)
        while not PROMPT.search(self.buffer):
            self.read(None)
        text, self.buffer = PROMPT.sub("", self.buffer), ""
        return text

    def close(self) -> None:
        """Ends it, and what it has in the foreground."""
        with contextlib.suppress(OSError):
            os.close(self.master)
        if self._connection is not None:
            with contextlib.suppress(ClosedError, OSError):
                self._connection.close()
        if self._process is not None:
            _end(self._process)
        for path in self._files:
            with contextlib.suppress(OSError):
                os.unlink(path)


class _Decoder:
    """Bytes as text, also where a character comes in two parts."""

    def __init__(self) -> None:
        import codecs

        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __call__(self, data: bytes) -> str:
        return self._decoder.decode(data)


def search_path() -> str:
    """Where programs are: those of administrators, too, which an ordinary user's path often lacks."""
    own = os.environ.get("PATH", os.defpath).split(":")
    return ":".join([*own, *(each for each in ("/usr/local/sbin", "/usr/sbin", "/sbin") if each not in own)])


def _without_echo(terminal: int) -> None:
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def _end(process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 1
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
        # An interactive shell ignores the wish; its terminal is gone, however.
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        process.kill()
    process.wait()
