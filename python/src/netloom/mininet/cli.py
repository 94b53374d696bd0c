"""The command line of a network: `nodes`, `pingall`, `h1 ping h2`, and so on."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import subprocess
import sys
import time
from cmd import Cmd
from typing import Any

from . import _openvswitch
from ._clear import Unsupported, meant
from .log import error, info, lg, output
from .node import Node
from .util import quietRun


class CLI(Cmd):
    """Asks for commands until `exit` or the end of input."""

    prompt = "mininet> "

    def __init__(self, mininet: Any, stdin: Any = sys.stdin, script: str | None = None, **kwargs: Any) -> None:
        self.mn = mininet
        self.locals: dict[str, Any] = {"net": mininet}
        self.stdin = stdin
        self.inputFile: Any = None
        self.isatty_ = stdin.isatty() if hasattr(stdin, "isatty") else False
        super().__init__(stdin=stdin, **kwargs)
        info("*** Starting CLI:\n")
        if script:
            self.inputFile = open(script)
            with self.inputFile:
                self.do_source(script)
            return
        self.initReadline()
        self.run()

    readlineInited = False

    @classmethod
    def initReadline(cls) -> None:
        """Remembers what was typed, in `~/.mininet_history`."""
        if cls.readlineInited:
            return
        cls.readlineInited = True
        try:
            from readline import read_history_file, set_history_length, write_history_file
        except ImportError:
            return
        path = os.path.expanduser("~/.mininet_history")
        if os.path.isfile(path):
            with contextlib.suppress(OSError):
                read_history_file(path)
            set_history_length(1000)

        def write() -> None:
            with contextlib.suppress(OSError):
                write_history_file(path)

        atexit.register(write)

    def run(self) -> None:
        """Asks for commands."""
        while True:
            try:
                # What was interrupted before may still run.
                for name in self.mn:
                    node = self.mn[name]
                    if node is not None and node.waiting:
                        info(f"stopping {node}\n")
                        node.sendInt()
                        node.waitOutput()
                self.cmdloop()
                break
            except KeyboardInterrupt:
                with contextlib.suppress(Exception):
                    output("\nInterrupt\n")

    def emptyline(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Nothing happens."""
        return False

    def getLocals(self) -> dict[str, Any]:
        """Names that `py` knows: the network as `net`, and nodes."""
        self.locals.update({name: self.mn[name] for name in self.mn})
        self.locals["net"] = self.mn
        return self.locals

    helpStr = (
        "You may also send a command to a node using:\n"
        "  <node> command {args}\n"
        "For example:\n"
        "  mininet> h1 ifconfig\n"
        "\n"
        "The interpreter automatically substitutes IP addresses\n"
        "for node names when a node is the first arg, so commands\n"
        "like\n"
        "  mininet> h2 ping h3\n"
        "should work.\n"
    )

    def do_help(self, arg: str) -> None:
        """Describes available commands."""
        super().do_help(arg)
        if not arg:
            output(self.helpStr)

    def do_nodes(self, _line: str) -> None:
        """List all nodes."""
        output("available nodes are: \n{}\n".format(" ".join(sorted(str(node) for node in self.mn.values()))))

    def do_ports(self, _line: str) -> None:
        """Display ports and interfaces for each switch."""
        from .util import dumpPorts

        dumpPorts(self.mn.switches)

    def do_net(self, _line: str) -> None:
        """List network connections."""
        for node in self.mn.values():
            output(node.name)
            for intf in node.intfList():
                output(f" {intf}:")
                if intf.link:
                    other = intf.link.intf2 if intf.link.intf1 is intf else intf.link.intf1
                    output(str(other))
            output("\n")

    def do_sh(self, line: str) -> None:
        """Run an external shell command: sh [cmd args]."""
        if _openvswitch.LOOKS.search(line) and "ovs-" in line and _openvswitch.is_installed():
            fabric = getattr(self.mn, "fabric", None)
            if fabric is not None:
                fabric.ask_for_flows(f"`sh {line}`")
        subprocess.call(line, shell=True)

    def do_py(self, line: str) -> None:
        """Evaluate a Python expression; node names may be used, e.g.: py h1.cmd('ls')."""
        try:
            result = eval(line, globals(), self.getLocals())
            if result is None:
                return
            output(result if isinstance(result, str) else repr(result))
            output("\n")
        except Exception as found:
            output(f"{found}\n")

    def do_px(self, line: str) -> None:
        """Execute a Python statement; node names may be used, e.g.: px print(h1.cmd('ls'))."""
        try:
            exec(line, globals(), self.getLocals())
        except Exception as found:
            output(f"{found}\n")

    def do_pingall(self, line: str) -> None:
        """Ping between all hosts: pingall [timeout]."""
        self.mn.pingAll(line or None)

    def do_pingpair(self, _line: str) -> None:
        """Ping between first two hosts, useful for testing."""
        self.mn.pingPair()

    def do_pingallfull(self, _line: str) -> None:
        """Ping between all hosts, returns all ping results."""
        self.mn.pingAllFull()

    def do_pingpairfull(self, _line: str) -> None:
        """Ping between first two hosts, returns all ping results."""
        self.mn.pingPairFull()

    def _hosts_of(self, names: list[str]) -> list[Any] | None:
        hosts: list[Any] = []
        for name in names:
            if name not in self.mn:
                error(f"node '{name}' not in network{meant(name, self.mn.keys())}\n")
                return None
            hosts.append(self.mn[name])
        return hosts

    def do_iperf(self, line: str) -> None:
        """Simple iperf TCP test between two (optionally specified) hosts: iperf [node1 node2]."""
        args = line.split()
        if not args:
            self.mn.iperf()
        elif len(args) == 2:
            hosts = self._hosts_of(args)
            if hosts:
                self.mn.iperf(hosts)
        else:
            error("invalid number of args: iperf src dst\n")

    def do_iperfudp(self, line: str) -> None:
        """Simple iperf UDP test between two (optionally specified) hosts: iperfudp [bw node1 node2]."""
        args = line.split()
        if not args:
            self.mn.iperf(l4Type="UDP")
        elif len(args) == 3:
            hosts = self._hosts_of(args[1:])
            if hosts:
                self.mn.iperf(hosts, l4Type="UDP", udpBw=args[0])
        else:
            error("invalid number of args: iperfudp bw src dst\nbw examples: 10M\n")

    def do_intfs(self, _line: str) -> None:
        """List interfaces."""
        for node in self.mn.values():
            output(f"{node.name}: {','.join(node.intfNames())}\n")

    def do_dump(self, _line: str) -> None:
        """Dump node info."""
        for node in self.mn.values():
            output(f"{node!r}\n")

    def do_link(self, line: str) -> None:
        """Bring link(s) between two nodes up or down: link node1 node2 up|down."""
        args = line.split()
        if len(args) != 3:
            error("invalid number of args: link end1 end2 [up down]\n")
        elif args[2] not in ("up", "down"):
            error("invalid type: link end1 end2 [up down]\n")
        else:
            self.mn.configLinkStatus(*args)

    def do_xterm(self, line: str, term: str = "xterm") -> None:
        """Refused: Netloom opens no windows."""
        from .term import makeTerms

        try:
            makeTerms(line.split(), term=term)
        except Unsupported as found:
            error(f"{found}\n")

    do_gterm = do_xterm
    do_x = do_xterm

    def do_exit(self, _line: str) -> str:
        """Exit."""
        assert self
        return "exited by user command"

    def do_quit(self, line: str) -> str:
        """Exit."""
        return self.do_exit(line)

    def do_EOF(self, line: str) -> str:
        """Exit."""
        output("\n")
        return self.do_exit(line)

    def isatty(self) -> bool:
        """Whether somebody types."""
        try:
            return os.isatty(self.stdin.fileno())
        except (OSError, ValueError, AttributeError):
            return False

    def do_noecho(self, line: str) -> None:
        """Run an interactive command with echoing turned off: noecho [cmd args]."""
        if self.isatty():
            quietRun("stty -echo")
        self.default(line)
        if self.isatty():
            quietRun("stty echo")

    def do_source(self, line: str) -> None:
        """Read commands from an input file: source FILE."""
        args = line.split()
        if not args:
            error("usage: source <file>\n")
            return
        try:
            with open(args[0]) as file:
                lines = file.read().splitlines()
        except OSError as found:
            error(f"error reading file {args[0]}: {found.strerror}\n")
            return
        for each in lines:
            if each.strip() and not each.lstrip().startswith("#"):
                output(f"{each}\n") if lg.isEnabledFor(10) else None
                self.onecmd(each)

    def do_dpctl(self, line: str) -> None:
        """Run dpctl (or ovs-ofctl) command on all switches: dpctl command [arg1] [arg2] ..."""
        args = line.split()
        if not args:
            error("usage: dpctl command [arg1] [arg2] ...\n")
            return
        for switch in self.mn.switches:
            output(f"*** {switch.name} {'-' * 72}\n")
            output(switch.dpctl(*args))

    def do_time(self, line: str) -> None:
        """Measure time taken for any command in Mininet."""
        began = time.time()
        self.onecmd(line)
        self.stdout.write(f"*** Elapsed time: {time.time() - began:0.6f} secs\n")

    def do_links(self, _line: str) -> None:
        """Report on links."""
        for link in self.mn.links:
            output(f"{link} {link.status()}\n")

    def do_switch(self, line: str) -> None:
        """Start or stop a switch: switch name [start|stop]."""
        args = line.split()
        if len(args) != 2 or args[1] not in ("start", "stop"):
            error("invalid number of args: switch <switch name> {start, stop}\n")
        elif args[0] not in self.mn or self.mn[args[0]] not in self.mn.switches:
            error(f"no such switch: {args[0]}\n")
        else:
            switch = self.mn[args[0]]
            # A switch that has stopped lets nothing through.
            for intf in switch.intfList():
                intf.ifconfig("up" if args[1] == "start" else "down")

    def do_wait(self, _line: str) -> None:
        """Wait until all switches have connected to a controller."""
        self.mn.waitConnected()

    def default(self, line: str) -> None:
        """Called on an input line when the command prefix is not recognized: it is for a node."""
        first, args, line = self.parseline(line)
        if first is None or args is None:
            error(f"*** Unknown command: {line}\n")
            return
        if first not in self.mn:
            commands = [name[3:] for name in self.get_names() if name.startswith("do_")]
            error(f"*** Unknown command: {line}{meant(first, [*commands, *self.mn.keys()])}\n")
            return
        if not args:
            error(f"*** Please enter a command for node: {first} <cmd>\n")
            return
        node = self.mn[first]
        words = [self._address(word) for word in args.split(" ")]
        try:
            node.sendCmd(" ".join(words))
            self.waitForNode(node)
        except KeyboardInterrupt:
            raise
        except (Unsupported, OSError) as found:
            error(f"{found}\n")

    def _address(self, word: str) -> str:
        """A node's address in place of its name."""
        if word in self.mn:
            address = self.mn[word].IP()
            if address:
                return str(address)
        return word

    def waitForNode(self, node: Any) -> None:
        """Shows what a command writes, and passes on what is typed."""
        poller = select.poll()
        poller.register(node.stdout, select.POLLIN)
        typed: int | None = None
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if self.isatty():
                typed = self.stdin.fileno()
                poller.register(typed, select.POLLIN)
                quietRun("stty -icanon min 1")
        try:
            while True:
                try:
                    ready = {number for number, _ in poller.poll(1000)}
                    if typed is not None and typed in ready and node.waiting:
                        node.write(os.read(typed, 1024).decode("utf-8", "replace"))
                    if node.stdout.fileno() in ready or node.stdout.buffer:
                        output(node.monitor(0))
                    if not node.waiting:
                        break
                except KeyboardInterrupt:
                    node.sendInt()
                except OSError as found:
                    error(f"{found}\n")
        finally:
            if typed is not None:
                quietRun("stty icanon")

    def precmd(self, line: str) -> str:
        """Takes away what is a comment."""
        return line.split("#")[0] if line.lstrip().startswith("#") else line

    def onecmd(self, line: str) -> bool:
        """Runs a command; what it refuses is said, and the next one is asked for."""
        try:
            return super().onecmd(line)
        except Unsupported as found:
            error(f"{found}\n")
            return False


def isReadable(poller: Any) -> bool:
    """Whether there is something to read."""
    return any(mask & select.POLLIN for _, mask in poller.poll(0))


def __getattr__(name: str) -> Any:
    from ._names import other

    return other("cli", name, globals())


__all__ = ["CLI", "Node", "isReadable"]
