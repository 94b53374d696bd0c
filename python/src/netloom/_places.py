"""Where in a user's program a part of a lab was written, so that errors can point there."""

from __future__ import annotations

import linecache
import re
import sys
from dataclasses import dataclass
from pathlib import Path

_OWN_FOLDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class Place:
    """A line of a Python file."""

    file: str
    line: int

    def shown_file(self) -> str:
        """What the file is called: a cell of a notebook has a file that goes with the notebook."""
        return "<cell>" if re.search(r"[/\\]ipykernel_\d+[/\\]\w+\.py$|^<ipython-input-", self.file) else self.file

    def show(self) -> str:
        """The place and its line, in the form of the program's own errors."""
        text = linecache.getline(self.file, self.line).rstrip()
        where = f"{self.shown_file()}:{self.line}"
        if not text:
            return f" --> {where}"
        number = str(self.line)
        blank = " " * len(number)
        return f"{blank}--> {where}\n{blank} |\n{number} | {text}\n{blank} |"


def caller() -> Place | None:
    """The line outside of this package that is being executed."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_OWN_FOLDER):
            return Place(name, frame.f_lineno)
        frame = frame.f_back
    return None
