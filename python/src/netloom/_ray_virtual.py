"""The parts of a lab in virtual time on the machines of a cluster: how each is started, how they end, and how their results come into one folder.

All parts play the same lab file, and each has the results of the whole lab. They find one another by themselves, and end when one of them is lost.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _equal_parts, _parts
from ._parts import PartResults

#: How long parts may take to end by themselves when one of them has failed, in seconds.
SETTLING = 4.0
#: What a part says that ends since another one did.
CONSEQUENCES = (" of the lab is lost: ", " of the lab has come to its end, and this part has not")


def options(parts: Sequence[PartResults], port: int, machines: int | None) -> dict[str, list[str]]:
    """The options of each part's command, by machine; `machines`: among how many the lab is divided, if not those of its file."""
    at: list[str] = []
    for place, part in enumerate(parts):
        host = f"[{part.address}]" if ":" in part.address else part.address
        at += ["--at", f"{part.machine}={host}:{port + place}"]
    divided = [] if machines is None else ["--machines", str(machines)]
    return {part.machine: ["--part", part.machine, *at, *divided] for part in parts}


def new_key() -> str:
    """A key for the parts of one run."""
    return secrets.token_hex(32)


def note_consequences(parts: Sequence[PartResults]) -> None:
    """Notes of parts that ended because another one did that they were cut short."""
    ended = [part for part in parts if part.lost is None and part.code is not None]
    following = [
        part for part in ended if part.code == _parts.DIED and any(text in _why(part) for text in CONSEQUENCES)
    ]
    causes = [
        part
        for part in parts
        if part not in following and (part.lost is not None or part.code not in (None, *_parts.ENDED))
    ]
    for part in following if causes else []:
        part.is_cut_short = True


def _why(part: PartResults) -> str:
    return (part.report or {}).get("error") or part.said


def best(parts: Sequence[PartResults], found: Mapping[str, Mapping[str, str]]) -> PartResults | None:
    """The part whose results are those of the lab: the first one that came to its end, or else the first one that has any."""
    there = [part for part in parts if part.lost is None and found.get(part.machine)]
    return next((part for part in there if part.code in _parts.ENDED), there[0] if there else None)


def joined(
    folder: Path,
    parts: Sequence[PartResults],
    base: PartResults,
    found: Mapping[str, Mapping[str, str]],
    interrupted: bool,
    cluster_lost: str | None = None,
) -> dict[str, Any]:
    """Makes one results folder of those in `parts/MACHINE`, of which that of `base` is whole; the report. `found`: the digests of all parts."""
    note_consequences(parts)
    home = folder / "parts" / base.machine
    own = [str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and not path.is_symlink()]
    _equal_parts.move_in(home, folder)
    _equal_parts.keep_own(folder, base.machine, [name for name in own if _equal_parts.is_own(name)])
    # Parts that were ended may be at different instants.
    compared = {
        part.machine: found[part.machine] for part in parts if part.code in _parts.ENDED and part.machine in found
    }
    return _equal_parts.join(folder, parts, base, _equal_parts.differences(compared), interrupted, cluster_lost)
