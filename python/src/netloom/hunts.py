"""Many runs of one lab in virtual time, each with other faults: what fails, and the few faults that are enough for it."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from . import _calls
from ._errors import NetloomError, ProgramError
from ._interfaces import Progress
from ._places import caller
from ._progress import progress_writer
from ._settings import Placed, Time, nanoseconds
from .lab import Lab

#: Exit codes of `netloom hunt` with which there is a summary.
_WITH_SUMMARY = (0, 1, 8)
#: The parameter by which a test gets what was found, and judges it itself.
_FOUND = "found"
#: The fixture that plays hunts of tests.
_FIXTURE = "netloom_hunts"


def play(
    lab: Lab,
    *,
    keys: Mapping[str, object] | None = None,
    out: str | os.PathLike[str] | None = None,
    runs: int | None = None,
    lasts: Time | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    resume: bool = False,
    corpus: str | os.PathLike[str] | None = None,
    kernel: str | os.PathLike[str] | None = None,
    wall_limit: Time | None = None,
    progress: Progress = False,
) -> HuntResult:
    """Hunts a lab: see `Lab.hunt`, whose arguments these are."""
    text = _text_of(lab, keys or {})
    folder = Path(out) if out is not None else Path("hunts") / text.name
    options = ["--out", str(folder)]
    for name, value in [("runs", runs), ("seed", seed), ("jobs", jobs), ("corpus", corpus), ("kernel", kernel)]:
        if value is not None:
            options += [f"--{name}", os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    for name, span in [("for", lasts), ("wall-limit", wall_limit)]:
        if span is not None:
            options += [f"--{name}", f"{nanoseconds(span)} ns"]
    with text.arguments() as arguments:
        command = ["hunt", *arguments, *options, *["--resume"] * resume, *["--quiet"] * (progress is not True)]
        code, _, said = _calls.spawn(command, progress_writer(progress))
    if code not in _WITH_SUMMARY:
        raise _calls.explained(ProgramError(said or f"netloom hunt ended with code {code}", code), text)
    return HuntResult(folder)


def _text_of(lab: Lab, keys: Mapping[str, object]) -> _calls.Text:
    """The lab file with what the hunt has beside it."""
    place = caller()
    before = dict(lab.settings)
    try:
        own = before.get("hunt")
        merged: dict[str, object] = dict(own) if isinstance(own, Mapping) else {}
        merged.update({name.rstrip("_"): Placed(value, place) for name, value in keys.items()})
        if keys or own is None:
            lab.settings["hunt"] = merged
        lab.settings.setdefault("clock", "virtual")
        return lab.written()
    finally:
        lab.settings = before


@dataclass(frozen=True)
class Finding:
    """A failure, and the few faults that are enough for it."""

    #: What failed.
    failure: str
    #: The entries of the timeline that are enough.
    faults: tuple[str, ...]
    #: The lab that shows it.
    lab: Path

    def __str__(self) -> str:
        faults = self.faults or ("without any fault",)
        return "\n".join([self.failure, *(f"  {fault}" for fault in faults), f"  {self.lab}"])


class HuntResult:
    """The folder of a hunt, and what was found."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        #: The folder.
        self.folder = Path(folder)

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """`hunt.json`.

        Raises:
            NetloomError: There is none.
        """
        path = self.folder / "hunt.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise NetloomError(f"{self.folder} has no hunt.json: no hunt has ended there") from None

    @property
    def findings(self) -> list[Finding]:
        """What was found."""
        return [self._finding(found) for found in self.document["findings"]]

    def _finding(self, found: Mapping[str, Any]) -> Finding:
        failure = found["failure"]
        said = failure.get("said") or failure["message"]
        text = failure["property"] + (f": {said}" if said else "")
        faults = tuple(entry for fault in found["minimal"] for entry in fault["entries"])
        return Finding(text, faults, self.folder / "findings" / f"{found['finding']:04}" / "minimal.yaml")

    @property
    def never_reached(self) -> list[str]:
        """What must hold sometimes, and did in no run."""
        return [one["property"] for one in self.document["sometimes"] if one["runs"] == 0]

    @property
    def runs(self) -> int:
        """How many runs were played."""
        return int(self.document["runs"])

    @property
    def problems(self) -> list[str]:
        """All that keeps the hunt from being good, each in a text of its own; empty if it is."""
        found = self.document
        problems = [str(finding) for finding in self.findings]
        for one in found.get("regress", []):
            if one["error"]:
                problems.append(f"{one['lab']} showed nothing: {one['error']}")
            problems += [f"{one['lab']} still fails: {failure['property']}" for failure in one["failures"][:1]]
        problems += [f"never reached: {text}" for text in self.never_reached]
        problems += [f"no run decided: {text}" for text in found.get("never_decided", [])]
        if found["runs"] and found["error_count"] >= found["runs"]:
            problems.append(f"no run showed anything: {found['errors'][0]['error']}")
        return problems

    @property
    def ok(self) -> bool:
        """Whether nothing was found, and all was reached that must hold sometimes."""
        return not self.problems

    def __repr__(self) -> str:
        return f"<hunt {self.folder}: {self.runs} runs, {len(self.findings)} findings>"


def hunt(
    file: str | os.PathLike[str] | None = None, /, *, corpus: str | os.PathLike[str] | None = None, **keys: object
) -> Callable[[Callable[..., object]], Callable[..., None]]:
    """Makes a test of pytest a hunt, which fails if the hunt finds something.

    @netloom.hunt("store.yaml", faults={"kill": "on"}, always=["client.exit == 0"])
    def test_store():
        ...

    @netloom.hunt(runs=100, sometimes=['log n* matches "leader"'])
    def test_made_here():
        return lab()

    The test takes whatever fixtures it likes. With the parameter `found` it gets the `HuntResult`, and judges it itself.

    Args:
        file: The lab file, from the folder of the test; without it, the test returns a `Lab`.
        corpus: A folder of findings, from the folder of the test: they are played first, and new ones are added.
        **keys: Keys of `hunt` in the lab file: `runs`, `faults`, `always`, …
    """

    def decorate(function: Callable[..., object]) -> Callable[..., None]:
        own = inspect.signature(function)
        takes = _FOUND in own.parameters
        if takes and file is None:
            raise TypeError(
                f"{function.__name__}: `{_FOUND}` is what was found in a lab file: name it in the decorator"
            )
        home = Path(inspect.getfile(function)).parent

        @functools.wraps(function)
        def test(**fixtures: object) -> None:
            hunts: Any = fixtures.pop(_FIXTURE)
            made = Lab.load(home / file) if file is not None else function(**fixtures)
            if not isinstance(made, Lab):
                raise TypeError(
                    f"{function.__name__} returned {made!r}: return a Lab, or name a lab file in the decorator"
                )
            found = hunts.play(made, function.__name__, keys, None if corpus is None else home / corpus)
            if file is not None:
                function(**fixtures, **({_FOUND: found} if takes else {}))
            if not takes:
                hunts.judge(found)

        parameters = [one for name, one in own.parameters.items() if name != _FOUND]
        parameters.append(inspect.Parameter(_FIXTURE, inspect.Parameter.KEYWORD_ONLY))
        test.__signature__ = own.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
        return test

    return decorate
