"""Scripts in the style of those that people publish, as they would run with Mininet: `tests/wild`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netloom.mininet import _frr, _qdiscs, _tc

_WILD = Path(__file__).parent / "wild"


def run(name: str, *arguments: str, **variables: str) -> str:
    """What a script says in its last line."""
    done = subprocess.run(
        [sys.executable, "-m", "netloom.mininet", str(_WILD / name), *arguments], capture_output=True, text=True, timeout=120,
        env={**os.environ, **variables}, check=False,
    )  # fmt: skip
    said = re.search(r"^RESULT (.*)$", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and said, done.stdout + done.stderr
    return said[1]


_CONGESTION = Path("/proc/sys/net/ipv4/tcp_congestion_control")


@pytest.fixture
def _congestion_of_this_machine() -> Iterator[None]:
    """A script of root that calls `sysctl` itself changes this machine, here as with Mininet."""
    before = _CONGESTION.read_text()
    yield
    if _CONGESTION.read_text() != before:
        _CONGESTION.write_text(before)


@pytest.mark.usefixtures("_congestion_of_this_machine")
def test_bufferbloat_is_seen_by_tc_of_this_machine() -> None:
    said = run("bufferbloat.py", "--maxq", "100", "--time", "4")
    numbers = re.fullmatch(r"fetches \d+ mean [\d.]+ s, rtt max (\d+) ms, queue max (\d+)", said)
    # A hundred packets of 1,500 bytes at 1.5 Mbit/s are 800 ms.
    assert numbers and int(numbers[1]) > 400 and 60 <= int(numbers[2]) <= 100, said


def test_multipath_tcp_uses_both_paths() -> None:
    said = run("mptcp.py")
    # Each path has 10 Mbit/s.
    assert 11.0 < float(said.split()[0]) <= 20.0, said


def test_marking_keeps_the_queue_of_dctcp_short_in_kernels_that_have_it() -> None:
    said = run("dctcp.py", "dctcp", NETLOOM_MININET_STACK="kernel")
    numbers = re.fullmatch(r"\[(\d+), (\d+), (\d+)\] jain ([\d.]+) queue mean ([\d.]+) max \d+", said)
    assert numbers and float(numbers[4]) > 0.5, said
    # A limit of 200 packets, of which loss-based control fills most.
    assert float(numbers[5]) < 100, said


def test_routing_daemons_of_frr_run_as_root_of_their_hosts() -> None:
    said = run("frr.py")
    assert said.startswith("lost 0.0 10.3.0.0/24") and "proto ospf" in said, said


def test_containers_have_the_files_of_their_images(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for program in ("bash", "ls", "ip", "ping"):
        _copy(Path(shutil.which(program) or f"/usr/bin/{program}"), root)
    (root / "bin").symlink_to("usr/bin")
    (root / "only-here").mkdir()
    said = run("containers.py", f"rootfs:{root}")
    assert said.startswith("0.0 ") and "'only-here'" in said and said.endswith("['green', '/zones/UTC']"), said


def _copy(program: Path, root: Path) -> None:
    wanted = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    for source in re.findall(r"(/\S+) \(0x", wanted):
        target = root / source.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    target = root / "usr/bin" / program.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(program, target)


@pytest.mark.parametrize(
    "line, said",
    [
        ("import mininet.net; mininet.net.Kontainernet", "did you mean `Containernet`?"),
        ("from mininet.net import Containernet; Containernet().addDocker('d1')", "dimage='debian:12'"),
        ("from mininet.net import Containernet; Containernet().addDocker('d1', dimage='x', dockerfile='y')", "build the image before"),
        ("import mininet.net; from mininet.topo import SingleSwitchTopo as T; mininet.net.Mininet(T(2)).start()", "not `vm`"),
    ],
)  # fmt: skip
def test_what_cannot_work_says_why(line: str, said: str) -> None:
    Path("script.py").write_text(line + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "netloom.mininet", "script.py"], capture_output=True, text=True, timeout=60,
        env={**os.environ, "NETLOOM_MININET_STACK": "vm"}, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and said in done.stderr, done.stderr


# Parts, without a lab


def test_a_pipe_is_shown_as_tc_shows_a_qdisc() -> None:
    dropped = {
        f"dropped_{why}_packets": number for why, number in (("queue", 3), ("early", 0), ("down", 0), ("loss", 1))
    }
    row = {
        "delay_ns": 2_500_000,
        "departed_bytes": 900,
        "departed_packets": 6,
        "queued_bytes": 3000,
        "queued_packets": 2,
        **dropped,
    }
    said = _tc.shown(row, "20 packets", True)
    assert "netem 10: parent 5:1 limit 20 delay 2.5ms\n" in said
    assert re.findall(r"backlog\s[^\s]+\s([\d]+)p", said) == ["2", "2"]
    assert said.count("Sent 900 bytes 6 pkt (dropped 4, overlimits 0 requeues 0)") == 2
    assert "backlog" not in _tc.shown(row, None, False)


def test_frr_s_group_is_wanted_by_its_daemons_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Group:
        gr_mem = ("frr",)

    monkeypatch.setattr(_frr.grp, "getgrnam", lambda _name: Group)
    assert _frr.wants_group("/usr/lib/frr/zebra -d -u root") and not _frr.wants_group("ping 10.0.0.1")
    Group.gr_mem = ("frr", "root")
    assert not _frr.wants_group("zebra")


def test_tc_at_a_port_is_a_change_of_its_pipe() -> None:
    def play(*commands: str) -> list[list[Any]]:
        chain: list[dict[str, Any]] = []
        for command in commands:
            chain = _tc.changed(chain, command.split())
        return _qdiscs.changes(chain)

    plain = [["rate", "unlimited"], ["queue", "1000 packets"]]
    nothing = [["delay", "0"], ["loss", "0"], ["duplicate", "0"], ["corrupt", "0"]]
    add = "qdisc add dev s1-eth2 root"
    assert play(f"{add} netem delay 50ms loss 1%") == [*plain, ["netem", "delay 50ms loss 1%"]]
    assert play(f"{add} netem delay 50ms", "qdisc change dev s1-eth2 root netem delay 80ms")[-1] == [
        "netem",
        "delay 80ms",
    ]
    assert play(f"{add} netem delay 50ms", "qdisc del dev s1-eth2 root") == [*plain, *nothing]
    assert play(f"{add} netem rate 1mbit limit 20") == [["netem", "rate 1mbit limit 20"]]
    assert play(f"{add} tbf rate 1mbit burst 15k latency 50ms") == [
        *nothing,
        ["tbf", "rate 1mbit burst 15k latency 50ms"],
    ]
    assert play(f"{add} pfifo limit 10")[1] == ["queue", "10 packets"]
    classes = (f"{add} handle 1: htb default 1", "class add dev s1-eth2 parent 1: classid 1:1 htb rate 10mbit")
    below = "qdisc add dev s1-eth2 parent 1:1 handle 10: netem delay 10ms"
    assert play(*classes, below) == [["rate", "10000000 bit/s"], plain[1], ["netem", "delay 10ms"]]
    for wrong in (
        (f"{add} netem delay 5ms", f"{add} codel"),
        ("qdisc change dev s1-eth2 root netem delay 5ms",),
        ("qdisc del dev s1-eth2 root",),
        (below,),
        (f"{add} sfq perturb 10",),
        (*classes, "class add dev s1-eth2 parent 1: classid 1:2 htb rate 1mbit"),
        ("filter add dev s1-eth2 protocol ip u32",),
        ("qdisc add dev s1-eth2 clsact",),
    ):
        with pytest.raises(_qdiscs.TcError):
            play(*wrong)


def test_what_tc_says_at_a_port_happens_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ports.py").write_text("""
import os, subprocess
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo
from mininet.link import TCLink
net = Mininet(topo=SingleSwitchTopo(2), link=TCLink)
net.start()
h1, h2, s1 = net.get('h1', 'h2', 's1')
def rtt(): return float(h1.cmd('ping -c 3 -i 0.2 %s | tail -1' % h2.IP()).split('=')[1].split('/')[0])
print('add', s1.cmd('tc qdisc add dev s1-eth2 root netem delay 50ms; echo $?').strip(), rtt() >= 50)
print('change', os.system('tc qdisc change dev s1-eth2 root netem delay 90ms'), rtt() >= 90)
print('shown', 'netem' in s1.cmd('tc qdisc show dev s1-eth2'))
print('replace', subprocess.run('tc qdisc replace dev s1-eth2 root fq_codel', shell=True).returncode, rtt() < 90)
print('red', os.system('tc qdisc replace dev s1-eth2 root red limit 400000 min 30000 max 90000 avpkt 1000 ecn'))
print('refused', os.system('tc qdisc replace dev s1-eth2 root sfq perturb 10 2> /dev/null') >> 8)
print('kind', s1.lab_kind())
net.stop()
""")
    done = subprocess.run(
        [sys.executable, "-m", "netloom.mininet", "ports.py"], capture_output=True, text=True, timeout=120, check=False
    )
    wanted = ["add 0 True", "change 0 True", "shown True", "replace 0 True", "red 0", "refused 2", "kind switch"]
    assert [line for line in done.stdout.splitlines() if line in wanted] == wanted, done.stdout + done.stderr


def test_scripts_leave_settings_of_this_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("ipv4/tcp_congestion_control", "ipv4/tcp_sack", "ipv4/ip_default_ttl", "ipv4/tcp_ecn")
    before = [Path("/proc/sys/net", name).read_text() for name in names]
    shared = Path("/proc/sys/kernel/pid_max").read_text()
    Path("settings.py").write_text("""
