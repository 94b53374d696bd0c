"""Does a client that repeats its requests get through a link that loses packets and goes down, and does nothing happen twice?"""

from __future__ import annotations

from pathlib import Path

from netloom import GilbertLoss, Lab
from netloom.pytest_plugin import Labs
from netloom.result import Result

HERE = Path(__file__).parent
ORDERS = 30


def shop(tries: int) -> Lab:
    """A client and a server; packets are lost in bursts, and the link is down for 3 s."""
    lab = Lab("shop", clock="virtual", duration="60 s")
    client, server = lab.host("client"), lab.host("server")
    link = lab.link(
        client, server, name="l", rate="5 Mbit/s", delay="40 ms", loss=GilbertLoss(share="5 %", burst="3 packets")
    )
    server.service(f"python3 {HERE / 'server.py'}", ready={"tcp": 80}, as_="server")
    client.command(f"python3 {HERE / 'client.py'} server {ORDERS} {tries}", as_="client")
    link.down("2 s", "3 s")
    return lab


def counts(result: Result) -> tuple[int, int, int, int]:
    """How many orders the client knows to be taken and to have failed, and how many the server took, and took again."""
    said = [line.split()[0] for line in result.log("client").splitlines()]
    seen = [line.split()[0] for line in result.log("server").splitlines()]
    return said.count("taken"), said.count("failed"), seen.count("order"), seen.count("again")


def test_one_try_is_too_few(netloom_labs: Labs) -> None:
    taken, failed, _, _ = counts(netloom_labs.run(shop(1)))
    assert taken + failed == ORDERS
    assert failed > 0


def test_repeated_requests_get_through_and_count_once(netloom_labs: Labs) -> None:
    taken, failed, orders, again = counts(netloom_labs.run(shop(8)))
    assert (taken, failed) == (ORDERS, 0)
    assert orders == ORDERS
    # More would load the server just when it is hard to reach.
    assert again <= ORDERS / 2
