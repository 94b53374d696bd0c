use std::fs;
use std::time::Duration;

use netloom_host::node::{
    AgentClient, Node, NodeConfig, NodeError, NodeEvent, RouteConfig, RuleConfig, TableRouteConfig, Transport,
};
use netloom_testing::wait::wait_until;
use nix::sys::signal::{Signal, kill};

use crate::fixture::{connected, event, host, in_lab, node, ok, quiet, route, sh};

pub(crate) fn a_node_has_its_own_name_processes_and_interfaces() {
    in_lab(|_| {
        let mut nodes =
            connected(&[host("a", &[&["10.0.0.1/24"]]), host("b", &[&["10.0.0.2/24"]])], &[[(0, 0), (1, 0)]]);
        let a = &mut nodes[0];
        assert_eq!(a.notes(), [""; 0]);
        assert_eq!(ok(a, "cat /proc/sys/kernel/hostname"), "a");
        assert_eq!(ok(a, "cat /proc/1/comm"), "netloom-node");
        assert_eq!(ok(a, "ls /sys/class/net | grep eth"), "eth0");
        assert_eq!(ok(a, "cat /sys/class/net/eth0/address"), "02:00:61:61:00:00");
        assert_eq!(ok(a, "id -u"), "0");
        // Its init, this shell and the two programs of the pipe.
        let count: usize = ok(a, "ls /proc | grep -c '^[0-9]'").parse().unwrap();
        assert!(count <= 4, "{count} processes");
        ok(a, "mount -t tmpfs none /mnt && touch /mnt/only-in-a");
        assert_eq!(ok(&mut nodes[1], "ls /mnt | grep -c only-in-a || true"), "0");
        assert!(!fs::exists("/mnt/only-in-a").unwrap());
    });
}

/// Where the kernel lets it: below an ordinary user's `/proc` the machine's stays, but the lab's goes.
pub(crate) fn nothing_comes_to_light_when_proc_is_unmounted() {
    in_lab(|_| {
        let mut nodes = Node::create_all(&[node("a"), node("b")]).unwrap();
        let mounts = "grep -c ' /proc proc ' /proc/self/mounts";
        let below = ok(&mut nodes[0], &format!("{mounts}; umount -l /proc; ls /proc | wc -l"));
        if nix::unistd::getuid().is_root() && is_in_the_first_user_namespace() {
            assert_eq!(below.lines().collect::<Vec<_>>(), ["1", "0"], "{below}");
        } else {
            assert_eq!(below.lines().next(), Some("2"), "the machine's and the node's: {below}");
        }
        assert_eq!(ok(&mut nodes[1], "ls -d /proc/1"), "/proc/1", "the other node has its own");
    });
}

/// Which maps all users to themselves.
fn is_in_the_first_user_namespace() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap();
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

pub(crate) fn a_node_keeps_no_descriptor_of_the_lab() {
    in_lab(|_| {
        let nodes = Node::create_all(&[node("a"), node("b"), node("c")]).unwrap();
        let last = nodes.last().unwrap();
        let open = || {
            let mut open: Vec<String> = fs::read_dir(format!("/proc/{}/fd", last.pid()))
                .unwrap()
                .map(|entry| fs::read_link(entry.unwrap().path()).unwrap().to_string_lossy().into_owned())
                .map(|target| target.split(':').next().unwrap().to_owned())
                .collect();
            open.sort();
            open
        };
        // The standard streams and two sockets; it opens a descriptor for signals right after it has answered.
        let all = ["/dev/null", "/dev/null", "/dev/null", "anon_inode", "socket", "socket"];
        wait_until("only these are open", Duration::from_secs(50), || open() == all);
    });
}

pub(crate) fn a_killed_node_is_noticed() {
    in_lab(|_| {
        let mut nodes = Node::create_all(&[node("a"), node("b")]).unwrap();
        let [a, b] = &mut nodes[..] else { unreachable!() };
        a.spawn(quiet(&["sleep", "1000"])).unwrap();
        kill(a.pid(), Signal::SIGKILL).unwrap();
        assert_eq!(event(a), NodeEvent::Gone);
        assert_eq!(a.next_event(), None);
        assert!(matches!(a.listening(Transport::Tcp, 80), Err(NodeError::Gone { .. })));
        let text = a.spawn(quiet(&["true"])).unwrap_err().to_string();
        assert_eq!(text, "node a: its first process was killed, and the node with it");
        assert_eq!(ok(b, "echo here"), "here", "the other node does not care");
    });
}

