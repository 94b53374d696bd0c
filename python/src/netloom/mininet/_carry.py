"""What of a node outlives the lab that is made again: addresses, routes, rules, settings of the kernel, rules of iptables."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..process import DEVNULL, PIPE, Popen
from ._clear import Unsupported

if TYPE_CHECKING:
    from ..live import Live
    from .node import Node

_SECTIONS = r"""
echo @programs; for each in /proc/[0-9]*; do
  [ "${each#/proc/}" = $$ ] || { read -r line < "$each/stat" && printf '%s ' "$line" && tr '\0' ' ' < "$each/cmdline"; echo; }
done 2>/dev/null
echo @addresses; ip -o addr show scope global
echo @routes; ip -4 route show
echo @rules; ip -4 rule show
echo @forwarding; cat /proc/sys/net/ipv4/ip_forward
echo @iptables; iptables-save 2>/dev/null
echo @sysctl; cd /proc/sys/net && grep -s . -r ipv4 ipv6 2>/dev/null | grep -v -e /neigh/ -e stable_secret
"""


@dataclass
class State:
    """What a node was like."""

    addresses: list[tuple[str, str]] = field(default_factory=list)
    routes: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    iptables: str = ""
    folder: str | None = None


def ask(node: Node, live: Live) -> Popen:
    """Begins to ask a node what it is like."""
    return live.node(node.lab_node).popen(
        ["/bin/sh", "-c", _SECTIONS], stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, cwd="/"
    )


#: What the command line of a node's shell has, and the name of a job of such a shell that has not become a program.
_SHELL, _JOB = "mininet:", "a job of the shell"
#: How often a node is asked whose shell is about to start a program, and how long each time takes, in seconds.
_AGAIN, _PAUSE = 50, 0.02


def take(node: Node, live: Live, asked: Popen) -> State:
    """What a node is like.

    Raises:
        Unsupported: Programs run in it, which would be lost.
    """
    parts = _parts(asked)
    programs = _programs(parts.get("programs", ""))
    for _ in range(_AGAIN):
        # A job of a shell looks like the shell until its program has begun; one that is a loop stays like that.
        if programs[:1] != [_JOB]:
            break
        time.sleep(_PAUSE)
        parts = _parts(ask(node, live))
        programs = _programs(parts.get("programs", ""))
    if programs:
        raise Unsupported(
            f"netloom: nodes and links cannot change now: `{programs[0]}` runs in {node.name}, and would be lost, since the lab is made "
            "again. Add them before the program starts, or end it first"
        )
    return State(
        [(found[1], found[2]) for found in re.finditer(r"^\d+: (\S+)\s+inet6? (\S+)", parts.get("addresses", ""), re.M)],
        [line.strip() for line in parts.get("routes", "").splitlines() if "proto kernel" not in line],
        [line.split(":", 1)[1].strip() for line in parts.get("rules", "").splitlines() if not re.match(r"(0|3276[67]):", line)],
        {name: value for name, _, value in (line.partition(":") for line in parts.get("sysctl", "").splitlines())},
        parts.get("iptables", ""),
        node.folder(),
    )  # fmt: skip


def _parts(asked: Popen) -> dict[str, str]:
    """The answer, by the names of its sections."""
    text = str(asked.communicate()[0])
    asked.close()
    return dict(zip(re.findall(r"^@(\w+)$", text, re.MULTILINE), re.split(r"^@\w+\n", text, flags=re.MULTILINE)[1:]))


def _programs(text: str) -> list[str]:
    """Programs that are more than the node itself: shells that wait, and the first process."""
    lines = [re.match(r"(\d+) \((.*?)\) (\S) (\d+) .*?(?: \d+){10,} ?(.*)$", line) for line in text.splitlines()]
    processes = [match for match in lines if match and match[1] != "1" and match[3] != "Z"]
    shells = {match[1] for match in processes if _SHELL in match[5]}
    found: list[str] = []
    for match in processes:
        command = match[5].strip()
        if _SHELL in command and match[4] in shells:
            found.append(_JOB)
        if _SHELL in command or not command or command.startswith("/bin/sh -c \necho @programs"):
            continue
        if re.match(r"(netloom|/proc/self/exe)\b", command):
            continue
        found.append(command)
    return found


def give(node: Node, live: Live, state: State) -> None:
    """Makes a node of a new lab what the one of the old one was like, as far as its interfaces are the same."""
    names = {intf.name for intf in node.intfList()}
    script = [f"ip addr replace {address} dev {name}" for name, address in state.addresses if name in names]
    for route in state.routes:
        device = re.search(r"\bdev (\S+)", route)
        if device is None or device[1] in names:
            script.append(f"ip route replace {route.replace(' linkdown', '')}")
    script += [f"ip rule add {rule}" for rule in state.rules]
    present = live.node(node.lab_node).run(
        [
            "/bin/sh",
            "-c",
            "cd /proc/sys/net && grep -s . -r ipv4 ipv6 2>/dev/null | grep -v -e /neigh/ -e stable_secret",
        ]
    )
    now = dict(line.split(":", 1) for line in str(present.stdout).splitlines() if ":" in line)
    script += [
        f"printf %s {value!r} > /proc/sys/net/{name}"
        for name, value in state.settings.items()
        if name in now and now[name] != value
    ]
    shell = live.node(node.lab_node)
    if script:
        shell.run(["/bin/sh", "-c", "\n".join(script)])
    if "\n-A" in state.iptables or re.search(r"^:\w+ DROP", state.iptables, re.M):
        shell.run(["iptables-restore"], input=state.iptables)
