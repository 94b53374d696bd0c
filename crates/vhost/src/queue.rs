//! One of the two queues of a port, from its description to its end.

use crate::error::PortError;
use crate::memory::Memory;
use crate::message::Addresses;
use crate::notify::Call;
use crate::poller::Watched;
use crate::ring::{Ring, valid_size};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// 0 receives (to the guest), 1 transmits (from the guest).
    number: usize,
    size: Option<u16>,
    base: u16,
    addresses: Option<Addresses>,
    pub(crate) kick: Option<Watched>,
    pub(crate) call: Option<Call>,
    enabled: bool,
    ring: Option<Ring>,
    /// Something was published since the guest was last notified.
    pub(crate) published: bool,
    /// Whether the guest is asked to ring.
    asking: bool,
}

impl Queue {
    pub(crate) fn new(number: usize) -> Self {
        Self { number, ..Self::default() }
    }

    pub(crate) fn enable(&mut self, on: bool) {
        self.enabled = on;
    }

    /// A new size: whatever ran before has ended.
    pub(crate) fn set_size(&mut self, size: u32) -> Result<(), String> {
        self.ring = None;
        self.size = Some(valid_size(size)?);
        Ok(())
    }

    pub(crate) fn set_base(&mut self, base: u32) -> Result<(), String> {
        self.ring = None;
        self.base = u16::try_from(base).map_err(|_| format!("a queue that begins at {base}"))?;
        Ok(())
    }

    pub(crate) fn set_addresses(&mut self, memory: &Memory, addresses: Addresses) -> Result<(), String> {
        self.addresses = Some(addresses);
        self.remap(memory)
    }

    /// Takes the guest's kick descriptor and starts.
    pub(crate) fn start(&mut self, memory: &Memory, kick: Watched) -> Result<(), String> {
        self.kick = Some(kick);
        let (Some(size), Some(addresses)) = (self.size, &self.addresses) else {
            return Err("a queue is started before its size and addresses are known".into());
        };
        let base = self.ring.as_ref().map_or(self.base, Ring::position);
        let ring = Ring::at(memory, addresses, size, base)?;
        // A guest rings for frames that it sends, and for room only when a frame waits for it.
        self.asking = self.number == 1;
        ring.ask_for_kicks(self.asking);
        self.ring = Some(ring);
        Ok(())
    }

    /// Finds the running ring again after memory or addresses have changed.
    pub(crate) fn remap(&mut self, memory: &Memory) -> Result<(), String> {
        if let (Some(ring), Some(addresses)) = (&self.ring, &self.addresses) {
            let ring = Ring::at(memory, addresses, ring.size(), ring.position())?;
            self.ring = Some(ring);
        }
        Ok(())
    }

    /// Stops, and says how many chains were taken.
    pub(crate) fn stop(&mut self) -> u16 {
        self.kick = None;
        if let Some(ring) = self.ring.take() {
            self.base = ring.position();
        }
        self.base
    }

    /// Forgets the ring, whose memory goes away.
    pub(crate) fn forget(&mut self) {
        self.stop();
        self.addresses = None;
    }

    pub(crate) fn is_running(&self) -> bool {
        self.enabled && self.ring.is_some()
    }

    /// The ring, if it may be used now.
    #[inline]
    pub(crate) fn ring(&mut self) -> Option<&mut Ring> {
        if self.enabled { self.ring.as_mut() } else { None }
    }

    /// Asks the guest to ring, or not to.
    pub(crate) fn ask(&mut self, ask: bool) {
        if self.asking != ask
            && let Some(ring) = &self.ring
        {
            ring.ask_for_kicks(ask);
            self.asking = ask;
        }
    }

    /// Shows the guest what was given back.
    pub(crate) fn publish(&mut self) {
        if let Some(ring) = &self.ring {
            ring.publish();
            self.published = true;
        }
    }

    /// Tells the guest of what was published, if it wants to know.
    pub(crate) fn notify(&mut self) {
        if !std::mem::take(&mut self.published) {
            return;
        }
        if let (Some(ring), Some(call)) = (&self.ring, &self.call)
            && ring.wants_call()
        {
            call.ring();
        }
    }

    /// What the guest did wrong in this queue.
    pub(crate) fn error(&self, what: String) -> PortError {
        PortError::Queue { queue: self.number, what }
    }
}
