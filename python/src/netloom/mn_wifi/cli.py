"""The command line of a network with stations: what Mininet's has, and `distance`."""

from __future__ import annotations

import sys
from typing import Any

from ..mininet.cli import CLI as Wired
from ..mininet.log import error, output


class CLI(Wired):
    """Asks for commands until `exit` or the end of input."""

    prompt = "mininet-wifi> "

    def __init__(self, mn_wifi: Any, stdin: Any = sys.stdin, script: str | None = None, cmd: str | None = None) -> None:
        mn_wifi.fabric.ensure()
        if cmd:
            self.mn, self.locals, self.stdin = mn_wifi, {"net": mn_wifi}, stdin
            self.onecmd(cmd)
            return
        super().__init__(mn_wifi, stdin=stdin, script=script)

    def do_distance(self, line: str) -> None:
        """Distance between two nodes: distance [sta or ap] [sta or ap]."""
        args = line.split()
        if len(args) != 2 or args[0] == args[1]:
            error("invalid number of args: distance [sta or ap] [sta or ap]\n")
        elif self._hosts_of(args):
            self.mn.get_distance(*args)

    def do_stop(self, _line: str) -> None:
        """Refused: mobility is not stopped for a while."""
        self.mn.stop_simulation()

    def do_start(self, _line: str) -> None:
        """Refused: mobility is not stopped for a while."""
        self.mn.start_simulation()

    def do_dpctl(self, line: str) -> None:
        """Run dpctl (or ovs-ofctl) command on all switches and access points: dpctl command [arg1] [arg2] ..."""
        args = line.split()
        if not args:
            error("usage: dpctl command [arg1] [arg2] ...\n")
            return
        for switch in [*self.mn.switches, *self.mn.aps]:
            output(f"*** {switch.name} {'-' * 72}\n")
            output(switch.dpctl(*args))


CLI_wifi = CLI

__all__ = ["CLI", "CLI_wifi"]
