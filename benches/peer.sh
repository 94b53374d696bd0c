#!/bin/sh
# A path made by another emulator, without Netloom, to measure the same things on it.
# Usage: peer.sh netem-version: says so if the kernel has netem; or
# peer.sh mininet-tree DEPTH FANOUT: tells the seconds in which Mininet sets a tree of bridges up, and removes it; or
# peer.sh PEER DELAY RATE SERVER CLIENT: PEER is netem, mahimahi, rattan or mininet; DELAY in milliseconds each way
# and RATE in Mbit/s, or - for none. SERVER and CLIENT are shell commands; CLIENT finds SERVER's address in $SERVER.
# Standard output is theirs; with PEER_WAIT=yes the end of SERVER is waited for. Everything is made inside namespaces of this script's own and vanishes with it; all but
# netem need root.
set -eu
if [ "${PEER_INSIDE:-}" != yes ]; then
    export PEER_INSIDE=yes
    if [ "$(id -u)" = 0 ]; then
        exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
    fi
    exec unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
peer=$1 delay=${2:--} rate=${3:--} server=${4:-} client=${5:-}
# Packets that wait in front of a rate.
queue=4000
# Room for the bandwidth-delay product, where the peer lets nodes have it.
roomy='for way in r w; do echo "4096 131072 134217728" > /proc/sys/net/ipv4/tcp_${way}mem; done 2>/dev/null || true'
client="$roomy; $client"
mount -t tmpfs none /run
ip link set lo up
case $peer in
netem-version)
    # Only where the kernel has it.
    tc qdisc add dev lo root netem delay 1ms
    tc -V
    ;;
mininet-tree)
    command -v brctl > /dev/null || { echo "brctl is not installed (apt install bridge-utils)" >&2; exit 1; }
    # Ten times what it needs.
    timeout 600 "$(sed -n '1s/^#! *//p' "$(command -v mn)")" "$(dirname "$0")/peer-mininet-tree.py" "$2" "$3"
    exit
    ;;
netem)
    server_at=10.77.0.2
    ip netns add a
    ip netns add b
    ip link add eth0 netns a type veth peer name eth0 netns b
    ip -n a addr add 10.77.0.1/24 dev eth0
    ip -n b addr add $server_at/24 dev eth0
    set -- limit 100000
    if [ "$delay" != - ]; then set -- "$@" delay "${delay}ms"; fi
    if [ "$rate" != - ]; then set -- "$@" rate "${rate}mbit"; fi
    for node in a b; do
        ip -n $node link set lo up
        ip -n $node link set eth0 up
        ip netns exec $node tc qdisc add dev eth0 root netem "$@"
    done
    ip netns exec b sh -c "$roomy; $server" &
    serving=$!
    sleep 0.5
    SERVER=$server_at ip netns exec a sh -c "$client"
    ;;
mahimahi)
    # It refuses to be root, and makes namespaces of its own as the owner of its program. Those are as bare as new ones
    # are; a shell in each says where it is, and waits until this loop, which is root, has made it ready.
    echo 1 > /proc/sys/net/ipv4/ip_forward
    sh -c "$roomy; $server" &
    serving=$!
    : > /run/here
    chmod 666 /run/here
    while sleep 0.05; do
        if [ -s /run/here ]; then
            nsenter --target "$(cat /run/here)" --net sh -c "$roomy; echo 1 > /proc/sys/net/ipv4/ip_forward"
            : > /run/here
        fi
    done &
    here='echo $$ > /run/here; while [ -s /run/here ]; do sleep 0.05; done'
    link=
    if [ "$rate" != - ]; then
        # A line for each packet of 1,504 bytes: when it may leave, in milliseconds; the file repeats.
        awk -v rate="$rate" 'BEGIN { for (n = 1; n * 12.032 <= rate * 1000; n++) print int(n * 12.032 / rate) + 1 }' \
            > /run/trace
        link="mm-link --uplink-queue=droptail --uplink-queue-args=packets=$queue"
        link="$link --downlink-queue=droptail --downlink-queue-args=packets=$queue /run/trace /run/trace --"
    fi
    # shellcheck disable=SC2016
    CLIENT="$here; SERVER=\$MAHIMAHI_BASE; $client" HERE=$here LINK=$link \
        setpriv --reuid=65534 --regid=65534 --clear-groups \
        mm-delay "$([ "$delay" = - ] && echo 0 || echo "$delay")" sh -c 'eval "$HERE"; exec $LINK sh -c "$CLIENT"'
    ;;
rattan)
    sh -c "$roomy; $server" &
    serving=$!
    sleep 0.5
    set --
    for way in uplink downlink; do
        if [ "$delay" != - ]; then set -- "$@" "--$way-delay" "${delay}ms"; fi
        if [ "$rate" != - ]; then
            set -- "$@" "--$way-bandwidth" "${rate}Mbps" "--$way-queue" droptail
            set -- "$@" "--$way-queue-args" "{\"packet_limit\":$queue}"
        fi
    done
    # It writes what it does to its standard output, among what the client writes.
    # shellcheck disable=SC2016
    rattan link "$@" -- sh -c "exec >&3; SERVER=\$RATTAN_BASE; $client" 3>&1 >&2
    ;;
mininet)
    # Mininet's own interpreter knows where its modules are.
    "$(sed -n '1s/^#! *//p' "$(command -v mn)")" "$(dirname "$0")/peer-mininet.py" "$delay" "$rate" "$roomy; $server" "$client"
    exit
    ;;
*)
    echo "$0: no peer $peer" >&2
    exit 2
    ;;
esac
# What the server has to say, it says when nothing more comes.
if [ "${PEER_WAIT:-}" = yes ]; then wait "$serving"; fi
