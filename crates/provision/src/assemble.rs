//! From the plan to a network that works: nodes, interfaces, addresses, routes, and the engine. Runs in the lab process.

mod ends;

use crate::cpu_shares::cpu_shares;
use crate::driver::Driver;
use crate::exposed::PortForwards;
use crate::guard_link::GuardLink;
use crate::hosts::HostsFiles;
use crate::job::Job;
use crate::kernels::Kernels;
use crate::links::{Links, read_port_counters};
use crate::node::{Closed, LabNode, Transit};
use crate::reboots::{MachineReboots, Reboots};
use crate::recording::Recording;
use crate::resource::{Making, RUNNING_WITHIN, Site};
use crate::resources::Resources;
use crate::setup_error::SetupError;
use crate::shards::Sharing;
use crate::virtual_time::KernelReboots;
use crate::{bare, files, measure, memory, virtual_time};
use ends::{await_joined, make_links};
use netloom_dataplane::{Engine, EngineConfig, PortConfig};
use netloom_guest::node::{KernelNode, Pump};
use netloom_host::node::{
    ClockOrder, DiskConfig, InterfaceConfig, Node, NodeConfig, RouteConfig, RuleConfig, TableRouteConfig,
};
use netloom_host::processors::{self, Claim};
use netloom_host::signals::Signals;
use netloom_judge::losses::PortCounters;
use netloom_judge::quantity::counted;
use netloom_judge::{LinkName, PipePlace};
use netloom_lab::{Clock, LinkPlan, NodePlan, Plan, Precision, RulePlan, Stack, TableRoutePlan};
use netloom_units::Seed;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Duration as RealDuration, Instant};

/// The parts that a lab was made of before it began.
pub struct Parts {
    /// The nodes, at their places in the plan.
    pub nodes: Vec<Box<dyn LabNode>>,
    /// The links, and what moves their packets.
    pub links: Links,
    /// The captures and the journal of its packets.
    pub recording: Recording,
    /// The signals that the lab process has held back.
    pub signals: Signals,
    /// The sentences that the verdict is to say of how the lab was made.
    pub notes: Vec<String>,
    /// The thread that serves the agents of kernels, in real and dilated time.
    pub pump: Option<Pump>,
    /// The processors where no other lab's engine stays.
    pub claims: Vec<Claim>,
    /// The files of names of nodes that know names of their own.
    pub hosts: HostsFiles,
    /// The ways from this machine into nodes.
    pub ways: PortForwards,
    /// The means to boot kernels anew that crash; none but in virtual time.
    pub reboots: Option<Reboots>,
    /// How long kernels and virtual machines took to become nodes; nothing without any.
    pub boot: RealDuration,
}

/// Makes a lab of its plan. What was opened for it and is not part of it is closed.
///
/// # Errors
/// What cannot be made; then nothing is left of it but what the guard gives back.
pub fn assemble(job: &Job, guard: &mut GuardLink, resources: &mut Resources) -> Result<Parts, SetupError> {
    let signals = Signals::hold(&[]).map_err(|error| SetupError::Step("holding signals back", error));
    let made = signals.and_then(|signals| match job.plan.clock {
        Clock::Virtual => assemble_in_virtual_time(job, signals, guard, resources),
        _ => assemble_in_real_time(job, signals, guard, resources),
    });
    resources.let_go();
    made
}

