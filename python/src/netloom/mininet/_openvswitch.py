"""Open vSwitch, in user space and without root: all switches of a network are bridges of one of them, in one node of the lab.

That is as with Mininet, where all bridges are of the machine's Open vSwitch: `ovs-vsctl` and `ovs-ofctl` know every switch by its name, whether
they run on a switch or on this machine.
"""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import os
import re
import shlex
import shutil
import socket
import threading
from typing import TYPE_CHECKING, Any

from . import _scratch
from ._learning import Learner
from .log import warn

if TYPE_CHECKING:
    from ..live import Live
    from ..nodes import LiveNode

#: Which switches stand in for those of Mininet: `auto`, or `openflow`: Open vSwitch in any case.
SWITCHES = "NETLOOM_MININET_SWITCHES"
#: Commands that look at Open vSwitch, or at interfaces of a switch.
LOOKS = re.compile(
    r"\bovs-(vsctl|ofctl|appctl|dpctl)\b|\b(ifconfig|tc|ethtool|tcpdump|tshark)\b|\bip\s+(-\S+\s+)*(l|a)"
)
_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
_VARIABLES: tuple[str, ...] = ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR")
_AT_ONCE = 1 << 16
_LOCAL = frozenset({"127.0.0.1", "localhost", "0.0.0.0", ""})


