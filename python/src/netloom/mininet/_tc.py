"""`tc qdisc show dev s1-eth1` on this machine, for ports of the packet engine's switches, which are no interfaces of it: what waits and what was dropped."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._fabric import Fabric

#: Beside the programs that scripts find: which pipe begins at which port, and where its lab answers.
PORTS = "ports.json"
#: What `netem` of the kernel has for a limit, and a port whose queue is not limited in packets.
_LIMIT = 1000

#: Asks for a port of a switch only where no interface has its name; anything else goes to the real program.
SCRIPT = """\
dev= before=
for word do [ "$before" = dev ] && dev=$word; before=$word; done
case " $* " in *" qdisc "*|*" class "*)
    if [ -n "$dev" ] && [ ! -e "/sys/class/net/$dev" ] && grep -qs "\\"$dev\\"" {ports}; then
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
        if fabric.live is None or fabric.has_flows:
            continue
        for link in fabric.links:
            for intf, direction in ((link.intf1, "forward"), (link.intf2, "backward")):
                if intf.node.lab_kind() == "switch":
                    queue = intf.lab_keys().get("queue")
                    found[intf.name] = [fabric.live.socket_path, link.lab_name(), direction, queue]
    path = os.path.join(folder, PORTS)
    with contextlib.suppress(OSError):
        with open(path + ".new", "w") as file:
            json.dump(found, file)
        os.replace(path + ".new", path)


def shown(row: Mapping[str, Any], queue: Any, statistics: bool) -> str:
    """What `tc` would say of a pipe: as of Mininet's shaper, and of the queue behind it."""
    packets = str(queue).partition(" ")
    limit = packets[0] if packets[2] == "packets" else str(_LIMIT)
    delay = f" delay {row['delay_ns'] / 1e6:g}ms" if row["delay_ns"] else ""
    dropped = sum(int(row[f"dropped_{why}_packets"]) for why in ("queue", "early", "down", "loss"))
    counted = (
        f" Sent {row['departed_bytes']} bytes {row['departed_packets']} pkt (dropped {dropped}, overlimits 0 requeues 0) \n"
        f" backlog {row['queued_bytes']}b {row['queued_packets']}p requeues 0\n"
    )
    lines = ["qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000\n"]
    lines.append(f"qdisc netem 10: parent 5:1 limit {limit}{delay}\n")
    return "".join(line + (counted if statistics else "") for line in lines)


def main(arguments: list[str]) -> int:
    """Answers what `tc` was asked; the exit code."""
    from .._errors import NetloomError
    from .._protocol import Connection

    name = arguments[arguments.index("dev") + 1]
    verbs = [word for word in arguments if word in ("show", "list", "ls", "add", "del", "delete", "change", "replace")]
    if "class" in arguments or (verbs and verbs[0] not in ("show", "list", "ls")):
        print(
            f"netloom: {name} is the end of a pipe of Netloom's, which `tc` does not change: use TCIntf.config(bw=...) in the script",
            file=sys.stderr,
        )
        return 2
    try:
        with open(os.path.join(os.environ["NETLOOM_MININET_PATH"], PORTS)) as file:
            socket, link, direction, queue = json.load(file)[name]
        connection = Connection(socket)
        pipes = connection.ask("stats")["pipes"]
        connection.close()
    except (OSError, KeyError, NetloomError) as error:
        print(f"netloom: Cannot find device {name}: {error}", file=sys.stderr)
        return 1
    for row in pipes:
        if row["link"] == link and row["direction"] == direction and row["pipe"] is None:
            statistics = any(word.startswith("-s") for word in arguments)
            print(shown(row, queue, statistics), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
