"""What `bw`, `delay`, `jitter`, `loss` and queues of Mininet are in a lab file."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import Any

from .._quantity import amount

#: Units of `tc`, in nanoseconds; a number without one is in microseconds.
_UNITS = {
    "s": 10**9, "sec": 10**9, "secs": 10**9,
    "ms": 10**6, "msec": 10**6, "msecs": 10**6,
    "us": 10**3, "usec": 10**3, "usecs": 10**3, "": 10**3,
    "ns": 1, "nsec": 1, "nsecs": 1,
}  # fmt: skip
#: What Mininet gives its tbf as a burst, in bytes; without a latency it says `15*8/bw` ms, which is as long.
_TBF_BURST = 15_000
#: What Mininet gives its RED: thresholds and limit in bytes, and the length of a packet and of a burst in packets.
_RED = {"limit": 1_000_000, "min": 30_000, "max": 35_000, "packet": 1500, "burst": 20}


def time_ns(where: str, key: str, value: Any) -> int:
    """A time as `tc` has it, in nanoseconds.

    Raises:
        Exception: It is none.
    """
    found = amount(str(value), _UNITS, exponents=True)
    if found is None:
        raise Exception(f"{where}: {key}={value!r} is no time: write for example {key}='10ms'")
    return round(found)


def number(where: str, key: str, value: Any, least: float, most: float, unit: str) -> Decimal:
    """A number between bounds.

    Raises:
        Exception: It is none.
    """
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        found = Decimal("NaN")
    if not found.is_finite() or not least <= found <= Decimal(str(most)):
        above = f" to {most:g}" if math.isfinite(most) else " and above"
        raise Exception(f"{where}: {key}={value!r} is no number of {unit}: {least:g}{above} is possible")
    return found


def direction_keys(
    where: str, *, bw: Any, delay: Any, jitter: Any, loss: Any, speedup: Any, tbf: bool, latency_ms: Any, ecn: bool,
    red: bool, queue: Any,
) -> dict[str, Any]:  # fmt: skip
    """The keys of a direction.

    Raises:
        Exception: A value is wrong; the message says which.
    """
    keys: dict[str, Any] = {}
    rate = speedup if speedup and speedup > 0 else bw
    if rate is not None:
        bits = number(where, "bw", rate, 0, 1e6, "Mbit/s") * 10**6
        if bits < 1:
            raise Exception(f"{where}: bw={rate!r} sends nothing: a rate is above 0 Mbit/s")
        keys["rate"] = f"{int(bits)} bit/s"
        keys.update(_queue_of(where, bits, tbf, latency_ms, ecn, red))
    if queue is not None:
        packets = max(int(number(where, "max_queue_size", queue, 0, 1e9, "packets")), 1)
        red_queue = keys.get("queue") if ecn or red else None
        if isinstance(red_queue, dict):
            # The queue is netem's then, below RED, which still decides who gets in.
            limit = min(max(packets * _RED["packet"], _RED["max"]), _RED["limit"])
            red_queue["limit"] = f"{limit} B"
        else:
            keys["queue"] = f"{packets} packets"
    if delay is not None or jitter is not None:
        middle = time_ns(where, "delay", delay if delay is not None else 0)
        spread = time_ns(where, "jitter", jitter) if jitter is not None else 0
        if spread:
            keys["delay"] = {
                "kind": "uniform", "from": f"{max(middle - spread, 0)} ns", "to": f"{middle + spread} ns",
            }  # fmt: skip
        elif middle:
            keys["delay"] = f"{middle} ns"
    if loss is not None:
        share = number(where, "loss", loss, 0, 100, "percent")
        if share:
            keys["loss"] = f"{share} %"
    return keys


def _queue_of(where: str, bits: Decimal, tbf: bool, latency_ms: Any, ecn: bool, red: bool) -> dict[str, Any]:
    if ecn or red:
        # What `tc` makes of a burst: (burst + 1 - min/packet) >= (1 - (1 - W)^burst) / W.
        return {
            "queue": {
                "kind": "red", "limit": f"{_RED['limit']} B", "min": f"{_RED['min']} B", "max": f"{_RED['max']} B",
                "probability": "100 %", "weight": f"{_weight() * 100:g} %", "ecn": ecn, "hard_drop": False, "mean_packet": f"{_RED['packet']} B",
            }
        }  # fmt: skip
    if tbf:
        burst = Decimal(_TBF_BURST * 8 * 1000) / bits
        latency = burst if latency_ms is None else number(where, "latency_ms", latency_ms, 0.001, 1e6, "ms")
        # What `tc` makes of a latency: limit = rate * latency + burst, in bytes.
        return {"queue": f"{int((latency + burst) * 10**6)} ns"}
    return {}


def _weight() -> float:
    from ._qdiscs import red_weight

    return red_weight(_RED["burst"], _RED["min"], _RED["packet"])


__all__ = ["direction_keys"]
