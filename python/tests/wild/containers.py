"""Two containers at two switches with a slow link between them."""

import sys

from mininet.link import TCLink
from mininet.net import Containernet
from mininet.node import Controller

image = sys.argv[1]
net = Containernet(controller=Controller)
net.addController("c0")
d1 = net.addDocker("d1", ip="10.0.0.251", dimage=image)
d2 = net.addDocker(
    "d2", ip="10.0.0.252", dimage=image, environment={"COLOUR": "green"}, volumes=["/usr/share/zoneinfo:/zones:ro"]
)
s1, s2 = net.addSwitch("s1"), net.addSwitch("s2")
net.addLink(d1, s1)
net.addLink(s1, s2, cls=TCLink, delay="20ms", bw=1)
net.addLink(s2, d2)
net.start()
print("RESULT", net.ping([d1, d2]), d1.cmd("ls /").split(), d2.cmd("echo $COLOUR; ls /zones/UTC").split())
net.stop()
