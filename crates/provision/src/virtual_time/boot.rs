//! Boots the kernels of a lab in virtual time.

use super::templates::Templates;
use super::world::{IMPATIENCE, Kernel, VirtualTime};
use crate::guard_link::{FromGuard, GuardLink};
use crate::job::Job;
use crate::kernels::{INTERRUPTED, Kernels, become_nodes, in_turn, is_kernel, seed};
use crate::setup_error::SetupError;
use netloom_guest::backend::{BackendEnds, DeviceBackend, ProcessHealth, SLICE, Watchdog};
use netloom_guest::counter::Counter;
use netloom_guest::node::{Boot, KernelNode, Late};
use netloom_guest::processor;
use netloom_guest::schedule::{Device, DevicePort, Paced};
use netloom_guest::shim::Orders;
use netloom_host::node::NodeConfig;
use netloom_host::processors;
use netloom_host::signals::Signals;
use netloom_lab::fabric::{fabric_of, port_id};
use netloom_lab::{InterfacePlan, OnSpin, Plan};
use netloom_parts::OtherParts;
use netloom_units::{BranchCount, Date, Instant};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

/// When a lab begins on a kernel that does not say when it was built, in seconds since 1970: 1 January 2026.
const ANY_DAY: u64 = 1_767_225_600;

/// What a kernel's command line says of virtual time. The path is the device backend's (`shim/backend.c`). The generator of packets
/// is left out: it looks ten times a second whether there is something to do, and where computing takes no time it would
/// send without an end.
const ARGUMENTS: [&str; 3] = ["time-travel=ext:/netloom/time", "norandmaps", "initcall_blacklist=pg_init"];

/// How long a kernel may take to come up, in wall time.
const UP_WITHIN: Duration = Duration::from_secs(60);

/// The kernels of a lab that have booted.
pub(crate) struct Booted {
    /// By their places in the plan.
    pub(crate) nodes: Vec<Option<KernelNode>>,
    pub(crate) time: VirtualTime,
    /// Where they tell that they have answered.
    pub(super) doorbell: OwnedFd,
    /// The processor of each, in the order of kernels.
    pub(super) processors: Vec<Option<usize>>,
}

