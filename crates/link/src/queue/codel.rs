//! CoDel, "controlled delay": drops at the head of the queue while packets have been waiting too long for too long.
//!
//! Parameters: `limit` (default 1,000 packets), a drop-tail bound; `target` (default 5 ms), the standing delay that is
//! acceptable; `interval` (default 100 ms, at least the target), for how long it must have been exceeded, about the
//! longest round trip; `mtu` (default 1,500 bytes), so much may always wait; `ecn` (default off), whether packets of
//! senders that understand it are marked where others are dropped.
//! Source: RFC 8289, section 5. It gives no value for the limit (section 5.4 only says that a full buffer drops) and no
//! pseudo-code for marks (section 1: they "may be reasonable"); these are as in Linux.

mod law;

use super::drop_tail::DropTail;
use super::{Transmission, checks};
use crate::ConfigError;
use crate::ledger::Ledger;
use alloc::vec::Vec;
pub(super) use law::Law;
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant, Limit};

/// How a queue's delay is controlled; see the module's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelControl {
    /// The standing delay that is acceptable; above zero.
    pub target: Duration,
    /// For how long it must have been exceeded; at least the target.
    pub interval: Duration,
    /// So much, from the IP header on, may always wait: the largest packet.
    pub mtu: Bytes,
    /// Whether packets are marked, rather than dropped, if their sender understands that (RFC 3168, section 5).
    pub ecn: bool,
}

impl Default for CodelControl {
    /// RFC 8289, sections 4.2 and 4.3; the MTU is that of Ethernet, since section 5.3 wants the interface's.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            mtu: Bytes::new(1_500),
            ecn: false,
        }
    }
}

impl CodelControl {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.target.is_zero() {
            return Err(ConfigError::new("target", "must be above zero: write for example 5 ms"));
        }
        if self.interval < self.target {
            let Self { target, interval, .. } = self;
            let message = alloc::format!(
                "{interval} is shorter than the target, {target}: RFC 8289 wants a target of 5 to 10 % of the interval"
            );
            return Err(ConfigError::new("interval", message));
        }
        Ok(())
    }
}

/// A queue whose delay is controlled.
#[derive(Clone, Debug, PartialEq)]
pub struct CodelConfig {
    /// How much may wait; above zero.
    pub limit: Limit,
    /// How its delay is controlled.
    pub control: CodelControl,
}

impl CodelConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        checks::limit(self.limit)?;
        self.control.check()
    }
}

/// The queue; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Codel {
    control: CodelControl,
    queue: DropTail,
    law: Law,
}

impl Codel {
    pub(crate) fn new(config: &CodelConfig) -> Self {
        Self { control: config.control, queue: DropTail::new(config.limit), law: Law::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// RFC 8289, section 5.4: each packet remembers when it came.
    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        self.queue.push(now, train, transmission, ledger);
    }

    pub(crate) fn pop(&mut self, now: Instant, ledger: &mut Ledger<'_>) -> Option<Packet> {
        self.law.pop(now, &self.control, &mut self.queue.waiting, ledger)
    }

    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        self.queue.drain()
    }

    /// What waits keeps its arrival, and the control goes on from where it is.
    pub(crate) fn configure(&mut self, config: &CodelConfig, transmission: Transmission, ledger: &mut Ledger<'_>) {
        self.control = config.control;
        self.queue.set_limit(config.limit, transmission, ledger);
    }
}
