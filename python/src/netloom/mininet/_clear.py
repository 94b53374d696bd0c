"""Errors that say what is wrong and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, NoReturn


class Unsupported(Exception):
    """A call of Mininet's that cannot work here; the message says why."""


def refuse(what: str, why: str) -> NoReturn:
    """Refuses a call.

    Raises:
        Unsupported: Always.
    """
    raise Unsupported(f"netloom: {what} cannot work here: {why}")


def meant(name: str, names: Iterable[str]) -> str:
    """Asks whether another name was meant; empty if none is near."""
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.7)
    return f": did you mean `{near[0]}`?" if near else ""


class Explained:
    """Attributes that do not exist give an error that names the nearest one."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"Mininet's {type(self).__name__} has no `{name}`{meant(name, (each for each in dir(self) if each[0] != '_'))}",
            name=name,
            obj=self,
        )
