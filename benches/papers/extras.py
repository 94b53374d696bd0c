"""What is computed from the files that runs leave behind, beside the figures that their labs name.

Each function gets an experiment and the results folder of a run, and returns figures: their names with mean and deviation.
"""

import json
import pathlib
import statistics
import subprocess
from collections.abc import Iterator

Figures = dict[str, tuple[float, float | None]]


class Failed(Exception):
    """An experiment could not be played; the message says why."""


def documents(text: str) -> Iterator[dict]:
    """All JSON documents of a text, which may hold several one after the other."""
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        document, end = decoder.raw_decode(text, place)
        yield document
        place = end + len(text[end:]) - len(text[end:].lstrip())


def flows(experiment: dict, run: pathlib.Path, _netloom: pathlib.Path) -> Figures:
    """Mbit/s of each connection that iperf3 tells of in saved files: mean and deviation of each group."""
    found: Figures = {}
    for name, files in experiment["flows"].items():
        rates = []
        for path in sorted(path for pattern in files for path in run.glob(pattern)):
            for document in documents(path.read_text()):
                rates += [stream["receiver"]["bits_per_second"] / 1e6 for stream in document["end"]["streams"]]
        if not rates:
            raise Failed(f"{run}: no connections in {', '.join(files)}")
        found[name] = (statistics.mean(rates), statistics.pstdev(rates))
    return found


def windows(experiment: dict, run: pathlib.Path, _netloom: pathlib.Path) -> Figures:
    """The mean congestion window in segments of the transfer of each command, as iperf3 has sampled it once a second."""
    found: Figures = {}
    for command in experiment["windows"]:
        logs = list((run / "logs").glob(f"*-{command}.stdout"))
        log = min(logs, key=lambda path: len(path.name))
        document = next(documents(log.read_text()))
        segment = document["start"]["tcp_mss_default"]
        sampled = [interval["streams"][0]["snd_cwnd"] / segment for interval in document["intervals"]]
        found[f"{command}_window"] = (statistics.mean(sampled), None)
    return found


def gaps(times_ms: list[float]) -> dict[str, float]:
    """Table 3 of the time-warp paper: mean, coefficient of variation and interquartile range of the gaps, the latter in ms."""
    between = [after - before for before, after in zip(times_ms, times_ms[1:], strict=False)]
    low, _, high = statistics.quantiles(between, n=4)
    mean = statistics.mean(between)
    return {"mean": mean, "cov": statistics.pstdev(between) / mean, "iqr": high - low}


def packets(_experiment: dict, run: pathlib.Path, netloom: pathlib.Path) -> Figures:
    """The gaps between the data packets of the first second of each connection, as they are received."""
    command = [netloom, "packets", run / "captures" / "path.pcapng", "--at", "receiver:eth0", "--json"]
    told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    # The connection that tells iperf3 what to do carries little; those of the data come in the order of their beginnings.
    data = [flow for flow in told if len(flow["times_ns"]) > 100]
    if len(data) != 2:
        raise Failed(f"{run}: {len(data)} connections with data instead of two")
    found: Figures = {}
    curves = {}
    for name, flow in zip(("lossless", "lossy"), data, strict=True):
        times = [time / 1e6 for time in flow["times_ns"] if time < 1e9]
        curves[name] = times
        found |= {f"{name}_{figure}": (value, None) for figure, value in gaps(times).items()}
    (run / "times.json").write_text(json.dumps(curves))
    return found


def loopback(experiment: dict, run: pathlib.Path, _netloom: pathlib.Path) -> Figures:
    """The same transfer over the loopback of the machine itself, outside of any lab."""
    segment = json.loads((run.parent / "run.json").read_text())["parameters"][experiment["loopback"]]
    server = subprocess.Popen(["iperf3", "-s", "-1", "-B", "127.0.0.1", "-p", "45201"], stdout=subprocess.DEVNULL)
    try:
        command = f"sleep 0.3; exec iperf3 -c 127.0.0.1 -p 45201 -M {segment} -t 2 --json"
        told = json.loads(subprocess.run(["sh", "-c", command], check=True, stdout=subprocess.PIPE).stdout)
    finally:
        server.terminate()
        server.wait()
    return {"machine": (told["end"]["sum_received"]["bits_per_second"], None)}


KINDS = {"flows": flows, "windows": windows, "packets": packets, "loopback": loopback}


def runs(folder: pathlib.Path) -> Iterator[tuple[dict, pathlib.Path]]:
    """Every run of a sweep that counts: what is known of it, and its results."""
    for path in sorted(folder.glob("runs/*/run.json")):
        run = json.loads(path.read_text())
        yield run, (folder / run["results"]).resolve()


def is_virtual(found: dict) -> bool:
    """Whether all runs of a sweep were in virtual time."""
    return set(found.get("clocks", [])) == {"virtual"}


def clock(provenance: dict) -> str:
    """A clock for people."""
    if provenance["clock"] == "dilated":
        return f"dilation {provenance['dilation']:g}"
    return str(provenance["clock"])


def add(experiment: dict, found: dict, folder: pathlib.Path, netloom: pathlib.Path) -> None:
    """Adds to the points of a sweep what is computed from the files of its runs, which clocks it had, and where the runs are."""
    by_point: dict[int, dict[str, list[tuple[float, float | None]]]] = {}
    clocks = set()
    for run, results in runs(folder):
        clocks.add(clock(json.loads((results / "provenance.json").read_text())))
        figures = by_point.setdefault(run["point"], {})
        for kind, compute in KINDS.items():
            if kind in experiment:
                for name, value in compute(experiment, results, netloom).items():
                    figures.setdefault(name, []).append(value)
        for point in found["points"]:
            if point["point"] == run["point"]:
                point.setdefault("runs", []).append(str(results))
    found["clocks"] = sorted(clocks)
    for point in found["points"]:
        for name, values in by_point.get(point["point"], {}).items():
            mean = statistics.mean(value for value, _ in values)
            deviations = [deviation for _, deviation in values if deviation is not None]
            deviation = statistics.mean(deviations) if deviations else None
            point["figures"][name] = {"mean": mean, "deviation": deviation, "ci95": None, "n": len(values)}
