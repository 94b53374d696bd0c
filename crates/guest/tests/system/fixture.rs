//! What the cases have in common.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use netloom_guest::node::{Boot, KernelNode, Pump, SocketChannel};
use netloom_host::lab::{LabOptions, Namespaces, spawn_lab};
use netloom_host::node::{AgentClient, Identity, InterfaceConfig, NodeConfig, NodeEvent, ProcessId, Spawn};
use netloom_vhost::Listener;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The kernel that all cases boot.
pub(crate) fn kernel() -> PathBuf {
    let named = std::env::var_os("NETLOOM_KERNEL");
    named.expect("NETLOOM_KERNEL names the kernel for these tests, as `netloom kernel list` shows it").into()
}

/// Runs `body` in a lab and fails if it panics there.
pub(crate) fn in_lab(body: impl FnOnce()) {
    let options = LabOptions {
        name: "test".to_owned(),
        hosts_file: None,
        resolver_file: None,
        memory: None,
        users: None,
        namespaces: Namespaces::Needed,
    };
    let (mut lab, _channel) = spawn_lab(&options, |_| {
        body();
        0
    })
    .expect("make a lab");
    let status = lab.wait().expect("wait for the lab");
    assert!(status.success(), "in the lab: {status}");
}

/// Nodes, and what serves their devices. The interfaces lead nowhere.
pub(crate) struct Booted {
    pub(crate) nodes: Vec<KernelNode>,
    _pump: Pump,
    _interfaces: Vec<OwnedFd>,
}

/// Boots nodes, all at the same time.
pub(crate) fn boot(folder: &Path, configs: &[NodeConfig]) -> Booted {
    let devices = |config: &NodeConfig| {
        let own = folder.join(&config.name);
        std::fs::create_dir_all(own.join("own")).unwrap();
        (0..=config.interfaces.len()).map(move |device| own.join(device.to_string()))
    };
    let sockets = configs.iter().flat_map(devices);
    let (pump, ends) = Pump::start(sockets.map(|path| Listener::bind(&path).unwrap()).collect()).unwrap();
    let mut ends = ends.into_iter();
    let mut interfaces = Vec::new();
    let mut nodes = Vec::new();
    for config in configs {
        let control = SocketChannel::new(ends.next().unwrap());
        interfaces.extend(ends.by_ref().take(config.interfaces.len()));
        let boot = Boot {
            name: config.name.clone(),
            kernel: kernel(),
            init: std::env::current_exe().unwrap(),
            memory_mib: 64 + 2 * config.interfaces.len() as u64,
            folder: folder.join(&config.name).join("own"),
            console: folder.join(&config.name).join("console"),
            devices: (0..=config.interfaces.len()).map(|device| format!("../{device}").into()).collect(),
            processor: Some(0),
            polls: Vec::new(),
            cgroup: None,
            disk: None,
            arguments: Vec::new(),
            late: false,
            bare: None,
        };
        nodes.push(KernelNode::start(&boot, Box::new(control), &mut |_| {}).unwrap());
    }
    for (node, config) in nodes.iter_mut().zip(configs) {
        node.await_up(Duration::from_secs(20)).unwrap();
        node.begin_become(Identity { config: config.clone(), cwd: "/".into() }).unwrap();
    }
    for node in &mut nodes {
        node.finish_become().unwrap();
        node.begin_configure().unwrap();
        node.finish_configure().unwrap();
    }
    Booted { nodes, _pump: pump, _interfaces: interfaces }
}

/// How a node without interfaces is booted, the lab's end of its channel, and what serves that.
pub(crate) fn alone(folder: &Path) -> (Boot, OwnedFd, Pump) {
    let own = folder.join("own");
    std::fs::create_dir(&own).unwrap();
    let (pump, mut ends) = Pump::start(vec![Listener::bind(&folder.join("0")).unwrap()]).unwrap();
    let boot = Boot {
        name: "a".to_owned(),
        kernel: kernel(),
        init: std::env::current_exe().unwrap(),
        memory_mib: 64,
        folder: own,
        console: folder.join("console"),
        devices: vec!["../0".into()],
        processor: Some(0),
        polls: Vec::new(),
        cgroup: None,
        disk: None,
        arguments: Vec::new(),
        late: false,
        bare: None,
    };
    (boot, ends.remove(0), pump)
}

pub(crate) fn config(name: &str) -> NodeConfig {
    NodeConfig { lab: "test".to_owned(), name: name.to_owned(), ..NodeConfig::default() }
}

pub(crate) fn interface(name: &str, number: u8, addresses: &[&str]) -> InterfaceConfig {
    InterfaceConfig {
        name: name.to_owned(),
        mac: [2, 0, 0, 0, 0, number],
        mtu: 1500,
        addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
        leased: Vec::new(),
        neighbors: Vec::new(),
        engine: false,
        speed_mbit: None,
    }
}

/// One node without interfaces.
pub(crate) fn with_node(body: impl FnOnce(&mut KernelNode)) {
    with_nodes(&[config("a")], |nodes| body(&mut nodes[0]));
}

pub(crate) fn with_nodes(configs: &[NodeConfig], body: impl FnOnce(&mut [KernelNode])) {
    in_lab(|| {
        let folder = tempfile::tempdir().unwrap();
        body(&mut boot(folder.path(), configs).nodes);
    });
}

pub(crate) fn null() -> OwnedFd {
    File::options().read(true).write(true).open("/dev/null").unwrap().into()
}

/// A program without input and output.
pub(crate) fn quiet(command: &[&str]) -> Spawn {
    Spawn {
        argv: command.iter().map(OsString::from).collect(),
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

/// Runs a program in a node to its end; its output.
pub(crate) fn output(node: &mut KernelNode, spawn: Spawn) -> (ExitStatus, Vec<u8>) {
    let mut file = tempfile::tempfile().unwrap();
    let copy = || OwnedFd::from(file.try_clone().unwrap());
    let process = node.spawn(Spawn { stdout: copy(), stderr: copy(), ..spawn }).expect("start a program");
    let status = exit_of(node, process);
    let mut output = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut output).unwrap();
    (status, output)
}

/// Runs a shell script in a node to its end.
pub(crate) fn sh(node: &mut KernelNode, script: &str) -> (ExitStatus, String) {
    let (status, bytes) = output(node, quiet(&["/bin/sh", "-c", script]));
    (status, String::from_utf8(bytes).unwrap().trim_end().to_owned())
}

/// The same for a script that must succeed; returns what it prints.
pub(crate) fn ok(node: &mut KernelNode, script: &str) -> String {
    let (status, output) = sh(node, script);
    assert!(status.success(), "{script}: {status}\n{output}");
    output
}

pub(crate) fn exit_of(node: &mut KernelNode, process: ProcessId) -> ExitStatus {
    match event(node) {
        NodeEvent::Exited { process: ended, status, .. } if ended == process => status,
        other => panic!("expected the end of {process:?}, not {other:?}: {:?}", node.obituary()),
    }
}

pub(crate) fn event(node: &mut KernelNode) -> NodeEvent {
    loop {
        if let Some(event) = node.next_event() {
            return event;
        }
        let timeout = PollTimeout::try_from(Duration::from_secs(20)).unwrap();
        let ready = poll(&mut [PollFd::new(node.as_fd(), PollFlags::POLLIN)], timeout).unwrap();
        assert_eq!(ready, 1, "nothing happens in {}", node.name());
    }
}
