# Netloom made this from the lab file: it asks for an address of the interface $1 with the first DHCP client that this machine has, or
# waits for one of IPv6 only, which the kernel makes when a router has advertised itself.
# The clients call /run/dhcp/lease when something happens to a lease.
if [ "${2:-}" = advertised ]; then
    echo "$1 waits for the advertisement of a router" >&2
    made=$(cat "/run/dhcp/$1.made" 2>/dev/null)
    until [ -z "$made" ] || grep -q "^$made " /proc/net/if_inet6; do sleep 0.1; done
    echo "$1 has an address of an advertised prefix"
    if [ -e /run/dhcp/resolver ]; then cat /run/dhcp/*.names >/etc/resolv.conf; fi
    echo "$made" >"/run/dhcp/$1.lease"
    # From now on the kernel does it all.
    exec tail -f /dev/null
fi
if command -v udhcpc >/dev/null; then
    client=udhcpc
elif busybox --list 2>/dev/null | grep -qx udhcpc; then
    client="busybox udhcpc"
elif command -v dhclient >/dev/null; then
    client=dhclient
elif command -v dhcpcd >/dev/null; then
    client=dhcpcd
else
    echo "there is no DHCP client on this machine: apt install udhcpc" >&2
    exit 127
fi
echo "$client asks for an address of $1" >&2
case $client in
*udhcpc) exec $client -f -i "$1" -s /run/dhcp/lease -x "hostname:$NETLOOM_NODE" -O staticroutes -B -t 10 -T 1 -A 1 ;;
dhclient)
    exec dhclient -4 -d -sf /run/dhcp/lease -cf /run/dhcp/dhclient.conf -lf "/run/dhcp/$1.leases" -pf "/run/dhcp/$1.pid" "$1"
    ;;
# It sets address and routes itself, and leaves them when it is stopped.
dhcpcd)
    exec dhcpcd -4 -p -A -B -L -f /dev/null -h "$NETLOOM_NODE" -o routers,classless_static_routes,domain_name_servers,domain_name \
        -c /run/dhcp/lease "$1"
    ;;
esac
