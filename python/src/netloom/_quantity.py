"""Decimal numbers with units, exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

#: Units of time in a lab file, in nanoseconds.
TIMES = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_QUANTITY = re.compile(r"(?P<number>[0-9]*\.?[0-9]+)(?P<exponent>[eE][+-]?[0-9]{1,3})?\s*(?P<unit>[^\s0-9.]\S*|)")


def amount(text: str, units: Mapping[str, int], *, exponents: bool = False) -> Fraction | None:
    """Returns a number with one of these units in their base unit, or None if it is something else.

    Args:
        text: The number and its unit, with or without blanks between them.
        units: How many base units each unit is; that of the empty name is for numbers without a unit.
        exponents: Whether the number may have one, as with `tc`; numbers of lab files have none.
    """
    match = _QUANTITY.fullmatch(text.strip())
    if not match or match["unit"] not in units or (match["exponent"] and not exponents):
        return None
    return Fraction(match["number"] + (match["exponent"] or "")) * units[match["unit"]]


__all__ = ["TIMES", "amount"]
