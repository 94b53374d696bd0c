"""Controllers: programs of this machine that switches connect to, and those whose only work is that switches learn addresses."""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from typing import Any

from ._clear import Unsupported
from ._node import Node
from .log import info, warn

#: How to get programs of controllers.
_PACKAGES = {
    "osken-manager": "os-ken has it: apt install python3-os-ken",
    "ryu-manager": "os-ken, which goes on with Ryu, has `osken-manager`: apt install python3-os-ken",
}
#: Programs that only make learning switches of switches, which those of Netloom are by themselves.
_LEARNING = {"controller", "test-controller", "ovs-controller", "ovs-testcontroller"}


class Controller(Node):
    """A controller; the default one makes learning switches of switches, which here they are by themselves."""

    def __init__(
        self, name: str, inNamespace: bool = False, command: str = "controller", cargs: str = "-v ptcp:%d",
        cdir: str | None = None, ip: str = "127.0.0.1", port: int = 6653, protocol: str = "tcp", **params: Any,
    ) -> None:  # fmt: skip
        self.command = command
        self.cargs = cargs
        self.cdir = cdir
        if ":" in str(ip):
            ip, given = str(ip).split(":")
            port = int(given)
        self.ip = ip
        self.port = port
        self.protocol = protocol
        super().__init__(name, inNamespace=inNamespace, ip=ip, **params)
        self.checkListening()

    def lab_kind(self) -> str:
        """See `Node`: it is on this machine, unless it has a namespace."""
        return "host" if self.inNamespace else "aside"

    @property
    def only_learns(self) -> bool:
        """Whether all that it does is what switches of Netloom do by themselves."""
        return os.path.basename(self.command.split()[0] if self.command else "") in _LEARNING

    def checkListening(self) -> None:
        """Makes sure that nothing else listens at its port.

        Raises:
            Exception: Something does.
        """
        if self.only_learns or self.inNamespace:
            return
        if _listens(self.ip, self.port):
            raise Exception(
                f"Please shut down the controller which is running on port {self.port}, or use RemoteController: {self.name} is to listen there"
            )

    def start(self) -> None:
        """Starts its program, in the background.

        Raises:
            Unsupported: It is not installed.
        """
        if self.only_learns:
            return
        program = self.command.split()[0]
        if not shutil.which(program) and not os.path.exists(program):
            how = _PACKAGES.get(os.path.basename(program), "install it")
            raise Unsupported(
                f"netloom: the controller {self.name} cannot start: there is no program `{program}`; {how}"
            )
        log = f"/tmp/{self.name}.log"
        if self.cdir is not None:
            self.cmd(f"cd {self.cdir}")
        arguments = self.cargs % self.port if "%" in self.cargs else self.cargs
        self.cmd(f"{self.command} {arguments} 1>{log} 2>{log} &")

    def stop(self, *args: Any, **kwargs: Any) -> None:
        """Ends its program."""
        if not self.only_learns and self._shell is not None:
            self.cmd(f"kill %{self.command.split()[0]} 2>/dev/null; wait 2>/dev/null")
        kwargs.pop("deleteIntfs", None)
        super().stop(*args, **kwargs)

    def dial(self) -> socket.socket:
        """A connection to it."""
        if self.inNamespace:
            return self._home().ensure().node(self.lab_node).socket("stream", connect=("127.0.0.1", int(self.port)))
        return socket.create_connection((self.ip, int(self.port)), timeout=None)

    def IP(self, intf: Any = None) -> str:
        """Its address."""
        return (super().IP(intf) if self.intfs else None) or self.ip

    @classmethod
    def isAvailable(cls) -> bool:
        """Whether it can be had; the default one always."""
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.IP()}:{self.port} pid={self._shell.pid if self._shell else None}> "


