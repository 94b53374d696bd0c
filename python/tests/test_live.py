"""Labs that are up, in real time."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import open_files, two_nodes

import netloom
from netloom import ClosedError, Lab, LabError, NetloomError, RefusedError, TimeoutExpired
from netloom.process import PIPE, STDOUT

pytestmark = pytest.mark.filterwarnings("ignore::netloom.NotAsDescribedWarning")


@pytest.fixture(scope="module")
def live() -> Iterator[netloom.Live]:
    lab = two_nodes(delay="2 ms", rate="100 Mbit/s")
    with lab.up(results=Path("/tmp") / f"netloom-py-{os.getpid()}") as found:
        yield found
    subprocess.run(["rm", "-r", f"/tmp/netloom-py-{os.getpid()}"], check=True)


def twice(number: int) -> tuple[int, str]:
    import socket

    print("this is no part of the answer")
    return 2 * number, socket.gethostname()


def fail(what: str) -> None:
    raise LookupError(what)


def test_programs_run(live: netloom.Live) -> None:
    done = live["a"].run("ping -c 1 -W 5 b", check=True)
    assert done.returncode == 0 and "1 received" in done.stdout
    assert live["a"].run(["sh", "-c", "cat; exit 3"], input="in").__dict__ == {
        "argv": ["sh", "-c", "cat; exit 3"],
        "node": "a",
        "returncode": 3,
        "stdout": "in",
        "stderr": "",
    }
    assert live["b"].run("echo $X; pwd", env={"X": "y"}, cwd="/usr").stdout == "y\n/usr\n"
    assert live["b"].run(["printf", r"\377"], text=False).stdout == b"\xff"
    assert live["b"].shell("hostname") == "b"
    with pytest.raises(netloom.CalledProcessError, match="(?s)`/bin/sh -c .*in node `b` ended with exit code 4:\nwhy"):
        live["b"].shell("echo why >&2; exit 4")
    with pytest.raises(RefusedError, match="program not found: nonsense"):
        live["a"].run(["nonsense"])
    with pytest.raises(TimeoutExpired, match="did not end within 0.2 s"):
        live["a"].run(["sleep", "60"], timeout=0.2)
    with pytest.raises(ValueError, match="this list is empty"):
        live["a"].run([])
    with pytest.raises(TypeError, match="a command is text"):
        live["a"].run(5)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="no node is called `c`: there are a, b"):
        live["c"]


def test_programs_talk_and_end(live: netloom.Live) -> None:
    with live["a"].popen("read x; echo got $x; echo more >&2", stdin=PIPE, stdout=PIPE, stderr=STDOUT) as process:
        assert process.poll() is None
        assert process.communicate("word\n") == ("got word\nmore\n", None)
        assert process.poll() == 0
    with live["a"].popen(["cat"], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin and process.stdout
        for word in ("one\n", "two\n"):
            process.stdin.write(word)
            assert process.stdout.readline() == word
        process.stdin.close()
        assert process.wait() == 0
    process = live["a"].popen(["sleep", "60"])
    process.terminate()
    assert process.wait(10) == 128 + signal.SIGTERM
    process.close()
    # More than pipes hold, in both directions at once.
    data = os.urandom(1 << 20).hex()
    assert live["a"].run(["cat"], input=data).stdout == data


def test_a_program_ends_with_its_connection(live: netloom.Live) -> None:
    process = live["a"].popen(["sleep", "4242"])
    process.close()
    deadline = time.monotonic() + 20
    while "4242" in live["a"].shell("ps ax -o args | grep '[s]leep' || true"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_functions_run_inside(live: netloom.Live, capfd: pytest.CaptureFixture[str]) -> None:
    assert live["b"].python(twice, 21) == (42, "b")
    assert "this is no part of the answer" in capfd.readouterr().err
    with pytest.raises(LookupError, match="not there") as found:
        live["a"].python(fail, "not there")
    assert "in fail" in str(found.value.__cause__)
    with pytest.raises(NetloomError, match="cannot be sent into a node"):
        live["a"].python(lambda: 1)


def test_files_go_in_and_out(live: netloom.Live, tmp_path: Path) -> None:
    node = live["a"]
    node.write_text(tmp_path / "text", "hällo")
    assert (tmp_path / "text").read_text() == "hällo" == node.read_text(tmp_path / "text")
    (tmp_path / "tree/deep").mkdir(parents=True)
    (tmp_path / "tree/deep/file").write_bytes(b"\0\1")
    node.put(tmp_path / "tree", tmp_path / "there/copy")
    assert (tmp_path / "there/copy/deep/file").read_bytes() == b"\0\1"
    node.get(tmp_path / "there/copy", tmp_path / "back")
    assert (tmp_path / "back/deep/file").read_bytes() == b"\0\1"
    with pytest.raises(NetloomError, match="reading /nowhere in node `a`: .*No such file"):
        node.read_bytes("/nowhere")
    with pytest.raises(FileNotFoundError):
        node.put(tmp_path / "absent", "/tmp/x")


def test_sockets_are_opened_in_nodes(live: netloom.Live) -> None:
    with live["b"].socket(bind="0.0.0.0:7000", listen=1) as server, live["a"].socket(connect=("b", 7000)) as client:
        client.sendall(b"hello")
        connection, peer = server.accept()
        with connection:
            assert connection.recv(10) == b"hello" and peer[0] == live["a"].address
    with pytest.raises(RefusedError, match="(?i)address"):
        live["a"].socket(bind="192.0.2.1:1")


def test_links_change_and_are_cut(live: netloom.Live) -> None:
    link = live.link("l")
    link.set(delay="30 ms")
    assert link.settings["forward"]["delay"] == "30 ms"
    link.set(direction="forward", delay="2 ms", queue=netloom.CoDel(limit="100 packets"))
    assert link.settings["forward"]["queue"]["kind"] == "codel"
    assert link.settings["backward"]["delay"] == "30 ms"
    before = link.stats()[0]["arrived_packets"]
    link.down()
    assert live["a"].run("ping -c 1 -W 1 b").returncode == 1
    assert not link.stats()[0]["up"]
    link.up()
    assert live["a"].run("ping -c 1 -W 5 b").returncode == 0
    assert link.stats()[0]["arrived_packets"] > before
    link.down("100 ms", direction="forward")
    while not link.stats()[0]["up"]:
        pass
    with pytest.raises(RefusedError, match="did you mean"):
        link.set(dealy="1 ms")  # type: ignore[call-arg]
    with pytest.raises(RefusedError, match="`Mbps` is ambiguous"):
        link.set(rate="5 Mbps")
    with pytest.raises(RefusedError, match="can be held and advanced"):
        live.advance("1 s")


def test_events_come(live: netloom.Live) -> None:
    events = live.events(from_start=True, timeout=30)
    assert next(events).what == "time zero"
    live.link("l").set(loss="0 %", delay="1 ms")
    assert any(
        event.details.get("set") == {"delay": "1 ms", "loss": "0 %"} or event.what == "link changed" for event in events
    )
    samples = live.samples("20 ms", timeout=30)
    assert next(samples)["pipes"] and next(samples)["pipes"]
    samples.close()


def test_connections_of_nodes_are_told(live: netloom.Live) -> None:
    with live["b"].socket(bind="0.0.0.0:7001", listen=1), live["a"].socket(connect=("b", 7001)):
        told = live.connections("50 ms", "a", timeout=30)
        for message in told:
            ours = [one for one in message["nodes"][0]["connections"] if one["remote"].endswith(":7001")]
            if ours and ours[0]["state"] == "established":
                break
        told.close()
    assert ours[0]["figures"]["cwnd_packets"] > 0
    with pytest.raises(netloom.NetloomError, match="no node is called"):
        next(live.connections("50 ms", "nobody"))


def test_packets_are_told(live: netloom.Live) -> None:
    packets = live.packets("20 ms", timeout=30)
    assert next(packets)["packets"] == []
    assert live["a"].run("ping -c 3 -i 0.05 b").returncode == 0
    told: list[dict[str, Any]] = []
    while len(told) < 4:
        told += next(packets)["packets"]
    assert {packet["dropped"] for packet in told} == {None}
    assert all(packet["entered_ns"] <= packet["sent_ns"] <= packet["due_ns"] for packet in told)
    packets.close()


def test_a_capture_is_kept(live: netloom.Live, tmp_path: Path) -> None:
    with live.link("l").capture(tmp_path / "l.pcapng"):
        deadline = time.monotonic() + 30
        while (tmp_path / "l.pcapng").stat().st_size < 400:
            live["a"].run("ping -c 1 -W 5 b")
            assert time.monotonic() < deadline
    assert (tmp_path / "l.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


def test_a_thousand_calls_leave_nothing(live: netloom.Live) -> None:
    live["a"].run(["true"])
    gc.collect()
    files, threads = open_files(), threading.active_count()
    began = time.monotonic()
    for _ in range(1000):  # As many as are promised.
        assert live["a"].run(["true"]).returncode == 0
    print(f"run: {(time.monotonic() - began):.2f} ms each")
    gc.collect()
    assert open_files() == files and threading.active_count() == threads


def test_many_threads_use_one_lab(live: netloom.Live) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda n=n: found.append(live["a"].shell(f"echo {n}"))) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, found)) == list(range(20))


def test_a_lab_is_attached_to(live: netloom.Live) -> None:
    with netloom.attach(live.name) as other:
        assert other["b"].shell("hostname") == "b" and other.results == live.results
    assert live["b"].shell("hostname") == "b", "it goes on"
    with pytest.raises(NetloomError, match="no lab `nobody` is up; these are: .*py-"):
        netloom.attach("nobody")


def test_a_fork_has_no_part_in_the_lab(live: netloom.Live) -> None:
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            live["a"].run(["true"])
        except ClosedError as error:
            os.write(writer, str(error).encode())
        live.__exit__(None, None, None)
        os._exit(0)
    os.waitpid(child, 0)
    assert f"belongs to process {os.getpid()}, of which this one ({child}) is a fork" in os.read(reader, 1000).decode()
    assert live["a"].shell("echo up") == "up"


def test_a_lab_ends_with_its_block() -> None:
    lab = two_nodes()
    with lab.up() as live:
        node, process = live["a"], live["a"].popen(["sleep", "60"])
        folder = Path(live.socket_path).parent
        with pytest.raises(NetloomError, match="is still up"):
            _ = live.result
    assert not folder.exists()
    assert process.wait() >= 128
    process.close()
    with pytest.raises(ClosedError, match="is not up any more: it was taken down"):
        node.run(["true"])
    result = live.down()
    assert result is live.result and result.folder.parent.parent == Path("results").absolute()
    assert result.report["lab"] == lab.name
    with pytest.raises(NetloomError, match=r"a lab that was up is sampled if"):
        result.table("samples.csv")


def test_a_lab_that_is_up_is_sampled_if_it_asks_for_it() -> None:
    lab = two_nodes(delay="2 ms")
    lab.settings["measure"] = {"pipes": "100 ms"}
    with lab.up() as live:
        assert live["a"].run("ping -c 5 -i 0.1 -q b").returncode == 0
        # Until the next samples.
        live.sleep("300 ms")
    rows = live.down().rows("samples.csv")
    assert int(rows[-1]["departed_packets"]) >= 5 and rows[-1]["one_way_delay_p50_ns"] is not None


def test_services_start_again_and_the_verdict_forms() -> None:
    lab = two_nodes(delay="2 ms")
    # Of a graceful end it says so.
    lab.nodes["a"].service("trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.05; done", as_="talker")
    with lab.up() as live:
        lines = live.output("talker", timeout=30)
        live["a"].run("ping -c 3 -i 0.2 -W 5 b", check=True)
        so_far = live.verdict()
        assert so_far["since_zero_ns"] > 0 and isinstance(so_far["verdict"]["as_described"], bool)
        assert so_far["expectations"] == []  # A lab that is up plays no timeline.
        assert sorted(pipe["direction"] for pipe in so_far["pipes"]) == ["backward", "forward"]
        assert all(pipe["packets"] >= 3 and pipe["p50_ns"] is not None for pipe in so_far["pipes"])
        told: list[str] = []
        for name, times in (("talker", 2), ("a", 3)):
            live.restart(name)
            while told.count("up") < times:
                told += next(lines).lines
        assert told.count("bye") == 2
        lines.close()
        with pytest.raises(RefusedError, match="nobody"):
            live.restart("nobody")


def test_a_node_stops_and_starts() -> None:
    lab = two_nodes(delay="2 ms")
    lab.nodes["b"].service("echo up; exec sleep 1000", as_="sleeper")
    with lab.up() as live:
        lines = live.output("sleeper", timeout=30)
        node = live["b"]
        node.stop()
        assert node.state == "stopped"
        assert live["a"].run("ping -c 1 -W 1 b").returncode != 0
        with pytest.raises(RefusedError, match="has stopped"):
            node.run("true")
        with pytest.raises(RefusedError, match="has stopped already"):
            node.stop()
        node.start()
        told: list[str] = []
        while told.count("up") < 2:
            told += next(lines).lines
        live["a"].run("ping -c 1 -W 20 b", check=True)
        lines.close()


def test_an_error_in_the_block_takes_the_lab_down() -> None:
    with pytest.raises(ZeroDivisionError), two_nodes().up() as live:
        _ = 1 / 0
    assert not Path(live.socket_path).exists()


def test_a_lab_without_a_name_may_be_up_twice() -> None:
    def make() -> Lab:
        lab = Lab()
        lab.host("a")
        return lab

    with make().up() as one, make().up() as two:
        assert one.name != two.name and two.name.startswith(one.name)
    with two_nodes().up() as first, pytest.raises(netloom.ProgramError, match="already up") as found:
        same = Lab(first.name)
        same.host("a")
        same.up()
    assert found.value.code == 7


def test_a_wrong_lab_does_not_come_up() -> None:
    lab = two_nodes(dealy="1 ms")
    with pytest.raises(LabError, match="(?s)unknown key `dealy`.*conftest.py"):
        lab.up()


PROGRAM = """
import os, sys, time
sys.path.insert(0, {tests!r})
from conftest import two_nodes
live = two_nodes().up()
live["a"].popen(["sleep", "4343"])
print(live.socket_path, flush=True)
time.sleep(60)
"""


def test_nothing_is_left_of_an_interpreter_that_is_killed(tmp_path: Path) -> None:
    program = PROGRAM.format(tests=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        path = Path(process.stdout.readline().strip())
        assert path.exists()
        process.kill()
    deadline = time.monotonic() + 30
    while path.parent.exists():
        assert time.monotonic() < deadline, "the lab goes on"
        time.sleep(0.05)
    assert not subprocess.run(["pgrep", "-f", "sleep 4343"], capture_output=True, check=False).stdout


def test_a_two_node_lab_is_quick() -> None:
    """Promised are 120 ms for `up` and 15 ms for `run` on a quiet machine; here, what tests beside one another leave of it."""
    ups, runs = [], []
    for _ in range(3):
        began = time.monotonic()
        with two_nodes().up() as live:
            ups.append(time.monotonic() - began)
            for _ in range(10):
                began = time.monotonic()
                live["a"].run(["true"])
                runs.append(time.monotonic() - began)
    print(f"up {min(ups) * 1000:.0f} ms, run {min(runs) * 1000:.1f} ms")
    assert min(ups) < 1.2 and min(runs) < 0.15
