//! Ports: where the packets of a shard come from and go to.
//!
//! All ports of one kind are a [`PortGroup`], since they share sockets, descriptors or memory. The driver knows nothing of
//! kinds: it receives, pushes, flushes and waits by this interface, for a batch or a turn at a time, never for a packet.
//! A new kind is a file here, a variant of [`PortConfig`] and a line in [`KINDS`].
//!
//! The kinds are `interfaces` (veth pairs: one packet socket for all), `guests` (vhost-user), `sockets` (programs
//! that send frames over Unix sockets), `diverted` (traffic of the machine itself, from a queue of netfilter),
//! `external` (interfaces of the machine), `tunnel` (labs of other machines) and `borders` (other shards). One socket
//! serves all interfaces of a shard: a ring for each port would cost 32 MB each. What the engine itself loses is
//! counted by port, apart from the drops of models, and fails the verdict.

mod backlog;
mod borders;
mod diverted;
mod external;
mod guests;
mod interfaces;
mod set;
mod sockets;
mod tunnel;

use crate::clock::Clock;
use crate::doorbell::Doorbell;
use crate::edge::{Edge, Handover};
pub use diverted::{Diverted, NetfilterQueue, Owners, RawSockets};
pub use external::{External, WireSockets};
use netloom_fabric::{Delivery, Fabric, PipeId, PortId, Shard};
use netloom_figures::EngineReport;
use netloom_link::PipeChange;
use netloom_packet::Packet;
use netloom_units::Instant;
use netloom_vhost::Listener;
pub(crate) use set::PortSet;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration as RealDuration;
pub use tunnel::{Refusal, Tracker, TunnelEnd, TunnelKey, TunnelSettings, tunnel_path_least};

/// Every kind of ports: what to say when they cannot be opened, and how they are. They are served in this order.
const KINDS: [(&str, Open); 7] = [
    ("opening the packet sockets", interfaces::open),
    ("preparing the ports of kernels", guests::open),
    ("preparing the sockets of programs", sockets::open),
    ("preparing the queue of diverted traffic", diverted::open),
    ("opening the interfaces of this machine", external::open),
    ("preparing the tunnels to other machines", tunnel::open),
    ("joining the shards of the packet engine", borders::open),
];

