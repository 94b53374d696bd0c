//! Which ports lost packets outside the models. Pure.

use crate::link_name::LinkName;
use netloom_dataplane::EngineReport;
use netloom_fabric::PortId;
use netloom_host::netlink::{InterfaceCounters, Link};
use netloom_judge::PortLoss;
use std::collections::BTreeMap;

/// What the kernel has counted of each port with an interface, at its end of the lab.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortCounters(BTreeMap<u32, InterfaceCounters>);

impl PortCounters {
    /// Of the interfaces in the lab's own namespace, whose names say which port they serve.
    pub(crate) fn of_interfaces(interfaces: &[Link]) -> Self {
        let port = |name: &str| name.strip_prefix('p')?.parse::<u32>().ok();
        Self(interfaces.iter().filter_map(|link| Some((port(&link.name)?, link.counters))).collect())
    }

    fn of(&self, port: PortId) -> InterfaceCounters {
        self.0.get(&port.0).copied().unwrap_or_default()
    }
}

/// The ports that lost something, the worst first. `before`: what the kernel had counted when the engine began to listen.
///
/// If the ring was full, the kernel tells how many packets that cost in all, and not whose they were. But it counts what comes in
/// at every interface, and the engine what it saw of that: the difference says how to divide the sum. Packets that are on
/// their way between the two at this moment make this a little inexact; the sum is exact.
pub(crate) fn port_losses(
    names: &[LinkName],
    engine: &EngineReport,
    before: &PortCounters,
    after: &PortCounters,
) -> Vec<PortLoss> {
    let named: u64 = engine.ports.iter().map(|port| port.lost_receiving).sum();
    let missing: Vec<u64> = engine.ports.iter().map(|port| missing(port, before, after)).collect();
    let overflows = divide(engine.lost_receiving.saturating_sub(named), &missing);
    let told = |(port, overflow): (&netloom_dataplane::PortReport, u64)| {
        let name = &names[port.port.0 as usize / 2];
        let counted = after.of(port.port);
        PortLoss {
            link: name.name.clone(),
            node: name.ends[port.port.0 as usize % 2].clone(),
            lost_arriving_packets: port.lost_receiving + overflow,
            // What the kernel refuses it may count as dropped, too; what is dropped behind a full queue only it knows of.
            lost_leaving_packets: port.lost_sending.max(counted.tx_dropped + counted.tx_errors),
        }
    };
    let mut losses: Vec<PortLoss> = engine.ports.iter().zip(overflows).map(told).collect();
    losses.retain(|loss| loss.packets() > 0);
    losses.sort_by_key(|loss| std::cmp::Reverse(loss.packets()));
    losses
}

/// What came in at a port and was never seen by the engine.
fn missing(port: &netloom_dataplane::PortReport, before: &PortCounters, after: &PortCounters) -> u64 {
    if !port.is_interface {
        return 0;
    }
    let came = after.of(port.port).rx_packets.saturating_sub(before.of(port.port).rx_packets);
    came.saturating_sub(port.received)
}

/// Divides `sum` in proportion to `weights`; the parts add up to it if there is any weight.
fn divide(sum: u64, weights: &[u64]) -> Vec<u64> {
    let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let (mut upto, mut given) = (0, 0);
    let part = |weight: &u64| {
        upto += u128::from(*weight);
        // At most `sum`, which fits.
        let all = (u128::from(sum) * upto).checked_div(total).and_then(|all| u64::try_from(all).ok()).unwrap_or(0);
        let part = all - given;
        given = all;
        part
    };
    weights.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_dataplane::PortReport;

    fn names() -> Vec<LinkName> {
        let name =
            |name: &str, ends: [&str; 2]| LinkName { name: name.into(), ends: ends.map(str::to_owned), joined: false };
        vec![name("first", ["a", "r"]), name("second", ["r", "b"])]
    }

    fn port(port: u32, received: u64, lost_receiving: u64, lost_sending: u64) -> PortReport {
        PortReport { port: PortId(port), is_interface: true, received, lost_receiving, lost_sending }
    }

    fn counters(all: &[(u32, u64, u64)]) -> PortCounters {
        let one = |&(port, rx_packets, tx_dropped): &(u32, u64, u64)| {
            (port, InterfaceCounters { rx_packets, tx_dropped, ..InterfaceCounters::default() })
        };
        PortCounters(all.iter().map(one).collect())
    }

    #[test]
    fn a_full_ring_is_charged_to_those_whose_packets_are_missing() {
        let ports = vec![port(0, 900, 0, 0), port(1, 50, 0, 0), port(2, 10, 0, 0), port(3, 10, 2, 0)];
        let engine = EngineReport { lost_receiving: 102, ports, ..EngineReport::default() };
        let before = counters(&[(1, 5, 0)]);
        let after = counters(&[(0, 990, 0), (1, 65, 0), (2, 10, 0), (3, 10, 0)]);
        let losses = port_losses(&names(), &engine, &before, &after);
        let told: Vec<_> = losses.iter().map(|loss| (loss.node.as_str(), loss.lost_arriving_packets)).collect();
        assert_eq!(told, [("a", 90), ("r", 10), ("b", 2)]);
        assert_eq!(losses[0].link, "first");
    }

    #[test]
    fn what_is_refused_and_what_is_dropped_is_not_counted_twice() {
        let engine = EngineReport { ports: vec![port(3, 0, 0, 7), port(0, 0, 0, 0)], ..EngineReport::default() };
        let losses = port_losses(&names(), &engine, &counters(&[]), &counters(&[(3, 0, 9), (0, 0, 0)]));
        assert_eq!(losses.len(), 1);
        assert_eq!((losses[0].node.as_str(), losses[0].lost_leaving_packets), ("b", 9));
    }

    #[test]
    fn parts_add_up() {
        assert_eq!(divide(10, &[1, 1, 1]).iter().sum::<u64>(), 10);
        assert_eq!(divide(10, &[0, 0]), [0, 0]);
        assert_eq!(divide(u64::MAX, &[u64::MAX, 0]), [u64::MAX, 0]);
    }
}
