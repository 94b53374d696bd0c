//! Interfaces of the lab's own network namespace: one packet socket receives from all of them, another sends to all.

pub(super) mod fanout;
pub(super) mod receive;
pub(super) mod ring;
pub(super) mod send;
mod slow;

use super::{BATCH, Opened, PortConfig, PortGroup, Received, Site, Window};
use crate::clock::Clock;
use crate::edge::{Edge, Handover};
use crate::wait::MOST_MARGIN;
use netloom_fabric::{Delivery, Fabric, PortId};
use netloom_figures::EngineReport;
use netloom_units::Instant;
use receive::Receiver;
use send::Sender;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::Duration as RealDuration;

/// See the module.
struct Interfaces {
    // Before the receiver, so that both sockets are closed at the same time.
    sender: Sender,
    receiver: Receiver,
    clock: Clock,
}

/// How long a full interface is left alone: longer than the engine ever spins before an instant, so that it sleeps. Who empties the ring
/// (`ksoftirqd`) may need this very processor, and comes behind a thread with a real-time priority. Wall time.
const PAUSE: RealDuration = RealDuration::from_micros(350);
const _: () = assert!(PAUSE.as_nanos() > MOST_MARGIN.as_nanos());

/// The interfaces of all shards, which divide what arrives among them.
pub(super) fn open(sites: &mut [Site<'_>]) -> io::Result<Vec<Option<Opened>>> {
    // Several sockets receive nothing until they are told which interfaces are theirs.
    let is_divided = sites.len() > 1;
    let opened: io::Result<Vec<_>> = sites.iter_mut().map(|site| Interfaces::open(site, is_divided)).collect();
    let opened = opened?;
    if is_divided {
        let members = opened.iter().flatten().map(|(own, ports)| (own.receiver.as_fd(), ports.keys().copied()));
        let advice =
            |error| io::Error::other(format!("dividing packets among shards: {error}; one shard needs none of it"));
        fanout::divide(members.collect()).map_err(advice)?;
    }
    let group = |(own, ports): (Interfaces, HashMap<u32, PortId>)| Opened {
        group: Box::new(own),
        ports: ports.into_values().collect(),
    };
    Ok(opened.into_iter().map(|opened| opened.map(group)).collect())
}

impl Interfaces {
    /// None without ports; else with the port of each interface index. `is_divided`: they receive nothing until
    /// `fanout::divide` has given the socket what is its own.
    fn open(site: &mut Site<'_>, is_divided: bool) -> io::Result<Option<(Self, HashMap<u32, PortId>)>> {
        let ports = site.take(|config| match config {
            PortConfig::Interface { port, ifindex, whole } => Ok((ifindex, port, whole)),
            other => Err(other),
        });
        if ports.is_empty() {
            return Ok(None);
        }
        let whole: Vec<PortId> = ports.iter().filter(|(.., whole)| *whole).map(|(_, port, _)| *port).collect();
        let ports: HashMap<u32, PortId> = ports.into_iter().map(|(ifindex, port, _)| (ifindex, port)).collect();
        let receiver = Receiver::open(site.clock, &ports, is_divided)?;
        let sender = Sender::open(site.clock, &ports, &whole, site.shard.fabric.ethernet().clone())?;
        Ok(Some((Self { receiver, sender, clock: site.clock }, ports)))
    }
}

impl PortGroup for Interfaces {
    fn receive(&mut self, edge: &mut Edge, window: Window) -> Received {
        self.receiver.receive(edge, window)
    }

    fn push(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        self.sender.send(batch, out);
    }

    fn flush(&mut self, out: &mut Handover) {
        self.sender.catch_up(out);
    }

    fn next_arrival(&mut self, _fabric: &Fabric) -> Option<Instant> {
        self.sender.is_behind().then(|| self.clock.at(self.clock.real() + PAUSE))
    }

    fn descriptor(&self) -> RawFd {
        self.receiver.as_fd().as_raw_fd()
    }

    fn report(&mut self, report: &mut EngineReport) {
        self.receiver.count_drops();
        report.lost_receiving += self.receiver.overflowed;
        report.ports.extend(self.receiver.reports().map(|port| self.sender.complete(port)));
        report.unheard += self.sender.unheard;
        report.last_send_error = self.sender.last_error.as_ref().map(io::Error::to_string);
    }

    fn keep_warm(&mut self, real: RealDuration) {
        self.sender.keep_warm(real);
    }
}
