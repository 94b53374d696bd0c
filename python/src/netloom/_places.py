"""Where in a user's program a part of a lab was written, so that errors can point there."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from pathlib import Path

_OWN_FOLDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class Place:
    """A line of a Python file."""

    file: str
    line: int

    def show(self) -> str:
        """The place and its line, in the form of the program's own errors."""
        text = linecache.getline(self.file, self.line).rstrip()
        if not text:
            return f" --> {self.file}:{self.line}"
        number = str(self.line)
        blank = " " * len(number)
        return f"{blank}--> {self.file}:{self.line}\n{blank} |\n{number} | {text}\n{blank} |"


def caller() -> Place | None:
    """The line outside of this package that is being executed."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_OWN_FOLDER):
            return Place(name, frame.f_lineno)
        frame = frame.f_back
    return None
