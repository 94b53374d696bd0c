# A machine of its own for tests: a network namespace with a network card `nic`, the end of a wire whose other end `far` is in
# another one. The machine has the addresses 10.9.0.1 and fd09::1 there, the far one 10.9.0.2 and fd09::2. `far` runs a command
# there, `state` prints all that is known of the card, and `netloom` is the program.
set -e
ip link set lo up
unshare -n sleep 1000 & far_pid=$!
trap 'kill $far_pid' EXIT
until [ "$(readlink /proc/$far_pid/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
far() { nsenter -t $far_pid -n "$@"; }
ip link add nic type veth peer name far netns $far_pid
ip addr add 10.9.0.1/24 dev nic
ip -6 addr add fd09::1/64 dev nic nodad
ip link set nic up
far ip addr add 10.9.0.2/24 dev far
far ip -6 addr add fd09::2/64 dev far nodad
far ip link set far up
far ip link set lo up
ping -q -c 1 -w 5 10.9.0.2 > /dev/null
ping -q -c 1 -w 5 fd09::2 > /dev/null
# Addresses of its own take the kernel a second or two.
until ! ip addr show dev nic | grep -q tentative; do sleep 0.1; done
state() { ip -d link show dev nic; ip addr show dev nic; ip route show table all dev nic; ip -6 route show table all dev nic; }
# The shortest of five round trips in milliseconds.
rtt() { ping -U -c 5 -i 0.05 -w 5 "$@" | sed -n 's|^rtt[^=]*= \([0-9.]*\)/.*|\1|p'; }
