"""What a run found."""

from __future__ import annotations

import csv
import html
import importlib.util
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from . import _calls
from ._errors import NetloomError, RunError
from ._interfaces import Described, Progress
from ._progress import progress_writer
from .jupyter import result_html
from .plot import Plots

Engine = Literal["pandas", "polars"]


def run(lab: Described, options: _calls.Options, progress: Progress, check: bool) -> Result:
    """See `Lab.run`."""
    report, _ = _calls.run(lab.written(), options, progress_writer(progress))
    result = Result(report["results"], report)
    if check and not result.ok:
        raise RunError(f"lab `{result.lab}`: {result.summary}", result)
    return result


class Result:
    """A results folder, and what is in it.

    Tables come as frames of pandas or polars: of `engine`, or else of pandas if that is installed, or else of polars.
    """

    def __init__(self, folder: str | os.PathLike[str], report: Mapping[str, Any] | None = None) -> None:
        #: The folder.
        self.folder = Path(folder)
        self._report = report

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """`report.json`: all of it in one.

        Raises:
            NetloomError: There is none: the run was cut off, or this is no results folder.
        """
        if self._report is not None:
            return self._report
        path = self.folder / "report.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise NetloomError(
                f"{self.folder} has no report.json: its run was cut off, or it is no results folder"
            ) from None
        except ValueError as error:
            raise NetloomError(f"{path} is damaged: {error}") from None

    @property
    def lab(self) -> str:
        """The lab's name."""
        return str(self.report["lab"])

    @property
    def exit_code(self) -> int:
        """The exit code of the run: 0 if all is as it should be."""
        return int(self.report["exit_code"])

    @property
    def ok(self) -> bool:
        """Whether the network was as described, every expectation was met, and no command failed."""
        return self.exit_code == 0

    @property
    def as_described(self) -> bool | None:
        """Whether the network was as described; none if nothing was judged, as no link carried a packet."""
        said = self.report["verdict"]["as_described"]
        return None if said is None else bool(said)

    @property
    def verdict(self) -> Mapping[str, Any]:
        """The verdict with its findings."""
        return self.report["verdict"]

    @property
    def summary(self) -> str:
        """What there is to be said of it, in words."""
        path = self.folder / "summary.txt"
        if path.exists():
            return path.read_text(encoding="utf-8").strip()
        return str(self.report.get("error") or f"exit code {self.exit_code}")

    @property
    def phases(self) -> dict[str, float]:
        """The wall time in seconds by phase: `setup`, `boot`, `lab`, `end` and `results`, one after the other but for the boot, which is
        a part of the set-up that counts for itself. Empty if the run never reached time zero."""
        phases = (self.report.get("effort") or {}).get("phases") or {}
        return {name.removesuffix("_ns"): ns / 1e9 for name, ns in phases.items()}

    @property
    def figures(self) -> dict[str, float | None]:
        """What the lab's `figures` have measured, by name; units are in `report`."""
        return {str(each["name"]): each.get("value") for each in self.report.get("figures", [])}

    @property
    def expectations(self) -> Sequence[Mapping[str, Any]]:
        """Each expectation, whether it was met, and what was measured."""
        return self.report.get("expectations", [])

    @property
    def commands(self) -> dict[str, Mapping[str, Any]]:
        """Each command and service by name: its exit code, when it ran, where its logs are."""
        return {str(each["name"]): each for each in self.report.get("commands", [])}

    @property
    def provenance(self) -> Mapping[str, Any]:
        """With what and how it was run."""
        return json.loads((self.folder / "provenance.json").read_text(encoding="utf-8"))

    @property
    def captures(self) -> list[Path]:
        """Captures of packets, as pcapng files."""
        return sorted((self.folder / "captures").glob("*.pcapng"))

    def log(self, command: str, stream: Literal["stdout", "stderr"] = "stdout") -> str:
        """What a command or service wrote.

        Raises:
            KeyError: There is no such command.
        """
        if command not in self.commands:
            raise KeyError(f"no command is called `{command}`: there are {', '.join(self.commands)}")
        path = self.commands[command].get(stream)
        return (self.folder / path).read_text(encoding="utf-8", errors="replace") if path else ""

    def json(self, command: str) -> Any:
        """What a command wrote to standard output, as JSON."""
        return json.loads(self.log(command))

    # Tables

    def pipes(self, engine: Engine | None = None) -> Any:
        """One row per pipe: what was described and what was measured."""
        return self.table("pipes.csv", engine)

    def samples(self, engine: Engine | None = None) -> Any:
        """Counters of each pipe over time."""
        return self.table("samples.csv", engine)

    def tcp(self, engine: Engine | None = None) -> Any:
        """The state of TCP connections inside nodes over time, if the lab measures it."""
        return self.table("tcp.csv", engine)

    def journal(self, engine: Engine | None = None) -> Any:
        """What happened to each packet in each pipe, if the lab keeps a `journal`; pandas needs pyarrow for it."""
        return self.table("journal.arrows", engine)

    def events(self, engine: Engine | None = None) -> Any:
        """What happened and when."""
        return _frame_of_rows(list(self.iter_events()), engine)

    def iter_events(self) -> Iterator[dict[str, Any]]:
        """The same as dicts, one after the other."""
        with open(self.folder / "events.jsonl", encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)

    def table(self, name: str, engine: Engine | None = None) -> Any:
        """Any CSV, Arrow or Parquet file of the results as a frame.

        Raises:
            NetloomError: There is no such file, or it cannot be read with what is installed.
        """
        return _frame(self.file(name), engine)

    def file(self, name: str) -> Path:
        """Returns the path of a file of the results.

        Raises:
            NetloomError: There is none; the message says what would make it.
        """
        path = self.folder / name
        if not path.exists():
            raise NetloomError(f"this run has no {name}: {_why(name)}")
        return path

    def rows(self, name: str) -> list[dict[str, str]]:
        """A CSV file of the results as dicts of texts, without any library."""
        with open(self.folder / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def plot(self) -> Plots:
        """Pictures with matplotlib: `result.plot.throughput()`."""
        return Plots(self)

    def __repr__(self) -> str:
        state = "ok" if self.ok else f"exit code {self.exit_code}"
        return f"<result of {self.lab}: {state}, {self.folder}>"

    def _repr_html_(self) -> str:
        return result_html(self)

    def to_html(self) -> str:
        """What it says, for a page."""
        return f"<pre>{html.escape(self.summary)}</pre>"


def _why(name: str) -> str:
    reasons = {
        "samples.csv": "a lab that was up is sampled if it asks for it with `Lab(measure=Measure(pipes='100 ms'))`",
        "journal.arrows": "ask for it with `Lab(journal='all')`",
        "tcp.csv": "ask for it with `Lab(measure=Measure(tcp='10 ms'))`",
    }
    return reasons.get(name, "see `docs/results.md` for what there is and when")


def engine_of(engine: Engine | None) -> Engine:
    """The library for frames.

    Raises:
        NetloomError: It is not installed.
    """
    order: tuple[Engine, ...] = (engine,) if engine else ("pandas", "polars")
    for name in order:
        if name not in ("pandas", "polars"):
            raise ValueError(f"engine={name!r}: write 'pandas' or 'polars'")
        if importlib.util.find_spec(name) is not None:
            return name
    wanted = engine or "pandas"
    raise NetloomError(f"tables need {' or '.join(order)}, which is not installed: `pip install netloom[{wanted}]`")


def _frame(path: Path, engine: Engine | None) -> Any:
    chosen = engine_of(engine)
    library: Any = importlib.import_module(chosen)
    kind = path.suffix
    if kind == ".csv" and chosen == "polars":
        return library.read_csv(path, infer_schema_length=None)
    if kind == ".csv":
        return library.read_csv(path)
    if kind == ".arrows" and chosen == "polars":
        return library.read_ipc_stream(path)
    if kind == ".arrows":
        if importlib.util.find_spec("pyarrow") is None:
            raise NetloomError(f"reading {path.name} with pandas needs pyarrow: `pip install netloom[pandas]`")
        arrow: Any = importlib.import_module("pyarrow.ipc")
        with path.open("rb") as file:
            return arrow.open_stream(file).read_pandas()
    if kind == ".parquet":
        return library.read_parquet(path)
    if kind in (".arrow", ".feather", ".ipc") and chosen == "polars":
        return library.read_ipc(path, memory_map=False)
    if kind in (".arrow", ".feather", ".ipc"):
        return library.read_feather(path)
    raise NetloomError(f"{path} is no table: write the name of a CSV, Arrow or Parquet file")


def _frame_of_rows(rows: list[dict[str, Any]], engine: Engine | None) -> Any:
    chosen = engine_of(engine)
    library: Any = importlib.import_module(chosen)
    if chosen == "polars":
        return library.DataFrame(rows, infer_schema_length=None, strict=False)
    return library.DataFrame(rows)
