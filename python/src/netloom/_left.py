"""What machines of a cluster have left that a run has lost: a note of it in the results folder, and how it comes there (`netloom collect`)."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from pathlib import Path

#: In a results folder: the cluster, and the machines that have something left.
NOTE = "left.json"


@dataclass(frozen=True)
class Place:
    """Where the results of a part are."""

    machine: str
    address: str
    #: Under which name the machine keeps them.
    name: str


def note(folder: Path, cluster: str, places: Sequence[Place]) -> None:
    """Notes where machines keep what they have, in case they are lost."""
    new = folder / f".{NOTE}"
    new.write_text(json.dumps({"cluster": cluster, "places": [asdict(place) for place in places]}, indent=2) + "\n")
    new.rename(folder / NOTE)


def noted(folder: Path) -> tuple[str, list[Place]] | None:
    """The cluster and the machines that have something left; none if none has."""
    try:
        found = json.loads((folder / NOTE).read_bytes())
    except FileNotFoundError:
        return None
    return found["cluster"], [Place(**place) for place in found["places"]]


def forget_all_but(folder: Path, machines: AbstractSet[str]) -> None:
    """Notes that no others have anything left."""
    if (found := noted(folder)) is None:
        return
    cluster, places = found
    places = [place for place in places if place.machine in machines]
    if places:
        note(folder, cluster, places)
    else:
        (folder / NOTE).unlink()


def unpack(archive: bytes, parts: Path, machine: str) -> None:
    """Puts the results of a part where they belong, instead of what is there."""
    home, new = parts / machine, parts / f".new-{machine}"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(new, filter="tar")
        else:
            packed.extractall(new)
    [results] = new.iterdir()
    shutil.rmtree(home, ignore_errors=True)
    os.rename(results, home)
    new.rmdir()
