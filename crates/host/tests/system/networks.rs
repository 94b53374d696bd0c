use std::fs;
use std::time::{Duration, Instant};

use netloom_host::bridges::{BridgePort, Bridges};
use netloom_host::lab::{LabOptions, Namespaces};
use netloom_host::netlink::{Bridge, Netlink, Veth, VethEnd};
use netloom_host::node::{AgentClient, Node, NodeConfig, Transport};
use netloom_testing::wait::wait_until;

use crate::fixture::{connected, host, in_lab, in_lab_with, ok, quiet, route, sh};

pub(crate) fn two_nodes_reach_each_other_at_once() {
    in_lab(|_| {
        let mut configs = [host("a", &[&["10.0.0.1/24", "fd00::1/64"]]), host("b", &[&["10.0.0.2/24", "fd00::2/64"]])];
        let mac = configs[1].interfaces[0].mac;
        let neighbors = ["10.0.0.2", "fd00::2"].map(|address| (address.parse().unwrap(), mac));
        configs[0].interfaces[0].neighbors = neighbors.to_vec();
        let mut nodes = connected(&configs, &[[(0, 0), (1, 0)]]);
        // No pause: addresses and carrier are there when configuring has ended.
        ok(&mut nodes[0], "ping -6 -n -c 1 -W 1 fd00::2");
        ok(&mut nodes[0], "ping -n -c 3 -i 0.01 -W 1 10.0.0.2");
        // Complete and permanent: ATF_COM and ATF_PERM of net/if_arp.h.
        let arp = ok(&mut nodes[0], "awk '$1 == \"10.0.0.2\" { print $3, $4 }' /proc/net/arp");
        assert_eq!(arp, "0x6 02:00:62:62:00:00");
        let counters = nodes[1].interface_counters().unwrap();
        assert_eq!(counters.len(), 1);
        let (name, eth0) = &counters[0];
        assert_eq!((name.as_str(), eth0.rx_dropped, eth0.tx_dropped), ("eth0", 0, 0));
        assert!(eth0.rx_packets >= 4 && eth0.tx_packets >= 4, "{eth0:?}");
    });
}

pub(crate) fn names_resolve_and_unknown_ones_fail_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts");
    fs::write(&hosts, "127.0.0.1 localhost\n10.0.0.2 server server-eth0\n").unwrap();
    let options = LabOptions {
        name: "test".to_owned(),
        hosts_file: Some(hosts),
        resolver_file: None,
        memory: None,
        users: None,
        namespaces: Namespaces::Needed,
    };
    in_lab_with(&options, |_| {
        let configs = [host("client", &[&["10.0.0.1/24"]]), host("server", &[&["10.0.0.2/24"]])];
        let mut nodes = connected(&configs, &[[(0, 0), (1, 0)]]);
        let answer = ok(&mut nodes[0], "getent ahostsv4 server-eth0");
        assert!(answer.starts_with("10.0.0.2"), "{answer}");
        ok(&mut nodes[0], "ping -c 1 -W 1 server");
        let start = Instant::now();
        let (status, output) = sh(&mut nodes[0], "getent hosts unknown.example");
        assert_eq!((status.code(), &*output), (Some(2), ""));
        // A resolver that asked somebody would wait for 5 s, twice.
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    });
}

pub(crate) fn a_router_forwards_both_families() {
    in_lab(|_| {
        let client = NodeConfig {
            routes: vec![route("0.0.0.0/0", "10.0.1.254"), route("::/0", "fd00:1::ff")],
            ..host("client", &[&["10.0.1.1/24", "fd00:1::1/64"]])
        };
        let server = NodeConfig {
            routes: vec![route("10.0.1.0/24", "10.0.2.254"), route("fd00:1::/64", "fd00:2::ff")],
            ..host("server", &[&["10.0.2.1/24", "fd00:2::1/64"]])
        };
        let ends: [&[&str]; 2] = [&["10.0.1.254/24", "fd00:1::ff/64"], &["10.0.2.254/24", "fd00:2::ff/64"]];
        let router = NodeConfig { forwarding: true, ..host("router", &ends) };
        let mut nodes = connected(&[client, router, server], &[[(0, 0), (1, 0)], [(1, 1), (2, 0)]]);
        let answer = ok(&mut nodes[0], "ping -n -c 1 -W 1 10.0.2.1");
        assert!(answer.contains("ttl=63"), "{answer}");
        ok(&mut nodes[0], "ping -6 -n -c 1 -W 1 fd00:2::1");
    });
}

