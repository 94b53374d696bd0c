"""Helpers that scripts use: programs of this machine, addresses, numbers, classes with parameters."""

from __future__ import annotations

import os
import re
import select
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ._clear import Unsupported, meant
from .log import debug, error, info, output, warn

#: The flavours of Python that scripts ask about.
Python3 = True
BaseString = str
Encoding = "utf-8"


def decode(data: Any) -> str:
    """Bytes as text; text stays as it is."""
    return data.decode(Encoding, "replace") if isinstance(data, bytes) else str(data)


def encode(text: str) -> bytes:
    """Text as bytes."""
    return text.encode(Encoding)


def __getattr__(name: str) -> Any:
    if name == "pexpect":
        try:
            import pexpect  # pyright: ignore[reportMissingModuleSource, reportMissingImports]
        except ImportError:
            return None
        return _TextPexpect(pexpect)
    from ._names import other

    return other("util", name, globals())


class _TextPexpect:
    """The module `pexpect`, whose `spawn` speaks text."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.spawn = module.spawnu

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


# Programs of this machine


def checkRun(cmd: str) -> int:
    """Runs a command; raises an error if it fails."""
    from . import _sysctls

    _sysctls.of_machine(cmd)
    return subprocess.check_call(cmd.split(" "))


def oldQuietRun(*cmd: Any) -> str:
    """See `quietRun`."""
    return quietRun(*cmd)


def errRun(*cmd: Any, **kwargs: Any) -> tuple[str, str, int]:
    """Runs a command on this machine; what it writes, what it complains of, and its exit code.

    `shell=True` gives the text to a shell, `echo=True` prints what is written.
    """
    echo, shell = kwargs.pop("echo", False), kwargs.pop("shell", None)
    if len(cmd) == 1:
        words: Any = cmd[0]
        if isinstance(words, str):
            argv: Any = words if shell else shlex.split(words)
        else:
            argv = [str(word) for word in words]
    else:
        argv = [str(word) for word in cmd]
    if shell is None:
        shell = False
    if shell and not isinstance(argv, str):
        argv = " ".join(argv)
    debug("***", argv, "\n")
    from . import _sysctls

    if isinstance(argv, str):
        argv = _sysctls.of_machine(argv)
    else:
        _sysctls.of_machine(" ".join(argv))
    try:
        done = subprocess.run(argv, shell=shell, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as found:
        return "", f"{found}\n", 127
    out, err = decode(done.stdout), decode(done.stderr)
    if echo:
        info(out)
        info(err)
    return out, err, done.returncode


def errFail(*cmd: Any, **kwargs: Any) -> tuple[str, str, int]:
    """The same; raises an error if the command fails."""
    out, err, code = errRun(*cmd, **kwargs)
    if code:
        raise Exception(f"errFail: {cmd} failed with return code {code}: {err}")
    return out, err, code


def quietRun(cmd: Any, **kwargs: Any) -> str:
    """Runs a command on this machine; what it writes and complains of."""
    if "CONFIG_RT_GROUP_SCHED" in str(cmd):
        # Whether hosts may have real-time limits: labs have none, whatever this machine's kernel has.
        return "# CONFIG_RT_GROUP_SCHED is not set\n"
    return "".join(errRun(cmd, **kwargs)[:2])


def which(cmd: str, **kwargs: Any) -> str:
    """Where a program of this machine is, empty if nowhere."""
    import shutil

    return shutil.which(cmd) or ""


def isShellBuiltin(cmd: str) -> bool:
    """Whether bash has this command itself."""
    if not _builtins:
        _builtins.update(quietRun(["bash", "-c", "enable"]).split())
    return (cmd.split() or [""])[0] in _builtins


_builtins: set[str] = set()


# Interfaces


def makeIntfPair(intf1: str, intf2: str, *args: Any, **kwargs: Any) -> tuple[str, str]:
    """Refused: interfaces come with links."""
    raise Unsupported(
        f"netloom: makeIntfPair({intf1!r}, {intf2!r}) cannot work here: interfaces are ends of links, "
        "use Link(node1, node2, intfName1=..., intfName2=...)"
    )


def retry(retries: int, delaySecs: float, fn: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """Calls a function until it is true, so many times at most."""
    result = None
    for _ in range(retries):
        result = fn(*args, **keywords)
        if result:
            return result
        time.sleep(delaySecs)
    error(f"*** gave up after {retries} retries\n")
    raise SystemExit(1)


def moveIntf(intf: str, dstNode: Any, *args: Any, **kwargs: Any) -> bool:
    """Refused, see `makeIntfPair`."""
    raise Unsupported(
        f"netloom: moveIntf({intf!r}, {dstNode}) cannot work here: an interface stays in the node of its link"
    )


# What is connected to what


def dumpNodeConnections(nodes: list[Any]) -> None:
    """Says to what each node is connected."""
    for node in nodes:
        info(node.name)
        for intf in node.intfList():
            info(f" {intf}:")
            if intf.link:
                other = intf.link.intf2 if intf.link.intf1 == intf else intf.link.intf1
                info(str(other))
            else:
                info(" ")
        info("\n")


def dumpNetConnections(net: Any) -> None:
    """The same for controllers, switches and hosts of a network."""
    dumpNodeConnections(net.controllers + net.switches + net.hosts)


def dumpPorts(switches: list[Any]) -> None:
    """Says the numbers of ports of switches."""
    for switch in switches:
        output(f"{switch} ")
        for intf in switch.intfList():
            output(f"{intf}:{switch.ports[intf]} ")
        output("\n")


# Addresses


def _colonHex(val: int, bytecount: int) -> str:
    return ":".join(f"{byte:02x}" for byte in val.to_bytes(bytecount, "big"))


def macColonHex(mac: int) -> str:
    """A number as a hardware address."""
    return _colonHex(mac, 6)


def ipStr(ip: int) -> str:
    """A number as an address of IPv4."""
    return ".".join(str(byte) for byte in (ip & 0xFFFFFFFF).to_bytes(4, "big"))


def ipNum(w: int, x: int, y: int, z: int) -> int:
    """Four bytes as the number of an address."""
    return (w << 24) | (x << 16) | (y << 8) | z


def ipAdd(i: int, prefixLen: int = 8, ipBaseNum: int = 0x0A000000) -> str:
    """The i-th address of a subnet.

    Raises:
        AssertionError: The subnet is too small.
    """
    imax = 0xFFFFFFFF >> prefixLen
    assert i <= imax, f"Not enough IP addresses in the subnet: address {i} of a /{prefixLen} is asked for"
    mask = 0xFFFFFFFF ^ imax
    return ipStr((ipBaseNum & mask) + i)


def ipParse(ip: str) -> int:
    """An address as a number; `10.1` is 10.0.0.1.

    Raises:
        Exception: It is none.
    """
    try:
        parts = [int(part) for part in ip.split(".")]
    except ValueError:
        parts = []
    if not 1 <= len(parts) <= 4 or any(not 0 <= part <= 255 for part in parts):
        raise Exception(f"`{ip}` is no address of IPv4, such as 10.0.0.1")
    while len(parts) < 4:
        parts.insert(len(parts) - 1, 0)
    return ipNum(*parts)


def netParse(ipstr: str) -> tuple[int, int]:
    """A subnet as its number and the length of its prefix."""
    prefix = 0
    if "/" in ipstr:
        ipstr, length = ipstr.split("/")
        prefix = int(length)
    elif ipstr.count(".") < 3:
        prefix = 24
    ip = ipParse(ipstr if ipstr.count(".") == 3 else ipstr + ".0" * (3 - ipstr.count(".")))
    return ip, prefix


# Programs that write


def checkInt(s: str) -> bool:
    """Whether a text is a whole number."""
    return re.fullmatch(r"[+-]?\d+", s.strip()) is not None


def checkFloat(s: str) -> bool:
    """Whether a text is a number."""
    try:
        float(s)
    except ValueError:
        return False
    return True


def makeNumeric(s: str) -> Any:
    """A text as the number that it says, or itself."""
    if checkInt(s):
        return int(s)
    return float(s) if checkFloat(s) else s


def pmonitor(
    popens: dict[Any, Any], timeoutms: int | None = 500, readline: bool = True, readmax: int = 1024
) -> Iterator[tuple[Any, str]]:
    """What programs write, as it comes: pairs of a key and a line, or `(None, "")` when nothing came in time.

    Args:
        popens: Programs by any key; those that have ended are removed.
        timeoutms: After how many milliseconds to say that nothing came.
        readline: Whether to wait for whole lines.
        readmax: How many bytes to read at once otherwise.
    """
    poller = select.poll()
    owners: dict[int, Any] = {}
    for key, process in popens.items():
        number = process.stdout.fileno()
        owners[number] = key
        poller.register(number, select.POLLIN)
        if not readline:
            os.set_blocking(number, False)
    while popens:
        ready = poller.poll(timeoutms)
        if not ready:
            yield None, ""
        for number, event in ready:
            key = owners[number]
            process = popens.get(key)
            if process is None:
                poller.unregister(number)
                continue
            if event & select.POLLIN:
                data = process.stdout.readline() if readline else process.stdout.read(readmax)
                # What a buffer of the file holds is not seen by poll.
                while data:
                    yield key, decode(data)
                    data = _more(process.stdout, readline, readmax)
                if event & select.POLLHUP == 0:
                    continue
            poller.unregister(number)
            rest = process.stdout.read()
            for line in decode(rest or "").splitlines(keepends=True):
                yield key, line
            process.wait()
            popens.pop(key, None)


def _more(file: Any, readline: bool, readmax: int) -> Any:
    """The next line that has been read already."""
    buffered = getattr(file, "peek", None)
    if not readline or buffered is None:
        return None
    number = file.fileno()
    poll = select.poll()
    poll.register(number, select.POLLIN)
    blocking = os.get_blocking(number)
    os.set_blocking(number, False)
    try:
        return file.readline() if b"\n" in (buffered(1) or b"") else None
    finally:
        os.set_blocking(number, blocking)


def sysctlTestAndSet(name: str, limit: int) -> None:
    """Nothing: what this machine limits is left alone."""
    debug(f"*** {name} stays as it is; {limit} is asked for\n")


def fixLimits() -> None:
    """Nothing: labs need no other limits of this machine."""
    debug("*** limits of this machine stay as they are\n")


def mountCgroups(cgcontrol: str = "cpu") -> None:
    """Nothing: a lab looks for control groups itself."""
    debug(f"*** control groups ({cgcontrol}) are the lab's affair\n")


def natural(text: str) -> list[Any]:
    """A key that sorts `h10` behind `h9`."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(text))]


