"""Two hosts with two paths between them: a transfer by Multipath TCP uses both."""

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.topo import Topo


class TwoPaths(Topo):
    def build(self):
        a, b = self.addHost("h1"), self.addHost("h2")
        for number in (1, 2):
            switch = self.addSwitch("s%d" % number)
            self.addLink(a, switch, bw=10, delay="5ms", max_queue_size=100)
            self.addLink(b, switch, bw=10, delay="5ms", max_queue_size=100)


SERVER = """
import socket, time
server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("", 5000)); server.listen()
print("listens", flush=True)
connection, _ = server.accept()
got, begun = 0, time.time()
while True:
    data = connection.recv(1 << 16)
    if not data: break
    got += len(data)
print("%.2f Mbit/s" % (got * 8 / (time.time() - begun) / 1e6), flush=True)
"""
CLIENT = """
import socket, sys, time
client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
client.connect(("10.0.1.2", 5000))
end = time.time() + 5
while time.time() < end: client.send(b"x" * 65536)
"""
open("server.py", "w").write(SERVER)
open("client.py", "w").write(CLIENT)
net = Mininet(topo=TwoPaths(), link=TCLink)
net.start()
h1, h2 = net.get("h1", "h2")
for number in (0, 1):
    h1.setIP("10.0.%d.1/24" % (number + 1), intf="h1-eth%d" % number)
    h2.setIP("10.0.%d.2/24" % (number + 1), intf="h2-eth%d" % number)
for host in (h1, h2):
    print(host.cmd("sysctl -w net.mptcp.enabled=1").strip())
    host.cmd("ip mptcp limits set subflow 2 add_addr_accepted 2")
h1.cmd("ip route add default via 10.0.1.2 dev h1-eth0 table 1; ip rule add from 10.0.1.1 table 1")
h1.cmd("ip mptcp endpoint add 10.0.2.1 dev h1-eth1 subflow")
h2.cmd("ip mptcp endpoint add 10.0.2.2 dev h2-eth1 signal")
print(h1.cmd("ip mptcp endpoint show"))
server = h2.popen("python3 server.py")
server.stdout.readline()
h1.cmd("python3 client.py")
print("RESULT", server.communicate()[0].decode().strip())
net.stop()
