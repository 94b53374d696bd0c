"""By how much the clock of a machine is ahead of the one here, from questions and answers. Somebody may set a clock meanwhile: so it is learned again
before each step that the parts of a lab take at one instant.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

#: What two readings of one clock may differ by beside what questions took, in nanoseconds: clocks drift, and are slewed.
SAME = 20_000_000


@dataclass(frozen=True)
class Reading:
    """A clock's lead over the one here, and how long the question took, in nanoseconds: half of that is the most by which the lead is off."""

    ahead_ns: int
    took_ns: int

    def moved_to(self, later: Reading) -> int | None:
        """By how many nanoseconds the clock has moved until then; none if that may be nothing."""
        moved = later.ahead_ns - self.ahead_ns
        return moved if abs(moved) > (self.took_ns + later.took_ns) // 2 + SAME else None


def read(
    ask: Callable[[], int | None],
    rounds: int,
    wall: Callable[[], int] = time.time_ns,
    steady: Callable[[], int] = time.monotonic_ns,
) -> Reading | None:
    """Reads a machine's clock several times; the reading that took the least. None if the machine gives no answer.

    Args:
        ask: The machine's clock, in nanoseconds; none if it does not answer.
        rounds: How often it is asked.
        wall: The clock here.
        steady: One that nobody sets.
    """
    found: list[Reading] = []
    for _ in range(rounds):
        begun, asked_at = steady(), wall()
        clock = ask()
        took = steady() - begun
        if clock is None:
            return None
        found.append(Reading(clock - asked_at - took // 2, took))
    return min(found, key=lambda reading: reading.took_ns)


def told(moved_ns: int) -> str:
    """By how much a clock has moved, for people."""
    return f"{abs(moved_ns) / 1e9:.2f} s {'forward' if moved_ns > 0 else 'back'}"
