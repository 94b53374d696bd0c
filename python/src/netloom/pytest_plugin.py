"""The plugin for pytest: labs as fixtures, verdicts and logs of failed tests, tests over many seeds, and hunts.

@pytest.mark.netloom("lab.yaml")
def test_download(netloom):
    assert netloom["client"].run("curl -s http://server/").returncode == 0
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ._errors import NetloomError
from .lab import Lab

if TYPE_CHECKING:
    from .hunts import HuntResult
    from .live import Live
    from .result import Result

_SEED = "netloom_seed"
#: How much of a log a failed test shows.
_TAIL = 15


@dataclass
class _Kept:
    """What is shown of the labs of a test if it fails."""

    labs: list[tuple[str, Path | None, Any]] = field(default_factory=list)


_KEPT = pytest.StashKey[_Kept]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("netloom", "network labs")
    group.addoption(
        "--netloom-seeds",
        metavar="N",
        type=_count,
        default=None,
        help="run each test with a lab N times, in virtual time with the seeds 1 to N, or with a range such as 50-80",
    )
    group.addoption(
        "--netloom-hunt",
        metavar="TIME",
        default=None,
        help="play each test that @netloom.hunt makes for so long (10m), and not for the runs that it names",
    )
    group.addoption(
        "--netloom-results", metavar="DIR", default=None, help="where results go; default: a temporary folder of pytest"
    )
    group.addoption(
        "--netloom-verdict",
        choices=["fail", "warn", "ignore"],
        default="fail",
        help="what becomes of a test whose network was not as described; default: it fails",
    )


def _count(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if not match:
        raise ValueError(f"{text!r}: write a number of seeds, or a range such as 50-80")
    first, last = (int(match[1]), int(match[2])) if match[2] else (1, int(match[1]))
    if last < first:
        raise ValueError(f"{text!r}: no seeds are in it")
    return first, last


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line(
        "markers",
        "netloom(file, lab=..., scope='function', **options): the lab of a test: a lab file, or lab=FUNCTION that returns a Lab. "
        "With scope='module' or 'session', the tests of a module or all of them share it, and its verdict is reported on its own. Options are those of Lab.up",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeats tests with labs over seeds."""
    seeds = metafunc.config.getoption("--netloom-seeds")
    if seeds and _SEED in metafunc.fixturenames:
        first, last = seeds
        numbers = range(first, last + 1)
        metafunc.parametrize(
            _SEED, numbers, ids=[f"seed{number}" for number in numbers], indirect=True, scope="function"
        )


@pytest.fixture
def netloom_seed(request: pytest.FixtureRequest) -> int | None:
    """The seed that this test is repeated with by `--netloom-seeds`, or none."""
    return getattr(request, "param", None)


class Labs:
    """Brings labs up and runs them for a test, with a folder for their results and a seed."""

    def __init__(self, request: pytest.FixtureRequest, seed: int | None, results: Path) -> None:
        self._request = request
        #: The seed that this test is repeated with.
        self.seed = seed
        #: The folder for results.
        self.results = results
        self._kept = request.node.stash.setdefault(_KEPT, _Kept())

    def up(self, lab: Lab, **options: Any) -> Live:
        """As `Lab.up`, with results where they belong, and a name of its own for the worker of pytest-xdist."""
        self._complete(lab, options)
        live = lab.up(**options)
        self._kept.labs.append((live.name, live.results, live))
        return live

    def run(self, lab: Lab, **options: Any) -> Result:
        """As `Lab.run`, in the same way."""
        self._complete(lab, options)
        result = lab.run(**options)
        self._kept.labs.append((result.lab, result.folder, None))
        return result

    def _complete(self, lab: Lab, options: dict[str, Any]) -> None:
        options.setdefault("results", self.results)
        if self.seed is not None:
            options["seed"] = self.seed
            options["clock"] = "virtual"
        if "name" not in options:
            options["name"] = _name(lab.name or self._request.node.name)


def _name(text: str) -> str:
    """A name that no other process uses."""
    base = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    _name.count += 1  # type: ignore[attr-defined]
    tail = f"-{os.getpid()}-{_name.count}"  # type: ignore[attr-defined]
    return base[: 32 - len(tail)].strip("-") + tail


