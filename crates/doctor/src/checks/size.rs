//! How much of everything there is.

use super::{Found, better, fine};
use crate::tree::Facts;
use crate::trial::Outcome;
use netloom_host::neighbors::ENOUGH;
use netloom_judge::examination::{Check, Forwarding};
use netloom_judge::quantity::grouped;

/// A lab of a hundred nodes fits into less, in bytes.
const LITTLE_MEMORY: u64 = 500_000_000;
/// Open files with which a lab of a hundred nodes and their programs runs.
const FEW_FILES: u64 = 4_096;

pub(super) fn all(found: &Found<'_>) -> Vec<Check> {
    let mut checks = vec![processors(found)];
    checks.extend([memory(found), files(found.facts), neighbors(found)].into_iter().flatten());
    checks
}

fn processors(found: &Found<'_>) -> Check {
    const NAME: &str = "processors";
    let count = found.processors;
    let mut result = format!("{count} to use");
    if found.facts.isolated > 0 {
        result = format!("{result}; {} isolated, where only `taskset` puts programs", found.facts.isolated);
    }
    if let Some(quota) = found.facts.quota.filter(|quota| *quota < count as f64) {
        let result = format!("{result}, but a control group allows the time of {quota:.1}");
        let change = "lift the limit (in Docker: no `--cpus`): a limited engine is stopped for milliseconds";
        return better("size", NAME, result, change);
    }
    if count == 1 {
        return better("size", NAME, result, "a second one: the engine and the programs of labs then run side by side");
    }
    fine("size", NAME, result)
}

fn memory(found: &Found<'_>) -> Option<Check> {
    let (total, available) = (found.facts.memory_total_bytes?, found.facts.memory_available_bytes?);
    let mut result = format!("{:.1} of {:.1} GB free", available as f64 / 1e9, total as f64 / 1e9);
    if let Outcome::Carried(Forwarding { node_memory_bytes: Some(bytes), .. }, _) = found.trial {
        result = format!("{result}; an idle node takes {:.2} MB", *bytes as f64 / 1e6);
    }
    Some(if available >= LITTLE_MEMORY {
        fine("size", "memory", result)
    } else {
        better("size", "memory", result, "end programs that hold memory: `ps aux --sort=-rss | head` shows them")
    })
}

/// All labs of the machine share it.
fn neighbors(found: &Found<'_>) -> Option<Check> {
    const NAME: &str = "neighbours";
    let limit = found.facts.neighbors?;
    let result = format!("the kernel keeps {} for all labs", grouped(limit as f64));
    if found.rights.root {
        return Some(fine("size", NAME, format!("{result}; a lab raises that while it is up")));
    }
    Some(if limit >= ENOUGH {
        fine("size", NAME, result)
    } else {
        let change = format!(
            "sudo sysctl -w net.ipv4.neigh.default.gc_thresh3={ENOUGH} net.ipv6.neigh.default.gc_thresh3={ENOUGH}: labs with `arp: true` \
             and many nodes on one LAN fill it, and all labs beside them lose packets then"
        );
        better("size", NAME, result, change)
    })
}

fn files(facts: &Facts) -> Option<Check> {
    let limit = facts.open_files?;
    let result = format!("{} per process", grouped(limit as f64));
    Some(if limit >= FEW_FILES {
        fine("size", "open files", result)
    } else {
        let change = "echo \"$USER - nofile 65536\" | sudo tee /etc/security/limits.d/netloom.conf, and log in again";
        better("size", "open files", result, change)
    })
}
