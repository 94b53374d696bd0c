"""Measures the path between two machines of a cluster of Ray: `netloom doctor --between` becomes this."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from . import _between, _ray, _ray_run
from ._errors import NetloomError

#: How long a machine may take to start and to measure, in seconds.
PATIENCE = 60.0
#: By how much frames of cut links leave earlier than the path takes, in nanoseconds (docs/tunnel.md).
AHEAD_NS = 300_000


def main(order: str) -> int:
    """Prints what the path is like.

    Args:
        order: An object in JSON: `machines` (both addresses), `on` (`ray`, or the address of a cluster), `json`.
    """
    asked = json.loads(order)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    out = os.dup(1)
    _ray.keep_stdout()
    try:
        ray = _ray.ray_itself()
        _ray.connect(ray, None if asked["on"] == "ray" else asked["on"])
        found = between(ray, asked["machines"])
    except NetloomError as error:
        print(f"error: {error}", file=sys.stderr)
        return 8
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    with os.fdopen(out, "w", encoding="utf-8") as stdout:
        print(json.dumps(found, indent=2) if asked["json"] else "\n".join(text(found)), file=stdout)
    return 0 if found["round_trip_ns"] is not None else 4


def between(ray: Any, addresses: list[str]) -> dict[str, Any]:
    """What the path between two machines is like.

    Raises:
        NetloomError: One is not in the cluster, or could not measure.
    """
    there = {node["NodeManagerAddress"]: node["NodeID"] for node in _ray_run.nodes_of(ray)}
    for address in addresses:
        if address not in there:
            raise NetloomError(f"no machine of the cluster is {address}; these are: {', '.join(sorted(there))}")
    if addresses[0] == addresses[1]:
        raise NetloomError(f"both machines are {addresses[0]}")
    ray.cloudpickle.register_pickle_by_value(_between)

    def on(address: str, kind: Any, *arguments: Any) -> Any:
        place = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(there[address], soft=False)
        return ray.remote(num_cpus=0, max_restarts=0, scheduling_strategy=place)(kind).remote(*arguments)

    ways: list[dict[str, Any]] = []
    try:
        for own, other in (addresses, addresses[::-1]):
            answering = on(other, _between.Answering, other)
            ports = ray.get(answering.ports.remote(), timeout=PATIENCE)
            asking = on(own, _between.Asking, own, other, ports)
            ways.append(ray.get(asking.measure.remote(), timeout=PATIENCE))
            for actor in (answering, asking):
                ray.kill(actor)
    except ray.exceptions.RayError as error:
        raise NetloomError(f"the machines could not measure: {str(error).strip().splitlines()[-1]}") from None
    return described(addresses, ways)


def described(addresses: list[str], ways: list[dict[str, Any]]) -> dict[str, Any]:
    """What is printed. `ways`: what each of both machines has measured."""
    trips = sorted(trip for way in ways for trip in way["round_trips_ns"])
    lost, packets = sum(way["lost"] for way in ways), [way["packet_bytes"] for way in ways if way["packet_bytes"]]
    found: dict[str, Any] = {
        "machines": addresses,
        "questions": len(trips) + lost,
        "lost_questions": lost,
        "round_trip_ns": None,
        "clock_ahead_ns": ways[0]["clock_ahead_ns"],
        "clock_bound_ns": None,
        "packet_bytes": min(packets, default=None),
        "rates_bits_per_second": [way["rate_bits_per_second"] for way in ways],
        "path_ns": None,
        "least_delay_ns": None,
    }
    if trips:
        at = {
            name: trips[min(int(share * len(trips)), len(trips) - 1)] for name, share in (("p50", 0.5), ("p99", 0.99))
        }
        # Half of the round trip, in steps of 10 us.
        path = -(-at["p99"] // 20_000) * 10_000
        found |= {"round_trip_ns": {"least": trips[0], **at, "most": trips[-1]}, "clock_bound_ns": trips[0] // 2}
        found |= {"path_ns": path, "least_delay_ns": path + AHEAD_NS}
    return found


def text(found: dict[str, Any]) -> list[str]:
    """The same for people."""
    one, other = found["machines"]
    lost = f"loss        {found['lost_questions']} of {found['questions']} questions"
    trips = found["round_trip_ns"]
    if trips is None:
        return [f"between {one} and {other}", lost, "nothing came through: a firewall may drop UDP between them"]

    def time_of(ns: int) -> str:
        return f"{ns / 1e6:.2f} ms"

    rates = [f"{rate / 1e9:.2f} Gbit/s" for rate in found["rates_bits_per_second"]]
    ahead = found["clock_ahead_ns"]
    return [
        f"between {one} and {other}",
        f"round trip  {time_of(trips['least'])} at least, {time_of(trips['p50'])} in the median, "
        f"{time_of(trips['p99'])} (99 %), {time_of(trips['most'])} at most",
        lost,
        f"packets     {found['packet_bytes']} bytes",
        f"rate        {rates[0]} there, {rates[1]} back (one TCP stream of Python)",
        f"clocks      {other} is {'ahead' if ahead >= 0 else 'behind'} by {time_of(abs(ahead))}, "
        f"known to {time_of(found['clock_bound_ns'])}",
        f"links       may be cut from {time_of(found['least_delay_ns'])} of delay on: --path {found['path_ns'] // 1000}us",
    ]


if __name__ == "__main__":
    # Ray's own threads would keep a process that has nothing more to do.
    code = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(code)
