"""Shows steps of work to whoever waits."""

from __future__ import annotations

import sys
from collections.abc import Callable

from .jupyter import Steps


def progress_writer(progress: bool | Callable[[str], None]) -> Callable[[str], None]:
    """What is called with each step."""
    if callable(progress):
        return progress
    if not progress:
        return _nothing
    if "ipykernel" in sys.modules:
        return Steps()
    return _print


def _nothing(step: str) -> None:
    del step


def _print(step: str) -> None:
    print(step, file=sys.stderr)
