"""Finds and calls the program `netloom`, which the wheel brings along."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Container, Sequence
from functools import lru_cache
from pathlib import Path

from ._errors import NetloomError, ProgramError

#: Names another program than the one of this package.
VARIABLE = "NETLOOM"


def program() -> str:
    """The path of the program: `$NETLOOM`, or the one that was installed with this package, or the one in `$PATH`.

    Raises:
        NetloomError: There is none, or `$NETLOOM` names none.
    """
    named = os.environ.get(VARIABLE)
    return _find(named)


@lru_cache(maxsize=4)
def _find(named: str | None) -> str:
    if named:
        if not os.access(named, os.X_OK) or os.path.isdir(named):
            raise NetloomError(f"${VARIABLE} names {named}, which is no program")
        return os.path.abspath(named)
    for folder in _folders():
        path = os.path.join(folder, "netloom")
        if os.path.isfile(path) and os.access(path, os.X_OK) and not _is_script(path):
            return path
    found = shutil.which("netloom")
    if found:
        return found
    raise NetloomError(
        f"the program netloom is not beside this Python ({', '.join(_folders())}) and not in $PATH: "
        f"install the package again with `pip install --force-reinstall netloom`, or name the program in ${VARIABLE}"
    )


def _folders() -> list[str]:
    folders = [
        sysconfig.get_path("scripts"),
        # `pip install --target FOLDER` puts it there.
        str(Path(__file__).parent.parent / "bin"),
        os.path.dirname(sys.executable),
    ]
    if hasattr(sysconfig, "get_preferred_scheme"):
        folders.append(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")))
    return list(dict.fromkeys(folders))


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def call(
    arguments: Sequence[str], *, stdin: bytes | None = None, expect: Container[int] = (0,)
) -> subprocess.CompletedProcess[bytes]:
    """Calls the program and waits for its end.

    Raises:
        ProgramError: It ended with a code that is not expected; the message is what it said.
    """
    done = subprocess.run([program(), *arguments], input=stdin, capture_output=True, check=False)
    if done.returncode not in expect:
        raise ProgramError(said(done.stderr) or f"netloom ended with code {done.returncode}", done.returncode)
    return done


def follow(arguments: Sequence[str], tell: Callable[[str], None]) -> bytes:
    """Calls the program, and tells each line that it says meanwhile; what it printed.

    Raises:
        ProgramError: It failed; the message is what it said.
    """
    heard: list[bytes] = []
    with subprocess.Popen(
        [program(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        stderr = process.stderr

        def listen() -> None:
            for line in stderr:
                # Errors are told by whoever catches them, with all of their lines.
                if heard or line.startswith(b"error:"):
                    heard.append(line)
                else:
                    tell(said(line))

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        printed = process.stdout.read()
        listener.join()
    if process.returncode:
        raise ProgramError(said(b"".join(heard)) or f"netloom ended with code {process.returncode}", process.returncode)
    return printed


def said(stderr: bytes) -> str:
    """What the program said, without the word that begins errors, and without colours, which the environment may ask for."""
    return uncoloured(stderr.decode(errors="replace")).strip().removeprefix("error: ")


def uncoloured(text: str) -> str:
    """A text without the sequences that give it colours, and links, on a terminal (ECMA-48, 5.4 and 5.6)."""
    return re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))", "", text)
