"""What can go wrong, as exceptions."""

from __future__ import annotations

from ._places import Place


class NetloomError(Exception):
    """Base of all errors of this package."""


class ProgramError(NetloomError):
    """The program `netloom` could not do what it was asked for."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        #: The exit code: `netloom exit-codes` lists what they mean.
        self.code = code


class LabError(ProgramError):
    """A lab is wrong. The message says where it was written in Python, in the words of `netloom check`."""

    def __init__(self, message: str, places: list[Place] | None = None) -> None:
        super().__init__(message, 3)
        #: The lines of Python that the errors are about.
        self.places = places or []


class RefusedError(ProgramError):
    """A lab that is up refused a request."""

    def __init__(self, message: str, code: int, key: str | None = None) -> None:
        super().__init__(message, code)
        #: The key of the request that is wrong, if it is a single one.
        self.key = key


class ClosedError(NetloomError):
    """A lab was used that is not up any more, or that another process or event loop brought up."""


class NotAsDescribedWarning(UserWarning):
    """A lab has ended, and its network was not as described, or a service had failed."""


class VersionError(NetloomError):
    """This package and the program do not fit together."""


class CalledProcessError(NetloomError):
    """A program in a node failed, and was to be checked."""

    def __init__(self, argv: list[str], node: str, returncode: int, stdout: object, stderr: object) -> None:
        tail = _tail(stderr)
        super().__init__(f"{_command(argv)} in node `{node}` ended with {_ending(returncode)}{tail}")
        self.argv = argv
        self.node = node
        #: Its exit code, or the negative number of the signal that ended it.
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr


class TimeoutExpired(NetloomError):
    """A program in a node did not end in time; `run` has ended it."""

    def __init__(
        self, argv: list[str], node: str, timeout: float, stdout: object = None, stderr: object = None
    ) -> None:
        super().__init__(f"{_command(argv)} in node `{node}` did not end within {timeout:g} s")
        self.argv = argv
        self.node = node
        self.timeout = timeout
        self.stdout = stdout
        self.stderr = stderr


class RunError(NetloomError):
    """A run or lab ended, and was not as it should be; `result` has what is known of it."""

    def __init__(self, message: str, result: object) -> None:
        super().__init__(message)
        self.result = result


def _command(argv: list[str]) -> str:
    text = " ".join(argv)
    return f"`{text[:200]}`" if len(text) <= 200 else f"`{text[:200]}...`"


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _tail(stderr: object) -> str:
    if isinstance(stderr, bytes):
        stderr = stderr.decode(errors="replace")
    if not isinstance(stderr, str) or not stderr.strip():
        return ""
    return ":\n" + "\n".join(stderr.strip().splitlines()[-5:])
