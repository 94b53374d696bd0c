"""Settings as Python has them, and the text of a lab file that follows from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from os import PathLike, fspath
from typing import Protocol, Union, cast

from ._places import Place, caller
from ._quantity import TIMES, amount


class Named(Protocol):
    """A node, link or command of a lab."""

    @property
    def name(self) -> str:
        """Its name in the lab."""
        ...


#: A duration: `"20 ms"`, or a `timedelta`.
Time = Union[str, timedelta]
#: A rate with its unit: `"100 Mbit/s"`.
Rate = str
#: A size with its unit: `"64 kB"`.
Size = str
#: How much may wait: `"100 packets"`, `"64 kB"` or `"50 ms"`.
Limit = Union[str, timedelta]
#: A probability: `"1 %"`.
Share = str
#: A node, link or command, or its name.
Name = Union[str, Named]


class Model:
    """Something with settings of its own, which knows where it was written."""

    def __init__(self) -> None:
        self._settings: dict[str, object] = {}
        self._place = caller()

    def _put(self, key: str, value: object) -> None:
        if value is not None:
            self._settings[key] = value

    def settings(self) -> dict[str, object]:
        """Its keys and values as in a lab file."""
        return {key: plain(value) for key, value in self._settings.items()}

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in self._settings.items() if key != "kind")
        return f"{type(self).__name__}({settings})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.settings() == other.settings()

    __hash__ = None  # pyright: ignore[reportAssignmentType]


class Placed:
    """A value that was written at a place."""

    def __init__(self, value: object, place: Place | None) -> None:
        self.value = value
        self.place = place


def key_of(argument: str) -> str:
    """The key of the lab file for the name of an argument: Python has words of its own, such as `from`."""
    return argument.removesuffix("_")


def settings_of(arguments: Mapping[str, object]) -> dict[str, object]:
    """Settings from keyword arguments: what is `None` is left out."""
    return {key_of(key): value for key, value in arguments.items() if value is not None}


def plain(value: object) -> object:
    """The value as JSON has it.

    Raises:
        TypeError: Nothing in a lab file is like this value.
    """
    if isinstance(value, Placed):
        return plain(value.value)
    if isinstance(value, Model):
        return value.settings()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, timedelta):
        return duration(value)
    if isinstance(value, PathLike):
        return fspath(cast("PathLike[str]", value))
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {_key(key): plain(each) for key, each in pairs if each is not None}
    if isinstance(value, (Sequence, set, frozenset)):
        return [plain(each) for each in cast("Iterable[object]", value)]
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return name
    raise TypeError(
        f"a lab has no {type(value).__name__}: write text such as '10 ms', a number, True or False, a list, a dict, "
        f"a timedelta, a path, or what netloom.models has; this is {value!r}"
    )


def duration(value: timedelta) -> str:
    """A duration in the words of a lab file, exact."""
    microseconds = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
    if microseconds < 0:
        raise ValueError(f"a duration is not below zero: {value!r}")
    for unit, length in (("s", 1_000_000), ("ms", 1_000)):
        if microseconds % length == 0:
            return f"{microseconds // length} {unit}"
    return f"{microseconds} us"


def nanoseconds(value: Time | float) -> int:
    """A step of time in nanoseconds: text with a unit, a `timedelta`, or a number of seconds.

    Raises:
        ValueError: The text is no duration.
    """
    if isinstance(value, timedelta):
        return ((value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds) * 1_000
    if isinstance(value, (int, float)):
        return round(value * 1e9)
    found = amount(value, TIMES)
    if found is None or found.denominator != 1:
        raise ValueError(f"{value!r} is no duration: write a number and {', '.join(TIMES)}, for example '20 ms'")
    return int(found)


class Writer:
    """Writes a lab as JSON, which is YAML, with each thing that has a place on lines of its own."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._line = 1
        #: The place that each line of the text comes from.
        self.places: dict[int, Place | None] = {}

    def write(self, value: object, place: Place | None = None) -> None:
        """Adds a value."""
        own = _place_of(value)
        value = value.value if isinstance(value, Placed) else value
        if isinstance(value, Model):
            value = value._settings  # pyright: ignore[reportPrivateUsage]
        if own is not None and own != place:
            self._break(own)
            self._body(value, own)
            self._break(place)
        else:
            self._body(value, place)

    def text(self) -> str:
        """All that was written."""
        return "".join(self._parts) + "\n"

    def _body(self, value: object, place: Place | None) -> None:
        if isinstance(value, Mapping):
            self._parts.append("{")
            pairs = [pair for pair in cast("Mapping[object, object]", value).items() if pair[1] is not None]
            for number, (key, each) in enumerate(pairs):
                self._parts.append(", " if number else "")
                self._parts.append(_json(_key(key)) + ": ")
                self.write(each, place)
            self._parts.append("}")
        elif isinstance(value, (list, tuple, set, frozenset)):
            self._parts.append("[")
            for number, each in enumerate(cast("Iterable[object]", value)):
                self._parts.append(", " if number else "")
                self.write(each, place)
            self._parts.append("]")
        else:
            self._parts.append(_json(plain(value)))

    def _break(self, place: Place | None) -> None:
        self._parts.append("\n")
        self._line += 1
        self.places[self._line] = place


def _place_of(value: object) -> Place | None:
    if isinstance(value, Placed):
        return value.place
    return value._place if isinstance(value, Model) else None  # pyright: ignore[reportPrivateUsage]


def _key(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        name = getattr(value, "name", None)
        if not isinstance(name, str):
            raise TypeError(f"a key is text or a number, not {value!r}")
        return name
    return str(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
