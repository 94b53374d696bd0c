"""Writes histories of operations, which `netloom history check` judges.

history = History("history.jsonl", process="c1")
with history.operation("read", key="x") as read:
    read.result = client.get("x")

An exception leaves an operation indeterminate (`info`). Call `fail` only if it took no effect, and never will.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from typing import Any

_numbers = count(1)


class Operation:
    """An operation that is under way: `result` is what it returned."""

    result: Any = None
    end = "ok"

    def fail(self) -> None:
        """Says that the operation took no effect, and never will."""
        self.end = "fail"


class History:
    """The operations of one process, one at a time. Several processes may write to one file."""

    def __init__(self, path: str | os.PathLike[str] | None = None, process: str | int | None = None) -> None:
        name = f"{os.environ.get('NETLOOM_NODE', '')}/{os.getpid()}/{next(_numbers)}"
        self.process = name if process is None else process
        self._file = os.open(path or os.environ["NETLOOM_HISTORY"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        is_real = os.environ.get("NETLOOM_HISTORY_CLOCK") == "realtime"
        self._clock = time.CLOCK_REALTIME if is_real else time.CLOCK_MONOTONIC

    def record(self, type: str, f: str, **keys: Any) -> None:
        """Appends an event of a type (invoke, ok, fail, info) and a function; keys are `key`, `value`, `error`."""
        event = {"process": self.process, "type": type, "f": f, **keys, "time": time.clock_gettime_ns(self._clock)}
        os.write(self._file, f"{json.dumps(event)}\n".encode())

    @contextmanager
    def operation(self, f: str, value: Any = None, key: Any = None) -> Generator[Operation]:
        """Records the invocation of an operation, and at the end of the block its completion."""
        self.record("invoke", f, key=key, value=value)
        operation = Operation()
        try:
            yield operation
        except BaseException as error:
            self.record("info", f, key=key, error=repr(error))
            raise
        result = value if operation.result is None else operation.result
        self.record(operation.end, f, key=key, value=result)
