"""Scripts in Mininet-WiFi's style, as they are, by `python -m netloom.mininet`."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from test_mininet import mininet, script

from netloom.mininet._clear import Unsupported
from netloom.mn_wifi import _iw, _motion, _signals


def test_stations_reach_what_their_signals_reach() -> None:
    done = script("""
from mininet.log import setLogLevel
from mn_wifi.net import Mininet_wifi
from mn_wifi.link import wmediumd
from mn_wifi.wmediumdConnector import interference

setLogLevel('info')
net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
sta1 = net.addStation('sta1', mac='00:00:00:00:00:02', position='30,60,0')
sta2 = net.addStation('sta2', position='70,30,0')
far = net.addStation('sta3', position='500,30,0')
ap1 = net.addAccessPoint('ap1', ssid='new-ssid', mode='g', channel='1', failMode='standalone',
                         mac='00:00:00:00:00:01', position='50,50,0')
h1 = net.addHost('h1')
net.setPropagationModel(model='logDistance', exp=4)
net.configureNodes()
net.addLink(ap1, h1, delay='5ms')
net.plotGraph(max_x=100, max_y=100)
net.build()
ap1.start([])
print('near', net.ping([sta1, sta2, h1]), 'far', net.ping([sta1, far], timeout=1))
print('link', sta1.cmd('iw dev sta1-wlan0 link').split())
print('far', far.cmd('iw dev sta3-wlan0 link').strip())
print('signal', sta1.cmd("sudo iw dev sta1-wlan0 link | grep signal | awk '{print $2}'").strip())
print('scan', sta1.cmd('iw dev sta1-wlan0 scan | grep SSID; echo end').split())
print('clients', ap1.cmd('iw dev ap1-wlan1 station dump | grep -c Station').strip(), ap1.wintfs[0].associatedStations)
print('popen', sta1.pexec('iw', 'dev', 'sta1-wlan0', 'info')[0].split()[1])
print('wrong', sta1.cmd('iw dev sta1-wlan9 link; echo $?').split()[-1])
print('iwconfig', 'ESSID:"new-ssid"' in sta1.cmd('iwconfig sta1-wlan0'))
net.get_distance('sta1', 'sta2')
far.setPosition('60,50,0')
print('moved', net.ping([sta1, far], timeout=2), far.wintfs[0].rssi)
net.configLinkStatus('sta1', 'ap1', 'down')
print('down', net.ping([sta1, sta2], timeout=1))
net.stop()
""")
    assert "near 0.0 far 100.0" in done.stdout
    link = re.search(r"link \[(.*)\]", done.stdout)
    assert (
        link and "'00:00:00:00:00:01', '(on', 'sta1-wlan0)', 'SSID:', 'new-ssid', 'freq:', '2412', 'signal:'" in link[1]
    )
    assert "far Not connected." in done.stdout
    # 14 dBm and twice 5 dB, less 40.1 dB at a metre and 40 dB for each tenfold distance, which is 22.36 m.
    assert "signal -70" in done.stdout
    assert "scan ['SSID:', 'new-ssid', 'end']" in done.stdout
    assert "clients 2 [<WirelessIntf sta1-wlan0>, <WirelessIntf sta2-wlan0>, <WirelessIntf sta3-wlan0>]" in done.stdout
    assert "popen sta1-wlan0" in done.stdout and "wrong 237" in done.stdout and "iwconfig True" in done.stdout
    assert "The distance between sta1 and sta2 is 50.00 meters" in done.stdout + done.stderr
    assert "moved 0.0 -56.1" in done.stdout and "down 100.0" in done.stdout
    drawn = Path("results/script-map.svg").read_text()
    assert drawn.count("<text") == 4 and 'cx="240.0" cy="320.0"' in drawn


def test_stations_leave_and_return_on_their_ways() -> None:
    done = script("""
import time
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
sta1 = net.addStation('sta1')
sta2 = net.addStation('sta2', position='12,10,0')
ap1 = net.addAccessPoint('ap1', mode='a', channel='36', failMode='standalone', position='10,10,0')
net.setPropagationModel(model='logDistance', exp=4)
net.configureNodes()
net.startMobility(time=0, mob_rep=2, reverse=True)
net.mobility(sta1, 'start', time=1, position='15,10,0')
net.mobility(sta1, 'stop', time=3, position='400,10,0')
net.stopMobility(time=5)
net.build()
ap1.start([])
print('begin', net.ping([sta1, sta2]), round(sta1.position[0]))
time.sleep(max(0, 3.5 - net.elapsed()))
print('away', net.ping([sta1, sta2], timeout=1), sta1.position)
time.sleep(max(0, 8.5 - net.elapsed()))
print('back', net.ping([sta1, sta2], timeout=1), sta1.position)
net.stop()
""")
    assert "begin 0.0 15" in done.stdout
    assert "away 100.0 (400.0, 10.0, 0.0)" in done.stdout
    assert "back 0.0 (15.0, 10.0, 0.0)" in done.stdout


def test_stations_send_to_one_another_and_errors_are_those_of_the_script() -> None:
    done = script("""
