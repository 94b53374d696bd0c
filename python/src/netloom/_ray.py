"""Plays the runs of a sweep on Ray: Ray schedules them, repeats those whose worker is lost, and knows the machines.

A worker plays one run in a folder of its own and returns it as an archive, so that machines need no folder in common, and nothing of Netloom:
see `_ray_worker`. What has come is put into the sweep's folder in one go; that folder is the sweep's state, as on one machine.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from . import _calls, _program, _ray_hosts, _ray_worker
from ._errors import NetloomError, ProgramError
from ._progress import progress_writer
from ._ray_images import Images
from ._ray_worker import Lab, Part, Work, digest_of

#: Standard output, while what is printed goes to standard error.
_stdout: int | None = None


def play(text: _calls.Text, folder: Path, options: list[str], progress: Any, ray_options: dict[str, Any]) -> None:
    """Plays the runs that are not in the folder yet.

    Raises:
        NetloomError: Ray is not installed, or a run could not be played.
    """
    ray = ray_itself()
    tell = progress_writer(progress)
    with text.arguments() as arguments:
        try:
            waiting = _prepare(arguments, folder, options)
            connect(ray, None)
            images = _images(ray, arguments, options, tell)
        except ProgramError as error:
            raise _calls.explained(error, text) from None
    _play(ray, (Path(text.seeming_path()), text.text), images, waiting, folder, options, tell, ray_options)


def main(order: str) -> int:
    """What `netloom sweep --on` becomes: plays the runs of a lab file that are not in the folder yet, then becomes the program, which makes the tables.

    Args:
        order: An object in JSON: `file`, `folder`, `on` (`ray`, or the address of a cluster), `quiet`, `options` (those of each run), `then`
            (the arguments of the program that makes the tables).
    """
    asked = json.loads(order)
    file, folder, options = Path(asked["file"]), Path(asked["folder"]), list(asked["options"])
    keep_stdout()
    try:
        ray = ray_itself()
        waiting = _prepare([str(file)], folder, options)
        connect(ray, None if asked["on"] == "ray" else asked["on"])
        tell = progress_writer(not asked["quiet"])
        images = _images(ray, [str(file)], options, tell)
        _play(ray, (file, file.read_text(encoding="utf-8")), images, waiting, folder, options, tell, {})
    except ProgramError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.code or 1
    except (NetloomError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 8
    except KeyboardInterrupt:
        print(f"interrupted; to continue, add --resume: what has ended is in {folder}", file=sys.stderr)
        return 130
    become(ray, asked["then"])


def take_signals() -> None:
    """Takes the signals that the program has held back until this process has handlers for them."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


def keep_stdout() -> None:
    """Sends what Ray prints to standard error: standard output is for what the program prints that this process becomes (`become`)."""
    global _stdout
    if _stdout is None:
        sys.stdout.flush()
        _stdout = os.dup(1)
        os.dup2(2, 1)


def become(ray: Any, arguments: Sequence[str], is_lost: bool = False) -> NoReturn:
    """Leaves the cluster and becomes the program with these arguments, which shows what was done: signals do not end that half way. `is_lost`: the
    cluster has no head any more, of which Ray would take leave for a minute.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if not is_lost:
        ray.shutdown()
    _ray_hosts.down()
    program = _program.program()
    if _stdout is not None:
        sys.stdout.flush()
        os.dup2(_stdout, 1)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.execv(program, [program, *arguments])


def ray_itself() -> Any:
    try:
        import ray  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise NetloomError(f"Ray is not installed for {sys.executable}: `pip install ray`") from None
    return ray


def _show(text: str) -> None:
    """Shows how far a cluster is that is made now, which takes minutes."""
    print(text, file=sys.stderr, flush=True)


class Unreached(NetloomError):
    """Nobody answers where a cluster should be."""


def connect(ray: Any, address: str | None, tell: Callable[[str], None] = _show) -> None:
    """Joins the cluster at this address, or the one of `RAY_ADDRESS`, or makes one of this machine, or of the hosts that are named."""
    if ray.is_initialized():
        return
    hosts = address if address is not None and _ray_hosts.are_hosts(address) else None
    if hosts is not None:
        address = _ray_hosts.up(hosts, ray.__version__, tell)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # What was started just now takes clients a little later.
    until = time.monotonic() + (0 if hosts is None else _ray_hosts.CLIENTS_WITHIN)
    while True:
        try:
            _init(ray, address)
            break
        except Unreached:
            if time.monotonic() >= until:
                raise
            time.sleep(1)
    if hosts is not None:
        _ray_hosts.await_all(hosts, lambda: sum(1 for node in ray.nodes() if node["Alive"]), tell)
    # Ray puts handlers of its own in their place, with which SIGTERM ends the process at once.
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _init(ray: Any, address: str | None) -> None:
    if address is not None:
        _reach(address)
    try:
        if address is None and not os.environ.get("RAY_ADDRESS"):
            ray.init(log_to_driver=False, include_dashboard=False)
        else:
            ray.init(address=address, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        where = address or os.environ.get("RAY_ADDRESS") or "this machine"
        kind = Unreached if isinstance(error, ConnectionError) else NetloomError
        raise kind(f"there is no cluster of Ray at {where}: {str(error).strip().splitlines()[0]}") from None


def _reach(address: str) -> None:
    """Fails if nothing listens there: Ray would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
    except (OSError, ValueError) as error:
        raise Unreached(f"there is no cluster of Ray at {address}: {error}") from None


def _images(ray: Any, lab: Sequence[str], options: Sequence[str], tell: Callable[[str], None]) -> Images:
    """The images of a sweep, of which these are the options of each run."""
    clock = list(options[options.index("--clock") :][:2]) if "--clock" in options else []
    return Images(ray, [*lab, *clock], tell)


