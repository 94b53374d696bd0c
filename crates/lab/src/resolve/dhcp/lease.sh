#!/bin/sh
# Netloom made this from the lab file: udhcpc, dhclient and dhcpcd call it when something happens to a lease.
# udhcpc says what as an argument, the others in $reason.
state=/run/dhcp/$interface.lease
names=/run/dhcp/$interface.names
tool=ip
command -v ip >/dev/null || tool="busybox ip"

# Pairs of a destination and a router.
add_routes() {
    while [ $# -gt 1 ]; do
        $tool -4 route replace "$1" via "$2" dev "$interface"
        shift 2
    done
}

# The same as bytes: the length of a prefix, as many bytes of it as that needs, and a router (RFC 3442).
add_byte_routes() {
    while [ $# -gt 4 ]; do
        length=$1 destination="" count=0
        shift
        while [ $count -lt 4 ]; do
            byte=0
            if [ $((count * 8)) -lt "$length" ]; then
                byte=$1
                shift
            fi
            destination=$destination${destination:+.}$byte
            count=$((count + 1))
        done
        add_routes "$destination/$length" "$1.$2.$3.$4"
        shift 4
    done
}

# Those of all interfaces, unless the lab file brings a file of its own.
name_servers() {
    if [ -e /run/dhcp/resolver ]; then cat /run/dhcp/*.names >/etc/resolv.conf; fi
}

take() {
    # dhcpcd, which alone says it, has set the address and the routes.
    if [ -z "${new_subnet_cidr:-}" ]; then
        $tool -4 addr flush dev "$interface"
        $tool -4 addr add "$address/$prefix" dev "$interface"
        if [ -n "${staticroutes:-}" ]; then
            # shellcheck disable=SC2086 # A list of words.
            add_routes $staticroutes
        elif [ -n "${new_rfc3442_classless_static_routes:-}" ]; then
            # shellcheck disable=SC2086
            add_byte_routes $new_rfc3442_classless_static_routes
        else
            for via in $routers; do
                add_routes default "$via"
                break
            done
        fi
    fi
    {
        for server in $servers; do echo "nameserver $server"; done
        if [ -n "$search" ]; then echo "search $search"; fi
    } >"$names"
    name_servers
    # An address of IPv6 that it is to make of a router's advertisement is awaited, too.
    made=$(cat "/run/dhcp/$interface.made" 2>/dev/null)
    if [ -n "$made" ]; then
        (
            until grep -q "^$made " /proc/net/if_inet6; do sleep 0.1; done
            echo "$interface has an address of an advertised prefix"
            echo "$lease" >"$state"
        ) &
    else
        echo "$lease" >"$state"
    fi
}

case ${1:-$reason} in
bound | renew | BOUND | RENEW | REBIND | REBOOT)
    address=${ip:-$new_ip_address} prefix=${mask:-$new_subnet_mask}
    routers=${router:-${new_routers:-}} servers=${dns:-${new_domain_name_servers:-}} search=${domain:-${new_domain_name:-}}
    lease="$address/$prefix $routers ${staticroutes:-} ${new_rfc3442_classless_static_routes:-} $servers $search"
    echo "$interface has the address $address"
    # A lease that is only longer changes nothing.
    if [ "$(cat "$state" 2>/dev/null)" != "$lease" ]; then take; fi
    ;;
deconfig | EXPIRE | FAIL | NAK)
    if [ -e "$state" ]; then
        echo "$interface has lost its lease" >&2
        $tool -4 addr flush dev "$interface"
        rm -f "$state" "$names"
        name_servers 2>/dev/null
    fi
    ;;
esac
exit 0
