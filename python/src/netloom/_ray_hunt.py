"""Plays the runs of a hunt on Ray: `netloom hunt --on` becomes this, which starts `netloom hunt` again with a player in the place of its own runs.

Each run is a process of `_ray_player`, which hands the lab to the broker here over a socket, and gets the results as an archive. A player that is
ended takes its run on the cluster with it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _program, _ray, _ray_player, _ray_worker
from ._errors import NetloomError, ProgramError
from ._progress import progress_writer
from ._ray_images import Images
from ._ray_worker import Lab, Part

#: How many runs go on at once, at most: their numbers are in the names of labs, which are as long as one another.
MOST = 99
#: How often to look whether a player has gone, in seconds.
TURN = 0.2


def main(order: str) -> int:
    """Hunts on a cluster of Ray; the exit code is that of the hunt.

    Args:
        order: An object in JSON: `file`, `text` (the path of its text), `on` (`ray`, or the address of a cluster), `kernel`, `files` (those that the
            lab names), `jobs`, `quiet`, `hunt` (the arguments of the program).
    """
    asked = json.loads(order)
    # Keys at the terminal are for the hunt, which ends its runs and says what it has found. To ignore them here would be inherited.
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        ray = _ray.ray_itself()
        _ray.connect(ray, None if asked["on"] == "ray" else asked["on"])
        lab, images = _lab(ray, asked)
    except ProgramError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.code or 8
    except (NetloomError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 8
    ray.cloudpickle.register_pickle_by_value(_ray_worker)
    # A run that a hunt ends is none that a worker lost.
    task = ray.remote(num_cpus=1, max_retries=3)(_ray_worker.play_lab)
    jobs = asked["jobs"] or min(max(int(ray.cluster_resources().get("CPU", 1)), 1), MOST)
    with tempfile.TemporaryDirectory(prefix="netloom-hunt-") as home:
        path = Path(home) / "broker"
        broker = Broker(path, lambda run, gone: _play(ray, task, lab, images, run, gone))
        threading.Thread(target=broker.serve, daemon=True).start()
        code = _hunt(asked["hunt"], jobs, path)
    ray.shutdown()
    return code


def _hunt(arguments: Sequence[str], jobs: int, path: Path) -> int:
    player = [sys.executable, "-I", str(Path(_ray_player.__file__).resolve()), str(path)]
    command = [_program.program(), *arguments]
    if not any(word == "-j" or word.startswith(("--jobs", "-j")) for word in arguments):
        command += ["--jobs", str(jobs)]
    command += [f"--player={word}" for word in player]
    hunt = subprocess.Popen(command)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda signum, _: hunt.send_signal(signum))
    return hunt.wait()


def _lab(ray: Any, asked: Mapping[str, Any]) -> tuple[Lab, Images]:
    """What all runs have in common, handed to Ray once, and the images of their nodes."""
    folder = Path(asked["file"]).parent
    options = ["--kernel", asked["kernel"]] if asked["kernel"] else []
    kernel = _ray.kernel_of(options)

    def part(path: Path) -> Part:
        data = path.read_bytes()
        return Part(_ray_worker.digest_of(data), ray.put(data))

    images = Images(ray, [asked["file"], "--as-played", asked["text"]], progress_writer(not asked["quiet"]))
    lab = Lab(
        name=Path(asked["file"]).name,
        text=Path(asked["text"]).read_text(encoding="utf-8"),
        program=part(Path(_program.program())),
        kernel=None if kernel is None else part(kernel),
        files={name: part(folder / name) for name in asked["files"]},
        origins=images.origins,
    )
    return lab, images


def _play(ray: Any, task: Any, lab: Lab, images: Images, run: Mapping[str, Any], gone: Any) -> dict[str, Any]:
    """Plays a run on the cluster; ends it there when its player has gone."""
    lacking: set[str] = set()
    reference = task.remote(lab, run["text"], run["options"])
    while True:
        ready, _ = ray.wait([reference], timeout=TURN)
        if ready:
            try:
                ended = ray.get(reference)
                if "lacking" not in ended:
                    return ended
                # Its machine lacks images, and so may the one that plays it now.
                lacking |= set(ended["lacking"])
                reference = task.remote(images.given(lab, sorted(lacking)), run["text"], run["options"])
                continue
            except NetloomError as error:
                return {"code": 8, "said": f"error: {error}\n"}
            except ray.exceptions.RayError as error:
                return {"code": 8, "said": f"error: {_ray.reason_of(error)}\n"}
        if gone():
            ray.cancel(reference, force=True)
            return {"code": 130, "said": ""}


class Broker:
    """Takes runs from players over a socket, and answers each with what came of it.

    A player sends an object in JSON and a line feed: `text` and `options`. The answer is an object in JSON and a line feed: `code`, `said` (on standard
    error), `report`, `results` (the name of the folder in the archive) and `size`; then the archive, of so many bytes.
    """

    def __init__(self, path: Path, play: Any) -> None:
        self._play = play
        self._socket = socket.socket(socket.AF_UNIX)
        # The folder is this user's alone.
        self._socket.bind(str(path))
        self._socket.listen(MOST)

    def serve(self) -> None:
        while True:
            try:
                player, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(player,), daemon=True).start()

    def _answer(self, player: socket.socket) -> None:
        with player:
            line = player.makefile("rb").readline()
            if not line.endswith(b"\n"):
                return
            ended = self._play(json.loads(line), lambda: bool(select.select([player], [], [], 0)[0]))
            archive = ended.pop("archive", b"")
            try:
                player.sendall(json.dumps({**ended, "size": len(archive)}).encode() + b"\n" + archive)
            except OSError:
                # It was ended meanwhile.
                return

    def close(self) -> None:
        self._socket.close()


if __name__ == "__main__":
    # Ray's own threads would keep a process that has nothing more to do.
    code = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(code)
