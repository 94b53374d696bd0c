//! Where packets wait for the transmitter: one module per discipline, and the choice between them.
//!
//! All disciplines answer to the same few calls. `push` takes a train that arrives and admits or drops its segments
//! one by one, `pop` delivers the next segment to send and may drop others on the way. Each tells the [`Ledger`] of
//! everything that happens to a packet, at the moment it happens: the ledger's `queued` is what the queue holds.

mod checks;
mod codel;
mod divided;
mod drop_head;
mod drop_tail;
mod drr;
mod dual_pi2;
mod fifo;
mod fq_codel;
mod numbers;
mod pie;
mod priority;
mod red;
mod ticks;
mod wf2q;

pub use codel::{CodelConfig, CodelControl};
pub use divided::{ClassConfig, Division};
pub use drr::DrrConfig;
pub use dual_pi2::{DualPi2Config, Overload};
pub use fq_codel::FqCodelConfig;
pub use pie::PieConfig;
pub use red::RedConfig;

use crate::ConfigError;
use crate::ledger::Ledger;
use alloc::{boxed::Box, vec::Vec};
use codel::Codel;
use drop_head::DropHead;
use drop_tail::DropTail;
use drr::Drr;
use dual_pi2::DualPi2;
use fq_codel::FqCodel;
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant, Limit, Rate, Seed};
use pie::Pie;
use priority::Priority;
use red::Red;
use wf2q::Wf2q;

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
    /// CoDel (RFC 8289).
    Codel(CodelConfig),
    /// FQ-CoDel (RFC 8290).
    FqCodel(FqCodelConfig),
    /// Deficit round robin (Shreedhar and Varghese 1995).
    Drr(DrrConfig),
    /// WF2Q+ (Bennett and Zhang 1996).
    Wf2q(Division),
    /// Strict priority: the classes, the most important first; the last takes the rest.
    Priority(Vec<ClassConfig>),
}

impl Default for QueueConfig {
    /// Drop-tail with the customary length of a Linux interface's transmit queue.
    fn default() -> Self {
        Self::DropTail(DEFAULT_LIMIT)
    }
}

impl QueueConfig {
    /// The same discipline with another limit; none if it has no single limit, or if the other parameters forbid this
    /// one.
    pub fn with_limit(&self, limit: Limit) -> Option<Self> {
        let changed = match self {
            Self::DropTail(_) => Self::DropTail(limit),
            Self::DropHead(_) => Self::DropHead(limit),
            Self::Red(config) => Self::Red(RedConfig { limit, ..*config }),
            Self::Pie(config) => Self::Pie(PieConfig { limit, ..*config }),
            Self::DualPi2(config) => Self::DualPi2(DualPi2Config { limit, ..*config }),
            Self::Codel(config) => Self::Codel(CodelConfig { limit, ..*config }),
            Self::FqCodel(_) | Self::Drr(_) | Self::Wf2q(_) | Self::Priority(_) => return None,
        };
        changed.check().is_ok().then_some(changed)
    }

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
            Self::Codel(config) => config.check(),
            Self::FqCodel(config) => config.check(),
            Self::Drr(config) => config.check(),
            Self::Wf2q(division) => wf2q::check(division),
            Self::Priority(classes) => priority::check(classes),
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
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
    DropHead(DropHead),
    Red(Red),
    Pie(Pie),
    DualPi2(DualPi2),
    Codel(Box<Codel>),
    FqCodel(Box<FqCodel>),
    Drr(Box<Drr>),
    Wf2q(Box<Wf2q>),
    Priority(Box<Priority>),
}

impl Queue {
    pub(crate) fn new(config: &QueueConfig, seed: Seed) -> Self {
        match config {
            QueueConfig::DropTail(limit) => Self::DropTail(DropTail::new(*limit)),
            QueueConfig::DropHead(limit) => Self::DropHead(DropHead::new(*limit)),
            QueueConfig::Red(config) => Self::Red(Red::new(config, seed)),
            QueueConfig::Pie(config) => Self::Pie(Pie::new(config, seed)),
            QueueConfig::DualPi2(config) => Self::DualPi2(DualPi2::new(config)),
            QueueConfig::Codel(config) => Self::Codel(Box::new(Codel::new(config))),
            QueueConfig::FqCodel(config) => Self::FqCodel(Box::new(FqCodel::new(config, seed))),
            QueueConfig::Drr(config) => Self::Drr(Box::new(Drr::new(config, seed))),
            QueueConfig::Wf2q(division) => Self::Wf2q(Box::new(Wf2q::new(division, seed))),
            QueueConfig::Priority(classes) => Self::Priority(Box::new(Priority::new(classes, seed))),
        }
    }