/// Builds everything, in the order in which one thing needs the other. All nodes are forked before the engine starts
/// its thread.
fn assemble_in_real_time(
    job: &Job,
    signals: Signals,
    guard: &mut GuardLink,
    resources: &mut Resources,
) -> Result<Parts, SetupError> {
    let plan = &job.plan;
    let mut notes = Vec::new();
    let sharing = Sharing::here(plan);
    notes.extend(sharing.note.clone());
    let claims = own_processors(plan, sharing.count(), &mut notes)?;
    guard.step(format!("making {}", counted(plan.nodes.len(), "node")));
    let cgroups = cpu_shares(job)?;
    let hosts = HostsFiles::create(job)?;
    let mut nodes = make_nodes(job, &cgroups, &hosts)?;
    let config = |place: usize| configs(job, &cgroups, &hosts).nth(place);
    let mut ports = Vec::new();
    let mut site = Site {
        plan,
        lab_file: &job.lab_file,
        nodes: &mut nodes,
        ports: &mut ports,
        notes: &mut notes,
        guard: &mut *guard,
        config: &config,
    };
    resources.make(Making::Nodes, &mut site)?;
    let bare = resources.kernels.bare.as_deref();
    site.notes.extend(bare.map(bare::note));
    let kernels = Kernels::prepare(job, bare.is_some())?;
    site.guard.step(joining(plan));
    *site.ports = make_links(plan, &sharing, site.nodes, kernels.as_ref(), &cgroups)?;
    resources.make(Making::Links, &mut site)?;
    configure(site.nodes.iter_mut().flatten().map(Box::as_mut))?;
    await_joined(plan, site.nodes, RUNNING_WITHIN)?;
    // Before nodes look for what programs change.
    resources.make(Making::Configured, &mut site)?;
    settle(site.nodes)?;
    resources.make(Making::Settled, &mut site)?;
    resources.make(Making::Joined, &mut site)?;
    let epoch = kernels.as_ref().map(|kernels| RealDuration::from_nanos(kernels.lapse.epoch_ns));
    let own = claims.iter().map(|claim| claim.processor).collect();
    processors::prefer_own_session();
    let all_ports = std::mem::take(site.ports);
    let mut links = start_engine(plan, &sharing, all_ports, own, epoch)?.with(resources.bridges.take());
    resources.make(Making::Running, &mut site)?;
    let recording = Recording::start(job, &mut links)?;
    let booted = match kernels {
        Some(kernels) => {
            let all = configs(job, &cgroups, &hosts).collect::<Vec<_>>();
            let (pump, boot) = add_kernels(job, &kernels, &all, site.nodes, site.guard)?;
            Some((pump, boot, kernels))
        }
        None => None,
    };
    let (mut pump, mut boot, mut reboots) = (None, RealDuration::ZERO, None);
    if let Some((serving, took, running)) = booted {
        if plan.nodes.iter().any(|node| node.stack.is_own()) {
            reboots = Some(Reboots::Machines(MachineReboots::of(running, serving.rejoiner(), cgroups.clone())));
        }
        (pump, boot) = (Some(serving), took);
    }
    resources.make(Making::Begun, &mut site)?;
    let nodes: Vec<_> = nodes.into_iter().flatten().collect();
    notes.extend(notes_of(&nodes));
    let ways = resources.exposed.take_ways();
    netloom_host::memory::give_back();
    Ok(Parts { nodes, links, recording, signals, notes, pump, claims, hosts, ways, reboots, boot })
}

/// Boots the kernel nodes, at their places in the plan, and gives them their interfaces. Returns what serves their agents, and how long
/// they booted.
fn add_kernels(
    job: &Job,
    kernels: &Kernels,
    configs: &[NodeConfig],
    nodes: &mut [Option<Box<dyn LabNode>>],
    guard: &mut GuardLink,
) -> Result<(Pump, RealDuration), SetupError> {
    let begin = Instant::now();
    let (mut booted, pump) = kernels.boot(job, configs, guard)?;
    let boot = begin.elapsed();
    let open = booted.iter_mut().zip(&job.plan.nodes).filter(|(_, node)| node.takes_commands());
    configure(open.filter_map(|(kernel, _)| kernel.as_mut()))?;
    for ((place, kernel), described) in nodes.iter_mut().zip(booted).zip(&job.plan.nodes) {
        let node = kernel.map(|kernel| -> Box<dyn LabNode> {
            if described.takes_commands() { Box::new(kernel) } else { Box::new(Closed(kernel)) }
        });
        *place = node.or_else(|| place.take());
    }
    Ok((pump, boot))
}

/// Kernels, links and their time are one: the scheduler.
fn assemble_in_virtual_time(
    job: &Job,
    signals: Signals,
    guard: &mut GuardLink,
    resources: &mut Resources,
) -> Result<Parts, SetupError> {
    let plan = &job.plan;
    let bare = resources.kernels.bare.clone();
    let bare = bare.as_deref();
    let kernels = Kernels::prepare(job, bare.is_some())?
        .ok_or_else(|| SetupError::Refused("a lab in virtual time needs a node that runs programs".into()))?;
    let hosts = HostsFiles::create(job)?;
    let configs: Vec<NodeConfig> = configs(job, &vec![None; plan.nodes.len()], &hosts).collect();
    let begin = Instant::now();
    let booted = virtual_time::boot(job, &kernels, &configs, guard, &signals, &mut resources.parts)?;
    let (kernels, time, reboots) = KernelReboots::of(plan, kernels, booted);
    let boot = begin.elapsed();
    let node = |(kernel, node): (Option<KernelNode>, &NodePlan)| -> Box<dyn LabNode> {
        match kernel {
            Some(kernel) => Box::new(kernel),
            None => Box::new(Transit::new(&node.name)),
        }
    };
    let mut nodes: Vec<_> = kernels.into_iter().zip(&plan.nodes).map(node).collect();
    let mut links = links(plan, Driver::Virtual(time.clone()), PortCounters::default());
    // Before interfaces are up: kernels say something then, which may be in flight at time zero.
    let recording = Recording::start(job, &mut links)?;
    configure(nodes.iter_mut().map(Box::as_mut)).map_err(|error| time.explain(error))?;
    let notes = bare.map(bare::note).into_iter().chain(notes_of(&nodes)).collect();
    let (claims, ways) = (Vec::new(), PortForwards::default());
    Ok(Parts {
        nodes,
        links,
        recording,
        signals,
        notes,
        pump: None,
        claims,
        hosts,
        ways,
        reboots: Some(Reboots::Kernels(reboots)),
        boot,
    })
}

