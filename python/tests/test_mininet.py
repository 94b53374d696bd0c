"""Scripts in Mininet's style, as they are, by `python -m netloom.mininet`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from netloom.mininet import _early, _hook
from netloom.mininet._shaping import direction_keys

_NO_SHAPE = {
    "bw": None, "delay": None, "jitter": None, "loss": None, "speedup": 0, "tbf": False, "latency_ms": None, "ecn": False,
    "red": False, "queue": None,
}  # fmt: skip


def mininet(*arguments: str, typed: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "netloom.mininet", *arguments], input=typed, capture_output=True, text=True, timeout=120,
        env={**os.environ, **variables}, check=False,
    )  # fmt: skip


def script(text: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    Path("script.py").write_text(text)
    done = mininet("script.py", *arguments, **variables)
    assert done.returncode == 0, done.stderr
    return done


def test_a_script_builds_a_network_and_measures_it() -> None:
    done = script("""
import sys
from mininet.topo import Topo
from mininet.net import Mininet
from mininet.link import TCLink
from mininet.util import dumpNodeConnections
from mininet.log import setLogLevel

class TwoSwitches(Topo):
    def build(self, n=2):
        left, right = self.addSwitch('s1'), self.addSwitch('s2')
        self.addLink(left, right, bw=50, delay='20ms', max_queue_size=200)
        for each in range(n):
            self.addLink(self.addHost('h%d' % (each + 1)), left if each % 2 else right)

setLogLevel('info')
net = Mininet(topo=TwoSwitches(n=2), link=TCLink)
net.start()
dumpNodeConnections(net.hosts)
assert net.pingAll() == 0
h1, h2 = net.get('h1', 'h2')
print('argument', sys.argv[1], h1.IP(), h2.IP(), h1.MAC() != h2.MAC())
_, _, results = net.pingPairFull()[0]
print('rtt', results[2])
print('cwd', h1.cmd('cd /tmp; x=5; pwd').strip(), h1.cmd('echo $x').strip())
h2.cmd('sleep 100 &')
assert h2.lastPid and h2.cmd('kill %%1; echo killed').strip().endswith('killed')
h1.sendCmd('ping', h2.IP())
said = ''
while 'icmp_seq=1' not in said:
    said += h1.monitor()
h1.sendInt()
assert 'packets transmitted' in h1.waitOutput()
process = h1.popen('sh -c "echo out; echo err >&2; exit 3"')
out, err = process.communicate()
print('popen', out, err, process.returncode)
net.configLinkStatus('s1', 'h2', 'down')
print('down', net.pingAll(timeout=1))
net.configLinkStatus('s1', 'h2', 'up')
print('up', net.pingAll())
net.stop()
""".replace("%%1", "%sleep"), "7")  # fmt: skip
    assert "argument 7 10.0.0.1 10.0.0.2 True" in done.stdout
    rtt = re.search(r"rtt ([\d.]+)", done.stdout)
    assert rtt and float(rtt[1]) >= 40.0
    assert "cwd /tmp 5" in done.stdout
    assert "popen b'out\\n' b'err\\n' 3" in done.stdout
    assert "down 100.0" in done.stdout and "up 0.0" in done.stdout
    assert "h1 h1-eth0:s2-eth2" in done.stderr
    assert "netloom: the network was" in done.stderr and "netloom: results are in" in done.stderr


def test_nodes_and_links_come_and_go_while_the_network_is_up() -> None:
    done = script("""
from mininet.net import Mininet
net = Mininet()
net.addController('c0')
h1, s1 = net.addHost('h1'), net.addSwitch('s1')
net.addLink(h1, s1)
print('early', h1.cmd('echo before the start').strip())
h1.cmd('sysctl -w net.ipv4.ip_forward=1')
net.start()
h1.cmd('ip route add 192.0.2.0/24 dev h1-eth0; cd /tmp')
h2 = net.addHost('h2', ip='10.0.0.9/8')
link = net.addLink(h2, s1)
h2.configDefault()
print('lost', min(net.pingAll() for _ in range(3)))
print('kept', h1.cmd('pwd; cat /proc/sys/net/ipv4/ip_forward; ip route show 192.0.2.0/24').split())
net.delLink(link)
print('gone', 'h2-eth0' in h2.cmd('ip link'))
h1.cmd('sleep 50 &')
try:
    net.addLink(h2, s1)
    net.pingAll()
