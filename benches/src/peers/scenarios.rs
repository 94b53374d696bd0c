//! The networks that are compared, with the programs of `benches/peers/programs.c`, iperf3 and etcd.
//!
//! TCP is Reno everywhere, since Shadow has nothing else.

use super::scenario::{Host, Program, Scenario, Shape, words};

const IPERF3: &str = "/usr/bin/iperf3";
pub(crate) const ETCD: &str = "/usr/bin/etcd";
const RENO: &str = "{congestion: reno}";
/// All hosts know the addresses of all: Shadow and ns-3 have no ARP.
const NO_ARP: &str = "arp: false\n";
/// When programs begin that need others.
const BEGIN_MS: u32 = 1_000;
/// How many kernels idle side by side.
pub(super) const KERNELS: u32 = 200;
/// A minute of lab time.
const IDLE_SECONDS: u32 = 60;

fn host(name: impl Into<String>, mbit: u32, delay_ms: u32, programs: Vec<Program>) -> Host {
    Host { name: name.into(), keys: RENO, mbit, delay_ms, queue: 1_000, programs }
}

/// Two hosts on a wire of 10 ms.
fn wire(mbit: u32, from: Program, to: Program, stop: u32) -> Scenario {
    // Two hundred microseconds of a gigabit are more packets.
    let queue = if mbit >= 1_000 { 2_000 } else { 1_000 };
    let hosts = [("a", from), ("b", to)].map(|(name, one)| Host { queue, ..host(name, mbit, 10, vec![one]) });
    Scenario { hosts: hosts.into(), shape: Shape::Wire, keys: "", stop, general: "" }
}

/// One TCP flow that lasts ten seconds.
pub(super) fn bulk(programs: &str, mbit: u32) -> Scenario {
    let bytes = u64::from(mbit) * 1_200_000;
    let from = Program::new(words(programs, &format!("bulk b 5001 {bytes}")), BEGIN_MS);
    wire(mbit, from, Program::new(words(programs, "sink 5001"), 0), 15)
}

/// The same by iperf3, as Shadow's documentation runs it.
pub(super) fn iperf3(mbit: u32) -> Scenario {
    let from = Program::new(words(IPERF3, "-4 -c b -t 10 --json"), BEGIN_MS);
    let to = Program::service(words(IPERF3, "-4 -s"), 0).in_shadow(words(IPERF3, "-4 -s --bind 0.0.0.0"));
    let general = "  model_unblocked_syscall_latency: true\n";
    Scenario { general, ..wire(mbit, from, to, 15) }
}

/// Two hundred thousand datagrams at 800 Mbit/s, a hundred at once.
pub(super) fn datagrams(programs: &str) -> Scenario {
    let from = Program::new(words(programs, "packets b 9 200000 972 100 1000"), BEGIN_MS);
    let mut scenario = wire(1_000, from, Program::new(words(programs, "count 9 200000"), 0), 6);
    scenario.hosts[1].keys = "{sysctl: {net.core.rmem_max: 8388608}}";
    scenario
}

fn star(hosts: Vec<Host>, stop: u32) -> Scenario {
    Scenario { hosts, shape: Shape::Switch, keys: NO_ARP, stop, general: "" }
}

/// A program that makes so many system calls, which do nothing.
pub(super) const CALLS: u32 = 1_000_000;

pub(super) fn calls(programs: &str) -> Scenario {
    let ask = Program::new(words(programs, &format!("calls {CALLS}")), 0);
    wire(1_000, ask, Program::new(words("/bin/true", ""), 0), 100)
}

/// Twenty-five pairs of hosts, each with a TCP flow of five seconds.
pub(super) fn pairs(programs: &str) -> Scenario {
    let pair = |place: u32| {
        let (one, other) = (format!("h{place}"), format!("h{}", place + 1));
        let send = Program::new(words(programs, &format!("bulk {other} 5001 6000000")), BEGIN_MS);
        let take = Program::new(words(programs, "sink 5001"), 0);
        [host(one, 10, 5, vec![send]), host(other, 10, 5, vec![take])]
    };
    let hosts = (0..50).step_by(2).flat_map(pair).map(|one| Host { queue: 100, ..one });
    star(hosts.collect(), 15)
}