fn joining(plan: &Plan) -> String {
    let in_kernel = plan.links.iter().filter(|link| link.bypass.is_joined()).count();
    let of_them = if in_kernel > 0 { format!(", {in_kernel} of them in the kernel") } else { String::new() };
    format!("joining them with {}{of_them}", counted(plan.links.len(), "link"))
}

fn notes_of(nodes: &[Box<dyn LabNode>]) -> impl Iterator<Item = String> {
    let all = nodes.iter().flat_map(|node| node.notes().iter().map(|note| (note.as_str(), node.name())));
    by_note(all).into_iter()
}

/// What several nodes have to do without is said once.
fn by_note<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    const NAMED: usize = 5;
    let mut nodes: Vec<(&str, Vec<&str>)> = Vec::new();
    for (note, node) in all {
        match nodes.iter_mut().find(|(said, _)| *said == note) {
            Some((_, names)) => names.push(node),
            None => nodes.push((note, vec![node])),
        }
    }
    let line = |(note, names): (&str, Vec<&str>)| match names[..] {
        [name] => format!("node {name}: {note}"),
        _ => {
            let more = names.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("nodes {}{more}: {note}", names[..names.len().min(NAMED)].join(", "))
        }
    };
    nodes.into_iter().map(line).collect()
}

/// The processors on which the engine's threads stay: such that no other lab's engine has, if there are several. If it always
/// spins, no program of the lab runs there. Threads for which none is left run wherever the kernel puts them.
///
/// An engine that stays is near the programs that it wakes, and finds its caches warm. One that the kernel moves follows
/// the sender from processor to processor: it then has to wake the receiver on the other one, which costs more than to
/// hand over 64 KiB. Beside kernels that stay on processors themselves, the engine fits in where there is room.
pub fn own_processors(plan: &Plan, threads: usize, notes: &mut Vec<String>) -> Result<Vec<Claim>, SetupError> {
    let is_exact = plan.precision == Precision::Exact;
    if plan.precision == Precision::Eco || (plan.clock != Clock::Real && !is_exact) {
        return Ok(Vec::new());
    }
    let failed = |errno| SetupError::Refused(format!("choosing a processor for the engine: {errno}"));
    let mut claims = Vec::new();
    // What programs were put on is not for the engine as well.
    let pinned: Vec<usize> =
        plan.nodes.iter().filter_map(|node| node.pin.as_ref()).flat_map(|pin| pin.processors.clone()).collect();
    while claims.len() < threads
        && let Some(claim) = processors::claim(&pinned).map_err(failed)?
    {
        claims.push(claim);
    }
    if is_exact {
        claims.iter().try_for_each(|claim| processors::avoid(claim.processor)).map_err(failed)?;
    }
    if is_exact && claims.len() < threads {
        notes.push(match threads {
            1 => "precision exact: no processor could be claimed for this lab alone, and the engine shares one with programs".into(),
            _ => format!(
                "precision exact: {} of {threads} shards have a processor for themselves, the others share with programs",
                claims.len()
            ),
        });
    }
    Ok(claims)
}

/// Returns the configuration of the node with a kernel at this place.
///
/// # Panics
/// If there is no such node.
pub fn config_of(job: &Job, place: usize, hosts: &HostsFiles) -> NodeConfig {
    configs(job, &vec![None; job.plan.nodes.len()], hosts).nth(place).expect("a node of the plan")
}

