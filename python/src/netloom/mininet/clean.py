"""Cleaning up: labs end with the scripts that made them, so there is little to be done."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from ._fabric import all_fabrics
from .log import info


def sh(cmd: str) -> str:
    """Runs a shell command on this machine; what it writes and complains of."""
    done = subprocess.run(cmd, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode("utf-8", "replace")


def killprocs(pattern: str) -> None:
    """Nothing: programs end with their lab, and none of this machine's is ended by its name."""


class Cleanup:
    """What cleans up."""

    callbacks: list[Callable[[], Any]] = []

    @classmethod
    def cleanup(cls) -> None:
        """Ends the labs of this script."""
        info("*** Removing what this script has up\n")
        for fabric in all_fabrics():
            fabric.abandon()
        for callback in cls.callbacks:
            callback()
        info("*** Cleanup complete.\n")

    @classmethod
    def addCleanupCallback(cls, callback: Callable[[], Any]) -> None:
        """Adds what is to be called."""
        if callback not in cls.callbacks:
            cls.callbacks.append(callback)


cleanup = Cleanup.cleanup
addCleanupCallback = Cleanup.addCleanupCallback


def __getattr__(name: str) -> Any:
    from ._names import other

    return other("clean", name, globals())
