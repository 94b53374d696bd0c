//! Cross traffic: packets that exist in one pipe only, take room and time there, and cost no kernel work.

use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::{Instant, Seed};

/// A source of cross traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum CrossConfig {}

/// Sources of cross traffic, and how far they have come.
#[derive(Debug)]
pub(crate) struct Cross {}

impl Cross {
    /// The sources from `now` on; none if there are none.
    pub(crate) fn new(configs: &[CrossConfig], now: Instant, seed: Seed) -> Option<Self> {
        let _ = (now, seed, Vec::<u8>::new());
        match *configs.first()? {}
    }

    /// When the next packet arrives.
    pub(crate) fn next(&self) -> Option<Instant> {
        None
    }

    /// That packet.
    pub(crate) fn take(&mut self) -> Packet {
        Packet::phantom(&[], netloom_units::Bytes::new(0))
    }
}
