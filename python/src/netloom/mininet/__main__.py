"""`python -m netloom.mininet SCRIPT [ARGUMENTS]` runs a script of Mininet's; `python -m netloom.mininet mn ...` is `mn`."""

from __future__ import annotations

import os
import re
import runpy
import sys

from . import _hook, _pids, _scratch

_USAGE = """\
usage: netloom mininet SCRIPT [ARGUMENTS]      run a Python script that was written for Mininet
       netloom mininet -m MODULE [ARGUMENTS]   the same with a module
       netloom mn [OPTIONS]                    the command line of Mininet's mn; --help shows its options
"""


def main(arguments: list[str]) -> int:
    """Runs what is asked for; the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    _hook.install()
    _hook.for_children()
    _scratch.end_in_order()
    _pids.install()
    if arguments[0] == "mn":
        from .mn import main as mn

        sys.argv = arguments
        return mn(arguments[1:])
    from .._errors import NetloomError
    from ._clear import Unsupported

    try:
        _script(arguments)
    except SyntaxError as error:
        if not _is_python_2(error):
            raise
        print(
            f'  File "{error.filename}", line {error.lineno}\n    {(error.text or "").strip()}\nthis script is written for Python 2; '
            "`2to3 -w SCRIPT` (of Python up to 3.12) or `futurize -w SCRIPT` (package future) translates it",
            file=sys.stderr,
        )
        return 1
    except (Unsupported, NetloomError) as error:
        import traceback

        # The last line of the script itself, then why.
        frames = [each for each in traceback.extract_tb(error.__traceback__) if _is_own(each.filename)]
        if frames:
            print(f'  File "{frames[-1].filename}", line {frames[-1].lineno}\n    {frames[-1].line}', file=sys.stderr)
        print(f"{error}", file=sys.stderr)
        return 1
    return 0


def _is_python_2(error: SyntaxError) -> bool:
    """Whether a line is none of Python 3 because it is one of Python 2."""
    line = (error.text or "").strip()
    return bool(
        re.match(r"(print|exec)\s+[^=(\s]|print\s*>>|except\s+[\w.()\s,]+,\s*\w+\s*:|raise\s+[\w.]+\s*,", line)
    ) or bool(re.search(r"<>|\b0[0-7]+\b|\bur['\"]|\d[lL]\b", line))


def _is_own(filename: str) -> bool:
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__))) not in filename and not filename.startswith(
        "<frozen"
    )


def _script(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        if len(arguments) < 2:
            raise SystemExit("netloom mininet: -m wants the name of a module")
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    path = arguments[0]
    if path.startswith("-"):
        raise SystemExit(f"netloom mininet: {path} is no option; --help shows how it is called")
    if not os.path.isfile(path):
        raise SystemExit(f"netloom mininet: there is no script {path}")
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
