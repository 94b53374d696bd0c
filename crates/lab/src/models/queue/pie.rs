//! `kind: pie`: proportional integral controller, enhanced.

use crate::forms::OrZero;
use crate::keyed::sections;
use netloom_link::PieConfig;
use netloom_units::{Bytes, Duration, Limit};

sections! {
    /// Proportional integral controller, enhanced (RFC 8033).
    for PieConfig = "queue_pie" {
        /// Proportional integral controller, enhanced.
        kind is "pie";
        /// How much may wait: packets, bytes or a time. Default: 1000 packets.
        limit: Limit, "64 kB";
        /// The target of the queuing delay, above 0. Default: 15 ms.
        target: Duration, "15 ms";
        /// The period at which the probability is updated, above 0. Default: 15 ms.
        update: Duration, "15 ms";
        /// For how long a burst passes without early drops after the queue was short. Default: 150 ms.
        burst: OrZero<Duration>, "150 ms";
        /// Whether packets are marked rather than dropped while the probability is below 10 %. Default: false.
        ecn: bool, "true";
        /// Whether a packet's probability is in proportion to its size. Default: false.
        byte_mode: bool, "true";
        /// Length of a typical packet, above 0. Default: 1000 B.
        mean_packet: Bytes, "1000 B";
        /// Whether drops are kept apart, as Linux does: none before the probabilities since the last one add up to 0.85. Default: false.
        derandomize: bool, "true";
    }
}

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: pie}",
    "{kind: pie, limit: 200 packets, target: 20 ms, update: 30 ms, burst: 0, ecn: true}",
    "{kind: pie, burst: 100 ms, byte_mode: true, mean_packet: 1 kB, derandomize: true}",
];