_name.count = 0  # type: ignore[attr-defined]


def _folder(request: pytest.FixtureRequest) -> Path:
    chosen = request.config.getoption("--netloom-results")
    if chosen:
        return Path(chosen)
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    return factory.mktemp("netloom")


@pytest.fixture
def netloom_labs(request: pytest.FixtureRequest, netloom_seed: int | None) -> Labs:
    """Brings up and runs labs that a test makes itself."""
    return Labs(request, netloom_seed, _folder(request))


class Hunts:
    """Plays hunts of a test, with a folder for what is found, and for as long as the command line says."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self._request = request
        #: The folder for hunts.
        self.folder = folder

    def play(self, lab: Lab, name: str, keys: Mapping[str, object], corpus: Path | None) -> HuntResult:
        """Hunts a lab."""
        lasts = self._request.config.getoption("--netloom-hunt")
        own = _name(lab.name or name)
        if lasts is not None:
            # A hunt that has a time is not over before it.
            keys = {key: value for key, value in keys.items() if key not in ("runs", "for_")}
            settings = lab.settings.get("hunt")
            if isinstance(settings, Mapping):
                lab.settings["hunt"] = {key: value for key, value in settings.items() if key != "runs"}
        elif not _says_how_many(lab, keys):
            keys = {**keys, "runs": _RUNS}
        return lab.hunt(keys=keys, out=self.folder / "hunts" / own, lasts=_span(lasts), corpus=corpus)

    def judge(self, found: HuntResult) -> None:
        """Fails the test if something was found."""
        if not found.ok:
            pytest.fail("\n".join([f"the hunt of {found.runs} runs is not good:", *found.problems]), pytrace=False)


#: How many runs a hunt has in a test that says nothing of it.
_RUNS = 20


def _says_how_many(lab: Lab, keys: Mapping[str, object]) -> bool:
    own = lab.settings.get("hunt")
    said = {*keys, *(own if isinstance(own, Mapping) else ())}
    return bool(said & {"runs", "for", "for_"})


def _span(text: str | None) -> str | None:
    """A time of the command line, as a lab file has it: 10m are ten minutes."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)\s*(s|m|min|h)", text)
    if not match:
        raise pytest.UsageError(f"--netloom-hunt {text}: write a time such as 30s, 10m or 2h")
    return f"{match[1]} {'min' if match[2] == 'm' else match[2]}"


@pytest.fixture
def netloom_hunts(request: pytest.FixtureRequest) -> Hunts:
    """Plays the hunts of tests that `netloom.hunt` makes."""
    return Hunts(request, _folder(request))


@pytest.fixture
def netloom(request: pytest.FixtureRequest, netloom_labs: Labs) -> Iterator[Live]:
    """The lab of the marker `netloom`, up."""
    marker = request.node.get_closest_marker("netloom")
    options = dict(marker.kwargs) if marker else {}
    what = marker.args[0] if marker and marker.args else options.pop("lab", None)
    if what is None:
        raise pytest.UsageError(
            "the fixture `netloom` needs the marker: @pytest.mark.netloom('lab.yaml') or @pytest.mark.netloom(lab=function)"
        )
    scope = options.pop("scope", "function")
    if scope not in _SCOPES:
        raise pytest.UsageError(
            f"scope={scope!r}: a lab is that of a 'function', or shared by a 'module' or the 'session'"
        )
    if scope != "function":
        yield _shared(request, what, options, _SCOPES[scope])
        return
    live = netloom_labs.up(_lab_of(request, what), **options)
    try:
        yield live
    finally:
        result = live.down()
    _judge(request, result)


