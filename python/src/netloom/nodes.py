"""Nodes of labs that are up."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _files, _inside
from ._errors import NetloomError, TimeoutExpired
from .process import DEVNULL, PIPE, Command, CompletedProcess, Popen, Stream

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    from .live import Live

    P = ParamSpec("P")

T = TypeVar("T")


class LiveNode:
    """A node of a lab that is up."""

    def __init__(self, lab: Live, described: Mapping[str, Any]) -> None:
        self.lab = lab
        #: What the lab says of it: its kind, interfaces, addresses.
        self.described = described

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.described["name"])

    @property
    def addresses(self) -> list[str]:
        """Its addresses, without prefix lengths, in the order of its interfaces."""
        interfaces = self.described.get("interfaces", [])
        found = [address for interface in interfaces for address in interface.get("addresses", [])]
        return [str(address).split("/")[0] for address in found]

    @property
    def address(self) -> str:
        """Its first address of IPv4, or else its first one.

        Raises:
            NetloomError: It has none.
        """
        found = self.addresses
        if not found:
            raise NetloomError(f"node `{self.name}` has no address")
        return next((address for address in found if ":" not in address), found[0])

    @property
    def state(self) -> str:
        """Whether it runs just now: `running`, `stopping`, `stopped` or `starting`."""
        nodes = self.lab.topology()["nodes"]
        return str(next(node["state"] for node in nodes if node["name"] == self.name))

    def stop(self) -> None:
        """Stops it: its links are cut, its programs end, and its network goes. Returns when that is done; at once where lab time stands still.

        Raises:
            RefusedError: It has stopped already, or cannot be stopped.
        """
        self.lab.ask("stop", node=self.name)

    def start(self) -> None:
        """Starts it, once it has stopped, as at the beginning of the lab. Returns when its services are ready; at once where lab time stands still.

        Raises:
            RefusedError: It runs, or something that starts with it fails.
        """
        self.lab.ask("start", node=self.name)

    def popen(
        self,
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
    ) -> Popen:
        """Starts a program, and returns while it runs.

        Args:
            command: Text for a shell, or a program and its arguments.
            stdin: Its standard input: `PIPE`, `DEVNULL`, a descriptor or a file; this process's own if none is given.
            stdout: Its standard output.
            stderr: Its standard error; `STDOUT` puts it there, too.
            text: Whether pipes carry text rather than bytes.
            encoding: The encoding of text; UTF-8 if none is given.
            errors: What becomes of bytes that are no text; they are replaced if nothing is said.
            env: Variables for its environment, beside the node's.
            cwd: The folder that it starts in; this process's own if none is given.
            user: The user that it runs as, by name or number.

        Raises:
            RefusedError: It cannot be started: there is no such program, folder or user.
        """
        return Popen(
            self, command, stdin=stdin, stdout=stdout, stderr=stderr, text=text, encoding=encoding, errors=errors,
            env=env, cwd=cwd, user=user,
        )  # fmt: skip

    def run(
        self,
        command: Command,
        *,
        input: str | bytes | None = None,
        capture: bool = True,
        timeout: float | None = None,
        check: bool = False,
        text: bool = True,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        user: str | int | None = None,
    ) -> CompletedProcess:
        """Runs a program to its end. In virtual time, lab time goes on meanwhile.

        Args:
            command: Text for a shell, or a program and its arguments.
            input: What it reads.
            capture: Whether what it writes is kept in `stdout` and `stderr`, rather than shown.
            timeout: After how many seconds of lab time it is ended.
            check: Whether to raise an error if its exit code is not 0.
            text: Whether it reads and writes text rather than bytes.
            env: Variables for its environment, beside the node's.
            cwd: The folder that it starts in; this process's own if none is given.
            user: The user that it runs as, by name or number.

        Raises:
            RefusedError: It cannot be started.
            TimeoutExpired: It took too long.
            CalledProcessError: With `check`: it has failed.
        """
        pipe = PIPE if capture else None
        process = Popen(
            self, command, stdin=DEVNULL if input is None else PIPE, stdout=pipe, stderr=pipe, text=text, env=env, cwd=cwd,
            user=user,
        )  # fmt: skip
        try:
            stdout, stderr = process.communicate(input, timeout)
        except TimeoutExpired:
            process.kill()
            raise
        finally:
            process.close()
        assert process.returncode is not None
        done = CompletedProcess(process.args, self.name, process.returncode, stdout, stderr)
        if check:
            done.check_returncode()
        return done

    def shell(self, command: str, **options: Any) -> str:
        """What a shell command writes to standard output, without the last line's end.

        Raises:
            CalledProcessError: It has failed.
        """
        return str(self.run(command, check=True, **options).stdout).removesuffix("\n")

    def python(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls a Python function inside the node, in an interpreter of its own, and returns what it returns.

        The function, its arguments and its value go there and back as pickles: a function must have a name in a module,
        unless the package `cloudpickle` is installed. What it prints is shown on standard error. What it raises is raised here.
        """
        return _inside.call(self, function, args, kwargs)

    def socket(
        self,
        kind: Literal["stream", "dgram", "seqpacket", "raw"] = "stream",
        *,
        family: Literal["inet", "inet6"] | None = None,
        protocol: int | None = None,
        bind: str | tuple[str, int] | None = None,
        connect: str | tuple[str, int] | None = None,
        listen: int | None = None,
    ) -> socket.socket:
        """Opens a socket in the node's network, which this process uses as its own.

        Args:
            kind: Its type: TCP is `stream`, UDP is `dgram`.
            family: `inet` or `inet6`; that of the addresses if none is given.
            protocol: The number of the protocol.
            bind: Its own address and port.
            connect: The address and port that it is connected to.
            listen: How many connections may wait.
        """
        bound, connected = _address(self.lab, bind), _address(self.lab, connect)
        if family is None and any(address and address.startswith("[") for address in (bound, connected)):
            family = "inet6"
        connection = self.lab.connect()
        try:
            connection.ask(
                "socket",
                node=self.name,
                type=kind,
                family=family,
                protocol=protocol,
                bind=bound,
                connect=connected,
                listen=listen,
            )
            return socket.socket(fileno=connection.take_descriptor())
        finally:
            connection.close()

    def put(self, source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
        """Copies a file or folder of this machine into the node."""
        _files.put(self, os.fspath(source), os.fspath(target))

    def get(self, source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
        """Copies a file or folder of the node to this machine."""
        _files.get(self, os.fspath(source), os.fspath(target))

    def read_bytes(self, path: str | os.PathLike[str]) -> bytes:
        """The contents of a file of the node."""
        return _files.read(self, os.fspath(path))

    def read_text(self, path: str | os.PathLike[str], encoding: str = "utf-8") -> str:
        """The same as text."""
        return self.read_bytes(path).decode(encoding)

    def write_bytes(self, path: str | os.PathLike[str], data: bytes) -> None:
        """Writes a file of the node."""
        _files.write(self, os.fspath(path), data)

    def write_text(self, path: str | os.PathLike[str], text: str, encoding: str = "utf-8") -> None:
        """The same with text."""
        self.write_bytes(path, text.encode(encoding))

    def __repr__(self) -> str:
        return f"<node {self.name} of {self.lab!r}>"


def _address(lab: Live, value: str | tuple[str, int] | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    host, port = value
    if host in lab.nodes:
        host = lab.nodes[host].address
    host = host or "0.0.0.0"
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
