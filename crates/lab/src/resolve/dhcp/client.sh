# Netloom made this from the lab file: it asks for an address of the interface $1 with the first DHCP client that this machine has.
# The clients call /run/dhcp/lease when something happens to a lease.
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
# It sets address and routes itself.
dhcpcd)
    exec dhcpcd -4 -A -B -L -f /dev/null -h "$NETLOOM_NODE" -o routers,classless_static_routes,domain_name_servers,domain_name \
        -c /run/dhcp/lease "$1"
    ;;
esac
