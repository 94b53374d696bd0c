"""A file over QUIC by satellite and by mobile network: handshake, first byte, goodput."""

from __future__ import annotations

import sys
from pathlib import Path

from netloom import DeliveryTrace, GilbertLoss, Lab, Link, Schedule
from netloom.pytest_plugin import Labs
from netloom.result import Result

HERE = Path(__file__).parent
TRACES = HERE.parents[1] / "traces"
SIZE = 500_000


def satellite(lab: Lab) -> Link:
    """A geostationary one: 270 ms up and down, 20 Mbit/s, losses in bursts when it rains."""
    return lab.link(
        "client",
        "server",
        name="l",
        rate="20 Mbit/s",
        delay="270 ms",
        loss=GilbertLoss(share="0.1 %", burst="4 packets"),
    )


def cellular(lab: Lab) -> Link:
    """A phone in a moving car: the radio link carries packets when a trace says so, and its delay and loss rise and fall."""
    driving = Schedule(file=str(TRACES / "driving.csv"), interpolation="linear", repeat=True)
    return lab.link(
        "client", "server", name="l", delay="25 ms", schedule=driving,
        forward={"rate": DeliveryTrace(file=str(TRACES / "cellular.up")), "queue": "100 packets"},
        backward={"rate": DeliveryTrace(file=str(TRACES / "cellular.down")), "queue": "300 packets"},
    )  # fmt: skip


def fetched(labs: Labs, path: object) -> Result:
    """A run in which the client fetches the file over this path."""
    lab = Lab("quic", clock="virtual", duration="90 s")
    lab.host("client", memory="256 MB")
    lab.host("server", memory="256 MB")
    path(lab)  # type: ignore[operator]
    program = f"{sys.executable} {HERE / 'transfer.py'}"
    lab["server"].service(f"{program} serve {SIZE}", ready={"file": "/run/quic-is-ready"}, as_="server")
    lab["client"].command(f"{program} fetch server", as_="fetch")
    lab.expect("fetch.exit == 0")
    result = labs.run(lab)
    assert result.ok, result.summary
    return result


def test_a_satellite_costs_round_trips(netloom_labs: Labs) -> None:
    found = fetched(netloom_labs, satellite).json("fetch")
    assert found["bytes"] == SIZE
    # One round trip of 540 ms for the handshake, and one for the first byte.
    assert 0.54 <= found["handshake_s"] < 2.5
    assert 0.54 <= found["first_byte_s"] < 2.5
    # 20 Mbit/s are far away: the window grows by round trips.
    assert 0.3e6 < found["rate"] < 10e6


def test_a_mobile_network_carries_what_its_trace_has(netloom_labs: Labs) -> None:
    result = fetched(netloom_labs, cellular)
    found = result.json("fetch")
    assert found["bytes"] == SIZE
    # The trace has 3.7 Mbit/s with a fade.
    assert 0.1e6 < found["rate"] < 3.7e6
