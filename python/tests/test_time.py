"""Labs in virtual time, which stands still until somebody lets it go on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import two_nodes

import netloom
from netloom import TimeoutExpired
from netloom.process import PIPE


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[netloom.Live]:
    with two_nodes(delay="100 ms").up(clock="virtual", results=tmp_path_factory.mktemp("results")) as found:
        yield found


def here() -> str:
    import socket

    return socket.gethostname()


def test_a_program_takes_lab_time_and_stops_it(live: netloom.Live) -> None:
    assert live.clock == "virtual" and live.now.paused
    before = live.now.ns
    assert live["a"].run("sleep 5").returncode == 0
    after = live.now
    assert after.paused and 5_000_000_000 <= after.ns - before < 5_200_000_000
    done = live["a"].run("ping -c 2 b", check=True)
    assert "2 received" in done.stdout and "time=200 ms" in done.stdout
    assert live.now.paused
    with pytest.raises(TimeoutExpired, match="did not end within 2 s"):
        live["a"].run("sleep 100", timeout=2)


def test_steps_are_exact(live: netloom.Live) -> None:
    # What was ended before may take some microseconds to be told so.
    before = live.advance("10 ms").ns
    assert live.advance("1.5 s").ns == before + 1_500_000_000
    live.sleep(0.25)
    assert live.now.ns == before + 1_750_000_000
    with live["b"].popen("sleep 1; echo woken", stdout=PIPE) as process:
        assert process.poll() is None
        live.advance("3 s")
        assert process.communicate() == ("woken\n", None)


def test_functions_and_files_work_there_too(live: netloom.Live, tmp_path: Path) -> None:
    assert live["b"].python(here) == "b"
    live["a"].write_text("/tmp/inside", "text")
    assert live["a"].read_text("/tmp/inside") == "text"
    live["a"].get("/tmp/inside", tmp_path / "outside")
    assert (tmp_path / "outside").read_text() == "text"


def test_a_lab_without_until_exit_is_served_in_steps(live: netloom.Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an older program, which does not offer it."""
    monkeypatch.setattr(live, "_capabilities", live._capabilities - {"until_exit"})
    before = live.now.ns
    assert live["a"].run("sleep 0.1; echo done").stdout == "done\n"
    assert live.now.paused and live.now.ns - before < 500_000_000


def test_the_same_seed_gives_the_same_run() -> None:
    found = []
    for _ in range(2):
        with two_nodes(delay="10 ms", loss="20 %").up(clock="virtual", seed=3) as live:
            found.append((live["a"].run("ping -i 0.1 -c 20 b").stdout.splitlines()[:-1], live.now.ns))
    assert found[0] == found[1]


def test_an_older_client_understands_the_lab(live: netloom.Live) -> None:
    """A client of version 1.0: no `hello`, no keys that came later, and replies with keys that it does not know."""
    program = "import json,socket,sys\ns=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n" + (
        "for r in ({'request':'info'}, {'request':'advance','by_ns':1000}, {'request':'stats'}):\n"
        "    s.sendall(json.dumps(r).encode()+b'\\n')\n"
        "    line=s.makefile('rb').readline() if r['request']!='x' else b''\n"
        "    print(json.loads(line)['reply'])\n"
    )
    done = subprocess.run(["python3", "-c", program, live.socket_path], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["info", "now", "stats"]


def test_faults_happen_by_hand(live: netloom.Live) -> None:
    live.fault(netloom.Freeze(freeze="b", for_="2 s"))
    states = {node["name"]: node["state"] for node in live.ask("topology")["nodes"]}
    assert states == {"a": "running", "b": "frozen"}
    live.advance("3 s")
    live.fault({"on": "b", "clock": {"step": "-3 s"}})
    live.fault("{link: l, direction: forward, packet: {match: {protocol: icmp}}, do: drop}")
    assert "1 received" in live["a"].run("ping -4 -c 2 -i 0.2 -W 1 b").stdout
    live.fault(netloom.Crash(crash="b", for_="1 s"))
    [node] = [node for node in live.ask("topology")["nodes"] if node["name"] == "b"]
    assert node["state"] == "crashed" and node["faults"]["crash"] is None
    with pytest.raises(netloom.RefusedError, match="node `b` has crashed"):
        live.fault(netloom.Freeze(freeze="b", for_="1 s"))
    live.advance("3 s")
    assert live["b"].shell("hostname") == "b"
