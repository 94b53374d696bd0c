# Two machines and the path between them, for tests: network namespaces. This one is the path, whose wires are `one` and `two`; machine
# `a` has 10.8.0.1, and machine `b` 10.8.0.2. Packets of $MTU bytes pass, 1600 by default. `a` and `b` run a command there, `play` has a netloom run
# there, and `netloom` is the program. The clock of `b` is ahead by as many seconds as $AHEAD says.
set -e
MTU=${MTU:-1600}
ip link set lo up
unshare -n sleep 1000 & a_pid=$!
if [ "${AHEAD:-0}" = 0 ]; then unshare -n sleep 1000 & else unshare -n -T --fork --monotonic $AHEAD --boottime $AHEAD sleep 1000 & fi
b_pid=$!
trap 'kill $a_pid $b_pid; for left in $kept; do kill $left 2> /dev/null || true; done' EXIT
own=$(readlink /proc/self/ns/net)
if [ "${AHEAD:-0}" != 0 ]; then
    # The one in the time namespace is a child.
    until kept=$(cat /proc/$b_pid/task/$b_pid/children) && [ -n "$kept" ]; do sleep 0.01; done
    b_pid=${kept% }
    time=-T
fi
for pid in $a_pid $b_pid; do
    until [ "$(readlink /proc/$pid/ns/net)" != "$own" ]; do sleep 0.01; done
done
a() { nsenter -t $a_pid -n "$@"; }
b() { nsenter -t $b_pid -n $time "$@"; }
end() {
    ip link add $3 mtu $MTU type veth peer name eth0 mtu $MTU netns $4
    ip link set $3 up
    $1 ip link set lo up
    $1 ip addr add 10.8.0.$2/24 dev eth0
    $1 ip link set eth0 up
}
end a 1 one $a_pid
end b 2 two $b_pid
# A plain path.
bridge() {
    ip link add both type bridge
    ip link set one master both
    ip link set two master both
    ip link set both up
    until a ping -q -c 1 -w 1 10.8.0.2 > /dev/null; do :; done
}
# Brings both labs up.
both() {
    b $NETLOOM up right.yaml > right.log 2>&1 & starts=$!
    a $NETLOOM up left.yaml > left.log 2>&1
    wait $starts
}
