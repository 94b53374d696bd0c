"""Is a small Raft safe where packets overtake one another and links are cut?

pytest --netloom-seeds 24                    it is
RAFT_BUG=1 pytest --netloom-seeds 24         some seed shows the mistake; the failure names it
"""

from __future__ import annotations

import os
from pathlib import Path

from netloom import Lab, UniformDelay
from netloom.pytest_plugin import Labs
from netloom.result import Result

NAMES = ["n1", "n2", "n3"]


def lab() -> Lab:
    """Three nodes at a switch, on links where packets overtake one another, each cut again and again."""
    found = Lab("raft", clock="virtual", duration="6 s")
    found.switch("s")
    program = Path(__file__).with_name("raft.py")
    bug = os.environ.get("RAFT_BUG", "")
    for number, name in enumerate(NAMES):
        node = found.host(name, env={"RAFT_BUG": bug})
        link = found.link(name, "s", name=f"l{number + 1}", delay=UniformDelay(from_="1 ms", to="25 ms", order="free"))
        peers = " ".join(other for other in NAMES if other != name)
        node.service(f"python3 {program} {name} {peers}", as_=name)
        for at in range(700, 6_000, 750):
            link.down(f"{at + 250 * number} ms", "230 ms")
    return found


def applied(result: Result, name: str) -> dict[int, str]:
    """What a node has applied, by index."""
    lines = (line.split() for line in result.log(name).splitlines())
    return {int(index): command for _, index, command in lines}


def test_all_nodes_apply_the_same(netloom_labs: Labs) -> None:
    result = netloom_labs.run(lab())
    logs = {name: applied(result, name) for name in NAMES}
    assert max(map(len, logs.values())) > 20, "it makes progress"
    for index in range(1, max(map(len, logs.values())) + 1):
        commands = {name: log[index] for name, log in logs.items() if index in log}
        assert len(set(commands.values())) <= 1, f"at index {index}, nodes have applied different commands: {commands}"
