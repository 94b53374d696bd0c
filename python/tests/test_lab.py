"""Labs as they are described, without running them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

import netloom
from netloom import FqCodel, GilbertLoss, Lab, LabError, NetloomError, NormalDelay, ProgramError, _calls, models
from netloom._places import Place
from netloom._settings import nanoseconds


def test_a_lab_is_what_its_file_says(tmp_path: Path) -> None:
    lab = Lab("built", seed=7)
    a, r, b = lab.host("a", cpus=0.5), lab.router("r"), lab.host("b")
    lab.link(a, r, rate="1 Gbit/s", delay=timedelta(milliseconds=20), queue=FqCodel(limit="1000 packets"))
    lab.link(
        r, {"node": b, "interface": "wan0"}, name="core", forward={"loss": GilbertLoss(share="1 %", burst="5 packets")}
    )
    sink = b.service("iperf3 -s", ready={"tcp": 5201}, as_="sink")
    a.command(["iperf3", "-c", "b"], at="1 s", as_="transfer", for_="2 s", after=sink)
    lab.link("a", "b", name="third", delay=NormalDelay(mean="5 ms", deviation="1 ms"))
    lab.links["core"].down("2 s", "100 ms")
    lab.expect("core.forward.drops < 1000 packets")
    lab.figure("goodput", "core.forward.throughput")
    lab.capture("core")
    assert lab.to_settings() == {
        "name": "built",
        "seed": 7,
        "nodes": {"a": {"cpus": 0.5}, "r": {"kind": "router"}, "b": {}},
        "links": {
            "a-r": {
                "ends": ["a", "r"],
                "rate": "1 Gbit/s",
                "delay": "20 ms",
                "queue": {"kind": "fq_codel", "limit": "1000 packets"},
            },
            "core": {
                "ends": ["r", {"node": "b", "interface": "wan0"}],
                "forward": {"loss": {"kind": "gilbert", "share": "1 %", "burst": "5 packets"}},
            },
            "third": {"ends": ["a", "b"], "delay": {"kind": "normal", "mean": "5 ms", "deviation": "1 ms"}},
        },
        "timeline": [
            {"on": "b", "run": "iperf3 -s", "ready": {"tcp": 5201}, "as": "sink"},
            {"on": "a", "run": ["iperf3", "-c", "b"], "at": "1 s", "as": "transfer", "for": "2 s", "after": "sink"},
            {"at": "2 s", "link": "core", "down": "100 ms"},
        ],
        "expect": ["core.forward.drops < 1000 packets"],
        "capture": [{"link": "core"}],
        "figures": {"goodput": "core.forward.throughput"},
    }
    plan = lab.check()
    assert [node["name"] for node in plan["nodes"]] == ["a", "r", "b"]
    lab.save(tmp_path / "saved.yaml")
    assert Lab.load(tmp_path / "saved.yaml").to_settings() == lab.to_settings()
    assert lab.svg().lstrip().startswith("<svg") and "<svg" in (lab._repr_html_() or "")


def test_a_file_is_read_and_changed(tmp_path: Path) -> None:
    (tmp_path / "delays.txt").write_text("1 ms\n2 ms\n")
    text = "name: x\nnodes: {a: {}, b: }\nlinks:\n  l: {ends: [a, b], delay: {kind: samples, file: delays.txt}}\n"
    (tmp_path / "x.yaml").write_text(text)
    lab = Lab.load(tmp_path / "x.yaml")
    assert list(lab.nodes) == ["a", "b"] and lab.links["l"].settings["ends"] == ["a", "b"]
    lab.links["l"].settings["rate"] = "1 Mbit/s"
    # The file that it names is found, wherever this process is.
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    assert lab.check()["links"][0]["name"] == "l"


def test_errors_have_the_words_of_the_program_and_the_lines_of_python() -> None:
    lab = Lab("wrong")
    a, b = lab.host("a"), lab.node("b", "rooter")
    queue = FqCodel(limit="5 pakcets")
    lab.link(a, b, rate="10 Mbps", queue=queue, name="l")
    with pytest.raises(LabError) as found:
        lab.check()
    shown = str(found.value)
    source = Path(__file__).read_text().splitlines()
    for line, words in (
        ("    a, b = lab.host", "`rooter` is not known here: did you mean `router`?"),
        ("    queue = FqCodel", '"5 pakcets" is not a queue limit'),
        ('    lab.link(a, b, rate="10 Mbps"', "`Mbps` is ambiguous: write Mbit/s for bits"),
    ):
        number = next(number for number, text in enumerate(source, 1) if text.startswith(line))
        assert f"--> {__file__}:{number}\n" in shown, shown
        assert words in shown
        assert source[number - 1] in shown
        assert any(place.line == number for place in found.value.places)
    assert "netloom-" not in shown, "the file that was made is nobody's business"


def test_what_no_lab_can_have_is_refused_where_it_is_written() -> None:
    lab = Lab("wrong")
    lab.host("a")
    with pytest.raises(LabError, match=r"(?s)the lab has a node `a` already.*test_lab.py"):
        lab.host("a")
    lab.host("b")
    lab.link("a", "b", rate=object())  # type: ignore[arg-type]
    with pytest.raises(LabError, match=r"(?s)a lab has no object: write text.*test_lab.py"):
        lab.check()
    with pytest.raises(KeyError, match="no node is called `c`: there are a, b"):
        lab["c"]
    with pytest.raises(LabError, match="unknown key `dealy`: did you mean `delay`"):
        other = Lab("wrong")
        other.link(other.host("a"), other.host("b"), dealy="1 ms")  # type: ignore[call-arg]
        other.check()
    with pytest.raises(LabError, match=r"the text:1:\d+"):
        Lab.parse("{nodes: [a")
    with pytest.raises(TypeError, match="unexpected keyword argument 'limt'"):
        FqCodel(limt="1 packet")  # type: ignore[call-arg]


def test_durations_are_exact() -> None:
    assert [nanoseconds(each) for each in ("1.5 ms", "20us", "3 s", 0.25, timedelta(hours=1))] == [
        1_500_000,
        20_000,
        3_000_000_000,
        250_000_000,
        3_600_000_000_000,
    ]
    for wrong in ("5", "ms", "1 day", "0.0000001 us", "-1 s"):
        with pytest.raises(ValueError, match="is no duration"):
            nanoseconds(wrong)


def test_models_are_those_of_the_schema() -> None:
    schema = json.loads(subprocess.run([netloom._program.program(), "schema"], check=True, capture_output=True).stdout)
    assert len(models.__all__) > 90
    assert FqCodel(ecn=False).settings() == {"kind": "fq_codel", "ecn": False}
    assert repr(FqCodel(ecn=False)) == "FqCodel(ecn=False)" and FqCodel(ecn=False) == FqCodel(ecn=False)
    assert schema["$defs"]["queue_fq_codel"]["properties"]["limit"]["description"][:30] in " ".join(
        (FqCodel.__init__.__doc__ or "").split()
    )
    assert netloom.FqCodel is models.FqCodel
    with pytest.raises(AttributeError, match="no attribute 'FqCodle'"):
        netloom.FqCodle  # type: ignore[attr-defined]  # noqa: B018


def test_the_package_is_imported_quickly() -> None:
    program = (
        "import time; t = time.process_time(); "
        "import dataclasses, json, pathlib, socket, subprocess, tempfile, typing; u = time.process_time(); "
        "import netloom; print(u - t, time.process_time() - u)"
    )
    told = [subprocess.check_output([sys.executable, "-c", program]).split() for _ in range(3)]
    # Both as processor time, since machines differ, and tests run beside one another: of what it stands on, a third is usual.
    standard, own = (min(float(one[place]) for one in told) for place in (0, 1))
    assert own < standard, told


def test_another_program_is_told_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lab = Lab("versions")
    lab.host("a")
    monkeypatch.setenv("NETLOOM", str(tmp_path / "nothing"))
    with pytest.raises(NetloomError, match=r"\$NETLOOM names .*nothing, which is no program"):
        lab.check()
    old = tmp_path / "old"
    old.write_text(
        "#!/bin/sh\n[ $1 = --version ] && echo netloom 0.0.1 && exit\n"
        "echo \"error: unexpected argument '--parent' found\" >&2; exit 2\n"
    )
    old.chmod(0o755)
    monkeypatch.setenv("NETLOOM", str(old))
    with pytest.raises(netloom.VersionError, match=r"the package netloom [\d.]+, and .*old is netloom 0\.0\.1"):
        lab.up()


def test_errors_have_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    # As the kernels of notebooks ask for.
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    lab = netloom.Lab("bad")
    lab.link(lab.host("a"), lab.host("b"), rate="10 Mbps", name="l")
    with pytest.raises(netloom.LabError) as caught:
        lab.check()
    assert "\x1b" not in str(caught.value) and "test_lab.py:" in str(caught.value)


def test_errors_name_no_file_that_nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    settings = {"name": "made", "nodes": ["a", "b"], "links": {"l": {"ends": ["a", "b"], "rate": "10 Mbps"}}}
    with pytest.raises(LabError) as wrong:
        Lab.from_settings(settings).check()
    assert "links.l.rate" in str(wrong.value) and "test_lab.py:" in str(wrong.value)
    lab = Lab("made")
    lab.link(lab.host("a"), lab.host("b"), name="l")
    lab["a"].command("no-such-program-at-all")
    with pytest.raises(ProgramError) as missing:
        lab.up()
    source = Path(__file__).read_text().splitlines()
    number = next(number for number, text in enumerate(source, 1) if "no-such-program-at-all" in text)
    assert f"{__file__}:{number}: key `run`" in str(missing.value), str(missing.value)
    for shown in (str(wrong.value), str(missing.value)):
        assert "\x1b" not in shown and ".yaml" not in shown and "/netloom-" not in shown, shown


def test_a_cell_of_a_notebook_has_no_file() -> None:
    assert Place("/tmp/ipykernel_12/345.py", 3).show() == " --> <cell>:3"
    assert Place("/tmp/lab.py", 3).show() == " --> /tmp/lab.py:3"
    text = _calls.Text('{"a": 1}\n', {}, None, Path("/x"), None, "made", True)
    error = _calls.explained(ProgramError("links: wrong\n --> /x/made.yaml:1:3\n  |\n1 | {\n  |  ^\n", 3), text)
    assert str(error) == "links: wrong\n --> <lab>:1\n  |\n1 | {\n  |  ^"
    plain = _calls.explained(ProgramError("/x/made.yaml:1: no", 6), text)
    assert str(plain) == "<lab>:1: no" and not isinstance(plain, LabError)
