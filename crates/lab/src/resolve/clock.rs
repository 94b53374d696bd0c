//! What the clock means for nodes: on whose stack each runs, and which of its settings hold.

use super::faults::shared_clock;
use crate::diagnostics::{Diagnostic, Spanned, nearest, one_of};
use crate::errors::{Errors, Findings};
use crate::plan::{Clock, Stack, VmPlan};
use crate::spec::{NodeSpec, Spec};
use netloom_units::Bytes;
use std::collections::BTreeMap;

/// What a kernel node has if nothing is said: enough for some hundred connections at ordinary speeds. A kernel takes
/// from the machine only what it uses, and a sixtieth of this to keep account of it.
const MEMORY: Bytes = Bytes::new(128_000_000);

/// So many interfaces are counted in.
const FEW_INTERFACES: usize = 32;

/// What a kernel has more by default for each further one: buffers of packets that come take 0.7 MB.
const PER_INTERFACE: Bytes = Bytes::new(1_000_000);

/// Interfaces of a kernel node, at most. Its kernel has 1028 interrupts for devices (`UM_LAST_SIGNAL_IRQ`).
const MOST_INTERFACES: usize = 1000;

/// The congestion controls of Linux 7.
const CONGESTION_CONTROLS: [&str; 17] = [
    "reno",
    "cubic",
    "bbr",
    "bic",
    "cdg",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

/// The stack of every node. Settings that do not hold with it, or under this clock, are noted and taken out.
pub(super) fn stacks(spec: &mut Spec, found: &mut Findings) -> Vec<Stack> {
    let clock = spec.clock;
    if let (Clock::Virtual, Some(precision)) = (clock, &spec.precision) {
        found.warnings.push(precision.error("in virtual time every packet leaves at its exact instant: leave it out"));
    }
    if let (Clock::Virtual, Some(shards)) = (clock, &spec.shards) {
        found.warnings.push(shards.error("in virtual time there is no packet engine to divide: leave it out"));
    }
    let counts = interfaces(spec);
    let stacks: Vec<Stack> = spec
        .nodes
        .iter_mut()
        .map(|node| {
            if !node.kind.runs_programs() {
                // What it cannot have was noted when it was read.
                return Stack::Engine;
            }
            let stack = stack(node, clock, &mut found.errors);
            settle_memory(node, stack, counts.get(&node.name.value).copied().unwrap_or_default(), found);
            settle_processor(node, clock, found);
            found.errors.extend(wrong_clock(node, stack, clock));
            settle_disk(node, stack, clock, &mut found.errors);
            found.errors.extend(foreign_cores(node, stack));
            found.errors.extend(shared_root(node, stack));
            found.errors.extend(writable_volume(node, stack));
            found.warnings.extend(idle_share(node, stack, clock));
            found.warnings.extend(strange_congestion(node));
            stack
        })
        .collect();
    found.errors.extend(shared_wall_clock(spec, &stacks));
    found.errors.extend(shared_cards(spec));
    found.errors.extend(crowded(spec, &stacks, &counts));
    stacks
}

/// How many interfaces each node has.
fn interfaces(spec: &Spec) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for end in spec.links.iter().flat_map(|link| &link.ends) {
        *counts.entry(end.node.value.clone()).or_default() += 1;
    }
    counts
}

/// A kernel has room for so many devices.
fn crowded(spec: &Spec, stacks: &[Stack], counts: &BTreeMap<String, usize>) -> Vec<Diagnostic> {
    let of_node = |(node, stack): (&NodeSpec, &Stack)| {
        let name = &node.name.value;
        let (what, most) = match stack {
            Stack::Kernel => ("the kernel of a node", MOST_INTERFACES),
            Stack::Vm => ("a virtual machine", VmPlan::MOST_INTERFACES),
            Stack::Namespace | Stack::Engine => return None,
        };
        let count = counts.get(name).copied().filter(|count| *count > most)?;
        Some(node.name.error(format!("{what} has at most {most} interfaces, and {name} has {count}")))
    };
    spec.nodes.iter().zip(stacks).filter_map(of_node).collect()
}

/// A card belongs to one machine.
fn shared_cards(spec: &Spec) -> Vec<Diagnostic> {
    let mut owners: BTreeMap<&str, &NodeSpec> = BTreeMap::new();
    let mut shared = Vec::new();
    for node in &spec.nodes {
        let Some(vm) = &node.vm else { continue };
        for card in &vm.value.passthrough {
            if let Some(owner) = owners.insert(card, node) {
                let owner = &owner.name.value;
                shared.push(
                    vm.error(format!("the card {card} is passed to node {owner} already: leave it out of one of them")),
                );
            }
        }
    }
    shared
}

