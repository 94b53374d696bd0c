"""Results of runs: figures, logs, frames, pictures; and sweeps."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import two_nodes

import netloom
from netloom import Lab, NetloomError, Result, RunError


def described() -> Lab:
    lab = two_nodes(rate="1 Mbit/s", delay="10 ms")
    lab.set(clock="virtual")
    lab["a"].command("ping -i 0.05 -c 40 b", as_="ping")
    lab.links["l"].down("1 s", "200 ms")
    lab.expect("ping.exit == 0")
    # What kernels exchange by themselves may fall into the cut, too.
    lab.figure("drops", "l.forward.drops match (programs)")
    return lab


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Result]:
    said: list[str] = []
    yield described().run(results=tmp_path_factory.mktemp("results"), progress=said.append)
    assert said, "progress was told"


def test_a_run_is_judged(result: Result) -> None:
    assert result.ok and result.as_described, result.summary
    assert result.figures["drops"] and result.figures["drops"] >= 3
    assert result.expectations[0]["met"]
    assert "packets transmitted" in result.log("ping")
    assert result.commands["ping"]["exit_code"] == 0
    assert set(result.phases) == {"setup", "boot", "lab", "end", "results"} and min(result.phases.values()) > 0
    assert Result(result.folder).report["lab"] == result.lab
    assert "as described" in result._repr_html_()
    with pytest.raises(KeyError, match="no command is called `pong`: there are ping"):
        result.log("pong")


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_tables_are_frames(result: Result, engine: str) -> None:
    pipes = result.pipes(engine)  # type: ignore[arg-type]
    assert set(pipes["direction"]) == {"forward", "backward"} and type(pipes).__module__.startswith(engine)
    assert len(result.samples(engine)) > 10  # type: ignore[arg-type]
    assert len(result.events(engine)) > 3  # type: ignore[arg-type]
    with pytest.raises(NetloomError, match=r"has no tcp.csv: ask for it with"):
        result.tcp(engine)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="write 'pandas' or 'polars'"):
        result.pipes("excel")  # type: ignore[arg-type]


def test_a_million_rows_are_a_frame_within_a_second(tmp_path: Path) -> None:
    import pyarrow

    rows = 1_000_000
    numbers = pyarrow.array(range(rows), pyarrow.int64())
    words = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, pyarrow.int8()), ["delivered"])
    columns = {
        "link": words,
        "outcome": words,
        "arrived_ns": numbers,
        "sent_ns": numbers,
        "due_ns": numbers,
        "bytes": numbers,
    }
    table = pyarrow.table(columns)
    options = pyarrow.ipc.IpcWriteOptions(compression="lz4")
    with pyarrow.ipc.new_stream(str(tmp_path / "journal.arrows"), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=65_536)
    for engine in ("pandas", "polars"):
        assert len(Result(tmp_path).journal(engine)) == rows  # type: ignore[arg-type]
        began = time.process_time()
        Result(tmp_path).journal(engine)  # type: ignore[arg-type]
        assert time.process_time() - began < 1


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Result]:
    lab = described()
    lab.set(journal="all")
    yield lab.run(results=tmp_path_factory.mktemp("journal"))


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_the_journal_of_a_run_is_a_frame(journal: Result, engine: str) -> None:
    packets = journal.journal(engine)  # type: ignore[arg-type]
    assert type(packets).__module__.startswith(engine)
    # Echo requests and replies of IPv6; nothing else of the lab has their size.
    echoes = packets["size_bytes"] == 104
    pings = packets[echoes] if engine == "pandas" else packets.filter(echoes)
    # 40 requests; those of 200 ms are dropped by the cut, and all others are answered.
    requests = pings["direction"] == "forward"
    dropped = pings["outcome"] == "dropped"
    assert int(requests.sum()) == 40
    assert int((requests & dropped).sum()) == journal.figures["drops"]
    assert len(pings) - 40 == 40 - int((requests & dropped).sum())
    assert set(pings["cause"].drop_nulls() if engine == "polars" else pings["cause"].dropna()) == {"down"}
    # 104 bytes at 1 Mbit/s, and 10 ms: exact to the nanosecond.
    whole = pings["due_ns"] - pings["started_ns"]
    assert set((whole.drop_nulls() if engine == "polars" else whole.dropna()).to_list()) == {10_832_000}


def test_the_manuals_ways_to_read_a_journal(journal: Result) -> None:
    import polars
    import pyarrow.ipc

    path = str(Path(journal.folder) / "journal.arrows")
    by_polars = polars.read_ipc_stream(path)
    by_pandas = pyarrow.ipc.open_stream(path).read_pandas()
    assert len(by_polars) == len(by_pandas) == journal.report["journal"]["packets"]
    waited = by_pandas[by_pandas.link == "l"].eval("started_ns - arrived_ns")
    assert waited.min() == 0
    assert by_polars["arrived_ns"].to_list() == by_pandas["arrived_ns"].to_list()


def test_pictures_are_drawn(result: Result, tmp_path: Path) -> None:
    for figure in (
        result.plot.throughput(),
        result.plot.queue("l"),
        result.plot.drops("l.forward"),
        result.plot.delay(),
    ):
        figure.savefig(tmp_path / "picture.png")
        assert (tmp_path / "picture.png").stat().st_size > 5_000
    with pytest.raises(NetloomError, match="no pipe is called backbone: there are l"):
        result.plot.queue("backbone")


def test_what_is_not_met_is_an_error_if_it_is_to_be_checked() -> None:
    lab = two_nodes()
    lab.set(clock="virtual")
    lab["a"].command("false", as_="no")
    assert not lab.run().ok
    with pytest.raises(RunError, match="false|no") as found:
        lab.run(check=True)
    assert found.value.result.commands["no"]["exit_code"] == 1
    lab["a"].command("nonsense", as_="missing")
    with pytest.raises(netloom.ProgramError, match="nonsense") as refused:
        lab.run()
    assert refused.value.code == 4


def test_a_folder_without_results_says_so(tmp_path: Path) -> None:
    with pytest.raises(NetloomError, match="has no report.json: its run was cut off"):
        _ = Result(tmp_path).ok
    (tmp_path / "report.json").write_text("{")
    with pytest.raises(NetloomError, match="is damaged"):
        _ = Result(tmp_path).ok


def test_a_sweep_is_tabulated() -> None:
    lab = described()
    found = netloom.sweep(
        lab, vary={"delay": {"path": "links.l.delay", "values": ["1 ms", "30 ms"]}}, repeat=2, out="out"
    )
    assert (
        found.complete and len(found.runs("pandas")) == 4 and set(found.points("polars")["delay"]) == {"1 ms", "30 ms"}
    )
    assert len(list(found.results())) == 4
    assert "vary" not in lab.settings
    with pytest.raises(netloom.LabError, match="(?s)links.l.dealy|dealy"):
        netloom.sweep(lab, vary={"x": {"path": "links.l.dealy.z", "values": [1]}}, out="other")
    with pytest.raises(ValueError, match="write 'ray'"):
        netloom.sweep(lab, repeat=2, on="slurm", out="third")  # type: ignore[arg-type]


def test_a_table_without_rows_says_why(tmp_path: Path) -> None:
    figures = {"rate": {"n": 0}}
    report = {
        "runs": 3, "as_described": 0, "not_as_described": 2, "failed": 0, "points": [{"figures": figures}],
        "left_out": [{"name": "run 1", "why": "l: its mean delay was 5 ms"}],
    }  # fmt: skip
    (tmp_path / "sweep.json").write_text(json.dumps(report))
    (tmp_path / "points.csv").write_text("point,figure,mean\n")
    with pytest.warns(UserWarning, match="2 were not as described .*1 were not completed; run 1: l: its mean delay"):
        assert len(netloom.SweepResult(tmp_path).points()) == 0
    figures["rate"]["n"] = 1
    (tmp_path / "sweep.json").write_text(json.dumps(report))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        netloom.SweepResult(tmp_path).points()
