//! Where packets wait for the transmitter: one module per discipline, and the fork between them.
//!
//! All disciplines answer to the same few calls. `push` is told of a train that arrives and admits or drops its segments
//! one by one, `pop` hands out the next segment to send and may drop others on the way. Each tells the [`Ledger`] of
//! everything that happens to a packet, at the moment it happens: the ledger's `queued` is what the queue holds.

mod drop_tail;
mod fifo;

use crate::ledger::Ledger;
use alloc::vec::Vec;
use drop_tail::DropTail;
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant, Limit, Rate, Seed};

/// The discipline of a queue and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueConfig {
    /// First in, first out; what finds the queue full is dropped.
    DropTail(Limit),
}

impl Default for QueueConfig {
    /// Drop-tail with the customary length of a Linux interface's transmit queue.
    fn default() -> Self {
        Self::DropTail(DEFAULT_LIMIT)
    }
}

/// The customary length of a Linux interface's transmit queue.
pub const DEFAULT_LIMIT: Limit = Limit::Packets(1_000);

/// What a queue may want to know of the transmitter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    /// The current rate; of a transmitter with a changing rate, its mean.
    pub(crate) rate: Rate,
    /// How long the packet that is being sent still takes.
    pub(crate) remaining: Duration,
}

impl Transmission {
    /// How long a packet waits behind `waiting` bytes before its transmission begins.
    pub(crate) fn wait(&self, waiting: Bytes) -> Duration {
        self.remaining + self.rate.serialization_delay(waiting)
    }
}

/// A queue; see the module.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
}

impl Queue {
    pub(crate) fn new(config: &QueueConfig, seed: Seed) -> Self {
        let _ = seed;
        match config {
            QueueConfig::DropTail(limit) => Self::DropTail(DropTail::new(*limit)),
        }
    }

    /// Whether what finds the transmitter idle is sent without having been in the queue. A discipline that keeps
    /// account of every arrival wants to see it first.
    pub(crate) fn is_bypassed(&self) -> bool {
        match self {
            Self::DropTail(_) => true,
        }
    }

    /// The segments of `train` arrive at `now`.
    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        match self {
            Self::DropTail(queue) => queue.push(now, train, transmission, ledger),
        }
    }

    /// The next segment to send at `now`; none if nothing is left.
    pub(crate) fn pop(&mut self, now: Instant, transmission: Transmission, ledger: &mut Ledger<'_>) -> Option<Packet> {
        let _ = (now, transmission);
        match self {
            Self::DropTail(queue) => queue.pop(ledger),
        }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::DropTail(queue) => queue.is_empty(),
        }
    }

    /// Takes everything that waits, in the order in which it would be sent; the ledger is told by the caller.
    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        match self {
            Self::DropTail(queue) => queue.drain(),
        }
    }

    /// Takes another limit; what no longer fits is dropped.
    pub(crate) fn set_limit(&mut self, limit: Limit, transmission: Transmission, ledger: &mut Ledger<'_>) {
        match self {
            Self::DropTail(queue) => queue.set_limit(limit, transmission, ledger),
        }
    }

    /// Takes the parameters of `config` at `now`. What waits stays in its order; what no longer fits is dropped.
    ///
    /// Another discipline begins empty, and what waited is pushed into it as if it arrived now.
    pub(crate) fn configure(
        &mut self,
        now: Instant,
        config: &QueueConfig,
        seed: Seed,
        transmission: Transmission,
        ledger: &mut Ledger<'_>,
    ) {
        match (&mut *self, config) {
            (Self::DropTail(queue), QueueConfig::DropTail(limit)) => queue.set_limit(*limit, transmission, ledger),
            #[allow(unreachable_patterns, reason = "there is one discipline so far")]
            _ => {
                let waiting = core::mem::replace(self, Self::new(config, seed)).drain();
                for train in waiting {
                    ledger.release(&train);
                    self.push(now, train, transmission, ledger);
                }
            }
        }
    }
}