/// What each node is to be, made when it is asked for: with all of their routes, a thousand routers take tens of megabytes.
fn configs(job: &Job, cgroups: &[Option<PathBuf>], hosts: &HostsFiles) -> impl Iterator<Item = NodeConfig> {
    let plan = &job.plan;
    let joined = plan.links.iter().filter(|link| link.bypass.is_joined());
    let joined: BTreeSet<(usize, usize)> =
        joined.flat_map(|link| &link.ends).map(|end| (end.node, end.interface)).collect();
    let each = plan.nodes.iter().zip(cgroups).enumerate();
    let config = move |(place, (node, cgroup)): (usize, (&NodePlan, &Option<PathBuf>))| {
        let is_led = |interface| node.stack == Stack::Namespace && !joined.contains(&(place, interface));
        NodeConfig { hosts: hosts.of(plan, place), ..node_config(job, place, cgroup.clone(), is_led) }
    };
    each.map(config)
}

/// The namespace nodes and transit devices, at their places in the plan.
fn make_nodes(
    job: &Job,
    cgroups: &[Option<PathBuf>],
    hosts: &HostsFiles,
) -> Result<Vec<Option<Box<dyn LabNode>>>, SetupError> {
    let plan = &job.plan;
    let is_own = |node: &NodePlan| node.stack == Stack::Namespace && node.container.is_none();
    let own = || {
        plan.nodes.iter().zip(configs(job, cgroups, hosts)).filter(|(node, _)| is_own(node)).map(|(_, config)| config)
    };
    if plan.nodes.iter().any(|node| node.image.is_some()) {
        Node::show_images(own()).map_err(SetupError::Node)?;
    }
    let mut made = Node::create_all(own()).map_err(SetupError::Node)?.into_iter();
    let place = |node: &NodePlan| -> Option<Box<dyn LabNode>> {
        match node.stack {
            Stack::Namespace if is_own(node) => Some(Box::new(made.next()?)),
            Stack::Namespace => None,
            Stack::Kernel | Stack::Vm => None,
            Stack::Engine => Some(Box::new(Transit::new(&node.name))),
        }
    };
    Ok(plan.nodes.iter().map(place).collect())
}

/// `is_led`: whether what the interface of this number sends goes through a packet socket to the engine.
fn node_config(job: &Job, place: usize, cgroup: Option<PathBuf>, is_led: impl Fn(usize) -> bool) -> NodeConfig {
    let node = &job.plan.nodes[place];
    let interface = |(number, interface): (usize, &netloom_lab::InterfacePlan)| InterfaceConfig {
        engine: is_led(number),
        name: interface.name.clone(),
        mac: interface.mac,
        mtu: interface.mtu,
        addresses: interface.addresses.iter().filter(|net| !interface.is_leased(net.addr())).copied().collect(),
        leased: interface.leased.clone(),
        neighbors: interface.neighbors.clone(),
        speed_mbit: job.plan.links[interface.end.link()].speed_mbit(),
    };
    let route = |route: &netloom_lab::RoutePlan| RouteConfig {
        destination: route.destination,
        via: route.via,
        interface: route.interface,
    };
    let is_ours = |own: &&netloom_lab::RoutePlan| !node.interfaces[own.interface].is_leased(own.via);
    NodeConfig {
        lab: job.plan.name.clone(),
        name: node.name.clone(),
        forwarding: node.kind.forwards(),
        sysctls: node.sysctls.clone(),
        interfaces: node.interfaces.iter().enumerate().map(interface).collect(),
        routes: node.routes.iter().filter(is_ours).map(route).collect(),
        rules: node.rules.iter().map(rule).collect(),
        tables: node.tables.iter().map(table_route).collect(),
        groups: node.groups.iter().filter_map(|part| Some((part.group, part.interface()?))).collect(),
        multipath: node.ecmp.then(|| kernel_seed(job.plan.ecmp_seed(node))),
        capabilities: node.capabilities.iter().map(|name| (*name).to_owned()).collect(),
        cgroup,
        processors: node.pin.as_ref().map_or_else(Vec::new, |pin| pin.processors.clone()),
        hosts: None,
        files: files::of_node(job, place),
        disk: node.disk.as_ref().map(|disk| DiskConfig {
            at: disk.at.clone(),
            filesystem: disk.filesystem.name().to_owned(),
            keep: disk.keep,
        }),
        cores: node.cores.map(netloom_units::Bytes::get),
        measure: measure::of_node(job, place),
        clock: skew(node),
        limits: node.stack == Stack::Kernel && job.plan.limits_programs(place),
    }
}

/// How the clock of a node is wrong from the start.
fn skew(node: &NodePlan) -> Option<ClockOrder> {
    let skew = node.clock.skew;
    (!skew.is_zero()).then(|| ClockOrder { step_ns: Some(skew.as_nanos()), ..ClockOrder::default() })
}

