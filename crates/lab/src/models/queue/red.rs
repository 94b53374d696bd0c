//! `kind: red`: random early detection.

use crate::keyed::sections;
use netloom_link::RedConfig;
use netloom_units::{Bytes, Limit, Probability};

sections! {
    /// Random early detection (Floyd and Jacobson 1993).
    for RedConfig = "queue_red" {
        /// Random early detection.
        kind is "red";
        /// How much may wait: packets, bytes or a time. Default: 1000 packets.
        limit: Limit, "64 kB";
        /// From this average length on some packets are dropped: packets or bytes. Default: 5 packets.
        min: Limit, "5 packets";
        /// From this average length on all packets are dropped: above min, in its unit. Default: 15 packets.
        max: Limit, "15 packets";
        /// With which probability packets are dropped just below max, above 0. Default: 2 %.
        probability: Probability, "2 %";
        /// The weight of each new sample in the average, above 0. Default: 0.2 %.
        weight: Probability, "0.2 %";
        /// Whether the probability rises on from max to twice max, up to 100 %. Default: false.
        gentle: bool, "true";
        /// Whether packets below max are marked rather than dropped, if their sender understands. Default: false.
        ecn: bool, "true";
        /// Whether packets at or above max are dropped even with ecn (RFC 3168); false marks them, as Linux does. Default: true.
        hard_drop: bool, "false";
        /// Whether a packet's probability is in proportion to its size. Default: false.
        byte_mode: bool, "true";
        /// Whether at least 1/p packets pass between two early drops, p being the probability, as in ns-2. Default: false.
        wait: bool, "true";
        /// Length of a typical packet, above 0. Default: 1000 B.
        mean_packet: Bytes, "1000 B";
    }
}

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: red}",
    "{kind: red, limit: 100 packets, min: 20 packets, max: 60 packets, probability: 10 %, weight: 0.1 %, gentle: true}",
    "{kind: red, limit: 1 MB, min: 30 kB, max: 90 kB, ecn: true, hard_drop: false, byte_mode: true, wait: true, mean_packet: 500 B}",
];
