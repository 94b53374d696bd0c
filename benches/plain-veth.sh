#!/bin/sh
# The path to compare with: two network namespaces joined by a plain veth pair, made by iproute2, without Netloom.
# Usage: plain-veth.sh COMMAND [bridge]: COMMAND runs in a shell on node a; node b is 10.78.0.2 and serves iperf3 on port 5201.
# With `bridge`, a veth pair leads from each node to a bridge in a namespace of its own.
# Everything is made inside namespaces of this script's own and vanishes with it; root is not needed.
set -eu
if [ "${PLAIN_VETH_INSIDE:-}" != yes ]; then
    export PLAIN_VETH_INSIDE=yes
    if [ "$(id -u)" = 0 ]; then
        exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
    fi
    exec unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
mount -t tmpfs none /run
ip netns add a
ip netns add b
if [ "${2:-}" = bridge ]; then
    ip netns add s
    ip -n s link add name bridge0 type bridge mcast_snooping 0
    ip -n s link set bridge0 up
    for node in a b; do
        ip link add eth0 netns "$node" type veth peer name "to-$node" netns s
        ip -n s link set "to-$node" master bridge0 up
    done
else
    ip link add eth0 netns a type veth peer name eth0 netns b
fi
ip -n a addr add 10.78.0.1/24 dev eth0
ip -n b addr add 10.78.0.2/24 dev eth0
for node in a b; do
    ip -n "$node" link set lo up
    ip -n "$node" link set eth0 up
done
ip netns exec b iperf3 --server --daemon --json >/dev/null
ip netns exec a ping -q -c 2 -i 0.2 10.78.0.2 >/dev/null
exec ip netns exec a sh -c "$1"