/// A namespace node cannot have a time of day of its own.
fn shared_wall_clock(spec: &Spec, stacks: &[Stack]) -> Option<Diagnostic> {
    let start = spec.start.as_ref()?;
    let place = stacks.iter().position(|stack| matches!(stack, Stack::Namespace | Stack::Vm))?;
    let name = &spec.nodes[place].name.value;
    let what = if stacks[place] == Stack::Vm { "virtual machine" } else { "namespace node" };
    Some(start.error(format!(
        "node {name} is a {what}, which has this machine's time of day: write `stack: kernel` there, or leave this out"
    )))
}

fn stack(node: &NodeSpec, clock: Clock, errors: &mut Errors) -> Stack {
    if let Some(vm) = &node.vm {
        errors.extend(vm_refused(clock).map(|why| vm.error(why)));
        if matches!(clock, Clock::Dilated(_)) && !vm.value.passthrough.is_empty() {
            errors.push(vm.error(
                "the wire of a card that is passed through cannot be slowed: leave `passthrough` or `clock` out",
            ));
        }
        return Stack::Vm;
    }
    if let Some(container) = &node.container {
        if clock != Clock::Real {
            errors.push(container.error(
                "the clocks and timers of a container that runs already are this machine's: write `clock: real`, or `image` in the \
                 place of `container`",
            ));
        }
        return Stack::Namespace;
    }
    let Some(said) = &node.stack else { return clock.default_stack() };
    if said.value == Stack::Namespace && clock != Clock::Real {
        errors.push(said.error(namespace_refused(clock)));
    }
    said.value
}

/// A machine's processor computes in wall time, however slow its clocks are.
fn vm_refused(clock: Clock) -> Option<&'static str> {
    (clock == Clock::Virtual).then_some(
        "a virtual machine computes on a processor that cannot be stopped between two events: write `clock: real` or \
         `clock: {dilation: 10}`, or `stack: kernel` in the place of `vm`",
    )
}

/// A clock that is this machine's cannot be wrong for one node.
fn wrong_clock(node: &NodeSpec, stack: Stack, clock: Clock) -> Option<Diagnostic> {
    let error = node.clock.as_ref()?;
    shared_clock(node, stack, clock).map(|why| error.error(why))
}

fn namespace_refused(clock: Clock) -> String {
    let why = match clock {
        Clock::Virtual => "which cannot be stopped between two events",
        Clock::Real | Clock::Dilated(_) => {
            "whose timers run in wall time: with losses, up to 85 % too much throughput was measured"
        }
    };
    format!(
        "a namespace node has the TCP of this machine's kernel, {why}. Under `clock: {clock}` write `stack: kernel` or \
         leave it out"
    )
}

fn settle_memory(node: &mut NodeSpec, stack: Stack, interfaces: usize, found: &mut Findings) {
    if stack == Stack::Vm {
        // That it is said here was noted when it was read.
        node.memory = None;
        return;
    }
    if stack == Stack::Kernel {
        let more = interfaces.saturating_sub(FEW_INTERFACES) as u64 * PER_INTERFACE.get();
        let value = Bytes::new(MEMORY.get() + more);
        node.memory.get_or_insert_with(|| Spanned { value, ..Spanned::default() });
        return;
    }
    let Some(memory) = node.memory.take() else { return };
    let message = "a namespace node has no memory of its own";
    if node.stack.is_some() {
        found.errors.push(memory.error(format!("{message}: leave it out, or write `stack: kernel`")));
    } else {
        found
            .warnings
            .push(memory.error(format!("{message}, and in real time a node is one unless it says `stack: kernel`")));
    }
}

/// Each clock has its own way to say how fast a node computes; a node may say both, so that one lab file serves all
/// clocks. What would silently be left out of the description is refused.
fn settle_processor(node: &mut NodeSpec, clock: Clock, found: &mut Findings) {
    if clock == Clock::Virtual {
        if let (Some(cpus), None) = (node.cpus.take(), &node.cpu) {
            found.errors.push(share_refused(&cpus));
        }
    } else if let (Some(cpu), None) = (node.cpu.take(), &node.cpus) {
        found.warnings.push(cpu.error(
            "this is for virtual time only, where computing takes no time: here a packet takes as long as the node's \
             kernel really needs for it; `cpus` limits that",
        ));
    }
}

