#!/bin/sh
# Two labs that a tunnel joins, on two machines: network namespaces. The path between them takes 3 ms, 0.2 ms more or less, by a third
# lab, or by a bridge next to no time.
# Usage: tunnel.sh NETLOOM jitter|plain AHEAD COMMAND: COMMAND runs in this shell when all is up, where `left` and `right` run a command
# in the only host of each lab; the right one is 10.80.0.2, and 10 ms of delay are described where the path takes time. The clock of
# the right machine is ahead by AHEAD seconds. `between` runs a command on the left machine, whose path leads to 10.81.0.2.
# TUNNEL_KEY: the key of the tunnel, if it has one. TUNNEL_MTU: what the path carries, 1600 bytes by default.
# Everything is made inside namespaces of this script's own and vanishes with it; root is not needed.
set -eu
if [ "${TUNNEL_INSIDE:-}" != yes ]; then
    export TUNNEL_INSIDE=yes
    if [ "$(id -u)" = 0 ]; then
        exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
    fi
    exec unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
netloom=$1 path=$2 ahead=$3 command=$4
mtu=${TUNNEL_MTU:-1600} key=${TUNNEL_KEY:+, key: $TUNNEL_KEY}
mount -t tmpfs none /run
cd /run
ip link set lo up
ip netns add a
ip netns add b
for node in a b; do
    ip link add "to-$node" mtu $mtu type veth peer name eth0 mtu $mtu netns $node
    ip link set "to-$node" up
    ip -n $node link set lo up
    ip -n $node link set eth0 up
done
ip -n a addr add 10.81.0.1/24 dev eth0
ip -n b addr add 10.81.0.2/24 dev eth0
case $path in
jitter)
    delay=', delay: 10 ms'
    cat > path.yaml << 'END'
nodes: {one: {kind: external, interface: to-a}, two: {kind: external, interface: to-b}}
links: {path: {ends: [one, two], delay: {kind: uniform, from: 2.8 ms, to: 3.2 ms}, mtu: 1600}}
END
    "$netloom" up path.yaml >&2
    ;;
*)
    delay=
    ip link add both type bridge mcast_snooping 0
    for node in a b; do ip link set "to-$node" master both; done
    ip link set both up
    ;;
esac
between() { ip netns exec a "$@"; }
later() { ip netns exec b unshare --time --fork --monotonic "$ahead" --boottime "$ahead" "$@"; }
[ "$ahead" != 0 ] || later() { ip netns exec b "$@"; }
between ping -q -c 3 -i 0.2 -w 20 10.81.0.2 >&2
cat > left.yaml << END
nodes: {host: {}, far: {kind: tunnel, remote: 10.81.0.2$key}}
links: {line: {ends: [{node: host, address: 10.80.0.1/24}, far]$delay}}
END
cat > right.yaml << END
nodes: {host: {}, far: {kind: tunnel, remote: 10.81.0.1$key}}
links: {line: {ends: [{node: host, address: 10.80.0.2/24}, far]}}
END
later "$netloom" up right.yaml >&2 & starts=$!
between "$netloom" up left.yaml >&2
wait $starts
left() { "$netloom" exec left host -- "$@"; }
right() { "$netloom" exec right host -- "$@"; }
left ping -q -c 5 -i 0.2 -w 20 10.80.0.2 >&2
# The same two hosts in one piece, on the left machine: `one` and `two` run a command there, and the second is 10.82.0.2.
whole() {
    cat > whole.yaml << END
nodes: {one: {}, two: {}}
links: {line: {ends: [{node: one, address: 10.82.0.1/24}, {node: two, address: 10.82.0.2/24}]$delay}}
END
    between "$netloom" up whole.yaml >&2
}
one() { "$netloom" exec whole one -- "$@"; }
two() { "$netloom" exec whole two -- "$@"; }
# The time that the processes of all labs have had a processor, in ticks of the clock.
busy() { cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^[0-9]* (netloom[^)]*) //p' | awk '{ sum += $12 + $13 } END { print sum }'; }
code=0
( eval "$command" ) || code=$?
for lab in left right whole path; do "$netloom" down $lab > /run/told 2>&1 || true; done
exit $code
