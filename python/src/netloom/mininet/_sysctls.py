"""Kernel settings of this machine, which scripts of Mininet change: what they write is that of the hosts, and this machine keeps its own.

With Mininet a script sets `net.ipv4.tcp_congestion_control` by `sysctl` before there is a network, since hosts take it over from the
machine. Here a `sysctl` of the script's own machine notes it, and the hosts of the labs that come get it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from typing import Any

from ._clear import Unsupported

#: Beside the programs that scripts find: what was written so far.
NOTED = "sysctl.json"
_CONGESTION = "net.ipv4.tcp_congestion_control"

#: Asks on this machine only: nodes have namespaces or kernels of their own, and the real program.
SCRIPT = """\
if [ "$(readlink /proc/self/ns/net) $(cat /proc/sys/kernel/random/boot_id)" = {machine} ]; then
    exec {python} -m netloom.mininet._sysctls {sysctl} "$@"
fi
exec {sysctl} "$@"
"""
#: A shell that writes a setting by its file, and a program that is found in spite of the one beside the script.
_FILE = re.compile(r"(?:>\|?|\btee\b(?:\s+-\S+)*)\s*[\"']?(/proc/sys/[^\s\"';|&)]+)")
_PAST = re.compile(r"(?:\b(?:sudo|doas|env\s+-i)\b[^;|&\n]*\s|/s?bin/)sysctl\b[^;|&\n]*(?:\s-w\b|\s--write\b|\s-p\b|=)")
_ECHO = re.compile(
    r"\s*(?:sudo\s+)?(?:echo|printf)\s+(?:-n\s+)?[\"']?([^\"'$`;|&<>]*?)[\"']?\s*>\|?\s*/proc/sys/(\S+)\s*"
)


def machine() -> str:
    """What tells this machine from its nodes: its network, and its kernel."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return f"{os.readlink('/proc/self/ns/net')} {file.read().strip()}"


def named(name: str) -> str:
    """The name of a setting, however its parts are separated."""
    return name.strip().removeprefix("/proc/sys/").replace("/", ".")


def noted() -> dict[str, str]:
    """What the script has written so far."""
    folder = os.environ.get("NETLOOM_MININET_PATH")
    if folder is not None:
        with contextlib.suppress(OSError, ValueError), open(os.path.join(folder, NOTED)) as file:
            return json.load(file)
    return {}


def note(name: str, value: str) -> str | None:
    """Notes a setting for the hosts of the labs that come; why not, if it is none of a host's."""
    folder = os.environ.get("NETLOOM_MININET_PATH")
    if folder is None or not _is_of_a_network(name):
        return f"netloom: {name} is a setting of this machine, which scripts leave alone: it stays as it is"
    path = os.path.join(folder, NOTED)
    with open(path + ".new", "w") as file:
        json.dump({**noted(), name: value}, file)
    os.replace(path + ".new", path)
    return None


def _is_of_a_network(name: str) -> bool:
    """Whether each network of the kernel has this setting for itself, and its root may change it."""
    if not name.startswith("net."):
        return False
    path = "/proc/sys/" + name.replace(".", "/")
    for options in (["-Urn"], ["-n"]):
        with contextlib.suppress(OSError):
            done = subprocess.run(["unshare", *options, "test", "-w", path], capture_output=True, check=False)
            if done.returncode == 0:
                return True
    return False


def keys_of_hosts() -> dict[str, Any]:
    """The keys that hosts have for it in the lab."""
    written = noted()
    congestion = written.pop(_CONGESTION, None)
    found: dict[str, Any] = {"congestion": congestion} if congestion else {}
    return {**found, "sysctl": written} if written else found


def check(command: str) -> None:
    """Refuses a command of this machine that would change a setting of it.

    Raises:
        Unsupported: It does.
    """
    there = _FILE.search(command)
    if there:
        _refuse(f"`{command.strip()}`", named(there[1]))
    if _PAST.search(command):
        _refuse(f"`{command.strip()}`", "NAME")


def _refuse(what: str, name: str) -> None:
    instead = f": `sysctl -w {name}=VALUE`, without a path or sudo, sets it for the hosts of the lab"
    is_of_hosts = name == "NAME" or name.startswith("net.")
    raise Unsupported(
        f"netloom: {what} would change this machine, which scripts leave alone{instead if is_of_hosts else ''}"
    )


def of_machine(command: str) -> str:
    """A command for a shell of this machine: one that writes a setting by its file calls `sysctl`, which scripts have for themselves.

    Raises:
        Unsupported: It would change this machine otherwise.
    """
    if "sysctl" not in command and "/proc/sys/" not in command:
        return command
    from . import _hook

    # Where this is not the program `netloom mininet`, there are no programs for scripts yet.
    _hook.for_children()
    parts = re.split(r"(\s*(?:&&|;|\n)\s*)", command)
    for number in range(0, len(parts), 2):
        said = _ECHO.fullmatch(parts[number])
        if said:
            parts[number] = f"sysctl -q -w {named(said[2])}='{said[1].strip()}'"
    made = "".join(parts)
    check(made)
    return made


def guard(event: str, arguments: tuple[Any, ...]) -> None:
    """Audits what the script does to this machine (PEP 578)."""
    if event == "open":
        path, mode, flags = arguments
        is_written = (flags or 0) & (os.O_WRONLY | os.O_RDWR) or any(letter in (mode or "") for letter in "wax+")
        if is_written and isinstance(path, (str, bytes)) and os.fsdecode(path).startswith("/proc/sys/"):
            _refuse(f"writing {os.fsdecode(path)}", named(os.fsdecode(path)))
    elif event == "os.system":
        check(os.fsdecode(arguments[0]))
    elif event == "subprocess.Popen":
        argv = arguments[1]
        words = [argv] if isinstance(argv, (str, bytes)) else list(argv)
        texts = [os.fsdecode(word) for word in words]
        # What runs in a node changes that.
        if "exec" not in texts[1:2]:
            check(" ".join(texts))


def main(arguments: list[str]) -> int:
    """`sysctl` of this machine, for scripts; the exit code."""
    program, *words = arguments
    options = [word for word in words if word.startswith("-")]
    is_silent = any(re.fullmatch(r"-\w*q\w*|--quiet", word) for word in options)
    if any(re.fullmatch(r"-\w*[pf]\w*|--load\S*|--system", word) for word in options):
        print("netloom: files of settings would change this machine, which scripts leave alone", file=sys.stderr)
        return 1
    code = 0
    left: list[str] = []
    for word in words:
        name, is_written, value = word.partition("=")
        if word.startswith("-") or not is_written:
            left.append(word)
            continue
        name = named(name)
        why = note(name, value.strip())
        if why is not None:
            print(why, file=sys.stderr)
            code = 1
        elif not is_silent:
            print(f"{name} = {value.strip()}")
    asked = [word for word in left if not word.startswith("-")]
    own = noted()
    if asked and all(named(word) in own for word in asked):
        is_plain = any(re.fullmatch(r"-\w*n\w*|--values", word) for word in options)
        for word in asked:
            print(own[named(word)] if is_plain else f"{named(word)} = {own[named(word)]}")
        return code
    if asked or not any("=" in word for word in words):
        return subprocess.run([program, *left], check=False).returncode or code
    return code


def program(script: Any) -> None:
    """Gives scripts the `sysctl` of this file, by a function that makes programs."""
    import shlex

    from ._shell import search_path

    real = shutil.which("sysctl", path=search_path())
    if real is not None:
        script(
            "sysctl",
            SCRIPT.format(machine=shlex.quote(machine()), python=shlex.quote(sys.executable), sysctl=shlex.quote(real)),
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