/// Only a kernel of the node's own has a disk of its own. A file cannot be put where the disk will be.
fn settle_disk(node: &NodeSpec, stack: Stack, clock: Clock, errors: &mut Errors) {
    let Some(disk) = &node.disk else { return };
    match stack {
        Stack::Kernel | Stack::Vm => {}
        Stack::Namespace | Stack::Engine => errors.push(disk.error(
            "a namespace node writes to this machine's disks: write `stack: kernel`, or `clock: virtual` for the lab",
        )),
    }
    if disk.value.journal && stack == Stack::Vm {
        errors.push(disk.error("`journal` is for kernel nodes in virtual time: leave it out"));
    } else if disk.value.journal && clock != Clock::Virtual {
        errors.push(disk.error(
            "`journal` notes instants of lab time, which a kernel knows by itself in virtual time alone: write `clock: virtual` for the \
             lab, or leave it out",
        ));
    }
    let at = &disk.value.at;
    if let Some(file) = node.files.iter().find(|file| file.target.starts_with(at)) {
        let (file, at) = (file.target.display(), at.display());
        errors.push(disk.error(format!("the disk hides {file}, which `files` puts below {at}: put it elsewhere")));
    }
}

/// Where core dumps go is a setting of a whole kernel (`kernel.core_pattern`), so only a kernel of ours has one of ours.
fn foreign_cores(node: &NodeSpec, stack: Stack) -> Option<Diagnostic> {
    let cores = node.cores.as_ref()?;
    let why = match stack {
        Stack::Kernel => return larger_than_memory(node, cores),
        Stack::Vm => "the kernel of a virtual machine says itself where core dumps go: leave it out",
        Stack::Namespace | Stack::Engine => {
            "where core dumps go is a setting of this machine's whole kernel (kernel.core_pattern), which a namespace node does not change: \
             write `stack: kernel`, or `clock: virtual` for the lab"
        }
    };
    Some(cores.error(why))
}

/// Dumps are in the node's memory until it ends, beside its programs.
fn larger_than_memory(node: &NodeSpec, cores: &Spanned<Bytes>) -> Option<Diagnostic> {
    let memory = node.memory.as_ref()?.value;
    let most = Bytes::new(memory.get() / 2);
    (cores.value > most).then(|| {
        cores.error(format!(
            "core dumps take at most half of a node's memory, which is {memory}: write {most} or less, or more `memory`"
        ))
    })
}

/// A kernel sees the machine's files, and cannot change them: runs in virtual time would differ.
fn writable_volume(node: &NodeSpec, stack: Stack) -> Option<Diagnostic> {
    let volume = node.image.as_ref()?.writable.as_ref().filter(|_| stack == Stack::Kernel)?;
    Some(volume.error("a kernel node cannot write to this machine's file system: write :ro behind the volume"))
}

/// What cannot be if programs write to the machine's own file system.
fn shared_root(node: &NodeSpec, stack: Stack) -> Option<Diagnostic> {
    let root = node.overlay.as_ref().filter(|root| !root.value)?;
    if node.image.is_some() {
        return Some(root.error("the file system is that of the image: leave `root` out, or write `root: overlay`"));
    }
    let why = match (stack, node.files.is_empty()) {
        // Noted when it was read.
        (Stack::Vm, _) => return None,
        (Stack::Kernel, _) => "a kernel node cannot write to this machine's file system",
        (_, false) => "`files` need a file system of the node's own",
        (_, true) => return None,
    };
    Some(root.error(format!("{why}: leave `root` out, or write `root: overlay`")))
}

/// A kernel runs on one core, and cannot use more of it than there is.
fn idle_share(node: &NodeSpec, stack: Stack, clock: Clock) -> Option<Diagnostic> {
    let (cpus, factor) = (node.cpus.as_ref()?, clock.dilation()?);
    let cores = u64::from(cpus.value.thousandths()) * 1_000;
    (stack == Stack::Kernel && cores > factor.as_millionths()).then(|| {
        cpus.error(format!(
            "the kernel of a node runs on one core of this machine, {factor} of lab time under `clock: {clock}`: this \
             limits nothing"
        ))
    })
}

/// A kernel may have been given another by a module or a patch, but mostly it is a slip of the pen.
fn strange_congestion(node: &NodeSpec) -> Option<Diagnostic> {
    let said = node.congestion.as_ref().filter(|said| !CONGESTION_CONTROLS.contains(&said.value.as_str()))?;
    let hint = nearest(&said.value, CONGESTION_CONTROLS.into_iter()).map_or_else(
        || format!("Linux has {}", one_of(&CONGESTION_CONTROLS)),
        |near| format!("did you mean `{near}`?"),
    );
    Some(
        said.error(format!("only a kernel with a module of its own has a congestion control `{}`: {hint}", said.value)),
    )
}

fn share_refused<T>(cpus: &Spanned<T>) -> Diagnostic {
    cpus.error(
        "in virtual time computing takes no time, so a share of a processor limits nothing: write what packets cost, \
         too, for example `cpu: {packet: 2 us, byte: 1 ns}`, or leave it out",
    )
}
