//! Corruption: a bit of a packet is flipped, so that its checksum fails at the receiver.
//!
//! With the probability of a [`ChanceConfig`]. The bit is drawn uniformly from those whose flipping a checksum cannot miss:
//! see [`Packet::with_flipped_bit`]. Source: netem's `corrupt`, which flips any
//! bit of the packet's first block of memory, its headers among them.

use crate::chance::{Chance, ChanceConfig};
use netloom_packet::Packet;
use netloom_units::Seed;

/// In which packets a bit is flipped.
pub type CorruptConfig = ChanceConfig;

/// See the module.
#[derive(Clone, Debug)]
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
        match segment.with_flipped_bit(self.0.pick()) {
            Some(corrupted) => (corrupted, true),
            None => (segment, false),
        }
    }
}
