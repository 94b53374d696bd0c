//! Labs whose nodes are Linux kernels of their own, in real and dilated time. The kernel is the one that the environment
//! variable NETLOOM_KERNEL names.

use crate::fixture::{Fixture, User};
use crate::wait::wait_until;
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

const LAB: &str = "
name: kernels
clock: CLOCK
nodes:
  a: {stack: kernel, env: {COLOUR: red}, congestion: bbr}
  r: {kind: router, stack: kernel}
  b: {stack: kernel}
links:
  near: {ends: [a, r], rate: 100 Mbit/s}
  far: {ends: [r, b], rate: 10 Mbit/s, delay: 5 ms}
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
";

fn lab(clock: &str, timeline: &str) -> String {
    assert!(std::env::var_os("NETLOOM_KERNEL").is_some(), "NETLOOM_KERNEL names the kernel for these tests");
    format!("{}{timeline}", LAB.replace("CLOCK", clock))
}

/// Whether there is a process of the lab's kernels.
fn kernels_run(fixture: &Fixture) -> bool {
    kernels(fixture).next().is_some()
}

/// The processes of the lab's kernels, but for those of the programs inside.
fn kernels(fixture: &Fixture) -> impl Iterator<Item = i32> {
    let folder = fixture.path().join("runtime");
    let ours = move |pid: &i32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_kernel = String::from_utf8_lossy(&command).contains("rootfstype=hostfs");
        is_kernel && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place.starts_with(&folder))
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).filter(ours)
}

#[test]
fn programs_run_on_kernels_in_real_and_dilated_time() {
    for (user, clock) in User::all().into_iter().zip(["{dilation: 10}", "real"]) {
        let fixture = Fixture::new(user);
        let timeline = "
timeline:
  - {on: b, run: iperf3 -s, service: true, ready: {tcp: 5201}}
  - {on: b, run: 'touch made; sleep 100', as: maker, service: true, ready: {file: made}}
  - {on: a, run: ping -c 3 -i 0.1 b, save: ping.txt}
  - {on: a, run: 'iperf3 -c b -n 500K --json', save: iperf.json}
  - {on: a, run: 'echo $COLOUR $NETLOOM_NODE $(hostname) $(cat /proc/sys/net/ipv4/tcp_congestion_control)', save: facts}
  - {on: b, run: seq 1 300000, save: numbers}
  - {on: a, run: 'sleep 1; exit 3', as: odd}
expect:
  - odd.exit == 3
";
        fixture.write("kernels.yaml", &lab(clock, timeline));
        fixture.netloom(&["run", "kernels.yaml"]).expect_code(0);
        let saved = |name: &str| fs::read_to_string(fixture.latest("kernels").join(name)).unwrap();
        assert_eq!(saved("facts"), "red a a bbr\n");
        assert!(saved("ping.txt").contains("3 received"), "{}", saved("ping.txt"));
        assert!(saved("iperf.json").contains("\"congestion\":\t\"bbr\"") || saved("iperf.json").contains("bbr"));
        let numbers: String = (1..=300_000).map(|number| format!("{number}\n")).collect();
        assert!(saved("numbers") == numbers, "{} bytes", saved("numbers").len());
        assert!(!fixture.work().join("made").exists(), "a kernel node wrote to the machine's files");
        fixture.assert_nothing_is_left("kernels");
        assert!(!kernels_run(&fixture));
    }
}

#[test]
fn an_interactive_day_on_kernels() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        fixture.write("kernels.yaml", &lab("real", ""));
        fixture.netloom(&["up", "kernels.yaml"]).expect_code(0);
        let shell = fixture
            .netloom(&["exec", "kernels", "a", "--", "sh", "-c", "echo $COLOUR; pwd; echo err >&2; exit 42"])
            .expect_code(42);
        assert_eq!(shell.stdout, format!("red\n{}\n", fixture.work().display()));
        assert_eq!(shell.stderr, "err\n");
        fixture.netloom(&["exec", "kernels", "a", "--", "sh", "-c", "kill -9 $$"]).expect_code(128 + 9);
        let absent = fixture.netloom(&["exec", "kernels", "a", "--", "no-such-program"]).expect_code(4);
        assert!(absent.stderr.contains("program not found: no-such-program"), "{absent:#?}");
        let ping = fixture.netloom(&["exec", "kernels", "a", "--", "ping", "-c", "1", "b"]).expect_code(0);
        assert!(ping.stdout.contains("1 received"), "{ping:#?}");
        fixture.netloom(&["down"]).expect_code(0);
        fixture.assert_nothing_is_left("kernels");
        assert!(fixture.runtime_files().is_empty() && !kernels_run(&fixture));
    }
}

