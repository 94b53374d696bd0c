//! Switches that are bridges of the kernel, and the links that lead to them.
//!
//! They are in a network namespace beside the lab's (`netloom_host::bridges`).

use crate::node_end::in_node;
use crate::port_name::interface_of;
use crate::resource::{Making, RUNNING_WITHIN, Resource, Site};
use crate::setup_error::SetupError;
use netloom_host::KernelError;
use netloom_host::bridges::{BridgePort, Bridges};
use netloom_host::netlink::{Bridge, Veth, VethEnd};
use netloom_lab::fabric::port_id;
use netloom_lab::{EndPlan, LinkPlan, NodeKind, Plan, SwitchPlan};
use netloom_units::Duration;
use std::time::{Duration as RealDuration, Instant};

/// The switches of a lab that are bridges of the kernel.
#[derive(Default)]
pub(crate) struct KernelBridges(Option<Bridges>);

impl KernelBridges {
    /// Hands them over to the links that lead to them.
    pub(crate) fn take(&mut self) -> Option<Bridges> {
        self.0.take()
    }
}

impl Resource for KernelBridges {
    fn make(&mut self, making: Making, site: &mut Site<'_>) -> Result<(), SetupError> {
        match (making, &mut self.0) {
            (Making::Links, none) => *none = make(site.plan, |end| in_node(site.plan, site.nodes, end))?,
            (Making::Settled, Some(bridges)) => connect(bridges, RUNNING_WITHIN)?,
            _ => {}
        }
        Ok(())
    }

    fn let_go(&mut self) {
        self.0 = None;
    }
}

/// Whether one of the ends of a link that is joined in the kernel is at a bridge.
pub(crate) fn is_at_bridge(plan: &Plan, link: &LinkPlan) -> bool {
    link.bypass.is_joined() && link.ends.iter().any(|end| plan.nodes[end.node].kind == NodeKind::Switch)
}

/// Makes all bridges and their links, which pass nothing on yet; none if no switch is one. `in_node` describes an end of a link at a node.
fn make(plan: &Plan, in_node: impl Fn(&EndPlan) -> VethEnd) -> Result<Option<Bridges>, SetupError> {
    // By node: its place among the bridges.
    let mut places = vec![None; plan.nodes.len()];
    let mut made = Vec::new();
    for (number, node) in plan.nodes.iter().enumerate() {
        if let Some(switch) = node.switch.as_ref().filter(|_| plan.is_bridge(node)) {
            places[number] = Some(made.len());
            made.push(bridge(number, switch));
        }
    }
    if made.is_empty() {
        return Ok(None);
    }
    let (mut pairs, mut ports) = (Vec::new(), Vec::new());
    for link in plan.links.iter().filter(|link| is_at_bridge(plan, link)) {
        let mut ends: Vec<&EndPlan> = link.ends.iter().collect();
        // That of a bridge comes first, whose namespace is the one where the pair is made.
        ends.sort_by_key(|end| places[end.node].is_none());
        let veth = |end: &EndPlan| {
            let Some(bridge) = places[end.node] else { return in_node(end) };
            let name = interface_of(port_id(end.end));
            ports.push(BridgePort { name: name.clone(), bridge });
            VethEnd { name, mac: None, namespace: None, up: true }
        };
        let ends: Vec<VethEnd> = ends.into_iter().map(veth).collect();
        let mut ends: [VethEnd; 2] = ends.try_into().expect("a link that is joined in the kernel has two ends");
        // The kernel brings up no second end before the pair is one.
        ends[1].up = false;
        pairs.push(Veth { ends, mtu: link.mtu });
    }
    let mut bridges = Bridges::create(&made).map_err(refused)?;
    bridges.add(&pairs, ports).map_err(SetupError::Kernel)?;
    Ok(Some(bridges))
}

fn bridge(node: usize, switch: &SwitchPlan) -> Bridge {
    const TICK: Duration = Duration::from_millis(10);
    let ticks = switch.ageing.as_nanos() / TICK.as_nanos();
    Bridge {
        name: format!("b{node}"),
        ageing: u32::try_from(ticks).expect("the plan leaves other switches in the engine"),
        table: u32::try_from(switch.table).unwrap_or(u32::MAX),
    }
}

/// Kernels can be built without bridges, or lack the module.
fn refused(error: KernelError) -> SetupError {
    if error.errno() != libc::EOPNOTSUPP {
        return SetupError::Kernel(error);
    }
    SetupError::Refused(format!(
        "this machine's kernel has no bridges ({error}): load its module (`modprobe bridge`), or write `bypass: off` to keep switches \
         in the packet engine"
    ))
}

/// Has the bridges pass frames on, and waits until all their ports do: what comes before is dropped. In a large lab the kernel takes its
/// time: it is given up when for so long no port more passes frames on.
///
/// All nodes are configured by then. What each says of itself meanwhile is for everybody, and would keep the kernel busy with the square
/// of their number.
fn connect(bridges: &mut Bridges, patience: RealDuration) -> Result<(), SetupError> {
    bridges.connect().map_err(SetupError::Kernel)?;
    let (mut most, mut until) = (0, Instant::now() + patience);
    loop {
        let (count, all) = (bridges.forwarding().map_err(SetupError::Kernel)?, bridges.ports());
        if count == all {
            return Ok(());
        }
        if count > most {
            (most, until) = (count, Instant::now() + patience);
        } else if Instant::now() > until {
            let seconds = patience.as_secs();
            return Err(SetupError::Late(format!(
                "{count} of {all} ports of the kernel's bridges pass frames on, although all were brought up, and nothing has changed \
                 for {seconds} s"
            )));
        }
        std::thread::sleep(RealDuration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_bridges_is_named() {
        let refusal = |errno| refused(KernelError::new("create bridge b3", errno)).to_string();
        assert!(
            refusal(libc::EOPNOTSUPP).contains("has no bridges (create bridge b3: "),
            "{}",
            refusal(libc::EOPNOTSUPP)
        );
        assert!(!refusal(libc::EPERM).contains("modprobe"));
    }
}