def _work(ray: Any, lab: tuple[Path, str], images: Images, folder: Path, options: Sequence[str]) -> Work:
    """What workers need, handed to Ray once."""
    handed: dict[str, Part] = {}

    def part(path: Path) -> Part:
        data = path.read_bytes()
        digest = digest_of(data)
        if digest not in handed:
            handed[digest] = Part(digest, ray.put(data))
        return handed[digest]

    origin = json.loads((folder / "origin.json").read_text(encoding="utf-8"))
    copies = origin.get("copies", [])
    kernel = kernel_of(options)
    handed_in = Lab(
        name=lab[0].name,
        text=lab[1],
        program=part(Path(_program.program())),
        kernel=None if kernel is None else part(kernel),
        files={each["name"]: part(folder / each["copy"]) for each in copies},
        origins=images.origins,
    )
    kept = [option for option in _without_kernel(options) if option not in ("--resume", "--retry")]
    return Work(handed_in, kept)


def kernel_of(options: Sequence[str]) -> Path | None:
    """The kernel of kernel nodes that a run here would use."""
    if "--kernel" in options:
        return Path(options[list(options).index("--kernel") + 1])
    if named := os.environ.get("NETLOOM_KERNEL"):
        return Path(named)
    listed = json.loads(_program.call(["kernel", "list", "--json"], expect=(0, 4)).stdout or b"[]")
    return Path(listed[0]["path"]) if listed else None


def _without_kernel(options: Sequence[str]) -> list[str]:
    """The options without `--kernel PATH`: each machine has it elsewhere."""
    found = list(options)
    if "--kernel" in found:
        at = found.index("--kernel")
        del found[at : at + 2]
    return found


def _play(
    ray: Any,
    lab: tuple[Path, str],
    images: Images,
    waiting: list[int],
    folder: Path,
    options: Sequence[str],
    tell: Callable[[str], None],
    ray_options: dict[str, Any],
) -> None:
    settings: dict[str, Any] = {"num_cpus": 1, "max_retries": 3, **ray_options}
    ray.cloudpickle.register_pickle_by_value(_ray_worker)
    task = ray.remote(**settings)(_ray_worker.play)
    work = _work(ray, lab, images, folder, options)
    # No more are handed in than there is room for: Ray keeps what is handed in, and archives are long.
    most = 2 * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    going: dict[Any, int] = {}
    lacking: dict[int, list[str]] = {}
    total = len(waiting)
    failures: list[str] = []
    try:
        while waiting or going:
            while waiting and len(going) < most:
                number = waiting.pop(0)
                given = replace(work, lab=images.given(work.lab, lacking.get(number, [])))
                going[task.remote(given, number)] = number
            [ready], _ = ray.wait(list(going), num_returns=1)
            number = going.pop(ready)
            try:
                played = ray.get(ready)
                if isinstance(played, list):
                    # Its machine lacks images, and so may the one that plays it now.
                    lacking[number] = sorted({*lacking.get(number, []), *played})
                    waiting.insert(0, number)
                    continue
                _unpack(played, folder)
            except ray.exceptions.RayError as error:
                failures.append(f"run {number}: {reason_of(error)}")
            tell(f"{total - len(waiting) - len(going)} of {total} runs have ended")
    finally:
        for reference in going:
            ray.cancel(reference, force=False)
    if failures:
        raise NetloomError(
            f"{len(failures)} of {total} runs could not be played; what has ended is kept, and resuming goes on: {failures[0]}"
        )


def reason_of(error: Exception) -> str:
    return str(error).strip().splitlines()[-1].removeprefix("RuntimeError: ")


def _prepare(arguments: Sequence[str], folder: Path, options: Sequence[str]) -> list[int]:
    """Makes the sweep's folder, or opens it again; the runs that are to be played."""
    command = ["sweep", *arguments, "--out", str(folder), "--yes", "--json", "--only", "none", *options]
    done = _program.call(command, expect=range(256))
    # Runs that failed before make the exit code of a sweep that is right; one that is wrong prints no tables.
    if not done.stdout.strip():
        raise ProgramError(_program.said(done.stderr) or f"netloom ended with code {done.returncode}", done.returncode)
    listed = json.loads(done.stdout)
    total = int(listed["runs"])
    digits = max(len(str(total)), 4)
    retry = "--retry" in options
    return [number for number in range(1, total + 1) if not _has_ended(folder, number, digits, retry)]


def _has_ended(folder: Path, number: int, digits: int, retry: bool) -> bool:
    """Whether a run has ended, and need not be played again because it failed."""
    records = list((folder / "runs").glob(f"*-{number:0{digits}}/run.json"))
    return bool(records) and not (retry and json.loads(records[0].read_text(encoding="utf-8"))["outcome"] == "failed")


def _unpack(data: bytes, folder: Path) -> None:
    """Puts a run into the sweep's folder: `run.json`, which says that it has ended, at last."""
    with (
        tempfile.TemporaryDirectory(prefix=".ray-", dir=folder) as home,
        tarfile.open(fileobj=io.BytesIO(data)) as archive,
    ):
        if hasattr(tarfile, "data_filter"):
            archive.extractall(home, filter="tar")
        else:
            archive.extractall(home)
        for path in sorted((Path(home) / "runs").iterdir()):
            target = folder / "runs" / path.name
            record = path / "run.json"
            last = record.read_bytes() if record.exists() else None
            record.unlink(missing_ok=True)
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(exist_ok=True)
            os.rename(path, target)
            if last is not None:
                part = target / "run.json.new"
                part.write_bytes(last)
                os.rename(part, target / "run.json")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
