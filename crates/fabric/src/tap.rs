//! Where packets are shown as they pass between nodes and fabric.

use crate::{Delivery, PortId};
use netloom_link::{AirPpdu, Fate};
use netloom_packet::{Packet, Pool};
use netloom_units::Instant;

/// Which way a packet passes a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From the node into the fabric.
    FromNode,
    /// From the fabric to the node.
    ToNode,
}

/// A tap of a running driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapId(pub u64);

/// A tap: the driver shows it every packet that passes a port. A driver has any number of them, mostly none.
///
/// It is called between packets that are due, and must be quick: it keeps the packet ([`Packet::duplicate`] copies no
/// byte) and leaves the work to another thread.
pub trait Tap {
    /// `packet` passes `port`: its first segment at `first`, its last at `last`. Calls come in the order in which the
    /// driver got to it, which is not quite the order of instants.
    fn packet(&mut self, port: PortId, way: Way, first: Instant, last: Instant, packet: &Packet);

    /// Whether it is shown packets at the ports of transit routers, too, which takes work that others need not do.
    fn watches_routers(&self) -> bool {
        true
    }

    /// Whether it matters in which order packets of different ports are shown.
    fn minds_order(&self) -> bool {
        true
    }

    /// Whether it wants to know which packets are dropped or marked inside pipes.
    fn wants_fates(&self) -> bool {
        false
    }

    /// A packet was dropped or marked in a pipe, after it was shown as it entered.
    fn fate(&mut self, _fate: &Fate) {}

    /// Whether it wants to know what is on the air of radio media.
    fn wants_frames(&self) -> bool {
        false
    }

    /// A PPDU with data was on the air of a radio medium and is over. Those of one medium come in order.
    fn frame(&mut self, _ppdu: &AirPpdu) {}

    /// A packet enters the fabric. The segments of a train arrive together, since a kernel sends them together.
    fn enters(&mut self, port: PortId, at: Instant, packet: &Packet) {
        self.packet(port, Way::FromNode, at, at, packet);
    }

    /// A packet leaves the fabric, at the instants at which its segments are due. If it is late, that is not shown.
    fn leaves(&mut self, delivery: &Delivery) {
        let departure = &delivery.departure;
        self.packet(delivery.port, Way::ToNode, departure.first_due, departure.due, &departure.packet);
    }

    /// The driver has shown what there is for now, and takes the buffers back that are no longer needed.
    fn settle(&mut self, pool: &mut Pool);
}
