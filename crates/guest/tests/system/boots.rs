use std::fs;
use std::time::{Duration, Instant};

use netloom_guest::kernel::{Cache, build::import};
use netloom_host::node::{AgentClient, NodeEvent, RouteConfig, Transport};
use nix::sys::signal::{Signal, kill};

use crate::fixture::{boot, config, event, in_lab, interface, kernel, ok, quiet, with_node, with_nodes};

pub(crate) fn a_kernel_becomes_a_node() {
    let mut router = config("router");
    router.forwarding = true;
    router.interfaces = vec![
        interface("left", 1, &["10.0.0.1/24", "fd00::1/64"]),
        // A name that another device has before it gets its own.
        interface("eth1", 2, &["10.0.1.1/24"]),
    ];
    router.interfaces[0].neighbors = vec![("10.0.0.2".parse().unwrap(), [2, 0, 0, 0, 0, 9])];
    router.interfaces[1].mtu = 1400;
    let via = "10.0.0.2".parse().unwrap();
    router.routes = vec![RouteConfig { destination: "10.9.0.0/16".parse().unwrap(), via, interface: 0 }];
    router.sysctls = vec![
        ("net.ipv4.tcp_congestion_control".into(), "bbr".into()),
        ("net.ipv4.conf.left.forwarding".into(), "0".into()),
    ];
    with_nodes(&[router], |nodes| {
        let node = &mut nodes[0];
        assert_eq!(ok(node, "hostname; cat /proc/sys/net/ipv4/tcp_congestion_control"), "router\nbbr");
        assert_eq!(ok(node, "cd /sys/class/net; ls -d */ | tr -d / | xargs echo"), "eth1 left lo");
        assert_eq!(
            ok(node, "cat /sys/class/net/left/address /sys/class/net/left/tx_queue_len"),
            "02:00:00:00:00:01\n1000"
        );
        assert_eq!(ok(node, "cat /sys/class/net/eth1/mtu"), "1400");
        let forwarding = "cd /proc/sys/net; cat ipv4/ip_forward ipv4/conf/left/forwarding ipv6/conf/eth1/forwarding";
        assert_eq!(ok(node, forwarding), "1\n0\n1");
        assert_eq!(
            ok(node, "cat /proc/sys/net/ipv6/conf/left/accept_dad /proc/sys/net/ipv6/conf/eth1/accept_ra"),
            "0\n0"
        );
        assert!(ok(node, "ip route get 10.9.1.1").contains("via 10.0.0.2 dev left"));
        assert!(ok(node, "ip neigh").contains("10.0.0.2 dev left lladdr 02:00:00:00:00:09 PERMANENT"));
        assert!(ok(node, "ip -6 addr show dev left").contains("inet6 fd00::1/64"));
        let counters = node.interface_counters().unwrap();
        let mut names: Vec<_> = counters.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["eth1", "left"]);
    });
}

pub(crate) fn a_refused_parameter_is_told() {
    let mut odd = config("odd");
    odd.sysctls = vec![("net.ipv4.no_such_thing".into(), "1".into())];
    in_lab(|| {
        let folder = tempfile::tempdir().unwrap();
        let refused = std::panic::catch_unwind(|| drop(boot(folder.path(), &[odd])));
        let message = *refused.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("net.ipv4.no_such_thing"), "{message}");
    });
}

/// Wherever it may write, the machine's files stay as they are.
pub(crate) fn nothing_is_written_to_the_machine() {
    with_node(|node| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old"), "as it was").unwrap();
        let path = folder.path().display();
        let script = format!(
            "cd {path} && echo changed > old && echo new > new && mkdir sub && mv old sub/moved && cat sub/moved"
        );
        assert_eq!(ok(node, &script), "changed");
        assert_eq!(ok(node, &format!("ls {path} | xargs echo")), "new sub");
        assert!(node.has_file(folder.path().join("new")).unwrap());
        assert!(!node.has_file(folder.path().join("old")).unwrap());
        assert_eq!(fs::read_to_string(folder.path().join("old")).unwrap(), "as it was");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        ok(node, "echo x > /run/netloom-test-file && echo x > /dev/shm/x && mkdir /netloom-test-folder");
        assert!(!fs::exists("/netloom-test-folder").unwrap() && !fs::exists("/run/netloom-test-file").unwrap());
        // What the kernel's process itself could write to: its own folder, and the place that hides the machine's /sys.
        let mounts = fs::read_to_string(format!("/proc/{}/mountinfo", node.pid().unwrap())).unwrap();
        let writable: Vec<_> =
            mounts.lines().filter(|line| line.split(' ').nth(5).unwrap().starts_with("rw")).collect();
        assert!(
            matches!(writable[..], [own, sys] if own.contains("/a/own ") && sys.contains(" /sys ")),
            "{writable:#?}"
        );
    });
}

pub(crate) fn a_killed_kernel_is_noticed() {
    with_node(|node| {
        let _running = node.spawn(quiet(&["sleep", "1000"])).unwrap();
        kill(node.pid().unwrap(), Signal::SIGKILL).unwrap();
        assert_eq!(event(node), NodeEvent::Gone);
        assert_eq!(node.next_event(), None);
        assert!(node.obituary().unwrap().contains("signal 9"), "{:?}", node.obituary());
        let error = node.listening(Transport::Tcp, 80).unwrap_err().to_string();
        assert!(error.starts_with("node a: its kernel was ended by signal 9"), "{error}");
        assert!(node.spawn(quiet(&["true"])).is_err());
    });
}

/// An answer that comes late is not taken for that to the next question.
pub(crate) fn a_kernel_that_answers_late_is_given_up() {
    with_node(|node| {
        node.set_patience(Duration::from_millis(300));
        kill(node.pid().unwrap(), Signal::SIGSTOP).unwrap();
        let error = node.listening(Transport::Tcp, 80).unwrap_err().to_string();
        assert!(error.contains("its kernel does not answer"), "{error}");
        kill(node.pid().unwrap(), Signal::SIGCONT).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert!(node.has_file("/".into()).unwrap_err().to_string().contains("does not answer"));
        assert_eq!(event(node), NodeEvent::Gone);
    });
}

pub(crate) fn a_kernel_that_ends_shows_its_console() {
    with_node(|node| {
        let _ = node.spawn(quiet(&["sh", "-c", "echo last words > /dev/console; poweroff -f || busybox poweroff -f"]));
        while event(node) != NodeEvent::Gone {}
        let obituary = node.obituary().unwrap();
        assert!(obituary.contains("\n  | last words"), "{obituary}");
    });
}

/// It is confined nowhere then, since an ordinary user builds kernels, too.
pub(crate) fn a_kernel_is_imported_when_it_has_booted() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("kernels"));
    let imported = import(&kernel(), &std::env::current_exe().unwrap(), &cache, &mut |_| ()).unwrap();
    assert_eq!(cache.builds(), [imported]);
    let script = folder.path().join("no-init");
    fs::write(&script, "no program\n").unwrap();
    let error = import(&kernel(), &script, &cache, &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("booting the kernel"), "{error}");
}

pub(crate) fn ten_kernels_boot_side_by_side() {
    let configs: Vec<_> = (0..10).map(|number| config(&format!("n{number}"))).collect();
    let begin = Instant::now();
    with_nodes(&configs, |nodes| {
        println!("10 kernels within {:?}", begin.elapsed());
        for (number, node) in nodes.iter_mut().enumerate() {
            assert_eq!(ok(node, "hostname"), format!("n{number}"));
        }
    });
}
