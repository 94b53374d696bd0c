"""Labs for asyncio: the same as in `netloom.live`, with what waits as coroutines.

A lab belongs to the event loop in which it was brought up.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from . import _calls
from ._errors import ClosedError, NetloomError, TimeoutExpired
from ._interfaces import Described
from ._progress import progress_writer
from ._protocol import AsyncConnection, Message
from ._settings import Name, Time, nanoseconds, plain
from .live import Event, Live, LiveLink, LiveNode, Now, Output, event_of, fault_text, now_of, report_end
from .live import attach as attach_now
from .process import DEVNULL, FOREVER_NS, PIPE, STDOUT, Command, CompletedProcess, Stream, Streams, argv_of, exec_keys
from .result import Result
from .result import run as run_now

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Unpack

    from ._keys import DirectionKeys
    from .models import Fault, Partition

    P = ParamSpec("P")

T = TypeVar("T")


class AsyncUp:
    """A lab that is about to come up: to be awaited, or used with `async with`."""

    def __init__(self, lab: Described, options: _calls.Options, check: bool) -> None:
        self._lab = lab
        self._options = options
        self._check = check
        self._live: AsyncLive | None = None

    def __await__(self) -> Generator[Any, None, AsyncLive]:
        return self._bring_up().__await__()

    async def _bring_up(self) -> AsyncLive:
        text = self._lab.written()
        starting = asyncio.ensure_future(asyncio.to_thread(_calls.up, text, self._options, progress_writer(False)))
        try:
            found = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The lab is there in a moment, and nobody would take it down.
            found = await starting
            live = Live(found["control_socket"], Path(found["results"]), name=found["lab"], check=False, owned=True)
            await asyncio.to_thread(live.down)
            raise
        live = Live(found["control_socket"], Path(found["results"]), name=found["lab"], check=self._check, owned=True)
        return AsyncLive(live, self._check)

    async def __aenter__(self) -> AsyncLive:
        self._live = await self._bring_up()
        return await self._live.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._live is not None
        await self._live.__aexit__(kind, error, trace)


class AsyncLive:
    """A lab that is up."""

    def __init__(self, live: Live, check: bool) -> None:
        #: The same for callers that block.
        self.sync = live
        self._check = check
        self._loop = asyncio.get_running_loop()

    @property
    def name(self) -> str:
        """Its name."""
        return self.sync.name

    @property
    def clock(self) -> str:
        """`real`, `dilated` or `virtual`."""
        return self.sync.clock

    def __getitem__(self, name: Name) -> AsyncNode:
        """The node of this name."""
        return AsyncNode(self, self.sync.node(name))

    @property
    def nodes(self) -> dict[str, AsyncNode]:
        """All nodes by name."""
        return {name: AsyncNode(self, node) for name, node in self.sync.nodes.items()}

    def link(self, name: Name) -> AsyncLink:
        """The link of this name."""
        return AsyncLink(self, self.sync.link(name))

    async def ask(self, request: str, **keys: object) -> Message:
        """Sends any request of the control protocol, and waits for its reply."""
        connection = await self.connect()
        try:
            return await connection.ask(request, **keys)
        finally:
            connection.close()

    async def info(self) -> Message:
        """What `netloom ps --json` says of it."""
        return await self.ask("info")

    async def stats(self) -> Message:
        """What every pipe and every port of a switch has counted."""
        return await self.ask("stats")

    async def verdict(self) -> Message:
        """See `Live.verdict`."""
        return await self.ask("verdict")

    async def exercise(self) -> Message:
        """See `Live.exercise`."""
        return await self.ask("exercise")

    async def restart(self, name: str) -> None:
        """See `Live.restart`."""
        await self.ask("restart", name=name)

    async def partition(self, entry: Partition) -> None:
        """See `Live.partition`."""
        await self.ask("partition", entry=json.dumps(plain(entry)))

    async def fault(self, entry: Fault | Mapping[str, object] | str) -> None:
        """See `Live.fault`."""
        await self.ask("fault", entry=fault_text(entry))

    async def heal(self) -> None:
        """See `Live.heal`."""
        await self.ask("heal")

    async def now(self) -> Now:
        """What time it is."""
        return now_of(await self.ask("now"))

    async def advance(self, by: Time | float) -> Now:
        """Lets lab time go on by a step, in virtual time, and returns when it is over."""
        return now_of(await self.ask("advance", by_ns=nanoseconds(by)))

    async def pause(self) -> Now:
        """Holds lab time, in virtual time."""
        return now_of(await self.ask("pause"))

    async def resume(self) -> Now:
        """Lets lab time go on by itself, in virtual time."""
        return now_of(await self.ask("resume"))

    async def sleep(self, span: Time | float) -> None:
        """Waits for so much lab time, on any clock; in virtual time, that lets it go on."""
        if self.clock == "virtual":
            await self.advance(span)
        else:
            await asyncio.sleep(nanoseconds(span) / 1e9 * self.sync.dilation)

    async def events(self, *, from_start: bool = False) -> AsyncIterator[Event]:
        """What happens, as it comes, until the lab ends."""
        async for message in self._subscribe(events="lab", from_start=from_start or None):
            found = event_of(message)
            if isinstance(found, Event):
                yield found

    async def output(self, *commands: str, from_start: bool = True) -> AsyncIterator[Output]:
        """What commands and services of the lab file write, as it comes."""
        async for message in self._subscribe(
            events="output", commands=list(commands) or None, from_start=from_start or None
        ):
            found = event_of(message)
            if isinstance(found, Output):
                yield found

    async def samples(self, every: Time | float) -> AsyncIterator[Message]:
        """What all pipes have counted, now and after every step of so much lab time."""
        async for message in self._subscribe(events="stats", every_ns=nanoseconds(every)):
            yield message

    async def connections(self, every: Time | float, *nodes: str) -> AsyncIterator[Message]:
        """The TCP connections of these nodes, or of all, now and after every step of so much lab time."""
        names = list(nodes) or None
        async for message in self._subscribe(events="tcp", every_ns=nanoseconds(every), nodes=names):
            yield message

    async def packets(self, every: Time | float) -> AsyncIterator[Message]:
        """What has become of some packets of each pipe, now and after every step of so much lab time."""
        async for message in self._subscribe(events="packets", every_ns=nanoseconds(every)):
            yield message

    async def _subscribe(self, **keys: object) -> AsyncIterator[Message]:
        connection = await self.connect()
        try:
            await connection.ask("subscribe", **keys)
            while True:
                try:
                    message = await connection.receive()
                except ClosedError:
                    return
                if message.get("event") == "ended":
                    raise NetloomError(f"the lab tells no more: {message.get('because')}")
                yield message
        finally:
            connection.close()

    async def down(self) -> Result:
        """Takes the lab down, and returns what is known of it."""
        self.ensure_loop()
        return await asyncio.to_thread(self.sync.down)

    async def connect(self) -> AsyncConnection:
        """A further connection to it."""
        self.ensure_loop()
        self.sync._ensure_up()  # pyright: ignore[reportPrivateUsage]
        return await AsyncConnection.open(self.sync.socket_path)

    def ensure_loop(self) -> None:
        """Makes sure that this is the loop that it belongs to.

        Raises:
            ClosedError: It is another one.
        """
        if asyncio.get_running_loop() is not self._loop:
            raise ClosedError(
                f"lab `{self.name}` was brought up in another event loop: use it there, or bring it up in this one"
            )

    async def __aenter__(self) -> AsyncLive:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        result = await asyncio.shield(self.down())
        report_end(self.name, result, self._check and kind is None)


@dataclass(frozen=True)
class AsyncNode:
    """A node of a lab that is up."""

    lab: AsyncLive
    #: The same for callers that block.
    sync: LiveNode

    @property
    def name(self) -> str:
        """Its name."""
        return self.sync.name

    @property
    def address(self) -> str:
        """Its first address."""
        return self.sync.address

    async def stop(self) -> None:
        """See `LiveNode.stop`."""
        await self.lab.ask("stop", node=self.name)

    async def start(self) -> None:
        """See `LiveNode.start`."""
        await self.lab.ask("start", node=self.name)

    async def popen(
        self,
        command: Command,
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        user: str | int | None = None,
    ) -> AsyncPopen:
        """Starts a program; pipes carry bytes, as those of `asyncio.create_subprocess_exec`."""
        argv = argv_of(command)
        connection = await self.lab.connect()
        streams = Streams(stdin, stdout, stderr)
        try:
            await connection.ask("exec", streams.theirs, **exec_keys(self.name, argv, env, cwd, user, False))
        except BaseException:
            streams.close()
            connection.close()
            raise
        return await AsyncPopen.of(self, argv, connection, streams)

    async def run(
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
        """Runs a program to its end: see `LiveNode.run`."""
        pipe = PIPE if capture else None
        stdin = DEVNULL if input is None else PIPE
        process = await self.popen(command, stdin=stdin, stdout=pipe, stderr=pipe, env=env, cwd=cwd, user=user)
        try:
            data = input.encode() if isinstance(input, str) else input
            out, err = await process.communicate(data, timeout)
        finally:
            process.close()
        assert process.returncode is not None
        show = (lambda each: None if each is None else each.decode(errors="replace")) if text else (lambda each: each)
        done = CompletedProcess(process.args, self.name, process.returncode, show(out), show(err))
        if check:
            done.check_returncode()
        return done

    async def shell(self, command: str, **options: Any) -> str:
        """What a shell command writes to standard output, without the last line's end."""
        return str((await self.run(command, check=True, **options)).stdout).removesuffix("\n")

    async def python(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls a Python function inside the node: see `LiveNode.python`."""
        return await asyncio.to_thread(self.sync.python, function, *args, **kwargs)

    def socket(self, *arguments: Any, **keys: Any) -> Any:
        """Opens a socket in the node's network: see `LiveNode.socket`. Set it to non-blocking for asyncio."""
        return self.sync.socket(*arguments, **keys)


class AsyncPopen:
    """A program that runs in a node."""

    def __init__(self, node: AsyncNode, argv: list[str], connection: AsyncConnection) -> None:
        self.node = node
        self.args = argv
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._connection = connection
        self._transports: list[asyncio.BaseTransport] = []
        self._sending = asyncio.Lock()
        self._paused = asyncio.Event()
        self._ended = asyncio.ensure_future(self._listen())

    @classmethod
    async def of(cls, node: AsyncNode, argv: list[str], connection: AsyncConnection, streams: Streams) -> AsyncPopen:
        """A program that has started."""
        process = cls(node, argv, connection)
        stdin, stdout, stderr = streams.take()
        if stdin is not None:
            process.stdin = await process._writer(stdin)
        if stdout is not None:
            process.stdout = await process._reader(stdout)
        if stderr is not None:
            process.stderr = await process._reader(stderr)
        return process

    async def wait(self, timeout: float | None = None) -> int:
        """Waits for its end; its exit code. In virtual time, lab time goes on meanwhile if it is paused.

        Raises:
            TimeoutExpired: It has not ended within so many seconds of lab time.
        """
        advances = await self._go_on(timeout)
        if advances:
            await self._paused.wait()
            if self.returncode is None:
                raise TimeoutExpired(self.args, self.node.name, timeout or 0.0)
            return self.returncode
        wall = None if timeout is None else timeout * self.node.lab.sync.dilation
        try:
            return await asyncio.wait_for(asyncio.shield(self._ended), wall)
        except (asyncio.TimeoutError, TimeoutError):
            raise TimeoutExpired(self.args, self.node.name, timeout or 0.0) from None

    async def communicate(
        self, input: bytes | None = None, timeout: float | None = None
    ) -> tuple[bytes | None, bytes | None]:
        """Writes to it, reads all that it writes, and waits for its end."""
        reading = [asyncio.ensure_future(_read(each)) for each in (self.stdout, self.stderr)]
        writing = asyncio.ensure_future(self._write(input))
        try:
            await self.wait(timeout)
            # What is in the pipes now is all, unless something that it has started has them, too.
            if self.node.lab.clock == "virtual":
                await asyncio.wait(reading, timeout=1)
            else:
                await asyncio.gather(*reading)
        except BaseException:
            self.kill_soon()
            raise
        finally:
            writing.cancel()
            for each in reading:
                if not each.done():
                    each.cancel()
        out, err = (each.result() if each.done() and not each.cancelled() else b"" for each in reading)
        return out, err

    async def send_signal(self, signal: int) -> None:
        """Sends a signal to it, unless it has ended."""
        if self.returncode is None:
            async with self._sending:
                await self._connection.send("signal", signal=int(signal))

    async def terminate(self) -> None:
        """Asks it to end."""
        await self.send_signal(15)

    async def kill(self) -> None:
        """Ends it."""
        await self.send_signal(9)

    def kill_soon(self) -> None:
        """Leaves it to the lab, which asks it to end when nobody is interested any more."""
        self.close()

    def close(self) -> None:
        """Closes its streams; a program that still runs is asked to end."""
        self._ended.cancel()
        for transport in self._transports:
            transport.close()
        self._connection.close()

    async def _go_on(self, timeout: float | None) -> bool:
        lab = self.node.lab
        if lab.clock != "virtual" or self.returncode is not None or not (await lab.now()).paused:
            return False
        length = FOREVER_NS if timeout is None else round(timeout * 1e9)
        until_exit = True if lab.sync.offers("until_exit") else None
        self._paused.clear()
        async with self._sending:
            await self._connection.send(
                "advance", by_ns=length if until_exit else min(length, 10_000_000), until_exit=until_exit
            )
        return True

    async def _listen(self) -> int:
        """Until it has ended, and the time that went on for it is paused again."""
        while True:
            try:
                message = await self._connection.receive()
            except ClosedError:
                message = {"reply": "exited", "code": 137}
                self._paused.set()
            match message.get("reply"):
                case "exited":
                    self.returncode = int(message["code"])
                    if self.node.lab.clock != "virtual" or self._paused.is_set():
                        return self.returncode
                case "now" if self.returncode is None and not self.node.lab.sync.offers("until_exit"):
                    async with self._sending:
                        await self._connection.send("advance", by_ns=10_000_000)
                case "now" | "refused":
                    self._paused.set()
                    if self.returncode is not None:
                        return self.returncode
                case _:
                    pass

    async def _write(self, data: bytes | None) -> None:
        if self.stdin is None:
            return
        try:
            if data:
                self.stdin.write(data)
                await self.stdin.drain()
            self.stdin.close()
        except (BrokenPipeError, ConnectionResetError):
            pass

    async def _reader(self, number: int) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(number, "rb")
        )
        self._transports.append(transport)
        return reader

    async def _writer(self, number: int) -> asyncio.StreamWriter:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(number, "wb"))
        self._transports.append(transport)
        return asyncio.StreamWriter(transport, protocol, None, loop)