def is_installed() -> bool:
    """Whether there is Open vSwitch on this machine."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    return all(
        shutil.which(each, path=path) for each in ("ovs-vswitchd", "ovsdb-server", "ovs-vsctl")
    ) and os.path.exists(_SCHEMA)


def missing(name: str) -> None:
    """Says once that it is not installed."""
    if not _said:
        _said.append(name)
        warn(
            f"*** {name}: Open vSwitch is not installed (apt install --no-install-recommends openvswitch-switch): "
            "switches learn addresses by themselves, and ask no controller\n"
        )


_said: list[str] = []


class OpenVSwitch:
    """One that runs in a node of a lab."""

    def __init__(self, live: Live, node: str) -> None:
        self._node = live.node(node)
        self._folder = _scratch.folder()
        self._ways: dict[str, Way] = {}
        self._before = os.environ.get("OVS_RUNDIR")
        #: Where it is: programs of this machine find it there, too.
        self.variables = dict.fromkeys(_VARIABLES, self._folder)
        os.environ.update(self.variables)
        folder = shlex.quote(self._folder)
        script = (
            f"cd {folder} && ovsdb-tool create conf.db {_SCHEMA} && "
            f"ovsdb-server {folder}/conf.db --remote=punix:{folder}/db.sock --detach --no-chdir --pidfile --log-file -vsyslog:off -vconsole:off && "
            "ovs-vsctl --no-wait init -- set Open_vSwitch . other_config:userspace-tso-enable=true && "
            f"ovs-vswitchd unix:{folder}/db.sock --detach --no-chdir --pidfile --enable-dummy --log-file -vsyslog:off -vconsole:off"
        )
        self.call(["/bin/sh", "-c", script])

    def call(self, argv: list[str]) -> str:
        """Runs a program beside it.

        Raises:
            CalledProcessError: It has failed.
        """
        path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
        return str(self._node.run(argv, check=True, cwd="/", env={**self.variables, "PATH": path}).stdout)

    def add(self, switches: list[Any]) -> None:
        """Makes the bridges of switches."""
        words: list[str] = ["ovs-vsctl", "--id=@netloom-qos", "create", "QoS", "type=linux-noop"]
        for switch in switches:
            words += ["--", *self._bridge(switch)]
        if switches:
            self.call(words)

    def _bridge(self, switch: Any) -> list[str]:
        name = switch.name
        words = ["--may-exist", "add-br", name, "--", "set", "bridge", name, "datapath_type=dummy", f"other-config:datapath-id={switch.dpid}",
                 f"fail_mode={switch.failMode}", f"stp_enable={str(switch.stp).lower()}"]  # fmt: skip
        if switch.stp and switch.prio is not None:
            words.append(f"other-config:stp-priority={switch.prio}")
        if switch.protocols:
            words.append(f"protocols={switch.protocols}")
        for intf in switch.intfList():
            if intf.link is not None:
                words += ["--", "--may-exist", "add-port", name, intf.name, "--", "set", "port", intf.name, "qos=@netloom-qos", "--",
                          "set", "interface", intf.name, f"ofport_request={switch.ports[intf]}"]  # fmt: skip
        return [*words, *self._controllers(switch)]

    def _controllers(self, switch: Any) -> list[str]:
        network = switch.__dict__.get("net")
        others = list(network.controllers) if network is not None else []
        targets = [f'"{self._way(each, others)}"' for each in switch.controllers or []]
        words: list[str] = []
        for number, target in enumerate(targets):
            words += ["--", f"--id=@{switch.name}-{number}", "create", "Controller", f"target={target}",
                      "connection_mode=out-of-band", f"max_backoff={switch.reconnectms or 1000}"]  # fmt: skip
        if targets:
            words += [
                "--",
                "set",
                "bridge",
                switch.name,
                "controller=" + ",".join(f"@{switch.name}-{number}" for number in range(len(targets))),
            ]
        else:
            words += ["--", "clear", "bridge", switch.name, "controller"]
        return words

    def connect(self, switch: Any) -> None:
        """Tells a switch of its controllers."""
        self.call(["ovs-vsctl", *self._controllers(switch)[1:]])

    def _way(self, controller: Any, others: list[Any]) -> str:
        place = f"{controller.ip}:{controller.port}"
        if place not in self._ways:
            # A remote controller may be another one of this script's.
            same = [
                each for each in others if each.only_learns and (each.ip, each.port) == (controller.ip, controller.port)
            ]
            self._ways[place] = Way(same[0] if same else controller, self._node)
        return self._ways[place].target

    def close(self) -> None:
        """Ends the ways to controllers; itself it ends with the lab."""
        for way in self._ways.values():
            way.close()
        for name in self.variables:
            os.environ.pop(name, None)
        if self._before is not None:
            os.environ["OVS_RUNDIR"] = self._before
        shutil.rmtree(self._folder, ignore_errors=True)


class Way:
    """A socket that listens beside the switches in place of a controller."""

    def __init__(self, controller: Any, node: LiveNode) -> None:
        self._controller = controller
        host = str(controller.ip)
        self._host = "127.0.0.1" if host in _LOCAL or controller.inNamespace else _address(host)
        if self._host != "127.0.0.1":
            node.run(["ip", "addr", "replace", f"{self._host}/32", "dev", "lo"], cwd="/")
        self._listener = node.socket("stream", bind=(self._host, int(controller.port)), listen=64)
        self._sockets: list[socket.socket] = [self._listener]
        #: How switches are told of it.
        self.target = f"tcp:{self._host}:{controller.port}"
        threading.Thread(target=self._accept, name=f"controller {controller}", daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                inner, _ = self._listener.accept()
                self._sockets.append(inner)
                if self._controller.only_learns:
                    threading.Thread(target=Learner(inner).run, daemon=True).start()
                    continue
                try:
                    outer = self._controller.dial()
                except OSError:
                    # The switch tries again.
                    inner.close()
                    continue
                self._sockets.append(outer)
                for source, target in ((inner, outer), (outer, inner)):
                    threading.Thread(target=_pass_on, args=(source, target), daemon=True).start()

    def close(self) -> None:
        """Ends it, with its connections."""
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            with contextlib.suppress(OSError):
                each.close()


#: Stand for controllers that have a name, beside the switches (RFC 5737: addresses that nobody has).
_stand_ins = itertools.cycle(f"192.0.2.{number}" for number in range(1, 255))


def _address(host: str) -> str:
    """An address for a host; whoever has a name is looked up each time that a switch connects, so any will do."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return next(_stand_ins)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_AT_ONCE):
            target.sendall(data)
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
