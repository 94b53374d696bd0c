"""Sweeps and hunts on Ray, with several nodes of Ray on this machine; `make python-ray` installs Ray and runs this."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ray_cluster, two_nodes

import netloom
from netloom import Lab, _program

if not os.environ.get("NETLOOM_TEST_RAY"):
    pytest.skip("only with NETLOOM_TEST_RAY=1, which `make python-ray` sets: Ray has 80 MB", allow_module_level=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import ray

    made = ray_cluster()
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def described() -> Lab:
    lab = two_nodes(rate="1 Mbit/s", delay="10 ms", loss="10 %")
    lab.set(clock="virtual")
    lab["a"].command("ping -i 0.05 -c 20 b", as_="ping")
    lab.figure("drops", "l.forward.drops")
    return lab


VARY = {"loss": {"path": "links.l.loss", "values": ["5 %", "20 %"]}}


def test_a_sweep_on_ray_is_the_same_as_here(cluster: Any) -> None:
    lab = described()
    there = netloom.sweep(lab, vary=VARY, repeat=2, out="there", on="ray")
    here = netloom.sweep(lab, vary=VARY, repeat=2, out="here")
    assert there.complete and here.complete
    assert [run["figures"] for run in _records(there)] == [run["figures"] for run in _records(here)]
    assert len(list(there.results())) == 4 and all(result.report for result in there.results())


def test_a_lost_worker_is_replaced(cluster: Any) -> None:
    lab = described()
    lab["a"].command("ping -i 0.01 -c 3000 b", as_="longer")
    lost: list[int] = []

    def lose() -> None:
        deadline = time.monotonic() + 60
        while not lost and time.monotonic() < deadline:
            found = subprocess.run(["pgrep", "-f", "ray::play"], capture_output=True, text=True, check=False)
            for pid in found.stdout.split()[:1]:
                time.sleep(0.5)
                os.kill(int(pid), signal.SIGKILL)
                lost.append(int(pid))
            time.sleep(0.05)

    loser = threading.Thread(target=lose)
    loser.start()
    found = netloom.sweep(lab, vary=VARY, repeat=2, out="lost", on="ray")
    loser.join()
    assert lost and found.complete and len(list(found.results())) == 4


def test_the_command_line_has_the_same_word(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "told.txt").write_text("told\n")
    lab = "name: far\nclock: virtual\nvary: {word: [one, two]}\nnodes: {a: {files: {/etc/told: told.txt}}, b: {}}\n"
    lab += "links: {l: {ends: [a, b]}}\ntimeline: [{on: a, run: \"sh -c 'cat /etc/told; echo ${word}; ping -c 2 b'\", as: said}]\n"
    (tmp_path / "far.yaml").write_text(lab + "figures: {drops: l.forward.drops}\n")
    environment = {**os.environ, "NETLOOM_PYTHON": sys.executable, "RAY_ADDRESS": cluster.address}
    command = [_program.program(), "sweep", "far.yaml", "-o", "out", "--on", "ray", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["as_described"] == 2
    again = subprocess.run(
        [*command, "--resume"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr


def _records(found: netloom.SweepResult) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((found.folder / "runs").glob("*/run.json"))]


def test_a_hunt_on_ray_finds_what_it_finds_here(cluster: Any, tmp_path: Path) -> None:
    lab = tmp_path / "lab.yaml"
    lab.write_text("""
