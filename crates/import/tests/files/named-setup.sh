ip addr add 10.0.0.1/24 dev eth1
