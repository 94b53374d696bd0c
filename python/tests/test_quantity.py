"""Quantities are read as the program and the page read them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from netloom._quantity import TIMES, amount
from netloom._settings import nanoseconds
from netloom.mininet import _qdiscs, _shaping

TABLE = Path(__file__).parents[2] / "tests" / "golden" / "exact.csv"


def cases(*kinds: str) -> list[tuple[str, str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        found = [(row["kind"], row["text"], row["value"]) for row in csv.DictReader(file)]
    return [row for row in found if row[0] in kinds]


def test_times_are_exact_or_refused() -> None:
    table = cases("time")
    assert len(table) > 20
    for _, text, value in table:
        if value:
            assert nanoseconds(text) == int(value), text
        else:
            with pytest.raises(ValueError, match="is no duration"):
                nanoseconds(text)


def test_values_of_tc_are_exact_or_refused() -> None:
    table = cases("tc-time", "tc-rate", "tc-size")
    assert len(table) > 15
    for kind, text, value in table:
        read = {
            "tc-time": lambda text: _shaping.time_ns("tc", "time", text),
            "tc-rate": lambda text: int(_qdiscs.rate(text).removesuffix(" bit/s")),
            "tc-size": _qdiscs.size,
        }[kind]
        if value:
            assert read(text) == int(value), text
        else:
            with pytest.raises(Exception, match=r"is no time|Illegal"):
                read(text)


def test_only_tc_has_exponents() -> None:
    assert amount("1e3 ms", TIMES) is None
    assert amount("1e3 ms", TIMES, exponents=True) == 10**9
    assert amount("1e9999999 ms", TIMES, exponents=True) is None
