"""Many runs of one lab with varied values: on this machine, or on those of a Ray cluster."""

from __future__ import annotations

import contextlib
import html
import importlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from . import _calls, _ray
from ._errors import NetloomError, ProgramError
from ._interfaces import Progress, Variable
from ._places import caller
from ._progress import progress_writer
from ._settings import Placed, Time, nanoseconds
from .result import Engine, Result, engine_of

#: Exit codes of `netloom sweep` with which there are tables.
_WITH_TABLES = (0, 1, 5)


def sweep(
    lab: Variable,
    *,
    vary: Mapping[str, object] | None = None,
    repeat: int | None = None,
    out: str | os.PathLike[str] | None = None,
    on: Literal["ray"] | None = None,
    jobs: int | None = None,
    resume: bool = False,
    retry: bool = False,
    clock: str | float | None = None,
    wall_limit: Time | None = None,
    progress: Progress = False,
    ray: Mapping[str, Any] | None = None,
) -> SweepResult:
    """Plays all runs that a lab describes by `vary` and `repeat`.

    Args:
        lab: The lab.
        vary: What differs between the runs: a name, and its values or a dict with `values` or `from`, `to` and `step`, and
            with the `path` where they go: `{"rate": {"path": "links.l.rate", "values": ["1 Mbit/s", "10 Mbit/s"]}}`.
            A value without a path goes where the lab has `${NAME}`. What the lab itself has under `vary` stays.
        repeat: How often each point is played, each time with another seed.
        out: The folder for the results, which is also the state of the sweep; `sweeps/LAB` if none is given.
        on: `ray` plays the runs on the machines of a Ray cluster.
        jobs: How many runs go on at once, at most.
        resume: Goes on with the sweep in the folder.
        retry: Goes on, and plays the runs again that failed.
        clock: `real`, `virtual`, or by how much lab time is slower than wall time.
        wall_limit: After how much wall time a run is ended.
        progress: Whether progress is shown, or a function that gets what is said.
        ray: With `on="ray"`: options of the tasks (`num_cpus`, `max_retries`, `resources`, `runtime_env`).

    Raises:
        LabError: The lab is wrong, at one of the points.
        ProgramError: The sweep could not be played.
    """
    text = _text_of(lab, vary, repeat)
    folder = Path(out) if out is not None else Path("sweeps") / text.name
    options = _options(jobs, resume, retry, clock, wall_limit)
    if on == "ray":
        _ray.play(text, folder, options, progress, dict(ray or {}))
        options = [*_options(jobs, True, False, clock, wall_limit)]
    elif on is not None:
        raise ValueError(f"on={on!r}: write 'ray', or leave it out for this machine")
    return _play(text, folder, options, progress if on is None else False)


def _play(text: _calls.Text, folder: Path, options: list[str], progress: Progress) -> SweepResult:
    with text.arguments() as arguments:
        command = ["sweep", *arguments, "--out", str(folder), "--yes", "--quiet", *options]
        if progress is True:
            command.remove("--quiet")
        code, _, said = _calls.spawn(command, progress_writer(progress))
    if code not in _WITH_TABLES:
        raise _calls.explained(ProgramError(said or f"netloom sweep ended with code {code}", code), text)
    return SweepResult(folder)


def _options(
    jobs: int | None, resume: bool, retry: bool, clock: str | float | None, wall_limit: Time | None
) -> list[str]:
    found: list[str] = []
    if jobs is not None:
        found += ["--jobs", str(jobs)]
    if clock is not None:
        found += ["--clock", str(clock)]
    if wall_limit is not None:
        found += ["--wall-limit", f"{nanoseconds(wall_limit)} ns"]
    return found + ["--resume"] * resume + ["--retry"] * retry


def _text_of(lab: Variable, vary: Mapping[str, object] | None, repeat: int | None) -> _calls.Text:
    """The lab file with what varies."""
    place = caller()
    before = dict(lab.settings)
    try:
        if vary is not None:
            own = before.get("vary")
            merged: dict[str, object] = dict(own) if isinstance(own, Mapping) else {}
            merged.update({name: Placed(value, place) for name, value in vary.items()})
            lab.settings["vary"] = merged
        if repeat is not None:
            lab.settings["repeat"] = Placed(repeat, place)
        return lab.written()
    finally:
        lab.settings = before


class SweepResult:
    """The folder of a sweep, and what is in it."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        #: The folder.
        self.folder = Path(folder)

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """`sweep.json`.

        Raises:
            NetloomError: There is none.
        """
        path = self.folder / "sweep.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise NetloomError(f"{self.folder} has no sweep.json: nothing was played there") from None

    @property
    def complete(self) -> bool:
        """Whether all runs have ended."""
        return bool(self.report.get("complete", True))

    def points(self, engine: Engine | None = None) -> Any:
        """One row per point and figure, with its mean and confidence interval, as a frame.

        Warns if no run counts, so that there is none.
        """
        if (why := self._why_empty()) is not None:
            warnings.warn(why, stacklevel=2)
        return self._table("points.csv", engine)

    def _why_empty(self) -> str | None:
        report = self.report
        if any(each["n"] for point in report.get("points", []) for each in point["figures"].values()):
            return None
        ended = {word: int(report.get(word, 0)) for word in ("as_described", "not_as_described", "failed")}
        counts = {
            "were not as described (`sweep: {count: all}` counts them, too)": ended["not_as_described"],
            "failed": ended["failed"],
            "were not completed": int(report.get("runs", 0)) - sum(ended.values()),
        }
        why = ", ".join(f"{count} {words}" for words, count in counts.items() if count)
        first = next((f"; {out['name']}: {out['why']}" for out in report.get("left_out", []) if out.get("why")), "")
        return f"{self.folder / 'points.csv'} has no row: no run counts" + (
            f": {why}{first}" if why else ", or none has a figure"
        )

    def runs(self, engine: Engine | None = None) -> Any:
        """One row per run, with its parameters, outcome and figures, as a frame."""
        return self._table("runs.csv", engine)

    def results(self) -> Iterator[Result]:
        """The results of each run that has some."""
        for path in sorted((self.folder / "runs").glob("*/run.json")):
            results = json.loads(path.read_text(encoding="utf-8")).get("results")
            if results:
                yield Result(self.folder / results)

    def _table(self, name: str, engine: Engine | None) -> Any:
        library: Any = importlib.import_module(engine_of(engine))
        return library.read_csv(self.folder / name)

    def __repr__(self) -> str:
        return f"<sweep in {self.folder}>"

    def _repr_html_(self) -> str:
        page = self.folder / "report.html"
        if page.is_file():
            source = html.escape(page.read_text(encoding="utf-8"), quote=True)
            return f'<iframe srcdoc="{source}" style="width:100%;height:720px;border:1px solid #ccc"></iframe>'
        with contextlib.suppress(NetloomError):
            return str(self.points()._repr_html_())
        return f"<code>{self.folder}</code>"


__all__ = ["SweepResult", "sweep"]
