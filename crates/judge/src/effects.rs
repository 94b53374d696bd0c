//! What pipes did to packets beside delivering and dropping them, as tables and JSON show it.

use netloom_link::PipeCounters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Marks, copies, flipped bits and overtaking of the packets that programs sent; and the cross traffic, which is in no
/// other figure. Packets are segments; bytes count from the IP header on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Effects {
    /// Packets marked as having experienced congestion.
    pub marked_packets: u64,
    /// Packets made beside those that came in.
    pub duplicated_packets: u64,
    /// Packets that had a bit flipped.
    pub corrupted_packets: u64,
    /// Packets that overtook others on purpose.
    pub reordered_packets: u64,
    /// Packets of the cross traffic that were generated.
    pub cross_arrived_packets: u64,
    /// Their bytes.
    pub cross_arrived_bytes: u64,
    /// Packets of the cross traffic that were sent.
    pub cross_departed_packets: u64,
    /// Their bytes.
    pub cross_departed_bytes: u64,
    /// Packets of the cross traffic that were dropped for any cause.
    pub cross_dropped_packets: u64,
    /// Attempts to send on a radio medium.
    #[serde(default)]
    pub air_attempts: u64,
    /// The attempts that collided with those of other stations.
    #[serde(default)]
    pub air_collisions: u64,
    /// Packets, or several under one header, that an attempt failed to get across; each was sent again or given up.
    #[serde(default)]
    pub air_retries: u64,
    /// How long the radio medium was busy, in nanoseconds.
    #[serde(default)]
    pub air_busy_ns: u64,
}

impl Effects {
    /// The names of the fields, as columns of a table.
    pub const COLUMNS: &str = "marked_packets,duplicated_packets,corrupted_packets,reordered_packets,\
cross_arrived_packets,cross_arrived_bytes,cross_departed_packets,cross_departed_bytes,cross_dropped_packets,air_attempts,air_collisions,air_retries,air_busy_ns";

    /// Returns the effects that were counted from `before` to `now`.
    pub fn since(before: &PipeCounters, now: &PipeCounters) -> Self {
        Self {
            marked_packets: now.marked.packets.saturating_sub(before.marked.packets),
            duplicated_packets: now.duplicated.packets.saturating_sub(before.duplicated.packets),
            corrupted_packets: now.corrupted.packets.saturating_sub(before.corrupted.packets),
            reordered_packets: now.reordered.packets.saturating_sub(before.reordered.packets),
            cross_arrived_packets: now.cross.arrived.packets.saturating_sub(before.cross.arrived.packets),
            cross_arrived_bytes: now.cross.arrived.bytes.saturating_sub(before.cross.arrived.bytes),
            cross_departed_packets: now.cross.departed.packets.saturating_sub(before.cross.departed.packets),
            cross_departed_bytes: now.cross.departed.bytes.saturating_sub(before.cross.departed.bytes),
            cross_dropped_packets: now.cross.dropped.packets.saturating_sub(before.cross.dropped.packets),
            air_attempts: now.air.attempts.saturating_sub(before.air.attempts),
            air_collisions: now.air.collisions.saturating_sub(before.air.collisions),
            air_retries: now.air.retries.saturating_sub(before.air.retries),
            air_busy_ns: now.air.busy.as_nanos().saturating_sub(before.air.busy.as_nanos()),
        }
    }

    /// The values of the columns, in their order.
    pub fn values(&self) -> [u64; 13] {
        [
            self.marked_packets,
            self.duplicated_packets,
            self.corrupted_packets,
            self.reordered_packets,
            self.cross_arrived_packets,
            self.cross_arrived_bytes,
            self.cross_departed_packets,
            self.cross_departed_bytes,
            self.cross_dropped_packets,
            self.air_attempts,
            self.air_collisions,
            self.air_retries,
            self.air_busy_ns,
        ]
    }

    /// Returns the columns that a table for people has room for: a heading and a number of packets each.
    pub fn headed(&self) -> [(&'static str, u64); 8] {
        [
            ("marks", self.marked_packets),
            ("copies", self.duplicated_packets),
            ("corrupted", self.corrupted_packets),
            ("reordered", self.reordered_packets),
            ("cross", self.cross_arrived_packets),
            ("cross drops", self.cross_dropped_packets),
            ("collisions", self.air_collisions),
            ("retries", self.air_retries),
        ]
    }
}

/// The headings whose column of a table would not be all zero, by their places in [`Effects::headed`].
pub fn telling_columns<'a>(rows: impl Iterator<Item = &'a Effects>) -> Vec<usize> {
    let mut is_telling = [false; 8];
    for effects in rows {
        for (telling, (_, count)) in is_telling.iter_mut().zip(effects.headed()) {
            *telling |= count > 0;
        }
    }
    (0..is_telling.len()).filter(|column| is_telling[*column]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_fields_in_their_order() {
        let effects = Effects { marked_packets: 7, cross_dropped_packets: 9, ..Effects::default() };
        let json = serde_json::to_value(effects).unwrap();
        let values: Vec<u64> = Effects::COLUMNS.split(',').map(|name| json[name].as_u64().unwrap()).collect();
        assert_eq!(values, effects.values());
    }

    #[test]
    fn only_columns_with_a_figure_are_shown() {
        let none = Effects::default();
        let some = Effects { cross_arrived_packets: 1, marked_packets: 2, ..none };
        assert_eq!(telling_columns([&none, &some].into_iter()), [0, 4]);
        assert!(telling_columns([&none].into_iter()).is_empty());
    }
}
