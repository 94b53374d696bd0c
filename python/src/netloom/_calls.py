"""What the program is asked to do with a lab that was written in Python."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _program
from ._errors import LabError, NetloomError, ProgramError, VersionError
from ._places import Place
from ._settings import Time, nanoseconds
from ._version import __version__

_NO_SUCH_LAB = 7
_LAB_FILE = 3
_USAGE = 2


@dataclass(frozen=True)
class Text:
    """The text of a lab file that was made in Python."""

    text: str
    #: The places that lines come from.
    places: Mapping[int, Place | None]
    #: Where the lab was made.
    place: Place | None
    #: The folder from which paths in it count.
    folder: Path
    #: The file that it was loaded from.
    file: Path | None
    #: What it is called.
    name: str
    #: Whether its author has named it.
    is_named: bool

    def seeming_path(self) -> str:
        """The path that the program is to take the text to be at."""
        return str(self.file.absolute()) if self.file else str(self.folder.absolute() / f"{self.name}.yaml")

    def seen_path(self) -> str:
        """What it is called in messages: the file that it was loaded from, or else no file."""
        return str(self.file) if self.file else "<lab>"

    @contextlib.contextmanager
    def arguments(self) -> Generator[list[str]]:
        """The arguments for the program, while the text is in a file."""
        with tempfile.NamedTemporaryFile("w", prefix="netloom-", suffix=".yaml", encoding="utf-8") as file:
            file.write(self.text)
            file.flush()
            yield [self.seeming_path(), "--as-played", file.name]

    def place_of(self, line: int) -> Place | None:
        """The place in Python that a line comes from."""
        before = [number for number in self.places if number <= line]
        return self.places[max(before)] if before else self.place


@dataclass(frozen=True)
class Options:
    """What `netloom up` and `run` take beside the lab."""

    name: str | None = None
    results: str | os.PathLike[str] = "results"
    seed: int | None = None
    clock: str | float | None = None
    kernel: str | os.PathLike[str] | None = None
    wall_limit: Time | None = None
    plots: bool = False

    def arguments(self) -> list[str]:
        """As arguments of the command line."""
        found = ["--results", os.fspath(self.results)]
        for option, value in (("--name", self.name), ("--seed", self.seed), ("--clock", self.clock)):
            if value is not None:
                found += [option, str(value)]
        if self.kernel is not None:
            found += ["--kernel", os.fspath(self.kernel)]
        return found

    def arguments_of_run(self) -> list[str]:
        """The same with what only a run takes."""
        more = [] if self.wall_limit is None else ["--wall-limit", f"{nanoseconds(self.wall_limit)} ns"]
        return self.arguments() + more + (["--plots"] if self.plots else [])


def settings_of_file(path: Path) -> dict[str, Any]:
    """A lab file as JSON has it.

    Raises:
        LabError: It is wrong.
    """
    try:
        done = _program.call(["convert", os.fspath(path), "--to", "json"])
    except ProgramError as error:
        raise (LabError(str(error)) if error.code == _LAB_FILE else error) from None
    return _object(done.stdout, str(path))


def settings_of_text(text: str) -> dict[str, Any]:
    """The text of a lab file as JSON has it.

    Raises:
        LabError: It is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="netloom-") as folder:
        path = Path(folder) / "lab.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            return settings_of_file(path)
        except LabError as error:
            raise LabError(str(error).replace(str(path), "the text")) from None


def _object(data: bytes, what: str) -> dict[str, Any]:
    found = json.loads(data)
    if not isinstance(found, dict):
        raise LabError(f"{what}: a lab file is a map of keys, such as `nodes` and `links`")
    return found  # pyright: ignore[reportUnknownVariableType]


def check(text: Text) -> dict[str, Any]:
    """The plan of a lab.

    Raises:
        LabError: It is wrong.
    """
    with text.arguments() as arguments:
        return json.loads(_call(text, ["check", *arguments, "--json"]))


def svg(text: Text) -> str:
    """The picture of a lab.

    Raises:
        LabError: It is wrong.
    """
    with text.arguments() as arguments:
        return _call(text, ["graph", *arguments]).decode()


def _call(text: Text, arguments: list[str]) -> bytes:
    try:
        return _program.call(arguments).stdout
    except ProgramError as error:
        raise explained(error, text) from None