import os, subprocess
from mininet.net import Mininet
from mininet.node import Node
from mininet.topo import SingleSwitchTopo
from mininet.util import quietRun, errRun
print('system', os.system('sysctl -w net.ipv4.tcp_congestion_control=reno'))
print('quiet', quietRun('sysctl -w net.ipv4.tcp_sack=0').strip())
root = Node('root', inNamespace=False)
print('root', root.cmd('echo 77 > /proc/sys/net/ipv4/ip_default_ttl; sysctl net.ipv4.ip_default_ttl').split())
print('again', subprocess.check_output(['sysctl', '-n', 'net.ipv4.tcp_congestion_control'], text=True).strip())
print('shared', errRun('sysctl -w kernel.pid_max=99999')[2], 'stays as it is' in errRun('sysctl -w kernel.pid_max=99999')[1])
for way in (
    lambda: os.system('sudo sysctl -w net.ipv4.tcp_sack=1'), lambda: root.cmd('/sbin/sysctl -w net.ipv4.tcp_sack=1'),
    lambda: os.system('echo 1 > /proc/sys/net/ipv4/tcp_sack'), lambda: open('/proc/sys/net/ipv4/tcp_sack', 'w'),
):
    try: way()
    except Exception as error: print('refused', 'sysctl -w net' in str(error) or 'sysctl -w NAME' in str(error))
net = Mininet(topo=SingleSwitchTopo(2))
net.start()
print('host', net['h1'].cmd('cd /proc/sys/net/ipv4; cat tcp_congestion_control tcp_sack ip_default_ttl').split())
print('own', net['h1'].cmd('sysctl -w net.ipv4.tcp_ecn=1').strip(), net['h1'].cmd('cat /proc/sys/net/ipv4/tcp_ecn').strip())
net.stop()
""")
    done = subprocess.run(
        [sys.executable, "-m", "netloom.mininet", "settings.py"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "net.ipv4.tcp_congestion_control = reno",
        "system 0",
        "quiet net.ipv4.tcp_sack = 0",
        "root ['net.ipv4.ip_default_ttl', '=', '77']",
        "again reno",
        "shared 1 True",
        *["refused True"] * 4,
        "host ['reno', '0', '77']",
        "own net.ipv4.tcp_ecn = 1 1",
    ], done.stdout + done.stderr
    assert [Path("/proc/sys/net", name).read_text() for name in names] == before
    assert Path("/proc/sys/kernel/pid_max").read_text() == shared
