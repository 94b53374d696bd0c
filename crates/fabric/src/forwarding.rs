//! What transit devices say of packets.

use crate::PortId;
use alloc::{sync::Arc, vec::Vec};
use netloom_packet::Packet;

/// What becomes of a packet that reaches a device.
#[derive(Clone, Debug)]
pub(crate) enum Forwarding {
    /// It goes on at this port.
    On(PortId, Packet),
    /// It goes on at this port, with these Ethernet addresses in its frame.
    Addressed(PortId, Packet, [u8; 12]),
    /// It goes on at all of these ports but the one at which it came in. All copies share its buffer.
    Flood(Packet, PortId, Arc<[PortId]>),
    /// It ends here, and this is what the device has to say.
    End(Packet, Vec<(PortId, Packet)>),
}
