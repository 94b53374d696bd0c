//! Which ports lost packets outside the models. Pure.

use crate::{LinkName, PortLoss};
use netloom_fabric::PortId;
use netloom_figures::{EngineReport, PortReport};
use std::collections::BTreeMap;

/// The packets that the kernel counted at a port's interface, at the lab's end of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCount {
    /// Packets from the node.
    pub came: u64,
    /// Packets for the node that were dropped or refused, every attempt to send them.
    pub refused: u64,
    /// Packets for the node that reached it.
    pub went: u64,
}

/// The packets that the kernel counted at each port with an interface.
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

/// Returns the ports of the engine that lost packets, the worst first. `before`: what the kernel had counted when the engine began to
/// listen; `earlier` and `after`: just before the engine was asked for its report, and after it.
///
/// If the ring was full, the kernel reports how many packets that cost in all, and not whose they were. But it counts what comes in
/// at every interface, and the engine what it saw of that: the difference says how to divide the sum. Packets that are on
/// their way between the two at this moment make this a little inexact; the sum is exact.
pub fn port_losses(
    names: &[LinkName],
    engine: &EngineReport,
    before: &PortCounters,
    earlier: &PortCounters,
    after: &PortCounters,
) -> Vec<PortLoss> {
    let named: u64 = engine.ports.iter().map(|port| port.lost_receiving).sum();
    let missing: Vec<u64> = engine.ports.iter().map(|port| missing(port, before, after)).collect();
    let overflows = divide(engine.lost_receiving.saturating_sub(named), &missing);
    // Ports are numbered as the ends of links.
    let ends: Vec<_> = names.iter().flat_map(|link| link.ends.iter().map(|node| (&link.name, node))).collect();
    let told = |(port, overflow): (&PortReport, u64)| {
        let (link, node) = ends[port.port.0 as usize];
        PortLoss {
            link: link.clone(),
            node: node.clone(),
            lost_arriving_packets: port.lost_receiving + overflow,
            lost_leaving_packets: port.lost_sending + dropped(port, before, earlier, after),
        }
    };
    let mut losses: Vec<PortLoss> = engine.ports.iter().zip(overflows).map(told).collect();
    losses.retain(|loss| loss.packets() > 0);
    worst_first(losses)
}

/// Returns the losses at bridges of the kernel: packets that they could not hand over at the other ends of their ports' links.
/// `counted`: the counters of the bridges' ports.
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

/// Sorts ports by the packets that they lost, the worst first.
pub fn worst_first(mut losses: Vec<PortLoss>) -> Vec<PortLoss> {
    losses.sort_by_key(|loss| std::cmp::Reverse(loss.packets()));
    losses
}

/// What the kernel took from the engine and dropped all the same, as it does without a word before Linux 6.7.
///
/// The interface counts each attempt as a drop, and so what the engine sent again, and what it knows to be lost. But it counts as sent
/// only what the node got: what is missing there was lost, or is still on its way, and then there is no drop. `earlier` is from
/// before the report, so that what goes on meanwhile can make a loss of an attempt, never the reverse.
fn dropped(port: &PortReport, before: &PortCounters, earlier: &PortCounters, after: &PortCounters) -> u64 {
    let went = earlier.of(port.port).went.saturating_sub(before.of(port.port).went);
    port.taken.saturating_sub(went).min(after.of(port.port).refused)
}

/// What came in at a port and was never seen by the engine.
fn missing(port: &PortReport, before: &PortCounters, after: &PortCounters) -> u64 {
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

    fn names() -> Vec<LinkName> {
        let name = |name: &str, ends: [&str; 2]| LinkName {
            name: name.into(),
            ends: ends.map(str::to_owned).into(),
            joined: false,
        };
        vec![name("first", ["a", "r"]), name("second", ["r", "b"])]
    }

    fn port(port: u32, received: u64, lost_receiving: u64, lost_sending: u64) -> PortReport {
        PortReport { port: PortId(port), is_interface: true, received, lost_receiving, lost_sending, taken: 0 }
    }

    fn counters(all: &[(u32, u64, u64)]) -> PortCounters {
        all.iter().map(|&(port, came, refused)| (PortId(port), PortCount { came, refused, went: 0 })).collect()
    }

    #[test]
    fn a_full_ring_is_charged_to_those_whose_packets_are_missing() {
        let ports = vec![port(0, 900, 0, 0), port(1, 50, 0, 0), port(2, 10, 0, 0), port(3, 10, 2, 0)];
        let engine = EngineReport { lost_receiving: 102, ports, ..EngineReport::default() };
        let before = counters(&[(1, 5, 0)]);
        let after = counters(&[(0, 990, 0), (1, 65, 0), (2, 10, 0), (3, 10, 0)]);
        let losses = port_losses(&names(), &engine, &before, &after, &after);
        let told: Vec<_> = losses.iter().map(|loss| (loss.node.as_str(), loss.lost_arriving_packets)).collect();
        assert_eq!(told, [("a", 90), ("r", 10), ("b", 2)]);
        assert_eq!(losses[0].link, "first");
    }

    /// What a port has lost to its node: the engine knows of so many losses, and the kernel took so many packets of it, had sent so
    /// many when the lab began, just before the engine was asked, and has dropped so many attempts.
    fn lost(known: u64, taken: u64, sent: [u64; 2], dropped: u64) -> u64 {
        let engine =
            EngineReport { ports: vec![PortReport { taken, ..port(3, 0, 0, known) }], ..EngineReport::default() };
        let counted =
            |went: u64, refused: u64| [(PortId(3), PortCount { came: 0, refused, went })].into_iter().collect();
        let (before, earlier) = (counted(sent[0], 0), counted(sent[1], 0));
        let losses = port_losses(&names(), &engine, &before, &earlier, &counted(sent[1] + 5, dropped));
        losses.iter().map(|loss| loss.lost_leaving_packets).sum()
    }

    #[test]
    fn what_the_kernel_refused_and_took_later_is_not_lost() {
        assert_eq!((lost(0, 100, [0, 100], 40), lost(2, 98, [7, 105], 42)), (0, 2));
    }

    #[test]
    fn no_attempt_hides_a_loss() {
        // One of a hundred packets that the kernel took did not arrive, whatever else it refused.
        assert_eq!((lost(0, 100, [0, 99], 41), lost(0, 100, [3, 102], 1), lost(7, 100, [0, 98], 9)), (1, 1, 9));
        // Linux before 6.7 tells of none. An interface that was made anew has counted nothing.
        assert_eq!((lost(0, 100, [0, 60], 40), lost(0, 100, [50, 0], 3)), (40, 3));
    }

    #[test]
    fn what_is_on_its_way_is_not_lost() {
        assert_eq!((lost(0, 100, [0, 90], 0), lost(0, 100, [0, 105], 0)), (0, 0));
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
