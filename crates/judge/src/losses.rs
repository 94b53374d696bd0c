//! Which ports lost packets outside the models. Pure.

use crate::{LinkName, PortLoss};
use netloom_dataplane::EngineReport;
use netloom_fabric::PortId;
use std::collections::BTreeMap;

/// What the kernel has counted of a port's interface, at its end of the lab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCount {
    /// Packets from the node.
    pub came: u64,
    /// Packets for the node that were dropped or refused.
    pub refused: u64,
}

/// The same of each port with an interface.
#[derive(Clone, Debug, Default)]
pub struct PortCounters(BTreeMap<PortId, PortCount>);

impl PortCounters {
    fn of(&self, port: PortId) -> PortCount {
        self.0.get(&port).copied().unwrap_or_default()
    }
}

impl FromIterator<(PortId, PortCount)> for PortCounters {
    fn from_iter<T: IntoIterator<Item = (PortId, PortCount)>>(counts: T) -> Self {
        Self(counts.into_iter().collect())
    }
}

/// The ports of the engine that lost something, the worst first. `before`: what the kernel had counted when the engine began to listen.
///
/// If the ring was full, the kernel tells how many packets that cost in all, and not whose they were. But it counts what comes in
/// at every interface, and the engine what it saw of that: the difference says how to divide the sum. Packets that are on
/// their way between the two at this moment make this a little inexact; the sum is exact.
pub fn port_losses(
    names: &[LinkName],
    engine: &EngineReport,
    before: &PortCounters,
    after: &PortCounters,
) -> Vec<PortLoss> {
    let named: u64 = engine.ports.iter().map(|port| port.lost_receiving).sum();
    let missing: Vec<u64> = engine.ports.iter().map(|port| missing(port, before, after)).collect();
    let overflows = divide(engine.lost_receiving.saturating_sub(named), &missing);
    // Ports are numbered as the ends of links.
    let ends: Vec<_> = names.iter().flat_map(|link| link.ends.iter().map(|node| (&link.name, node))).collect();
    let told = |(port, overflow): (&netloom_dataplane::PortReport, u64)| {
        let (link, node) = ends[port.port.0 as usize];
        PortLoss {
            link: link.clone(),
            node: node.clone(),
            lost_arriving_packets: port.lost_receiving + overflow,
            // What the kernel refuses it may count as dropped, too, also if it takes it later; what is dropped behind a full queue
            // only it knows of.
            lost_leaving_packets: port.lost_sending.max(after.of(port.port).refused.saturating_sub(port.retried)),
        }
    };
    let mut losses: Vec<PortLoss> = engine.ports.iter().zip(overflows).map(told).collect();
    losses.retain(|loss| loss.packets() > 0);
    worst_first(losses)
}

/// What bridges of the kernel could not hand over at the other ends of their ports' links. `counted`: of their ports.
pub fn bridge_losses(names: &[LinkName], counted: &PortCounters) -> Vec<PortLoss> {
    // Ports are numbered as the ends of links, and links that are joined in the kernel have two.
    let ends = names.iter().flat_map(|link| (0..link.ends.len()).map(move |place| (link, place)));
    let loss = |(port, (link, place)): (u32, (&LinkName, usize))| PortLoss {
        link: link.name.clone(),
        node: link.ends[usize::from(place == 0)].clone(),
        lost_arriving_packets: 0,
        lost_leaving_packets: counted.of(PortId(port)).refused,
    };
    (0..).zip(ends).map(loss).filter(|loss| loss.packets() > 0).collect()
}

/// The same ports, those that lost most first.
pub fn worst_first(mut losses: Vec<PortLoss>) -> Vec<PortLoss> {
    losses.sort_by_key(|loss| std::cmp::Reverse(loss.packets()));
    losses
}

/// What came in at a port and was never seen by the engine.
fn missing(port: &netloom_dataplane::PortReport, before: &PortCounters, after: &PortCounters) -> u64 {
    if !port.is_interface {
        return 0;
    }
    let came = after.of(port.port).came.saturating_sub(before.of(port.port).came);
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
        let name = |name: &str, ends: [&str; 2]| LinkName {
            name: name.into(),
            ends: ends.map(str::to_owned).into(),
            joined: false,
        };
        vec![name("first", ["a", "r"]), name("second", ["r", "b"])]
    }

    fn port(port: u32, received: u64, lost_receiving: u64, lost_sending: u64) -> PortReport {
        PortReport { port: PortId(port), is_interface: true, received, lost_receiving, lost_sending, retried: 0 }
    }

    fn counters(all: &[(u32, u64, u64)]) -> PortCounters {
        all.iter().map(|&(port, came, refused)| (PortId(port), PortCount { came, refused })).collect()
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
    fn what_the_kernel_took_later_is_not_lost() {
        let [full, lossy] =
            [(3, 0), (0, 2)].map(|(number, lost)| PortReport { retried: 40, ..port(number, 0, 0, lost) });
        let engine = EngineReport { ports: vec![full, lossy], ..EngineReport::default() };
        let losses = port_losses(&names(), &engine, &counters(&[]), &counters(&[(3, 0, 40), (0, 0, 41)]));
        assert_eq!(losses.iter().map(|loss| (&*loss.node, loss.lost_leaving_packets)).collect::<Vec<_>>(), [("a", 2)]);
    }

    #[test]
    fn what_a_bridge_drops_is_lost_to_the_node_behind_its_port() {
        let losses = bridge_losses(&names(), &counters(&[(1, 7, 2), (2, 0, 1), (3, 8, 0)]));
        let told: Vec<_> = losses.iter().map(|loss| (&*loss.link, &*loss.node, loss.lost_leaving_packets)).collect();
        assert_eq!(told, [("first", "a", 2), ("second", "b", 1)]);
        assert_eq!(worst_first(losses.into_iter().rev().collect())[0].link, "first");
    }

    #[test]
    fn parts_add_up() {
        assert_eq!(divide(10, &[1, 1, 1]).iter().sum::<u64>(), 10);
        assert_eq!(divide(10, &[0, 0]), [0, 0]);
        assert_eq!(divide(u64::MAX, &[u64::MAX, 0]), [u64::MAX, 0]);
    }
}
