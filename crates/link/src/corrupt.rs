//! Corruption: a bit of a packet is flipped, so that its checksum fails at the receiver.

use crate::chance::{Chance, ChanceConfig};
use netloom_packet::Packet;
use netloom_units::Seed;

/// In which packets a bit is flipped.
pub type CorruptConfig = ChanceConfig;

/// See the module.
#[derive(Debug)]
pub(crate) struct Corrupt(Chance);

impl Corrupt {
    pub(crate) fn new(config: CorruptConfig, seed: Seed) -> Self {
        Self(Chance::new(config, seed))
    }

    pub(crate) fn configure(&mut self, config: CorruptConfig) {
        self.0.configure(config);
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.is_idle()
    }

    /// The next segment with a bit flipped, or as it was; and whether.
    pub(crate) fn pass(&mut self, segment: Packet) -> (Packet, bool) {
        if segment.is_phantom() || !self.0.happens() {
            return (segment, false);
        }
        let pick = self.0.pick();
        (segment.with_flipped_bit(pick), true)
    }
}
