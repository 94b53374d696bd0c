//! The largest buffers that programs may ask for, which are the machine's for all network namespaces.

use netloom_lab::{Plan, Stack};
use std::fs;

/// What Linux has on machines of 64 bits: 256 packets of 256 bytes with what the kernel keeps of each (net/core/sock.c), and, as the
/// most, 4 MiB since Linux 6.17.
const USUAL: [(&str, &[u64]); 4] = [
    ("rmem_default", &[212_992]),
    ("wmem_default", &[212_992]),
    ("rmem_max", &[212_992, 4 << 20]),
    ("wmem_max", &[212_992, 4 << 20]),
];

/// Says for the verdict which socket buffers of this machine differ from those of Linux, if the plan has nodes on its kernel.
pub fn note(plan: &Plan) -> Option<String> {
    let is_concerned = plan.nodes.iter().any(|node| node.stack == Stack::Namespace);
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/net/core/{name}")).ok()?.trim().parse().ok();
    is_concerned.then(|| differing(read)).flatten()
}

fn differing(read: impl Fn(&str) -> Option<u64>) -> Option<String> {
    let unusual = |(name, usual): &(&str, &[u64])| {
        let is = read(name).filter(|is| !usual.contains(is))?;
        Some(format!("net.core.{name} is {is}, {} in Linux", usual[0]))
    };
    let all: Vec<String> = USUAL.iter().filter_map(unusual).collect();
    (!all.is_empty())
        .then(|| format!("whether programs have the same socket buffers elsewhere: on this machine {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_administrator_has_changed_is_named() {
        assert_eq!(differing(|_| Some(212_992)), None);
        assert_eq!(differing(|_| None), None);
        let raised = |name: &str| Some(if name == "rmem_max" { 33_554_432 } else { 212_992 });
        let said = "whether programs have the same socket buffers elsewhere: on this machine net.core.rmem_max is 33554432, 212992 in Linux";
        assert_eq!(differing(raised).as_deref(), Some(said));
    }
}
