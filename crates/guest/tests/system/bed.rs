//! What the cases have in common.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use netloom_guest::node::{Boot, KernelNode, SocketChannel};
use netloom_host::guest::message::Identity;
use netloom_host::lab::{LabOptions, LabSide, spawn_lab};
use netloom_host::node::{NodeConfig, NodeEvent, ProcessId, Spawn};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

/// The kernel that all cases boot.
pub(crate) fn kernel() -> PathBuf {
    std::env::var_os("NETLOOM_KERNEL").expect("NETLOOM_KERNEL names the kernel for these tests").into()
}

/// Runs `body` in a lab and fails if it panics there.
pub(crate) fn in_lab(body: impl FnOnce(LabSide)) {
    let options = LabOptions { name: "test".to_owned(), hosts_file: None };
    let (mut lab, _channel) = spawn_lab(&options, |side| {
        body(side);
        0
    })
    .expect("make a lab");
    let status = lab.wait().expect("wait for the lab");
    assert!(status.success(), "in the lab: {status}");
}

/// Boots nodes with a control device only, all at the same time.
pub(crate) fn boot(folder: &Path, configs: &[NodeConfig]) -> Vec<KernelNode> {
    let mut nodes: Vec<KernelNode> = configs.iter().map(|config| start(folder, config)).collect();
    for (node, config) in nodes.iter_mut().zip(configs) {
        node.await_up(Duration::from_secs(20)).unwrap();
        let environment = std::env::vars_os().collect();
        node.begin_become(Identity { config: config.clone(), environment, cwd: "/tmp".into() }).unwrap();
    }
    for node in &mut nodes {
        node.finish_become().unwrap();
        node.begin_configure().unwrap();
        node.finish_configure().unwrap();
    }
    nodes
}

fn start(folder: &Path, config: &NodeConfig) -> KernelNode {
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
    let own = folder.join(&config.name);
    std::fs::create_dir(&own).unwrap();
    let number = theirs.as_raw_fd();
    let boot = Boot {
        name: config.name.clone(),
        kernel: kernel(),
        init: std::env::current_exe().unwrap(),
        memory_mib: 64,
        folder: own,
        console: folder.join(format!("{}.console", config.name)),
        devices: Vec::new(),
        processor: Some(0),
        cgroup: None,
        arguments: vec![format!("vec0:transport=fd,fd={number},depth=64")],
    };
    let mut inherit = |command: &mut Command| {
        // SAFETY: between fork and exec only fcntl is called, on a number.
        unsafe {
            command.pre_exec(move || {
                libc::fcntl(number, libc::F_SETFD, 0);
                Ok(())
            })
        };
    };
    KernelNode::start(&boot, Box::new(SocketChannel::new(ours)), &mut inherit).unwrap()
}

pub(crate) fn config(name: &str) -> NodeConfig {
    NodeConfig { lab: "test".to_owned(), name: name.to_owned(), ..NodeConfig::default() }
}

/// One node.
pub(crate) fn with_node(body: impl FnOnce(&mut KernelNode)) {
    in_lab(|_| {
        let folder = tempfile::tempdir().unwrap();
        let mut nodes = boot(folder.path(), &[config("a")]);
        body(&mut nodes[0]);
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
    }
}

/// Runs a shell script in a node to its end.
pub(crate) fn sh(node: &mut KernelNode, script: &str) -> (ExitStatus, String) {
    let mut file = tempfile::tempfile().unwrap();
    let copy = || OwnedFd::from(file.try_clone().unwrap());
    let spawn = Spawn { stdout: copy(), stderr: copy(), ..quiet(&["/bin/sh", "-c", script]) };
    let process = node.spawn(spawn).expect("start sh");
    let status = exit_of(node, process);
    let mut output = String::new();
    std::io::Seek::rewind(&mut file).unwrap();
    file.read_to_string(&mut output).unwrap();
    (status, output.trim_end().to_owned())
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
