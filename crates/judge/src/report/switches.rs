//! What the ports of switches have counted.

use netloom_fabric::SwitchCounters;
use serde::{Deserialize, Serialize};

/// What a switch did at one of its ports since the lab began. The segments of a train are frames of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchRow {
    /// The switch.
    pub node: String,
    /// The port.
    pub interface: String,
    /// Its link.
    pub link: String,
    /// Came in here.
    pub received_frames: u64,
    /// Went out here.
    pub sent_frames: u64,
    /// Of those that came in: went out at all other ports.
    pub flooded_frames: u64,
    /// Of those that came in: dropped because they were for somebody behind this very port.
    pub filtered_frames: u64,
    /// Of those that came in: dropped because they were for bridges themselves.
    pub reserved_frames: u64,
    /// Of those that came in: dropped because they were of a VLAN that is not carried here.
    pub foreign_frames: u64,
    /// Of those that came in: dropped because they were no frames.
    pub malformed_frames: u64,
    /// Dropped because the link here carries only smaller ones.
    pub too_big_frames: u64,
    /// Addresses that were learned here.
    pub learned_addresses: u64,
    /// Of these: were behind another port before.
    pub moved_addresses: u64,
    /// How often an address was not learned here, since the table was full.
    pub unlearned_addresses: u64,
}

impl SwitchRow {
    /// The row of a port of `node`, which has counted this.
    pub fn new(node: String, interface: String, link: String, counted: &SwitchCounters) -> Self {
        Self {
            node,
            interface,
            link,
            received_frames: counted.received,
            sent_frames: counted.sent,
            flooded_frames: counted.flooded,
            filtered_frames: counted.filtered,
            reserved_frames: counted.reserved,
            foreign_frames: counted.foreign,
            malformed_frames: counted.malformed,
            too_big_frames: counted.too_big,
            learned_addresses: counted.learned,
            moved_addresses: counted.moved,
            unlearned_addresses: counted.unlearned,
        }
    }

    /// Frames dropped for any cause.
    pub fn dropped_frames(&self) -> u64 {
        self.filtered_frames + self.reserved_frames + self.foreign_frames + self.malformed_frames + self.too_big_frames
    }
}
