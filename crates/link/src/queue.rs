//! Where packets wait for the transmitter: one module per discipline, and the fork between them.
//!
//! All disciplines answer to the same few calls. `push` is told of a train that arrives and admits or drops its segments
//! one by one, `pop` hands out the next segment to send and may drop others on the way. Each tells the [`Ledger`] of
//! everything that happens to a packet, at the moment it happens: the ledger's `queued` is what the queue holds.

mod drop_head;
mod drop_tail;
mod dual_pi2;
mod fifo;
mod numbers;
mod pie;
mod red;
mod ticks;

pub use dual_pi2::DualPi2Config;
pub use pie::PieConfig;
pub use red::RedConfig;

use crate::ConfigError;
use crate::ledger::Ledger;
use alloc::vec::Vec;
use drop_head::DropHead;
use drop_tail::DropTail;
use dual_pi2::DualPi2;
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant, Limit, Rate, Seed};
use pie::Pie;
use red::Red;

/// The discipline of a queue and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueConfig {
    /// First in, first out; what finds the queue full is dropped.
    DropTail(Limit),
    /// First in, first out; what waits longest makes room for what arrives.
    DropHead(Limit),
    /// Random early detection.
    Red(RedConfig),
    /// Proportional integral controller, enhanced.
    Pie(PieConfig),
    /// Two coupled queues.
    DualPi2(DualPi2Config),
}

impl Default for QueueConfig {
    /// Drop-tail with the customary length of a Linux interface's transmit queue.
    fn default() -> Self {
        Self::DropTail(DEFAULT_LIMIT)
    }
}

impl QueueConfig {
    /// Whether the discipline can work with its parameters.
    ///
    /// # Errors
    /// Says which parameter makes no sense, and what would.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::DropTail(_) | Self::DropHead(_) => Ok(()),
            Self::Red(config) => config.check(),
            Self::Pie(config) => config.check(),
            Self::DualPi2(config) => config.check(),
        }
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
    /// When the last packet was sent to its end; none if there was none, or if it was taken off.
    pub(crate) idle_since: Option<Instant>,
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
    DropHead(DropHead),
    Red(Red),
    Pie(Pie),
    DualPi2(DualPi2),
}

impl Queue {
    pub(crate) fn new(config: &QueueConfig, seed: Seed) -> Self {
        match config {
            QueueConfig::DropTail(limit) => Self::DropTail(DropTail::new(*limit)),
            QueueConfig::DropHead(limit) => Self::DropHead(DropHead::new(*limit)),
            QueueConfig::Red(config) => Self::Red(Red::new(config, seed)),
            QueueConfig::Pie(config) => Self::Pie(Pie::new(config, seed)),
            QueueConfig::DualPi2(config) => Self::DualPi2(DualPi2::new(config)),
        }
    }

    /// Whether what finds the transmitter idle is sent without having been in the queue. A discipline that keeps
    /// account of every arrival wants to see it first.
    pub(crate) fn is_bypassed(&self) -> bool {
        match self {
            Self::DropTail(_) => true,
            Self::DropHead(_) => true,
            Self::Red(_) => false,
            Self::Pie(_) => false,
            Self::DualPi2(_) => false,
        }
    }

    /// The segments of `train` arrive at `now`.
    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        match self {
            Self::DropTail(queue) => queue.push(now, train, transmission, ledger),
            Self::DropHead(queue) => queue.push(now, train, transmission, ledger),
            Self::Red(queue) => queue.push(now, train, transmission, ledger),
            Self::Pie(queue) => queue.push(now, train, transmission, ledger),
            Self::DualPi2(queue) => queue.push(now, train, transmission, ledger),
        }
    }

    /// The next segment to send at `now`; none if nothing is left.
    pub(crate) fn pop(&mut self, now: Instant, transmission: Transmission, ledger: &mut Ledger<'_>) -> Option<Packet> {
        let _ = transmission;
        match self {
            Self::DropTail(queue) => queue.pop(ledger),
            Self::DropHead(queue) => queue.pop(ledger),
            Self::Red(queue) => queue.pop(now, ledger),
            Self::Pie(queue) => queue.pop(now, ledger),
            Self::DualPi2(queue) => queue.pop(now, ledger),
        }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::DropTail(queue) => queue.is_empty(),
            Self::DropHead(queue) => queue.is_empty(),
            Self::Red(queue) => queue.is_empty(),
            Self::Pie(queue) => queue.is_empty(),
            Self::DualPi2(queue) => queue.is_empty(),
        }
    }

    /// Takes everything that waits at `now`, in the order of arrival; the ledger is told by the caller.
    pub(crate) fn drain(&mut self, now: Instant) -> Vec<Packet> {
        match self {
            Self::DropTail(queue) => queue.drain(),
            Self::DropHead(queue) => queue.drain(),
            Self::Red(queue) => queue.drain(now),
            Self::Pie(queue) => queue.drain(now),
            Self::DualPi2(queue) => queue.drain(now),
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
            (Self::DropHead(queue), QueueConfig::DropHead(limit)) => queue.set_limit(*limit, transmission, ledger),
            (Self::Red(queue), QueueConfig::Red(config)) => queue.configure(config, transmission, ledger),
            (Self::Pie(queue), QueueConfig::Pie(config)) => queue.configure(now, config, transmission, ledger),
            (Self::DualPi2(queue), QueueConfig::DualPi2(config)) => queue.configure(now, config, transmission, ledger),
            _ => {
                let waiting = core::mem::replace(self, Self::new(config, seed)).drain(now);
                for train in waiting {
                    ledger.release(&train);
                    self.push(now, train, transmission, ledger);
                }
            }
        }
    }
}
