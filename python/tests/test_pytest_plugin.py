"""The plugin for pytest, in runs of pytest of its own."""

from __future__ import annotations

import re

import pytest

LAB = """
import pytest
from netloom import Lab

def lab():
    found = Lab("plug")
    found.link(found.host("a"), found.host("b"), name="l", delay="10 ms", loss="30 %")
    found["a"].service("echo this is a log; sleep 1000", service=True, as_="talker")
    return found
"""


def test_a_test_has_its_lab_and_shows_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        LAB
        + """
@pytest.mark.netloom(lab=lab)
def test_good(netloom):
    assert netloom["a"].shell("hostname") == "a"

@pytest.mark.netloom(lab=lab)
def test_bad(netloom):
    assert netloom["a"].shell("hostname") == "c"

@pytest.mark.netloom(lab=lab, scope="module")
def test_shared(netloom):
    test_shared.name = netloom.name

@pytest.mark.netloom(lab=lab, scope="module")
def test_shared_too(netloom):
    assert test_shared.name == netloom.name

def test_without_marker(netloom):
    pass
"""
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--netloom-verdict=ignore", "-p", "no:randomly")
    result.assert_outcomes(passed=3, failed=1, errors=1)
    shown = result.stdout.str()
    assert "this is a log" in shown and re.search(r"results: file:///\S+", shown)
    assert "needs the marker" in shown


def test_the_verdict_of_a_shared_lab_is_that_of_no_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
import pytest
from netloom import Lab

def lab():
    found = Lab("shared")
    found.link(found.host("a"), found.host("b"), name="l")
    found["a"].service("echo this is why; sleep 0.2; false", service=True, as_="broken")
    return found

@pytest.mark.netloom(lab=lab, scope="module")
def test_one(netloom):
    assert netloom["b"].shell("hostname") == "b"

@pytest.mark.netloom(lab=lab, scope="module")
def test_two(netloom):
    import time
    time.sleep(0.5)

@pytest.mark.netloom(lab=lab, scope="class")
def test_three(netloom):
    pass
"""
    )
    result = pytester.runpytest_subprocess("-v", "-p", "no:cacheprovider", "--junitxml=found.xml", "-k", "not three")
    result.assert_outcomes(passed=2, failed=1)
    shown = result.stdout.str()
    assert re.search(r"FAILED \S+::verdict of lab shared", shown) and "ERROR at teardown" not in shown
    assert re.search(r"the verdict of lab shared-\S+, which the tests of \S+ shared: ", shown)
    assert "this is why" in shown
    document = (pytester.path / "found.xml").read_text()
    assert 'name="verdict of lab shared"' in document and 'tests="3"' in document and 'errors="0"' in document
    beside = pytester.runpytest_subprocess("-n", "1", "-p", "no:cacheprovider", "-k", "not three")
    beside.assert_outcomes(passed=2, errors=1)
    assert "this is not about the last test, but the verdict of lab shared-" in beside.stdout.str()
    wrong = pytester.runpytest_subprocess("-k", "three")
    assert "shared by a 'module' or the 'session'" in wrong.stdout.str()


def test_tests_run_beside_one_another(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        LAB
        + """
@pytest.mark.netloom(lab=lab)
@pytest.mark.parametrize("number", range(4))
def test_each(netloom, number):
    assert netloom["b"].shell("hostname") == "b"
"""
    )
    pytester.runpytest_subprocess("-n", "2", "--netloom-verdict=ignore").assert_outcomes(passed=4)


def test_a_failing_seed_is_found_and_found_again(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        LAB
        + """
@pytest.mark.netloom(lab=lab)
def test_one_ping_gets_through(netloom):
    assert netloom["a"].run("ping -c 1 -W 1 b").returncode == 0
"""
    )
    result = pytester.runpytest_subprocess("--netloom-seeds=12", "--netloom-verdict=ignore")
    seeds = set(re.findall(r"repeat it with --netloom-seeds (\d+)-\1", result.stdout.str()))
    assert 0 < len(seeds) < 12, result.stdout.str()
    seed = min(seeds, key=int)
    again = pytester.runpytest_subprocess(f"--netloom-seeds={seed}-{seed}", "--netloom-verdict=ignore")
    again.assert_outcomes(failed=1)
    wrong = pytester.runpytest_subprocess("--netloom-seeds=x")
    assert "write a number of seeds" in wrong.stderr.str() or "invalid _count value" in wrong.stderr.str()