/// Boots all kernels, each in its process, and lets time go on until every node is what the plan says, but for its
/// interfaces.
pub(crate) fn boot(
    job: &Job,
    kernels: &Kernels,
    configs: &[NodeConfig],
    guard: &mut GuardLink,
    signals: &Signals,
    others: &mut OtherParts,
) -> Result<Booted, SetupError> {
    let plan = &job.plan;
    let fabric = fabric_of(plan);
    let places: Vec<usize> = (0..plan.nodes.len()).filter(|place| is_kernel(&plan.nodes[*place])).collect();
    let (mailboxes, ends) = mailboxes(plan, &places, wall_clock_ns(job))?;
    let names = places.iter().map(|place| plan.nodes[*place].name.clone()).collect();
    let alarms = [guard.as_fd(), signals.as_fd()].into_iter().map(|fd| fd.try_clone_to_owned());
    let watchdog = Watchdog::new(alarms.collect::<io::Result<_>>().map_err(machine)?);
    if let Some(end) = job.wall_end {
        watchdog.fire_after(end.saturating_duration_since(std::time::Instant::now()) + IMPATIENCE);
    }
    let time =
        VirtualTime::new(fabric, mailboxes, &device_ports(plan, &places), names, watchdog, guard.progress_writer())
            .map_err(machine)?;
    let wanting = places.iter().map(|place| &plan.nodes[*place]).filter(|node| node.whole_frames);
    wanting.flat_map(|node| &node.interfaces).for_each(|interface| time.send_whole(port_id(interface.end)));
    let doorbell = time.doorbell().map_err(machine)?;
    let homes: Option<Vec<usize>> =
        job.part.as_ref().map(|part| places.iter().map(|place| part.homes[*place]).collect());
    if let Some((part, homes)) = job.part.as_ref().zip(homes) {
        time.divide(part, &homes, others.peers(part), !plan.capture.is_empty()).map_err(machine)?;
    }
    let is_here = |place: usize| job.part.as_ref().is_none_or(|part| part.homes[place] == part.here);
    let allowed = processors::allowed().map_err(machine)?;
    let is_free: Vec<bool> = places.iter().map(|place| configs[*place].processors.is_empty()).collect();
    let shares = time.share_out(&allowed, &is_free);
    let described = |(machine_number, number): (usize, &usize)| {
        let turn = if is_free[machine_number] { shares[machine_number] } else { machine_number };
        let boot = boot_of(job, kernels, *number, &configs[*number], in_turn(&configs[*number], &allowed, turn));
        Boot { polls: polls(&allowed, &is_free), ..boot }
    };
    let boots: Vec<Boot> = places.iter().enumerate().map(described).collect();
    let processors = boots.iter().map(|boot| boot.processor).collect();
    let own = boots.iter().zip(&places).filter(|(_, place)| is_here(**place)).map(|(boot, _)| boot);
    let templates = Templates::start(kernels, own, wall_clock_ns(job));
    let mut nodes: Vec<Option<KernelNode>> = configs.iter().map(|_| None).collect();
    for (machine_number, (boot, own_ends)) in boots.into_iter().zip(&ends).enumerate() {
        let number = places[machine_number];
        let late = Late { seed: seed(plan, number), ends: own_ends, doorbell: &doorbell };
        let channel = || time.channel(machine_number).map(Box::new).map_err(machine);
        if !is_here(number) {
            nodes[number] = Some(KernelNode::elsewhere(&boot.name, channel()?).map_err(SetupError::Node)?);
            continue;
        }
        let node = match templates.copy(&boot, channel()?, &late) {
            Ok(copy) => copy,
            Err(failure) => {
                let orders = Orders { seed: Some(late.seed), ..Orders::default() };
                let mut node = kernels.start(&boot, channel()?, &orders, |command| late.give(&boot, command))?;
                if let Some(why) = failure {
                    node.note(format!("its kernel booted by itself: {why}"));
                }
                node
            }
        };
        watch(&time, machine_number, &node, boot.console);
        nodes[number] = Some(node);
    }
    drop(templates);
    drop(ends);
    for (machine_number, node) in nodes.iter_mut().flatten().enumerate() {
        while !node.is_up().map_err(SetupError::Boot)? {
            if guard.listen() != FromGuard::Nothing {
                return Err(SetupError::Interrupted(INTERRUPTED));
            }
            time.play_until_heard(machine_number, UP_WITHIN)?;
        }
    }
    become_nodes(job, configs, &mut nodes, guard, &mut |_, _| Ok(false)).map_err(|error| time.explain(error))?;
    Ok(Booted { nodes, time, doorbell, processors })
}

/// Looks after the process of a kernel from now on.
pub(super) fn watch(time: &VirtualTime, machine: usize, node: &KernelNode, console: PathBuf) {
    if let Some(pid) = node.pid() {
        time.watch(machine, ProcessHealth::new(pid, console));
    }
}

/// How the kernel of the node at this place is to be booted.
pub(super) fn boot_of(
    job: &Job,
    kernels: &Kernels,
    number: usize,
    config: &NodeConfig,
    processor: Option<usize>,
) -> Boot {
    let folder = kernels.folder(number).expect("every kernel has a folder");
    let mut boot = kernels.boot_of(job, number, config, folder, processor);
    boot.devices = (0..=config.interfaces.len()).map(|device| format!("/netloom/device/{device}").into()).collect();
    boot.arguments.extend(ARGUMENTS.map(String::from));
    boot.arguments.extend(costs(&job.plan, number));
    boot.arguments.extend(computing(job, number));
    boot.arguments.extend(job.plan.nodes[number].cpu.and_then(|cpu| cpu.level).map(processor::argument));
    boot.late = job.kernel_checkpoint;
    boot
}

/// The time of day when the lab begins, in nanoseconds since 1970: the same in every run, so that runs can be equal. It
/// follows the day on which the kernel was built, so that certificates which were made until then are valid.
pub(super) fn wall_clock_ns(job: &Job) -> u64 {
    let day = job.plan.start.or_else(|| Some(job.kernel.as_ref()?.day?.next()));
    day.map_or(ANY_DAY, Date::unix_seconds) * 1_000_000_000
}

