//! Boots the kernels of a lab in virtual time.

use super::{Kernel, VirtualTime};
use crate::RunError;
use crate::job::Job;
use netloom_fabric::{Fabric, Tap};
use netloom_guest::deputy::{Deputy, DeputyEnds, Vitals};
use netloom_guest::node::{Boot, KernelNode};
use netloom_guest::schedule::{Device, Paced, Plug};
use netloom_guest::shim::{Orders, Shim};
use netloom_host::guest::message::Identity;
use netloom_lab::{NodePlan, Plan};
use netloom_units::{Instant, Seed};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The time of day when the lab begins, in nanoseconds since 1970: the same in every run, so that runs can be equal.
/// Midnight UTC of 1 January 2026.
const WALL_CLOCK_NS: u64 = 1_767_225_600_000_000_000;

/// What a kernel's command line says of virtual time. The paths are the deputy's (`shim/deputy.c`).
const ARGUMENTS: [&str; 2] = ["time-travel=ext:/netloom/time", "norandmaps"];

/// How long a kernel may take to come up, in our time.
const UP_WITHIN: Duration = Duration::from_secs(60);

/// What a lab in virtual time is made of, beside its plan.
pub(crate) struct Ingredients<'a> {
    /// The program that is the kernel.
    pub(crate) kernel: &'a Path,
    /// All links.
    pub(crate) fabric: Fabric,
    /// The fabric's port of each interface: node, interface, port.
    pub(crate) plugs: Vec<Plug>,
    /// What is shown all packets.
    pub(crate) captures: Option<Box<dyn Tap>>,
    /// Folders for the kernels' own use, one per node.
    pub(crate) folders: Vec<PathBuf>,
    /// What each node is.
    pub(crate) identities: Vec<Identity>,
    /// The processor of each node.
    pub(crate) processors: Vec<Option<usize>>,
}

/// Boots all kernels, each in its process, and lets time go on until every node is what the plan says.
pub(crate) fn boot(job: &Job, ingredients: Ingredients<'_>) -> Result<(Vec<KernelNode>, VirtualTime), RunError> {
    let plan = &job.plan;
    let Ingredients { kernel, fabric, plugs, captures, folders, identities, processors } = ingredients;
    let shim = Shim::in_memory().map_err(machine)?;
    let init = std::env::current_exe().map_err(machine)?;
    let (kernels, ends) = decks(plan)?;
    let names = plan.nodes.iter().map(|node| node.name.clone()).collect();
    let time = VirtualTime::new(fabric, kernels, &plugs, names, captures).map_err(machine)?;
    let mut nodes = Vec::new();
    for (place, node) in plan.nodes.iter().enumerate() {
        let boot = Boot {
            name: node.name.clone(),
            kernel: kernel.to_owned(),
            init: init.clone(),
            memory_mib: node.memory.map_or(0, |memory| memory.get() >> 20),
            folder: folders[place].clone(),
            console: job.folder.path().join(format!("logs/console-{}.log", node.name)),
            devices: (0..=node.interfaces.len()).map(|device| format!("/netloom/device/{device}").into()).collect(),
            processor: processors[place],
            cgroup: None,
            arguments: ARGUMENTS.map(String::from).to_vec(),
        };
        let orders = Orders { lapse: None, seed: Some(seed_of(plan, node).get()) };
        let inherited = &ends[place];
        let mut prepare = |command: &mut Command| {
            shim.arm(command, &orders);
            hand_over(command, inherited);
        };
        let channel = Box::new(time.channel(place).map_err(machine)?);
        let started = KernelNode::start(&boot, channel, &mut prepare).map_err(machine)?;
        time.watch(place, Vitals::new(started.pid().as_raw(), boot.console));
        nodes.push(started);
    }
    drop(ends);
    settle(&mut nodes, identities).map_err(|error| RunError::Died(error.to_string()))?;
    Ok((nodes, time))
}

/// The deck of every kernel: our end, and what its process inherits.
fn decks(plan: &Plan) -> Result<(Vec<Kernel>, Vec<DeputyEnds>), RunError> {
    let deck = |node: &NodePlan| -> io::Result<(Kernel, DeputyEnds)> {
        let devices = u16::try_from(node.interfaces.len() + 1).map_err(io::Error::other)?;
        let (deputy, ends) = Deputy::create(devices, Instant::ZERO, WALL_CLOCK_NS)?;
        Ok((Paced::new(deputy, node.cpu.unwrap_or_default()), ends))
    };
    plan.nodes.iter().map(deck).collect::<io::Result<_>>().map_err(machine)
}

/// All nodes become what the plan says, side by side as far as one scheduler lets them.
fn settle(nodes: &mut [KernelNode], identities: Vec<Identity>) -> Result<(), netloom_host::node::NodeError> {
    nodes.iter_mut().try_for_each(|node| node.await_up(UP_WITHIN))?;
    nodes.iter_mut().zip(identities).try_for_each(|(node, identity)| node.begin_become(identity))?;
    nodes.iter_mut().try_for_each(KernelNode::finish_become)?;
    nodes.iter_mut().try_for_each(KernelNode::begin_configure)?;
    nodes.iter_mut().try_for_each(KernelNode::finish_configure)
}

/// Where a node's randomness begins.
fn seed_of(plan: &Plan, node: &NodePlan) -> Seed {
    plan.seed.derive(&format!("kernel {}", node.name))
}

/// Lets the process of `command` find its deck.
fn hand_over(command: &mut Command, ends: &DeputyEnds) {
    let numbers: [RawFd; 2] = [ends.socket.as_raw_fd(), ends.memory.as_raw_fd()];
    command.env("NETLOOM_DEPUTY", format!("{},{}", numbers[0], numbers[1]));
    let keep = move || {
        for number in numbers {
            // SAFETY: F_SETFD takes an integer and touches no memory of ours.
            if unsafe { libc::fcntl(number, libc::F_SETFD, 0) } == -1 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only fcntl is called, on copies of numbers.
    unsafe { command.pre_exec(keep) };
}

/// The plugs of a plan: interface i of a node is its kernel's device i + 1.
pub(crate) fn plugs(plan: &Plan) -> Vec<Plug> {
    let of_node = |(machine, node): (usize, &NodePlan)| -> Vec<Plug> {
        let plug = |(index, interface): (usize, &netloom_lab::InterfacePlan)| Plug {
            machine,
            device: Device(u16::try_from(index + 1).expect("a node has fewer than 65,536 interfaces")),
            port: crate::direction::port_id(interface.link, interface.end),
        };
        node.interfaces.iter().enumerate().map(plug).collect()
    };
    plan.nodes.iter().enumerate().flat_map(of_node).collect()
}

fn machine(error: impl std::fmt::Display) -> RunError {
    RunError::Machine(error.to_string())
}
