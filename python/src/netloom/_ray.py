"""Plays the runs of a sweep on Ray: Ray schedules them, repeats those whose worker is lost, and knows the machines.

A worker plays one run in a folder of its own and returns it as an archive, so that machines need no folder in common. What has
come is put into the sweep's folder in one go; that folder is the sweep's state, as on one machine.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _calls, _program
from ._errors import NetloomError, ProgramError
from ._progress import progress_writer


def play(text: _calls.Text, folder: Path, options: list[str], progress: Any, ray_options: dict[str, Any]) -> None:
    """Plays the runs that are not in the folder yet.

    Raises:
        NetloomError: Ray is not installed, or a run could not be played.
    """
    try:
        import ray  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise NetloomError("on='ray' needs Ray, which is not installed: `pip install netloom[ray]`") from None
    waiting = _prepare(text, folder, options)
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False)
    settings: dict[str, Any] = {"num_cpus": 1, "max_retries": 3, **ray_options}
    task = ray.remote(**settings)(_play_one)
    kept = [option for option in options if option not in ("--resume", "--retry")]
    work = (text.text, text.seeming_path(), kept)
    # No more are handed in than there is room for: Ray keeps what is handed in, and archives are long.
    most = 2 * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    tell = progress_writer(progress)
    going: dict[Any, int] = {}
    total = len(waiting)
    failures: list[str] = []
    try:
        while waiting or going:
            while waiting and len(going) < most:
                number = waiting.pop(0)
                going[task.remote(work, number)] = number
            [ready], _ = ray.wait(list(going), num_returns=1)
            number = going.pop(ready)
            try:
                _unpack(ray.get(ready), folder)
            except ray.exceptions.RayError as error:
                failures.append(f"run {number}: {str(error).strip().splitlines()[-1]}")
            tell(f"{total - len(waiting) - len(going)} of {total} runs have ended")
    finally:
        for reference in going:
            ray.cancel(reference, force=False)
    if failures:
        raise NetloomError(
            f"{len(failures)} of {total} runs could not be played; what has ended is kept, and resume=True goes on: {failures[0]}"
        )


def _prepare(text: _calls.Text, folder: Path, options: Sequence[str]) -> list[int]:
    """Makes the sweep's folder, or opens it again; the runs that are to be played."""
    with text.arguments() as arguments:
        command = ["sweep", *arguments, "--out", str(folder), "--yes", "--quiet", "--only", "none", *options]
        try:
            _program.call(command, expect=(0, 1, 5))
        except ProgramError as error:
            raise _calls.explained(error, text) from None
    listed = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
    total = int(listed["runs"])
    digits = max(len(str(total)), 4)
    return [number for number in range(1, total + 1) if not _has_ended(folder, number, digits)]


def _has_ended(folder: Path, number: int, digits: int) -> bool:
    return any((folder / "runs").glob(f"*-{number:0{digits}}/run.json"))


def _play_one(work: tuple[str, str, list[str]], number: int) -> bytes:
    """On a worker: plays one run; its folder and its results as an archive."""
    text, path, options = work
    with tempfile.TemporaryDirectory(prefix="netloom-ray-") as home:
        file = Path(home) / "lab.yaml"
        file.write_text(text, encoding="utf-8")
        out = Path(home) / "out"
        command = ["sweep", path, "--as-played", str(file), "--out", str(out), "--yes", "--quiet", *options]
        _program.call([*command, "--only", str(number), "--parent", str(os.getpid())], expect=(0, 1, 5))
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
            archive.add(out / "runs", arcname="runs")
        return buffer.getvalue()


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