clock: virtual
nodes: {a: {}, b: {}}
links: {l: {ends: [a, b], delay: 5 ms}}
duration: 8 s
timeline: [{on: a, run: ping -c 40 -i 0.1 -W 1 b, as: ping, may_fail: true}]
hunt: {runs: 6, faults: {partition: [halves]}, quiet: 1 s, always: ['no log ping matches " [1-9][0-9]*% packet loss"']}
""")
    found = []
    for where, more in (("there", ["--on", cluster.address]), ("here", [])):
        command = [
            _program.program(),
            "hunt",
            str(lab),
            "-o",
            str(tmp_path / where),
            "--json",
            "--moment",
            "0s",
            "--jobs",
            "1",
        ]
        environment = {**os.environ, "NETLOOM_PYTHON": sys.executable}
        done = subprocess.run(
            [*command, *more], env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 1, done.stderr
        found.append(json.loads(done.stdout))
    there, here = ([(one["run"], one["minimal"], one["is_repeated"]) for one in each["findings"]] for each in found)
    assert there == here and there
    assert (tmp_path / "there" / "findings" / "0001" / "minimal.yaml").exists()


#: How long a run may take to say that a machine is lost, in seconds: two on an idle machine (`test_ray_run`), and longer where others keep it from its
#: processors, as all that starts and looks here.
TOLD = 15.0

#: Two machines: network namespaces that a wire joins, each with a node of Ray. Everything ends with the script.
MACHINES = """
set -e
mount -t tmpfs tmpfs /run  # Paths of sockets there are short.
for n in a b; do ip netns add $n; ip -n $n link set lo up; done
ip link add va netns a type veth peer name vb netns b
ip -n a addr add 10.99.0.1/24 dev va; ip -n a link set va up
ip -n b addr add 10.99.0.2/24 dev vb; ip -n b link set vb up
start="$RAY start --num-cpus 1 --disable-usage-stats"
# Ray itself waits 30 s for a node, and a busy machine may take longer.
begun() {
    n=$1; shift
    for i in 1 2 3 4 5; do
        if ip netns exec $n $start "$@" >ray-$n.log 2>&1; then return 0; fi
        kill -9 $(ip netns pids $n) || true
        sleep 1
    done
    return 1
}
begun a --head --include-dashboard=false --node-ip-address 10.99.0.1 --port 6399 --temp-dir /run/ray
begun b --address 10.99.0.1:6399 --node-ip-address 10.99.0.2
ip netns exec a "$PROGRAM" run far.yaml --on 10.99.0.1:6399 $MORE >shown 2>said &
run=$!
if [ -n "$KILL" ]; then
    until grep -q "time zero" said; do kill -0 $run; sleep 0.1; done
    sleep 1
    date +%s.%N >killed
    all_of_b() {
        of=$(ip netns pids b)
        for i in 1 2 3 4 5 6; do for pid in $of; do of="$of $(pgrep -P $pid || true)"; done; of=$(echo $of | tr " " "\\n" | sort -u); done
        echo $of
    }
    there() { for pid in $(pgrep -x "$1" || pgrep "$1"); do [ "$(ip netns identify $pid)" != b ] || echo $pid; done; }
    case $KILL in
    agent) kill -9 $(there ray::Player) ;;
    stopped) kill -STOP $(there ray::Player); (sleep 5; kill -CONT $(there ray::Player)) & ;;
    suspended) all=$(all_of_b); date +%s.%N >killed; kill -STOP $all; (sleep 5; kill -CONT $all) & ;;
    node) kill -9 $(there raylet) ;;
    head) kill -9 $(pgrep gcs_server) ;;
    cut) ip -n b link set vb down ;;
    asker) kill -9 $run ;;
    down) "$PROGRAM" exec far db -- echo on db >execd 2>&1; "$PROGRAM" logs far server >>execd 2>&1; "$PROGRAM" down far >>execd 2>&1 ;;
    esac
    until grep -q "is lost" said || [ $KILL = asker ] || [ $KILL = down ]; do kill -0 $run; sleep 0.02; done
    date +%s.%N >told
fi
code=0
wait $run || code=$?
date +%s.%N >ended
for i in $(seq 400); do pgrep -f -- "[-]-gate" >gates || break; sleep 0.1; done
date +%s.%N >gone
# The machine that is cut off has the files of its part until Ray gives up there.
for i in $(seq 50); do ls "$TMPDIR" >left; grep -q netloom left || break; [ "$KILL" != cut ] || break; sleep 0.1; done
cat gates >>left
exit $code
"""

FAR = """
name: far
duration: DURATION
machines: {a: {}, b: {}}
nodes: {web: {machine: a}, db: {machine: b}}
links: {line: {ends: [web, db], delay: 20 ms}}
timeline:
  - {on: db, run: "sh -c 'echo hello; sleep 100'", as: server, ready: {pause: 1 s}}
  - {on: web, run: ping -c 3 -i 0.2 db, as: ping}
  - {on: db, run: ping -c 3 -i 0.2 web, as: pong}
