"""Redis with Sentinel: who is cut off together with the primary, and what becomes of what was written there?

pytest test_sentinel.py                needs redis-server and redis-cli (Debian: redis-server)
"""

from __future__ import annotations

import pytest

from netloom import Addresses, Lab, Live, LiveNode
from netloom.pytest_plugin import Labs

NAMES = ["n1", "n2", "n3"]

SENTINEL = r"""
primary=$(getent ahostsv4 n1 | awk 'NR == 1 { print $1 }')
cat > /run/sentinel.conf <<CONF
port 26379
dir /tmp
protected-mode no
sentinel monitor shop $primary 6379 2
sentinel down-after-milliseconds shop 2000
sentinel failover-timeout shop 6000
CONF
exec redis-server /run/sentinel.conf --sentinel
"""


def shop(careful: bool) -> Lab:
    """Three nodes with Redis and Sentinel at a switch, 20 ms apart; n1 is the primary, until it is cut off."""
    lab = Lab("shop", clock="virtual", addresses=Addresses(ipv6="none"))
    lab.switch("s")
    for name in NAMES:
        node = lab.host(name, memory="192 MB")
        lab.link(name, "s", name=f"l-{name}", delay="10 ms", rate="100 Mbit/s")
        options = "--bind 0.0.0.0 --protected-mode no --save '' --dir /tmp --repl-diskless-sync-delay 0"
        if name != "n1":
            options += " --replicaof n1 6379"
        if careful:
            options += " --min-replicas-to-write 1 --min-replicas-max-lag 3"
        after = None if name == "n1" else "redis-n1"
        node.service(f"redis-server {options}", ready={"tcp": 6379}, as_=f"redis-{name}", after=after)
        node.service(SENTINEL, ready={"tcp": 26379}, as_=f"sentinel-{name}", after=f"redis-{name}")
    return lab


def redis(node: LiveNode, command: str, at: str = "localhost") -> str:
    """What a Redis says to a command."""
    return node.shell(f"redis-cli -h {at} {command}", timeout=30)


def primary_of(node: LiveNode) -> str:
    """The address of the primary, as a node's sentinel knows it."""
    return node.shell("redis-cli -p 26379 sentinel get-master-addr-by-name shop", timeout=30).splitlines()[0]


def cut_off(live: Live) -> tuple[str, str]:
    """Cuts the primary off, writes there, and waits until another one is found: what the old one says, and the new one's name."""
    # Sentinels ask the primary for its replicas every 10 s.
    live.sleep("15 s")
    assert redis(live["n1"], "set before 1") == "OK"
    assert redis(live["n1"], "wait 2 1000") == "2", "both replicas have it"
    assert primary_of(live["n2"]) == live["n1"].address
    live.link("l-n1").down()
    live.sleep("5 s")
    said = redis(live["n1"], "set meanwhile 1")
    live.sleep("20 s")
    [new] = [name for name in NAMES if live[name].address == primary_of(live["n2"])]
    assert new != "n1" and primary_of(live["n3"]) == live[new].address
    assert redis(live[new], "get before") == "1", "what both had is not lost"
    assert redis(live[new], "set after 1") == "OK"
    live.link("l-n1").up()
    live.sleep("30 s")
    assert redis(live["n1"], "role").splitlines()[0] == "slave", "the old primary follows the new one"
    assert redis(live["n1"], "get after") == "1"
    return said, new


@pytest.mark.parametrize("careful", [False, True])
def test_a_primary_that_is_cut_off_is_replaced(netloom_labs: Labs, careful: bool) -> None:
    with netloom_labs.up(shop(careful)) as live:
        said, new = cut_off(live)
        # The old primary does not know that it is none any more. With `min-replicas-to-write` it refuses what would be lost.
        assert ("NOREPLICAS" in said) == careful
        assert (said == "OK") == (not careful)
        assert redis(live[new], "exists meanwhile") == "0", "it is lost, or was never taken"
