//! What partitions do to packets that enter pipes.
//!
//! A packet is judged where it enters a pipe: by the node from which it is, and the one for which it is or, if it does not say that, the
//! one at the end of the pipe. What has entered its last pipe when a partition begins still arrives.

use super::Fabric;
use crate::transit::Ends;
use crate::{PipeId, PortId};
use alloc::vec::Vec;
use netloom_link::{PartitionKind, PartitionSet, PipeChange};
use netloom_packet::Packet;
use netloom_units::Instant;

/// The partitions in force at a pipe.
#[derive(Clone, Debug, Default)]
pub(super) struct Partitions {
    /// The partitions of the timeline.
    planned: PartitionSet,
    /// The partitions that clients asked for.
    by_clients: PartitionSet,
}

impl Partitions {
    /// Creates the partitions at a pipe from those of the timeline.
    pub(super) fn of(planned: PartitionSet) -> Self {
        Self { planned, by_clients: PartitionSet::default() }
    }

    fn is_empty(&self) -> bool {
        self.planned.is_empty() && self.by_clients.is_empty()
    }

    fn judge_at(&self, packet: &Packet, entrance: Option<PortId>, exit: PortId) -> Option<PartitionKind> {
        let judge = |set: &PartitionSet| set.judge(packet, entrance.map(|port| port.0), exit.0);
        judge(&self.planned).max(judge(&self.by_clients))
    }

    /// Decides about a packet that enters by `entrance`, if it is not held there already, on its way to `exit`. On a shared medium it
    /// goes on as soon as anybody may hear it.
    fn judge(
        &self,
        medium: Option<&Ends>,
        (entrance, exit): (Option<PortId>, PortId),
        packet: &Packet,
    ) -> Option<PartitionKind> {
        if self.is_empty() {
            return None;
        }
        let Some(ends) = medium else { return self.judge_at(packet, entrance, exit) };
        let origin = PortId(packet.origin());
        let hearers = ends.iter().filter(|(port, _)| *port != origin);
        hearers.map(|(port, _)| self.judge_at(packet, entrance, *port)).min().flatten()
    }
}

impl Fabric {
    /// A packet enters a pipe that partitions touch, by `port`. It is given back if it may go on.
    #[cold]
    pub(super) fn part(&mut self, now: Instant, id: PipeId, port: PortId, packet: Packet) -> Option<Packet> {
        let index = id.0 as usize;
        let (medium, way) = (self.transit.medium(id), (Some(port), self.exits[index]));
        let kind = self.guards[index].as_ref().and_then(|own| own.partitions.judge(medium, way, &packet));
        let Some(kind) = kind else { return Some(packet) };
        self.pipes[index].part(now, packet, kind, self.drop_log.of(id.0));
        None
    }

    /// A packet enters a pipe that partitions touch, by `port`: by where it came into the fabric, other pipes know it, too.
    #[cold]
    pub(super) fn mark(&mut self, port: PortId, packet: Packet) -> Packet {
        if packet.source().is_some() {
            return packet;
        }
        let (packet, spent) = packet.mark_source(port.0);
        spent.into_iter().for_each(|spent| self.transit.spend(spent));
        packet
    }

    /// Puts the partitions of a change in force at a pipe, and decides anew about what others have held there.
    pub(super) fn change_partitions(&mut self, now: Instant, id: PipeId, change: &PipeChange) {
        if change.partition_set.is_none() && change.client_partitions.is_none() {
            return;
        }
        let index = id.0 as usize;
        let own = &mut self.guards[index].get_or_insert_default().partitions;
        if let Some(planned) = &change.partition_set {
            own.planned = planned.clone();
        }
        if let Some(by_clients) = &change.client_partitions {
            own.by_clients = by_clients.clone();
        }
        if self.pipes[index].is_holding() {
            let (medium, way) = (self.transit.medium(id), (None, self.exits[index]));
            self.pipes[index].judge_held(now, |packet| own.judge(medium, way, packet), self.drop_log.of(id.0));
        }
    }

    /// The ports of a shared medium that partitions keep a packet from, though not all of them.
    pub(super) fn kept_from(&self, id: PipeId, ends: &Ends, packet: &Packet) -> Vec<PortId> {
        let Some(own) = self.guards[id.0 as usize].as_ref().map(|own| &own.partitions).filter(|own| !own.is_empty())
        else {
            return Vec::new();
        };
        let origin = Some(PortId(packet.origin()));
        let least = own.judge(Some(ends), (origin, PortId(0)), packet);
        let ports = ends.iter().map(|(port, _)| *port);
        ports.filter(|port| own.judge_at(packet, origin, *port) > least).collect()
    }
}
