//! Whether this machine has room for the neighbours that a lab's nodes learn.

use netloom_host::KernelError;
use netloom_host::neighbors::{ENOUGH, Room, can_raise, limit};
use netloom_judge::RunError;
use netloom_judge::quantity::grouped;
use netloom_lab::{NodePlan, Plan, Stack};
use std::collections::BTreeMap;

/// Raises the machine's limits as long as the lab is there, if it has nodes on this machine's kernel and this process may.
pub fn make_room(plan: &Plan) -> Result<Option<Room>, RunError> {
    if on_this_kernel(plan).next().is_none() {
        return Ok(None);
    }
    let refused = |error: KernelError| RunError::Machine(error.to_string());
    // Twice what is learned: there may be other labs.
    Room::hold(ENOUGH.max(learned(plan).saturating_mul(2))).map_err(refused)
}

/// Says so if the nodes of a plan learn more neighbours than all namespaces of this machine may know together, and netloom may not
/// raise that.
pub fn neighbor_warning(plan: &Plan) -> Option<String> {
    let (learned, limit) = (learned(plan), limit()?);
    if learned <= limit || can_raise() {
        return None;
    }
    Some(format!(
        "the nodes learn up to {} neighbours, and this machine's kernel keeps {} for all labs and itself (gc_thresh3): beyond, it drops \
         packets of any of them, and the run is then not as described. As root, netloom raises that; `arp: false` has nodes know their \
         neighbours from the beginning; or `sudo sysctl -w net.ipv4.neigh.default.gc_thresh3={wanted} \
         net.ipv6.neigh.default.gc_thresh3={wanted}`",
        grouped(learned as f64),
        grouped(limit as f64),
        wanted = ENOUGH.max(learned.saturating_mul(2)),
    ))
}

fn on_this_kernel(plan: &Plan) -> impl Iterator<Item = &NodePlan> {
    plan.nodes.iter().filter(|node| node.stack == Stack::Namespace)
}

/// How many neighbours of one family the nodes on this machine's kernel learn, if each speaks with all others of its subnets.
fn learned(plan: &Plan) -> u64 {
    let mut members: BTreeMap<_, u64> = BTreeMap::new();
    let subnets = |node: &NodePlan| {
        let interfaces = node.interfaces.iter().filter(|interface| interface.neighbors.is_empty());
        interfaces.flat_map(|interface| interface.addresses.iter().map(ipnet::IpNet::trunc)).collect::<Vec<_>>()
    };
    for subnet in on_this_kernel(plan).flat_map(subnets) {
        *members.entry((subnet.addr().is_ipv6(), subnet)).or_default() += 1;
    }
    let of_family = |is_v6: bool| {
        let counts = members.iter().filter(|((is, _), _)| *is == is_v6).map(|(_, count)| count * (count - 1));
        counts.fold(0, u64::saturating_add)
    };
    of_family(false).max(of_family(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Plan {
        netloom_lab::parse(text, "lab.yaml").expect("it is a lab").plan
    }

    #[test]
    fn a_crowd_on_one_lan_learns_with_the_square_of_its_size() {
        let crowd = |arp: bool| format!("name: crowd\narp: {arp}\ngenerate: {{kind: star, n: 60}}\n");
        assert_eq!(learned(&plan(&crowd(true))), 60 * 59);
        assert_eq!(learned(&plan(&crowd(false))), 0);
        let kernels = format!("{}clock: virtual\n", crowd(true));
        assert_eq!(learned(&plan(&kernels)), 0);
    }
}