/// Whatever root may do in namespaces of its own, the clock, the modules and the parameters of the whole machine are not among it.
pub(crate) fn root_of_a_node_does_not_act_on_the_machine() {
    // linux/capability.h: CAP_SYS_TIME and CAP_SYS_MODULE; CAP_NET_ADMIN and CAP_SYS_ADMIN.
    let (clock, modules, own) = (1_u64 << 25, 1 << 16, 1 << 12 | 1 << 21);
    let mask = |node: &mut Node, process: &str, field: &str| {
        let line = ok(node, &format!("grep {field} /proc/{process}/status"));
        u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()
    };
    in_lab(|_| {
        let asked = NodeConfig { capabilities: vec!["sys_time".to_owned()], ..node("b") };
        let mut nodes = Node::create_all([node("a"), asked]).unwrap();
        let [a, b] = &mut nodes[..] else { unreachable!("there are two") };
        for (process, field) in [("self", "CapEff"), ("self", "CapBnd"), ("1", "CapPrm"), ("1", "CapBnd")] {
            let has = mask(a, process, field);
            assert_eq!((has & (clock | modules), has & own), (0, own), "{field} of {process}: {has:x}");
        }
        let has = mask(b, "self", "CapEff");
        assert_eq!((has & clock, has & modules), (clock, 0), "{has:x}");
        // access(2) says so, too, where a mount is read-only.
        for path in
            ["/proc/sys/vm/swappiness", "/proc/sys/kernel/panic", "/proc/sysrq-trigger", "/sys/kernel", "/proc/irq"]
        {
            assert!(!sh(a, &format!("test -w {path}")).0.success(), "{path} can be written");
        }
        for path in ["/proc/sys/net/ipv4/ip_forward", "/proc/self/oom_score_adj"] {
            ok(a, &format!("test -w {path}"));
        }
        ok(a, "ip link add br0 type bridge && echo 900 > /sys/class/net/br0/bridge/forward_delay");
    });
}

pub(crate) fn parameters_are_set_or_refused() {
    let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    in_lab(|_| {
        let parameters = vec![
            set("net.ipv4.tcp_ecn", "1"),
            set("kernel.shmmni", "777"),
            set("net.ipv4.conf.eth0.log_martians", "1"),
        ];
        let configs = [
            NodeConfig { sysctls: parameters, ..host("a", &[&["10.0.0.1/24"]]) },
            NodeConfig { forwarding: true, ..host("b", &[&["10.0.0.2/24"]]) },
        ];
        let mut nodes = connected(&configs, &[[(0, 0), (1, 0)]]);
        let read = |node: &mut Node, key: &str| ok(node, &format!("cat /proc/sys/{}", key.replace('.', "/")));
        for (key, a, b) in [
            ("net.ipv4.tcp_ecn", "1", "2"),
            ("net.ipv4.conf.eth0.log_martians", "1", "0"),
            ("net.ipv4.conf.eth0.rp_filter", "0", "0"),
            ("net.ipv4.ip_forward", "0", "1"),
            ("net.ipv4.conf.eth0.forwarding", "0", "1"),
            ("net.ipv6.conf.eth0.forwarding", "0", "1"),
            ("net.ipv6.conf.eth0.accept_ra", "0", "0"),
            ("net.ipv6.conf.eth0.disable_ipv6", "0", "0"),
        ] {
            assert_eq!((&*read(&mut nodes[0], key), &*read(&mut nodes[1], key)), (a, b), "{key}");
        }
        assert_eq!(read(&mut nodes[0], "kernel.shmmni"), "777");

        for (key, value, text) in [
            ("vm.swappiness", "1", "node c: set vm.swappiness: Operation not permitted (it is not a node's own"),
            ("net.ipv4.nonsense", "1", "node c: set net.ipv4.nonsense = 1: No such file or directory"),
            ("net.ipv4.tcp_ecn", "many", "node c: set net.ipv4.tcp_ecn = many: Invalid argument"),
        ] {
            let error = Node::create(&NodeConfig { sysctls: vec![set(key, value)], ..node("c") }).unwrap_err();
            assert!(error.to_string().starts_with(text), "{error}");
        }
    });
}

