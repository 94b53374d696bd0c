#!/bin/sh
# A chain of routers to compare with: network namespaces joined by plain veth pairs, made by iproute2, without Netloom.
# Usage: plain-chain.sh ROUTERS COMMAND [JOIN [apart]]: COMMAND runs in a shell on node a; ROUTERS routers lead to node b,
# 10.79.255.2, which serves iperf3 on port 5201. Everything is made inside namespaces of this script's own and vanishes
# with it. With JOIN each link is two veth pairs, and this command gets their far ends as arguments: the first two belong
# together, then the next two, and so on. With `apart` it runs once for each link, and what goes on from a node gets the address
# of that node, as behind links of `netloom link shell`.
set -eu
if [ "${PLAIN_CHAIN_INSIDE:-}" != yes ]; then
    export PLAIN_CHAIN_INSIDE=yes
    if [ "$(id -u)" = 0 ]; then
        exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
    fi
    exec unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
routers=$1
join=${3:-}
apart=${4:-}
ends=
mount -t tmpfs none /run
# Node 0 is a, the last is b; link k joins node k and node k + 1 as 10.79.k.1 and 10.79.k.2, the last as 10.79.255.
subnet() { if [ "$1" = "$routers" ]; then echo 10.79.255; else echo "10.79.$1"; fi; }
k=0
while [ "$k" -le $((routers + 1)) ]; do
    ip netns add "n$k"
    ip -n "n$k" link set lo up
    ip netns exec "n$k" sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
    k=$((k + 1))
done
k=0
while [ "$k" -le "$routers" ]; do
    next=$((k + 1))
    if [ -z "$join" ]; then
        ip link add right netns "n$k" type veth peer name left netns "n$next"
    else
        ip link add right netns "n$k" type veth peer name "end$k-0"
        ip link add left netns "n$next" type veth peer name "end$k-1"
        for end in "end$k-0" "end$k-1"; do
            ip link set "$end" up arp off
            ends="$ends $end"
        done
    fi
    ip -n "n$k" addr add "$(subnet "$k").1/24" dev right
    ip -n "n$next" addr add "$(subnet "$k").2/24" dev left
    ip -n "n$k" link set right up
    ip -n "n$next" link set left up
    if [ -n "$apart" ]; then ip netns exec "n$k" iptables -t nat -A POSTROUTING -o right -j MASQUERADE; fi
    # Towards b by default, back to a by its network.
    ip -n "n$k" route add default via "$(subnet "$k").2"
    if [ "$k" -gt 0 ]; then ip -n "n$next" route add 10.79.0.0/24 via "$(subnet "$k").1"; fi
    k=$next
done
if [ -n "$join" ]; then
    # Both lists are words.
    # shellcheck disable=SC2086
    if [ -z "$apart" ]; then $join $ends & fi
    k=0
    while [ -n "$apart" ] && [ "$k" -le "$routers" ]; do
        $join "end$k-0" "end$k-1" &
        k=$((k + 1))
    done
fi
last="n$((routers + 1))"
ip netns exec "$last" iperf3 --server --daemon --json >/dev/null
ip netns exec n0 ping -q -c 2 -i 0.2 10.79.255.2 >/dev/null
ip netns exec n0 sh -c "$2"
