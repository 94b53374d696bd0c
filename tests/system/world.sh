# A machine of its own for tests: a network namespace with a server beyond it. Run in a new network namespace; runs its
# arguments there, and says afterwards what they left behind.
set -e
ip link set lo up
echo 0 >/proc/sys/net/ipv4/ip_forward
unshare --net --kill-child python3 "$WORLD_SERVER" & SERVER=$!
trap 'kill -9 $SERVER' EXIT
until [ "$(readlink /proc/$SERVER/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
ip link add eth0 type veth peer name eth0 netns $SERVER
ip address add 192.0.2.2/24 dev eth0
ip link set eth0 up
ip route add default via 192.0.2.1
# The server sets its own end up when it finds it.
until timeout 1 bash -c 'exec 3<>/dev/tcp/198.51.100.1/7' 2>/dev/null; do sleep 0.01; done
set +e
"$@"
CODE=$?
# What the kernel removes in the background is given time.
for _ in $(seq 500); do
    LEFT=$({ iptables-save; iptables-legacy-save; nft list ruleset; ip -o link; } 2>/dev/null | grep netloom)
    FORWARDING=$(cat /proc/sys/net/ipv4/conf/eth0/forwarding)
    FILES=$(ls "$XDG_RUNTIME_DIR/netloom" | grep -v xtables.lock)
    [ -z "$LEFT$FILES" ] && [ "$FORWARDING" = 0 ] && exit $CODE
    sleep 0.02
done
echo "left behind: $LEFT; forwarding $FORWARDING; files $FILES" >&2
exit 99
