"""Numbers of processes: those of hosts are none of this machine's, so that a script cannot hit a stranger with one.

In Mininet all hosts share the machine's process numbers. Here each host counts for itself, from a number on that no process of this
machine has; `os.kill` and its like, called by the script, find the process of this machine that such a number means.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

#: From here on hosts count, each from its own multiple on. This machine's numbers end below, or hosts could not be told from it.
_FIRST, _STEP = 1_000_000, 20_000
#: A process namespace has so many numbers at most (`PID_MAX_LIMIT` of Linux).
_END = 4_194_304

_next = _FIRST


def first_of_host() -> str:
    """A command for the shell of a host that makes it count from a number of its own on, where the kernel allows that."""
    global _next
    number, _next = _next, _next + _STEP if _next + 2 * _STEP < _END else _FIRST
    return (
        f"[ $(cat /proc/sys/kernel/pid_max) -gt {number + _STEP} ] && [ $(cat /proc/sys/kernel/ns_last_pid) -lt {_FIRST} ] && "
        f"echo {number} > /proc/sys/kernel/ns_last_pid"
    )


def of_machine(number: int) -> int:
    """The process of this machine that a number of a host means; the number itself if it is none of a host."""
    if number < _FIRST or os.path.exists(f"/proc/{number}"):
        return number
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/status") as file:
                found = re.search(r"^NSpid:\s+(.*)$", file.read(), re.MULTILINE)
        except OSError:
            continue
        if found and found[1].split()[1:] and found[1].split()[-1] == str(number):
            return int(name)
    return number


def install() -> None:
    """Lets the functions of `os` that take the number of a process know those of hosts."""
    for name in (
        "kill",
        "killpg",
        "getpgid",
        "getsid",
        "getpriority",
        "setpriority",
        "pidfd_open",
        "sched_setaffinity",
        "sched_getaffinity",
    ):
        plain = getattr(os, name, None)
        if plain is not None and not hasattr(plain, "of_hosts"):
            setattr(os, name, _translating(plain, 1 if name.endswith("priority") else 0))


def _translating(plain: Callable[..., Any], place: int) -> Callable[..., Any]:
    def translated(*args: Any, **kwargs: Any) -> Any:
        if len(args) > place and isinstance(args[place], int):
            args = (*args[:place], of_machine(args[place]), *args[place + 1 :])
        return plain(*args, **kwargs)

    translated.of_hosts = True  # pyright: ignore[reportFunctionMemberAccess]
    translated.__doc__ = plain.__doc__
    return translated


__all__ = ["first_of_host", "install", "of_machine"]
