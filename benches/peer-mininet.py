#!/usr/bin/env python3
"""Two hosts of Mininet joined by one link; started by peer.sh.

Usage: peer-mininet.py DELAY RATE SERVER CLIENT, as peer.sh has them.
"""

import os
import subprocess
import sys

from mininet.link import Link, TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet


def main() -> int:
    """Makes the path, runs both commands, and ends with the client's exit code."""
    delay, rate, server, client = sys.argv[1:]
    setLogLevel("error")
    shaped = {}
    if delay != "-":
        shaped["delay"] = f"{delay}ms"
    if rate != "-":
        shaped.update(bw=float(rate), max_queue_size=4000)
    net = Mininet(controller=None)
    near, far = net.addHost("h1"), net.addHost("h2")
    net.addLink(near, far, cls=TCLink if shaped else Link, **shaped)
    net.start()
    serving = far.popen(["sh", "-c", server], stdout=sys.stdout, stderr=sys.stderr)
    try:
        near.cmd("sleep 0.5")
        environment = dict(os.environ, SERVER=far.IP())
        asking = near.popen(["sh", "-c", client], stdout=sys.stdout, stderr=sys.stderr, env=environment)
        failed = asking.wait()
        if os.environ.get("PEER_WAIT") == "yes":
            serving.wait(timeout=10)
    except subprocess.TimeoutExpired:
        failed = 1
    finally:
        serving.kill()
        net.stop()
    return failed


if __name__ == "__main__":
    sys.exit(main())