class OVSController(Controller):
    """Open vSwitch's controller for tests."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        kwargs.setdefault("command", "ovs-testcontroller")
        super().__init__(name, **kwargs)


class NOX(Controller):
    """NOX, from the folder of `$NOX_CORE_DIR`."""

    def __init__(self, name: str, *noxArgs: Any, **kwargs: Any) -> None:
        folder = os.environ.get("NOX_CORE_DIR")
        if not folder:
            raise Exception("please set the environment variable NOX_CORE_DIR")
        super().__init__(
            name, command=folder + "/nox_core", cdir=folder,
            cargs="--libdir=/usr/local/lib -v -i ptcp:%s " + " ".join(map(str, noxArgs)), **kwargs,
        )  # fmt: skip


class Ryu(Controller):
    """Ryu, or os-ken, which goes on with it, if only that is installed."""

    def __init__(self, name: str, *ryuArgs: Any, **kwargs: Any) -> None:
        words = [str(each) for each in ryuArgs] or ["ryu.app.simple_switch"]
        command = kwargs.pop("command", None) or ("ryu-manager" if shutil.which("ryu-manager") else "osken-manager")
        if os.path.basename(command) == "osken-manager":
            words = [re.sub(r"^ryu\.", "os_ken.", word) for word in words]
        super().__init__(name, command=command, cargs="--ofp-tcp-listen-port %s " + " ".join(words), **kwargs)


class RemoteController(Controller):
    """A controller that runs already, on this machine or wherever it can reach."""

    def __init__(self, name: str, ip: str = "127.0.0.1", port: int | None = None, **kwargs: Any) -> None:
        super().__init__(name, ip=ip, port=port if port is not None else 0, **kwargs)
        if port is None and ":" not in str(ip):
            self.port = next((each for each in (6653, 6633) if self.isListening(self.ip, each)), 6653)

    @property
    def only_learns(self) -> bool:
        """Nobody knows what it does."""
        return False

    def checkListening(self) -> None:
        """Says so if nothing listens there."""
        if self.port and not self.isListening(self.ip, self.port):
            warn(f"Unable to contact the remote controller at {self.ip}:{self.port}{self._why()}\n")

    def _why(self) -> str:
        """What is wrong with its name, if that is it."""
        try:
            socket.getaddrinfo(self.ip, int(self.port), type=socket.SOCK_STREAM)
        except OSError as error:
            return f": {error.strerror or error}"
        return ""

    def isListening(self, ip: str, port: int) -> bool:
        """Whether something listens there."""
        return _listens(ip, port)

    def start(self) -> None:
        """Nothing: it runs already."""

    def stop(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: it goes on."""
        Node.stop(self)


def _listens(ip: str, port: int) -> bool:
    """Whether something listens at a port; nothing does at a name that leads nowhere."""
    try:
        with socket.create_connection((ip, int(port)), timeout=1):
            return True
    except OSError:
        return False


DefaultControllers = (Controller, OVSController)


def findController(controllers: Any = DefaultControllers) -> Any:
    """The first one that can be had."""
    return next((each for each in controllers if each.isAvailable()), None)


def DefaultController(name: str, controllers: Any = DefaultControllers, **kwargs: Any) -> Any:
    """The first controller that can be had.

    Raises:
        Exception: There is none.
    """
    found = findController(controllers)
    if found is None:
        raise Exception("Could not find a default OpenFlow controller")
    return found(name, **kwargs)


def NullController(*_args: Any, **_kwargs: Any) -> None:
    """No controller."""


def wait_until(condition: Any, timeout: float | None) -> bool:
    """Waits for a condition; whether it came true in time."""
    end = None if timeout is None else time.monotonic() + timeout
    while not condition():
        if end is not None and time.monotonic() > end:
            return False
        info(".")
        time.sleep(0.1)
    return True


__all__ = [
    "NOX", "Controller", "DefaultController", "DefaultControllers", "NullController", "OVSController", "RemoteController", "Ryu",
    "findController", "wait_until",
]  # fmt: skip
