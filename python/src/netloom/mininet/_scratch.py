"""Folders that go with the script: at its end, or, if it was killed, when the next one begins."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import tempfile
from types import FrameType

_PREFIX = "nlmn-"


def folder() -> str:
    """Makes one; others whose scripts are gone are removed."""
    _sweep()
    path = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(path, ignore_errors=True))
    return path


def _sweep() -> None:
    base = tempfile.gettempdir()
    for name in os.listdir(base):
        match = re.fullmatch(rf"{_PREFIX}(\d+)-\w+", name)
        path = os.path.join(base, name)
        with contextlib.suppress(OSError):
            if match and os.lstat(path).st_uid == os.getuid() and not os.path.exists(f"/proc/{match[1]}"):
                shutil.rmtree(path, ignore_errors=True)


def end_in_order() -> None:
    """A script that is asked to end by a signal ends as by `sys.exit`, so that what it has made is removed."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, leave)
