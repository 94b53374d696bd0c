//! What the kernels of this version can do, beyond being nodes.

use std::fs;
use std::time::Duration;

use netloom_guest::node::{KernelNode, SocketChannel};
use netloom_guest::shim::{Orders, Shim};
use netloom_host::node::NodeEvent;

use crate::fixture::{alone, config, event, in_lab, interface, ok, quiet, with_node, with_nodes};

/// User-Mode Linux as it is has interrupts for 52 devices, and a command line of 4096 bytes.
pub(crate) fn a_node_has_hundreds_of_interfaces() {
    let mut hub = config("hub");
    hub.interfaces = (0..200).map(|number| interface(&format!("port{number}"), number, &[])).collect();
    with_nodes(&[hub], |nodes| {
        assert_eq!(ok(&mut nodes[0], "ls -d /sys/class/net/port* | wc -l"), "200");
        assert_eq!(ok(&mut nodes[0], "cat /sys/class/net/port199/address"), "02:00:00:00:00:c7");
    });
}

/// The program that the kernel starts may lie where its own `/dev` is to be.
pub(crate) fn the_first_process_may_lie_in_dev_shm() {
    in_lab(|| {
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        let init = place.path().join("netloom");
        fs::copy(std::env::current_exe().unwrap(), &init).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (mut boot, channel, _pump) = alone(folder.path());
        boot.init = init;
        let mut node = KernelNode::start(&boot, Box::new(SocketChannel::new(channel)), &mut |_| {}).unwrap();
        node.await_up(Duration::from_secs(60)).unwrap();
    });
}

pub(crate) fn a_node_that_is_rebooted_says_so() {
    for (code, said) in [("0x01234567", "one of its programs rebooted it"), ("0x4321fedc", "powered off from inside")] {
        in_lab(|| {
            let folder = tempfile::tempdir().unwrap();
            let (boot, channel, _pump) = alone(folder.path());
            let shim = Shim::in_memory().unwrap();
            let mut arm = |command: &mut std::process::Command| shim.arm(command, &Orders::default());
            let mut node = KernelNode::start(&boot, Box::new(SocketChannel::new(channel)), &mut arm).unwrap();
            node.await_up(Duration::from_secs(60)).unwrap();
            let script = format!("import ctypes; ctypes.CDLL(None).reboot({code})");
            node.spawn(quiet(&["python3", "-c", &script])).unwrap();
            assert_eq!(event(&mut node), NodeEvent::Gone);
            let obituary = node.obituary().unwrap();
            assert!(obituary.contains(said), "{obituary}");
        });
    }
}

/// `ip tunnel` asks the first tunnel of a kind for another one. It is made then, and no node has one before.
pub(crate) fn old_tunnels_are_made_on_request() {
    with_node(|node| {
        assert_eq!(ok(node, "cd /sys/class/net; ls -d */"), "lo/");
        for (family, mode, device) in [
            ("-4", "gre", "gre0"),
            ("-4", "ipip", "tunl0"),
            ("-4", "sit", "sit0"),
            ("-6", "ip6ip6", "ip6tnl0"),
            ("-6", "ip6gre", "ip6gre0"),
        ] {
            let (local, remote) =
                if family == "-4" { ("192.0.2.1", "192.0.2.2") } else { ("2001:db8::1", "2001:db8::2") };
            ok(node, &format!("ip {family} tunnel add t{mode} mode {mode} local {local} remote {remote}"));
            assert!(ok(node, &format!("ip {family} tunnel show t{mode}")).contains(remote), "{mode}");
            ok(node, &format!("test -e /sys/class/net/{device} && ip link del t{mode}"));
        }
    });
}

pub(crate) fn all_users_may_ping() {
    with_node(|node| {
        ok(node, "setpriv --reuid 1000 --regid 1000 --clear-groups ping -c 1 -W 5 127.0.0.1");
    });
}

