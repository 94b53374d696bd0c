"""`tc` on this machine and beside Open vSwitch, for ports of a lab's switches: what it says there is taken over by the pipe that begins at the port."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._qdiscs import TcError, changes, entry, rate

if TYPE_CHECKING:
    from ._fabric import Fabric

#: Beside the programs that scripts find: which pipe begins at which port, how the script has made it, and where its lab answers.
PORTS = "ports.json"
#: What `netem` of the kernel has for a limit, and a port whose queue is not limited in packets.
_LIMIT = 1000

#: Asks for a port of a switch only; anything else goes to the real program.
SCRIPT = """\
dev= before=
for word do [ "$before" = dev ] && dev=$word; before=$word; done
case " $* " in *" qdisc "*|*" class "*|*" filter "*)
    if [ -n "$dev" ] && grep -qs "\\"$dev\\"" {ports}; then
        exec {python} -m netloom.mininet._tc "$@"
    fi ;;
esac
exec {tc} "$@"
"""


def note(fabrics: Iterable[Fabric]) -> None:
    """Writes down the ports of all switches that are there, for programs that a script starts."""
    folder = os.environ.get("NETLOOM_MININET_PATH")
    if folder is None:
        return
    found: dict[str, Any] = {}
    for fabric in fabrics:
        if fabric.live is None:
            continue
        for link in fabric.links:
            for intf, direction in ((link.intf1, "forward"), (link.intf2, "backward")):
                if intf.node.lab_kind() in ("switch", "flows"):
                    name = link.far_name() if link.is_inside and intf is link.intf2 else link.lab_name()
                    found[intf.name] = [fabric.live.socket_path, name, direction, intf.lab_keys()]
    with contextlib.suppress(OSError):
        _write(os.path.join(folder, PORTS), found)


def _write(path: str, value: Any) -> None:
    with open(path + ".new", "w") as file:
        json.dump(value, file)
    os.replace(path + ".new", path)


class Port:
    """A port, and the chain of qdiscs at it, which is kept beside the ports from one call to the next."""

    def __init__(self, name: str) -> None:
        folder = os.environ["NETLOOM_MININET_PATH"]
        self.name = name
        with open(os.path.join(folder, PORTS)) as file:
            row = json.load(file)[name]
        self.socket, self.link, self.direction, self.keys = row
        self._path = os.path.join(folder, f"tc-{name}.json")
        self.chain = self._made()
        #: Whether a script's `tc` has been here.
        self.is_own = False
        with contextlib.suppress(OSError, ValueError):
            with open(self._path) as file:
                kept = json.load(file)
            if kept["row"] == row:
                self.chain, self.is_own = kept["chain"], True
        self._row = row

    def _made(self) -> list[dict[str, Any]]:
        """What Mininet would have made of the link's parameters."""
        if not self.keys:
            return []
        delayed = {key: value for key, value in self.keys.items() if key != "rate"}
        return [
            {"kind": "htb", "parent": "root", "handle": "5:", "words": [], "keys": {}},
            {"kind": "htb class", "parent": "5:", "handle": "5:1", "words": [], "keys": {key: self.keys[key] for key in ("rate",) if key in self.keys}},
            {"kind": "netem", "parent": "5:1", "handle": "10:", "words": [], "keys": delayed},
        ]  # fmt: skip

    def keep(self, chain: list[dict[str, Any]]) -> None:
        """Makes the pipe as a chain says, and remembers that."""
        from .._protocol import Connection
        from ..links import _text  # pyright: ignore[reportPrivateUsage]

        said = [[key, _text(value)] for key, value in changes(chain)]
        connection = Connection(self.socket)
        try:
            connection.ask("set", link=self.link, direction=self.direction, changes=said)
        finally:
            connection.close()
        self.chain, self.is_own = chain, True
        _write(self._path, {"row": self._row, "chain": chain})

    def statistics(self) -> Mapping[str, Any]:
        """The counters of the pipe."""
        from .._protocol import Connection

        connection = Connection(self.socket)
        try:
            pipes = connection.ask("stats")["pipes"]
        finally:
            connection.close()
        return next(
            row
            for row in pipes
            if row["link"] == self.link and row["direction"] == self.direction and row["pipe"] is None
        )

    def show(self, statistics: bool) -> str:
        """What `tc qdisc show` would say."""
        row = self.statistics()
        if not self.is_own:
            return shown(row, self.keys.get("queue"), statistics)
        lines: list[str] = []
        for number, each in enumerate(each for each in self.chain if each["kind"] != "htb class"):
            place = "root refcnt 2" if each["parent"] == "root" else f"parent {each['parent']}"
            handle = each["handle"] or f"{0x8001 + number:x}:"
            lines.append(f"qdisc {' '.join([each['kind'], handle, place, *each['words']])} \n")
        counted = _counters(row) if statistics else ""
        return "".join(line + counted for line in lines or ["qdisc noqueue 0: root refcnt 2 \n"])

    def show_classes(self) -> str:
        """What `tc class show` would say."""
        found = [each for each in self.chain if each["kind"] == "htb class"]
        return "".join(
            f"class htb {each['handle']} root prio 0 rate {each['keys'].get('rate', 'unlimited')} ceil {each['keys'].get('rate', 'unlimited')} \n"
            for each in found
        )


def shown(row: Mapping[str, Any], queue: Any, statistics: bool) -> str:
    """What `tc` would say of a pipe: as of Mininet's shaper, and of the queue behind it."""
    packets = str(queue).partition(" ")
    limit = packets[0] if packets[2] == "packets" else str(_LIMIT)
    delay = f" delay {row['delay_ns'] / 1e6:g}ms" if row["delay_ns"] else ""
    lines = ["qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000\n"]
    lines.append(f"qdisc netem 10: parent 5:1 limit {limit}{delay}\n")
    counted = _counters(row) if statistics else ""
    return "".join(line + counted for line in lines)


