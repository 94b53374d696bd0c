"""What parts of the package need of labs and results, so that a part knows nothing else of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, Union

from . import _calls

#: What becomes of steps of work that a person may wait for: `True` prints them, a function gets each.
Progress = Union[bool, Callable[[str], None]]


class Described(Protocol):
    """A lab that can be run."""

    def written(self) -> _calls.Text:
        """Its lab file."""
        ...


class Variable(Described, Protocol):
    """A lab whose settings can be varied."""

    settings: dict[str, object]


class Drawable(Protocol):
    """A lab that has a picture."""

    def svg(self) -> str:
        """Its picture."""
        ...


class Tables(Protocol):
    """A result with tables."""

    @property
    def lab(self) -> str:
        """The lab's name."""
        ...

    def file(self, name: str) -> Path:
        """Returns the path of a file of the results."""
        ...

    def rows(self, name: str) -> list[dict[str, str]]:
        """A CSV file of the results as dicts of texts."""
        ...


class Judged(Protocol):
    """A result with a verdict."""

    @property
    def folder(self) -> Path:
        """Its folder."""
        ...

    @property
    def ok(self) -> bool:
        """Whether everything was as it should be."""
        ...

    def to_html(self) -> str:
        """What it says, for a page."""
        ...


class Moment(Protocol):
    """What time it is in a lab."""

    @property
    def seconds(self) -> float:
        """Seconds since all services were ready."""
        ...

    @property
    def clock(self) -> str:
        """`real`, `dilated` or `virtual`."""
        ...

    @property
    def paused(self) -> bool:
        """Whether it stands still until somebody lets it go on."""
        ...


class Addressed(Protocol):
    """A node with addresses."""

    @property
    def addresses(self) -> list[str]:
        """Its addresses, without prefix lengths."""
        ...


class Running(Protocol):
    """A lab that is up."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def nodes(self) -> Mapping[str, Addressed]:
        """All nodes by name."""
        ...

    @property
    def now(self) -> Moment:
        """What time it is."""
        ...
