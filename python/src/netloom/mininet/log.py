"""What scripts say, by level: `output` lies between `info` and `warning`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

from ._clear import meant

OUTPUT = 25
LEVELS: dict[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "output": OUTPUT,
    "warning": logging.WARNING,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
LOGLEVELDEFAULT = OUTPUT


class StreamHandlerNoNewline(logging.StreamHandler[Any]):
    """Writes messages as they are: their authors end lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one."""
        try:
            stream = sys.stderr
            stream.write(self.format(record))
            stream.flush()
        except (OSError, ValueError):
            self.handleError(record)


class MininetLogger(logging.Logger):
    """Takes words as `print` does: `info("*** Starting", n, "hosts\\n")`."""

    def __init__(self, name: str = "mininet") -> None:
        super().__init__(name)
        self.ch = StreamHandlerNoNewline()
        self.ch.setFormatter(logging.Formatter("%(message)s"))
        self.addHandler(self.ch)
        self.handlersSetLevel(LOGLEVELDEFAULT)

    def handlersSetLevel(self, level: int) -> None:
        """Sets the level of the logger and what writes."""
        self.setLevel(level)
        self.ch.setLevel(level)

    def setLogLevel(self, levelname: str | None = None) -> None:
        """Sets the level by name.

        Raises:
            Exception: There is none of this name.
        """
        if levelname and levelname not in LEVELS:
            raise Exception(f"unknown log level `{levelname}`{meant(levelname, LEVELS)} There are {', '.join(LEVELS)}")
        self.handlersSetLevel(LEVELS.get(levelname or "", LOGLEVELDEFAULT))

    def output(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Says what a script is run for."""
        self.say(OUTPUT, msg, *args)

    def debug(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Says what only its author wants to know."""
        self.say(logging.DEBUG, msg, *args)

    def info(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Says what goes on."""
        self.say(logging.INFO, msg, *args)

    def warning(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Says what may be wrong."""
        self.say(logging.WARNING, msg, *args)

    warn = warning

    def error(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Says what is wrong."""
        self.say(logging.ERROR, msg, *args)

    def say(self, level: int, *words: object) -> None:
        """Says words, with spaces between them."""
        if self.isEnabledFor(level):
            self._log(level, " ".join(str(word) for word in words), ())


#: The one logger.
lg = MininetLogger()


def _printer(level: int) -> Callable[..., None]:
    def tell(*words: object) -> None:
        lg.say(level, *words)

    return tell


info = _printer(logging.INFO)
output = _printer(OUTPUT)
warn = warning = _printer(logging.WARNING)
error = _printer(logging.ERROR)
debug = _printer(logging.DEBUG)


def setLogLevel(levelname: str | None = None) -> None:
    """Sets the level by name: `debug`, `info`, `output`, `warning`, `error` or `critical`."""
    lg.setLogLevel(levelname)


def __getattr__(name: str) -> Any:
    from ._names import other

    return other("log", name, globals())


__all__ = [
    "LEVELS", "LOGLEVELDEFAULT", "OUTPUT", "MininetLogger", "debug", "error", "info", "lg", "output", "setLogLevel",
    "warn", "warning",
]  # fmt: skip