    /// Whether what finds the transmitter idle is sent without having been in the queue. A discipline that keeps
    /// account of every arrival wants to see it first.
    pub(crate) fn is_bypassed(&self) -> bool {
        match self {
            Self::DropTail(_) | Self::DropHead(_) | Self::Priority(_) => true,
            Self::Red(_) | Self::Pie(_) | Self::DualPi2(_) => false,
            Self::Codel(_) | Self::FqCodel(_) | Self::Drr(_) | Self::Wf2q(_) => false,
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
            Self::Codel(queue) => queue.push(now, train, transmission, ledger),
            Self::FqCodel(queue) => queue.push(now, train, transmission, ledger),
            Self::Drr(queue) => queue.push(now, train, transmission, ledger),
            Self::Wf2q(queue) => queue.push(now, train, transmission, ledger),
            Self::Priority(queue) => queue.push(now, train, transmission, ledger),
        }
    }

    /// The next segment to send at `now`; none if nothing is left.
    pub(crate) fn pop(&mut self, now: Instant, ledger: &mut Ledger<'_>) -> Option<Packet> {
        match self {
            Self::DropTail(queue) => queue.pop(ledger),
            Self::DropHead(queue) => queue.pop(ledger),
            Self::Red(queue) => queue.pop(now, ledger),
            Self::Pie(queue) => queue.pop(now, ledger),
            Self::DualPi2(queue) => queue.pop(now, ledger),
            Self::Codel(queue) => queue.pop(now, ledger),
            Self::FqCodel(queue) => queue.pop(now, ledger),
            Self::Drr(queue) => queue.pop(ledger),
            Self::Wf2q(queue) => queue.pop(ledger),
            Self::Priority(queue) => queue.pop(ledger),
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
            Self::Codel(queue) => queue.is_empty(),
            Self::FqCodel(queue) => queue.is_empty(),
            Self::Drr(queue) => queue.is_empty(),
            Self::Wf2q(queue) => queue.is_empty(),
            Self::Priority(queue) => queue.is_empty(),
        }
    }

    /// Whether what waits is sent in order and when it would be anyway, whatever arrives behind it.
    pub(crate) fn is_settled(&self) -> bool {
        match self {
            Self::DropTail(_) | Self::Red(_) | Self::Pie(_) => true,
            // What arrives later makes others leave, or leave earlier.
            Self::DropHead(_) | Self::DualPi2(_) | Self::Codel(_) => self.is_empty(),
            Self::FqCodel(_) | Self::Drr(_) | Self::Wf2q(_) | Self::Priority(_) => self.is_empty(),
        }
    }

    /// Takes everything that waits at `now`, in the order of arrival; the caller updates the ledger.
    pub(crate) fn drain(&mut self, now: Instant) -> Vec<Packet> {
        match self {
            Self::DropTail(queue) => queue.drain(),
            Self::DropHead(queue) => queue.drain(),
            Self::Red(queue) => queue.drain(now),
            Self::Pie(queue) => queue.drain(now),
            Self::DualPi2(queue) => queue.drain(now),
            Self::Codel(queue) => queue.drain(),
            Self::FqCodel(queue) => queue.drain(),
            Self::Drr(queue) => queue.drain(),
            Self::Wf2q(queue) => queue.drain(),
            Self::Priority(queue) => queue.drain(),
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
            (Self::Codel(queue), QueueConfig::Codel(config)) => queue.configure(config, transmission, ledger),
            (Self::FqCodel(queue), QueueConfig::FqCodel(config)) => queue.configure(config, transmission, ledger),
            (Self::Drr(queue), QueueConfig::Drr(config)) => queue.configure(config, transmission, ledger),
            (Self::Wf2q(queue), QueueConfig::Wf2q(division)) => queue.configure(division, transmission, ledger),
            (Self::Priority(queue), QueueConfig::Priority(classes)) => queue.configure(classes, transmission, ledger),
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
