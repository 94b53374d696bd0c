//! Wires of interfaces of this machine: what comes in at an interface enters the fabric, and what leaves the fabric is sent there.
//! Each interface has one ring, which its nodes divide by the tags of VLANs; tags are taken off and put on here.
//!
//! The sockets belong to the network namespace in which they were opened, and are inherited. The machine goes on using its
//! interface beside them; what it sends itself is not seen.
//!
//! Unlike a pair of the lab's own, such an interface is sent to through its queue, where the kernel cuts
//! super-packets that the card cannot cut.

mod filter;
mod line;

use super::{Opened, PortConfig, PortGroup, Received, Site, Window};
use crate::edge::{Edge, Handover};
use crate::sys::packet_socket;
use line::Line;
use netloom_fabric::{Delivery, PortId};
use netloom_figures::EngineReport;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// The wire of an interface, or a VLAN of it.
#[derive(Debug)]
pub struct External {
    /// The fabric's port.
    pub port: PortId,
    /// The kernel's index of the interface, in the network namespace of the sockets.
    pub interface: u32,
    /// The VLAN that it is, 1 to 4094; none: all frames that no other port of this interface takes.
    pub vlan: Option<u16>,
    /// The only hardware address whose frames it takes, beside those for groups; none: all (promiscuous).
    pub only: Option<[u8; 6]>,
    /// Whether frames leave as a wire carries them: trains cut into their segments, with complete checksums.
    pub whole: bool,
    /// How it is reached.
    pub sockets: WireSockets,
}

/// Sockets for the frames of interfaces of the network namespace in which they were opened. Child processes inherit them. They
/// receive nothing until the engine is given them.
#[derive(Debug)]
pub struct WireSockets {
    receiver: OwnedFd,
    sender: OwnedFd,
}

impl WireSockets {
    /// Opens them.
    ///
    /// # Errors
    /// `EPERM`: no right to the packets of the network namespace (`CAP_NET_RAW`).
    pub fn open() -> io::Result<Self> {
        Ok(Self { receiver: packet_socket()?, sender: packet_socket()? })
    }
}

/// The wires of a shard.
struct Wires {
    lines: Vec<Line>,
    /// By port of the fabric: the place of its line.
    places: Vec<usize>,
    /// What is to leave by each line.
    batches: Vec<Vec<Delivery>>,
    epoll: Epoll,
    /// How many turns in a row found nothing.
    idle_turns: u32,
}

/// After so many turns that find nothing it may be an error that wakes the engine, which stays until somebody asks for it: an interface
/// has gone down, or away.
const ERROR_AFTER: u32 = 64;

/// The wires of each shard. What ports of other shards take of an interface is none of a shard's business.
pub(super) fn open(sites: &mut [Site<'_>]) -> io::Result<Vec<Option<Opened>>> {
    let taken: Vec<Vec<External>> = sites
        .iter_mut()
        .map(|site| {
            site.take(|config| match config {
                PortConfig::External(external) => Ok(*external),
                other => Err(other),
            })
        })
        .collect();
    let mut elsewhere: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
    for own in taken.iter().flatten() {
        elsewhere.entry(own.interface).or_default().extend(own.vlan);
    }
    let open = |(site, wires): (&mut Site<'_>, Vec<External>)| {
        if wires.is_empty() {
            return Ok(None);
        }
        let ports = wires.iter().map(|own| own.port).collect();
        let mut of_interfaces: BTreeMap<u32, Vec<External>> = BTreeMap::new();
        wires.into_iter().for_each(|own| of_interfaces.entry(own.interface).or_default().push(own));
        let line = |(interface, own): (u32, Vec<External>)| {
            Line::open(site.clock, site.shard.fabric.ethernet().clone(), interface, own, &elsewhere[&interface])
        };
        let lines = of_interfaces.into_iter().map(line).collect::<io::Result<_>>()?;
        Ok(Some(Opened { group: Box::new(Wires::of(lines)?), ports }))
    };
    sites.iter_mut().zip(taken).map(open).collect()
}

impl Wires {
    fn of(lines: Vec<Line>) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let ports = || lines.iter().enumerate().flat_map(|(place, line)| line.ports().map(move |port| (place, port)));
        let mut places = vec![0; ports().map(|(_, port)| port.0 as usize + 1).max().unwrap_or(0)];
        ports().for_each(|(place, port)| places[port.0 as usize] = place);
        for line in &lines {
            epoll.add(line, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        }
        let batches = lines.iter().map(|_| Vec::new()).collect();
        Ok(Self { lines, places, batches, epoll, idle_turns: 0 })
    }
}

impl PortGroup for Wires {
    fn receive(&mut self, edge: &mut Edge, window: Window) -> Received {
        let mut all = Received::default();
        for line in &mut self.lines {
            let Received { count, is_lively, has_more } = line.receive(edge, window);
            all.count += count;
            all.is_lively |= is_lively;
            all.has_more |= has_more;
        }
        self.idle_turns = if all.count > 0 { 0 } else { self.idle_turns + 1 };
        if self.idle_turns == ERROR_AFTER {
            self.idle_turns = 0;
            self.lines.iter().for_each(Line::take_error);
        }
        all
    }

    fn push(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        if let [only] = &mut self.lines[..] {
            only.send(batch, out);
            return;
        }
        for delivery in batch.drain(..) {
            self.batches[self.places[delivery.port.0 as usize]].push(delivery);
        }
        for (line, own) in self.lines.iter_mut().zip(&mut self.batches).filter(|(_, own)| !own.is_empty()) {
            line.send(own, out);
        }
    }

    fn descriptor(&self) -> RawFd {
        self.epoll.0.as_raw_fd()
    }

    fn report(&mut self, report: &mut EngineReport) {
        self.lines.iter_mut().for_each(|line| line.report(report));
    }
}
