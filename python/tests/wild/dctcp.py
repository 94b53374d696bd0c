"""Flows of a star join one after the other, with marking at the switch: throughputs, Jain's index, and the queue."""

import re
import sys
import time
from subprocess import PIPE, Popen

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.topo import Topo
from mininet.util import waitListening

CONG = sys.argv[1] if len(sys.argv) > 1 else "dctcp"
N = 3


class Star(Topo):
    def build(self, n=N):
        switch = self.addSwitch("s1")
        for i in range(n + 1):
            self.addLink(self.addHost("h%d" % i), switch, bw=20, delay="1ms", max_queue_size=200, enable_ecn=True)


net = Mininet(topo=Star(), link=TCLink)
net.start()
for host in net.hosts:
    print(host.cmd("sysctl -w net.ipv4.tcp_ecn=1 net.ipv4.tcp_congestion_control=%s" % CONG).strip())
receiver = net["h0"]
server = receiver.popen("iperf -s")
waitListening(net["h1"], receiver, 5001)
clients = []
for i in range(1, N + 1):
    clients.append(net["h%d" % i].popen("iperf -c %s -t %d -f k" % (receiver.IP(), 8 - i)))
    time.sleep(1)
seen = []
for _ in range(20):
    said = Popen("tc -s qdisc show dev s1-eth1", shell=True, stdout=PIPE).communicate()[0].decode()
    seen.append(int(re.findall(r"backlog \S+ (\d+)p", said)[-1]))
    time.sleep(0.1)
rates = []
for client in clients:
    said = client.communicate()[0].decode()
    print(said)
    rates.append(float(re.findall(r"([\d.]+) Kbits/sec", said)[-1]))
server.terminate()
net.stop()
jain = sum(rates) ** 2 / (len(rates) * sum(r * r for r in rates))
print(
    "RESULT",
    [round(r) for r in rates],
    "jain %.3f" % jain,
    "queue mean %.1f max %d" % (sum(seen) / len(seen), max(seen)),
)