/// Opens the ports of a kind in all shards: a group by shard, none where there are no such ports.
type Open = fn(&mut [Site<'_>]) -> io::Result<Vec<Option<Opened>>>;

/// Packets that a group is given at once at most.
const BATCH: usize = 64;
/// Bytes of a batch, about, at most: a longer one would keep arrivals waiting.
const BATCH_BYTES: u64 = 512 * 1_024;

/// The endpoint that a port of the fabric leads to.
#[derive(Debug)]
pub enum PortConfig {
    /// An interface of the current network namespace.
    Interface {
        /// The fabric's port.
        port: PortId,
        /// The kernel's index of the interface.
        ifindex: u32,
        /// Whether it gets trains cut into their segments.
        whole: bool,
    },
    /// A network device of a kernel that runs as a process, and that connects to this socket when it boots.
    Guest {
        /// The fabric's port.
        port: PortId,
        /// Where the kernel connects.
        listener: Listener,
        /// Whether it has a described share of a processor only. A packet then counts as delivered when it is there, whether or not
        /// the kernel has a buffer for it: how long it waits for one is the node's own slowness, and is reported apart.
        has_share: bool,
    },
    /// A program that sends and receives frames, from the Ethernet header on, as messages of this socket.
    Socket {
        /// The fabric's port.
        port: PortId,
        /// A Unix socket with messages (`SOCK_DGRAM` or `SOCK_SEQPACKET`) that is connected to the program's.
        socket: OwnedFd,
    },
    /// The wire of an interface of this machine.
    External(Box<External>),
    /// The tunnels to a lab of another machine that share a socket.
    Tunnel {
        /// The fabric's ports, in the order of the tunnels. They are in one shard.
        ports: Vec<PortId>,
        /// This end, which the far end knows already.
        end: Box<TunnelEnd>,
    },
    /// Traffic of this machine that was diverted, for two ports.
    Diverted(Box<Diverted>),
}

impl PortConfig {
    /// The fabric's port.
    pub(crate) fn port(&self) -> PortId {
        match self {
            Self::Interface { port, .. } | Self::Guest { port, .. } | Self::Socket { port, .. } => *port,
            Self::Tunnel { ports, .. } => ports[0],
            Self::External(external) => external.port,
            // Both are in one shard.
            Self::Diverted(diverted) => diverted.ports[0],
        }
    }
}

/// All ports of one kind in a shard.
pub(crate) trait PortGroup: Send {
    /// Lets into the fabric what has arrived within the window, up to a batch.
    fn receive(&mut self, edge: &mut Edge, window: Window) -> Received;

    /// Takes packets for its ports, at most [`BATCH`], and leaves none in `batch`. They need not be on their way before
    /// [`PortGroup::flush`].
    fn push(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover);

    /// Whatever was pushed in this turn goes on its way. Called every turn, also if that is nothing.
    fn flush(&mut self, _out: &mut Handover) {}

    /// Takes what is still on its way to its ports, and may leave ahead of its time. Called every turn.
    fn ahead(&mut self, _edge: &mut Edge) {}

    /// Readable when something has come to the ports; negative if no descriptor tells that. Always the same.
    fn descriptor(&self) -> RawFd;

    /// Adds what it has counted.
    fn report(&mut self, report: &mut EngineReport);

    /// When the next packet will come, if that is known, or when it is to be called again; a shard that waits for something from here
    /// may learn when that comes. Called before every wait.
    fn next_arrival(&mut self, _fabric: &Fabric) -> Option<Instant> {
        None
    }

    /// The thread is about to sleep from `now` until then: false if it must not, because something has come that its
    /// descriptor does not tell.
    fn may_sleep(&mut self, _now: Instant, _until: Instant) -> bool {
        true
    }

    /// The thread is awake after all, or has been for a while. `is_called`: there may be something to answer beside
    /// packets.
    fn wake(&mut self, _is_called: bool) -> io::Result<()> {
        Ok(())
    }

    /// Called while the thread waits and has time, in wall time since the epoch: the next lone packet is to find the way
    /// out of here in the processor's caches.
    fn keep_warm(&mut self, _real: RealDuration) {}

    /// Whether it wants to hear of packets that are dropped in the fabric.
    fn hears_of_drops(&self) -> bool {
        false
    }

    /// A packet was dropped in the fabric, wherever it came from. What follows goes on its way with [`PortGroup::flush`].
    fn dropped(&mut self, _packet: &Packet) {}

    /// The link at one of its ports has a carrier from now on, or none.
    fn set_carrier(&mut self, _port: PortId, _on: bool) {}

    /// A pipe was changed.
    fn changed(&mut self, _pipe: PipeId, _change: &PipeChange) {}
}

/// From when and until when arrivals count now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Up to here everything has been counted. The kernel may hand over a packet a while after it stamped it: what has an earlier
    /// stamp arrives now, so that whatever looks at instants finds as many packets as were counted.
    pub(crate) begin: Instant,
    /// What arrives at this instant or later is to be left for the next turn.
    pub(crate) end: Instant,
    /// How far the fabric may go. Nothing arrives later than this; a group that does not know when packets came takes
    /// this as their arrival.
    pub(crate) latest: Instant,
    /// Whether an event was due before now. What tells no instant of its own is then left for the next turn: some of it may have come
    /// after the event, and would be sent on sooner than it came.
    pub(crate) is_overdue: bool,
}

impl Window {
    /// When a packet with this stamp arrives.
    pub(crate) fn arrival(&self, stamp: Instant) -> Instant {
        stamp.max(self.begin).min(self.latest)
    }
}

/// What a group received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    /// How many packets it found, from ports and from elsewhere.
    pub(crate) count: usize,
    /// Whether one of them came from a port.
    pub(crate) is_lively: bool,
    /// Whether more of them may have arrived within the window.
    pub(crate) has_more: bool,
}

/// A shard whose ports are opened.
pub(crate) struct Site<'a> {
    pub(crate) clock: Clock,
    pub(crate) shard: &'a Shard,
    /// What wakes its thread.
    pub(crate) doorbell: Arc<Doorbell>,
    /// The ports that are still to be opened.
    pub(crate) ports: Vec<PortConfig>,
}

impl Site<'_> {
    /// Takes those ports that are of a kind; `of_kind` gives the others back.
    fn take<T>(&mut self, of_kind: impl Fn(PortConfig) -> Result<T, PortConfig>) -> Vec<T> {
        let mut taken = Vec::new();
        for port in std::mem::take(&mut self.ports) {
            match of_kind(port) {
                Ok(own) => taken.push(own),
                Err(other) => self.ports.push(other),
            }
        }
        taken
    }
}

/// A group, and the ports of the fabric whose packets it takes.
struct Opened {
    group: Box<dyn PortGroup>,
    ports: Vec<PortId>,
}

/// What was attempted, and what the kernel said.
pub(crate) type OpenError = (&'static str, io::Error);

/// Opens the ports of all shards, in the current network namespace.
///
/// # Errors
/// What was attempted, and what the kernel said.
pub(crate) fn open(mut sites: Vec<Site<'_>>) -> Result<Vec<PortSet>, OpenError> {
    let mut groups: Vec<Vec<Opened>> = sites.iter().map(|_| Vec::new()).collect();
    for (attempted, open) in KINDS {
        let opened = open(&mut sites).map_err(|error| (attempted, error))?;
        groups.iter_mut().zip(opened).for_each(|(own, opened)| own.extend(opened));
    }
    Ok(groups.into_iter().map(PortSet::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stamped_before_everything_was_counted_arrives_afterwards() {
        let at = Instant::from_nanos;
        let window = Window { begin: at(100), end: Instant::MAX, latest: at(200), is_overdue: false };
        assert_eq!([99, 100, 150, 201].map(|stamp| window.arrival(at(stamp))), [100, 100, 150, 200].map(at));
    }
}