from mn_wifi.net import Mininet_wifi
from mn_wifi.link import wmediumd, adhoc
from mn_wifi.wmediumdConnector import error_prob
net = Mininet_wifi(link=wmediumd, wmediumd_mode=error_prob)
sta1 = net.addStation('sta1', wlans=2)
sta2 = net.addStation('sta2', wlans=2)
ap1 = net.addAccessPoint('ap1', failMode='standalone')
net.configureWifiNodes()
net.addLink(sta1, ap1, error_prob=0.01)
net.addLink(ap1, sta2, error_prob=1)
net.addLink(sta1, cls=adhoc, intf='sta1-wlan1', ssid='direct', channel=5)
net.addLink(sta2, cls=adhoc, intf='sta2-wlan1', ssid='direct', channel=5)
net.build()
ap1.start([])
sta1.setIP('192.168.9.1/24', intf='sta1-wlan1')
sta2.setIP('192.168.9.2/24', intf='sta2-wlan1')
print('by ap', net.ping([sta1, sta2], timeout=1))
print('direct', ' 0% packet loss' in sta1.cmd('ping -c2 -i0.2 192.168.9.2'))
print('kinds', sta1.cmd('iw dev sta1-wlan1 info | grep type').split(), sta1.wintfs[1].ssid)
net.stop()
""")
    assert (
        "by ap 100.0" in done.stdout and "direct True" in done.stdout and "kinds ['type', 'IBSS'] direct" in done.stdout
    )


def test_topologies_have_stations_and_the_command_line_knows_them() -> None:
    Path("script.py").write_text("""
from mn_wifi.net import Mininet_wifi
from mn_wifi.topo import Topo
from mn_wifi.cli import CLI
class One(Topo):
    def build(self):
        ap = self.addAccessPoint('ap1', ssid='one', failMode='standalone')
        self.addLink(self.addSwitch('s1', failMode='standalone'), ap)
        for each in range(2):
            self.addLink(self.addStation('sta%d' % (each + 1)), ap)
        self.addLink(self.addHost('h1'), 's1')
