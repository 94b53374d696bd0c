#!/bin/sh
# A lab of many nodes in two halves, on two machines: network namespaces that a bridge joins. Beside it the same lab in one piece.
# Usage: halves.sh NETLOOM LAB: prints how many seconds `netloom up` takes in one piece, and then for both halves, which come up at once and
# are there when a node of one has an answer of one of the other. The lab's nodes a1 and b1 are on machines a and b.
# Everything is made inside namespaces of this script's own and vanishes with it; root is not needed.
set -eu
if [ "${HALVES_INSIDE:-}" != yes ]; then
    export HALVES_INSIDE=yes
    if [ "$(id -u)" = 0 ]; then
        exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
    fi
    exec unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
netloom=$1 lab=$(realpath "$2")
mount -t tmpfs none /run
cd /run
cp "$lab" lab.yaml
ip link set lo up
ip link add both type bridge mcast_snooping 0
ip link set both up
for node in a b; do
    ip netns add $node
    ip link add "to-$node" type veth peer name eth0 netns $node
    ip link set "to-$node" up master both
    ip -n $node link set lo up
    ip -n $node link set eth0 up
done
ip -n a addr add 10.81.0.1/24 dev eth0
ip -n b addr add 10.81.0.2/24 dev eth0
ip netns exec a ping -q -c 3 -i 0.2 -w 20 10.81.0.2 >&2
reach() { "$netloom" exec "$1" a1 -- ping -q -c 1 -w 20 b1 >&2; }
now() { date +%s.%N; }
begin=$(now)
"$netloom" up lab.yaml --quiet
reach bench-halves
whole=$(now)
# What is measured is the start: a busy machine may have been too slow for the rest.
ended() { "$netloom" down "$1" >&2 || [ $? = 5 ]; }
ended bench-halves
"$netloom" split lab.yaml --address a=10.81.0.1 --address b=10.81.0.2 -o parts >&2
again=$(now)
ip netns exec b "$netloom" up parts/bench-halves-b.yaml --quiet & other=$!
ip netns exec a "$netloom" up parts/bench-halves-a.yaml --quiet
wait $other
reach bench-halves-a
halves=$(now)
for node in a b; do ended "bench-halves-$node"; done
echo "$begin $whole $again $halves" | awk '{ printf "%.3f %.3f\n", $2 - $1, $4 - $3 }'
