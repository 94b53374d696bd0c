"""Pictures of results with matplotlib."""

from __future__ import annotations

import csv
import importlib.util
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import NetloomError
from ._interfaces import Tables

#: More pipes than these are not drawn unless they are named.
_MOST = 8
_DROPS = (
    "dropped_queue_packets",
    "dropped_early_packets",
    "dropped_loss_packets",
    "dropped_down_packets",
    "dropped_partition_packets",
    "dropped_fault_packets",
    "dropped_air_packets",
)


class Plots:
    """Figures of a result; each method returns a matplotlib figure, or draws on `ax` and returns its figure.

    `pipes` are names such as `backbone.forward`; the busiest ones if none are named.
    """

    def __init__(self, result: Tables) -> None:
        self._result = result
        if importlib.util.find_spec("matplotlib") is None:
            raise NetloomError("pictures need matplotlib, which is not installed: `pip install netloom[plot]`")

    def throughput(self, *pipes: str, ax: Any = None) -> Any:
        """What each pipe has delivered over time, in Mbit/s."""
        figure, axes = self._axes(ax, "throughput [Mbit/s]")
        for name, rows in self._pipes(pipes).items():
            times, bits = _column(rows, "time_s"), _column(rows, "departed_bytes", 8e-6)
            axes.plot(times[1:], _rates(times, bits), label=name, drawstyle="steps-pre")
        return _done(figure, axes)

    def queue(self, *pipes: str, ax: Any = None) -> Any:
        """How many packets wait in each pipe over time."""
        figure, axes = self._axes(ax, "queue [packets]")
        for name, rows in self._pipes(pipes).items():
            axes.plot(_column(rows, "time_s"), _column(rows, "queue_packets"), label=name, drawstyle="steps-pre")
        return _done(figure, axes)

    def drops(self, *pipes: str, ax: Any = None) -> Any:
        """How many packets each pipe has dropped, by any cause."""
        figure, axes = self._axes(ax, "drops [packets]")
        for name, rows in self._pipes(pipes).items():
            columns = [_column(rows, cause) for cause in _DROPS if cause in rows[0]]
            axes.plot(
                _column(rows, "time_s"), [sum(each) for each in zip(*columns)], label=name, drawstyle="steps-post"
            )
        return _done(figure, axes)

    def tcp(self, what: str = "cwnd_packets", *, ax: Any = None) -> Any:
        """A column of `tcp.csv` for each connection over time: the congestion window if none is named."""
        rows = self._result.rows("tcp.csv")
        if rows and what not in rows[0]:
            raise NetloomError(f"tcp.csv has no column {what}: it has {', '.join(rows[0])}")
        flows: dict[str, list[dict[str, str]]] = defaultdict(list)
        for row in rows:
            flows[f"{row.get('node', '')} {row.get('local', '')} to {row.get('remote', '')}"].append(row)
        figure, axes = self._axes(ax, what.replace("_", " "))
        for name, part in list(flows.items())[:_MOST]:
            axes.plot(_column(part, "time_s"), _column(part, what), label=name)
        return _done(figure, axes)

    def delay(self, *, ax: Any = None) -> Any:
        """The measured delay of each pipe beside the described one, in milliseconds."""
        rows = [row for row in self._result.rows("pipes.csv") if row["measured_delay_mean_ns"]]
        figure, axes = self._axes(ax, "delay [ms]")
        names = [_name(row) for row in rows]
        places = list(range(len(names)))
        for offset, column, label in (
            (-0.25, "delay_ns", "described"),
            (0, "measured_delay_mean_ns", "mean"),
            (0.25, "measured_delay_p99_ns", "99 %"),
        ):
            axes.bar([place + offset for place in places], _column(rows, column, 1e-6), 0.25, label=label)
        axes.set_xticks(places, names, rotation=30, ha="right")
        axes.set_xlabel("")
        return _done(figure, axes)

    def _axes(self, ax: Any, label: str) -> tuple[Any, Any]:
        if ax is None:
            from matplotlib.figure import Figure

            figure: Any = Figure(figsize=(8, 4), layout="constrained")
            ax = figure.subplots()
        ax.set_xlabel("time [s]")
        ax.set_ylabel(label)
        ax.set_title(self._result.lab, loc="left")
        ax.grid(alpha=0.3)
        return ax.figure, ax

    def _pipes(self, names: Sequence[str]) -> dict[str, list[dict[str, str]]]:
        path = self._result.file("samples.csv")
        found: dict[str, list[dict[str, str]]] = defaultdict(list)
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found[_name(row)].append(row)
        unknown = [
            name for name in names if name not in found and not any(each.startswith(f"{name}.") for each in found)
        ]
        if unknown:
            raise NetloomError(f"no pipe is called {unknown[0]}: there are {', '.join(list(found)[:20])}")
        if names:
            return {
                name: rows
                for name, rows in found.items()
                if any(name == each or name.startswith(f"{each}.") for each in names)
            }
        busiest = sorted(found, key=lambda name: -float(found[name][-1]["departed_bytes"] or 0))[:_MOST]
        return {name: found[name] for name in busiest}


def _name(row: dict[str, str]) -> str:
    return ".".join(filter(None, (row["link"], row["direction"], row.get("pipe"))))


def _column(rows: Iterable[dict[str, str]], name: str, factor: float = 1.0) -> list[float]:
    return [float(row[name]) * factor if row.get(name) else float("nan") for row in rows]


def _rates(times: Sequence[float], amounts: Sequence[float]) -> list[float]:
    pairs = zip(zip(times, times[1:]), zip(amounts, amounts[1:]))
    return [(b - a) / (later - earlier) if later > earlier else 0.0 for (earlier, later), (a, b) in pairs]


def _done(figure: Any, axes: Any) -> Any:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small")
    return figure