capture: [line]
journal: all
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
"""


def _machines(
    folder: Path, duration: str, more: str = "", kill: str = "", script: str = MACHINES
) -> subprocess.CompletedProcess[str]:
    (folder / "far.yaml").write_text(FAR.replace("DURATION", duration))
    for name in ("tmp", "xdg"):
        (folder / name).mkdir(mode=0o700)
    ray = shutil.which("ray", path=os.path.dirname(sys.executable))
    assert ray is not None
    named = {"RAY": ray, "PROGRAM": _program.program(), "MORE": more, "KILL": kill}
    named |= {"NETLOOM_PYTHON": sys.executable, "TMPDIR": str(folder / "tmp"), "XDG_RUNTIME_DIR": str(folder / "xdg")}
    if (folder / "cache").exists():
        named["XDG_CACHE_HOME"] = str(folder / "cache")
    alone = [
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "bash",
        "-c",
    ]
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"} | named
    done = subprocess.run(
        [*alone, script], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=1200
    )
    assert (folder / "said").exists(), f"the cluster did not come up: {done.stderr}"
    return done


def test_one_lab_over_two_machines_has_one_verdict(tmp_path: Path) -> None:
    done = _machines(tmp_path, "2 s", "--json")
    said = (tmp_path / "said").read_text()
    assert done.returncode == 0, done.stderr + said
    report = json.loads((tmp_path / "shown").read_text())
    assert report["verdict"]["as_described"] is True
    assert {(row["name"], row["machine"], row["exit_code"]) for row in report["commands"] if not row["service"]} == {
        ("ping", "a", 0),
        ("pong", "b", 0),
    }
    # Nothing begins on a before the server on b is ready, which takes a second.
    starts = {row["name"]: row["start_ns"] for row in report["commands"]}
    assert starts["server"] < -900_000_000 < 0 <= starts["ping"]
    assert [(row["from"], row["to"]) for row in report["pipes"]] == [("web", "db"), ("db", "web")]
    results = Path(report["results"])
    assert "3 received" in next((results / "logs").glob("*-web-ping.stdout")).read_text()
    zeros = [json.loads(line) for line in (results / "events.jsonl").read_text().splitlines()]
    assert [event["machine"] for event in zeros if event["event"] == "time zero"] == ["a", "b"]
    assert not [name for name in (tmp_path / "left").read_text().split() if name.startswith("netloom")]
    # Each packet enters at one end and leaves at the other, as in one piece: 20 ms later, by clocks that are some milliseconds apart.
    names, packets = _packets(results / "captures" / "line.pcapng")
    assert names == ["web:eth0", "db:eth0"]
    passed = {0: [at for place, at in packets if place == 0], 1: [at for place, at in packets if place == 1]}
    assert len(passed[0]) == len(passed[1]) and len(packets) >= 24
    assert [at for _, at in packets] == sorted(at for _, at in packets)
    assert (
        2 * report["journal"]["packets"] == len(packets) == 2 * sum(row["departed_packets"] for row in report["pipes"])
    )
    assert (results / "report.html").exists() and "<svg" in (results / "lab.svg").read_text()
    plan = json.loads((results / "plan.json").read_text())
    assert [node["name"] for node in plan["nodes"]] == ["web", "db"]
    provenance = json.loads((results / "provenance.json").read_text())
    assert provenance["lab"] == "far" and "verdict: as described" in (results / "summary.txt").read_text()


def _packets(file: Path) -> tuple[list[str], list[tuple[int, int]]]:
    """The names of the interfaces of a capture; the interface of each packet and its instant."""
    data, names, packets = file.read_bytes(), [], []
    while data:
        kind, length = struct.unpack("<II", data[:8])
        if kind == 1:
            names.append(data[20 : 20 + struct.unpack("<H", data[18:20])[0]].decode())
        elif kind == 6:
            place, high, low = struct.unpack("<III", data[8:20])
            packets.append((place, high << 32 | low))
        data = data[length:]
    return names, packets


@pytest.mark.parametrize(
    "kill, more",
    [
        ("agent", ""),
        ("agent", "--on-loss continue"),
        ("node", ""),
        ("cut", ""),
        ("stopped", ""),
        ("suspended", ""),
        ("head", ""),
    ],
)
def test_a_lost_machine_is_told_and_nothing_is_left(tmp_path: Path, kill: str, more: str) -> None:
    # The others end long before the lab would, unless they go on.
    done = _machines(tmp_path, "20 s" if more else "80 s", more, kill)
    said = (tmp_path / "said").read_text()
    assert done.returncode == 5, done.stderr + said
    lost = "the cluster is lost: the head" if kill == "head" else "machine b (10.99.0.2; nodes db) is lost"
    assert lost in said
    assert float((tmp_path / "told").read_text()) - float((tmp_path / "killed").read_text()) < TOLD
    [results] = (tmp_path / "results" / "far").glob("2*")
    report = json.loads((results / "report.json").read_text())
    assert report["verdict"]["findings"][0]["subject"] == ("cluster" if kill == "head" else "machine b")
    assert report["duration_ns"] == 20_000_000_000 if more else report["duration_ns"] < 80_000_000_000
    assert report["verdict"]["as_described"] is False
    left = (tmp_path / "left").read_text().split()
    assert (kill == "cut" or not [name for name in left if name.startswith("netloom")]) and not (
        tmp_path / "gates"
    ).read_text()


def test_what_a_lost_machine_has_left_is_collected(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    script = MACHINES.replace("exit $code", COLLECT)
    done = _machines(tmp_path, "40 s", "", "agent", script)
    said = (tmp_path / "collected-said").read_text()
    assert done.returncode == 5, done.stderr + said
    report = json.loads((tmp_path / "collected").read_text())
    assert report["verdict"]["findings"][0]["subject"] == "machine b"
    assert {row["machine"] for row in report["pipes"]} == {"a", "b"}, said
    [results] = (tmp_path / "results" / "far").glob("2*")
    assert (results / "parts" / "b" / "report.json").exists() and not (results / "left.json").exists()
    # Packets of both ends, and nothing is left there.
    _, packets = _packets(results / "captures" / "line.pcapng")
    assert {place for place, _ in packets} == {0, 1}
    assert not list((tmp_path / "cache" / "netloom" / "left").iterdir())
    assert "nothing is noted" in said or "no machine is noted" in said


#: Fetches what the machine has left, twice.
COLLECT = """
for i in $(seq 100); do ls "$XDG_CACHE_HOME"/netloom/left/* >/dev/null 2>&1 && break; sleep 0.1; done
code=0
ip netns exec a "$PROGRAM" collect results/far/latest --json >collected 2>collected-said || code=$?
ip netns exec a "$PROGRAM" collect results/far/latest >again 2>>collected-said || [ $? = 6 ]
exit $code
"""


def test_a_cluster_shows_what_would_go_where(tmp_path: Path) -> None:
    check = """
ip netns exec a "$PROGRAM" check far.yaml --on 10.99.0.1:6399 >shown 2>said
ip netns exec a "$PROGRAM" check far.yaml --on 10.99.0.1:6399 --json >json 2>>said
code=0
sed -i 's/b: {}/b: {resources: {CPU: 40}}/' far.yaml
ip netns exec a "$PROGRAM" check far.yaml --on 10.99.0.1:6399 >wrong 2>>said || code=$?
exit $code
"""
    begin = MACHINES.index('ip netns exec a "$PROGRAM" run')
    done = _machines(tmp_path, "8 s", script=MACHINES[:begin] + check)
    said = (tmp_path / "said").read_text()
    assert done.returncode == 4, done.stderr + said
    shown = (tmp_path / "shown").read_text()
    assert ", on 10.99.0.1 (1.00 processors, " in shown and "  line  a - b  no limit, 20 ms\n" in shown, shown
    placement = json.loads((tmp_path / "json").read_text())["placement"]
    assert [machine["host"]["address"] for machine in placement["machines"]] == ["10.99.0.1", "10.99.0.2"]
    assert placement["crossing"][0]["least_delay_ns"] == 20_000_000 and placement["does_not_fit"] == []
    why = "no machine of the cluster that is free has the 40.00 processors of machine b"
    assert f"Does not fit\n  {why}\n" in (tmp_path / "wrong").read_text() and why in said


def test_the_path_between_two_machines_is_measured(tmp_path: Path) -> None:
    script = """
ip -n a link set va mtu 1400; ip -n b link set vb mtu 1400
ip netns exec a "$PROGRAM" doctor --between 10.99.0.1 10.99.0.2 --on 10.99.0.1:6399 --json >json 2>said
ip netns exec a "$PROGRAM" doctor --between 10.99.0.2 10.99.0.1 --on 10.99.0.1:6399 >shown 2>>said
code=0
ip netns exec a "$PROGRAM" doctor --between 10.99.0.1 10.99.0.9 --on 10.99.0.1:6399 2>>said || code=$?
exit $code
"""
    begin = MACHINES.index('ip netns exec a "$PROGRAM" run')
    done = _machines(tmp_path, "8 s", script=MACHINES[:begin] + script)
    said = (tmp_path / "said").read_text()
    assert done.returncode == 8, done.stderr + said
    assert "no machine of the cluster is 10.99.0.9; these are: 10.99.0.1, 10.99.0.2" in said
    found = json.loads((tmp_path / "json").read_text())
    assert (found["packet_bytes"], found["questions"], found["lost_questions"]) == (1400, 1000, 0)
    trips = found["round_trip_ns"]
    assert 0 < trips["least"] <= trips["p50"] <= trips["p99"] <= trips["most"]
    # One machine has one clock.
    assert abs(found["clock_ahead_ns"]) <= found["clock_bound_ns"] + 20_000
    assert found["path_ns"] >= trips["p99"] // 2 and found["least_delay_ns"] == found["path_ns"] + 300_000
    assert all(rate > 1e7 for rate in found["rates_bits_per_second"])
    assert "links       may be cut from " in (tmp_path / "shown").read_text()


def test_a_run_is_worked_with_as_one_on_one_machine(tmp_path: Path) -> None:
    done = _machines(tmp_path, "60 s", kill="down")
    assert done.returncode == 130, done.stderr + (tmp_path / "said").read_text()
    execd = (tmp_path / "execd").read_text()
    assert execd.startswith("on db\n") and "server on db | hello" in execd, execd
    [results] = (tmp_path / "results" / "far").glob("2*")
    assert json.loads((results / "report.json").read_text())["interrupted"] is True
    assert not list((tmp_path / "xdg" / "netloom").iterdir())


def test_nothing_is_left_of_a_run_whose_asker_was_killed(tmp_path: Path) -> None:
    done = _machines(tmp_path, "60 s", kill="asker")
    assert done.returncode == 137, done.stderr
    assert not [name for name in (tmp_path / "left").read_text().split() if name.startswith("netloom")]
    assert not (tmp_path / "gates").read_text()
    assert float((tmp_path / "gone").read_text()) - float((tmp_path / "killed").read_text()) < TOLD


#: What a user does with a lab that is up over both machines, from the first one.
UP = """
on() { echo "== $1"; shift; timeout 300 "$PROGRAM" "$@" 2>&1 || echo "code $?"; }
ip netns exec a "$PROGRAM" up far.yaml --on 10.99.0.1:6399 $MORE >shown 2>said || { cat said; exit 1; }
on ps ps
on exec exec far db -- sh -c 'cat; echo there $0; exit 7' you <<<typed
on all exec far --all -- hostname
on ping exec far web -- ping -c 2 -i 0.2 db
on unknown exec far nobody -- true
on terminal shell far db </dev/null
on set set far line delay=30ms
on stats stats far --once --json
on partition partition far '{random: [web, db]}'
on parted exec far web -- ping -c 2 -i 0.2 -W 1 db
on parted-back exec far db -- ping -c 2 -i 0.2 -W 1 web
on heal heal far
on healed exec far web -- ping -c 2 -i 0.2 db
on wrong partition far '[[web], [nobody]]'
on verdict verdict far
sleep 1
on logs logs
if [ -n "$KILL" ]; then
    timeout 300 "$PROGRAM" exec far db -- sleep 200 >held 2>&1 &
    held=$!
    sleep 1
    date +%s.%N >killed
    [ "$KILL" != agent ] || for pid in $(pgrep ray::Player); do [ "$(ip netns identify $pid)" != b ] || kill -9 $pid; done
    [ "$KILL" != keeper ] || kill -9 $(pgrep -f 'netloom._ray_up .* [0-9]*$')
    wait $held || true
    date +%s.%N >told
    for i in $(seq 100); do [ -e "$XDG_RUNTIME_DIR/netloom/far" ] || break; "$PROGRAM" ps >ps; sleep 0.1; done
fi
on down down far
sleep 1
ls "$TMPDIR" "$XDG_RUNTIME_DIR/netloom" >left
pgrep -af 'netloom (run|up)' >>left || true
"""


def _up(folder: Path, more: str = "", kill: str = "") -> dict[str, str]:
    """What each step showed."""
    started = MACHINES.index('ip netns exec a "$PROGRAM" run')
    done = _machines(folder, "60 s", more, kill, MACHINES[:started] + UP)
    assert done.returncode == 0, done.stdout + done.stderr + (folder / "said").read_text()
    return {part.split("\n", 1)[0]: part.split("\n", 1)[1] for part in done.stdout.split("== ")[1:]}


def test_a_lab_is_up_over_two_machines(tmp_path: Path) -> None:
    shown = _up(tmp_path)
    assert "far" in shown["ps"] and "code" not in shown["terminal"]
    assert shown["exec"] == "typed\nthere you\ncode 7\n"
    assert "web" in shown["all"] and "db" in shown["all"]
    assert "2 received" in shown["ping"] and "no node `nobody`" in shown["unknown"]
    pipes = json.loads(shown["stats"])["pipes"]
    assert [(row["from"], row["to"], row["delay_ns"]) for row in pipes] == [
        ("web", "db", 30_000_000),
        ("db", "web", 30_000_000),
    ]
    assert (
        "code" not in shown["partition"] and " 0 received" in shown["parted"] and " 0 received" in shown["parted-back"]
    )
    assert "code" not in shown["heal"] and "2 received" in shown["healed"]
    assert "there is no node `nobody`" in shown["wrong"] and "code 2" in shown["wrong"]
    assert "code" not in shown["set"] and "hello" in shown["logs"]
    assert "as described" in shown["down"]
    [results] = (tmp_path / "results" / "far").glob("2*")
    report = json.loads((results / "report.json").read_text())
    assert report["exit_code"] == 0 and report["commands"][0]["name"] == "server"
    assert (results / "summary.txt").exists() and "hello" in next((results / "logs").glob("*.stdout")).read_text()
    assert "netloom" not in (tmp_path / "left").read_text().replace("xdg/netloom:", "")


@pytest.mark.parametrize("kill", ["agent", "keeper"])
def test_a_lab_that_is_up_ends_with_a_machine_and_with_its_keeper(tmp_path: Path, kill: str) -> None:
    shown = _up(tmp_path, kill=kill)
    assert float((tmp_path / "told").read_text()) - float((tmp_path / "killed").read_text()) < TOLD
    assert "no lab `far` is up" in shown["down"]
    if kill == "agent":
        assert "machine b (10.99.0.2; nodes db) is lost" in (tmp_path / "held").read_text()
        [results] = (tmp_path / "results" / "far").glob("2*")
        report = json.loads((results / "report.json").read_text())
        assert report["exit_code"] == 5 and report["verdict"]["findings"][0]["subject"] == "machine b"
    assert "netloom" not in (tmp_path / "left").read_text().replace("xdg/netloom:", "")
