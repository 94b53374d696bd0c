"""Stands for `netloom run` in a hunt whose runs are played elsewhere: hands the lab to the broker of `_ray_hunt`, and unpacks the results.

It is a program of its own that needs nothing but Python, because each run starts one.
"""

from __future__ import annotations

import io
import json
import os
import socket
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path


def read(arguments: Sequence[str]) -> tuple[Path, Path, list[str]]:
    """The path of the lab's text, the folder of results, and the options that go on to the machine which plays the run.

    Args:
        arguments: Those of `netloom run`, from `run` and the lab file on.
    """
    text = results = Path()
    options: list[str] = []
    words = iter(arguments[2:])
    for word in words:
        if word == "--as-played":
            text = Path(next(words))
        elif word == "--results":
            results = Path(next(words))
        elif word in ("--kernel", "--parent"):
            # Each machine has another path for the kernel, and another process that asks.
            next(words)
        else:
            options.append(word)
    return text, results, options


def main(arguments: Sequence[str]) -> int:
    """Plays a run, prints its report as `netloom run --json` does, and returns its exit code."""
    path, home, options = read(arguments[1:])
    with socket.socket(socket.AF_UNIX) as broker:
        broker.connect(arguments[0])
        broker.sendall(json.dumps({"text": path.read_text(encoding="utf-8"), "options": options}).encode() + b"\n")
        answer = broker.makefile("rb")
        head = answer.readline()
        if not head.endswith(b"\n"):
            print("error: the hunt's connection to its cluster has ended", file=sys.stderr)
            return 8
        ended = json.loads(head)
        archive = answer.read(ended["size"])
    if len(archive) < ended["size"]:
        print("error: the results of a run did not arrive whole", file=sys.stderr)
        return 8
    sys.stderr.write(ended["said"])
    report = ended.get("report")
    if report is not None:
        report["results"] = str(_unpack(archive, home, ended["results"])) if archive else ""
        json.dump(report, sys.stdout)
    return ended["code"]


def _unpack(archive: bytes, home: Path, name: str) -> Path:
    """Puts the results of a run into a folder of their own; its path."""
    place = home / f"far-{time.monotonic_ns()}"
    place.mkdir()
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(place, filter="tar")
        else:
            packed.extractall(place)
    return place / os.path.basename(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
