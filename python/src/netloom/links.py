"""Links of labs that are up."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ._settings import Model, Time, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keys import DirectionKeys
    from .live import Live

Direction = Literal["forward", "backward"]


class LiveLink:
    """A link of a lab that is up."""

    def __init__(self, lab: Live, described: Mapping[str, Any]) -> None:
        self.lab = lab
        #: What the lab says of it, as it was when the lab was asked first.
        self.described = described

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.described["name"])

    def set(
        self, *, direction: Direction | None = None, pipe: str | None = None, **keys: Unpack[DirectionKeys]
    ) -> None:
        """Changes its settings at once: `live.link("l").set(delay="80 ms", loss="1 %")`.

        Args:
            direction: `forward` or `backward`; both if none is named.
            pipe: A further pipe of it.
            **keys: What changes.

        Raises:
            RefusedError: A value is wrong, or this link cannot be changed.
        """
        changes = [[key.removesuffix("_"), _text(value)] for key, value in keys.items() if value is not None]
        self.lab.ask("set", link=self.name, direction=direction, pipe=pipe, changes=changes)

    def down(self, for_: Time | None = None, *, direction: Direction | None = None, carrier: bool = False) -> None:
        """Cuts it: what is on it is lost or kept as its `state` says.

        Args:
            for_: After so much lab time the lab restores it by itself; without it, it is down until `up`.
            direction: Only this one.
            carrier: Whether its interfaces lose their carrier, too.
        """
        cut = {"carrier": carrier, **({} if for_ is None else {"for": plain(for_)})}
        value = json.dumps(cut) if carrier or for_ is not None else "true"
        self.lab.ask("set", link=self.name, direction=direction, changes=[["down", value]])

    def up(self, *, direction: Direction | None = None) -> None:
        """Restores it."""
        self.lab.ask("set", link=self.name, direction=direction, changes=[["up", "true"]])

    def stats(self) -> list[dict[str, Any]]:
        """What its pipes have counted."""
        return [pipe for pipe in self.lab.stats()["pipes"] if pipe.get("link") == self.name]

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """What is in force on it now, for each pipe: by direction, or `DIRECTION.PIPE` for further ones."""
        found = next(link for link in self.lab.topology()["links"] if link["name"] == self.name)
        name = lambda pipe: ".".join(filter(None, (pipe["direction"], pipe.get("pipe"))))  # noqa: E731
        return {name(pipe): pipe["settings"] for pipe in found["pipes"]}

    @contextlib.contextmanager
    def capture(
        self,
        path: str | os.PathLike[str],
        *,
        direction: Direction | None = None,
        at: str | None = None,
        headers: Literal["ethernet", "radiotap"] | None = None,
    ) -> Generator[Path]:
        """Keeps its packets in a pcapng file during the `with` block.

        Args:
            path: The file.
            direction: Only this one.
            at: `sent`, `delivered`, or a node at an end of it; both ends if none is given.
            headers: `radiotap` for what is on the air of a radio medium; `ethernet` if none is given.
        """
        connection = self.lab.connect()
        try:
            with open(path, "wb") as file:
                wanted: dict[str, object] = {"link": self.name, "direction": direction, "at": at}
                # Labs of earlier versions do not know the key.
                if headers is not None:
                    wanted["headers"] = headers
                connection.ask("capture", [file.fileno()], **wanted)
            yield Path(path)
        finally:
            connection.close()

    def __repr__(self) -> str:
        return f"<link {self.name} of {self.lab!r}>"


def _text(value: object) -> str:
    value = plain(value.settings() if isinstance(value, Model) else value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
