//! What the cases have in common.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;
use std::time::Duration;

use netloom_host::lab::{LabOptions, LabSide, Namespaces, spawn_lab};
use netloom_host::netlink::{Netlink, Veth, VethEnd};
use netloom_host::node::{AgentClient, InterfaceConfig, Node, NodeConfig, NodeEvent, ProcessId, RouteConfig, Spawn};
use netloom_testing::wait::wait_until;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Runs `body` in a lab and fails if it panics there.
pub(crate) fn in_lab(body: impl FnOnce(LabSide)) {
    in_lab_with(&options(), body);
}

pub(crate) fn in_lab_with(options: &LabOptions, body: impl FnOnce(LabSide)) {
    let (mut lab, _channel) = spawn_lab(options, |side| {
        body(side);
        0
    })
    .expect("make a lab");
    let status = lab.wait().expect("wait for the lab");
    assert!(status.success(), "in the lab: {status}");
}

pub(crate) fn options() -> LabOptions {
    LabOptions {
        name: "test".to_owned(),
        hosts_file: None,
        resolver_file: None,
        memory: None,
        users: None,
        namespaces: Namespaces::Needed,
    }
}

pub(crate) fn node(name: &str) -> NodeConfig {
    NodeConfig { lab: "test".to_owned(), name: name.to_owned(), ..NodeConfig::default() }
}

/// A node with one interface per list of addresses.
pub(crate) fn host(name: &str, interfaces: &[&[&str]]) -> NodeConfig {
    let interfaces = interfaces.iter().enumerate().map(|(number, addresses)| InterfaceConfig {
        name: format!("eth{number}"),
        mac: [2, 0, name.as_bytes()[0], name.as_bytes()[name.len() - 1], 0, u8::try_from(number).unwrap()],
        mtu: 1500,
        addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
        leased: Vec::new(),
        neighbors: Vec::new(),
        engine: false,
        speed_mbit: None,
    });
    NodeConfig { interfaces: interfaces.collect(), ..node(name) }
}

pub(crate) fn route(destination: &str, via: &str) -> RouteConfig {
    RouteConfig { destination: destination.parse().unwrap(), via: via.parse().unwrap(), interface: 0 }
}

/// Makes nodes, and direct links between pairs of (node, interface).
pub(crate) fn connected(configs: &[NodeConfig], links: &[[(usize, usize); 2]]) -> Vec<Node> {
    let mut nodes = Node::create_all(configs).unwrap();
    let end = |(node, interface): (usize, usize)| {
        let config = &configs[node].interfaces[interface];
        VethEnd {
            name: config.name.clone(),
            mac: Some(config.mac),
            namespace: Some(nodes[node].pid().into()),
            up: false,
        }
    };
    let pairs: Vec<Veth> = links.iter().map(|ends| Veth { ends: ends.map(end), mtu: 1500 }).collect();
    Netlink::open().unwrap().create_veths(&pairs).unwrap();
    for node in &mut nodes {
        node.begin_configure().unwrap();
    }
    for node in &mut nodes {
        node.finish_configure().unwrap();
    }
    for node in &mut nodes {
        wait_until("addresses that can be used", Duration::from_secs(60), || {
            node.begin_settle().unwrap();
            node.finish_settle().unwrap()
        });
    }
    nodes
}

fn words(command: &[&str]) -> Vec<OsString> {
    command.iter().map(OsString::from).collect()
}

pub(crate) fn null() -> OwnedFd {
    File::options().read(true).write(true).open("/dev/null").unwrap().into()
}

/// A program without input and output.
pub(crate) fn quiet(command: &[&str]) -> Spawn {
    Spawn {
        argv: words(command),
        env: Vec::new(),
        clear_env: false,
        cwd: None,
        stdin: null(),
        stdout: null(),
        stderr: null(),
        tty: false,
        user: None,
    }
}

/// Runs a shell script in a node to its end.
pub(crate) fn sh(node: &mut Node, script: &str) -> (ExitStatus, String) {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let stderr = writer.try_clone().unwrap().into();
    let process =
        node.spawn(Spawn { stdout: writer.into(), stderr, ..quiet(&["/bin/sh", "-c", script]) }).expect("start sh");
    let mut output = String::new();
    reader.read_to_string(&mut output).unwrap();
    (exit_of(node, process), output.trim_end().to_owned())
}

/// The same for a script that must succeed; returns what it prints.
pub(crate) fn ok(node: &mut Node, script: &str) -> String {
    let (status, output) = sh(node, script);
    assert!(status.success(), "{script}: {status}\n{output}");
    output
}

pub(crate) fn exit_of(node: &mut Node, process: ProcessId) -> ExitStatus {
    match event(node) {
        NodeEvent::Exited { process: ended, status, .. } if ended == process => status,
        other => panic!("expected the end of {process:?}, not {other:?}"),
    }
}

pub(crate) fn event(node: &mut Node) -> NodeEvent {
    loop {
        if let Some(event) = node.next_event() {
            return event;
        }
        let timeout = PollTimeout::try_from(Duration::from_secs(50)).unwrap();
        let ready = poll(&mut [PollFd::new(node.as_fd(), PollFlags::POLLIN)], timeout).unwrap();
        assert_eq!(ready, 1, "nothing happens in {}", node.name());
    }
}
