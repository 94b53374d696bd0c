#!/usr/bin/env python3
"""A tree of Linux bridges with hosts for leaves, set up and removed by Mininet; started by peer.sh.

Usage: peer-mininet-tree.py DEPTH FANOUT, as in `mn --topo tree,DEPTH,FANOUT --switch lxbr`. Writes how many seconds each took.
"""

import sys
import time

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topolib import TreeTopo


def main() -> int:
    """Ends with 1 if the first host does not reach the last."""
    depth, fanout = map(int, sys.argv[1:])
    setLogLevel("error")
    begin = time.monotonic()
    net = Mininet(topo=TreeTopo(depth=depth, fanout=fanout), switch=LinuxBridge, controller=None)
    net.start()
    up = time.monotonic() - begin
    answer = net.hosts[0].cmd(f"ping -c 1 -W 10 {net.hosts[-1].IP()}")
    begin = time.monotonic()
    net.stop()
    down = time.monotonic() - begin
    if " 0% packet loss" not in answer:
        print(answer, file=sys.stderr)
        return 1
    print(f"{up:.3f} {down:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
