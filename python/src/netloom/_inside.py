"""Calls Python functions inside nodes.

The calling process sends what to call to an interpreter in the node, over its standard input, and gets back what came of it
over its standard output. So it works on every clock, and in nodes with a kernel of their own.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ._errors import NetloomError

if TYPE_CHECKING:
    from .live import LiveNode

_MAIN = "__netloom_main__"


def call(node: LiveNode, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What a function returns that is called inside a node.

    Raises:
        NetloomError: It cannot be sent there, or its interpreter ended without an answer.
    """
    main = _main_file()
    try:
        work = _dumps((function, args, dict(kwargs)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NetloomError(
            f"{function!r} cannot be sent into a node: {error}. Define it at the top level of a module, "
            "or install cloudpickle (`pip install netloom[functions]`)"
        ) from error
    request = pickle.dumps((main, list(sys.path), os.getcwd(), work))
    command = [sys.executable, "-m", "netloom._inside"]
    env = {"PYTHONPATH": os.pathsep.join(_own_path())}
    done = node.run(command, input=request, text=False, env=env)
    if not done.stdout:
        said = done.stderr.decode(errors="replace").strip()
        raise NetloomError(f"Python in node `{node.name}` ended with exit code {done.returncode}:\n{said}")
    sys.stderr.write(done.stderr.decode(errors="replace"))
    kind, value, shown = pickle.loads(done.stdout)
    if kind == "value":
        return pickle.loads(value)
    if kind == "raised":
        error = pickle.loads(value)
        error.__cause__ = RemoteTraceback(node.name, shown)
        raise error
    raise NetloomError(f"{function!r} in node `{node.name}`: {shown}")


class RemoteTraceback(NetloomError):
    """Where an error was raised inside a node."""

    def __init__(self, node: str, text: str) -> None:
        super().__init__(f"in node `{node}`:\n{text}")


def _own_path() -> list[str]:
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [own, *filter(None, [os.environ.get("PYTHONPATH")])]


def _main_file() -> str | None:
    """The program that is running, whose functions belong to the module `__main__`."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.abspath(file) if file else None


def _dumps(work: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]) -> bytes:
    if importlib.util.find_spec("cloudpickle") is not None:
        import cloudpickle  # pyright: ignore[reportMissingImports]

        return cloudpickle.dumps(work)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    function = work[0]
    if getattr(function, "__module__", None) == "__main__" and _main_file() is None:
        raise pickle.PicklingError("it was defined at the prompt of an interpreter")
    return pickle.dumps(work)


def _load_main(path: str) -> None:
    """Makes the functions of the calling program known, without running what it does as a program."""
    spec = importlib.util.spec_from_file_location(_MAIN, path)
    if spec is None or spec.loader is None:
        return
    module = types.ModuleType(_MAIN)
    module.__file__ = path
    sys.modules[_MAIN] = sys.modules["__main__"] = module
    spec.loader.exec_module(module)


def _serve() -> None:
    """In the node: reads what to call, calls it, and answers."""
    main, path, folder, work = pickle.load(sys.stdin.buffer)
    answer = os.fdopen(os.dup(1), "wb")
    # What it prints is no part of the answer.
    os.dup2(2, 1)
    try:
        sys.path[:] = path
        os.chdir(folder)
        if main is not None and b"__main__" in work:
            _load_main(main)
        function, args, kwargs = pickle.loads(work)
        answered = ("value", pickle.dumps(function(*args, **kwargs)), "")
    except BaseException as error:
        answered = _raised(error)
    sys.stdout.flush()
    pickle.dump(answered, answer)
    answer.close()


def _raised(error: BaseException) -> tuple[str, bytes, str]:
    shown = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:
        return ("failed", b"", shown)
    return ("raised", data, shown)


if __name__ == "__main__":
    _serve()
