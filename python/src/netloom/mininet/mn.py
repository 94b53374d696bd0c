"""The command line `mn`."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from ._clear import Unsupported, meant
from .clean import cleanup
from .cli import CLI
from .link import Link, OVSLink, TCLink, TCULink
from .log import LEVELS, error, info, setLogLevel
from .net import VERSION, Mininet, MininetWithControlNet
from .node import (
    NOX,
    Controller,
    CPULimitedHost,
    DefaultController,
    Host,
    IVSSwitch,
    NullController,
    OVSBridge,
    OVSController,
    OVSSwitch,
    RemoteController,
    Ryu,
    UserSwitch,
)
from .nodelib import LinuxBridge
from .topo import LinearTopo, MinimalTopo, SingleSwitchReversedTopo, SingleSwitchTopo
from .topolib import TorusTopo, TreeTopo
from .util import buildTopo, customClass, specialClass, splitArgs

TOPOS: dict[str, Any] = {
    "minimal": MinimalTopo, "linear": LinearTopo, "reversed": SingleSwitchReversedTopo, "single": SingleSwitchTopo,
    "tree": TreeTopo, "torus": TorusTopo,
}  # fmt: skip
SWITCHES: dict[str, Any] = {
    "user": UserSwitch, "ovs": OVSSwitch, "ovsbr": OVSBridge, "ovsk": OVSSwitch, "ivs": IVSSwitch, "lxbr": LinuxBridge,
    "default": OVSSwitch,
}  # fmt: skip
HOSTS: dict[str, Any] = {
    "proc": Host,
    "rt": specialClass(CPULimitedHost, defaults={"sched": "rt"}),
    "cfs": specialClass(CPULimitedHost, defaults={"sched": "cfs"}),
}
CONTROLLERS: dict[str, Any] = {
    "ref": Controller, "ovsc": OVSController, "nox": NOX, "remote": RemoteController, "ryu": Ryu, "default": DefaultController,
    "none": NullController,
}  # fmt: skip
LINKS: dict[str, Any] = {"default": Link, "tc": TCLink, "tcu": TCULink, "ovs": OVSLink}


def allTest(net: Any) -> None:
    """Pings between all hosts, and iperf."""
    net.ping()
    net.iperf()


def nullTest(_net: Any) -> None:
    """Nothing."""


TESTS: dict[str, Any] = dict.fromkeys(("pingall", "pingpair", "iperf", "iperfudp"), True)
TESTS.update(all=allTest, none=nullTest, build=nullTest)
ALTSPELLING = {"pingall": "pingAll", "pingpair": "pingPair", "iperfudp": "iperfUdp"}
_DICTS = {
    "topos": TOPOS,
    "switches": SWITCHES,
    "hosts": HOSTS,
    "controllers": CONTROLLERS,
    "links": LINKS,
    "tests": TESTS,
}


class _Formatter(argparse.HelpFormatter):
    """Begins as Mininet's help does."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """See `argparse`."""
        super().add_usage(usage, actions, groups, "Usage: ")


def parser() -> argparse.ArgumentParser:
    """The options of `mn`."""
    found = argparse.ArgumentParser(
        prog="mn", allow_abbrev=True, formatter_class=_Formatter,
        description="Builds networks with Netloom from the options of Mininet's mn, and runs tests or a command line in them.",
    )  # fmt: skip
    add = found.add_argument
    for name, choices, default in (
        ("switch", SWITCHES, "default"), ("host", HOSTS, "proc"), ("controller", CONTROLLERS, None), ("link", LINKS, "default"),
        ("topo", TOPOS, "minimal"),
    ):  # fmt: skip
        text = f"{'|'.join(choices)}[,param=value...]"
        repeated: dict[str, Any] = {"action": "append"} if name == "controller" else {}
        add(f"--{name}", metavar="NAME", default=default, help=text, **repeated)
    add("--clean", "-c", action="store_true", help="end what scripts have left (nothing: labs end with their scripts)")
    add(
        "--custom",
        action="append",
        default=[],
        metavar="FILES",
        help="Python files with dictionaries topos, switches, tests...",
    )
    add("--test", action="append", default=[], metavar="NAME", help="|".join(TESTS))
    add("--xterms", "-x", action="store_true", help="refused: Netloom opens no windows")
    add("--ipbase", "-i", default="10.0.0.0/8", help="the subnet of hosts")
    add("--mac", action="store_true", help="hardware addresses after the addresses")
    add("--arp", action="store_true", help="hosts know all neighbours")
    add("--verbosity", "-v", default="info", choices=list(LEVELS), metavar="LEVEL", help="|".join(LEVELS))
    add("--innamespace", action="store_true", help="no effect: switches are in namespaces in any case")
    add("--listenport", type=int, default=6654, help="no effect: see docs/mininet.md")
    add("--nolistenport", action="store_true", help="no effect")
    add("--pre", metavar="FILE", help="a script of the command line before the tests")
    add("--post", metavar="FILE", help="a script of the command line behind them")
    add("--pin", action="store_true", help="refused: pins hosts to processors; see cores= of CPULimitedHost")
    add("--nat", nargs="?", const="", default=None, metavar="PARAMS", help="adds a way out into this machine's network")
    add("--cluster", metavar="SERVERS", help="refused: see `tunnel` of lab files for links to other machines")
    add("--placement", help=argparse.SUPPRESS)
    add("--wait", "-w", action="store_true", help="wait for switches to connect")
    add("--twait", "-t", type=int, default=None, help="the same, for so many seconds")
    add("--version", action="version", version=VERSION)
    return found