net = Mininet_wifi(topo=One())
net.start()
CLI(net)
net.stop()
""")
    done = mininet("script.py", typed="pingall\nsta1 iw dev sta1-wlan0 link | head -2\nstop\ndistance sta1\n")
    assert done.returncode == 0, done.stderr
    assert "*** Results: 0% dropped (6/6 received)" in done.stdout + done.stderr
    assert "SSID: one" in done.stdout + done.stderr
    assert "stop_simulation() cannot work here" in done.stderr and "invalid number of args: distance" in done.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("net.setPropagationModel(model='logdistance')", "there are friis, logDistance"),
        ("net.addAccessPoint('ap1', mode='be')", "mode='be' of ap1 cannot work here"),
        ("net.addAccessPoint('ap1', vssids=['a,b'])", "vssids of ap1 cannot work here"),
        ("net.addSensor('s')", "no sensors of 802.15.4"),
        ("net.addLink(net.addStation('a'), cls=ITSLink, intf='a-wlan0')", "not 802.11p"),
        ("net.addLink(net.addStation('a'), cls=adhoc, intf='a-wlan0', proto='olsrd')", "Netloom starts no routing daemon"),
        ("net.addStation('a'); net.setMobilityModel(model='CRP'); net.build()", "nodes do not follow others here"),
        ("net.useExternalProgram(program=print)", "SUMO does not run beside a lab"),
        ("import mn_wifi.sumo", "No module named 'mn_wifi.sumo'"),
        ("[net.addLink(net.addStation(n, position=p), cls=mesh, intf=n + '-wlan0', ssid='m') for n, p in "
         "(('a', '0,0'), ('b', '900,0'))]; net.build(); net.fabric.ensure()", "the mesh `m` cannot work here"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_with_a_reason(line: str, said: str) -> None:
    Path("script.py").write_text(
        f"from mn_wifi.net import Mininet_wifi\nfrom mn_wifi.link import ITSLink, adhoc, mesh\nnet = Mininet_wifi()\n{line}\n"
    )
    done = mininet("script.py")
    assert done.returncode == 1 and said in done.stderr, done.stderr


def test_losses_ranges_and_powers_agree() -> None:
    for model in ("friis", "logDistance", "ITU", "twoRayGround"):
        propagation = _signals.Propagation.of(-91, {"model": model, "exp": 3.5})
        hertz = _signals.Channel("g", 1).hertz
        reach = propagation.range_of(14, 10, hertz)
        assert math.isclose(propagation.power_for(reach, 10, hertz), 14, abs_tol=1e-6), model
    assert _signals.channel_of("ap1", "g", 36, 20)[0].number == 1
    assert _signals.channel_of("ap1", "ac", "36", 80)[0] == _signals.Channel("ac", 36, 80)
    channel, note = _signals.channel_of("ap1", "ax", "21", 20)
    assert channel.number == 36 and "channel 21 is none of mode ax" in note
    keys = _signals.Propagation(exp=4).lab_keys(2.412e9)
    assert keys["loss"] == {"kind": "log-distance", "exponent": 4, "reference": "40.0953 dB"}


@pytest.mark.parametrize(
    "model", ["RandomWalk", "RandomDirection", "RandomWayPoint", "GaussMarkov", "TruncatedLevyWalk"]
)
def test_drawn_ways_stay_within_their_area_and_repeat(model: str) -> None:
    area = _motion.Area(10, 50, 30, 70, 1, 2, 0, 1)
    way = _motion.drawn(model, "sta1", 20, area, 5, None, {})
    assert way.points == _motion.drawn(model, "sta1", 20, area, 5, None, {}).points
    assert way.points != _motion.drawn(model, "sta2", 20, area, 5, None, {}).points
    assert way.points[0][0] == 5 and way.points[-1][0] > _motion.SPAN
    assert all(10 <= x <= 30 and 50 <= y <= 70 for _, (x, y, _) in way.points)
    path = way.lab_path(100)
    instants = [int(str(point["at"]).split()[0]) for point in path]
    assert instants[0] == 0 and all(a < b for a, b in zip(instants, instants[1:]))


def test_a_way_along_places_has_one_speed() -> None:
    places = [(0.0, 0.0, 0.0), (10.0, 0.0, 0.0), (10.0, 30.0, 0.0)]
    way = _motion.way_of_leg("sta1", _motion.Leg(start=2, stop=6), places, 1, False, 8)
    assert [way.at(seconds) for seconds in (0, 3, 4, 9)] == [
        (0, 0, 0), (10, 0, 0), (10, 10, 0), (10, 30, 0),
    ]  # fmt: skip
    with pytest.raises(Exception, match="wants a position at its 'start'"):
        _motion.way_of_leg("sta1", _motion.Leg(start=2, stop=6), [], 1, False, 8)


def test_only_calls_of_iw_are_answered() -> None:
    class Nobody:
        wintfs: dict[int, Any] = {}

    for command in ("ping -c1 10.0.0.1", "echo iw", "ls /usr/sbin/iw", "tiwtest; wiw x"):
        assert _iw.answered(command, Nobody()) == command
    assert _iw.answered("iw dev x link", Nobody()).endswith("(exit 237); }")
    with pytest.raises(Unsupported):
        _signals.channel_of("ap1", "ad", 1, 20)


def test_a_station_on_its_way_goes_to_the_next_access_point() -> None:
    done = script("""
import re, time
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
sta1 = net.addStation('sta1', range=20)
sta2 = net.addStation('sta2', position='12,30,0', range=20)
ap1 = net.addAccessPoint('ap1', ssid='ssid-ap1', mode='g', channel='1', failMode='standalone', position='15,30,0', range=30,
                         mac='00:00:00:00:00:11')
ap2 = net.addAccessPoint('ap2', ssid='ssid-ap2', mode='g', channel='6', failMode='standalone', position='55,30,0', range=30,
                         mac='00:00:00:00:00:12')
net.setPropagationModel(model='logDistance', exp=4.5)
net.configureNodes()
net.addLink(ap1, ap2)
net.startMobility(time=0)
net.mobility(sta1, 'start', time=2, position='10,30,0')
net.mobility(sta1, 'stop', time=6, position='60,30,0')
net.stopMobility(time=7)
net.build()
ap1.start([]); ap2.start([])
def at():
    found = re.search('Connected to (..:..:..:..:..:..)', sta1.cmd('iw dev sta1-wlan0 link'))
    return found and found[1][-2:]
print('before', at(), net.ping([sta1, sta2], timeout=1), len(ap1.wintfs[0].associatedStations))
time.sleep(max(0, 7.5 - net.elapsed()))
print('after', at(), net.ping([sta1, sta2], timeout=1), ap2.wintfs[0].associatedStations)
net.stop()
""")
    assert "before 11 0.0 2" in done.stdout
    assert "after 12 0.0 [<WirelessIntf sta1-wlan0>]" in done.stdout
