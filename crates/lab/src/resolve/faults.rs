//! What can be disturbed in a node: the rest is refused with the reason.

mod frozen;
mod request;

pub(super) use frozen::check as check_frozen;
pub use request::{RequestedFault, parse_fault, refusals};

use super::names::Places;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::plan::{Clock, DiskFault, DiskPlan, Disturbance, LimitChange, NodeKind, Stack, Standstill, Whose};
use crate::spec::NodeSpec;
use std::path::Path;

/// A node, as far as it decides what can be disturbed in it.
#[derive(Clone, Copy, Debug)]
struct Target<'a> {
    name: &'a str,
    kind: NodeKind,
    stack: Stack,
    is_container: bool,
    /// Whether it is a virtual machine into which nothing of the lab gets.
    is_closed: bool,
    clock: Clock,
    disk: Option<&'a DiskPlan>,
}

/// The error of a disturbance that cannot be done to these programs or this node, which `name` names. `host`: the node of the programs.
/// `part`: what of them is meant.
pub(super) fn refused(
    (how, part): (Disturbance, Option<&str>),
    (whose, host): (Whose, usize),
    name: &Spanned<String>,
    places: &Places<'_>,
) -> Option<Diagnostic> {
    let host = target(places.spec.nodes.get(host)?, *places.stacks.get(host)?, places.spec.clock);
    why_not((how, part), whose, host, &name.value).map(|why| name.error(why))
}

/// The error of a crash of this node.
pub(super) fn never_crashes(name: &Spanned<String>, node: usize, places: &Places<'_>) -> Option<Diagnostic> {
    let host = target(places.spec.nodes.get(node)?, *places.stacks.get(node)?, places.spec.clock);
    host.never_crashes().map(|why| name.error(why))
}

/// Why a crash cannot say what is left on the disk of this node, which has none.
pub(super) fn keeps_nothing(node: &str) -> String {
    format!(
        "this says what a crash leaves on a disk, and `{node}` has none: leave `keep` out, or write `disk: {{at: FOLDER}}` for the node"
    )
}

/// Why the clock that a node is given cannot be its own, if so.
pub(super) fn shared_clock(node: &NodeSpec, stack: Stack, clock: Clock) -> Option<String> {
    target(node, stack, clock).shared_clock()
}

/// Why this can never happen to a node, if so.
pub(super) fn never(how: Disturbance, node: &NodeSpec, stack: Stack, clock: Clock) -> Option<String> {
    why_not((how, None), Whose::Node(0), target(node, stack, clock), &node.name.value)
}

fn target(node: &NodeSpec, stack: Stack, clock: Clock) -> Target<'_> {
    let disk = node.disk.as_ref().map(|disk| &disk.value);
    let is_closed = node.vm.as_ref().is_some_and(|vm| vm.value.is_closed());
    let is_container = node.container.is_some();
    Target { name: &node.name.value, kind: node.kind, stack, is_container, is_closed, clock, disk }
}

/// Why this cannot be done to the node `host`, or to the programs of the command of this name there.
fn why_not((how, part): (Disturbance, Option<&str>), whose: Whose, host: Target<'_>, name: &str) -> Option<String> {
    match (how, whose) {
        (Disturbance::Clock(_), Whose::Command(_)) => {
            Some(format!("`{name}` is a command, and all programs of a node have one clock: name the node"))
        }
        (Disturbance::Clock(_), Whose::Node(_)) => host.shared_clock(),
        (Disturbance::Freeze(_), Whose::Command(_)) => {
            Some(format!("`{name}` is a command: name the node to freeze, or write `pause: {name}`"))
        }
        (Disturbance::Freeze(kind), Whose::Node(_)) => host.never_stands_still(kind),
        (Disturbance::Crash(_), _) => host.never_crashes(),
        (_, Whose::Command(_)) if how.is_of_kernel() => Some(format!(
            "`{name}` is a command: name its node, and the command by `process`, as in `on: {}`",
            host.name
        )),
        (_, Whose::Node(_)) if how.is_of_kernel() => host.without_call_faults(how),
        (Disturbance::Limit(LimitChange { memory, pids, .. }), _) if memory.is_some() || pids.is_some() => {
            host.without_groups()
        }
        (Disturbance::Disk(_), Whose::Command(_)) => {
            Some(format!("`{name}` is a command: name the node with the disk"))
        }
        (Disturbance::Disk(fault), Whose::Node(_)) => host.without_disk(fault, part),
        _ => None,
    }
}

