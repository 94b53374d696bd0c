"""The path between two machines, measured over the loopback interface, and what is said of it."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from netloom import _between, _ray_between


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_path_is_measured_from_one_end(address: str) -> None:
    answering = _between.Answering(address)
    found = _between.Asking(address, address, answering.ports()).measure()
    trips = found["round_trips_ns"]
    assert found["lost"] == 0 and len(trips) == _between.QUESTIONS and 0 < trips[0] <= trips[-1]
    assert abs(found["clock_ahead_ns"]) <= trips[0] // 2 + 20_000
    assert found["packet_bytes"] == _between.LONGEST and found["rate_bits_per_second"] > 1e7


def test_nobody_answers() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        found = _between.Asking("127.0.0.1", "127.0.0.1", (port, port)).measure()
    assert (found["lost"], found["round_trips_ns"]) == (_between.QUESTIONS, [])
    assert found["packet_bytes"] is None and found["rate_bits_per_second"] is None


def way(trips: list[int], lost: int = 0) -> dict[str, Any]:
    return {
        "round_trips_ns": trips,
        "lost": lost,
        "clock_ahead_ns": -1_310_000 if trips else None,
        "packet_bytes": 1_500 if trips else None,
        "rate_bits_per_second": 9.36e9 if trips else None,
    }


def test_what_is_said_of_a_path() -> None:
    trips = [240_000] * 50 + [290_000] * 49 + [1_020_000]
    found = _ray_between.described(["192.0.2.1", "192.0.2.2"], [way(trips, 2), way(trips)])
    assert (found["path_ns"], found["least_delay_ns"]) == (510_000, 810_000)
    assert _ray_between.text(found) == [
        "between 192.0.2.1 and 192.0.2.2",
        "round trip  0.24 ms at least, 0.29 ms in the median, 1.02 ms (99 %), 1.02 ms at most",
        "loss        2 of 202 questions",
        "packets     1500 bytes",
        "rate        9.36 Gbit/s there, 9.36 Gbit/s back (one TCP stream of Python)",
        "clocks      192.0.2.2 is behind by 1.31 ms, known to 0.12 ms",
        "links       may be cut from 0.81 ms of delay on: --path 510us",
    ]
    none = _ray_between.described(["a", "b"], [way([], 500), way([], 500)])
    assert none["round_trip_ns"] is None
    assert _ray_between.text(none)[1:] == [
        "loss        1000 of 1000 questions",
        "nothing came through: a firewall may drop UDP between them",
    ]