def explained(error: ProgramError, text: Text) -> ProgramError:
    """An error about a lab, with the lines of Python that it is about in place of those of the file that was made."""
    if error.code == _USAGE and "unexpected argument" in str(error):
        return version_mismatch(str(error))  # pyright: ignore[reportReturnType]
    found: list[Place] = []
    path = re.escape(text.seeming_path())
    # The message, then ` --> FILE:LINE:COLUMN`, then the line, which nobody has seen.
    shown = re.compile(rf"^ *--> {path}:(\d+):\d+\n(?: *\d* *\|.*\n?)*(?:\.\.\.\n(?: *\d* *\|.*\n?)*)*", re.MULTILINE)

    def place_of(match: re.Match[str]) -> Place | None:
        place = text.place_of(int(match[1]))
        found.extend([place] if place is not None else [])
        return place

    def replace(match: re.Match[str]) -> str:
        place = place_of(match)
        return match[0] if place is None else place.show() + "\n"

    def name(match: re.Match[str]) -> str:
        place = place_of(match)
        return f"{text.seen_path()}:{match[1]}" if place is None else f"{place.shown_file()}:{place.line}"

    message = re.sub(rf"{path}:(\d+)(?::\d+)?", name, shown.sub(replace, str(error) + "\n").rstrip())
    message = message.replace(text.seeming_path(), text.seen_path())
    if error.code != _LAB_FILE:
        return ProgramError(message, error.code)
    return LabError(message, list(dict.fromkeys(found)))


def version_mismatch(message: str) -> VersionError:
    """That the program is another than the one that this package was made for."""
    try:
        version = _program.call(["--version"]).stdout.decode().strip()
    except (NetloomError, OSError) as error:
        version = f"a program that does not say its version ({error})"
    first = message.splitlines()[0]
    return VersionError(
        f"this is the package netloom {__version__}, and {_program.program()} is {version}, which does not understand it: {first}. "
        f"Use the program that came with the package: unset ${_program.VARIABLE}, or install both again"
    )


def up(text: Text, options: Options, tell: Callable[[str], None]) -> dict[str, Any]:
    """Brings a lab up that ends with this process; where its socket and results are.

    Raises:
        LabError: It is wrong.
        ProgramError: It cannot be brought up.
    """
    for name in _names(text, options):
        arguments = ["up", *Options(name, options.results, options.seed, options.clock, options.kernel).arguments()]
        with text.arguments() as lab:
            code, out, said = spawn([*arguments, *lab, "--json", "--parent", str(os.getpid())], tell)
        if code == 0:
            return json.loads(out)
        error = ProgramError(said or f"netloom ended with code {code}", code)
        if code == _NO_SUCH_LAB and "already up" in said and not (text.is_named or options.name):
            continue
        raise explained(error, text)
    raise NetloomError(f"there are too many labs called `{text.name}`: give this one a name")


def run(text: Text, options: Options, tell: Callable[[str], None]) -> tuple[dict[str, Any], int]:
    """Plays a lab to its end; its report, and the exit code.

    Raises:
        LabError: It is wrong.
        ProgramError: It could not be run.
    """
    for name in _names(text, options):
        named = Options(
            name, options.results, options.seed, options.clock, options.kernel, options.wall_limit, options.plots
        )
        with text.arguments() as lab:
            arguments = ["run", *named.arguments_of_run(), *lab, "--parent", str(os.getpid())]
            # With --json, nothing is said of what goes on.
            code, out, said = spawn(arguments, tell)
        report = _report_in(out.decode(errors="replace"))
        if report.get("results"):
            return report, code
        if code == _NO_SUCH_LAB and "already up" in said and not (text.is_named or options.name):
            continue
        raise explained(ProgramError(said or f"netloom run ended with code {code}", code), text)
    raise NetloomError(f"there are too many labs called `{text.name}`: give this one a name")


def _report_in(printed: str) -> dict[str, Any]:
    """The report of the run that has printed where its results are."""
    places = re.findall(r"^results: (.+)$", printed, re.MULTILINE)
    path = Path(places[-1]) / "report.json" if places else None
    return json.loads(path.read_text(encoding="utf-8")) if path and path.is_file() else {}


def _names(text: Text, options: Options) -> Iterator[str | None]:
    """The names to try: a lab that was given none may be up several times."""
    yield options.name
    if not (text.is_named or options.name):
        yield from (f"{text.name}-{number}" for number in range(2, 1000))


def spawn(arguments: list[str], tell: Callable[[str], None]) -> tuple[int, bytes, str]:
    """Calls the program, and passes on what it says meanwhile: its exit code, what it printed, and all that it said."""
    command = [_program.program(), *arguments]
    said: list[str] = []
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE) as process,
    ):
        assert process.stderr is not None
        try:
            for line in process.stderr:
                text = _program.uncoloured(line.decode(errors="replace")).rstrip("\n")
                said.append(text)
                tell(text)
            code = process.wait()
        except BaseException:
            # It ends the lab, and has a moment for that.
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            raise
        out.seek(0)
        return code, out.read(), _program.said("\n".join(said).encode())
