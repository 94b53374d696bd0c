"""Hunts: what was found, and tests that are hunts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from netloom import Finding, HuntResult


def found(folder: Path, **keys: Any) -> HuntResult:
    """What a hunt left that found nothing, but for these keys."""
    document = {
        "runs": 20, "error_count": 0, "errors": [], "findings": [], "sometimes": [], "regress": [], "never_decided": [],
    }  # fmt: skip
    folder.joinpath("hunt.json").write_text(json.dumps({**document, **keys}))
    return HuntResult(folder)


def test_each_problem_is_told(tmp_path: Path) -> None:
    assert found(tmp_path).ok and found(tmp_path, sometimes=[{"property": "leader", "runs": 3}]).ok
    finding = {
        "finding": 1,
        "failure": {"property": "always x", "message": "lost #"},
        "minimal": [{"entries": ["{at: 1 s, kill: n1, for: 2 s}"]}],
    }
    result = found(tmp_path, findings=[finding])
    lab = tmp_path / "findings/0001/minimal.yaml"
    assert result.findings == [Finding("always x: lost #", ("{at: 1 s, kill: n1, for: 2 s}",), lab)]
    assert result.problems == [f"always x: lost #\n  {{at: 1 s, kill: n1, for: 2 s}}\n  {lab}"]
    old = {"lab": "old.yaml", "error": None, "failures": [{"property": "always y", "message": ""}]}
    for keys, problem in [
        ({"sometimes": [{"property": "leader", "runs": 0}]}, "never reached: leader"),
        ({"never_decided": ["ids(h.jsonl)"]}, "no run decided: ids(h.jsonl)"),
        ({"regress": [old]}, "old.yaml still fails: always y"),
        ({"error_count": 20, "errors": [{"error": "no kernel"}]}, "no run showed anything: no kernel"),
    ]:
        assert found(tmp_path, **keys).problems == [problem]


LAB = """
import netloom, pytest

def lab():
    lab = netloom.Lab("hunted")
    a, b = lab.host("a"), lab.host("b")
    lab.link(a, b, name="l")
    a.service("echo ready; sleep 100", as_="talker", ready={"pause": "1 s"})
    b.command("exit 3", as_="ask", may_fail=True)
    lab.set(duration="3 s", clock="virtual")
    return lab
"""


def test_a_test_can_be_a_hunt(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        LAB
        + """
KEYS = {"faults": "none", "quiet": "1 s"}

@netloom.hunt(always=["ask.exit == 3"], **KEYS)
def test_good():
    return lab()

@netloom.hunt(always=["ask.exit == 0"], corpus="kept", **KEYS)
def test_bad():
    return lab()

@netloom.hunt("lab.yaml", always=["ask.exit == 0"])
def test_judges_itself(found, tmp_path):
    assert [finding.failure for finding in found.findings] == ["always ask.exit == 0"] and tmp_path
"""
    )
    pytester.run(
        sys.executable,
        "-c",
        f"{LAB}made = lab(); made.set(hunt={{'faults': 'none', 'quiet': '1 s'}}); made.save('lab.yaml')",
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:randomly")
    result.assert_outcomes(passed=2, failed=1)
    shown = result.stdout.str()
    assert "always ask.exit == 0" in shown and "without any fault" in shown
    assert list((pytester.path / "kept").glob("always-ask-exit-0-*/minimal.yaml"))