#[test]
fn a_killed_kernel_ends_the_run_with_eight_and_its_name() {
    let fixture = Fixture::new(User::Own);
    let timeline = "timeline: [{on: a, run: ping -i 0.1 b, may_fail: true}]\nduration: 600 s\n";
    fixture.write("kernels.yaml", &lab("real", timeline));
    let mut child =
        fixture.command(&["run", "kernels.yaml"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the ping", || {
        fs::read_to_string(fixture.latest("kernels").join("logs/01-a-ping.stdout"))
            .is_ok_and(|text| text.contains("seq=3"))
    });
    let victim = kernels(&fixture).min().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(victim), nix::sys::signal::Signal::SIGKILL).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(8));
    let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(stderr.contains("node `a`: its kernel was ended by signal 9"), "{stderr}");
    assert_eq!(fixture.json("kernels", "report.json")["exit_code"], 8);
    fixture.assert_nothing_is_left("kernels");
    assert!(!kernels_run(&fixture));
}

/// Stopped, as one that waits for a file of a slow disk is, or one whose control group is frozen: it waits for no processor.
#[test]
fn a_kernel_that_stood_still_is_found_by_its_heartbeat() {
    let fixture = Fixture::new(User::Own);
    let timeline = "timeline: [{on: a, run: ping -i 0.05 -w 4 b, may_fail: true}]\n";
    let still = "starts: 100 s, standstill: 2 s}";
    fixture.write("kernels.yaml", &lab("real", timeline).replace("starts: 100 s}", still));
    let mut child =
        fixture.command(&["run", "kernels.yaml"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the ping", || {
        fs::read_to_string(fixture.latest("kernels").join("logs/01-a-ping.stdout"))
            .is_ok_and(|text| text.contains("seq=3"))
    });
    // The kernel of the node that was booted last: the helpers of a kernel are its children.
    let all: Vec<i32> = kernels(&fixture).collect();
    let parent = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(1)?.parse::<i32>().ok())
    };
    let last = all.iter().filter(|pid| parent(pid).is_some_and(|parent| !all.contains(&parent))).max().unwrap();
    let victim = nix::unistd::Pid::from_raw(*last);
    nix::sys::signal::kill(victim, nix::sys::signal::Signal::SIGSTOP).unwrap();
    sleep(Duration::from_millis(3_500));
    nix::sys::signal::kill(victim, nix::sys::signal::Signal::SIGCONT).unwrap();
    let stdout = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5), "{stdout}");
    assert!(stdout.contains("node b: its kernel stood still for "), "{stdout}");
    fixture.assert_nothing_is_left("kernels");
}

