"""Plays one run of a sweep or of a hunt on a worker of Ray. Ray sends this file along, so a machine needs nothing of Netloom: no import of the package here.

The program, the kernel of kernel nodes, images and the files that the lab names come once per machine, by their digests, and stay in a cache.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

#: Removes a folder when whoever has made it has ended, whoever was killed: $1 is the folder, and standard input ends with that process. It is no
#: child of that process, because Ray kills those of an actor whose owner has gone. A program whose number is in `pid` ends first; others, which
#: end with the process too, may write a little longer. If `keep` has a path, the results go there: the last of a day, and no more than twenty.
KEEPER = """
exec 3<&0 </dev/null
{
    cat <&3 >/dev/null
    while [ -e "$1/pid" ] && kill -0 "$(cat "$1/pid")" 2>/dev/null; do sleep 0.1; done
    if [ -s "$1/keep" ] && [ -d "$1/results" ]; then
        left=$(cat "$1/keep")
        all=${left%/*}
        mkdir -p "$all" && chmod 700 "$all"
        find "$all" -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -rf {} +
        ls -1t "$all" | tail -n +20 | while read -r old; do rm -rf "$all/$old"; done
        mv "$1/results" "$left" || rm -rf "$left"
    fi
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        rm -rf "$1"
        sleep 0.1
        [ -e "$1" ] || break
    done
} &
"""


#: Of the results of a lab in virtual time: the tables that have the rows of a part's own nodes alone, the files that each machine has for itself, and
#: those that say how the run was.
OWN_TABLES = ("tcp.csv", "nodes.csv", "disks.csv")
OWN = ("logs/console-*.log", "provenance.json", "report.json", "verdict.json", "machine-files.json", *OWN_TABLES)
OF_A_RUN = ("summary.txt", "report.html", "lab.svg")


@dataclass(frozen=True)
class Part:
    """A file that machines need: its digest, and where Ray has it."""

    digest: str
    reference: Any


@dataclass(frozen=True)
class Image:
    """A container image that machines need: its ID, and where Ray has it as a file of `netloom image pack`."""

    id: str
    packed: Part


@dataclass(frozen=True)
class Lab:
    """What all runs of a lab have in common."""

    #: The name of the lab file.
    name: str
    text: str
    program: Part
    kernel: Part | None = None
    #: By the names that the lab file has for them.
    files: Mapping[str, Part] = field(default_factory=dict)
    #: Those that a machine lacks, which gets them.
    images: Sequence[Image] = ()
    #: Which images each node has, as the provenance of a run says it: names mean what they mean where the lab comes from.
    origins: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """What all runs of a sweep have in common."""

    lab: Lab
    options: Sequence[str]


def digest_of(data: bytes) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def play(work: Work, number: int) -> bytes | list[str]:
    """Plays one run; its folder and its results as an archive. Or plays nothing: the IDs of images that this machine lacks, with which it is to be
    asked again.
    """
    import ray  # pyright: ignore[reportMissingImports]

    return play_with(work, number, ray.get)


def play_with(work: Work, number: int, get: Callable[[Any], bytes]) -> bytes | list[str]:
    """The same, with what fetches the bytes that a reference stands for."""
    program, environment = _named_programs(work.lab, get)
    if missing := lacking(program, _wanted(work.lab)):
        return missing
    with _own_folder() as home:
        file = lay_out(work.lab, home, get)
        out = home / "out"
        command = [str(program), "sweep", str(file), "--out", str(out), "--yes", "--quiet", *work.options]
        command += ["--only", str(number), "--parent", str(os.getpid())]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1, 5) and not any((out / "runs").glob("*/run.json")):
            raise RuntimeError(done.stderr.strip().removeprefix("error: ") or f"netloom ended with {done.returncode}")
        return packed(out / "runs")


def play_lab(lab: Lab, text: str, options: Sequence[str]) -> dict[str, Any]:
    """Plays a lab once; how it ended: `code`, `said`, `report`, `results` (the folder in the archive) and `archive`. Or `lacking` alone: nothing was
    played, since this machine lacks images with these IDs, with which it is to be asked again.

    Args:
        lab: The lab file, and what it needs.
        text: What is played in its place, with the names of files as they are in the lab file.
        options: Those of `netloom run`.
    """
    import ray  # pyright: ignore[reportMissingImports]

    return play_lab_with(lab, text, options, ray.get)


def play_lab_with(lab: Lab, text: str, options: Sequence[str], get: Callable[[Any], bytes]) -> dict[str, Any]:
    """The same, with what fetches the bytes that a reference stands for."""
    program, environment = _named_programs(lab, get)
    if missing := lacking(program, _wanted(lab)):
        return {"lacking": missing}
    with _own_folder() as home:
        file = lay_out(lab, home, get)
        played = home / "played.yaml"
        played.write_text(text, encoding="utf-8")
        command = [str(program), "run", str(file), "--as-played", str(played), "--results", str(home / "results")]
        command += [*options, "--parent", str(os.getpid())]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        ended: dict[str, Any] = {"code": done.returncode, "said": done.stderr}
        try:
            report = json.loads(done.stdout)
        except ValueError:
            return ended
        results = report.get("results")
        ended |= {"report": report, "results": Path(results).name if results else ""}
        return {**ended, "archive": packed(Path(results))} if results else ended


def cache() -> Path:
    """Where files of Netloom are kept on this machine."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netloom"


def left_folder(name: str) -> Path:
    """Where the results of a part stay whose machine was lost."""
    return cache() / "left" / name


def left(name: str) -> bytes | None:
    """What is left of a part on this machine, as an archive; none if nothing is."""
    of = left_folder(name).glob("*/*")
    folder = next((path for path in of if path.is_dir() and not path.is_symlink()), None)
    return None if folder is None else packed(folder)


def forget(name: str) -> None:
    """Removes what is left of a part on this machine."""
    shutil.rmtree(left_folder(name), ignore_errors=True)


def kept_folder(prefix: str) -> tuple[Path, subprocess.Popen[bytes]]:
    """A new folder, and its keeper, which removes it when its standard input is closed, or this process has ended in whatever way."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    keep = ["/bin/sh", "-c", KEEPER, "keeper", str(folder)]
    return folder, subprocess.Popen(keep, stdin=subprocess.PIPE, start_new_session=True)


@contextlib.contextmanager
def _own_folder() -> Generator[Path, None, None]:
    folder, keeper = kept_folder("netloom-ray-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if keeper.stdin is not None:
            keeper.stdin.close()
        keeper.wait()


def packed(folder: Path, only: Callable[[str], bool] | None = None) -> bytes:
    """A folder as an archive, in which it has its own name; `only`: which of its files are in it, by their names in the folder."""

    def wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        name = str(Path(entry.name).relative_to(folder.name))
        return entry if only is None or entry.isdir() or only(name) else None

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        archive.add(folder, arcname=folder.name, filter=wanted)
    return buffer.getvalue()


def is_own(name: str) -> bool:
    """Whether each part of a lab in virtual time has this file of its results folder for itself; all others are the same in all parts."""
    return any(fnmatch(name, pattern) for pattern in OWN)


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file that all parts of a lab in virtual time have to have in common, by its name in the results folder."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not path.is_symlink() and not is_own(name) and name not in OF_A_RUN:
            digest = hashlib.sha256()
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
            found[name] = digest.hexdigest()
    return found


def programs(lab: Lab, get: Callable[[Any], bytes]) -> tuple[Path, dict[str, str]]:
    """The program on this machine, and its environment, which names the kernel."""
    machines = cache() / "machines"
    environment = dict(os.environ)
    if lab.kernel is not None:
        environment["NETLOOM_KERNEL"] = str(_kept(machines, lab.kernel, get))
    program = _kept(machines, lab.program, get)
    if lab.images:
        _take_all(program, lab, get)
    return program, environment


def _named_programs(lab: Lab, get: Callable[[Any], bytes]) -> tuple[Path, dict[str, str]]:
    """The same for runs on any machine, where errors name this one."""
    try:
        return programs(lab, get)
    except (OSError, RuntimeError) as error:
        raise RuntimeError(f"machine {socket.gethostname()}: {error}") from None


def program_of(lab: Lab) -> Path:
    """The program on this machine, without the images that the lab needs."""
    import ray  # pyright: ignore[reportMissingImports]

    return _kept(cache() / "machines", lab.program, ray.get)


def lacking(program: Path, images: Sequence[str]) -> list[str]:
    """Those of these images, by their IDs, that are not in this machine's cache."""
    if not images:
        return []
    there = {image["id"] for image in json.loads(_called(program, "image", "list", "--json"))}
    return [image for image in images if image not in there]


def _wanted(lab: Lab) -> list[str]:
    """The IDs of all images of a lab."""
    return sorted({origin["id"] for origins in lab.origins.values() for origin in origins})


def source_of(origins: Mapping[str, Sequence[Mapping[str, Any]]], image: str) -> str:
    """What a lab file calls the image with this ID."""
    return next((str(each["source"]) for of in origins.values() for each in of if each["id"] == image), image)


def _take_all(program: Path, lab: Lab, get: Callable[[Any], bytes]) -> None:
    """Puts those images of a lab into this machine's cache that it lacks. Of several runs that begin at once, the first one does."""
    with open(cache() / "machines" / "images.lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lacked = lacking(program, [image.id for image in lab.images])
        for image in lab.images:
            if image.id in lacked:
                _take(program, image, source_of(lab.origins, image.id), get)


def _take(program: Path, image: Image, name: str, get: Callable[[Any], bytes]) -> None:
    """Puts an image into this machine's cache. `name`: what it is called in errors."""
    data = get(image.packed.reference)
    if digest_of(data) != image.packed.digest:
        raise RuntimeError(f"the image {name} did not arrive as it was sent")
    with _own_folder() as home:
        file = home / "image"
        file.write_bytes(data)
        try:
            _called(program, "image", "take", str(file))
        except RuntimeError as error:
            raise RuntimeError(f"the image {name}: {error}") from None


def _called(program: Path, *words: str) -> bytes:
    done = subprocess.run([str(program), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip().removeprefix("error: ")
        raise RuntimeError(why or f"netloom {' '.join(words[:2])} ended with {done.returncode}")
    return done.stdout


def lay_out(lab: Lab, home: Path, get: Callable[[Any], bytes]) -> Path:
    """Writes the lab file, and the files that it names where it looks for them; the path of the lab file."""
    up = max((Path(name).parts.count("..") for name in lab.files), default=0)
    folder = home.joinpath("lab", *(["d"] * up))
    folder.mkdir(parents=True)
    for name, part in lab.files.items():
        if os.path.isabs(name):
            _check_here(name, part)
            continue
        path = Path(os.path.normpath(folder / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(get(part.reference))
    file = folder / lab.name
    file.write_text(lab.text, encoding="utf-8")
    if lab.origins:
        # Where a run looks for the images that it is to have, whatever their names mean on this machine.
        (folder / "provenance.json").write_text(json.dumps({"images": dict(lab.origins)}), encoding="utf-8")
    return file


def _check_here(name: str, part: Part) -> None:
    """An absolute path is of this machine: nothing is written there."""
    try:
        found = digest_of(Path(name).read_bytes())
    except OSError as error:
        raise RuntimeError(
            f"the lab names {name}, which this machine cannot read: {error}: name it by a relative path"
        ) from None
    if found != part.digest:
        raise RuntimeError(f"{name} is another file on this machine: name it by a path relative to the lab file")


def _kept(machines: Path, part: Part, get: Callable[[Any], bytes]) -> Path:
    """The path of a program in this machine's cache, which it is written to if it is not there."""
    path = machines / part.digest
    if path.exists():
        return path
    data = get(part.reference)
    if digest_of(data) != part.digest:
        raise RuntimeError("a program did not arrive as it was sent")
    machines.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=".new-", dir=machines)
    with os.fdopen(number, "wb") as file:
        file.write(data)
    os.chmod(name, 0o755)
    # Another worker may have put it there meanwhile, and run it by now: it stays.
    with contextlib.suppress(FileExistsError):
        os.link(name, path)
    os.unlink(name)
    return path