/// Where the kernel has one that it allows no namespace to choose, that one is asked for: `cubic` where BBR is the default.
pub(crate) fn any_congestion_control_can_be_had() {
    let words = |key: &str| -> Vec<String> {
        let text = fs::read_to_string(format!("/proc/sys/net/ipv4/tcp_{key}congestion_control")).unwrap();
        text.split_whitespace().map(str::to_owned).collect()
    };
    let (available, allowed, default) = (words("available_"), words("allowed_"), words(""));
    let restricted = available.iter().find(|name| !allowed.contains(name));
    let wanted = restricted.or_else(|| available.iter().find(|name| !default.contains(name))).unwrap().clone();
    in_lab(|_| {
        let sysctls = vec![("net.ipv4.tcp_congestion_control".to_owned(), wanted.clone())];
        let mut configs = [
            NodeConfig { sysctls, ..host("a", &[&["10.0.0.1/24", "fd00::1/64"]]) },
            host("b", &[&["10.0.0.2/24", "10.8.0.1/32", "10.9.0.1/32", "fd00::2/64", "fd08::1/128", "fd09::1/128"]]),
        ];
        configs[0].routes = vec![route("10.9.0.1/32", "10.0.0.2"), route("fd09::1/128", "fd00::2")];
        // The way to these leads through a table of its own.
        for (to, via) in [("10.8.0.1/32", "10.0.0.2"), ("fd08::1/128", "fd00::2")] {
            let RouteConfig { destination, via, .. } = route(to, via);
            let rule = RuleConfig {
                is_v6: destination.addr().is_ipv6(),
                from: None,
                to: Some(destination),
                iif: None,
                mark: None,
                table: 1_000,
            };
            configs[0].rules.push(rule);
            configs[0].tables.push(TableRouteConfig { table: 1_000, destination, via: Some(via), interface: 0 });
        }
        let mut nodes = connected(&configs, &[[(0, 0), (1, 0)]]);
        let server = "import socket; s = socket.create_server(('::', 5000), family=socket.AF_INET6, dualstack_ipv6=True)\n\
                      while True: s.accept()[0].sendall(b'x')";
        nodes[1].spawn(quiet(&["python3", "-c", server])).unwrap();
        wait_until("the listener", Duration::from_secs(5), || nodes[1].listening(Transport::Tcp, 5000).unwrap());
        for address in ["10.0.0.2", "10.8.0.1", "10.9.0.1", "fd00::2", "fd08::1", "fd09::1"] {
            let connect = format!(
                "import socket; s = socket.create_connection(('{address}', 5000)); s.recv(1); \
                 print(s.getsockopt(6, socket.TCP_CONGESTION, 16).rstrip(b'\\0').decode())"
            );
            assert_eq!(ok(&mut nodes[0], &format!("python3 -c \"{connect}\"")), wanted, "{address}");
        }
        // Of the routes of a program it is told that they lack it, if they do.
        ok(&mut nodes[0], "ip route add 10.7.0.0/16 via 10.0.0.2 && ip route add 10.6.0.0/16 via 10.0.0.2 table 7");
        nodes[0].begin_account().unwrap();
        let told: Vec<String> =
            nodes[0].finish_account().unwrap().changes.into_iter().map(|change| change.what).collect();
        let told: Vec<&String> = told.iter().filter(|what| what.starts_with("TCP has ")).collect();
        assert_eq!(told.len(), usize::from(restricted.is_some()), "{told:?}");
        assert!(told.iter().all(|what| what.contains(&format!("and not {wanted} on 2 routes"))), "{told:?}");
    });
}

pub(crate) fn a_refusal_names_node_and_object() {
    in_lab(|_| {
        let mut missing = Node::create(&host("a", &[&["10.0.0.1/24"]])).unwrap();
        missing.begin_configure().unwrap();
        let error = missing.finish_configure().unwrap_err();
        assert_eq!(error.to_string(), "node a: find interface eth0: No such device");
        assert_eq!(ok(&mut missing, "echo still there"), "still there");
    });
    in_lab(|_| {
        let twice = host("b", &[&["10.0.0.1/24", "10.0.0.1/24"]]);
        let nodes = std::panic::catch_unwind(|| connected(&[twice, host("c", &[&[]])], &[[(0, 0), (1, 0)]]));
        let panic = nodes.unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("add address 10.0.0.1/24 to eth0") && text.contains("\"b\""), "{text}");
    });
}