def _counters(row: Mapping[str, Any]) -> str:
    dropped = sum(int(row[f"dropped_{why}_packets"]) for why in ("queue", "early", "down", "loss"))
    return (
        f" Sent {row['departed_bytes']} bytes {row['departed_packets']} pkt (dropped {dropped}, overlimits 0 requeues 0) \n"
        f" backlog {row['queued_bytes']}b {row['queued_packets']}p requeues 0\n"
    )


_VERBS = {
    "add": "add", "a": "add", "change": "change", "chg": "change", "replace": "replace", "repl": "replace",
    "delete": "del", "del": "del", "d": "del", "show": "show", "list": "show", "ls": "show", "s": "show",
}  # fmt: skip


def _parsed(arguments: Sequence[str]) -> tuple[str, str, dict[str, str], str, list[str]]:
    """The object, the verb, where it is, the kind and the words behind it."""
    words = [word for word in arguments if not word.startswith("-")]
    what, verb, rest = words[0], "show", words[1:]
    if rest and rest[0] in _VERBS:
        verb, rest = _VERBS[rest[0]], rest[1:]
    place: dict[str, str] = {}
    while rest and rest[0] in ("dev", "parent", "handle", "classid", "root", "ingress", "clsact"):
        word = rest.pop(0)
        if word in ("root", "ingress", "clsact"):
            place["parent" if word == "root" else "hook"] = word
        elif rest:
            place[word] = rest.pop(0)
    return what, verb, place, rest[0] if rest else "", list(rest[1:])


def changed(chain: list[dict[str, Any]], arguments: Sequence[str]) -> list[dict[str, Any]]:
    """The chain of qdiscs after a command.

    Raises:
        TcError: `tc` would refuse it, or a pipe cannot follow it.
    """
    what, verb, place, kind, words = _parsed(arguments)
    if what == "filter" or "hook" in place:
        raise TcError(
            "netloom: a pipe has one queue for all packets, so that a switch's port takes no filters and no ingress"
        )
    parent = place.get("parent", "root")
    if what == "class":
        return _classed(chain, verb, parent, place, kind, words)
    there = [each for each in chain if each["parent"] == parent and each["kind"] != "htb class"]
    if verb == "del":
        if not there:
            raise TcError("Error: Cannot delete qdisc with handle of zero.")
        return [] if parent == "root" else [each for each in chain if each not in there]
    if verb == "change" and not there:
        raise TcError("Error: Qdisc not found. To create specify NLM_F_CREATE flag.")
    if verb == "add" and there:
        raise TcError("Error: Exclusivity flag on, cannot modify.")
    if parent != "root" and not any(_is_at(parent, each["handle"]) for each in chain):
        raise TcError("Error: Failed to find specified qdisc.")
    if verb == "change" and there[0]["kind"] != kind:
        raise TcError("Error: Specified qdisc kind does not match existing.")
    new = entry(kind, parent, place.get("handle", there[0]["handle"] if there else ""), words)
    if verb == "change":
        return [new if each is there[0] else each for each in chain]
    return [new] if parent == "root" else [*(each for each in chain if each not in there), new]


def _is_at(parent: str, handle: str) -> bool:
    """Whether a parent is a qdisc or class of this handle, or the unnamed class 1 of a qdisc."""
    return parent == handle or (handle.endswith(":") and parent.startswith(handle))


def _classed(
    chain: list[dict[str, Any]], verb: str, parent: str, place: Mapping[str, str], kind: str, words: Sequence[str]
) -> list[dict[str, Any]]:
    name = place.get("classid", "")
    there = [each for each in chain if each["kind"] == "htb class"]
    own = [each for each in there if each["handle"] == name]
    if verb == "del":
        return [each for each in chain if each not in own]
    if kind != "htb":
        raise TcError(f"netloom: a pipe has no classes of `{kind}`; htb with one class is a rate")
    if not name or "rate" not in words[:-1]:
        raise TcError('htb: "rate" and classid are required.')
    if any(each["parent"] == parent and each is not one for each in there for one in own or [{}]):
        raise TcError("netloom: a pipe has one rate: classes beside one another cannot work at a switch's port")
    limit = words[list(words).index("ceil") + 1] if "ceil" in words[:-1] else words[list(words).index("rate") + 1]
    made = {"kind": "htb class", "parent": parent, "handle": name, "words": list(words), "keys": {"rate": rate(limit)}}
    if own:
        return [made if each is own[0] else each for each in chain]
    # An inner class has no queue: the leaf's rate is what packets meet.
    outer = [
        {**each, "keys": {}} if each["kind"] == "htb class" and each["handle"] == parent else each for each in chain
    ]
    return [*outer, made]


def main(arguments: list[str]) -> int:
    """Does what `tc` was asked for; the exit code."""
    from .._errors import NetloomError

    name = arguments[arguments.index("dev") + 1]
    try:
        port = Port(name)
        what, verb, *_ = _parsed(arguments)
        if verb != "show":
            port.keep(changed(port.chain, arguments))
        elif what == "qdisc":
            print(port.show(any(word.startswith("-s") for word in arguments)), end="")
        elif what == "class":
            print(port.show_classes(), end="")
    except TcError as error:
        print(error, file=sys.stderr)
        return 2
    except (OSError, KeyError, StopIteration, NetloomError) as error:
        print(f"netloom: {name}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