def _shared(request: pytest.FixtureRequest, what: Any, options: dict[str, Any], kind: type[Any]) -> Live:
    """The lab that the tests of a module or session share: the first brings it up, and it goes with them."""
    if request.config.getoption("--netloom-seeds"):
        raise pytest.UsageError("--netloom-seeds needs a lab for each test: leave scope=... out")
    whole = request.node.getparent(kind)
    labs: dict[str, Live] = whole.stash.setdefault(_SHARED, {})
    key = repr(what)
    if key not in labs:
        lab = _lab_of(request, what)
        name = lab.name or whole.name or "lab"
        options.setdefault("results", _folder(request))
        options.setdefault("name", _name(name))
        live = labs[key] = lab.up(**options)
        whole.addfinalizer(lambda: _judge_shared(request, whole, name, live))
    live = labs[key]
    request.node.stash.setdefault(_KEPT, _Kept()).labs.append((live.name, live.results, live))
    return live


_SHARED: pytest.StashKey[dict[str, Any]] = pytest.StashKey()
#: Who may share a lab.
_SCOPES: dict[str, type[Any]] = {"function": pytest.Function, "module": pytest.Module, "session": pytest.Session}


def _judge_shared(request: pytest.FixtureRequest, whole: Any, name: str, live: Live) -> None:
    """Takes a shared lab down. Its verdict is that of no test, so it has a report of its own."""
    try:
        result = live.down()
    except NetloomError as error:
        is_bad, said = True, str(error)
    else:
        is_bad, said = not result.ok, result.summary
    how = request.config.getoption("--netloom-verdict")
    if not is_bad or how == "ignore":
        return
    if how == "warn":
        whole.warn(pytest.PytestWarning(f"lab {live.name}: {said}"))
        return
    who = "the session" if isinstance(whole, pytest.Session) else whole.name
    text = f"the verdict of lab {live.name}, which the tests of {who} shared: {said}"
    if hasattr(request.config, "workerinput"):
        # A worker of pytest-xdist tells of the tests that it was given, and of nothing else.
        pytest.fail(f"this is not about the last test, but {text}", pytrace=False)
    title = f"verdict of lab {name}"
    node = f"{whole.nodeid}::{title}".removeprefix("::")
    place = (whole.nodeid or title, None, title)
    report = pytest.TestReport(
        nodeid=node, location=place, keywords={}, outcome="failed", longrepr=text, when="call",
        sections=[(f"lab {live.name}", _about(live.results, None))],
    )  # fmt: skip
    hook = request.config.hook
    hook.pytest_runtest_logstart(nodeid=node, location=place)
    hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=node, location=place)


def _lab_of(request: pytest.FixtureRequest, what: Any) -> Lab:
    if isinstance(what, Lab):
        return what
    if callable(what):
        made = what()
        if not isinstance(made, Lab):
            raise pytest.UsageError(f"{what!r} returned {made!r}, and not a Lab")
        return made
    path = Path(what)
    return Lab.load(path if path.is_absolute() else request.path.parent / path)


def _judge(request: pytest.FixtureRequest, result: Result) -> None:
    """Fails a test whose lab was not as it should be."""
    how = request.config.getoption("--netloom-verdict")
    if result.ok or how == "ignore":
        return
    if how == "warn":
        request.node.warn(pytest.PytestWarning(f"lab {result.lab}: {result.summary}"))
    else:
        pytest.fail(f"lab {result.lab}: {result.summary}", pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds what the labs of a failed test have to say."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    kept = item.stash.get(_KEPT, None)
    if not report.failed or kept is None:
        return
    seed = getattr(getattr(item, "callspec", None), "params", {}).get(_SEED)
    if seed is not None:
        report.sections.append(
            ("netloom seed", f"This test failed with seed {seed}: repeat it with --netloom-seeds {seed}-{seed}")
        )
    for name, folder, live in kept.labs:
        report.sections.append((f"lab {name}", _about(folder, live)))


def _about(folder: Path | None, live: Any) -> str:
    lines: list[str] = []
    if folder is not None:
        summary = folder / "summary.txt"
        if summary.exists():
            lines.append(summary.read_text(encoding="utf-8", errors="replace").strip())
        elif live is not None:
            lines.append("it is still up; its verdict comes when it is taken down")
        for path in sorted((folder / "logs").glob("*")):
            text = path.read_text(encoding="utf-8", errors="replace").splitlines()[-_TAIL:]
            if text:
                lines.append(f"--- {path.name}")
                lines.extend(text)
        lines.append(f"results: {folder.absolute().as_uri()}")
    return "\n".join(lines)