/// What each node is told, and what its interface then has: the same in namespaces and on a kernel of its own.
#[test]
fn sysctl_means_the_same_on_all_stacks() {
    const DEFAULTS: [(&str, &str); 16] = [
        ("ipv4.conf.DEFAULT.rp_filter", "2"),
        ("ipv4.conf.DEFAULT.arp_ignore", "1"),
        ("ipv4.conf.DEFAULT.arp_announce", "2"),
        ("ipv4.conf.DEFAULT.proxy_arp", "1"),
        ("ipv4.conf.DEFAULT.accept_source_route", "1"),
        ("ipv4.conf.DEFAULT.send_redirects", "0"),
        ("ipv4.conf.DEFAULT.log_martians", "1"),
        ("ipv4.conf.DEFAULT.shared_media", "0"),
        ("ipv4.conf.DEFAULT.secure_redirects", "0"),
        ("ipv6.conf.DEFAULT.use_tempaddr", "2"),
        ("ipv6.conf.DEFAULT.accept_ra", "2"),
        ("ipv6.conf.DEFAULT.hop_limit", "33"),
        ("ipv6.conf.DEFAULT.router_solicitations", "2"),
        ("ipv6.conf.DEFAULT.max_addresses", "5"),
        ("ipv6.conf.DEFAULT.autoconf", "0"),
        ("ipv6.conf.DEFAULT.accept_source_route", "1"),
    ];
    let said: Vec<String> =
        DEFAULTS.iter().map(|(key, value)| format!("net.{}: {value}", key.replace("DEFAULT", "default"))).collect();
    let looked: Vec<String> =
        DEFAULTS.iter().map(|(key, _)| key.replace("DEFAULT", "eth0").replace('.', "/")).collect();
    let others = "ipv4/ip_forward ipv6/conf/all/forwarding ipv6/conf/eth0/forwarding ipv4/conf/eth0/forwarding \
                  ipv6/conf/eth0/disable_ipv6 ipv6/conf/default/disable_ipv6 ipv4/conf/all/arp_filter \
                  ipv4/conf/eth0/arp_filter ipv6/conf/eth0/accept_dad ipv4/ip_default_ttl";
    let look = format!("for key in {} {others}; do echo $key $(cat /proc/sys/net/$key); done", looked.join(" "));
    let lab = |clock: &str| {
        format!(
            "name: sysctl
clock: {clock}
addresses: none
routes: none
nodes:
  a: {{sysctl: {{{}}}}}
  b: {{kind: router, sysctl: {{net.ipv4.ip_forward: 0, net.ipv6.conf.all.forwarding: 0, net.ipv4.ip_default_ttl: 60}}}}
  c: {{sysctl: {{net.ipv6.conf.all.disable_ipv6: 1, net.ipv4.conf.all.arp_filter: 1, net.ipv4.conf.eth0.arp_filter: 1}}}}
links: {{l: {{ends: [a, b]}}, m: {{ends: [b, c]}}}}
bounds: {{lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}
timeline:
  - {{on: a, run: '{look}', save: a}}
  - {{on: b, run: '{look}', save: b}}
  - {{on: c, run: '{look}', save: c}}
",
            said.join(", ")
        )
    };
    let fixture = Fixture::new(User::Own);
    let told = |clock: &str| {
        fixture.write("sysctl.yaml", &lab(clock));
        fixture.netloom(&["run", "sysctl.yaml"]).expect_code(0);
        ["a", "b", "c"].map(|node| fs::read_to_string(fixture.latest("sysctl").join(node)).unwrap())
    };
    let (namespaces, kernels) = (told("real"), told("virtual"));
    for (namespace, kernel) in namespaces.iter().zip(&kernels) {
        assert_eq!(namespace, kernel);
    }
    for (key, (_, value)) in looked.iter().zip(&DEFAULTS) {
        assert!(kernels[0].contains(&format!("{key} {value}\n")), "{key}: {}", kernels[0]);
    }
    assert!(kernels[1].contains("ipv4/ip_forward 0\n") && kernels[1].contains("ipv6/conf/eth0/forwarding 0\n"));
    assert!(kernels[2].contains("ipv6/conf/eth0/disable_ipv6 1\n"), "{}", kernels[2]);
}

/// A bond by LACP needs ports that tell their speed and duplex, also those of links without a rate: two of them become one. A bridge's
/// spanning tree takes its costs from the speed (802.1D, table 17-3).
#[test]
fn links_are_bonded_by_lacp() {
    let bond = "\"ip link add bond0 type bond mode 802.3ad lacp_rate fast miimon 100\", \
                \"ip link set eth0 down\", \"ip link set eth1 down\", \"ip link set eth0 master bond0\", \
                \"ip link set eth1 master bond0\", \"ip link set bond0 up\"";
    let node = |address: &str| format!("{{setup: [{bond}, \"ip addr add {address} dev bond0\"]}}");
    let fixture = Fixture::new(User::Own);
    fixture.write(
        "lacp.yaml",
        &format!(
            "name: lacp
clock: virtual
routes: none
addresses: none
nodes:
  a: {}
  b: {}
links: {{l1: {{ends: [a, b], delay: 1 ms}}, l2: {{ends: [a, b], delay: 1 ms}}}}
bounds: {{changes: true}}
timeline:
  - {{at: 5 s, on: a, run: cat /proc/net/bonding/bond0 /sys/class/net/eth0/speed /sys/class/net/eth0/duplex, as: state}}
  - {{at: 6 s, on: a, run: ping -c 3 10.0.0.2, as: ping}}
expect:
  - 'state.stdout contains \"Number of ports: 2\"'
  - 'state.stdout contains \"10000\"'
  - 'state.stdout contains \"full\"'
  - ping.exit == 0
",
            node("10.0.0.1/24"),
            node("10.0.0.2/24")
        ),
    );
    fixture.netloom(&["run", "lacp.yaml"]).expect_code(0);
}

#[test]
fn a_kernel_that_is_none_is_told() {
    let fixture = Fixture::new(User::Own);
    fixture.write("kernels.yaml", &lab("real", ""));
    let mut command = fixture.command(&["run", "kernels.yaml"]);
    command.env("NETLOOM_KERNEL", "/bin/true");
    let refused = fixture.finish(command).expect_code(4);
    assert!(refused.stderr.contains("/bin/true"), "{refused:?}");
    fixture.assert_nothing_is_left("kernels");
}
