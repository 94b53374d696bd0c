"""A page is fetched again and again while a long flow fills the queue of a slow link, which pings and `tc` measure."""

import os
import re
import sys
import time
from argparse import ArgumentParser
from multiprocessing import Process
from subprocess import PIPE, Popen

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.topo import Topo
from mininet.util import dumpNodeConnections, waitListening

parser = ArgumentParser()
parser.add_argument("--maxq", type=int, default=100)
parser.add_argument("--time", type=int, default=6)
parser.add_argument("--cong", default="reno")
args = parser.parse_args()


class Bottleneck(Topo):
    def build(self):
        fast, slow, switch = self.addHost("h1"), self.addHost("h2"), self.addSwitch("s0")
        self.addLink(fast, switch, bw=1000, delay="2ms")
        self.addLink(slow, switch, bw=1.5, delay="2ms", max_queue_size=args.maxq)


def watch_queue(interface, path):
    waiting = re.compile(r"backlog\s[^\s]+\s([\d]+)p")
    with open(path, "w") as out:
        while True:
            said = Popen("tc -s qdisc show dev %s" % interface, shell=True, stdout=PIPE).stdout.read().decode()
            found = waiting.findall(said)
            if len(found) > 1:
                out.write("%f,%s\n" % (time.time(), found[1]))
                out.flush()
            time.sleep(0.1)


setLogLevel("info")
os.system("sysctl -w net.ipv4.tcp_congestion_control=%s >/dev/null" % args.cong)
net = Mininet(topo=Bottleneck(), link=TCLink)
net.start()
dumpNodeConnections(net.hosts)
net.pingAll()
h1, h2 = net.get("h1", "h2")
watcher = Process(target=watch_queue, args=("s0-eth2", "q.txt"))
watcher.start()
server = h2.popen("iperf -s -w 16m")
open("index.html", "w").write("x" * 20000)
web = h1.popen("%s -m http.server 80" % sys.executable)
waitListening(h1, h2, 5001)
waitListening(h2, h1, 80)
h1.popen("iperf -c %s -t %d -i 1" % (h2.IP(), args.time + 5), stdout=open("iperf.txt", "w"))
ping = h1.popen("ping -i 0.1 -c %d %s > ping.txt" % (args.time * 10, h2.IP()), shell=True)
took = []
end = time.time() + args.time
while time.time() < end:
    got = h2.popen("curl -o /dev/null -s -w %%{time_total} %s/index.html" % h1.IP()).communicate()[0].decode()
    took.append(float(got))
    time.sleep(0.5)
ping.wait()
watcher.terminate()
web.terminate()
net.stop()
rtts = [float(each) for each in re.findall(r"time=([\d.]+)", open("ping.txt").read())]
queue = [int(line.split(",")[1]) for line in open("q.txt")]
print(
    "RESULT fetches %d mean %.2f s, rtt max %.0f ms, queue max %d"
    % (len(took), sum(took) / len(took), max(rtts), max(queue))
)