except Exception as error:
    print('refused', error)
net.stop()
""")
    assert "early before the start" in done.stdout
    assert "lost 0.0" in done.stdout
    assert "kept ['/tmp', '1', '192.0.2.0/24', 'dev', 'h1-eth0', 'scope', 'link']" in done.stdout
    assert "gone False" in done.stdout
    assert "refused netloom: nodes and links cannot change now: `sleep 50` runs in h1" in done.stdout


def test_a_job_that_is_no_program_of_its_own_is_not_lost() -> None:
    done = script("""
from mininet.net import Mininet
net = Mininet()
h1, h2, s1 = net.addHost('h1'), net.addHost('h2'), net.addSwitch('s1')
net.addLink(h1, s1)
net.start()
h1.cmd('mkfifo waits; (read line < waits) &')
try:
    net.addLink(h2, s1)
    net.pingAll()
except Exception as error:
    print('refused', error)
net.stop()
""")
    assert "refused netloom: nodes and links cannot change now: `a job of the shell` runs in h1" in done.stdout


def test_a_router_two_ways_out_and_folders_of_a_host_s_own(tmp_path: Path) -> None:
    done = script(f"""
from mininet.net import Mininet
from mininet.node import Node, Host
from mininet.nodelib import NAT
from mininet.topo import Topo