@dataclass(frozen=True)
class AsyncLink:
    """A link of a lab that is up."""

    lab: AsyncLive
    #: The same for callers that block.
    sync: LiveLink

    @property
    def name(self) -> str:
        """Its name."""
        return self.sync.name

    async def set(self, **keys: Unpack[DirectionKeys]) -> None:
        """Changes its settings at once: see `LiveLink.set`."""
        self.lab.ensure_loop()
        self.sync.set(**keys)

    async def down(self, for_: Time | None = None, *, carrier: bool = False) -> None:
        """Cuts it, for so much lab time or until `up`."""
        self.lab.ensure_loop()
        self.sync.down(for_, carrier=carrier)

    async def up(self) -> None:
        """Restores it."""
        self.lab.ensure_loop()
        self.sync.up()

    async def stats(self) -> list[dict[str, Any]]:
        """What its pipes have counted."""
        return [pipe for pipe in (await self.lab.stats())["pipes"] if pipe.get("link") == self.name]


async def _read(stream: asyncio.StreamReader | None) -> bytes | None:
    return None if stream is None else await stream.read()


async def run(lab: Described, **options: Any) -> Result:
    """See `Lab.run`. If it is cancelled, the run ends, too."""
    progress, check = options.pop("progress", False), options.pop("check", False)
    task = asyncio.ensure_future(asyncio.to_thread(run_now, lab, _calls.Options(**options), progress, check))
    return await task


@asynccontextmanager
async def attach(name: str) -> AsyncGenerator[AsyncLive]:
    """A lab that somebody else has brought up."""
    live = await asyncio.to_thread(attach_now, name)
    try:
        yield AsyncLive(live, False)
    finally:
        live.close()


__all__ = ["DEVNULL", "PIPE", "STDOUT", "AsyncLink", "AsyncLive", "AsyncNode", "AsyncPopen", "AsyncUp", "attach", "run"]
