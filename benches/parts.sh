#!/bin/sh
# A lab in virtual time in two parts, on two machines: network namespaces. The path between them is a link of another lab that takes DELAY, or
# without one (0) a bridge.
# Usage: parts.sh NETLOOM DELAY LAB COMMAND: COMMAND runs in this shell, where `one` plays the lab of that file in one piece, on both of PROCESSORS
# ("0,1" by default), and `both` in two parts, each on one of them; both print the report, of `both` that of the first part.
# Everything is made inside namespaces of this script's own and vanishes with it; root is not needed.
set -eu
if [ "${PARTS_INSIDE:-}" != yes ]; then
    export PARTS_INSIDE=yes
    if [ "$(id -u)" = 0 ]; then
        exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
    fi
    exec unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
netloom=$1 delay=$2 lab=$(realpath "$3") command=$4
processors=${PROCESSORS:-0,1}
mount -t tmpfs none /run
cd /run
cp "$lab" lab.yaml
ip link set lo up
for node in a b; do
    ip netns add $node
    ip link add "to-$node" type veth peer name eth0 netns $node
    ip link set "to-$node" up
    ip -n $node link set lo up
    ip -n $node link set eth0 up
done
ip -n a addr add 10.81.0.1/24 dev eth0
ip -n b addr add 10.81.0.2/24 dev eth0
if [ "$delay" = 0 ]; then
    ip link add both type bridge mcast_snooping 0
    for node in a b; do ip link set "to-$node" master both; done
    ip link set both up
else
    cat > path.yaml << END
nodes: {one: {kind: external, interface: to-a}, two: {kind: external, interface: to-b}}
links: {path: {ends: [one, two], delay: $delay}}
END
    "$netloom" up path.yaml >&2
fi
ip netns exec a ping -q -c 5 -i 0.2 -w 20 10.81.0.2 >&2
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' > key
chmod 600 key
part() {
    taskset -c "$1" ip netns exec "$2" "$netloom" run lab.yaml --json --no-report --results "results-$2" --part "$2" \
        --at a=10.81.0.1:29788 --at b=10.81.0.2:29788 --key key
}
one() { taskset -c "$processors" "$netloom" run lab.yaml --json --no-report --results results-one; }
both() {
    part "${processors#*,}" b > other.json & other=$!
    part "${processors%,*}" a
    wait $other
}
code=0
( eval "$command" ) || code=$?
[ "$delay" = 0 ] || "$netloom" down path > told 2>&1 || true
exit $code