def naturalSeq(t: tuple[str, ...]) -> list[Any]:
    """The same of several texts."""
    return [natural(x) for x in t]


def numCores() -> int:
    """How many processors this machine has."""
    return os.cpu_count() or 1


def irange(start: int, end: int) -> list[int]:
    """The numbers from one to another, both included."""
    return list(range(start, end + 1))


# Classes with parameters


def custom(cls: Callable[..., Any], **params: Any) -> Callable[..., Any]:
    """A class with other defaults."""

    def customized(*args: Any, **kwargs: Any) -> Any:
        return cls(*args, **{**kwargs, **params})

    customized.__name__ = f"custom({getattr(cls, '__name__', cls)},{params})"
    return customized


def specialClass(
    cls: Any, prepend: list[Any] | None = None, append: list[Any] | None = None, defaults: Mapping[str, Any] | None = None,
    override: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """A class like another one, with arguments before, behind, by default or in any case."""

    class CustomClass(cls):
        """See `specialClass`."""

        def __init__(self, *args: Any, **params: Any) -> None:
            super().__init__(
                *(prepend or []), *args, *(append or []), **{**(defaults or {}), **params, **(override or {})}
            )

    CustomClass.__name__ = f"{cls.__name__}{dict(defaults or {}) or ''}"
    return CustomClass


def splitArgs(argstr: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Takes `name,1,key=2` apart."""
    name, *params = argstr.split(",")
    args = [makeNumeric(each) for each in params if "=" not in each]
    kwargs = {key: makeNumeric(value) for key, value in (each.split("=", 1) for each in params if "=" in each)}
    return name, args, kwargs


def customClass(classes: Mapping[str, Any], argStr: str) -> Any:
    """The class of a name, with the parameters behind it.

    Raises:
        Exception: There is none of this name.
    """
    name, args, kwargs = splitArgs(argStr)
    cls = classes.get(name)
    if not cls:
        raise Exception(f"error: {name} is unknown{meant(name, classes)} - please specify one of {list(classes)}")
    return specialClass(cls, append=args, defaults=kwargs) if args or kwargs else cls


def buildTopo(topos: Mapping[str, Any], topoStr: str) -> Any:
    """The topology of a name, made with the parameters behind it.

    Raises:
        Exception: There is none of this name.
    """
    name, args, kwargs = splitArgs(topoStr)
    if name not in topos:
        raise Exception(f"Invalid topo name {name}{meant(name, topos)} There are {', '.join(topos)}")
    return topos[name](*args, **kwargs)


# Waiting


def ensureRoot() -> None:
    """Nothing: root is not needed."""


def waitListening(client: Any = None, server: Any = "127.0.0.1", port: int = 80, timeout: float | None = None) -> bool:
    """Waits until something listens at a port of TCP.

    Args:
        client: The node that asks; this machine if none is given and the server is no node.
        server: A node, or an address.
        port: The port.
        timeout: After how many seconds to give up.

    Returns:
        Whether it listens.
    """
    is_node = hasattr(server, "IP")
    where = client or (server if is_node else None)
    address = server.IP() if is_node else str(server)
    if is_node and client is None:
        address = "127.0.0.1" if _listens_at_loopback(server, port) else address
    probe = f"timeout 1 bash -c 'exec 3<>/dev/tcp/{address}/{port}' 2>/dev/null && echo listens"
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        found = where.cmd(probe) if where is not None else errRun(probe, shell=True)[0]
        if "listens" in found:
            return True
        if end is not None and time.monotonic() >= end:
            error(f"could not connect to {server} on port {port}\n")
            return False
        debug(f"waiting for {server} to listen on port {port}\n")
        info(".")
        time.sleep(0.1)


def _listens_at_loopback(node: Any, port: int) -> bool:
    found = node.cmd("cat /proc/net/tcp /proc/net/tcp6")
    listening = re.findall(rf":\s(\w+):{port:04X} \w+:0000 0A", found)
    return any(set(address) == {"0"} for address in listening)


__all__ = [
    "Unsupported", "buildTopo", "checkFloat", "checkInt", "checkRun", "custom", "customClass", "debug", "decode",
    "dumpNetConnections", "dumpNodeConnections", "dumpPorts", "encode", "ensureRoot", "errFail", "errRun", "error",
    "fixLimits", "info", "ipAdd", "ipNum", "ipParse", "ipStr", "irange", "isShellBuiltin", "macColonHex", "makeIntfPair",
    "makeNumeric", "mountCgroups", "moveIntf", "natural", "naturalSeq", "netParse", "numCores", "oldQuietRun", "output",
    "partial", "pmonitor", "quietRun", "retry", "specialClass", "splitArgs", "waitListening", "warn", "which",
]  # fmt: skip