/// The processors over which kernels and programs poll ([`Boot::polls`]). With one for each kernel, one is free for their programs most of the time,
/// since kernels wait for packets.
fn polls(allowed: &[usize], is_free: &[bool]) -> Vec<usize> {
    let has_room = is_free.len() <= allowed.len() && is_free.iter().all(|is_free| *is_free);
    if has_room { allowed.to_vec() } else { Vec::new() }
}

/// The mailbox of every kernel: our end, and what its process inherits.
fn mailboxes(plan: &Plan, places: &[usize], wall_clock_ns: u64) -> Result<(Vec<Kernel>, Vec<BackendEnds>), SetupError> {
    let mailbox = |place: &usize| new_kernel(plan, *place, Instant::ZERO, wall_clock_ns);
    places.iter().map(mailbox).collect::<io::Result<_>>().map_err(machine)
}

/// The kernel of the node at this place, which begins at `start`, and what its process inherits. `wall_clock_ns`: the time of day at instant zero.
pub(super) fn new_kernel(
    plan: &Plan,
    place: usize,
    start: Instant,
    wall_clock_ns: u64,
) -> io::Result<(Kernel, BackendEnds)> {
    let node = &plan.nodes[place];
    let devices = u16::try_from(node.interfaces.len() + 1).map_err(io::Error::other)?;
    let (mut backend, ends) = DeviceBackend::create(devices, start, wall_clock_ns + start.as_nanos())?;
    if advances_on_spin(plan, place) {
        backend.advance_on_spin();
    }
    Ok((Paced::new(backend, node.cpu.unwrap_or_default().cost), ends))
}

/// What system calls cost, and long computing, as a kernel's command line says it: `crates/guest/kernel/edits/costs.c`.
fn costs(plan: &Plan, node: usize) -> impl Iterator<Item = String> {
    let cost = plan.nodes[node].cpu.unwrap_or_default().cost;
    let slice = advances_on_spin(plan, node).then_some(SLICE);
    let arguments = [("syscall", cost.syscall), ("switch", cost.switch), ("slice", slice)];
    arguments.into_iter().filter_map(|(name, span)| Some(format!("netloom.{name}={}", span?.as_nanos())))
}

/// Where computing itself takes lab time, all programs go on, and the same way in every run.
fn advances_on_spin(plan: &Plan, node: usize) -> bool {
    plan.on_spin == OnSpin::Advance && plan.nodes[node].cpu.is_none_or(|cpu| cpu.cost.computing.is_none())
}

/// What a branch costs, and who counts them: `crates/guest/kernel/edits/counter.c`.
fn computing(job: &Job, node: usize) -> Vec<String> {
    let Some(cost) = job.plan.nodes[node].cpu.and_then(|cpu| cpu.cost.computing) else { return Vec::new() };
    let mut arguments = vec![format!("netloom.branch={}", cost.branch.as_picos())];
    if let (BranchCount::Processor, Some(counter)) = (cost.count, job.counter) {
        let Counter { event_type, event, margin, .. } = counter;
        arguments.extend([
            format!("netloom.event_type={event_type}"),
            format!("netloom.event={event}"),
            format!("netloom.margin={margin}"),
        ]);
    }
    arguments
}

/// The device ports of a plan: interface i of a node is its kernel's device i + 1.
fn device_ports(plan: &Plan, places: &[usize]) -> Vec<DevicePort> {
    let of_node = |(machine, place): (usize, &usize)| -> Vec<DevicePort> {
        let device_port = |(index, interface): (usize, &InterfacePlan)| DevicePort {
            machine,
            device: Device(u16::try_from(index + 1).expect("a node has fewer than 65,536 interfaces")),
            port: port_id(interface.end),
        };
        plan.nodes[*place].interfaces.iter().enumerate().map(device_port).collect()
    };
    places.iter().enumerate().flat_map(of_node).collect()
}

/// What the kernel refused of what all kernels of a lab share.
pub(super) fn machine(error: impl std::fmt::Display) -> SetupError {
    SetupError::Refused(error.to_string())
}