pub(crate) fn the_lab_side_of_a_link_is_silent() {
    in_lab(|_| {
        let config = host("a", &[&["10.0.0.1/24", "fd00::1/64"]]);
        let mut nodes = Node::create_all(std::slice::from_ref(&config)).unwrap();
        let near = VethEnd { name: "p0".to_owned(), mac: None, namespace: None, up: true };
        let far = VethEnd {
            name: "eth0".to_owned(),
            mac: Some(config.interfaces[0].mac),
            namespace: Some(nodes[0].pid().into()),
            up: false,
        };
        let mut netlink = Netlink::open().unwrap();
        let indexes = netlink.create_veths(&[Veth { ends: [near, far], mtu: 1500 }]).unwrap();
        assert_eq!(netlink.index_of("p0").unwrap(), indexes[0]);
        nodes[0].begin_configure().unwrap();
        nodes[0].finish_configure().unwrap();
        // Long enough for router solicitations, multicast reports and whatever else a kernel says by itself.
        let (status, _) = sh(&mut nodes[0], "ping -n -c 2 -i 0.2 -W 1 10.0.0.2");
        assert_eq!(status.code(), Some(1), "nobody is there");
        let links = netlink.links().unwrap();
        let p0 = links.iter().find(|link| link.name == "p0").unwrap();
        assert_eq!(p0.counters.tx_packets, 0);
        assert!(p0.counters.rx_packets > 0, "what the node sends arrives");
    });
}

/// Two nodes at two bridges in a row, and one alone at a third.
pub(crate) fn bridges_pass_frames_on_and_say_nothing() {
    in_lab(|_| {
        let configs = ["a", "b", "c"].iter().zip(1..).map(|(name, number)| {
            let addresses = [format!("10.0.0.{number}/24"), format!("fd00::{number}/64")];
            host(name, &[&addresses.each_ref().map(String::as_str)])
        });
        let configs: Vec<NodeConfig> = configs.collect();
        let mut nodes = Node::create_all(&configs).unwrap();
        let bridge = |name: &str| Bridge { name: name.to_owned(), ageing: 30_000, table: 8_192 };
        let mut bridges = Bridges::create(&["b0", "b1", "b2"].map(bridge)).unwrap();
        let here = |name: &str| VethEnd { name: name.to_owned(), mac: None, namespace: None, up: false };
        let there = |node: usize| VethEnd {
            mac: Some(configs[node].interfaces[0].mac),
            namespace: Some(nodes[node].pid().into()),
            ..here("eth0")
        };
        let pairs = [[here("p0"), there(0)], [here("p1"), here("p2")], [here("p3"), there(1)], [here("p4"), there(2)]];
        let pairs = pairs.map(|ends| Veth { ends, mtu: 1500 });
        let port = |(name, place): (&str, usize)| BridgePort { name: name.to_owned(), bridge: place };
        let ports = [("p0", 0), ("p1", 0), ("p2", 1), ("p3", 1), ("p4", 2)].map(port);
        bridges.add(&pairs, ports.into()).unwrap();
        nodes.iter_mut().for_each(|node| node.begin_configure().unwrap());
        nodes.iter_mut().for_each(|node| node.finish_configure().unwrap());
        bridges.connect().unwrap();
        wait_until("ports that pass frames on", Duration::from_secs(60), || {
            bridges.forwarding().unwrap() == bridges.ports()
        });
        // The first frame gets through: neighbours are asked for by ARP and neighbour discovery.
        ok(&mut nodes[0], "ping -n -c 1 -W 10 10.0.0.2");
        ok(&mut nodes[1], "ping -6 -n -c 1 -W 10 fd00::1");
        // Long enough for whatever a kernel says by itself.
        assert_eq!(sh(&mut nodes[2], "ping -n -c 2 -i 0.2 -W 1 10.0.0.2").0.code(), Some(1), "nobody is there");
        let links = bridges.links().unwrap();
        let counted = |name: &str| links.iter().find(|link| link.name == name).unwrap().counters;
        assert_eq!(counted("p4").tx_packets, 0);
        assert!(counted("p4").rx_packets > 0, "what the node sends arrives");
        assert!(counted("p3").tx_packets >= 4, "{:?}", counted("p3"));
        let lab = Netlink::open().unwrap().links().unwrap();
        assert!(!lab.iter().any(|link| link.name.starts_with(['p', 'b'])), "{lab:?}");
    });
}

