"""Three routers of FRR in a line find routes by OSPF, as scripts for IP networks start them: configuration files of their own, daemons as root."""

import os
import time

from mininet.net import Mininet
from mininet.node import Node

DAEMONS = "/usr/lib/frr"
folder = os.getcwd()


class Router(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl -w net.ipv4.ip_forward=1")

    def start(self):
        for daemon, lines in (("zebra", ""), ("ospfd", "router ospf\n network 10.0.0.0/8 area 0\n")):
            base = "%s/%s_%s" % (folder, daemon, self.name)
            with open(base + ".cfg", "w") as file:
                file.write(
                    "hostname %s\n%s%s"
                    % (self.name, self.params.get("interfaces", "") if daemon == "ospfd" else "", lines)
                )
            print(
                self.cmd(
                    "%s/%s -d -f %s.cfg -A 127.0.0.1 -i %s.pid -z %s/zebra_%s.api -u root --vty_socket %s/vty_%s 2>&1"
                    % (DAEMONS, daemon, base, base, folder, self.name, folder, self.name)
                )
            )


net = Mininet(controller=None)
hello = "".join(
    "interface r%%d-eth%d\n ip ospf hello-interval 1\n ip ospf dead-interval 3\n ip ospf network point-to-point\n" % i
    for i in (0, 1)
)
routers = [net.addHost("r%d" % i, cls=Router, ip=None, interfaces=hello % (i, i)) for i in (1, 2, 3)]
for router in routers:
    os.makedirs("%s/vty_%s" % (folder, router.name), exist_ok=True)
a = net.addHost("a", ip="10.1.0.2/24", defaultRoute="via 10.1.0.1")
b = net.addHost("b", ip="10.3.0.2/24", defaultRoute="via 10.3.0.1")
net.addLink(a, routers[0], params2={"ip": "10.1.0.1/24"})
net.addLink(routers[0], routers[1], params1={"ip": "10.12.0.1/24"}, params2={"ip": "10.12.0.2/24"})
net.addLink(routers[1], routers[2], params1={"ip": "10.23.0.1/24"}, params2={"ip": "10.23.0.2/24"})
net.addLink(routers[2], b, params1={"ip": "10.3.0.1/24"})
net.start()
for router in routers:
    router.start()
lost = 100
for _ in range(30):
    lost = net.ping([a, b], timeout=1)
    if lost == 0:
        break
    time.sleep(1)
print("RESULT lost", lost, routers[0].cmd("ip route show 10.3.0.0/24").strip())
net.stop()