class LinuxRouter(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd('sysctl net.ipv4.ip_forward=1')
    def terminate(self):
        self.cmd('sysctl net.ipv4.ip_forward=0')
        super().terminate()

class Net(Topo):
    def build(self):
        r = self.addNode('r0', cls=LinuxRouter, ip='192.168.1.1/24')
        a = self.addHost('a', ip='192.168.1.2/24', defaultRoute='via 192.168.1.1', privateDirs=[('/mnt', '{tmp_path}/%(name)s')])
        b = self.addHost('b', ip='172.16.0.2/12', defaultRoute='via 172.16.0.1')
        self.addLink(a, r, intfName2='r0-eth1', params2={{'ip': '192.168.1.1/24'}})
        self.addLink(b, r, intfName2='r0-eth2', params2={{'ip': '172.16.0.1/12'}})

net = Mininet(topo=Net(), controller=None)
net.start()
print('lost', net.ping([net['a'], net['b']]))
net['a'].cmd('echo own > /mnt/file')
net.stop()
""")
    assert "lost 0.0" in done.stdout
    assert (tmp_path / "a" / "file").read_text() == "own\n"


def test_the_command_line_knows_nodes_and_substitutes_addresses() -> None:
    typed = (
        "nodes\nnet\nh1 ping -c1 h2\npy h1.IP()\nlink s1 h1 down\nh1 ping -c1 -W1 h2\nxterm h1\nh9 ls\npingal\nexit\n"
    )
    done = mininet("mn", "--topo", "single,2", "--mac", typed=typed)
    said = done.stderr
    assert done.returncode == 0, said
    assert "available nodes are: \nc0 h1 h2 s1" in said
    assert "h1 h1-eth0:s1-eth1" in said
    assert "1 received, 0% packet loss" in said
    assert "10.0.0.1" in said
    assert "unreachable" in said
    assert "opens no windows" in said
    assert "did you mean `pingall`?" in said
    assert "completed in" in said


def test_mn_runs_tests_and_files_of_one_s_own() -> None:
    Path("own.py").write_text(
        "from mininet.topo import Topo\n"
        "class My(Topo):\n"
        "    def build(self, n=1):\n"
        "        s = self.addSwitch('s1')\n"
        "        for i in range(n): self.addLink(self.addHost('h%d' % (i + 1)), s)\n"
        "topos = {'mine': My}\n"
        "tests = {'mytest': lambda net: print('own test with', len(net.hosts), 'hosts')}\n"
    )
    done = mininet("mn", "--custom", "own.py", "--topo", "mine,3", "--test", "pingall+mytest")
    assert done.returncode == 0, done.stderr
    assert "0% dropped (6/6 received)" in done.stderr
    assert "own test with 3 hosts" in done.stdout


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["mn", "--topo", "tre,2"], "did you mean `tree`?"),
        (["mn", "--switch", "ovsx"], "ovsx is unknown"),
        (["mn", "-x"], "opens no windows"),
        (["mn", "--topo", "torus,3,3"], "stp"),
        (["mn", "--link", "tc,bw=-1"], "bw=-1"),
        (["nowhere.py"], "there is no script nowhere.py"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], said: str) -> None:
    done = mininet(*arguments)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_calls_that_do_not_exist_name_the_nearest_one() -> None:
    done = script("""
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo
net = Mininet(SingleSwitchTopo(2))
for wrong in (lambda: net.pingall(), lambda: net['h1'].sendcmd('ls'), lambda: net['h3'], lambda: __import__('mininet.nods')):
    try:
        wrong()
    except Exception as error:
        print(error)
""")
    for said in (
        "no `pingall`: did you mean `pingAll`?",
        "no `sendcmd`: did you mean `sendCmd`?",
        "no node is called `h3`: there are",
        "did you mean `node`?",
    ):
        assert said in done.stdout


def test_open_vswitch_takes_over_when_flows_are_asked_for() -> None:
    done = script("""
from mininet.net import Mininet
from mininet.node import OVSSwitch, RemoteController
from mininet.topo import LinearTopo
net = Mininet(LinearTopo(2))
net.start()
print('engine', net.pingAll())
print(net['s1'].dpctl('show').count('s1-eth'))
print('flows', net.pingAll())
print('actions' in net['s2'].dpctl('dump-flows'))
net.stop()
net = Mininet(LinearTopo(2), controller=None)
net.start()
print('secure', net.pingAll(timeout=1))
for switch in net.switches:
    switch.cmd('ovs-ofctl add-flow', switch, 'actions=flood')
for host in net.hosts:
    host.cmd('ip neigh flush all')
print('flood', net.pingAll())
net.stop()
""")
    assert done.stdout.split("\n")[:-1] == ["engine 0.0", "2", "flows 0.0", "True", "secure 100.0", "flood 0.0"]


def test_a_controller_of_this_machine_is_reached() -> None:
    done = script("""
import socket, threading
from mininet.net import Mininet
from mininet.node import RemoteController
from mininet.topo import LinearTopo
from netloom.mininet._learning import Learner

server = socket.create_server(('127.0.0.1', 0))
switches = []
def serve():
    while True:
        connection = server.accept()[0]
        switches.append(connection)
        threading.Thread(target=Learner(connection).run, daemon=True).start()
threading.Thread(target=serve, daemon=True).start()
port = server.getsockname()[1]
net = Mininet(LinearTopo(2), controller=lambda name: RemoteController(name, ip='127.0.0.1', port=port), waitConnected=True)
net.start()
print('lost', net.pingAll())
# One more has only looked whether somebody listens.
print('connections', len(switches) >= 3, net['s2'].cmd('ovs-vsctl get-controller s2').strip() == 'tcp:127.0.0.1:%d' % port)
net.stop()
""")
    assert "lost 0.0" in done.stdout and "connections True True" in done.stdout


def test_nothing_is_left_behind_when_a_script_is_killed() -> None:
    Path("script.py").write_text("""
import os, sys
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo
net = Mininet(SingleSwitchTopo(2))
net.start()
net['h1'].cmd('sleep 1000 &')
print(net.fabric.live.name, flush=True)
os.kill(os.getpid(), 9)
""")
    done = mininet("script.py")
    name = done.stdout.strip()
    assert name.startswith("mn-script-")
    for _ in range(100):
        up = subprocess.run([os.environ["NETLOOM"], "ps", "--json"], capture_output=True, text=True, check=True).stdout
        if name not in up:
            break
        subprocess.run(["sleep", "0.1"], check=True)
    assert name not in up


# Parts, without a lab


def test_shapes_are_keys_of_a_lab_file() -> None:
    def keys(**given: object) -> dict[str, object]:
        return direction_keys("h1-eth0", **{**_NO_SHAPE, **given})  # type: ignore[arg-type]

    assert keys() == {}
    assert keys(bw=10, delay="5ms", loss=1, queue=100) == {
        "rate": "10000000 bit/s", "queue": "100 packets", "delay": "5000000 ns", "loss": "1 %",
    }  # fmt: skip
    assert keys(bw=2500.5)["rate"] == "2500500000 bit/s"
    assert keys(delay=250) == {"delay": "250000 ns"}
    assert keys(delay="10ms", jitter="2ms")["delay"] == {"kind": "uniform", "from": "8000000 ns", "to": "12000000 ns"}
    # Beside a burst of 15 kB, which takes 120 ms at 1 Mbit/s; without a latency as long again.
    assert keys(bw=1, tbf=True, latency_ms=25)["queue"] == "145000000 ns"
    assert keys(bw=1, tbf=True)["queue"] == "240000000 ns"
    assert keys(bw=10, tbf=True)["queue"] == "24000000 ns"
    red = keys(bw=1, ecn=True)["queue"]
    assert isinstance(red, dict) and red["ecn"] is True and red["weight"] == "50 %" and red["hard_drop"] is False
    both = keys(bw=1, ecn=True, queue=200)["queue"]
    assert both == {**red, "limit": "300000 B"}, "netem's queue is below RED"
    assert keys(bw=1, red=True, queue=5)["queue"] == {**red, "ecn": False, "limit": "35000 B"}
    assert keys(bw=1, tbf=True, queue=20)["queue"] == "20 packets"
    for wrong in (
        {"bw": 0},
        {"bw": "fast"},
        {"delay": "5 minutes"},
        {"loss": 101},
        {"queue": -1},
        {"bw": float("nan")},
    ):
        with pytest.raises(Exception, match="h1-eth0"):
            keys(**wrong)


@pytest.mark.parametrize(
    "command, said",
    [
        ("sysctl -w net.ipv4.ip_forward=1", "net.ipv4.ip_forward = 1\r\n"),
        ("ip route add 10.9.0.0/16 via 10.0.0.1", ""),
        ("ifconfig h1-eth0 10.0.0.1 netmask 255.0.0.0", ""),
        ("iptables -t nat -A POSTROUTING -j MASQUERADE", ""),
        ("mkdir -p /tmp/x && cd /tmp/x", ""),
        ("ls", None),
        ("ifconfig", None),
        ("ip addr show", None),
        ("iperf -s &", None),
        ("ip route add 10.9.0.0/16 via $(cat gateway)", None),
    ],
)
def test_what_can_wait_for_the_network(command: str, said: str | None) -> None:
    assert _early.predicted(command) == said


def test_processes_and_addresses_are_those_that_a_script_means() -> None:
    done = script("""
import os, signal, time
from mininet.net import Mininet
from mininet.node import RemoteController
from mininet.topo import SingleSwitchTopo
net = Mininet(topo=SingleSwitchTopo(2), controller=lambda name: RemoteController(name, ip='nowhere.invalid', port=6633))
h1, h2 = net.get('h1', 'h2')
h1.setIP('192.168.1.1', 24)
net.start()
print('addresses', h1.cmd("ip -4 -o addr show scope global | awk '{print $4}'").split())
print('job', repr(h1.cmd('sleep 77 &')))
process = int(h1.cmd('echo $!'))
print('stranger', os.path.exists('/proc/%d' % process), 'same', process == h1.lastPid)
os.kill(process, signal.SIGKILL)
h1.cmd('wait')
print('ended', h1.cmd('kill -0 %d 2>/dev/null; echo $?' % process).strip())
other = h2.popen('sleep 100')
os.killpg(os.getpgid(other.pid), signal.SIGTERM)
other.wait()
# What has ended already gives another prompt.
for _ in range(3):
    h2.sendCmd('true')
    h2.waitOutput()
    h2.sendInt()
    print('answer', h2.cmd('echo A').strip(), h2.cmd('echo B').strip())
net.stop()
print('after', repr(h1.cmd('ls')))
""")
    assert "addresses ['192.168.1.1/24']" in done.stdout
    assert "job ''" in done.stdout
    assert "stranger False same True" in done.stdout
    assert "ended 1" in done.stdout
    assert done.stdout.count("answer A B") == 3
    assert done.stdout.endswith("after ''\n")
    assert "(h1 exited - ignoring cmd('ls',))" in done.stderr + done.stdout
    assert "nowhere.invalid:6633" in done.stderr + done.stdout


def test_two_ways_out_are_one_machine() -> None:
    done = script("""
from mininet.net import Mininet
net = Mininet(controller=None)
for i in (1, 2):
    switch = net.addSwitch('s%d' % i, failMode='standalone')
    net.addLink(net.addHost('h%d' % i, ip='10.%d.0.1/24' % i), switch)
    net.addNAT(name='nat%d' % i, connect=switch, ip='10.%d.0.254/24' % i).configDefault()
net.start()
for i in (1, 2):
    print('way', net['h%d' % i].cmd('ip route show default').split()[2], net['h%d' % i].cmd('ping -c 1 -W 5 10.%d.0.254 | grep -c 1.received' % i).strip())
net.stop()
""")
    assert "way 10.1.0.254 1" in done.stdout and "way 10.2.0.254 1" in done.stdout


def test_a_script_of_python_2_gets_one_sentence() -> None:
    Path("old.py").write_text('from mininet.net import Mininet\nprint "hello"\n')
    done = mininet("old.py")
    assert done.returncode == 1 and "written for Python 2" in done.stderr and "line 2" in done.stderr
    assert "Traceback" not in done.stderr
    Path("wrong.py").write_text("print('x'\n")
    assert "SyntaxError" in mininet("wrong.py").stderr


def test_modules_have_the_names_that_mininet_has_there() -> None:
    done = script("""
from mininet.net import Mininet, CLI, Node, quietRun, waitListening
from mininet.node import Intf, TCIntf, OVSIntf, Link, errRun, moveIntf, sleep
from mininet.util import StrictVersion
from mininet.cli import dumpNodeConnections
from mininet.log import Logger
assert StrictVersion('2.9.1') < StrictVersion('2.17.0') and StrictVersion('3.0') == '3.0'
try:
    import mininet.net
    mininet.net.Mininett
except AttributeError as error:
    print(error)
""")
    assert "did you mean `Mininet`?" in done.stdout


def test_the_hook_gives_the_same_modules_under_both_names() -> None:
    done = script("""
import mininet.node, netloom.mininet.node
assert mininet.node.Host is netloom.mininet.node.Host
from mininet.node import OVSKernelSwitch, UserSwitch, IVSSwitch, OVSBridge, LinuxBridge, NAT, CPULimitedHost, Ryu
import subprocess, sys
print(subprocess.run([sys.executable, '-c', 'import mininet.net; print(mininet.net.VERSION)'], capture_output=True, text=True).stdout)
""")
    assert "2.3.0" in done.stdout
    assert _hook.Finder().find_spec("os") is None


def test_the_program_itself_runs_scripts() -> None:
    arguments = [os.environ["NETLOOM"], "mn", "--test", "none"]
    done = subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "NETLOOM_PYTHON": sys.executable},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "completed in" in done.stderr
    Path("script.py").write_text("import mininet.net, sys\nprint(mininet.net.VERSION, sys.argv[1:])\n")
    done = subprocess.run(
        [os.environ["NETLOOM"], "mininet", "script.py", "--help"], capture_output=True, text=True, timeout=60,
        env={**os.environ, "NETLOOM_PYTHON": sys.executable}, check=False,
    )  # fmt: skip
    assert done.stdout == "2.3.0 ['--help']\n", done.stderr
    done = subprocess.run(
        [os.environ["NETLOOM"], "mn"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "NETLOOM_PYTHON": "/nowhere"},
        check=False,
    )
    assert done.returncode == 2 and "NETLOOM_PYTHON names another interpreter" in done.stderr