/// A hundred hosts that fetch ten files each from five servers.
pub(super) fn files(programs: &str) -> Scenario {
    let server = |place: u32| {
        let serve = Program::service(words(programs, "files 8000 1000000"), 0);
        host(format!("v{place}"), 1_000, 10, vec![serve])
    };
    let client = |place: u32| {
        let arguments = format!("fetch v{} 8000 10 1000000", place % 5);
        host(format!("c{place}"), 20, 10, vec![Program::new(words(programs, &arguments), BEGIN_MS + 20 * place)])
    };
    star((0..5).map(server).chain((0..100).map(client)).collect(), 40)
}

/// Twenty hosts, each of which sends a datagram per second to the next for an hour, and gets it back.
pub(super) fn pings(programs: &str) -> Scenario {
    let one = |place: u32| {
        let echo = Program::service(words(programs, "echo 7"), 0);
        let arguments = format!("ping h{} 7 3600 1000", (place + 1) % 20);
        host(format!("h{place}"), 100, 5, vec![echo, Program::new(words(programs, &arguments), BEGIN_MS)])
    };
    star((0..20).map(one).collect(), 3_602)
}

/// Three members of etcd and a client that puts twenty keys per second, for 31 seconds.
pub(super) fn etcd(programs: &str) -> Scenario {
    let member = |place: u32| {
        let arguments = |data: &str| {
            words(
                ETCD,
                &format!(
                    "--name e{place} --data-dir {data} --log-level error --logger zap --log-outputs stderr \
                     --initial-cluster-token lab \
                     --initial-cluster e1=http://e1:2380,e2=http://e2:2380,e3=http://e3:2380 --initial-cluster-state new \
                     --listen-peer-urls http://0.0.0.0:2380 --initial-advertise-peer-urls http://e{place}:2380 \
                     --listen-client-urls http://0.0.0.0:2379 --advertise-client-urls http://e{place}:2379"
                ),
            )
        };
        // Shadow's hosts share this machine's files, and each starts in a folder of its own.
        let run = Program::service(arguments("/tmp/etcd"), place).in_shadow(arguments("etcd"));
        Host { keys: "{memory: 256 MB}", ..host(format!("e{place}"), 1_000, 2, vec![run]) }
    };
    let put = Program::new(words(programs, "keys e1 2379 540 50"), 3_000);
    let client = Host { keys: "{}", ..host("client", 1_000, 2, vec![put]) };
    Scenario { keys: "duration: 31 s\n", ..star((1..=3).map(member).chain([client]).collect(), 31) }
}

/// One TCP flow of five seconds over 10 ms, which are in the middle of its way or at its ends.
pub(super) fn path(programs: &str, is_in_the_middle: bool) -> Scenario {
    let (middle_ms, delay_ms) = if is_in_the_middle { (10, 0) } else { (0, 5) };
    let send = Program::new(words(programs, "bulk b 5001 60000000"), BEGIN_MS);
    let hosts = vec![
        host("a", 100, delay_ms, vec![send]),
        host("b", 100, delay_ms, vec![Program::new(words(programs, "sink 5001"), 0)]),
    ];
    Scenario { hosts, shape: Shape::Path { middle_ms }, keys: "", stop: 10, general: "" }
}

/// Kernels that do nothing for a minute.
pub(super) fn kernels() -> Scenario {
    let one = |place: u32| Host { keys: "{}", ..host(format!("h{place}"), 1_000, 1, Vec::new()) };
    let mut hosts: Vec<Host> = (0..KERNELS).map(one).collect();
    hosts[0].programs.push(Program::new(words("/bin/sleep", &IDLE_SECONDS.to_string()), 0));
    Scenario { keys: "", ..star(hosts, IDLE_SECONDS) }
}

/// Eight hundred thousand packets of a thousand bytes over one link of a gigabit, without programs.
pub(super) const LINK: &str = "name: link\nduration: 8 s\nnodes: [a, b]\nlinks:\n  \
    line: {ends: [a, b], rate: 1 Gbit/s, delay: 10 ms, queue: 1000 packets}\ntraffic:\n  \
    - {from: a, to: b, as: packets, kind: constant, rate: 800 Mbit/s, size: 1000 B}\n";
/// Its packets.
pub(super) const LINK_PACKETS: u32 = 800_000;