/// What programs made of a node's network goes, and what it was configured to have comes again.
pub(crate) fn a_node_that_was_shut_down_comes_up_as_it_was() {
    const LOOK: &str = "ls /sys/class/net; ip -br addr | sort; ip route show table all | sort; ip -6 route show table all | sort; \
        ip rule; ip -6 rule; ip link show eth0 | grep -o 'mtu [0-9]*\\|qdisc [a-z]*\\|ether [^ ]*'; nft list ruleset";
    const MESS: &str = "set -e; ip link set eth0 down; ip link set eth0 name lan0 mtu 1400 address 02:00:00:00:00:77; \
        ip link set lan0 up; ip addr add 10.8.8.8/24 dev lan0; ip addr add 10.9.9.9/32 dev lo; ip addr add fd99::9/128 dev lo; \
        ip route add blackhole 10.7.0.0/16; ip -6 route add unreachable fd77::/64; ip route add 10.6.0.0/16 dev lan0 table 77; \
        ip rule add from 10.8.8.8 table 77; ip -6 rule add from fd99::9 table 77; ip link add v0 type veth peer name v1; \
        ip addr add 10.5.0.1/24 dev v0; ip link set v0 up; tc qdisc add dev lan0 root pfifo limit 10; \
        nft 'add table inet own; add chain inet own c { type filter hook input priority 0; policy drop; }'";
    in_lab(|_| {
        let a = host("a", &[&["10.0.0.1/24", "fd00::1/64"]]);
        let a = NodeConfig { routes: vec![route("10.9.0.0/16", "10.0.0.2")], ..a };
        let mut nodes = connected(&[a, host("b", &[&["10.0.0.2/24", "fd00::2/64"]])], &[[(0, 0), (1, 0)]]);
        let before = ok(&mut nodes[0], LOOK);
        for mess in [MESS, "true"] {
            ok(&mut nodes[0], mess);
            nodes[0].shut_down().unwrap();
            let left =
                ok(&mut nodes[0], "ip -o addr; ip route show table all; ip -6 route show table all; nft list ruleset");
            assert_eq!(left, "", "after `{mess}`");
            nodes[0].begin_bring_up().unwrap();
            nodes[0].finish_bring_up().unwrap();
            wait_until("addresses that can be used", Duration::from_secs(60), || {
                nodes[0].begin_settle().unwrap();
                nodes[0].finish_settle().unwrap()
            });
            assert_eq!(ok(&mut nodes[0], LOOK), before, "after `{mess}`");
            ok(&mut nodes[0], "ping -n -c 1 -W 10 10.0.0.2; ping -6 -n -c 1 -W 10 fd00::2");
        }
        assert!(nodes[0].is_alone().unwrap());
        // Whatever it said of its network, the lab is to know of that, and of nothing that the lab did itself.
        let told = |node: &mut Node| {
            node.begin_account().unwrap();
            node.finish_account().unwrap().changes.into_iter().map(|change| change.what).collect::<Vec<String>>()
        };
        let said = told(&mut nodes[0]);
        assert!(said.iter().any(|what| what.contains("10.8.8.8")), "{said:?}");
        nodes[0].shut_down().unwrap();
        nodes[0].begin_bring_up().unwrap();
        nodes[0].finish_bring_up().unwrap();
        assert_eq!(told(&mut nodes[0]), said);
    });
}

