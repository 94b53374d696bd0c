"""Pictures of the page."""

import json
import math
import pathlib
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# The same picture has the same bytes.
plt.rcParams["svg.hashsalt"] = "netloom"
PLAIN = {"metadata": {"Date": None}, "bbox_inches": "tight"}
MARKS = "os^Dv*x+"
PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3, "u": 1e-6, "n": 1e-9}
QUANTITY = re.compile(r"([0-9.]+)\s*([kMGmun]?)(bit/s|B/s|B|s|%|packets|)$")


def size(text: str) -> float:
    """A quantity in its basic unit: bit/s, s, B."""
    found = QUANTITY.match(text)
    if not found:
        raise ValueError(f"`{text}` is no quantity")
    return float(found[1]) * PREFIXES.get(found[2], 1)


def axes(title: str, x: str, y: str) -> tuple:
    """An empty picture."""
    figure, axis = plt.subplots(figsize=(7, 3.6))
    axis.set(title=title, xlabel=x, ylabel=y)
    axis.grid(alpha=0.3)
    return figure, axis


def save(figure, out: pathlib.Path, name: str) -> str:
    """Writes a picture; its name."""
    figure.savefig(out / f"{name}.svg", **PLAIN)
    plt.close(figure)
    return f"{name}.svg"


def lines(experiment: dict, plot: dict, found: dict, out: pathlib.Path, number: int) -> str:
    """Figures over a parameter, a line for each value of another one or for each figure."""
    figure, axis = axes(plot.get("title", experiment["title"]), plot["x_title"], plot["y_title"])
    series: dict[str, list[tuple[float, float, float]]] = {}
    for point in found["points"]:
        x = size(str(point["parameters"][plot["x"]])) * plot.get("x_scale", 1)
        for name, title in plot["figures"].items():
            value = point["figures"].get(name)
            if value is None or value["mean"] is None:
                continue
            label = " ".join(str(point["parameters"][split]) for split in plot.get("split", []))
            scale = plot.get("scale", 1)
            spread = (value.get(plot.get("spread", "ci95")) or 0) * scale
            series.setdefault(f"{label} {title}".strip(), []).append((x, value["mean"] * scale, spread))
    for place, (label, points) in enumerate(series.items()):
        xs, ys, spreads = zip(*sorted(points), strict=True)
        axis.errorbar(xs, ys, yerr=spreads, label=label, marker=MARKS[place % len(MARKS)], capsize=3, linewidth=1.2)
    if plot.get("log"):
        axis.set_xscale("log")
    axis.set_ylim(bottom=0)
    axis.legend(fontsize="small")
    return save(figure, out, f"{experiment['name']}-{number}")


def density(experiment: dict, plot: dict, found: dict, out: pathlib.Path, number: int) -> str:
    """The density of what a command counted in bins, beside that of a shifted exponential distribution."""
    figure, axis = axes(experiment["title"], plot["x_title"], "density (1/ms)")
    for place, point in enumerate(found["points"]):
        told = json.loads((pathlib.Path(point["runs"][0]) / plot["file"]).read_text())
        width = told["bin_ms"]
        label = ", ".join(f"{name} {value}" for name, value in point["parameters"].items())
        xs = [(bin + 0.5) * width for bin in range(len(told["bins"]))]
        ys = [count / told["n"] / width for count in told["bins"]]
        axis.plot(xs, ys, label=label, marker=MARKS[place], markersize=3, linewidth=1)
    shift, mean = plot["shift"], plot["mean"]
    xs = [shift + step / 10 for step in range(800)]
    axis.plot(xs, [math.exp(-(x - shift) / mean) / mean for x in xs], "k--", label="theory", linewidth=1.5)
    axis.set_xlim(0, 80)
    axis.legend(fontsize="small")
    return save(figure, out, f"{experiment['name']}-{number}")


def times(experiment: dict, plot: dict, found: dict, out: pathlib.Path, number: int) -> str:
    """How many data packets were received, over time."""
    figure, axis = axes(experiment["title"], "time after the SYN (ms)", "data packets received")
    for point in found["points"]:
        curves = json.loads((pathlib.Path(point["runs"][0]) / "times.json").read_text())
        for name, title in plot["curves"].items():
            label = " ".join([title, *(str(value) for value in point["parameters"].values())])
            axis.step(curves[name], range(1, len(curves[name]) + 1), where="post", label=label, linewidth=1.2)
    axis.legend(fontsize="small")
    return save(figure, out, f"{experiment['name']}-{number}")


def draw(experiment: dict, found: dict, out: pathlib.Path) -> list[str]:
    """All pictures of an experiment; their names."""
    kinds = {"lines": lines, "density": density, "times": times}
    plots = experiment.get("plot", [])
    return [kinds[plot.get("kind", "lines")](experiment, plot, found, out, number) for number, plot in enumerate(plots, 1)]
