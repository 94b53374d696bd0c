//! Interfaces of real namespaces: two nodes and an engine between them, in a lab of its own, as root or as an ordinary user.
//!
//! Labs are forked by a process with one thread; libtest has several, so this test has no harness.

mod fixture;

use fixture::{DELAY, snapshot_when, start};
use netloom_dataplane::{Engine, PortConfig};
use netloom_fabric::PortId;
use netloom_host::lab::{LabOptions, Namespaces, spawn_lab};
use netloom_host::netlink::{Netlink, Veth, VethEnd};
use netloom_host::node::{AgentClient, InterfaceConfig, Node, NodeConfig, NodeEvent, Spawn};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::time::Duration as RealDuration;

const MTU: u32 = 9_000;

/// A name, and what it plays.
type Case = (&'static str, fn(&mut Lab));

fn main() {
    let options = LabOptions {
        name: "interfaces".to_owned(),
        hosts_file: None,
        resolver_file: None,
        memory: None,
        users: None,
        namespaces: Namespaces::Needed,
    };
    let cases: [Case; 2] = [
        ("frames_cross_both_ways_whatever_their_length", frames_cross_both_ways_whatever_their_length),
        (
            "packets_for_an_interface_without_carrier_are_not_lost",
            packets_for_an_interface_without_carrier_are_not_lost,
        ),
    ];
    for (name, case) in cases {
        let played = spawn_lab(&options, |_| {
            case(&mut Lab::new());
            0
        });
        let (mut lab, _channel) = played.expect("make a lab");
        let status = lab.wait().expect("wait for the lab");
        assert!(status.success(), "{name}: {status}");
        println!("test {name} ... ok");
    }
    println!("\ntest result: ok. {} passed; 0 failed; 0 ignored", cases.len());
}

/// Nodes a and b, each behind a port of the engine.
struct Lab {
    nodes: Vec<Node>,
    netlink: Netlink,
    engine: Engine,
}

impl Lab {
    fn new() -> Self {
        let config = |name: &str, host: u8| NodeConfig {
            lab: "interfaces".to_owned(),
            name: name.to_owned(),
            interfaces: vec![InterfaceConfig {
                name: "eth0".to_owned(),
                mac: [2, 0, 0, 0, 0, host],
                mtu: MTU,
                addresses: vec![format!("10.0.0.{host}/24").parse().expect("an address")],
                leased: Vec::new(),
                neighbors: vec![(
                    format!("10.0.0.{}", 3 - host).parse().expect("an address"),
                    [2, 0, 0, 0, 0, 3 - host],
                )],
                engine: true,
                speed_mbit: None,
            }],
            ..NodeConfig::default()
        };
        let configs = [config("a", 1), config("b", 2)];
        let mut nodes = Node::create_all(&configs).expect("two nodes");
        let mut netlink = Netlink::open().expect("a socket");
        let pair = |number: usize| Veth {
            ends: [
                VethEnd { name: format!("p{number}"), mac: None, namespace: None, up: true },
                VethEnd {
                    name: "eth0".to_owned(),
                    mac: Some(configs[number].interfaces[0].mac),
                    namespace: Some(nodes[number].pid().into()),
                    up: false,
                },
            ],
            mtu: MTU,
        };
        let indices = netlink.create_veths(&[pair(0), pair(1)]).expect("two pairs");
        nodes.iter_mut().for_each(|node| node.begin_configure().expect("a node"));
        nodes.iter_mut().for_each(|node| node.finish_configure().expect("addresses"));
        let port =
            |(ifindex, number): (u32, u32)| PortConfig::Interface { port: PortId(number), ifindex, whole: false };
        let engine = start(1, indices.into_iter().zip(0..).map(port).collect()).expect("an engine");
        Self { nodes, netlink, engine }
    }

    /// Sends requests from one node to the other; what ping says.
    fn ping(&mut self, from: usize, arguments: &[&str]) -> String {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let to = ["10.0.0.2", "10.0.0.1"][from];
        let null = || OwnedFd::from(File::options().read(true).write(true).open("/dev/null").expect("/dev/null"));
        let spawn = Spawn {
            argv: ["ping", "-n"].iter().chain(arguments).chain([&to]).map(Into::into).collect(),
            env: Vec::new(),
            clear_env: false,
            cwd: None,
            stdin: null(),
            stdout: writer.into(),
            stderr: null(),
            tty: false,
            user: None,
        };
        let node = &mut self.nodes[from];
        node.spawn(spawn).expect("ping");
        let mut said = String::new();
        reader.read_to_string(&mut said).expect("what it says");
        fixture::wait_for("its end", || matches!(node.next_event(), Some(NodeEvent::Exited { .. })).then_some(()));
        said
    }
}

/// A frame of up to 2 KB lies in the ring, a longer one is fetched from the socket.
fn frames_cross_both_ways_whatever_their_length(lab: &mut Lab) {
    for (from, size) in [(0, "16"), (1, "1400"), (0, "8900")] {
        let begin = lab.engine.now();
        let said = lab.ping(from, &["-c", "2", "-i", "0.01", "-W", "20", "-s", size]);
        assert!(said.contains(" 2 received"), "{said}");
        assert!(lab.engine.now().since(begin) >= DELAY * 2);
    }
    let last = snapshot_when(&mut lab.engine, "twelve packets", |snapshot| {
        snapshot.pipes.iter().all(|pipe| pipe.delay.count() >= 6)
    });
    assert_eq!((last.engine.lost_sending, last.engine.lost_receiving, last.engine.unheard), (0, 0, 0));
}

/// The kernel refuses a packet for an interface that is down (ENETDOWN). That is what the lab wants, and nobody's error.
fn packets_for_an_interface_without_carrier_are_not_lost(lab: &mut Lab) {
    lab.netlink.switch("p1", false).expect("an interface");
    let said = lab.ping(0, &["-c", "3", "-i", "0.01", "-W", "0.2"]);
    assert!(said.contains(" 0 received"), "{said}");
    let last = snapshot_when(&mut lab.engine, "three packets", |snapshot| snapshot.engine.unheard >= 3);
    assert_eq!((last.engine.lost_sending, last.engine.last_send_error), (0, None));
    lab.netlink.switch("p1", true).expect("an interface");
    // The kernel notices the carrier in the background, and brings routes back then.
    fixture::wait_for("an answer", || {
        let answered = lab.ping(0, &["-c", "1", "-W", "1"]).contains(" 1 received");
        std::thread::park_timeout(RealDuration::from_millis(20));
        answered.then_some(())
    });
}