impl Target<'_> {
    /// Why this cannot happen to its disk, if so. `path`: the file that is meant.
    fn without_disk(self, fault: DiskFault, path: Option<&str>) -> Option<String> {
        let name = self.name;
        let Some(disk) = self.disk else {
            return Some(format!("`{name}` has no disk: write `disk: {{at: FOLDER}}` for the node"));
        };
        let sectors = disk.size.get() / 512;
        if fault.sectors.is_some_and(|(_, last)| last >= sectors) {
            return Some(format!("the disk of `{name}` has {sectors} sectors, from 0 on"));
        }
        let at = disk.at.display();
        let is_elsewhere = path.is_some_and(|path| !Path::new(path).starts_with(&disk.at));
        is_elsewhere.then(|| format!("`path` names a file on the disk of `{name}`, below {at}"))
    }

    /// Why the memory and the processes of its programs cannot be counted, if so.
    fn without_groups(self) -> Option<String> {
        let name = self.name;
        (self.stack != Stack::Kernel).then(|| {
            format!(
                "the programs of `{name}` have no control groups of their own, by which memory and processes are limited: write \
                 `stack: kernel` for the node, or limit `fds` alone"
            )
        })
    }

    /// Why no other kernel can take the place of its own, if so.
    fn never_crashes(self) -> Option<String> {
        let Self { name, kind, stack, clock, is_closed, .. } = self;
        if !kind.runs_programs() {
            return Some(format!("`{name}` is {}, which has no kernel: write `stop`", kind.titled()));
        }
        let why = match clock {
            Clock::Virtual => return None,
            Clock::Real | Clock::Dilated(_) if stack == Stack::Vm && is_closed => {
                return Some(format!(
                    "`{name}` cannot crash: nothing of the lab is in it (`access: none`), which would say when it has booted again"
                ));
            }
            Clock::Real | Clock::Dilated(_) if stack.is_own() => return None,
            Clock::Real | Clock::Dilated(_) => "it has the kernel of this machine",
        };
        Some(format!(
            "`{name}` cannot crash: {why}. Write `stack: kernel` for the node, or `clock: virtual` for the lab; or `stop` or `reboot` in the \
             place of `crash`"
        ))
    }

    /// Why its kernel cannot disturb its programs, if so.
    fn without_call_faults(self, how: Disturbance) -> Option<String> {
        let Self { name, stack, clock, .. } = self;
        if stack == Stack::Kernel && clock == Clock::Virtual {
            return None;
        }
        let what = match how {
            Disturbance::Starve(_) | Disturbance::Schedule(_) => "decides which of its programs run",
            Disturbance::OutOfMemory => "chooses a process to be killed",
            _ => "answers its programs' system calls",
        };
        Some(match stack {
            Stack::Kernel => format!(
                "the kernel of `{name}` {what} at instants of virtual time alone, where these are the same in every run: write \
                 `clock: virtual` for the lab"
            ),
            _ => format!(
                "`{name}` has no kernel of Netloom's making, which {what}: write `clock: virtual` for the lab, in which nodes have such kernels"
            ),
        })
    }

    /// Why its kernel cannot stand still without noticing, if so.
    fn never_stands_still(self, kind: Standstill) -> Option<String> {
        let Self { name, stack, clock, is_closed, .. } = self;
        if stack == Stack::Vm && is_closed && kind == Standstill::Pause {
            return Some(format!(
                "nothing of the lab is in `{name}` (`access: none`), which would set its clock afterwards: write `kind: stall`"
            ));
        }
        if stack == Stack::Vm || stack == Stack::Kernel && clock == Clock::Virtual {
            return None;
        }
        Some(format!(
            "`{name}` cannot stand still: its clocks go on with this machine's. Write `pause: {name}`, which holds its programs and \
             nothing else, or `clock: virtual` for the lab, in which kernels stand still; virtual machines do on each clock"
        ))
    }

    fn shared_clock(self) -> Option<String> {
        let name = self.name;
        let why =
            "Linux has one CLOCK_REALTIME for all namespaces, so that this would set the clock of the whole machine";
        match self.stack {
            Stack::Kernel | Stack::Vm | Stack::Engine => None,
            Stack::Namespace if self.is_container => Some(format!(
                "`{name}` is a container that runs already, whose clock is this machine's: {why}. Write `image` in the place of \
                 `container`, and `stack: kernel`"
            )),
            Stack::Namespace => Some(format!(
                "`{name}` is a namespace node, whose clock is this machine's: {why}. Give it a kernel of its own: write \
                 `stack: kernel` for it, or `clock: virtual` for the lab"
            )),
        }
    }
}