/// What the tools ask the kernel for, without the tools, which few machines have all of.
pub(crate) fn the_configuration_has_what_nodes_need() {
    with_node(|node| {
        for (list, names) in [
            ("/proc/filesystems", "overlay tmpfs squashfs ext4 fuse nfs nfs4 tracefs cgroup2"),
            (
                "/proc/net/ip_tables_targets",
                "DNAT SNAT MASQUERADE REDIRECT NETMAP CT NFQUEUE TPROXY TEE TTL TCPMSS CLASSIFY",
            ),
            (
                "/proc/net/ip_tables_matches",
                "owner connlimit recent time string mac ttl set policy addrtype mark socket physdev",
            ),
            ("/proc/net/ip6_tables_targets", "DNAT SNAT MASQUERADE DNPT SNPT HL"),
            (
                "/proc/sys/net/ipv4/tcp_available_congestion_control",
                "reno cubic bbr bic cdg dctcp highspeed htcp hybla illinois lp nv scalable vegas veno westwood yeah",
            ),
            ("/proc/crypto", "cbc(aes) gcm(aes)"),
        ] {
            let text = ok(node, &format!("cat {list}"));
            let has = |name: &&str| text.split(|c: char| c.is_whitespace()).any(|word| word == *name);
            let missing: Vec<&str> = names.split(' ').filter(|name| !has(name)).collect();
            assert!(missing.is_empty(), "{list} lacks {missing:?}:\n{text}");
        }
    });
}

pub(crate) fn the_kernel_has_all_kinds_of_interfaces_and_queues() {
    with_node(|node| {
        ok(node, "ip link add dummy0 type dummy && ip link add dummy1 type dummy");
        for kind in [
            "macsec",
            "xfrm if_id 7",
            "vti",
            "vrf table 7",
            "vxlan id 7 dstport 4789",
            "geneve id 7 remote 192.0.2.1",
            "bond",
            "bridge vlan_filtering 1",
            "team",
            "ifb",
            "wireguard",
            "batadv",
            "nlmon",
            "netkit",
            "macvlan",
            "ipvlan",
            "vlan id 7",
        ] {
            let name = kind.split(' ').next().unwrap();
            let parent = if ["macsec", "macvlan", "ipvlan", "vlan"].contains(&name) { "link dummy1" } else { "" };
            ok(node, &format!("ip link add {parent} n{name} type {kind} && ip link del n{name}"));
        }
        for qdisc in [
            "netem delay 1ms",
            "tbf rate 1mbit burst 10k latency 1s",
            "htb",
            "fq",
            "fq_codel",
            "cake",
            "codel",
            "pie",
            "sfq",
            "choke limit 100 bandwidth 1mbit",
            "hhf",
            "fq_pie",
            "ets bands 3",
            "drr",
            "qfq",
            "hfsc",
            "prio",
            "dualpi2",
        ] {
            ok(node, &format!("tc qdisc replace dev dummy0 root {qdisc}"));
        }
    });
}

pub(crate) fn the_kernel_has_ipsec_tracing_and_file_systems() {
    with_node(|node| {
        let key = "0x00112233445566778899aabbccddeeff";
        let algorithms = format!("enc 'cbc(aes)' {key} auth 'hmac(sha256)' {key}");
        ok(node, &format!("ip xfrm state add src 192.0.2.1 dst 192.0.2.2 proto esp spi 7 mode tunnel {algorithms}"));
        ok(node, "ip l2tp add tunnel tunnel_id 7 peer_tunnel_id 7 encap ip local 127.0.0.1 remote 127.0.0.1");
        ok(node, "mount -t tracefs none /sys/kernel/tracing && test -e /sys/kernel/tracing/events/tcp/tcp_probe");
        ok(
            node,
            "cd /dev/shm && mkdir u w o && mount -t overlay -o lowerdir=/etc,upperdir=u,workdir=w none o && touch o/new",
        );
        ok(
            node,
            "cd /dev/shm && truncate -s 8M disk && mkfs.ext4 -q disk && mkdir d && mount -o loop disk d && touch d/new",
        );
        ok(node, "test -c /dev/fuse");
    });
}