fn rule(rule: &RulePlan) -> RuleConfig {
    let RulePlan { is_v6, from, to, iif, mark, table } = *rule;
    RuleConfig { is_v6, from, to, iif, mark, table }
}

fn table_route(route: &TableRoutePlan) -> TableRouteConfig {
    let TableRoutePlan { table, destination, via, interface } = *route;
    TableRouteConfig { table, destination, via, interface }
}

/// A seed as kernels take it, where zero would mean one of their own.
fn kernel_seed(seed: Seed) -> NonZeroU32 {
    let bytes = seed.get().to_be_bytes();
    NonZeroU32::new(u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])).unwrap_or(NonZeroU32::MIN)
}

/// All nodes configure themselves at the same time.
fn configure<'a, N: LabNode + ?Sized + 'a>(nodes: impl Iterator<Item = &'a mut N>) -> Result<(), SetupError> {
    let mut nodes: Vec<_> = nodes.collect();
    nodes.iter_mut().try_for_each(|node| node.begin_configure().map_err(SetupError::Node))?;
    nodes.iter_mut().try_for_each(|node| node.finish_configure().map_err(SetupError::Node))
}

/// Waits until all nodes take packets for their addresses. All are asked at once, and those again that do not yet. In a large lab the
/// kernel is at it for minutes: it is given up when for some time no node more is ready.
fn settle(nodes: &mut [Option<Box<dyn LabNode>>]) -> Result<(), SetupError> {
    let mut waiting: Vec<_> = nodes.iter_mut().flatten().collect();
    let mut until = Instant::now() + RUNNING_WITHIN;
    loop {
        let before = waiting.len();
        waiting.iter_mut().try_for_each(|node| node.begin_settle().map_err(SetupError::Node))?;
        let mut late = Vec::new();
        for node in waiting {
            if !node.finish_settle().map_err(SetupError::Node)? {
                late.push(node);
            }
        }
        let Some(first) = late.first() else { return Ok(()) };
        if late.len() < before {
            until = Instant::now() + RUNNING_WITHIN;
        } else if Instant::now() > until {
            let (name, count, seconds) = (first.name(), late.len(), RUNNING_WITHIN.as_secs());
            let others = if count > 1 { format!(" (and {} others)", count - 1) } else { String::new() };
            let message = format!(
                "node {name}{others}: its kernel takes no packets for its addresses, and nothing has changed for {seconds} s"
            );
            return Err(SetupError::Late(message));
        }
        std::thread::sleep(RealDuration::from_millis(1));
        waiting = late;
    }
}

/// Starts the engine of a plan with these ports, on these processors. `epoch`: the time of day at lab time zero, if nodes get one.
pub fn start_engine(
    plan: &Plan,
    sharing: &Sharing,
    ports: Vec<PortConfig>,
    processors: Vec<usize>,
    epoch: Option<RealDuration>,
) -> Result<Links, SetupError> {
    let precision = match plan.precision {
        Precision::Eco => netloom_dataplane::Precision::Eco,
        Precision::Balanced => netloom_dataplane::Precision::Balanced,
        Precision::Exact => netloom_dataplane::Precision::Exact,
    };
    let dilation = plan.clock.dilation().unwrap_or_default();
    let memory = memory::engine_may_grow();
    let before = read_port_counters()?;
    let config = EngineConfig { precision, processors, dilation, epoch, memory, ports };
    let engine = Engine::start_shards(sharing.fabric(plan), config).map_err(SetupError::Engine)?;
    Ok(links(plan, Driver::Engine(Box::new(engine)), before))
}

fn links(plan: &Plan, driver: Driver, before: PortCounters) -> Links {
    let name = |link: &LinkPlan| LinkName {
        name: link.name.clone(),
        ends: link.ends.iter().map(|end| plan.nodes[end.node].name.clone()).collect(),
        joined: link.bypass.is_joined(),
    };
    let pipes = plan.pipes().map(|pipe| (PipePlace::of(&pipe), pipe.config.clone())).collect();
    Links::new(driver, plan.links.iter().map(name).collect(), pipes, before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_file_gives_back_what_nodes_are_not_given() {
        let withheld: Vec<&str> = netloom_host::capabilities::withheld().collect();
        assert_eq!(withheld, netloom_lab::WITHHELD);
    }

    #[test]
    fn what_many_nodes_have_to_do_without_is_said_once() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let all = names.iter().map(|name| ("no cubic", *name)).chain([("no /sys", "b")]);
        assert_eq!(by_note(all), ["nodes a, b, c, d, e and 2 more: no cubic", "node b: no /sys"]);
    }
}
