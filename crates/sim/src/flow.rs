//! A source, its sink, and the way between them.

use crate::receiver::{Acknowledgement, Receiver};
use crate::window::{Segment, WindowSender};
use netloom_fabric::PortId;
use netloom_lab::Sends;
use netloom_link::Cross;
use netloom_units::{Bytes, Duration, Instant, Seed};
use std::mem;
use std::net::Ipv4Addr;

/// A pipe on a flow's way: packets enter at one port and come out at the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The port at which packets enter the pipe.
    pub entry: PortId,
    /// The port at which packets come out of the pipe.
    pub exit: PortId,
}

/// A flow of a simulation.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// The name of the flow, from which, with the seed, its random generators are derived.
    pub name: String,
    /// The traffic that the flow's source sends.
    pub sends: Sends,
    /// The pipes that the flow's packets cross; at least one, and none twice between the same ports.
    pub path: Vec<Hop>,
    /// The pipes that the flow's acknowledgements cross.
    pub back: Vec<Hop>,
    /// The addresses of the flow's source and of its sink.
    pub addresses: [Ipv4Addr; 2],
}

/// What a packet finds behind a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another pipe.
    Pipe(Hop),
    /// The end of its way.
    End,
}

#[derive(Debug)]
enum Sender {
    /// It also counts what it has sent.
    Open {
        packets: Option<Cross>,
        sent: u64,
    },
    Window(WindowSender),
}

/// The state of a flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) spec: FlowSpec,
    /// The ways that it had before, there and back, the latest last: packets may still be on them.
    former: Vec<[Vec<Hop>; 2]>,
    sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) sent_bytes: u64,
}

impl Flow {
    pub(crate) fn new(spec: FlowSpec, seed: Seed) -> Self {
        let seed = seed.derive("traffic").derive(&spec.name);
        let (sender, every) = match &spec.sends {
            Sends::Open(config) => {
                let packets = Cross::new(std::slice::from_ref(config), Instant::ZERO, seed);
                (Sender::Open { packets, sent: 0 }, None)
            }
            Sends::Window(config) => (Sender::Window(WindowSender::new(config.clone())), Some(config.acknowledge)),
        };
        Self { spec, former: Vec::new(), sender, receiver: Receiver::new(every), sent_bytes: 0 }
    }

    /// From now on the flow has the ways of `spec`, which is that of the same source.
    pub(crate) fn redirect(&mut self, spec: FlowSpec) {
        let before = mem::replace(&mut self.spec, spec);
        let own = &self.spec;
        if (&before.path, &before.back) == (&own.path, &own.back) {
            return;
        }
        let left = [before.path, before.back];
        self.former.retain(|[path, back]| *path != left[0] || *back != left[1]);
        self.former.push(left);
    }

    /// When source or sink have something to do.
    pub(crate) fn next_wake(&mut self) -> Option<Instant> {
        let sender = match &mut self.sender {
            Sender::Open { packets, .. } => packets.as_ref().and_then(Cross::next),
            Sender::Window(window) => window.next_wake(),
        };
        [sender, self.receiver.next_wake()].into_iter().flatten().min()
    }

    /// It is `now`: packets time out.
    pub(crate) fn wake(&mut self, now: Instant) {
        if let Sender::Window(window) = &mut self.sender {
            window.wake(now);
        }
    }

    /// The next packet that leaves the source at `now`.
    pub(crate) fn send(&mut self, now: Instant) -> Option<Segment> {
        let segment = match &mut self.sender {
            Sender::Open { packets, sent } => {
                let packets = packets.as_mut().filter(|packets| packets.next().is_some_and(|at| at <= now))?;
                let segment = Segment { number: *sent, is_again: false, size: packets.take()?.size() };
                *sent += 1;
                segment
            }
            Sender::Window(window) => window.send(now)?,
        };
        self.sent_bytes += segment.size.get();
        Some(segment)
    }

    /// The sink's word has come back.
    pub(crate) fn acknowledge(&mut self, word: Acknowledgement) {
        if let Sender::Window(window) = &mut self.sender {
            window.acknowledge(word.below, word.latest);
        }
    }

    /// What follows the pipe that ends at `exit`, on the way there or back; none if it is not on that way. `entry`: where the packet
    /// entered the pipe, if that has several entrances, as a shared medium does.
    pub(crate) fn next(&self, entry: Option<PortId>, exit: PortId, is_back: bool) -> Option<Next> {
        let way = if is_back { &self.spec.back } else { &self.spec.path };
        let is_here = |hop: &Hop| hop.exit == exit && entry.is_none_or(|entry| entry == hop.entry);
        let on = |hops: &[Hop]| {
            let place = hops.iter().position(is_here)?;
            Some(hops.get(place + 1).map_or(Next::End, |hop| Next::Pipe(*hop)))
        };
        on(way).or_else(|| self.former.iter().rev().find_map(|ways| on(&ways[usize::from(is_back)])))
    }

    /// How many packets were sent, again ones as well, and how many of these again.
    pub(crate) fn sent(&self) -> (u64, u64) {
        match &self.sender {
            Sender::Open { sent, .. } => (*sent, 0),
            Sender::Window(window) => window.counts(),
        }
    }

    /// When the source begins.
    pub(crate) fn start(&self) -> Duration {
        match &self.spec.sends {
            Sends::Open(config) => config.start,
            Sends::Window(config) => config.start,
        }
    }

    /// What of a packet is not goodput: the headers of a window sender. An open source counts all of its bytes, as its
    /// rate does.
    pub(crate) fn headers(&self) -> Bytes {
        match &self.sender {
            Sender::Open { .. } => Bytes::new(0),
            Sender::Window(window) => window.config().headers,
        }
    }
}
