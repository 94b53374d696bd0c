//! The TCP connections that a pipe has seen, so that they can be ended.

use super::{FlowKey, MOST_FLOWS, Seen, key};
use crate::fault::PacketFault;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use netloom_packet::{Flow, Packet, ResetTemplate};

/// A connection that is ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The flow in the direction of the pipe.
    pub flow: Flow,
    /// The [id](PacketFault::id) of the fault that ends it.
    pub fault: u32,
    /// The reset for the end of the pipe; none if that has closed already.
    pub reset: Option<Packet>,
}

/// A direction of a connection.
#[derive(Clone, Debug)]
struct Connection {
    flow: Flow,
    /// The number of the byte that the receiver expects next, if all has reached it.
    next: u32,
    template: ResetTemplate,
    /// Whether the sender has said that it sends nothing more.
    is_closed: bool,
    /// Whether its receiver has got a reset.
    is_ended: bool,
    /// Whether the sender's end is to be reset whenever it sends something.
    is_doomed: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections {
    all: BTreeMap<FlowKey, Connection>,
}

impl Connections {
    /// Takes note of a packet; says whether its connection is doomed, so that it may not go on.
    pub(super) fn note(&mut self, seen: &Seen<'_>) -> bool {
        let (Some(flow), Some(tcp)) = (seen.flow, seen.tcp) else { return false };
        let key = key(&flow);
        if tcp.is_rst() {
            self.all.remove(&key);
            return false;
        }
        if tcp.is_syn() {
            // A connection begins, maybe another one with the same ports.
            self.all.remove(&key);
        }
        if let Some(known) = self.all.get_mut(&key) {
            let ahead = tcp.end().wrapping_sub(known.next);
            if ahead < 1 << 31 {
                known.next = tcp.end();
            }
            known.is_closed |= tcp.is_fin();
            return known.is_doomed;
        }
        if let Some(template) = ResetTemplate::along(seen.packet) {
            if self.all.len() >= MOST_FLOWS {
                self.all.pop_first();
            }
            let new = Connection {
                flow,
                next: tcp.end(),
                template,
                is_closed: tcp.is_fin(),
                is_ended: false,
                is_doomed: false,
            };
            self.all.insert(key, new);
        }
        false
    }

    /// Ends all connections that match.
    pub(super) fn end(&mut self, config: &PacketFault) -> Vec<Ended> {
        let back = config.filter.reversed();
        let is_meant = |flow: &Flow| config.filter.matches(Some(flow)) || back.matches(Some(flow));
        let open = self.all.values_mut().filter(|known| !known.is_ended && is_meant(&known.flow));
        let end = |known: &mut Connection| {
            known.is_ended = true;
            let reset = (!known.is_closed).then(|| known.template.with_numbers(known.next, None));
            Ended { flow: known.flow, fault: config.id, reset }
        };
        open.map(end).collect()
    }

    /// Whatever is sent from the end of this connection that a reset went to gets no further.
    pub(super) fn doom(&mut self, ended: &Ended) {
        if let Some(known) = self.all.get_mut(&key(&ended.flow.reversed())) {
            known.is_doomed = true;
        }
    }
}
