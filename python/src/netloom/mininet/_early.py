"""Commands that a script gives before there is a network: which can wait until there is one, and what they will say."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._shell import Shell
    from .link import Intf

#: Commands that set something up and say nothing if they succeed.
_SILENT = re.compile(
    r"""(
      ifconfig \s+ \S+ \s+ \S.*
    | ip \s+ (-\S+\s+)* (link|l|addr|a|address|route|ro|r|rule|neigh|n) \s+ (set|add|a|del|d|delete|replace|change|flush|append) \b.*
    | route \s+ (-\S+\s+)* (add|del) \b.*
    | (iptables|ip6tables|arptables) \s .* -{1,2}(A|I|P|D|F|N|X|append|insert|policy|delete|flush|new-chain) \b.*
    | arp \s+ -s \b.*
    | ethtool \s+ (-K|-A|--offload|--pause) \b.*
    | tc \s+ (qdisc|class|filter) \s+ (add|del|replace|change) \b.*
    | (brctl|bridge) \s+ (addbr|delbr|addif|stp|setfd|vlan|fdb) \b.*
    | echo \s+ ["']?\w+["']? \s* > \s* /proc/sys/\S+
    | sysctl \s+ (-w\s+)? -q \s .*
    | mkdir \s .* | export \s+ \w+=.* | ulimit \s .* | cd \s .* | set \s+ [-+]\S+ | umask \s+ \d+ | hostname \s+ \S+
    )$""",
    re.VERBOSE,
)
_SYSCTL = re.compile(r"sysctl\s+(?:-w\s+|--write\s+)?([\w./*-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|\S+)$")
_UNSURE = re.compile(r"[|`&]|\$\(|\|\||<")


def predicted(command: str) -> str | None:
    """What a command will have written, if it only sets something up; nothing if that cannot be said before."""
    text = command.strip()
    if not text:
        return None
    said = ""
    for part in re.split(r"\s*(?:&&|;|\n)\s*", re.sub(r"\s*(2>&1|2>\s*/dev/null|&?>\s*/dev/null)", "", text)):
        if not part:
            continue
        setting = _SYSCTL.fullmatch(part)
        if setting:
            said += f"{setting[1]} = {setting[2].strip(chr(34) + chr(39))}\r\n"
        elif _UNSURE.search(part) or not _SILENT.fullmatch(part):
            return None
    return said


def changes_shell(command: str) -> bool:
    """Whether a command does something to the shell itself."""
    return bool(re.search(r"(^|;|&&|\n)\s*(cd|export|ulimit|set|umask|hostname)\b", command))


def is_complaint(command: str, said: str) -> bool:
    """Whether a command that was to be silent has said something."""
    return said.strip() != (predicted(command) or "").strip()


def process_of(shell: Shell) -> int | None:
    """The process on this machine that is a shell in a node."""
    own = shell.run("readlink /proc/self/ns/net; echo $$").split()
    if len(own) != 2:
        return None
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.readlink(f"/proc/{name}/ns/net") != own[0]:
                continue
            with open(f"/proc/{name}/status") as file:
                numbers = re.search(r"^NSpid:\s+(.*)$", file.read(), re.MULTILINE)
        except OSError:
            continue
        if numbers and numbers[1].split()[-1] == own[1]:
            return int(name)
    return None


def make_wire(intf: Intf) -> None:
    """Makes a pair of interfaces of this machine: one is the machine's end of a link, the other the lab takes.

    Raises:
        Exception: This machine does not allow it.
    """
    peer = f"nl{abs(hash((intf.name, os.getpid()))) % 10**9:x}"
    if intf.wire:
        return
    subprocess.run(["ip", "link", "delete", intf.name], capture_output=True, check=False)
    done = subprocess.run(
        ["ip", "link", "add", intf.name, "address", intf.mac or "", "type", "veth", "peer", "name", peer],
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    if done.returncode:
        raise Exception(f"making the interface {intf.name} of this machine: {done.stderr.strip()}")
    subprocess.run(["ip", "link", "set", intf.name, "up"], check=False)
    intf.wire = peer


def remove_wire(intf: Intf) -> None:
    """Removes what `make_wire` has made."""
    if intf.wire:
        subprocess.run(["ip", "link", "delete", intf.name], capture_output=True, check=False)
        intf.wire = ""