def load_custom(path: str) -> None:
    """Takes in what a file of `--custom` defines.

    Raises:
        Exception: There is no such file.
    """
    if not os.path.isfile(path):
        raise Exception(f"could not find custom file: {path}")
    for name, value in runpy.run_path(path).items():
        if name in _DICTS and isinstance(value, dict):
            _DICTS[name].update(value)
        elif name == "validate":
            globals()["_validate"] = value
        elif not name.startswith("__"):
            globals().setdefault(name, value)


_validate: Callable[[Any], Any] | None = None


def main(arguments: list[str]) -> int:
    """Runs `mn`; its exit code."""
    began = time.time()
    options = parser().parse_args(arguments)
    try:
        return _run(options, began)
    except KeyboardInterrupt:
        info("\n\nKeyboard Interrupt. Shutting down and cleaning up...\n\n")
        cleanup()
        return 130
    except Unsupported as found:
        error(f"{found}\n")
    except Exception as found:
        error(f"\nCaught exception. Cleaning up...\n\n{type(found).__name__}: {found}\n")
        if os.environ.get("NETLOOM_MININET_TRACE"):
            raise
    cleanup()
    return 1


def _run(options: argparse.Namespace, began: float) -> int:
    for files in options.custom:
        for path in files.split(","):
            load_custom(path)
    setLogLevel(options.verbosity)
    if _validate is not None:
        _validate(options)
    if options.clean:
        cleanup()
        return 0
    for wrong, why in (
        (options.xterms, "-x cannot work here: Netloom opens no windows; `netloom shell` gives a shell in a node"),
        (options.pin, "--pin cannot work here; CPULimitedHost has cores="),
        (
            options.cluster,
            "--cluster cannot work here: it brings hosts to other machines; lab files have `kind: tunnel` for that",
        ),
    ):
        if wrong:
            raise Unsupported(f"netloom: {why}")
    net = _network(options)
    tests = [test for each in options.test for test in each.split("+")]
    if tests in (["build"], ["none"]) and tests == ["build"]:
        net.build() if not net.built else None
    else:
        net.start()
    if options.pre:
        CLI(net, script=options.pre)
    for test in tests:
        _test(net, test)
    if not tests:
        CLI(net)
    if options.post:
        CLI(net, script=options.post)
    net.stop()
    info(f"completed in {time.time() - began:0.3f} seconds\n")
    return 0


def _network(options: argparse.Namespace) -> Any:
    topo = buildTopo(TOPOS, options.topo)
    chosen = options.controller or ["default"]
    controllers = [customClass(CONTROLLERS, each) for each in chosen]
    if options.innamespace and any(each.split(",")[0] not in ("default", "ref", "ovsc", "none") for each in chosen):
        info("*** --innamespace has no effect: switches reach their controllers without a control network\n")
    cls = MininetWithControlNet if options.innamespace else Mininet
    wait: Any = options.twait if options.twait is not None else options.wait
    net = cls(
        topo=topo, switch=customClass(SWITCHES, options.switch), host=customClass(HOSTS, options.host),
        controller=controllers, link=customClass(LINKS, options.link), ipBase=options.ipbase, autoSetMacs=options.mac,
        autoStaticArp=options.arp, waitConnected=wait, build=False,
        listenPort=None if options.nolistenport else options.listenport,
    )  # fmt: skip
    if options.nat is not None:
        net.build()
        nat = net.addNAT(**splitArgs(f"nat,{options.nat}" if options.nat else "nat")[2])
        nat.configDefault()
    return net


def _test(net: Any, text: str) -> None:
    name, args, kwargs = splitArgs(text)
    name = ALTSPELLING.get(name.lower(), name)
    test = TESTS.get(name, name)
    if callable(test):
        test(net, *args, **kwargs)
    elif name == "iperfUdp":
        net.iperf(*args, **{"l4Type": "UDP", **kwargs})
    elif hasattr(net, name):
        getattr(net, name)(*args, **kwargs)
    else:
        raise Exception(f"Test {name} is unknown{meant(name, TESTS)} There are {', '.join(TESTS)}")


__all__ = ["main", "partial", "sys"]