pub(crate) fn the_other_end_sees_its_carrier_go() {
    in_lab(|_| {
        // The kernel brings up no second end before the pair is one.
        let end = |name: &str, up| VethEnd { name: name.to_owned(), mac: None, namespace: None, up };
        let mut netlink = Netlink::open().unwrap();
        netlink.create_veths(&[Veth { ends: [end("p0", true), end("p1", false)], mtu: 1500 }]).unwrap();
        netlink.switch("p1", true).unwrap();
        for up in [false, true, true, false] {
            netlink.switch("p0", up).unwrap();
            // The kernel notices it in the background.
            wait_until("the carrier of the other end", Duration::from_secs(60), || {
                let links = netlink.links().unwrap();
                links.iter().find(|link| link.name == "p1").unwrap().running == up
            });
        }
        let refusal = netlink.switch("p7", false).unwrap_err().to_string();
        assert!(refusal.starts_with("bring down p7: No such device"), "{refusal}");
    });
}

/// The kernel makes IPv6 addresses a node's own in the background, and looks for them on the link before.
pub(crate) fn addresses_of_settled_nodes_are_their_own() {
    in_lab(|_| {
        let address = |node: usize, interface: usize| format!("fd00:{:x}::{}", node / 2 * 4 + interface, 1 + node % 2);
        let config = |node: usize| {
            let nets: [String; 4] = std::array::from_fn(|interface| address(node, interface) + "/64");
            let lists = nets.each_ref().map(|net| [net.as_str()]);
            host(&format!("n{node}"), &lists.each_ref().map(|list| &list[..]))
        };
        let configs: Vec<NodeConfig> = (0..64).map(config).collect();
        let ends = (0..32).flat_map(|pair| (0..4).map(move |link| [(2 * pair, link), (2 * pair + 1, link)]));
        let mut nodes = connected(&configs, &ends.collect::<Vec<_>>());
        for (number, node) in nodes.iter_mut().enumerate() {
            // Columns are the destination, the length of its prefix, and at last but one the flags, of which the first is
            // RTF_LOCAL.
            let own = ok(node, "grep -c '^fd00.* 80 .* 8[0-9a-f]*  *eth[0-9]$' /proc/net/ipv6_route");
            assert_eq!(own, "4", "node {number}: {}", ok(node, "cat /proc/net/ipv6_route"));
        }
    });
}

pub(crate) fn a_listener_is_seen() {
    in_lab(|_| {
        let mut nodes =
            connected(&[host("a", &[&["10.0.0.1/24"]]), host("b", &[&["10.0.0.2/24"]])], &[[(0, 0), (1, 0)]]);
        assert!(!nodes[0].listening(Transport::Tcp, 5201).unwrap());
        let server = "import socket,time; u=socket.socket(type=socket.SOCK_DGRAM); u.bind(('10.0.0.1',5301)); \
            s=socket.create_server(('10.0.0.1',5201)); time.sleep(100)";
        nodes[0].spawn(quiet(&["python3", "-c", server])).unwrap();
        wait_until("the listener", Duration::from_secs(50), || nodes[0].listening(Transport::Tcp, 5201).unwrap());
        assert!(!nodes[1].listening(Transport::Tcp, 5201).unwrap());
        assert!(!nodes[0].listening(Transport::Tcp, 5202).unwrap());
        let bound = |node: &mut Node, transport, port| node.listening(transport, port).unwrap();
        assert!(bound(&mut nodes[0], Transport::Udp, 5301) && !bound(&mut nodes[0], Transport::Tcp, 5301));
        assert!(!bound(&mut nodes[0], Transport::Udp, 5201) && !bound(&mut nodes[1], Transport::Udp, 5301));
    });
}

pub(crate) fn thousands_of_routes_are_installed() {
    in_lab(|_| {
        let routes =
            (0..4000).map(|number| route(&format!("10.{}.{}.0/24", 1 + number / 256, number % 256), "10.0.0.2"));
        let a = NodeConfig { routes: routes.collect(), ..host("a", &[&["10.0.0.1/24"]]) };
        let start = Instant::now();
        let mut nodes = connected(&[a, host("b", &[&["10.0.0.2/24"]])], &[[(0, 0), (1, 0)]]);
        println!("4000 routes within {:?}", start.elapsed());
        // One line of titles, and the directly connected network.
        assert_eq!(ok(&mut nodes[0], "wc -l < /proc/net/route"), "4002");
    });
}
