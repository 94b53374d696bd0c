//! What nodes and links weigh, before anything has run: estimates from the description.

use super::graph::Load;
use crate::plan::{Cpus, LinkPlan, NodePlan, Stack};
use netloom_units::{Bytes, Rate};

/// The processor time of a node that says nothing of it, in thousandths: as many idle ones as that share a processor.
const OF_KERNEL: u64 = 250;
const OF_NAMESPACE: u64 = 100;
/// The packets of a device in the engine, or of an end of a link: a thread takes some hundreds of busy pipes.
const OF_DEVICE: u64 = 10;
const OF_END: u64 = 5;

/// The memory of a namespace with a program or two (measured: a router with two daemons has 13 MB, see `docs/routing.md`).
const NAMESPACE_BYTES: u64 = 13_000_000;
/// The memory of a kernel node that says nothing of it.
const KERNEL_BYTES: u64 = 128_000_000;
/// A node inside the engine takes next to none.
const DEVICE_BYTES: u64 = 1_000_000;

/// A pipe without a limit is as busy as a thread of the engine can be (measured: 3 to 5 Gbit/s, see `docs/precision.md`).
const MOST_MEGABITS: u64 = 4_000;

/// The processor time of a node in thousandths of a processor, and its memory in bytes.
pub(super) fn load(node: &NodePlan) -> Load {
    let (processor, memory) = match (&node.vm, node.stack) {
        (Some(vm), _) => (u64::from(vm.cpus) * 1_000, vm.memory.get()),
        (None, _) if !node.kind.runs_programs() => (OF_DEVICE, DEVICE_BYTES),
        (None, Stack::Kernel) => (OF_KERNEL, node.memory.map_or(KERNEL_BYTES, Bytes::get)),
        (None, _) => (OF_NAMESPACE, NAMESPACE_BYTES),
    };
    let described = node.cpus.map_or(processor, |cpus: Cpus| u64::from(cpus.thousandths()));
    [described + OF_END * node.interfaces.len() as u64, memory]
}

/// The described rates of both directions in Mbit/s, at least 1.
pub(super) fn megabits(link: &LinkPlan) -> u64 {
    let of = |rate: Rate| rate.as_bits_per_second() / 1_000_000;
    let each = link.pipes.iter().map(|pipe| pipe.rate.nominal().map_or(MOST_MEGABITS, of).min(MOST_MEGABITS));
    each.sum::<u64>().max(1)
}
